//! A saved session: what the window shows of a cloud and its runs. In a file it is `session.json` of a
//! recording, which contains the runs (`docs/recording.md`); the last one is also stored with the settings,
//! so that the window reopens where it was closed.
//!
//! | type | contents |
//! |---|---|
//! | [`SavedSession`] | the cloud, the query, the selection, which runs are shown and compared |
//! | [`SavedView`] | fields, axes, cameras, colours, layout, validated against the cloud |
//! | [`Layout`] | the tiles of the centre |
//! | [`Ranges`] | ascending numbers as ranges |

use std::collections::HashSet;

use egui_tiles::{Container, Linear, LinearDir, Tabs, Tile, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};

use crate::app::features::analysis::state::AnalysisView;
use crate::app::features::color::state::ColorView;
use crate::app::features::projection::state::{ProjectionKind, ProjectionView};
use crate::app::features::runs::state::RunsView;
use crate::app::features::walk::state::WalkView;
use crate::app::model::Workspace;
use crate::app::model::camera;
use crate::app::model::draft::Draft;
use crate::app::model::files::{FileState, Roles, UnusedColumn};
use crate::app::model::pane::PaneKind;
use crate::app::model::views::{
    self, ConvergenceView, CountsView, PlaneView, PlaneWindow, SpaceView, TimelineView, TimingsView,
};
use crate::cloud::project::DIRECTIONS;
use crate::cloud::{Fingerprint, PointCloud, Source};

/// The version of `session.json`. It is raised when a program that knows only the previous one would misread
/// the file; fields that are merely added are ignored by older programs.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSession {
    /// [`SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// Time of writing, in seconds since 1970 UTC.
    pub saved_unix: u64,
    /// Whether the recording should contain the points of its clouds.
    pub points: bool,
    pub cloud: Option<SavedCloud>,
    /// Name of the run shown.
    pub shown: Option<String>,
    /// Names of the runs compared, A and B.
    #[serde(default)]
    pub compared: [Option<String>; 2],
    #[serde(default)]
    pub query: Option<SavedQuery>,
    /// Rank of the neighbour selected in the table.
    #[serde(default)]
    pub rank: Option<usize>,
    /// The selection, which is separate from the query.
    #[serde(default)]
    pub selection: Option<SavedSelection>,
    /// Named selections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<SavedSet>,
    #[serde(default)]
    pub view: SavedView,
}

/// A cloud, identified by its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedCloud {
    /// A file with its columns, or a generator's spec.
    pub source: Source,
    /// Whether rows with NaN or ±∞ were dropped.
    pub drop_nonfinite: bool,
    /// Hash of the points, to detect changes of the source.
    pub fingerprint: Fingerprint,
    /// Size and modification time of the file when it was read; `None` if unknown.
    #[serde(default)]
    pub file: Option<FileState>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedQuery {
    /// A row of the cloud.
    Row(u32),
    /// A query of the run shown, if queries come from a separate file.
    Query(usize),
    /// Free coordinates, in the units of the data's file.
    #[serde(rename = "place")]
    Coordinates(Vec<f64>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSelection {
    /// Rows of the cloud.
    pub rows: Ranges,
    /// Queries of the run shown.
    pub queries: Ranges,
    /// How they were selected: "rectangle in Plane".
    pub by: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSet {
    pub name: String,
    /// Rows of the cloud.
    pub rows: Ranges,
}

impl SavedSession {
    /// Parses the text of a `session.json`.
    ///
    /// # Errors
    /// Why it cannot be parsed, as the end of a sentence.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Header {
            schema_version: u64,
        }
        let head: Header = serde_json::from_slice(text).map_err(|why| why.to_string())?;
        if head.schema_version > u64::from(SCHEMA_VERSION) {
            return Err(format!(
                "saved by a newer Warpscope (schema {}; this version reads up to {SCHEMA_VERSION}); open it \
                 with that version",
                head.schema_version
            ));
        }
        serde_json::from_slice(text).map_err(|why| why.to_string())
    }

    /// The text of its `session.json`.
    ///
    /// # Errors
    /// Never in practice, because a session is plain data.
    pub fn text(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec_pretty(self).map_err(|why| why.to_string())
    }
}

// The tiles of the centre as a tree of names, without their ids in memory.

/// A tile and its contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    Pane(PaneKind),
    /// Tabs in one place.
    Tabs {
        /// From left to right.
        children: Vec<Layout>,
        /// Index of the active tab.
        front: usize,
    },
    /// From left to right.
    Row(Vec<SizedTile>),
    /// From top to bottom.
    Column(Vec<SizedTile>),
}

