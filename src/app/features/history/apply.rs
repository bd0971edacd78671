//! Carries out undo and redo.

use std::sync::{Arc, Weak};

use super::state::{Snapshot, Step};
use crate::app::context::app::{App, Feature};
use crate::app::prelude::*;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Command(Command::Undo) => app.undo(),
            Action::Command(Command::Redo) => app.redo(),
            other => return Some(other),
        }
        None
    },
    ..Feature::NONE
};

impl App {
    fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.state, &self.session, self.views())
    }

    /// Records changes; once per frame, after all actions.
    pub(in crate::app) fn watch_history(&mut self) {
        let now = self.handles.ctx.input(|input| input.time);
        let snapshot = self.snapshot();
        self.history.watch(snapshot, self.session.live.movement(), now);
    }

    fn undo(&mut self) {
        self.watch_history();
        let Some(step) = self.history.done.pop_back() else { return };
        let after = self.snapshot();
        self.restore(&step.before);
        self.history.undone.push(Step { before: after, ..step });
    }

    fn redo(&mut self) {
        self.watch_history();
        let Some(step) = self.history.undone.pop() else { return };
        let before = self.snapshot();
        self.restore(&step.before);
        // An old timestamp, so that later changes are not merged into it.
        self.history.done.push_back(Step { before, at: f64::NEG_INFINITY, ..step });
    }

    fn restore(&mut self, snapshot: &Snapshot) {
        (self.state.color, self.state.projection) = snapshot.colors.clone();
        self.state.convergence = snapshot.views.2;
        self.set_views(snapshot.views.0, snapshot.views.1);
        let record = self.session.record.as_ref().map(Arc::downgrade).unwrap_or_default();
        if self.session.selection != snapshot.selection {
            let same_run = Weak::ptr_eq(&record, &snapshot.record);
            self.restore_selection(&snapshot.selection, &snapshot.selected, same_run);
        }
        let same_place =
            self.session.live.place().map(Arc::as_ptr) == snapshot.place.as_ref().map(Arc::as_ptr);
        if self.session.picked != snapshot.picked || !same_place {
            // A query that is being dragged or typed is given up.
            self.settle_live(snapshot.picked.is_some());
            match snapshot.picked {
                Some(PickedPoint::Coordinates) => self.set_query_point(snapshot.place.clone()),
                Some(picked) => self.pick(picked),
                None => self.clear_query(),
            }
        }
        self.session.rank = snapshot.rank;
        self.history.now = self.snapshot();
    }
}
