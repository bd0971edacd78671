//! The export dialog.

use std::collections::HashMap;
use std::path::Path;

use egui::Event;
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;

use super::state::{ExportDialog, ExportKind, is_svg};
use crate::app::look::{field_ui, row_ui};
use crate::app::model::{Background, Field, PictureSize};
use crate::app::prelude::*;
use crate::export::graph::GraphFormat;

const FILE: &str = "file of the export";

/// Focuses the name with all text selected, so that typing replaces it.
pub fn offer_name(ctx: &egui::Context, name: &str) {
    let (field, mut state) = (Id::unique(FILE), TextEditState::default());
    state.cursor.set_char_range(Some(CCursorRange::two(CCursor::new(0), CCursor::new(name.chars().count()))));
    state.store(ctx, field);
    ctx.memory_mut(|memory| memory.request_focus(field));
}

/// Whether Enter was newly pressed. With key repeat, one press could trigger the question about overwriting
/// and confirm it.
fn enters(ui: &Ui) -> bool {
    let pressed =
        |event: &Event| matches!(event, Event::Key { key: Key::Enter, pressed: true, repeat: false, .. });
    ui.input(|input| input.events.iter().any(pressed))
}

/// Whether the keyboard focus is outside the layer of `ui`, or nowhere.
fn is_elsewhere(ui: &Ui) -> bool {
    // Between two fields there is no focus for a moment.
    let moves = ui.input(|input| input.key_pressed(Key::Tab));
    let focused = ui.memory(|memory| memory.focused()).and_then(|id| ui.ctx().read_response(id));
    !moves && focused.is_none_or(|focused| focused.layer_id != ui.layer_id())
}

/// Format buttons, which set the extension.
fn format_ui(ui: &mut Ui, dialog: &mut ExportDialog) {
    ui.horizontal_wrapped(|ui| {
        for &(ending, name) in dialog.kind.endings() {
            let named = Path::new(dialog.path.trim())
                .extension()
                .is_some_and(|named| named.eq_ignore_ascii_case(ending));
            if ui.selectable_label(named, name).clicked() && !named {
                dialog.end_in(ending);
            }
        }
    });
}

/// Formats of a graph, and a note on the neighbours it contains.
fn graph_ui(ui: &mut Ui, dialog: &mut ExportDialog, palette: &Palette) {
    let ExportKind::Graph(shown) = dialog.kind else { return };
    ui.horizontal_wrapped(|ui| {
        for form in GraphFormat::ALL {
            let (name, about) = match form {
                GraphFormat::Edges => ("Edge list", "One line per edge: row, rank, neighbor, distance."),
                GraphFormat::Csr => {
                    ("SciPy matrix", "Sparse n × n distance matrix (CSR) for scipy.sparse.load_npz.")
                }
                GraphFormat::Umap => (
                    "umap-learn",
                    "Arrays indices and distances for umap-learn's precomputed_knn; each row comes first in \
                     its own list.",
                ),
            };
            if ui.radio(form == shown, name).on_hover_text(about).clicked() && form != shown {
                dialog.take_form(form);
            }
        }
    });
    if let Some(note) = &dialog.note {
        ui.label(palette.small(note));
    }
}

/// Bitmap or vector, and the resolution.
fn medium_ui(ui: &mut Ui, dialog: &mut ExportDialog) {
    let shapes = is_svg(Path::new(dialog.path.trim()));
    ui.horizontal(|ui| {
        for (name, ending, about) in [
            ("PNG", "png", "A bitmap, at the screen's resolution or higher."),
            ("SVG", "svg", "Vector graphics, sharp at any size. Points are embedded as a bitmap."),
        ] {
            let chosen = shapes == (ending == "svg");
            if ui.selectable_label(chosen, name).on_hover_text(about).clicked() && !chosen {
                dialog.end_in(ending);
            }
        }
        ui.separator();
        ui.add_enabled_ui(!shapes, |ui| {
            let usual = dialog.picture.as_ref().map_or(PictureSize::Window, |picture| picture.choice.size);
            let about = match usual {
                PictureSize::Window => "Screen resolution times this factor.",
                PictureSize::Slide => "1920 × 1080 pixels times this factor per side.",
                PictureSize::Column | PictureSize::Page => "300 dpi times this factor.",
            };
            for value in [1, 2, 4] {
                ui.selectable_value(&mut dialog.times, value, format!("{value}×")).on_hover_text(about);
            }
        });
    });
}