/// A tile of a row or a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizedTile {
    /// Its size, as a multiple of a normal tile's.
    pub share: f32,
    #[serde(rename = "of")]
    pub layout: Layout,
}

/// Allowed shares, which leave room for other tiles.
const SHARES: std::ops::RangeInclusive<f32> = 0.05..=20.0;

fn clamped_share(share: f32) -> f32 {
    if share.is_nan() { 1.0 } else { share.clamp(*SHARES.start(), *SHARES.end()) }
}

impl Layout {
    /// The layout of a tree; `None` if it is empty.
    pub fn from_tree(tree: &Tree<PaneKind>) -> Option<Self> {
        Self::from_tile(&tree.tiles, tree.root?, &mut HashSet::new())
    }

    fn from_tile(tiles: &Tiles<PaneKind>, tile: TileId, seen: &mut HashSet<TileId>) -> Option<Self> {
        if !seen.insert(tile) {
            return None;
        }
        let mut child = |tile: &TileId| Self::from_tile(tiles, *tile, seen);
        Some(match tiles.get(tile)? {
            Tile::Pane(kind) => Self::Pane(*kind),
            Tile::Container(Container::Tabs(tabs)) => {
                let front = tabs.children.iter().position(|&child| tabs.is_active(child)).unwrap_or(0);
                Self::Tabs { children: tabs.children.iter().filter_map(child).collect(), front }
            }
            Tile::Container(Container::Linear(linear)) => {
                let shares = linear
                    .children
                    .iter()
                    .filter_map(|tile| Some(SizedTile { share: linear.shares[*tile], layout: child(tile)? }))
                    .collect();
                if linear.dir == LinearDir::Horizontal { Self::Row(shares) } else { Self::Column(shares) }
            }
            Tile::Container(Container::Grid(grid)) => {
                let share = |layout| SizedTile { share: 1.0, layout };
                Self::Row(grid.children().filter_map(child).map(share).collect())
            }
        })
    }

    /// The tree, or the workspace's if no pane is left. Duplicate panes are dropped, and shares are clamped.
    pub fn tree(&self, workspace: Workspace) -> Tree<PaneKind> {
        let mut tiles = Tiles::default();
        match self.insert(&mut tiles, &mut HashSet::new()) {
            Some(root) => Tree::new(egui::Id::unique("panes"), root, tiles),
            None => workspace.layout(),
        }
    }

    fn insert(&self, tiles: &mut Tiles<PaneKind>, seen: &mut HashSet<PaneKind>) -> Option<TileId> {
        match self {
            Self::Pane(kind) => seen.insert(*kind).then(|| tiles.insert_pane(*kind)),
            Self::Tabs { children, front } => {
                let children: Vec<(usize, TileId)> = children
                    .iter()
                    .enumerate()
                    .filter_map(|(at, child)| Some((at, child.insert(tiles, seen)?)))
                    .collect();
                let in_front = children.iter().find(|(at, _)| at == front).or(children.first())?.1;
                let mut tabs = Tabs::new(children.into_iter().map(|(_, tile)| tile).collect());
                tabs.set_active(in_front);
                Some(tiles.insert_container(Container::Tabs(tabs)))
            }
            Self::Row(shares) => Self::insert_linear(LinearDir::Horizontal, shares, tiles, seen),
            Self::Column(shares) => Self::insert_linear(LinearDir::Vertical, shares, tiles, seen),
        }
    }

