//! Dispatches actions to the features and handles those of the window itself: layout, views, looks. `poll`
//! does the same for background tasks and frames.

use crate::app::context::app::App;
use crate::app::features::table::FEATURES;
use crate::app::jobs::table::CancelMethod;
use crate::app::look::tokens;
use crate::app::model::{
    CommandPalette, MapAxes, PlaneWindow, SpaceView, Theme, TimeAxis, WindowLayout, camera, map, state,
};
use crate::app::panes::tiles::PANE_MARGIN;
use crate::app::prelude::*;
use crate::cloud::PointCloud;

impl App {
    pub(in crate::app) fn apply(&mut self, action: Action) {
        // A hint that was followed is no longer needed. A click in a view leaves it, because the view would move.
        self.state.hints &= !matches!(
            action,
            Action::OpenPath(_) | Action::OpenSample(_) | Action::Command(Command::Open | Command::Lesson)
        );
        let Some(action) = FEATURES.iter().try_fold(action, |action, feature| (feature.apply)(self, action))
        else {
            return;
        };
        match action {
            Action::Command(command) => self.command(command),
            Action::SetDraft(draft) => {
                let before = std::mem::replace(&mut self.state.draft, *draft);
                FEATURES.iter().for_each(|feature| (feature.draft_changed)(self, &before));
            }
            Action::SetPlane(view) => self.state.plane = view,
            Action::SetSpace(view) => self.state.space = view,
            Action::SetConvergence(view) => self.state.convergence = view,
            Action::SetCounts(view) => self.state.counts = view,
            Action::SetTimings(view) => self.state.timings = view,
            Action::SetTimeline(view) => self.session.timeline = view,
            Action::SelectRank(rank) => self.session.rank = rank,
            Action::SetLook(look) => self.set_look(look),
            Action::SetScale(scale) => self.set_scale(scale),
            Action::ReduceMotion(reduce) => {
                self.state.choose_motion(reduce, self.session.system_reduces_motion);
                tokens::reduce_motion(&self.handles.ctx, reduce);
            }
            Action::SetFinder(finder) => self.session.finder = finder,
            Action::ForgetRecent => self.state.recent.clear(),
            Action::ShowHints(shown) => self.state.hints = shown,
            Action::DismissProblem => {
                self.session.log.dismiss();
                self.session.endings.load =
                    self.session.endings.load.take().filter(|_| self.session.cloud.is_none());
            }
            Action::KeepSettings(keep) => self.state.keep_settings = keep,
            Action::CopyAddress(address) => {
                self.session.log.info(format!("copied: {address}"));
                self.handles.ctx.copy_text(address);
            }
            Action::CopyAbout => self.copy_about(),
            Action::CloseAbout => self.session.about = false,
            other => debug_assert!(false, "no feature carries out {other:?}"),
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Cancel => self.cancel(),
            Command::FitView if self.is_at(PaneKind::Timeline) => self.focus_timeline(),
            Command::FitView if self.is_at(PaneKind::Second) => {
                let plane = &mut self.state.second.plane;
                let closer = plane.window.is_none() && plane.whole;
                (plane.window, plane.whole) = (None, !closer);
            }
            Command::FitView => {
                // Toggles between all points and the bulk of them.
                let closer = self.state.plane.window.is_none() && self.state.plane.whole;
                (self.state.plane.window, self.state.plane.whole) = (None, !closer);
                if let Some(scene) = self.session.scene() {
                    let (space, usual) = (&mut self.state.space, SpaceView::default());
                    let whole = camera::overview(scene.data(), space.axes);
                    (space.target, space.distance) =
                        if closer { (usual.target, usual.distance) } else { whole };
                }
            }
            Command::FocusQuery => self.focus_query(),
            Command::NextLook => {
                let at = Theme::ALL.iter().position(|&look| look == self.look()).unwrap_or(0);
                self.set_look(Theme::ALL[(at + 1) % Theme::ALL.len()]);
            }
            Command::ToggleProblem => {
                self.state.toggle_problem(WindowLayout::for_width(self.handles.ctx.content_rect().width()))
            }
            Command::ToggleSelection => {
                match WindowLayout::for_width(self.handles.ctx.content_rect().width()) {
                    _ if self.state.workspace == Workspace::Explore => {
                        self.session.log.info("Explore has the answer in its left panel: Ctrl+B shows it")
                    }
                    WindowLayout::One => self.session.log.info(
                        "no room for the right panel: widen the window, or make text and controls smaller",
                    ),
                    room => self.state.toggle_selection(room),
                }
            }
            Command::ScaleUp => self.set_scale(self.state.scale + 0.25),
            Command::ScaleDown => self.set_scale(self.state.scale - 0.25),
            Command::ScaleReset => self.set_scale(1.0),
            Command::Maximise => self.maximise(),
            Command::ResetLayout => self.state.tree = self.state.workspace.layout(),
            Command::Explore => self.switch_to(Workspace::Explore),
            Command::Measure => self.switch_to(Workspace::Measure),
            Command::Show(pane) => self.show(pane),
            Command::TimelineCloser => self.zoom_timeline(2.0),
            Command::TimelineFarther => self.zoom_timeline(0.5),
            Command::TimelineEarlier => self.pan_timeline(-0.25),
            Command::TimelineLater => self.pan_timeline(0.25),
            Command::PresenterScale => {
                self.state.toggle_presenter();
                self.set_scale(self.state.scale);
            }
            Command::Find => {
                self.session.finder = self.session.finder.take().xor(Some(CommandPalette::default()))
            }
            Command::About => self.session.about ^= true,
            other => debug_assert!(false, "no feature carries out {other:?}"),
        }
    }

