//! What is shown of a cloud that was opened, before anybody asks: the view that suits it, and a query with its neighbours.

use crate::app::model::{PaneKind, Picked, ProjectionKind, ProjectionView, opening};
use crate::app::shell::app::App;

impl App {
    /// Shows what was loaded from the side that says most, and asks for a row of it; `again` where the same points were shown before, whose
    /// view stays.
    pub(in crate::app::shell) fn open_to_an_answer(&mut self, again: bool) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        if !again {
            match cloud.dims() {
                ..=2 => self.show(PaneKind::Plane),
                3 => self.show(PaneKind::Space),
                _ => {
                    self.show(PaneKind::Plane);
                    self.choose_projection(ProjectionView { kind: ProjectionKind::Pca, ..self.state.projection });
                }
            }
        }
        self.pick(Picked::Row(opening::first_query(&cloud)));
    }
}
