//! The dialog that asks where an export goes.

use std::path::Path;

use egui::{RichText, TextEdit, Ui};

use crate::app::commands::{Action, Actions};
use crate::app::draft::Field;
use crate::app::export::{ExportDialog, ExportKind, is_svg};
use crate::app::session::Session;
use crate::app::tokens::Palette;
use crate::app::widgets::field_ui;

/// The formats of a table: what the name ends in.
fn format_ui(ui: &mut Ui, dialog: &mut ExportDialog) {
    ui.horizontal_wrapped(|ui| {
        for &(ending, name) in dialog.kind.endings() {
            let named = Path::new(dialog.path.trim()).extension().is_some_and(|named| named.eq_ignore_ascii_case(ending));
            if ui.selectable_label(named, name).clicked() && !named {
                dialog.end_in(ending);
            }
        }
    });
}

/// Pixels or shapes, and how many pixels.
fn medium_ui(ui: &mut Ui, dialog: &mut ExportDialog) {
    let shapes = is_svg(Path::new(dialog.path.trim()));
    ui.horizontal(|ui| {
        for (name, ending, about) in [
            ("PNG", "png", "Pixels, as the screen has them or more."),
            ("SVG", "svg", "Shapes and text, for documents: sharp at any size. Points that the GPU draws are a picture in it."),
        ] {
            let chosen = shapes == (ending == "svg");
            if ui.selectable_label(chosen, name).on_hover_text(about).clicked() && !chosen {
                dialog.end_in(ending);
            }
        }
        ui.separator();
        ui.add_enabled_ui(!shapes, |ui| {
            for value in [1, 2, 4] {
                ui.selectable_value(&mut dialog.times, value, format!("{value}×"))
                    .on_hover_text("As many pixels along a side as the screen has, times this.");
            }
        });
    });
}

/// The dialog, when it is open.
pub fn export_ui(ui: &Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    let Some(shown) = &session.export else { return };
    let mut dialog = shown.clone();
    let modal = egui::Modal::new(egui::Id::unique("export")).show(ui.ctx(), |ui| {
        ui.set_width(440.0);
        ui.heading(dialog.kind.title());
        ui.add_space(6.0);
        let label = ui.label(RichText::new("File").color(palette.text_weak));
        let field = ui.add(TextEdit::singleline(&mut dialog.path).desired_width(f32::INFINITY)).labelled_by(label.id);
        if dialog.kind.is_table() {
            format_ui(ui, &mut dialog);
        }
        if dialog.kind.picture().is_some() {
            medium_ui(ui, &mut dialog);
        }
        if dialog.kind.is_recording() {
            ui.checkbox(&mut dialog.points, "With the points").on_hover_text(
                "So it opens without the data's files, and on any machine. Without them the file is small, and they are read again from where they came from.",
            );
        }
        if dialog.kind == ExportKind::Session {
            let about = "All runs of the list, and what is shown: cloud, query, selection, views, fields and layout. Open… picks it up.";
            ui.label(RichText::new(about).color(palette.text_weak).small());
        }
        if let Some(range) = &mut dialog.range {
            let errors: Vec<_> = range.read().err().into_iter().collect();
            field_ui(ui, "From step", &mut range.from, "0", Field::From, &errors, palette);
            field_ui(ui, "To step", &mut range.to, "the last", Field::To, &errors, palette);
            let about = format!("A picture for each step of the level {}, as the player counts them.", range.level.name());
            ui.label(RichText::new(about).color(palette.text_weak).small());
        }
        if let Some(error) = &dialog.error {
            ui.label(RichText::new(error).color(palette.error));
        }
        ui.add_space(6.0);
        let mut save = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let mut close = false;
        ui.horizontal(|ui| {
            save |= ui.button("Save").clicked();
            if ui.button("Browse…").clicked() {
                actions.send(Action::BrowseExport);
            }
            close = ui.button("Close").clicked();
        });
        (save, close)
    });
    let (save, close) = modal.inner;
    if close || modal.should_close() {
        return actions.send(Action::SetExport(None));
    }
    if dialog != *shown {
        let overwrite = dialog.overwrite && dialog.path == shown.path;
        actions.send(Action::SetExport(Some(ExportDialog { error: None, overwrite, writing: None, ..dialog })));
    }
    if save {
        actions.send(Action::SaveExport);
    }
}
