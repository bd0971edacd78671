//! What the file has of the listed neighbours is read.

use std::sync::Arc;

use crate::app::model::picking::beside::Beside;
use crate::app::model::views::PaneKind;
use crate::app::shell::app::App;

impl App {
    /// Takes in what was read, and has that of the neighbours read that Neighbours shows: not of every place where a query is
    /// dragged along.
    pub(in crate::app::shell) fn poll_lookup(&mut self) {
        self.handles.lookup.poll();
        self.handles.beside.poll();
        let shown = self.pane_rects.contains_key(&PaneKind::Neighbors) && !self.session.live.is_held();
        let Some(answered) = self.session.answered.as_ref().filter(|_| shown && self.session.listed_beside().is_none()) else { return };
        let (cloud, rows) = (&answered.record.cloud, answered.neighbors().map(|(row, _)| row).collect::<Vec<u32>>());
        match self.handles.beside.known(cloud, &rows) {
            Some(found) => self.session.beside = Some(Beside { cloud: Arc::clone(cloud), rows, found: Arc::clone(found) }),
            None => {
                let wake = self.handles.ctx.clone();
                self.handles.beside.ask(cloud, &rows, move || wake.request_repaint());
            }
        }
    }

    /// Whether Neighbours is in sight and what the file has of its rows is still being read.
    pub(in crate::app::shell) fn is_reading_beside(&self) -> bool {
        self.pane_rects.contains_key(&PaneKind::Neighbors) && self.handles.beside.is_busy()
    }
}