    pub(in crate::app) fn show(&mut self, pane: PaneKind) {
        (self.state.pane, self.state.problem_alone) = (pane, false);
        if self.state.tree.tiles.find_pane(&pane).is_none() {
            self.state.switch_to(self.state.workspace.with_pane(pane));
        }
        if self.state.tree.tiles.find_pane(&pane).is_none() {
            // A layout of an older version may lack the pane.
            crate::app::model::pane::add_pane(&mut self.state.tree, pane);
        }
        self.state.tree.make_active(|_, tile| matches!(tile, egui_tiles::Tile::Pane(kind) if *kind == pane));
    }

    /// Shows a workspace in place of the other one or of the lesson.
    pub(in crate::app) fn switch_to(&mut self, workspace: Workspace) {
        if self.session.lesson.open {
            self.apply(Action::Command(Command::Lesson));
        }
        self.state.switch_to(workspace);
        self.state.maximised = false;
    }

    /// Maximises the pane under the pointer, or else the one shown last; restores it if already maximised.
    fn maximise(&mut self) {
        let pointed = PaneKind::ALL.iter().copied().find(|&pane| self.is_at(pane));
        self.state.maximised ^= true;
        if let (true, Some(pane)) = (self.state.maximised, pointed) {
            self.state.pane = pane;
        }
    }

    fn set_scale(&mut self, scale: f32) {
        self.state.scale = scale.clamp(*state::SCALES.start(), *state::SCALES.end());
        self.handles.ctx.set_zoom_factor(self.state.scale);
    }

    /// Stops only the task that the status line names: a user who cancels a run may have forgotten that a
    /// session is still being written.
    fn cancel(&mut self) {
        match self.jobs.cancel(&self.session) {
            Some(CancelMethod::By(cancel)) => cancel(self),
            Some(CancelMethod::Ask) => {}
            None => {
                FEATURES.iter().for_each(|feature| (feature.give_up)(self));
                self.state.maximised = false;
            }
        }
    }

    /// Zooms Plane and Space to the picked query and its neighbours.
    pub(in crate::app) fn focus_query(&mut self) {
        /// Fraction of the cloud's extent to show when all neighbours coincide with the query.
        const MIN_EXTENT: f64 = 0.02;
        let Some((cloud, row)) = self.session.picked_point() else { return };
        let Some(scene) = self.session.scene() else { return };
        let (data, cloud) = (scene.data(), scene.drawn(cloud));
        let Some(answered) = &self.session.answered else { return };
        let reach = |from: &[f64], axes: &[usize], stretch: &[f64]| {
            let far = |row: u32| {
                let along = |at: usize| camera::along(data, row as usize, axes[at]) - from[at];
                (0..axes.len()).map(|at| (along(at) * stretch[at]).powi(2)).sum::<f64>()
            };
            let radius = answered.neighbors().map(|(row, _)| far(row)).fold(0.0, f64::max).sqrt();
            if radius > 0.0 { radius } else { camera::extent(data, axes) * MIN_EXTENT }
        };
        let axes = self.state.plane.axes;
        let center = camera::place(cloud, row, axes);
        let radius = reach(&center, &axes, &map::stretch(MapAxes::of(data, axes), center));
        let pane =
            self.pane_rects.get(&PaneKind::Plane).map_or(400.0, |rect| rect.width().min(rect.height()));
        let plane = (radius > 0.0)
            .then(|| PlaneWindow { center, units_per_point: radius * 2.6 / f64::from(pane.max(1.0)) });
        let axes = self.state.space.axes;
        let place = camera::place(cloud, row, axes);
        let radius = reach(&place, &axes, &[1.0; 3]);
        let (target, distance) = camera::focus(cloud, axes, place, radius);
        if plane.is_some() {
            self.state.plane.window = plane;
        }
        if radius > 0.0 {
            (self.state.space.target, self.state.space.distance) = (target, distance);
        }
    }

