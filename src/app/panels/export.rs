//! The dialog that asks where an export goes.

use egui::{RichText, TextEdit, Ui};

use crate::app::commands::{Action, Actions};
use crate::app::export::ExportDialog;
use crate::app::session::Session;
use crate::app::tokens::Palette;

/// The dialog, when it is open.
pub fn export_ui(ui: &Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    let Some(dialog) = &session.export else { return };
    let mut path = dialog.path.clone();
    let modal = egui::Modal::new(egui::Id::unique("export")).show(ui.ctx(), |ui| {
        ui.set_width(440.0);
        ui.heading(dialog.kind.title());
        ui.add_space(6.0);
        let label = ui.label(RichText::new("File").color(palette.text_weak));
        let field = ui.add(TextEdit::singleline(&mut path).desired_width(f32::INFINITY)).labelled_by(label.id);
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
    if path != dialog.path {
        actions.send(Action::SetExport(Some(ExportDialog { path, error: None, overwrite: false, ..dialog.clone() })));
    }
    if save {
        actions.send(Action::SaveExport);
    }
}
