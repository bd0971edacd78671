//! Where the selection changes: at once where that is little work, else on a thread, one change after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use super::change::Change;
use super::{Choice, Facts, How, SelectAction, Selection};
use crate::app::App;
use crate::app::task::Task;

/// A change that is worked out on a thread, and those that build on it.
pub struct Selecting {
    task: Task<Option<(Selection, Facts)>>,
    waiting: VecDeque<Change>,
}

impl App {
    /// Carries out what panes ask of the selection.
    pub(in crate::app) fn select(&mut self, action: SelectAction) {
        match action {
            SelectAction::Choose { what, how, by } => self.choose(what, how, by),
            SelectAction::Clear => {
                self.handles.selecting = None;
                self.set_selection(Selection::default(), Facts::default());
            }
            SelectAction::Hover(hovered) => self.session.hovered = hovered,
        }
    }

    fn choose(&mut self, what: Choice, how: How, by: String) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let change = Change { what, how, by, cloud, record: self.session.record.clone(), answered: self.session.answered.clone() };
        let builds_on = how != How::Replace || matches!(change.what, Choice::Rest | Choice::Neighbors);
        match &mut self.handles.selecting {
            Some(selecting) if builds_on => selecting.waiting.push_back(change),
            // What is replaced need not be finished first.
            _ => self.change_selection(change, VecDeque::new()),
        }
    }

    /// Adds the neighbours of what is selected, or says why there are none.
    pub(in crate::app) fn grow_selection(&mut self) {
        let session = &mut self.session;
        let sentence = match (session.selection.is_empty(), &session.record) {
            (true, _) if session.answered.is_none() => Some("nothing to grow: select points, or pick a query"),
            (false, None) => Some("nothing to grow: neighbours are known once a run has asked for them; press Run"),
            (false, Some(_)) if session.selection.queries().is_empty() => {
                Some("nothing to grow: no selected row is a query of the run; press Use as queries, then Run")
            }
            _ => None,
        };
        match sentence {
            Some(sentence) => session.log.info(sentence),
            None => {
                let by = if session.selection.is_empty() { "neighbours of the query" } else { "their neighbours" };
                self.choose(Choice::Neighbors, How::Add, by.to_owned());
            }
        }
    }

    fn change_selection(&mut self, change: Change, waiting: VecDeque<Change>) {
        self.handles.selecting = None;
        let base = self.session.selection.clone();
        if !change.is_large(&base) {
            if let Some((selection, facts)) = change.apply(&base, &crate::progress::Silent) {
                self.set_selection(selection, facts);
            }
            return self.next_change(waiting);
        }
        let wake = self.handles.ctx.clone();
        match Task::start("select", move || wake.request_repaint(), move |progress| change.apply(&base, progress)) {
            Ok(task) => self.handles.selecting = Some(Selecting { task, waiting }),
            Err(error) => self.session.log.error(format!("cannot select: {error}")),
        }
    }

    fn next_change(&mut self, mut waiting: VecDeque<Change>) {
        if let Some(next) = waiting.pop_front() {
            self.change_selection(next, waiting);
        }
    }

    /// Takes in what a thread worked out.
    pub(in crate::app) fn poll_selecting(&mut self) {
        let Some(result) = self.handles.selecting.as_ref().and_then(|selecting| selecting.task.try_finish()) else { return };
        let Some(Selecting { waiting, .. }) = self.handles.selecting.take() else { return };
        match result {
            Ok(Some((selection, facts))) => self.set_selection(selection, facts),
            Ok(None) => {}
            Err(()) => self.session.log.error("cannot select: the thread stopped without an answer"),
        }
        self.next_change(waiting);
    }

    fn set_selection(&mut self, selection: Selection, facts: Facts) {
        self.session.selection = selection;
        self.session.selected = Arc::new(facts);
    }

    /// Another run is shown: the selected rows stay, and its queries are found for them.
    pub(in crate::app) fn reselect(&mut self) {
        self.handles.selecting = None;
        let selection = std::mem::take(&mut self.session.selection);
        self.set_selection(Selection::default(), Facts::default());
        if !selection.rows().is_empty() {
            self.choose(Choice::Rows(selection.rows().to_vec()), How::Replace, selection.by().to_owned());
        }
    }

    /// Another cloud is shown, whose rows are others.
    pub(in crate::app) fn forget_selection(&mut self) {
        self.handles.selecting = None;
        self.session.hovered = None;
        self.set_selection(Selection::default(), Facts::default());
    }
}