    /// Whether the pointer is over a pane, or a widget in it has the keyboard focus.
    fn is_at(&self, pane: PaneKind) -> bool {
        let ctx = &self.handles.ctx;
        let focus = ctx
            .memory(|memory| memory.focused())
            .and_then(|id| ctx.read_response(id))
            .map(|focused| focused.rect.center());
        let places = [ctx.pointer_latest_pos(), focus];
        self.pane_rects
            .get(&pane)
            .is_some_and(|rect| places.into_iter().flatten().any(|place| rect.contains(place)))
    }

    fn zoom_timeline(&mut self, factor: f64) {
        let (Some(derived), Some(&pane)) = (&self.session.derived, self.pane_rects.get(&PaneKind::Timeline))
        else {
            return;
        };
        let view = &mut self.session.timeline;
        let [from, to] = view.shown(&derived.timeline);
        // Inside the margin of every pane.
        let axis = TimeAxis::new(pane.shrink(PANE_MARGIN.into()), [from, to]);
        let pointer = self
            .handles
            .ctx
            .pointer_latest_pos()
            .filter(|pointer| pane.contains(*pointer) && axis.range().contains(pointer.x));
        view.zoom(
            &derived.timeline,
            pointer.map_or(f64::midpoint(from, to), |pointer| axis.at(pointer.x)),
            factor,
        );
    }

    fn pan_timeline(&mut self, by: f64) {
        if let Some(derived) = &self.session.derived {
            self.session.timeline.pan(&derived.timeline, by);
        }
    }

    /// Zooms to the warp of the picked query and expands its multiprocessor; shows the whole run if it has
    /// none.
    fn focus_timeline(&mut self) {
        let Some(derived) = &self.session.derived else { return };
        let of_run = |answered: &&QueryAnswer| self.session.has_record(&answered.record);
        let picked = self.session.answered.as_ref().filter(of_run);
        let view = &mut self.session.timeline;
        match picked.and_then(|answered| derived.timeline.position_of(answered.query as u32)) {
            Some((at, track, warp)) => {
                let multiprocessor = &derived.timeline.multiprocessors[at];
                let warp = &multiprocessor.tracks[track][warp];
                view.open.insert(multiprocessor.sm);
                view.focus(&derived.timeline, [warp.start_us, warp.stop_us]);
            }
            None => view.window = None,
        }
    }
}

// The update before each frame: events of the worker, of loads and of threads.

impl App {
    /// Applies finished background work, and starts what the current state needs.
    pub(in crate::app) fn poll(&mut self) {
        while let Some(apply) = self.jobs.next() {
            apply(self);
        }
        for feature in FEATURES {
            (feature.update)(self);
        }
        let (named, later) = self.jobs.activity(&self.session);
        if let Some(later) = later {
            // Requested in every frame, because egui keeps only the earliest requested time.
            self.handles.ctx.request_repaint_after(later);
        }
        self.session.activity = named.map_or(Activity::Idle, |(_, activity)| activity);
    }

    /// Notifies the features that another cloud replaces the one still shown.
    pub(in crate::app) fn leave_cloud(&mut self, to: &PointCloud) {
        for feature in FEATURES {
            (feature.leave_cloud)(self, to);
        }
    }

    /// Notifies the features that a new cloud is shown.
    pub(in crate::app) fn enter_cloud(&mut self) {
        for feature in FEATURES {
            (feature.enter_cloud)(self);
        }
    }

