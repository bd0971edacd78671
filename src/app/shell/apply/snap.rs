//! Which row a query goes to that moves from row to row: the one that is drawn nearest to the pointer, or the next in the
//! direction of an arrow key. Where rows are many they are searched on a thread, so that the window goes on: one search after
//! the other, each for where the pointer is by then.

use crate::app::features::picking::search::is_small;
use crate::app::jobs::task::Task;
use crate::app::model::answer::Picked;
use crate::app::model::commands::live::LiveAction;
use crate::app::model::live::Target;
use crate::app::model::log::About;
use crate::app::model::scene::Scene;
use crate::app::shell::app::App;
use crate::app::shell::underway::Snapping;
use crate::progress::{Progress, Silent};

impl App {
    /// The held query goes to a row.
    pub(in crate::app::shell) fn snap(&mut self, target: Target) {
        let Some(scene) = self.session.scene() else { return };
        if let Some(snapping) = &mut self.handles.snapping {
            snapping.next = Some(target);
        } else if is_small(scene.data().len()) {
            let row = target.row(scene.data(), &Silent);
            self.snapped(row);
        } else {
            self.search_row(scene, target, false);
        }
    }

    fn search_row(&mut self, scene: Scene, target: Target, lets_go: bool) {
        let wake = self.handles.ctx.clone();
        let work = move |progress: &dyn Progress| target.row(scene.data(), progress);
        match Task::start("snap", move || wake.request_repaint(), work) {
            Ok(task) => self.handles.snapping = Some(Snapping { task, next: None, lets_go }),
            Err(error) => self.session.log.error(About::Query, format!("cannot move the query: {error}")),
        }
    }

    fn snapped(&mut self, row: Option<u32>) {
        let Some(picked) = row.map(Picked::Row).filter(|picked| self.session.picked != Some(*picked)) else { return };
        (self.session.picked, self.session.rank) = (Some(picked), None);
        self.session.live.chosen = true;
        self.ask();
    }

    /// Whether the query has still to go somewhere before it can be let go; then it is let go there.
    pub(in crate::app::shell) fn lets_go_later(&mut self) -> bool {
        self.handles.snapping.as_mut().map(|snapping| snapping.lets_go = true).is_some()
    }

    /// Takes in what the thread found.
    pub(in crate::app::shell) fn poll_snapping(&mut self) {
        // Put back, or another query by now: it goes nowhere.
        if !self.session.live.is_held() {
            self.handles.snapping = None;
        }
        let Some(result) = self.handles.snapping.as_ref().and_then(|snapping| snapping.task.try_finish()) else { return };
        let Some(Snapping { next, lets_go, .. }) = self.handles.snapping.take() else { return };
        match result {
            Ok(row) => self.snapped(row),
            Err(()) => self.session.log.error(About::Query, "cannot move the query: the thread stopped without an answer"),
        }
        match (next, self.session.scene()) {
            (Some(target), Some(scene)) => self.search_row(scene, target, lets_go),
            _ if lets_go => self.live_action(LiveAction::Release),
            _ => {}
        }
    }
}
