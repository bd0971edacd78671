//! The dialog that chooses one cloud of a file with several.
//!
//! | module | role |
//! |---|---|
//! | `state` | the dialog's state and actions |
//! | `apply` | loads the chosen cloud |

use egui::Modifiers;

use crate::app::features::datasets::state::{DatasetsAction, DatasetsDialog};
use crate::app::prelude::*;
use crate::cloud::formats::DatasetInfo;
use crate::text;

pub mod apply;
pub mod state;

/// Draws the dialog while it is open. Arrow keys select, Enter opens, Escape closes.
pub fn datasets_ui(ui: &Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    let Some(dialog) = &session.datasets else { return };
    let modal = Modal::new(Id::unique("parts")).show(ui.ctx(), |ui| {
        ui.set_width(420.0);
        ui.heading(if dialog.is_of_queries() { "Choose the cloud of queries" } else { "Choose a cloud" });
        let name = dialog.path.file_name().unwrap_or(dialog.path.as_os_str()).to_string_lossy().into_owned();
        ui.add(Label::new(palette.weak(name)).truncate());
        ui.add_space(6.0);
        let (mut open, mut focused, mut chosen) = (false, false, None);
        let moved = moved(ui, dialog);
        let room = (ui.ctx().content_rect().height() - 200.0).max(80.0);
        ScrollArea::vertical().max_height(room).auto_shrink([false, true]).show(ui, |ui| {
            for (at, dataset) in dialog.datasets.iter().enumerate() {
                let selected = at == dialog.selected;
                let size = RichText::new(about(dataset));
                // The selected row sets its own text colour.
                let size = if selected { size } else { size.color(palette.text_weak) };
                let row = Button::new(&dataset.name).selected(selected).truncate().right_text(size);
                let row =
                    ui.add_enabled(dataset.unread.is_none(), row.min_size(vec2(ui.available_width(), 0.0)));
                row.widget_info(|| {
                    egui::WidgetInfo::selected(
                        Role::Button,
                        dataset.unread.is_none(),
                        selected,
                        format!("{}, {}", dataset.name, about(dataset)),
                    )
                });
                let row = match &dataset.unread {
                    Some(why) => row.on_disabled_hover_text(why),
                    None => row,
                };
                focused |= row.has_focus();
                open |= row.double_clicked();
                if moved == Some(at) || (!selected && (row.gained_focus() || row.clicked())) {
                    row.request_focus();
                    row.scroll_to_me(None);
                    actions.send(DatasetsAction::Select(at));
                }
                if selected {
                    chosen = Some(row);
                }
            }
        });
        ui.add_space(6.0);
        let mut close = false;
        ui.horizontal(|ui| {
            let buttons = [ui.button("Load this one"), ui.button("Close").on_hover_text("Load nothing.")];
            open |= buttons[0].clicked();
            close = buttons[1].clicked();
            let on_button = buttons.iter().any(Response::has_focus);
            open |= !on_button && ui.input(|input| input.key_pressed(Key::Enter));
            focused |= on_button;
        });
        // In the first frame, keys still belong to whatever opened the dialog.
        if let Some(chosen) = chosen.filter(|_| !focused && moved.is_none()) {
            chosen.request_focus();
        }
        (open, close)
    });
    let (open, close) = modal.inner;
    if open {
        actions.send(DatasetsAction::Open);
    } else if close || modal.should_close() {
        actions.send(DatasetsAction::Close);
    }
}

/// The next readable entry in the direction of the arrow key pressed.
fn moved(ui: &Ui, dialog: &DatasetsDialog) -> Option<usize> {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let read = |at: &usize| dialog.datasets[*at].unread.is_none();
    if pressed(Key::ArrowDown) {
        (dialog.selected + 1..dialog.datasets.len()).find(read)
    } else if pressed(Key::ArrowUp) {
        (0..dialog.selected).rev().find(read)
    } else {
        None
    }
}

/// Size and type: `60,000 × 784, f32`.
fn about(dataset: &DatasetInfo) -> String {
    match (&dataset.unread, dataset.table) {
        (Some(_), _) => "not read".to_owned(),
        (None, true) => {
            let [rows, columns] = [dataset.rows, dataset.columns].map(text::thousands);
            format!("{rows} × {columns}, {}", dataset.about)
        }
        (None, false) => format!("{}, {}", text::count(dataset.rows, "number", "numbers"), dataset.about),
    }
}
