//! What the file has of the listed neighbours is read.

use std::sync::Arc;

use crate::app::context::app::App;
use crate::app::model::{Beside, PaneKind, Room};
use crate::app::shell::tasks::BESIDE;

impl App {
    /// Has that of the neighbours read that the answer, Neighbours and names in Plane and Space show: not of every place where a query is dragged along.
    pub(in crate::app) fn want_beside(&mut self) {
        let shown = self.shows_beside() && !self.session.live.is_held();
        let Some(answered) = self.session.answered.as_ref().filter(|_| shown && self.session.listed_beside().is_none()) else { return };
        let (cloud, rows) = (&answered.record.cloud, answered.rows_to_tell());
        match self.handles.beside.known(cloud, &rows) {
            Some(found) => self.session.beside = Some(Beside { cloud: Arc::clone(cloud), rows, found: Arc::clone(found) }),
            None => {
                if let Some(asked) = self.handles.beside.ask(cloud, &rows) {
                    self.jobs.start(&BESIDE, asked.clone(), move |progress| asked.read(progress));
                }
            }
        }
    }

    fn shows_beside(&self) -> bool {
        let [_, panel] = self.state.panels(Room::of(self.handles.ctx.content_rect().width()));
        let names = [(PaneKind::Plane, self.state.plane.names), (PaneKind::Space, self.state.space.names)];
        let named = names.iter().any(|(pane, names)| *names && self.pane_rects.contains_key(pane));
        // They may be wanted in a picture that is set up.
        let in_picture = self.session.export.as_ref().is_some_and(|dialog| dialog.picture.as_ref().is_some_and(|picture| picture.names));
        panel || named || in_picture || self.pane_rects.contains_key(&PaneKind::Neighbors)
    }

    /// Whether what the file has of the neighbours is in sight and still being read.
    pub(in crate::app) fn is_reading_beside(&self) -> bool {
        self.shows_beside() && self.jobs.has(&BESIDE)
    }
}
