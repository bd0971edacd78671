//! What the file has of the listed neighbours is read.

use std::sync::Arc;

use crate::app::model::{Beside, PaneKind};
use crate::app::shell::app::App;
use crate::app::shell::tasks::BESIDE;

impl App {
    /// Has that of the neighbours read that Neighbours shows: not of every place where a query is dragged along.
    pub(in crate::app::shell) fn want_beside(&mut self) {
        let shown = self.pane_rects.contains_key(&PaneKind::Neighbors) && !self.session.live.is_held();
        let Some(answered) = self.session.answered.as_ref().filter(|_| shown && self.session.listed_beside().is_none()) else { return };
        let (cloud, rows) = (&answered.record.cloud, answered.neighbors().map(|(row, _)| row).collect::<Vec<u32>>());
        match self.handles.beside.known(cloud, &rows) {
            Some(found) => self.session.beside = Some(Beside { cloud: Arc::clone(cloud), rows, found: Arc::clone(found) }),
            None => {
                if let Some(asked) = self.handles.beside.ask(cloud, &rows) {
                    self.jobs.start(&BESIDE, asked.clone(), move |progress| asked.read(progress));
                }
            }
        }
    }

    /// Whether Neighbours is in sight and what the file has of its rows is still being read.
    pub(in crate::app::shell) fn is_reading_beside(&self) -> bool {
        self.pane_rects.contains_key(&PaneKind::Neighbors) && self.jobs.has(&BESIDE)
    }
}
