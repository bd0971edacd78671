//! Which row a query goes to that moves from row to row: the one that is drawn nearest to the pointer, or the next in the
//! direction of an arrow key. Where rows are many they are searched on a thread, so that the window goes on: one search after
//! the other, each for where the pointer is by then.

use crate::app::context::app::App;
use crate::app::features::live::state::{LiveAction, Target};
use crate::app::features::picking::search::is_small;
use crate::app::jobs::table::{Kind, Slot};
use crate::app::jobs::task::Outcome;
use crate::app::model::{About, Picked, Scene};
use crate::progress::Silent;

/// The row that a dragged query goes to.
#[derive(Default)]
pub struct Snapping {
    /// What is looked for after it.
    pub next: Option<Target>,
    /// Whether the query is let go once it is there.
    pub lets_go: bool,
}

pub static SNAP: Kind<App, Snapping, Option<u32>> = Kind::new(Slot::Snap, "snap", App::snap_found);

impl App {
    /// The held query goes to a row.
    pub(in crate::app) fn snap(&mut self, target: Target) {
        let Some(scene) = self.session.scene() else { return };
        if let Some(snapping) = self.jobs.about_mut(&SNAP) {
            snapping.next = Some(target);
        } else if is_small(scene.data().len()) {
            let row = target.row(scene.data(), &Silent);
            self.snapped(row);
        } else {
            self.search_row(scene, target, false);
        }
    }

    fn search_row(&mut self, scene: Scene, target: Target, lets_go: bool) {
        self.jobs.start(&SNAP, Snapping { next: None, lets_go }, move |progress| target.row(scene.data(), progress));
    }

    fn snapped(&mut self, row: Option<u32>) {
        let Some(picked) = row.map(Picked::Row).filter(|picked| self.session.picked != Some(*picked)) else { return };
        (self.session.picked, self.session.rank) = (Some(picked), None);
        self.session.live.chosen = true;
        self.ask();
    }

    /// Whether the query has still to go somewhere before it can be let go; then it is let go there.
    pub(in crate::app) fn lets_go_later(&mut self) -> bool {
        self.jobs.about_mut(&SNAP).map(|snapping| snapping.lets_go = true).is_some()
    }

    /// Gives up the search for a query that is no longer held.
    pub(in crate::app) fn drop_lost_snap(&mut self) {
        if !self.session.live.is_held() {
            self.jobs.stop(&SNAP);
        }
    }

    /// The row is found.
    pub(in crate::app) fn snap_found(&mut self, Snapping { next, lets_go }: Snapping, result: Outcome<Option<u32>>) {
        if !self.session.live.is_held() {
            // Put back, or another query by now: it goes nowhere.
            return;
        }
        match result {
            Ok(row) => self.snapped(row),
            Err(stopped) => self.session.log.error(About::Query, format!("cannot move the query: {stopped}")),
        }
        match (next, self.session.scene()) {
            (Some(target), Some(scene)) => self.search_row(scene, target, lets_go),
            _ if lets_go => self.live_action(LiveAction::Release),
            _ => {}
        }
    }
}
