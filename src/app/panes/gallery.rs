//! Rows as a gallery: pictures if rows are images, otherwise a list of names. A click makes a row the query.

use std::sync::Arc;

use egui::text::LayoutJob;

use super::hover::picture_ui;
use crate::app::model::ImageShape;
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::text;

/// A row of a gallery.
pub struct GalleryRow {
    pub row: u32,
    pub name: String,
    /// Below a picture.
    pub caption: String,
    /// Beside the name, or in a picture's tooltip.
    pub detail: String,
}

/// Draws rows of a cloud; `side` is the longest side of a picture, in screen points, and `picked` is framed.
pub fn gallery_ui(
    ui: &mut Ui,
    (cloud, pictures, side): (&Arc<PointCloud>, Option<ImageShape>, f32),
    picked: Option<u32>,
    rows: impl Iterator<Item = GalleryRow>,
    palette: &Palette,
    actions: &mut Actions,
) {
    const ABOUT: &str = "Pick this point and show its neighbours.";
    let Some(pictures) = pictures else {
        for GalleryRow { row, name, detail, .. } in rows {
            ui.horizontal(|ui| {
                let name = ui.add(Button::new(name).frame(false).truncate()).on_hover_text(ABOUT);
                if name.clicked() {
                    actions.send(Action::PickRow(row));
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(palette.weak(detail)));
            });
        }
        return;
    };
    // Wrapping needs widths, which vertical parts do not tell in advance.
    let gap = ui.spacing().item_spacing.x;
    let in_line = ((ui.available_width() + gap) / (side + gap)).max(1.0) as usize;
    let rows: Vec<GalleryRow> = rows.collect();
    for line in rows.chunks(in_line) {
        ui.horizontal_top(|ui| {
            for GalleryRow { row, name, caption, detail } in line {
                ui.allocate_ui_with_layout(vec2(side, side), Layout::top_down(Align::Center), |ui| {
                    ui.set_width(side);
                    let told = if detail.is_empty() { name.clone() } else { format!("{name}: {detail}") };
                    let picture =
                        picture_ui(ui, cloud, *row as usize, pictures, side).interact(Sense::click());
                    if picked == Some(*row) {
                        let stroke = Stroke::new(2.0, palette.query);
                        let frame = picture.rect.expand(1.0);
                        ui.painter().rect_stroke(frame, 0.0, stroke, egui::StrokeKind::Outside);
                    }
                    if picture.on_hover_text(format!("{told}. {ABOUT}")).clicked() {
                        actions.send(Action::PickRow(*row));
                    }
                    // Two lines hold two labels.
                    let font = egui::TextStyle::Small.resolve(ui.style());
                    let mut job = LayoutJob::simple(caption.clone(), font, palette.text_weak, side);
                    job.wrap.max_rows = 2;
                    job.halign = Align::Center;
                    ui.add(Label::new(job).wrap());
                });
            }
        });
    }
}

/// Number of pictures at a time, and their longest side in screen points.
const PICTURES: usize = 24;

const SIDE: f32 = 48.0;

/// Pictures of the selected rows, around the picked one, with their labels where these are analysed.
pub fn selection_gallery_ui(ui: &mut Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    let (Some(cloud), false) = (&session.cloud, session.selection.rows().is_empty()) else { return };
    let pictures = session.pictures(cloud);
    if pictures.is_none() {
        return;
    }
    let rows = session.selection.rows();
    let picked = match session.picked {
        Some(PickedPoint::Row(row)) => rows.binary_search(&row).ok(),
        _ => None,
    };
    let first = picked.unwrap_or(0) / PICTURES * PICTURES;
    let last = (first + PICTURES).min(rows.len());
    let shown = rows[first..last].iter().map(|&row| {
        let number = format!("row {}", text::thousands(cloud.record(row as usize)));
        let label = session.analysed().and_then(|analysed| analysed.label_and_vote(row));
        let (caption, detail) = match label {
            Some([own, vote]) if own != vote => {
                (format!("{own} among {vote}"), format!("labelled {own}, most neighbours are {vote}"))
            }
            Some([own, _]) => (own.clone(), format!("labelled {own}, as most neighbours")),
            None => (number.clone(), String::new()),
        };
        GalleryRow { row, name: text::sentence_case(&number), caption, detail }
    });
    ui.horizontal(|ui| {
        for (sign, name, command) in [
            ("‹", "Previous selected row", Command::PreviousQuery),
            ("›", "Next selected row", Command::NextQuery),
        ] {
            let keys = command.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
            let button = ui.button(sign).on_hover_text(format!("{name} {keys}"));
            name_widget(&button, Role::Button, name);
            if button.clicked() {
                actions.send(command);
            }
        }
        let place = format!(
            "{} to {} of {}",
            text::thousands(first as u64 + 1),
            text::thousands(last as u64),
            text::count(rows.len() as u64, "selected row", "selected rows")
        );
        ui.label(palette.weak(place));
    });
    gallery_ui(ui, (cloud, pictures, SIDE), picked.map(|at| rows[at]), shown, palette, actions);
}
