//! Handles actions of the colour chooser and the legend, and updates colours each frame.

use std::sync::Arc;

use super::state::channel::ColoringState;
use super::state::{ColorAction, ColorBy, ColorRange};
use super::{CANCELLED, ColoringCache, Failure, Outcome, Request, column_title};
use crate::app::context::app::{App, Feature};
use crate::app::features::selection::state::{SelectAction, SelectionCriterion};
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::model::Level;
use crate::app::prelude::*;
use crate::cloud::{Axis, PointCloud, Source, formats};

/// Duration of a replay from the first point to the last, in seconds.
const PLAY_SECS: f64 = 10.0;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Color(action) => app.color_action(action),
            other => return Some(other),
        }
        None
    },
    update: App::want_colors,
    leave_cloud: App::fit_colors_to,
    ..Feature::NONE
};

/// Computes the values that colour points.
pub static COLOR: TaskKind<App, Request, Outcome> = TaskKind {
    purpose: |request, fraction| Some(Activity::Preparing { what: request.status_text()?, fraction }),
    ..TaskKind::new(TaskPurpose::Color, "color", |app, request, outcome| {
        app.handles.coloring.take(request, outcome)
    })
};

/// Minimum number of points for x, y, z of any file to be treated as a scan.
const MIN_SCAN_POINTS: usize = 100_000;

/// The axis of height, if a cloud is a scan: from a format of scanners, or many points of x, y and z.
fn scan_height(cloud: &PointCloud) -> Option<usize> {
    let scan = formats::is_of_scans(cloud.file()?) || cloud.len() >= MIN_SCAN_POINTS;
    let [x, y, z] = cloud.axes() else { return None };
    let named = |axis: &Axis, name: &str| axis.name.eq_ignore_ascii_case(name);
    let height = named(z, "z") || named(z, "height");
    (scan && height && named(x, "x") && named(y, "y")).then_some(2)
}

impl App {
    fn color_action(&mut self, action: ColorAction) {
        match action {
            ColorAction::Set(view) => {
                if view.moment != self.state.color.moment || view.by != ColorBy::Moment {
                    self.session.playing = None;
                }
                self.state.color = view;
            }
            ColorAction::SelectCategory(category, how) => {
                let ColoringState::Ready(channel) = &self.session.colored else { return };
                let Some(categories) = &channel.categories else { return };
                let Some(of) = categories.list.get(category) else { return };
                let by = format!("{} = {}", channel.title, of.name);
                let what = SelectionCriterion::Valued(Arc::clone(&categories.values), category as f32);
                self.select(SelectAction::Choose { what, how, by });
            }
            ColorAction::SelectBetween(from, to, how) => {
                let ColoringState::Ready(channel) = &self.session.colored else { return };
                let Some(numbers) = &channel.numbers else { return };
                let by = format!("{} {}", channel.title, numbers.span(from, to));
                let less = |value: f64| (value - numbers.offset) as f32;
                let what = SelectionCriterion::Between {
                    points: channel.points,
                    values: Arc::clone(&numbers.values),
                    from: less(from),
                    to: less(to),
                };
                self.select(SelectAction::Choose { what, how, by });
            }
            ColorAction::SelectMost { count, highest, how } => {
                let ColoringState::Ready(channel) = &self.session.colored else { return };
                let Some(last) = channel.numbers.as_ref().and_then(|numbers| numbers.extreme(count, highest))
                else {
                    return;
                };
                let (from, to) = if highest { (last, f64::INFINITY) } else { (f64::NEG_INFINITY, last) };
                self.color_action(ColorAction::SelectBetween(from, to, how));
            }
            ColorAction::Retry => {
                self.jobs.stop(&COLOR);
                self.handles.coloring = ColoringCache::default();
            }
            ColorAction::Play(false) => self.session.playing = None,
            ColorAction::Play(true) => {
                let Some(n) = self.session.record.as_ref().map(|record| record.cloud.len() as u32) else {
                    return;
                };
                // At the end, playing restarts.
                let from = if self.state.color.moment >= n { 1 } else { self.state.color.moment.max(1) };
                self.state.color.moment = from;
                self.session.playing = Some(f64::from(from));
            }
        }
    }

    /// Starts computing values if the choice or its inputs changed, and advances a replay.
    fn want_colors(&mut self) {
        self.play_on();
        let wanted = Request::for_view(&self.state.color, &self.session);
        let request = wanted.as_ref().ok().and_then(Option::as_ref);
        // A running request is completed if the wanted one merely continues it.
        if self.jobs.params(&COLOR).is_some_and(|busy| request.is_none_or(|wanted| !wanted.continues(busy))) {
            self.jobs.stop(&COLOR);
        }
        let changed = self.handles.coloring.settle(request);
        if let Some(request) =
            request.filter(|request| !self.jobs.has(&COLOR) && !self.handles.coloring.has(request))
        {
            let asked = request.clone();
            self.jobs.start(&COLOR, request.clone(), move |progress| asked.work(progress));
        }
        let colored = match (&wanted, self.handles.coloring.channel()) {
            (Ok(None), _) => ColoringState::Nothing,
            (Err(first), _) => ColoringState::Missing(first.clone()),
            (Ok(Some(_)), None) => ColoringState::Working,
            (Ok(Some(_)), Some(Ok(channel))) => ColoringState::Ready(channel),
            (Ok(Some(_)), Some(Err(Failure::NoColumn))) => return self.forget_color_column(),
            (Ok(Some(_)), Some(Err(Failure::Message(why)))) => ColoringState::Failed(why),
        };
        match &colored {
            ColoringState::Failed(why) if changed && why == CANCELLED => self.session.log.info(why.clone()),
            ColoringState::Failed(why) if changed => self.session.log.error(Subject::Color, why.clone()),
            ColoringState::Ready(_) if changed => self.session.log.resolve(Subject::Color),
            _ => {}
        }
        self.session.colored = colored;
    }

