//! A pane as a picture for slides and papers: title and plot.

use egui::{Frame, Margin};

use super::empty::PaneContext;
use super::pane;
use super::plane::circle_shown;
use crate::app::model::{Mark, Picture};
use crate::app::prelude::*;

/// Margin of the picture, in points.
const MARGIN: i8 = 8;

pub fn picture_ui(ui: &mut Ui, picture: &Picture, context: &mut PaneContext<'_>) {
    Frame::NONE.fill(context.palette.canvas).inner_margin(Margin::same(MARGIN)).show(ui, |ui| {
        // Nothing is clickable, so lines can be as low as their text.
        ui.spacing_mut().interact_size.y = 17.0;
        ui.spacing_mut().item_spacing.y = 3.0;
        if !picture.title.trim().is_empty() {
            ui.add(Label::new(RichText::new(picture.title.trim()).strong().size(14.0)).wrap());
        }
        (pane(picture.pane).draw)(ui, context);
    });
}

/// The marks that a pane draws over its points.
pub fn marks_shown(pane: PaneKind, state: &State, session: &Session) -> Vec<Mark> {
    let is_view = matches!(pane, PaneKind::Plane | PaneKind::Space);
    let (query, answered) = (session.picked_point().is_some(), session.answered.as_ref());
    let circle =
        || session.scene().is_some_and(|scene| circle_shown(state.plane, &scene, state, session).is_some());
    let marks = [
        (Mark::Query, query),
        (Mark::Neighbors, query && answered.is_some_and(|answered| answered.neighbors().next().is_some())),
        (Mark::Circle, pane == PaneKind::Plane && circle()),
        (Mark::Selected, !session.selection.rows().is_empty()),
    ];
    marks.into_iter().filter(|&(_, shown)| is_view && shown).map(|(mark, _)| mark).collect()
}
