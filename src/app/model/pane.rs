//! The panes and their descriptions, from which menus, keys, exports and layouts are built. Drawing and
//! export are in `panes`.

use egui::Key;
use egui_tiles::{Container, Tile, Tree};
use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// A pane of the centre. Saved layouts use the variant's name.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, VariantArray,
)]
pub enum PaneKind {
    #[default]
    Plane,
    Space,
    /// The same rows, seen otherwise.
    Second,
    Neighbors,
    /// The table of all points.
    Points,
    /// Analysis of all rows' neighbours.
    Analysis,
    Timings,
    /// Phases and warps over time.
    Timeline,
    /// Per-query counters of an engine. Saved files still use this old name.
    Merges,
    Convergence,
    /// Runs and opened recordings, and a comparison of two.
    Runs,
    Engines,
    Log,
}

/// Description of a pane.
#[derive(Clone, Copy, Debug)]
pub struct PaneInfo {
    pub title: &'static str,
    /// Name of an exported file, without extension.
    pub file_stem: &'static str,
    /// The command that shows it, as in menus.
    pub show: &'static str,
    /// The key that shows it, with Ctrl.
    pub key: Option<Key>,
    pub formats: DataFormats,
    /// Its tab group and position in layouts.
    pub tab: (TabGroup, u8),
    pub about: &'static str,
}

/// File formats for a pane's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormats {
    /// CSV only.
    Csv,
    /// Several table formats.
    Table,
    /// The same and GeoJSON.
    Points,
    /// Tables and benchmark formats.
    Neighbors,
}

/// Tab groups of layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabGroup {
    /// The large views.
    Views,
    /// Measurements, timelines and tables.
    Below,
}

impl PaneKind {
    /// All panes, in the order of the View menu.
    pub const ALL: &[Self] = Self::VARIANTS;

    pub const fn info(self) -> PaneInfo {
        use DataFormats::{Csv, Neighbors, Points, Table};
        let ([title, file_stem, show], key, formats, tab, about) = match self {
            Self::Plane => (
                ["Plane", "plane", "Show Plane"],
                Some(Key::Num1),
                Points,
                (TabGroup::Views, 0),
                "Two axes of the cloud.",
            ),
            Self::Space => (
                ["Space", "space", "Show Space"],
                Some(Key::Num2),
                Table,
                (TabGroup::Views, 1),
                "Three axes of the cloud.",
            ),
            Self::Second => (
                ["Second view", "second", "Show Second view"],
                None,
                Points,
                (TabGroup::Views, 2),
                "The same rows with other axes, another projection or another file.",
            ),
            Self::Neighbors => (
                ["Neighbours", "neighbors", "Show Neighbours"],
                Some(Key::Num3),
                Neighbors,
                (TabGroup::Below, 6),
                "The table of the picked query's neighbours.",
            ),
            Self::Points => (
                ["Points", "points", "Show Points"],
                None,
                Points,
                (TabGroup::Below, 7),
                "All points as a table: sort, set conditions, choose columns.",
            ),
            Self::Analysis => (
                ["Analysis", "analysis", "Show Analysis"],
                None,
                Table,
                (TabGroup::Below, 8),
                "Density, outliers, hubs, labels and duplicates, from every row's neighbours.",
            ),
            Self::Timings => (
                ["Timings", "timings", "Show Timings"],
                Some(Key::Num4),
                Table,
                (TabGroup::Below, 0),
                "Time per phase and repeat, and the bottleneck of the search.",
            ),
            Self::Timeline => (
                ["Timeline", "timeline", "Show Timeline"],
                Some(Key::Num8),
                Table,
                (TabGroup::Below, 1),
                "Phases over time, and warps per multiprocessor (queries per core on the CPU).",
            ),
            Self::Merges => (
                ["Counts", "counts", "Show Counts"],
                Some(Key::Num5),
                Table,
                (TabGroup::Below, 2),
                "Histograms of the engine's counters over all queries.",
            ),
            Self::Convergence => (
                ["Convergence", "convergence", "Show Convergence"],
                Some(Key::Num6),
                Table,
                (TabGroup::Below, 3),
                "How max_distance shrinks as points are seen.",
            ),
            Self::Runs => (
                ["Runs", "runs", "Show Runs"],
                Some(Key::Num9),
                Csv,
                (TabGroup::Below, 4),
                "All runs, and two of them side by side.",
            ),
            Self::Engines => (
                ["Engines", "engines", "Show Engines"],
                None,
                Csv,
                (TabGroup::Below, 5),
                "Every engine on the same search: times, counters and answers; and how each works.",
            ),
            Self::Log => (
                ["Log", "log", "Show Log"],
                Some(Key::Num7),
                Csv,
                (TabGroup::Below, 9),
                "All messages of this session.",
            ),
        };
        PaneInfo { title, file_stem, show, key, formats, tab, about }
    }

