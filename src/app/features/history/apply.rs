//! Carries out undo and redo.

use std::sync::{Arc, Weak};

use super::state::{Columns, Snapshot, Step};
use crate::app::context::app::{App, Feature};
use crate::app::features::opening::apply::LOAD;
use crate::app::model::files::typed_columns;
use crate::app::model::{DataKind, FileRoles, Roles};
use crate::app::prelude::*;
use crate::cloud::{ColumnChoice, Source};

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
        Snapshot::new(&self.state, &self.session, self.views(), &self.history.now)
    }

    /// Records changes; once per frame, after all actions.
    pub(in crate::app) fn watch_history(&mut self) {
        let now = self.handles.ctx.input(|input| input.time);
        let snapshot = self.snapshot();
        self.history.watch(snapshot, self.session.live.movement(), now);
        self.history.reading = self.history.reading.filter(|_| self.jobs.has(&LOAD));
    }

    fn undo(&mut self) {
        self.watch_history();
        let Some(step) = self.history.done.pop_back() else { return };
        let after = self.snapshot();
        if self.read_with(&step.before, true) {
            return;
        }
        self.restore(&step.before);
        self.history.undone.push(Step { before: after, ..step });
    }

    fn redo(&mut self) {
        self.watch_history();
        let Some(step) = self.history.undone.pop() else { return };
        let before = self.snapshot();
        if self.read_with(&step.before, false) {
            return;
        }
        self.restore(&step.before);
        // An old timestamp, so that later changes are not merged into it.
        self.history.done.push_back(Step { before, at: f64::NEG_INFINITY, ..step });
    }

    /// Restores the columns of the file. Returns whether it is read again, which ends in a step.
    fn read_with(&mut self, snapshot: &Snapshot, undoes: bool) -> bool {
        let Some(columns) = snapshot.columns.clone().filter(|_| snapshot.columns != self.history.now.columns)
        else {
            return false;
        };
        let Columns { source, roles } = &*columns;
        let Source::File { path, columns: choice } = source else { return false };
        let typed = typed_columns(choice);
        let kept = FileRoles { columns: typed.clone(), roles: roles.clone(), ..FileRoles::default() };
        let is_chosen = *choice != ColumnChoice::Default || *roles != Roles::default();
        self.state.remember_roles(source, is_chosen.then_some(kept));
        let draft = &mut self.state.draft;
        (draft.data, draft.path, draft.columns) = (DataKind::File, path.display().to_string(), typed);
        let reads = self.session.cloud.as_ref().is_some_and(|cloud| cloud.source() != source);
        if reads {
            self.apply(Action::Load);
            self.history.reading = Some(undoes);
        } else {
            self.session.roles = roles.clone();
        }
        reads
    }

    fn restore(&mut self, snapshot: &Snapshot) {
        if let Some(question) = snapshot.question.clone()
            && snapshot.question != self.history.now.question
        {
            self.apply(Action::SetDraft(Box::new(question.draft(&self.state.draft))));
        }
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
