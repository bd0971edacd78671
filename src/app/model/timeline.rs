//! What Timeline shows of a run's time: which part of it, and which multiprocessors are open.

use std::collections::BTreeSet;

use egui::Rect;
use serde::{Deserialize, Serialize};

use crate::run::Timeline;

/// Room for the names of the tracks, in points of the screen.
pub const NAMES: f32 = 112.0;

/// The shortest window, in microseconds: a device's clock counts no finer than some nanoseconds.
const SHORTEST: f64 = 0.02;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimelineView {
    /// From when to when, in microseconds since the run began; `None` shows all of it.
    pub window: Option<[f64; 2]>,
    /// Multiprocessors whose warps are shown one by one.
    pub open: BTreeSet<u32>,
}

impl TimelineView {
    /// This, if a pointer could have brought it here; else all of the run.
    pub fn settled(&self) -> Self {
        /// One year in microseconds: a bound on what a saved window may name.
        const LONGEST: f64 = 3.2e13;
        let window = self.window.filter(|[from, to]| from.abs() <= LONGEST && to.abs() <= LONGEST && to - from >= SHORTEST * 0.5);
        Self { window, open: self.open.clone() }
    }

    /// From when to when.
    pub fn shown(&self, timeline: &Timeline) -> [f64; 2] {
        self.window.unwrap_or_else(|| whole(timeline))
    }

    /// Makes the window shorter by a factor (longer, below 1) about a time, which keeps its place.
    pub fn zoom(&mut self, timeline: &Timeline, about: f64, factor: f64) {
        let [from, to] = self.shown(timeline);
        let factor = factor.min((to - from) / SHORTEST);
        self.set(timeline, [about - (about - from) / factor, about + (to - about) / factor]);
    }

    /// Moves the window by a part of its length.
    pub fn pan(&mut self, timeline: &Timeline, by: f64) {
        let [from, to] = self.shown(timeline);
        let by = by * (to - from);
        let [first, last] = whole(timeline);
        // It stops at the ends and keeps its length.
        let by = by.clamp((first - from).min(0.0), (last - to).max(0.0));
        self.set(timeline, [from + by, to + by]);
    }

    /// Shows a span with some time around it.
    pub fn focus(&mut self, timeline: &Timeline, span: [f64; 2]) {
        let margin = ((span[1] - span[0]) * 0.1).max(SHORTEST / 2.0);
        self.set(timeline, [span[0] - margin, span[1] + margin]);
    }

    fn set(&mut self, timeline: &Timeline, window: [f64; 2]) {
        let [first, last] = whole(timeline);
        let window = [window[0].max(first), window[1].min(last)];
        // All of it, up to rounding, is no part.
        let part = window[1] - window[0] < (last - first) * (1.0 - 1e-9);
        self.window = (window[0] < window[1] && part).then_some(window);
    }
}

/// All of the run, and a little more, so that its ends are seen to be ends.
fn whole(timeline: &Timeline) -> [f64; 2] {
    let end = if timeline.end_us > 0.0 { timeline.end_us } else { 1.0 };
    [-0.01 * end, 1.01 * end]
}

/// Times along the pane.
#[derive(Clone, Copy, Debug)]
pub struct TimeAxis {
    left: f32,
    width: f32,
    /// From when to when, in microseconds.
    pub window: [f64; 2],
}

impl TimeAxis {
    /// The axis of a pane's inner rectangle, beside the names.
    pub fn new(pane: Rect, window: [f64; 2]) -> Self {
        Self { left: pane.left() + NAMES, width: (pane.width() - NAMES).max(1.0), window }
    }

    /// Where a time is on the screen; times outside the window are not far outside the pane.
    pub fn x(&self, us: f64) -> f32 {
        let [from, to] = self.window;
        let part = ((us - from) / (to - from)).clamp(-1.0, 2.0);
        self.left + part as f32 * self.width
    }

    /// The time at a place of the screen.
    pub fn at(&self, x: f32) -> f64 {
        let [from, to] = self.window;
        from + f64::from((x - self.left) / self.width) * (to - from)
    }

    /// Where the axis lies.
    pub fn range(&self) -> egui::Rangef {
        egui::Rangef::new(self.left, self.left + self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    fn timeline() -> Timeline {
        Timeline { end_us: 1000.0, ..Timeline::of(&record()) }
    }

    #[test]
    fn zooming_keeps_what_is_under_the_pointer_and_ends_at_the_ends() {
        let (timeline, mut view) = (timeline(), TimelineView::default());
        let pane = Rect::from_min_size(egui::pos2(10.0, 0.0), egui::vec2(NAMES + 400.0, 100.0));
        let axis = |view: &TimelineView| TimeAxis::new(pane, view.shown(&timeline));
        let about = axis(&view).at(222.0);
        view.zoom(&timeline, about, 4.0);
        assert!((axis(&view).x(about) - 222.0).abs() < 1e-3);
        assert!((view.shown(&timeline)[1] - view.shown(&timeline)[0] - 255.0).abs() < 1e-9);
        view.zoom(&timeline, about, 1e12);
        let [from, to] = view.shown(&timeline);
        assert!((to - from - SHORTEST).abs() < 1e-9, "{}", to - from);
        view.zoom(&timeline, about, 1e-12);
        assert_eq!(view, TimelineView::default(), "all of it is no window");
    }

    #[test]
    fn panning_stops_at_the_ends_and_keeps_the_length() {
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
    fn places_and_times_are_each_others_inverse() {
        let axis = TimeAxis::new(Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(NAMES + 200.0, 50.0)), [5.0, 25.0]);
        assert_eq!((axis.x(5.0), axis.x(25.0), axis.at(NAMES + 50.0)), (NAMES, NAMES + 200.0, 10.0));
        assert!(axis.x(1e12) <= NAMES + 400.0, "far places are no places on a screen");
    }
}