    /// Number of background tasks, short ones included, without runs and queries.
    pub fn tasks(&self) -> usize {
        self.jobs.tasks()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::model::{Draft, SHOWN_AFTER, single_layout};
    use crate::app::testing::{cloud, record};

    #[test]
    fn the_picture_has_most_of_the_window_in_explore() {
        let size = vec2(1280.0, 800.0);
        let state = State { hints: false, ..State::default() };
        let mut window = Harness::builder()
            .with_size(size)
            .build_eframe(|cc| App::bare(cc, state).expect("a thread for the worker"));
        window.state_mut().session.cloud = Some(cloud(30, 2, 1));
        window.run_steps(3);
        let picture = window.state().pane_rects[&PaneKind::Plane];
        assert!(picture.area() / (size.x * size.y) > 0.7, "{picture}");
        window.state_mut().apply(Action::Command(Command::Show(PaneKind::Timings)));
        assert_eq!(window.state().state.workspace, Workspace::Measure, "it has this pane");
        window.state_mut().apply(Action::Command(Command::Lesson));
        window.state_mut().apply(Action::Command(Command::Explore));
        let App { state, session, .. } = window.state();
        assert!(state.workspace == Workspace::Explore && !session.lesson.open && !state.hints);
    }

    #[test]
    fn a_changed_question_drops_a_slow_answer_and_searches() {
        let mut window = Harness::builder()
            .with_size([1280.0, 800.0])
            .build_eframe(|cc| App::bare(cc, State::default()).expect("a thread for the worker"));
        let app = window.state_mut();
        app.show_record(record());
        app.apply(Action::PickQuery(0));
        assert!(app.session.answered.is_some() && !app.session.live.is_waiting());
        app.session.live.took = Some((std::time::Duration::from_secs(9), 32));
        let draft = Draft { k: "3".to_owned(), ..app.state.draft.clone() };
        app.apply(Action::SetDraft(Box::new(draft)));
        assert!(app.session.answered.is_none(), "it answers the previous question");
        assert!(app.session.live.is_waiting());
    }

    #[test]
    fn the_expected_time_of_many_neighbours_is_that_measured() {
        let mut window = Harness::builder()
            .with_size([1280.0, 800.0])
            .build_eframe(|cc| App::bare(cc, State::default()).expect("a thread for the worker"));
        window.state_mut().session.cloud = Some(cloud(20_000, 2, 1));
        window.state_mut().session.live.took = Some((std::time::Duration::from_millis(10), 1000));
        for (k, expected) in
            [("16001", "Updates as you click."), ("16000", "Updates as you click (about 160 ms).")]
        {
            window.state_mut().state.draft.k = k.to_owned();
            window.run_steps(2);
            window.get_by_label(expected);
        }
    }

    #[test]
    fn an_answer_to_another_query_is_marked_once_the_next_takes_long() {
        let mut window = Harness::builder()
            .with_size([1280.0, 800.0])
            .build_eframe(|cc| App::bare(cc, State::default()).expect("a thread for the worker"));
        let app = window.state_mut();
        app.show_record(record());
        app.apply(Action::PickQuery(0));
        // No query is sent, so no reply arrives, however fast the machine is.
        (app.session.live.asked, app.session.live.since) = (1, Some(Instant::now()));
        window.run_steps(2);
        window.get_by_label("Answer");
        let delay = window.output().viewport_output.values().map(|output| output.repaint_delay).min();
        assert!(delay.is_some_and(|delay| delay <= SHOWN_AFTER), "{delay:?}");
        window.state_mut().session.live.since = Some(Instant::now() - SHOWN_AFTER);
        window.run_steps(2);
        assert!(window.query_by_label("Answer").is_none());
        window.get_by_label("Answering…");
    }

    #[test]
    fn slow_queries_are_shown_and_can_be_cancelled() {
        let state = State { hints: false, tree: single_layout(PaneKind::Neighbors), ..State::default() };
        let mut window = Harness::builder()
            .with_size([1280.0, 800.0])
            .build_eframe(|cc| App::bare(cc, state).expect("a thread for the worker"));
        let session = &mut window.state_mut().session;
        (session.cloud, session.picked) = (Some(cloud(30, 2, 1)), Some(PickedPoint::Row(3)));
        // No query is sent, so no reply arrives, however fast the machine is.
        (session.live.asked, session.live.since) = (1, Some(Instant::now() - SHOWN_AFTER));
        window.run_steps(2);
        window.get_by_label("The query is being answered…");
        window.get_by_label("Cancel").click();
        window.run_steps(2);
        assert!(!window.state().session.live.is_waiting());
        window.get_by_label("Cancelled");
    }
}