    /// Whether it is a plot, rather than a table or a list: its picture has a legend and can have any size.
    pub fn is_plot(self) -> bool {
        !matches!(self, Self::Neighbors | Self::Points | Self::Runs | Self::Engines | Self::Log)
    }

    pub fn title(self) -> &'static str {
        self.info().title
    }
}

/// Adds a pane that the layout lacks, such as one saved by an older version. It goes next to its closest
/// neighbour by tab group and position, or becomes the only pane of an empty layout.
pub fn add_pane(tree: &mut Tree<PaneKind>, pane: PaneKind) {
    let (group, place) = pane.info().tab;
    let far = |kind: PaneKind| (kind.info().tab.0 != group, kind.info().tab.1.abs_diff(place), kind);
    let known = tree
        .tiles
        .iter()
        .filter_map(|(&tile, of)| if let Tile::Pane(kind) = of { Some((far(*kind), tile)) } else { None });
    let Some(((.., kind), neighbor)) = known.min_by_key(|(far, _)| *far) else {
        return *tree = single_layout(pane);
    };
    let new = tree.tiles.insert_pane(pane);
    let parent = tree.tiles.parent_of(neighbor);
    if let Some(Tile::Container(Container::Tabs(tabs))) = parent.and_then(|parent| tree.tiles.get_mut(parent))
    {
        let after = tabs
            .children
            .iter()
            .position(|&tile| tile == neighbor)
            .map_or(tabs.children.len(), |at| at + usize::from(kind.info().tab.1 < place));
        tabs.children.insert(after, new);
        return;
    }
    // The neighbour is not in a tab group: a new group replaces it.
    let tabs = tree.tiles.insert_tab_tile(vec![neighbor, new]);
    match parent.and_then(|parent| tree.tiles.get_mut(parent)) {
        Some(Tile::Container(Container::Linear(linear))) => {
            linear.children.iter_mut().filter(|tile| **tile == neighbor).for_each(|tile| *tile = tabs);
            linear.shares.replace_with(neighbor, tabs);
        }
        Some(Tile::Container(Container::Grid(grid))) => {
            let at = grid.children().position(|&tile| tile == neighbor);
            if let Some(at) = at {
                let _ = grid.replace_at(at, tabs);
            }
        }
        Some(_) | None => tree.root = Some(tabs),
    }
}

/// Flattens nested tab groups, which dropping one on another creates.
pub fn join_tabs(tree: &mut Tree<PaneKind>) {
    let tabs_of = |tree: &Tree<PaneKind>, tile| match tree.tiles.get(tile) {
        Some(Tile::Container(Container::Tabs(tabs))) => Some((tabs.children.clone(), tabs.active)),
        _ => None,
    };
    let nested = |tree: &Tree<PaneKind>| {
        let mut strips = tree.tiles.tile_ids().filter_map(|tile| Some((tile, tabs_of(tree, tile)?.0)));
        strips.find_map(|(tile, tabs)| {
            Some((tile, tabs.into_iter().find(|&child| tabs_of(tree, child).is_some())?))
        })
    };
    while let Some((outer, inner)) = nested(tree) {
        let Some((children, front)) = tabs_of(tree, inner) else { return };
        tree.tiles.remove(inner);
        if let Some(Tile::Container(Container::Tabs(tabs))) = tree.tiles.get_mut(outer) {
            if tabs.active == Some(inner) {
                tabs.active = front;
            }
            tabs.children = tabs
                .children
                .iter()
                .flat_map(|&child| if child == inner { children.clone() } else { vec![child] })
                .collect();
        }
    }
}

pub fn single_layout(kind: PaneKind) -> Tree<PaneKind> {
    Tree::new_tabs(egui::Id::unique("panes"), vec![kind])
}