    /// Resets the colouring if the file lacks its column.
    pub(in crate::app) fn check_color_column(&mut self) {
        if let ColorBy::Column(key) = &self.state.color.by
            && !key.is_empty()
            && column_title(&self.session, key).is_none()
        {
            self.forget_color_column();
        }
        if self.state.color.by == ColorBy::FileColors && self.session.file_colors().is_none() {
            self.state.color.choose(ColorBy::Nothing);
            self.history.skip();
        }
    }

    /// Resets the colouring because the shown file lacks its column. Only the log says so: the status line
    /// keeps its message about the file, such as dropped rows.
    fn forget_color_column(&mut self) {
        if let (ColorBy::Column(key), Some(cloud)) = (&self.state.color.by, &self.session.cloud) {
            let said = format!("colours reset: the file has no column {key}: {}", cloud.source());
            self.session.log.list(Level::Info, said);
        }
        self.state.color.choose(ColorBy::Nothing);
        self.session.colored = ColoringState::Nothing;
        // Not an undo step.
        self.history.skip();
    }

    /// Resets a colouring that is impossible for this cloud.
    fn fit_colors_to(&mut self, cloud: &PointCloud) {
        let has = match (&self.state.color.by, cloud.source()) {
            (ColorBy::Axis(axis), _) => *axis < cloud.dims(),
            (ColorBy::Column(_) | ColorBy::FileColors, Source::Generate { .. } | Source::Coordinates(_)) => {
                false
            }
            // Columns of a file are checked once they are listed.
            _ => true,
        };
        // What was measured of one file does not colour another.
        let is_other = |shown: &Arc<PointCloud>| cloud.file().is_some() && shown.file() != cloud.file();
        let is_measured = !matches!(
            self.state.color.by,
            ColorBy::Axis(_) | ColorBy::Column(_) | ColorBy::FileColors | ColorBy::Nothing
        );
        let is_stale = is_measured && self.session.cloud.as_ref().is_some_and(is_other);
        if !has || is_stale {
            self.state.color.choose(ColorBy::Nothing);
        }
        if !self.shows(cloud) && matches!(self.state.color.range, ColorRange::Typed(..)) {
            self.state.color.range = ColorRange::default();
        }
    }

    /// Initial colouring of an opened file: by its label column, or else by its own colours; for a scan, by its
    /// own colours, or else by height.
    pub(in crate::app) fn color_at_first(&mut self) {
        let scan = self.session.cloud.as_ref().is_some_and(|cloud| scan_height(cloud).is_some());
        if !scan {
            self.color_by_label();
        }
        self.session.awaits_colors = scan || self.session.roles.label.column().is_none();
        self.show_file_colors();
    }

    /// Shows the file's own colours, or the height of a scan, if that was deferred until the file's columns are
    /// listed.
    pub(in crate::app) fn show_file_colors(&mut self) {
        if self.session.file_columns().is_none() || !std::mem::take(&mut self.session.awaits_colors) {
            return;
        }
        let height = || self.session.cloud.as_ref().and_then(|cloud| scan_height(cloud)).map(ColorBy::Axis);
        let first = self.session.file_colors().map(|_| ColorBy::FileColors).or_else(height);
        if let Some(first) = first.filter(|_| self.state.color.by == ColorBy::Nothing) {
            self.state.color.choose(first);
            // Not an undo step.
            self.history.skip();
        }
    }

    pub(in crate::app) fn color_by_label(&mut self) {
        if let Some(label) = self.session.roles.label.column() {
            self.state.color.choose(ColorBy::Column(label.key.clone()));
        }
    }

    fn play_on(&mut self) {
        let Some(at) = self.session.playing else { return };
        let shown = self.state.color.by == ColorBy::Moment;
        let Some(n) = self.session.record.as_ref().map(|record| record.cloud.len() as f64).filter(|_| shown)
        else {
            self.session.playing = None;
            return;
        };
        let secs = f64::from(self.handles.ctx.input(|input| input.stable_dt).min(0.1));
        // Multiplicative steps, because the slider is logarithmic.
        let next = (at * n.max(2.0).powf(secs / PLAY_SECS)).min(n);
        self.state.color.moment = next as u32;
        self.session.playing = (next < n).then_some(next);
        self.handles.ctx.request_repaint();
    }
}