    fn insert_linear(
        dir: LinearDir,
        shares: &[SizedTile],
        tiles: &mut Tiles<PaneKind>,
        seen: &mut HashSet<PaneKind>,
    ) -> Option<TileId> {
        let children: Vec<(TileId, f32)> =
            shares.iter().filter_map(|tile| Some((tile.layout.insert(tiles, seen)?, tile.share))).collect();
        if children.is_empty() {
            return None;
        }
        let mut linear = Linear::new(dir, children.iter().map(|(tile, _)| *tile).collect());
        for (tile, share) in children {
            linear.shares.set_share(tile, clamped_share(share));
        }
        Some(tiles.insert_container(Container::Linear(linear)))
    }
}

// Ascending numbers as ranges: most selections consist of few.

/// First and last of each range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// From ascending numbers.
    pub fn from_numbers(numbers: impl IntoIterator<Item = u64>) -> Self {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some((_, last)) if number == *last + 1 => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        Self(ranges)
    }

    /// The numbers below `end`, ascending; ranges out of order are ignored.
    pub fn below(&self, end: u64) -> Vec<u64> {
        let (mut numbers, mut next) = (Vec::new(), 0);
        for &(first, last) in &self.0 {
            if first < next || last < first {
                continue;
            }
            numbers.extend(first..(last.saturating_add(1)).min(end));
            next = last.saturating_add(1);
        }
        numbers
    }

    /// The given ascending numbers that are in the ranges.
    pub fn among(&self, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut ranges = self.0.iter().peekable();
        let mut there = Vec::new();
        for number in numbers {
            while ranges.next_if(|(_, last)| *last < number).is_some() {}
            match ranges.peek() {
                None => break,
                Some((first, _)) if *first <= number => there.push(number),
                Some(_) => {}
            }
        }
        there
    }

    /// Number of ranges.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

// The view of a session: fields, axes and cameras, colours, layout. Values from a file are validated against
// the cloud before use.

/// The saved view; fields missing in a file have the defaults of the first launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedView {
    pub draft: Draft,
    /// Records that are queries of the next run, if they are too many to type.
    pub selected_records: Ranges,
    pub plane: PlaneView,
    pub space: SpaceView,
    /// The roles of the file's columns.
    pub roles: Roles,
    /// The numeric columns that are not coordinates, with the reason.
    pub left_out: Vec<UnusedColumn>,
    /// The note on how the file was read.
    pub note: Option<String>,
    pub color: ColorView,
    pub projection: ProjectionView,
    pub convergence: ConvergenceView,
    pub counts: CountsView,
    pub timings: TimingsView,
    pub analysis: AnalysisView,
    /// The walk through the query's search.
    pub walk: WalkView,
    pub runs: RunsView,
    /// The visible part of the run's time.
    pub timeline: TimelineView,
    pub workspace: Option<Workspace>,
    /// Tiles of the centre; `None` leaves them unchanged.
    pub layout: Option<Layout>,
    /// The pane to show if there is no room for tiles.
    pub pane: Option<PaneKind>,
    /// Whether the left and the right panel are hidden.
    pub hidden: [bool; 2],
}

impl SavedView {
    /// The fields of the left panel.
    pub fn draft(&self) -> Draft {
        self.draft.clone()
    }

    /// The views of Plane and Space, adjusted to the cloud or its projection.
    pub fn views(&self, cloud: &PointCloud) -> (PlaneView, SpaceView) {
        let projected = self.is_projected(cloud);
        let axes = if projected { DIRECTIONS } else { cloud.dims() };
        let (usual_plane, usual_space) = (PlaneView::default(), SpaceView::default());
        let (mut plane, mut space) = (self.plane, self.space);
        if !plane.axes.iter().all(|&axis| axis < axes) {
            (plane.axes, plane.window) = (usual_plane.axes.map(|axis| axis.min(axes - 1)), None);
        }
        if !space.axes.iter().all(|&axis| axis < axes) {
            space.axes = usual_space.axes.map(|axis| axis.min(axes - 1));
        }
        plane.window = plane.window.filter(|window| is_near(window, cloud));
        (plane.point_size, space.point_size) =
            (views::diameter(plane.point_size), views::diameter(space.point_size));
        camera::clamp_view(&mut space);
        (plane, space)
    }

