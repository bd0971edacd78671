//! Carries out undo and redo.

use std::sync::{Arc, Weak};

use super::state::{Columns, History, Snapshot, Step};
use crate::app::context::app::{App, Feature};
use crate::app::features::color::state::ColorBy;
use crate::app::features::opening::apply::LOAD;
use crate::app::features::selection::state::{NamedSets, Selection};
use crate::app::model::files::typed_columns;
use crate::app::model::{DataKind, FileRoles, Roles};
use crate::app::prelude::*;
use crate::cloud::{ColumnChoice, PointCloud, Source};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Command(Command::Undo) => app.go(true),
            Action::Command(Command::Redo) => app.go(false),
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
        // The file could not be read with other columns.
        if let Some((undoes, step)) = self.history.reading.take_if(|_| !self.jobs.has(&LOAD)) {
            self.history.put(undoes, step);
        }
    }

    /// Undoes or redoes the next step.
    fn go(&mut self, undoes: bool) {
        self.watch_history();
        if self.history.reading.is_some() {
            return;
        }
        let History { done, undone, .. } = &mut self.history;
        let Some(step) = (if undoes { done.pop_back() } else { undone.pop() }) else { return };
        let now = self.snapshot();
        if self.read_with(&step.before) {
            self.history.reading = Some((undoes, step));
            return;
        }
        self.restore(&step.before);
        self.history.put(!undoes, Step { before: now, ..step });
    }

    /// Continues the history after the file of `shown` was read with other columns: completes an undo or redo,
    /// or else keeps what does not depend on the columns.
    pub(in crate::app) fn continue_history(
        &mut self,
        mut history: History,
        sets: NamedSets,
        shown: &PointCloud,
    ) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let (before, reading) = (history.now.clone(), history.reading.take());
        self.history = history;
        let same_rows = shown.dropped_records().eq(cloud.dropped_records());
        if same_rows {
            self.session.sets = sets;
        }
        if let Some((undoes, step)) = reading {
            self.session.awaits_colors = false;
            self.history.now = self.snapshot();
            self.restore(&step.before);
            return self.history.put(!undoes, Step { before, ..step });
        }
        if !same_rows {
            return;
        }
        let label = before.columns.as_ref().and_then(|columns| columns.roles.label.column());
        if label == self.session.roles.label.column() {
            self.session.awaits_colors = false;
            self.state.color = before.colors.0;
            if let ColorBy::Axis(axis) = self.state.color.by
                && let Some(before) = shown.axes().get(axis)
            {
                let now = cloud.axes().iter().position(|axis| axis.name == before.name);
                self.state.color.by = now.map_or_else(|| ColorBy::Column(before.name.clone()), ColorBy::Axis);
            }
        }
        if let Some(picked @ PickedPoint::Row(_)) = before.picked {
            self.pick(picked);
        }
        let selection = Selection { center: None, ..before.selection };
        self.restore_selection(&selection, &Arc::default(), false);
    }

    /// Restores the columns of the file. Returns whether it is read again.
    fn read_with(&mut self, snapshot: &Snapshot) -> bool {
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
