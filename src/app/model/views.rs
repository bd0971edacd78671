//! Views of panes: which there are, and what each shows.

use egui_tiles::{Container, Linear, LinearDir, Tiles, Tree};
use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// A pane of the centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, VariantArray)]
pub enum PaneKind {
    /// Two axes of the cloud.
    Plane,
    /// Three axes of the cloud.
    Space,
    /// The picked query's neighbours.
    Neighbors,
    /// Time per phase.
    Timings,
    /// Phases and warps in time.
    Timeline,
    /// Merges per query.
    Merges,
    /// `max_distance` over points seen.
    Convergence,
    /// What was run and opened, and two of them side by side.
    Runs,
    /// Everything that was said.
    Log,
}

impl PaneKind {
    /// All, as the View menu lists them.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The tab's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Plane => "Plane",
            Self::Space => "Space",
            Self::Neighbors => "Neighbours",
            Self::Timings => "Timings",
            Self::Timeline => "Timeline",
            Self::Merges => "Merges",
            Self::Convergence => "Convergence",
            Self::Runs => "Runs",
            Self::Log => "Log",
        }
    }

    /// The name of an exported file, without its ending.
    pub fn file_stem(self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::Space => "space",
            Self::Neighbors => "neighbors",
            Self::Timings => "timings",
            Self::Timeline => "timeline",
            Self::Merges => "merges",
            Self::Convergence => "convergence",
            Self::Runs => "runs",
            Self::Log => "log",
        }
    }
}

/// What Plane shows, in local coordinates of the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaneView {
    /// Right and up.
    pub axes: [usize; 2],
    /// In the middle of the pane, and local units per point of the screen; `None` fits the cloud.
    pub window: Option<PlaneWindow>,
    /// Diameter of a data point, in points of the screen.
    pub point_size: f32,
    /// Whether lines join the query and its neighbours.
    pub lines: bool,
    /// Whether a lens enlarges neighbours that are too close to be told apart.
    pub lens: bool,
}

/// A place and a scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaneWindow {
    /// Local coordinates of the pane's middle.
    pub center: [f64; 2],
    /// Local units per point of the screen.
    pub units_per_point: f64,
}

impl PlaneView {
    /// The same switches, looking where another one looks.
    pub fn looking(self, other: &Self) -> Self {
        Self { axes: other.axes, window: other.window, ..self }
    }
}

impl Default for PlaneView {
    fn default() -> Self {
        Self { axes: [0, 1], window: None, point_size: 2.0, lines: true, lens: true }
    }
}

/// What Space shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpaceView {
    /// x, y and z (up).
    pub axes: [usize; 3],
    /// Radians about z.
    pub yaw: f64,
    /// Radians above the horizon.
    pub pitch: f64,
    /// From eye to target, in half extents of the cloud.
    pub distance: f64,
    /// Looked at, in half extents about the cloud's middle.
    pub target: [f64; 3],
    /// Diameter of a data point, in points of the screen.
    pub point_size: f32,
    /// Whether lines join the query and its neighbours.
    pub lines: bool,
    /// Whether height shows as colour.
    pub color_by_height: bool,
}

impl SpaceView {
    /// The same switches, looking where another one looks.
    pub fn looking(self, other: &Self) -> Self {
        Self { point_size: self.point_size, lines: self.lines, color_by_height: self.color_by_height, ..*other }
    }
}

impl Default for SpaceView {
    fn default() -> Self {
        Self { axes: [0, 1, 2], yaw: -0.9, pitch: 0.5, distance: 3.2, target: [0.0; 3], point_size: 2.0, lines: true, color_by_height: true }
    }
}

/// What Convergence shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConvergenceView {
    /// Whether `max_distance` is on a log scale too.
    pub log_y: bool,
}

impl Default for ConvergenceView {
    fn default() -> Self {
        Self { log_y: true }
    }
}

/// Plane large on the left, Convergence over Timings beside it, everything else as tabs behind them.
pub fn default_layout() -> Tree<PaneKind> {
    let mut tiles = Tiles::default();
    let mut tabs = |kinds: &[PaneKind]| {
        let panes = kinds.iter().map(|&kind| tiles.insert_pane(kind)).collect();
        tiles.insert_tab_tile(panes)
    };
    let views = tabs(&[PaneKind::Plane, PaneKind::Space]);
    let how = tabs(&[PaneKind::Convergence, PaneKind::Merges, PaneKind::Neighbors]);
    let time = tabs(&[PaneKind::Timings, PaneKind::Timeline, PaneKind::Runs, PaneKind::Log]);
    let right = tiles.insert_vertical_tile(vec![how, time]);
    let mut linear = Linear::new(LinearDir::Horizontal, vec![views, right]);
    linear.shares.set_share(views, 1.25);
    linear.shares.set_share(right, 1.0);
    let root = tiles.insert_container(Container::Linear(linear));
    Tree::new(egui::Id::unique("panes"), root, tiles)
}

/// One pane alone, for pictures of it.
pub fn single_layout(kind: PaneKind) -> Tree<PaneKind> {
    Tree::new_tabs(egui::Id::unique("panes"), vec![kind])
}