    /// Whether Plane and Space show a projection of the cloud.
    pub fn is_projected(&self, cloud: &PointCloud) -> bool {
        self.projection.kind != ProjectionKind::Axes && cloud.dims() >= 3
    }

    /// Records of the cloud that are queries of the next run.
    pub fn selected_records(&self, cloud: &PointCloud) -> Vec<u64> {
        match cloud.records() {
            None => self.selected_records.below(cloud.len() as u64),
            // Record numbers may be far larger than the number of rows.
            Some(records) => self.selected_records.among(records.map(u64::from)),
        }
    }
}

/// Whether a window is near the cloud: far away it would be empty and imprecise.
fn is_near(window: &PlaneWindow, cloud: &PointCloud) -> bool {
    const MAX_FACTOR: f64 = 1e6;
    let reach = cloud
        .axes()
        .iter()
        .map(|axis| (axis.min - axis.origin).abs().max((axis.max - axis.origin).abs()))
        .fold(f64::MIN_POSITIVE, f64::max);
    window.center.iter().all(|center| center.abs() <= reach * MAX_FACTOR)
        && (reach / 1e15..=reach * MAX_FACTOR).contains(&window.units_per_point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::pane::{add_pane, join_tabs};
    use crate::app::model::single_layout;
    use crate::app::testing::cloud;

    #[test]
    fn layouts_round_trip() {
        let mut tree = Workspace::Measure.layout();
        tree.make_active(|_, tile| matches!(tile, Tile::Pane(PaneKind::Runs)));
        for tree in [tree, single_layout(PaneKind::Log)] {
            let layout = Layout::from_tree(&tree).expect("it has panes");
            let text = serde_json::to_string(&layout).expect("plain data");
            let back: Layout = serde_json::from_str(&text).expect("its own text");
            assert_eq!(back, layout);
            assert_eq!(Layout::from_tree(&back.tree(Workspace::Measure)).expect("it has panes"), layout);
        }
    }

    #[test]
    fn invalid_layouts_are_repaired() {
        let pane = |kind| Layout::Pane(kind);
        let share = |share, layout| SizedTile { share, layout };
        let twice = Layout::Row(vec![
            share(-3.0, pane(PaneKind::Plane)),
            share(f32::INFINITY, pane(PaneKind::Plane)),
            share(f32::NAN, pane(PaneKind::Log)),
        ]);
        let Some(Layout::Row(shares)) = Layout::from_tree(&twice.tree(Workspace::Measure)) else {
            panic!("a row")
        };
        assert_eq!(
            shares.iter().map(|share| share.layout.clone()).collect::<Vec<_>>(),
            [pane(PaneKind::Plane), pane(PaneKind::Log)]
        );
        assert_eq!(shares[0].share, 0.05);
        assert!(shares.iter().all(|share| SHARES.contains(&share.share)), "{shares:?}");
        let far = Layout::Tabs { children: vec![pane(PaneKind::Space), pane(PaneKind::Runs)], front: 99 };
        assert!(matches!(
            Layout::from_tree(&far.tree(Workspace::Measure)),
            Some(Layout::Tabs { front: 0, .. })
        ));
        for empty in [Layout::Column(vec![]), Layout::Tabs { children: vec![Layout::Row(vec![])], front: 0 }]
        {
            assert_eq!(
                Layout::from_tree(&empty.tree(Workspace::Measure)),
                Layout::from_tree(&Workspace::Measure.layout())
            );
        }
    }

    fn without(mut tree: Tree<PaneKind>, pane: PaneKind) -> Tree<PaneKind> {
        let tile = tree.tiles.find_pane(&pane).expect("it is there");
        tree.remove_recursively(tile);
        tree
    }

    #[test]
    fn missing_panes_are_added_to_their_default_tabs() {
        for pane in Workspace::Measure.panes() {
            let mut tree = without(Workspace::Measure.layout(), pane);
            add_pane(&mut tree, pane);
            let tabs = |tree: &Tree<PaneKind>| match Layout::from_tree(tree) {
                Some(Layout::Column(parts)) => {
                    parts.into_iter().map(|part| (part.share, part.layout)).collect::<Vec<_>>()
                }
                other => panic!("{other:?}"),
            };
            for ((share, now), (usual, then)) in
                tabs(&tree).into_iter().zip(tabs(&Workspace::Measure.layout()))
            {
                let (Layout::Tabs { children: now, .. }, Layout::Tabs { children: then, .. }) = (now, then)
                else {
                    panic!("tabs")
                };
                assert_eq!((share, now), (usual, then), "{pane:?}");
            }
        }
    }

    #[test]
    fn nested_tabs_are_flattened() {
        use PaneKind::{Analysis, Log, Plane, Runs, Space};
        let panes = |kinds: &[PaneKind]| kinds.iter().map(|&kind| Layout::Pane(kind)).collect::<Vec<_>>();
        let inmost = Layout::Tabs { children: panes(&[Log, Runs]), front: 1 };
        let inner = Layout::Tabs { children: vec![Layout::Pane(Space), inmost], front: 1 };
        for (front, then) in [(0, 0), (1, 3), (2, 4)] {
            let mut tree = Layout::Tabs {
                children: vec![Layout::Pane(Plane), inner.clone(), Layout::Pane(Analysis)],
                front,
            }
            .tree(Workspace::Measure);
            join_tabs(&mut tree);
            assert_eq!(
                Layout::from_tree(&tree),
                Some(Layout::Tabs { children: panes(&[Plane, Space, Log, Runs, Analysis]), front: then }),
                "{front}"
            );
        }
        let mut usual = Workspace::Measure.layout();
        join_tabs(&mut usual);
        assert_eq!(Layout::from_tree(&usual), Layout::from_tree(&Workspace::Measure.layout()));
    }

    #[test]
    fn tabs_are_created_when_missing() {
        use PaneKind::{Analysis, Log, Neighbors, Plane};
        let tabs =
            |beside| Layout::Tabs { children: vec![Layout::Pane(beside), Layout::Pane(Analysis)], front: 0 };
        let mut alone = Tree::empty(egui::Id::unique("panes"));
        alone.root = Some(alone.tiles.insert_pane(Log));
        add_pane(&mut alone, Analysis);
        assert_eq!(Layout::from_tree(&alone), Some(tabs(Log)));

        let id = || egui::Id::unique("panes");
        let mut row = Tree::new_horizontal(id(), vec![Plane, Neighbors]);
        add_pane(&mut row, Analysis);
        let Some(Layout::Row(parts)) = Layout::from_tree(&row) else { panic!("a row") };
        assert_eq!(
            parts.into_iter().map(|part| part.layout).collect::<Vec<_>>(),
            [Layout::Pane(Plane), tabs(Neighbors)]
        );

        let mut grid = Tree::new_grid(id(), vec![Neighbors, Plane]);
        add_pane(&mut grid, Analysis);
        let Some(Layout::Row(parts)) = Layout::from_tree(&grid) else { panic!("a row") };
        assert_eq!(
            parts.into_iter().map(|part| part.layout).collect::<Vec<_>>(),
            [tabs(Neighbors), Layout::Pane(Plane)]
        );

        let mut nothing = Tree::empty(id());
        add_pane(&mut nothing, Analysis);
        assert_eq!(Layout::from_tree(&nothing), Layout::from_tree(&single_layout(Analysis)));
    }

    #[test]
    fn ranges_round_trip() {
        let numbers = [0, 1, 2, 7, 9, 10];
        let ranges = Ranges::from_numbers(numbers);
        assert_eq!(serde_json::to_string(&ranges).expect("plain data"), "[[0,2],[7,7],[9,10]]");
        assert_eq!(ranges.below(u64::MAX), numbers);
        assert_eq!(ranges.below(10), numbers[..5]);
        let empty = Ranges::from_numbers([]);
        assert!(empty.below(9).is_empty() && empty.among([1, 2]).is_empty());
        assert_eq!(ranges.among([1, 2, 3, 7, 8, 10, 11]), [1, 2, 7, 10]);
    }

    #[test]
    fn invalid_ranges_are_clipped_to_valid_numbers() {
        let hostile = Ranges(vec![(5, 2), (3, u64::MAX), (3, 3), (0, u64::MAX), (u64::MAX, u64::MAX)]);
        assert_eq!(hostile.below(6), [3, 4, 5]);
        assert_eq!(hostile.among([1, 2, 3, 4_000_000_000]), [3, 4_000_000_000]);
    }

    #[test]
    fn invalid_views_fall_back_to_defaults() {
        let cloud = cloud(20, 2, 1);
        let window =
            |center: f64, units_per_point: f64| Some(PlaneWindow { center: [center, 0.0], units_per_point });
        for wrong in [
            window(1e300, 1.0),
            window(0.0, -1.0),
            window(0.0, 0.0),
            window(0.0, 1e300),
            window(f64::NAN, 1.0),
        ] {
            let view = SavedView {
                plane: PlaneView { window: wrong, ..PlaneView::default() },
                ..SavedView::default()
            };
            assert_eq!(view.views(&cloud).0, PlaneView::default(), "{wrong:?}");
        }
        let view = SavedView {
            plane: PlaneView {
                axes: [7, 1],
                window: window(0.1, 0.01),
                point_size: f32::INFINITY,
                ..PlaneView::default()
            },
            space: SpaceView {
                axes: [0, 1, 9],
                distance: -1.0,
                pitch: 1e300,
                target: [1e300, 0.0, 0.0],
                ..SpaceView::default()
            },
            ..SavedView::default()
        };
        let (plane, space) = view.views(&cloud);
        assert_eq!((plane.axes, plane.window, plane.point_size), ([0, 1], None, 32.0));
        assert_eq!((space.axes, space.target), ([0, 1, 1], SpaceView::default().target));
        assert!(space.distance > 0.0 && space.pitch.abs() < 1.6, "{space:?}");
        let whole = SavedView {
            plane: PlaneView { axes: [1, 0], window: window(0.1, 0.01), ..PlaneView::default() },
            ..SavedView::default()
        };
        assert_eq!(whole.views(&cloud).0, whole.plane, "valid views are kept");
    }

    #[test]
    fn missing_records_are_not_selected() {
        use crate::cloud::{Column, Source, Table};
        let table =
            Table { columns: vec![Column { name: "x".to_owned() }], values: vec![1.0, f64::NAN, 2.0, 3.0] };
        let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
        let cloud = PointCloud::from_table(table, source, None, true).expect("a cloud");
        let view = SavedView {
            selected_records: serde_json::from_str("[[1, 2], [3, 18446744073709551615]]").expect("ranges"),
            ..SavedView::default()
        };
        assert_eq!(view.selected_records(&cloud), [2, 3]);
    }

    #[test]
    fn projected_views_limit_the_axes() {
        let view = SavedView {
            plane: PlaneView { axes: [0, 3], ..PlaneView::default() },
            projection: ProjectionView { kind: ProjectionKind::Pca, seed: 0 },
            ..SavedView::default()
        };
        assert_eq!(view.views(&cloud(9, 4, 1)).0.axes, [0, 1], "there are three directions");
        let axes = SavedView { projection: ProjectionView::default(), ..view };
        assert_eq!(axes.views(&cloud(9, 4, 1)).0.axes, [0, 3]);
    }
}
