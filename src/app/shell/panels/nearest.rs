//! The nearest neighbours beside the answer: pictures of rows that are images, otherwise a list of names.

use crate::app::model::AnswerSummary;
use crate::app::panes::gallery::{GalleryRow, gallery_ui};
use crate::app::panes::hover::picture_ui;
use crate::app::prelude::*;
use crate::text;

/// Longest side of the query's picture, and of a neighbour's, in screen points.
const SIDES: [f32; 2] = [112.0, 56.0];

/// Number of names listed without pictures.
const MAX_LISTED: usize = 5;

pub fn nearest_ui(ui: &mut Ui, answered: &QueryAnswer, summary: &AnswerSummary, context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    let cloud = &answered.record.cloud;
    let pictures = session.pictures(cloud);
    if let Some(pictures) = pictures
        && answered.record.query_cloud.is_none()
    {
        ui.horizontal_top(|ui| {
            picture_ui(ui, cloud, answered.row() as usize, pictures, SIDES[0]);
            ui.vertical(|ui| {
                if let Some(label) = &summary.query_label {
                    ui.add(Label::new(RichText::new(label).size(24.0)).truncate());
                }
                ui.add(Label::new(text::sentence_case(&summary.query_name)).wrap());
            });
        });
    }
    let most = if pictures.is_some() { usize::MAX } else { MAX_LISTED };
    let rows = summary.nearest.iter().take(most).map(|near| GalleryRow {
        row: near.row,
        name: near.name.clone(),
        caption: near.caption.clone(),
        detail: near.distance.clone(),
    });
    gallery_ui(ui, (cloud, pictures, SIDES[1]), None, rows, palette, context.actions);
}
