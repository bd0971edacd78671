//! The dialog that asks where an export goes.

use std::path::Path;

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{Event, Key, RichText, TextEdit, Ui};

use crate::app::look::{Palette, field_ui};
use crate::app::model::{Action, Actions, ExportDialog, ExportKind, Field, Session, is_svg};

/// The field of the file's name.
const FILE: &str = "file of the export";

/// Has the next keys go to the name that is offered: what is typed or pasted replaces it.
pub fn offer_name(ctx: &egui::Context, name: &str) {
    let (field, mut state) = (egui::Id::unique(FILE), TextEditState::default());
    state.cursor.set_char_range(Some(CCursorRange::two(CCursor::new(0), CCursor::new(name.chars().count()))));
    state.store(ctx, field);
    ctx.memory_mut(|memory| memory.request_focus(field));
}

/// Whether Enter was pressed anew. Held, it would also answer what its first press was asked: whether to write over a file.
fn enters(ui: &Ui) -> bool {
    let pressed = |event: &Event| matches!(event, Event::Key { key: Key::Enter, pressed: true, repeat: false, .. });
    ui.input(|input| input.events.iter().any(pressed))
}

/// Whether the keys go to something else than what `ui` is part of, or nowhere.
fn is_elsewhere(ui: &Ui) -> bool {
    // On its way to the next field, the focus is nowhere for a moment.
    let moves = ui.input(|input| input.key_pressed(Key::Tab));
    let focused = ui.memory(|memory| memory.focused()).and_then(|id| ui.ctx().read_response(id));
    !moves && focused.is_none_or(|focused| focused.layer_id != ui.layer_id())
}

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
        let edit = TextEdit::singleline(&mut dialog.path).id(egui::Id::unique(FILE)).desired_width(f32::INFINITY);
        let field = ui.add(edit).labelled_by(label.id);
        let mut left = field.lost_focus();
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
            left |= field_ui(ui, "From step", &mut range.from, "0", Field::From, &errors, palette).lost_focus();
            left |= field_ui(ui, "To step", &mut range.to, "the last", Field::To, &errors, palette).lost_focus();
            let about = format!("A picture for each step of the level {}, as the player counts them.", range.level.name());
            ui.label(RichText::new(about).color(palette.text_weak).small());
        }
        if let Some(error) = &dialog.error {
            ui.label(RichText::new(error).color(palette.error));
        }
        ui.add_space(6.0);
        // Enter in a field saves; on a button it presses that.
        let mut save = left && enters(ui);
        let mut close = false;
        ui.horizontal(|ui| {
            save |= ui.button("Save").clicked();
            if ui.button("Browse…").clicked() {
                actions.send(Action::BrowseExport);
            }
            close = ui.button("Close").clicked();
        });
        // Also after a refusal: the name is what is changed then.
        if is_elsewhere(ui) {
            field.request_focus();
        }
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
