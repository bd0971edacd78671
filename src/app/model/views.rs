//! View settings of panes.

use std::collections::BTreeSet;

use egui::Rect;
use serde::{Deserialize, Serialize};

use crate::run::Timeline;

/// The view of Plane, in local coordinates of the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaneView {
    /// Dimensions shown horizontally and vertically.
    pub axes: [usize; 2],
    /// `None` fits the cloud without outliers.
    pub window: Option<PlaneWindow>,
    /// Whether fitting includes outliers.
    pub whole: bool,
    /// Diameter of a data point, in screen points.
    pub point_size: f32,
    /// Whether lines connect the query to its neighbours.
    pub lines: bool,
    /// Whether to label the query and its neighbours.
    pub names: bool,
    /// Whether a lens enlarges neighbours that are too close to distinguish.
    pub lens: bool,
    /// Whether to draw coastlines and borders on a map of the Earth.
    pub coastlines: bool,
}

/// Centre and scale of Plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaneWindow {
    /// Local coordinates of the pane's centre.
    pub center: [f64; 2],
    /// Local units per screen point.
    pub units_per_point: f64,
}

impl PlaneWindow {
    /// Whether all values are finite and the scale is positive.
    pub fn is_valid(&self) -> bool {
        self.center.iter().all(|center| center.is_finite())
            && self.units_per_point.is_finite()
            && self.units_per_point > 0.0
    }
}

/// The diameter of a point, clamped to visible sizes.
pub fn diameter(size: f32) -> f32 {
    if size.is_nan() { 2.0 } else { size.clamp(0.5, 32.0) }
}

impl PlaneView {
    /// Takes axes and window from `other`, keeping the switches.
    pub fn with_position_of(self, other: &Self) -> Self {
        Self { axes: other.axes, window: other.window, whole: other.whole, ..self }
    }
}

