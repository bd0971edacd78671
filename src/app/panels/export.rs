//! The dialog that asks where an export goes.

use egui::{RichText, TextEdit, Ui};

use crate::app::commands::{Action, Actions};
use crate::app::draft::Field;
use crate::app::export::ExportDialog;
use crate::app::session::Session;
use crate::app::tokens::Palette;
use crate::app::widgets::field_ui;

/// The dialog, when it is open.
pub fn export_ui(ui: &Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    let Some(dialog) = &session.export else { return };
    let (mut path, mut range) = (dialog.path.clone(), dialog.range.clone());
    let modal = egui::Modal::new(egui::Id::unique("export")).show(ui.ctx(), |ui| {
        ui.set_width(440.0);
        ui.heading(dialog.kind.title());
        ui.add_space(6.0);
        let label = ui.label(RichText::new("File").color(palette.text_weak));
        let field = ui.add(TextEdit::singleline(&mut path).desired_width(f32::INFINITY)).labelled_by(label.id);
        if let Some(range) = &mut range {
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
    if path != dialog.path || range != dialog.range {
        let overwrite = dialog.overwrite && path == dialog.path;
        actions.send(Action::SetExport(Some(ExportDialog { path, error: None, overwrite, range, ..dialog.clone() })));
    }
    if save {
        actions.send(Action::SaveExport);
    }
}