/// Layout and content of a pane's picture. `shown` is the pane's size in the window and its pixels per point.
fn picture_ui(
    ui: &mut Ui,
    dialog: &mut ExportDialog,
    shown: Option<([f32; 2], f32)>,
    palette: &Palette,
) -> bool {
    let Some(pane) = dialog.kind.picture().flatten() else { return false };
    let (shapes, times) = (is_svg(Path::new(dialog.path.trim())), dialog.times);
    let Some(picture) = &mut dialog.picture else { return false };
    let choice = &mut picture.choice;
    let mut left = false;
    if pane.is_plot() {
        row_ui(ui, "Size", palette, |ui, label| {
            let combo =
                ComboBox::from_id_salt("size of the picture").width(150.0).selected_text(choice.size.text());
            let response = combo.show_ui(ui, |ui| {
                for size in PictureSize::ALL {
                    ui.selectable_value(&mut choice.size, size, size.text());
                }
            });
            name_chooser(&response.response.labelled_by(label), "Size", choice.size.text());
            if let Some(shown) = shown {
                ui.label(palette.small(choice.size.layout(shown, times).text(shapes)));
            }
        });
    }
    row_ui(ui, "Background", palette, |ui, _| {
        for background in Background::ALL {
            ui.radio_value(&mut choice.background, background, background.text());
        }
    });
    row_ui(ui, "Title", palette, |ui, label| {
        let width = ui.available_width();
        let edit = TextEdit::singleline(&mut picture.title)
            .id_salt("title of the picture")
            .hint_text("none")
            .desired_width(width);
        left = ui.add(edit).labelled_by(label).lost_focus();
    });
    if pane.is_plot() {
        row_ui(ui, "Include", palette, |ui, _| {
            ui.checkbox(&mut choice.legend, "Legend");
            if matches!(pane, PaneKind::Plane | PaneKind::Space) {
                ui.checkbox(&mut picture.names, "Names of the query and its neighbours");
            }
        });
    }
    left
}

/// Draws the dialog while it is open; `rects` are the panes' rectangles.
pub fn export_ui(
    ui: &Ui,
    session: &Session,
    rects: &HashMap<PaneKind, Rect>,
    palette: &Palette,
    actions: &mut Actions,
) {
    let Some(shown) = &session.export else { return };
    let mut dialog = shown.clone();
    let modal = Modal::new(Id::unique("export")).show(ui.ctx(), |ui| {
        ui.set_width(480.0f32.min(ui.ctx().content_rect().width() - 40.0));
        ui.heading(dialog.kind.title());
        ui.add_space(6.0);
        let label = ui.label(palette.weak("File"));
        let edit = TextEdit::singleline(&mut dialog.path).id(Id::unique(FILE)).desired_width(f32::INFINITY);
        let field = ui.add(edit).labelled_by(label.id);
        let mut left = field.lost_focus();
        graph_ui(ui, &mut dialog, palette);
        if dialog.kind.is_table() {
            format_ui(ui, &mut dialog);
        }
        if dialog.kind.picture().is_some() {
            medium_ui(ui, &mut dialog);
        }
        let pane = dialog.kind.picture().flatten().and_then(|pane| rects.get(&pane));
        let pane = pane.map(|rect| (rect.size().into(), ui.ctx().pixels_per_point()));
        left |= picture_ui(ui, &mut dialog, pane, palette);
        if dialog.kind.is_recording() {
            ui.checkbox(&mut dialog.points, "Include the points").on_hover_text(
                "Embed copies of the data files, so that the recording opens on any machine. Without them it \
                 is small and reads the original files.",
            );
        }
        if dialog.kind == ExportKind::Session {
            let about = "Saves all runs, the cloud, query, selection, views, settings and layout. Open… \
                         restores them.";
            ui.label(palette.small(about));
        }
        if let Some(range) = &mut dialog.range {
            let errors: Vec<_> = range.read().err().into_iter().collect();
            left |=
                field_ui(ui, "From step", &mut range.from, "0", Field::From, &errors, palette).lost_focus();
            left |=
                field_ui(ui, "To step", &mut range.to, "the last", Field::To, &errors, palette).lost_focus();
            let about =
                format!("One picture per step at level {}, as the player counts them.", range.level.name());
            ui.label(palette.small(about));
        }
        if let Some(error) = &dialog.error {
            ui.label(RichText::new(error).color(palette.error));
        }
        ui.add_space(6.0);
        // Enter in a field saves; on a button it presses the button.
        let mut save = left && enters(ui);
        let mut close = false;
        ui.horizontal(|ui| {
            save |= ui.button("Save").clicked();
            if ui.button("Browse…").clicked() {
                actions.send(Action::BrowseExport);
            }
            close = ui.button("Close").clicked();
        });
        // Also after a failure, when the name is likely to be edited.
        if is_elsewhere(ui) && session.chooser.is_none() {
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
        actions.send(Action::SetExport(Some(ExportDialog {
            error: None,
            overwrite,
            writing: None,
            ..dialog
        })));
    }
    if save {
        actions.send(Action::SaveExport);
    }
}
