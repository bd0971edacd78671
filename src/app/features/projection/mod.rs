//! Projections of the cloud: their cache and controls.
//!
//! | module | role |
//! |---|---|
//! | `state` | the chosen projection, and computed ones |
//! | `apply` | computes projections, and shows them |

use std::sync::Arc;

use egui::DragValue;

use crate::app::features::projection::state::{CloudProjection, ProjectionKind};
use crate::app::model::{PlaneView, SpaceView};
use crate::app::prelude::*;

pub mod apply;
pub mod state;

/// Cached projections, and pending changes of the views.
#[derive(Default)]
pub struct ProjectionCache {
    /// Newest first; the last one is dropped when there are too many.
    pub cached: Vec<Arc<CloudProjection>>,
    /// Axes shown before the projection, of Plane and of Space.
    pub axes: Option<([usize; 2], [usize; 3])>,
    /// Views of Plane and Space for when the chosen projection is shown.
    pub awaited: Option<(PlaneView, SpaceView)>,
}

/// Projection controls for a cloud of more than two dimensions; `axes` are those that the pane shows.
pub fn bar_ui(ui: &mut Ui, axes: &[usize], context: &mut UiContext<'_>) {
    let (state, session, palette) = (context.state, context.session, context.palette);
    if session.cloud.as_ref().is_none_or(|cloud| cloud.dims() < 3) {
        return;
    }
    let mut view = state.projection;
    let shown = format!("Show {}", view.kind.text());
    let explained: Vec<String> =
        match session.projected.as_ref().filter(|projected| projected.view == state.projection) {
            Some(projected) => axes.iter().filter_map(|&axis| projected.explained(axis)).collect(),
            None => Vec::new(),
        };
    let response = ComboBox::from_id_salt("projection").width(0.0).selected_text(shown).show_ui(ui, |ui| {
        for kind in ProjectionKind::ALL {
            ui.selectable_value(&mut view.kind, kind, kind.text()).on_hover_text(kind.about());
        }
    });
    name_chooser(&response.response, "Shown", view.kind.text());
    if !explained.is_empty() {
        response.response.on_hover_text(format!("Explained variance: {}.", explained.join(", ")));
    }
    if view.kind == ProjectionKind::Random {
        let label = ui.label(palette.weak("seed"));
        ui.add(DragValue::new(&mut view.seed).speed(0.05))
            .labelled_by(label.id)
            .on_hover_text("Seed of the random directions.");
    }
    if view != state.projection {
        context.actions.send(Action::SetProjection(view));
    }
}
