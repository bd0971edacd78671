//! The nearest neighbours beside the answer: pictures of rows that are images, otherwise a list of names.

use crate::app::model::AnswerSummary;
use crate::app::panes::hover::picture_ui;
use crate::app::prelude::*;
use crate::text;

/// Longest side of the query's picture, and of a neighbour's, in screen points.
const SIDES: [f32; 2] = [112.0, 56.0];

/// Number of names listed without pictures.
const MAX_LISTED: usize = 5;

pub fn nearest_ui(
    ui: &mut Ui,
    session: &Session,
    answered: &QueryAnswer,
    summary: &AnswerSummary,
    palette: &Palette,
    actions: &mut Actions,
) {
    let cloud = &answered.record.cloud;
    let about = "Pick this point instead: its neighbours are shown.";
    let Some(pictures) = session.pictures(cloud) else {
        for neighbor in summary.nearest.iter().take(MAX_LISTED) {
            ui.horizontal(|ui| {
                let name = ui.add(Button::new(&neighbor.name).frame(false).truncate()).on_hover_text(about);
                if name.clicked() {
                    actions.send(Action::PickRow(neighbor.row));
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.label(palette.weak(&neighbor.distance));
                });
            });
        }
        return;
    };
    if answered.record.query_cloud.is_none() {
        picture_ui(ui, cloud, answered.row() as usize, pictures, SIDES[0]);
        ui.label(text::sentence_case(&summary.query_name));
    }
    ui.horizontal_wrapped(|ui| {
        for neighbor in &summary.nearest {
            ui.vertical(|ui| {
                ui.set_width(SIDES[1]);
                let picture = picture_ui(ui, cloud, neighbor.row as usize, pictures, SIDES[1]);
                let picture = picture.interact(Sense::click());
                if picture
                    .on_hover_text(format!("{}: {}. {about}", neighbor.name, neighbor.distance))
                    .clicked()
                {
                    actions.send(Action::PickRow(neighbor.row));
                }
                ui.add(Label::new(palette.small(&neighbor.name)).truncate());
            });
        }
    });
}