impl Default for PlaneView {
    fn default() -> Self {
        Self {
            axes: [0, 1],
            window: None,
            whole: false,
            point_size: 2.0,
            lines: true,
            names: false,
            lens: true,
            coastlines: true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpaceView {
    /// x, y and z (up).
    pub axes: [usize; 3],
    /// Angle about the vertical axis, in radians.
    pub yaw: f64,
    /// Angle above the horizon, in radians.
    pub pitch: f64,
    /// From eye to target, in half extents of the cloud.
    pub distance: f64,
    /// The point looked at, in half extents from the cloud's centre.
    pub target: [f64; 3],
    /// Diameter of a data point, in screen points.
    pub point_size: f32,
    /// Whether lines connect the query to its neighbours.
    pub lines: bool,
    /// Whether to label the query and its neighbours.
    pub names: bool,
    pub color_by_height: bool,
    /// Whether points behind nearer ones are darkened.
    pub eye_dome: bool,
}

impl SpaceView {
    /// Takes axes and orbit from `other`, keeping the switches.
    pub fn with_position_of(self, other: &Self) -> Self {
        Self {
            point_size: self.point_size,
            lines: self.lines,
            names: self.names,
            color_by_height: self.color_by_height,
            eye_dome: self.eye_dome,
            ..*other
        }
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
            eye_dome: true,
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
    /// Name of the measure's column. The run's first measure is shown if this is `None`, or if the run lacks
    /// it.
    pub measure: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimingsView {
    pub figure: TimingsFigure,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimingsFigure {
    /// The search time of each repeat.
    #[default]
    Repeats,
    /// A roofline plot of the search.
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

// The view of Timeline: time window and expanded multiprocessors.

/// Width for the names of tracks, in screen points.
pub const NAMES: f32 = 112.0;

/// The shortest window, in microseconds: device clocks have a resolution of some nanoseconds.
const MIN_WINDOW_US: f64 = 0.02;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimelineView {
    /// Start and end, in microseconds since the run began; `None` shows the whole run.
    pub window: Option<[f64; 2]>,
    /// Multiprocessors whose warps are shown individually.
    pub open: BTreeSet<u32>,
}

impl TimelineView {
    /// The view, reset to the whole run if a pointer could not have produced it.
    pub fn clamped(&self) -> Self {
        /// One year in microseconds, as a bound for saved windows.
        const MAX_WINDOW_US: f64 = 3.2e13;
        let window = self
            .window
            .filter(|window| window.iter().all(|at| at.abs() <= MAX_WINDOW_US))
            .filter(|[from, to]| to - from >= MIN_WINDOW_US * 0.5);
        Self { window, open: self.open.clone() }
    }

    /// Start and end of the visible time.
    pub fn shown(&self, timeline: &Timeline) -> [f64; 2] {
        self.window.unwrap_or_else(|| whole(timeline))
    }

    /// Zooms in by a factor (out, below 1) about a fixed time.
    pub fn zoom(&mut self, timeline: &Timeline, about: f64, factor: f64) {
        let [from, to] = self.shown(timeline);
        let factor = factor.min((to - from) / MIN_WINDOW_US);
        self.set(timeline, [about - (about - from) / factor, about + (to - about) / factor]);
    }

    /// Shifts the window by a fraction of its length.
    pub fn pan(&mut self, timeline: &Timeline, by: f64) {
        let [from, to] = self.shown(timeline);
        let by = by * (to - from);
        let [first, last] = whole(timeline);
        // Stops at the ends and keeps the length.
        let by = by.clamp((first - from).min(0.0), (last - to).max(0.0));
        self.set(timeline, [from + by, to + by]);
    }

    /// Zooms to a span, with a margin.
    pub fn focus(&mut self, timeline: &Timeline, span: [f64; 2]) {
        let margin = ((span[1] - span[0]) * 0.1).max(MIN_WINDOW_US / 2.0);
        self.set(timeline, [span[0] - margin, span[1] + margin]);
    }

    fn set(&mut self, timeline: &Timeline, window: [f64; 2]) {
        let [first, last] = whole(timeline);
        let window = [window[0].max(first), window[1].min(last)];
        // A window that covers the whole run, up to rounding, is `None`.
        let part = window[1] - window[0] < (last - first) * (1.0 - 1e-9);
        self.window = (window[0] < window[1] && part).then_some(window);
    }
}

/// The whole run with a margin that makes its ends visible.
fn whole(timeline: &Timeline) -> [f64; 2] {
    let end = if timeline.end_us > 0.0 { timeline.end_us } else { 1.0 };
    [-0.01 * end, 1.01 * end]
}

/// Maps times to horizontal positions in the pane.
#[derive(Clone, Copy, Debug)]
pub struct TimeAxis {
    left: f32,
    width: f32,
    /// Start and end, in microseconds.
    pub window: [f64; 2],
}

impl TimeAxis {
    /// The axis of a pane's inner rectangle, to the right of the names.
    pub fn new(pane: Rect, window: [f64; 2]) -> Self {
        Self { left: pane.left() + NAMES, width: (pane.width() - NAMES).max(1.0), window }
    }

    /// The screen position of a time, clamped to near the pane.
    pub fn x(&self, us: f64) -> f32 {
        let [from, to] = self.window;
        let part = ((us - from) / (to - from)).clamp(-1.0, 2.0);
        self.left + part as f32 * self.width
    }

    /// The time at a screen position.
    pub fn at(&self, x: f32) -> f64 {
        let [from, to] = self.window;
        from + f64::from((x - self.left) / self.width) * (to - from)
    }

    pub fn range(&self) -> egui::Rangef {
        egui::Rangef::new(self.left, self.left + self.width)
    }
}

// The look of the window.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Theme {
    /// Follows the desktop.
    #[default]
    System,
    Light,
    Dark,
    /// White on black, with full borders.
    HighContrast,
}

impl Theme {
    /// All looks, in the order of the menu.
    pub const ALL: [Self; 4] = [Self::System, Self::Light, Self::Dark, Self::HighContrast];

    pub fn text(self) -> &'static str {
        match self {
            Self::System => "As the system",
            Self::Light => "Light",
            Self::Dark => "Dark",
            Self::HighContrast => "High contrast",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    fn timeline() -> Timeline {
        Timeline { end_us: 1000.0, ..Timeline::new(&record()) }
    }

    #[test]
    fn zooming_is_centred_on_the_pointer() {
        let (timeline, mut view) = (timeline(), TimelineView::default());
        let pane = Rect::from_min_size(egui::pos2(10.0, 0.0), egui::vec2(NAMES + 400.0, 100.0));
        let axis = |view: &TimelineView| TimeAxis::new(pane, view.shown(&timeline));
        let about = axis(&view).at(222.0);
        view.zoom(&timeline, about, 4.0);
        assert!((axis(&view).x(about) - 222.0).abs() < 1e-3);
        assert!((view.shown(&timeline)[1] - view.shown(&timeline)[0] - 255.0).abs() < 1e-9);
        view.zoom(&timeline, about, 1e12);
        let [from, to] = view.shown(&timeline);
        assert!((to - from - MIN_WINDOW_US).abs() < 1e-9, "{}", to - from);
        view.zoom(&timeline, about, 1e-12);
        assert_eq!(view, TimelineView::default(), "the whole run needs no window");
    }

    #[test]
    fn panning_is_clamped_and_preserves_the_window_length() {
        let (timeline, mut view) = (timeline(), TimelineView::default());
        view.focus(&timeline, [400.0, 500.0]);
        assert_eq!(view.window, Some([390.0, 510.0]));
        view.pan(&timeline, 0.5);
        assert_eq!(view.window, Some([450.0, 570.0]));
        view.pan(&timeline, 100.0);
        let [from, to] = view.shown(&timeline);
        assert!((to - 1010.0).abs() < 1e-9 && (to - from - 120.0).abs() < 1e-9);
        view.pan(&timeline, -100.0);
        assert!((view.shown(&timeline)[0] + 10.0).abs() < 1e-9);
    }

    #[test]
    fn time_axis_positions_round_trip() {
        let axis = TimeAxis::new(
            Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(NAMES + 200.0, 50.0)),
            [5.0, 25.0],
        );
        assert_eq!((axis.x(5.0), axis.x(25.0), axis.at(NAMES + 50.0)), (NAMES, NAMES + 200.0, 10.0));
        assert!(axis.x(1e12) <= NAMES + 400.0, "distant positions are clamped");
    }
}
