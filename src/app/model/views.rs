//! What panes show: where they look, and their switches.

use serde::{Deserialize, Serialize};

/// What Plane shows, in local coordinates of the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaneView {
    /// Dimensions shown to the right and upwards.
    pub axes: [usize; 2],
    /// In the middle of the pane, and local units per point of the screen; `None` shows where most points are.
    pub window: Option<PlaneWindow>,
    /// Whether, without a window, a few far points are shown too.
    pub whole: bool,
    /// Diameter of a data point, in points of the screen.
    pub point_size: f32,
    /// Whether lines join the query and its neighbours.
    pub lines: bool,
    /// Whether their names stand beside them.
    pub names: bool,
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

impl PlaneWindow {
    /// Whether it is a place and a scale.
    pub fn makes_sense(&self) -> bool {
        self.center.iter().all(|center| center.is_finite()) && self.units_per_point.is_finite() && self.units_per_point > 0.0
    }
}

/// The diameter of a point, held to what can be seen.
pub fn diameter(size: f32) -> f32 {
    if size.is_nan() { 2.0 } else { size.clamp(0.5, 32.0) }
}

impl PlaneView {
    /// The same switches, looking where another one looks.
    pub fn looking(self, other: &Self) -> Self {
        Self { axes: other.axes, window: other.window, whole: other.whole, ..self }
    }
}

impl Default for PlaneView {
    fn default() -> Self {
        Self { axes: [0, 1], window: None, whole: false, point_size: 2.0, lines: true, names: false, lens: true }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpaceView {
    /// x, y and z (up).
    pub axes: [usize; 3],
    /// In radians, about the vertical axis.
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
    /// Whether their names stand beside them.
    pub names: bool,
    /// Whether height shows as colour.
    pub color_by_height: bool,
}

impl SpaceView {
    /// The same switches, looking where another one looks.
    pub fn looking(self, other: &Self) -> Self {
        Self { point_size: self.point_size, lines: self.lines, names: self.names, color_by_height: self.color_by_height, ..*other }
    }
}

impl Default for SpaceView {
    fn default() -> Self {
        Self {
            axes: [0, 1, 2],
            yaw: -0.9,
            pitch: 0.5,
            distance: 3.2,
            target: [0.0; 3],
            point_size: 2.0,
            lines: true,
            names: false,
            color_by_height: true,
        }
    }
}

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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountsView {
    /// The measure by its column's name; the run's first one where nobody says, or the run does not have it.
    pub measure: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimingsView {
    pub figure: TimingsFigure,
}

/// What Timings draws below its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimingsFigure {
    /// The search of each repeat.
    #[default]
    Repeats,
    /// The search below what its device does at most.
    Roofline,
}

impl TimingsFigure {
    pub const ALL: [Self; 2] = [Self::Repeats, Self::Roofline];

    pub fn text(self) -> &'static str {
        match self {
            Self::Repeats => "Repeats",
            Self::Roofline => "Roofline",
        }
    }
}
