//! Column roles of a file.
//!
//! | module | role |
//! |---|---|
//! | `state` | the dialog that sets them |
//! | `apply` | reads the file with the chosen columns, and remembers them |

use egui_extras::{Column, TableBuilder};

use crate::app::features::columns::state::{ColumnRow, ColumnsAction, ColumnsDialog, Preview};
use crate::app::model::ColumnRole;
use crate::app::prelude::*;
use crate::cloud::formats::{Cell, ColumnKind};
use crate::text;

pub mod apply;
pub mod state;

/// Width of the roles, in screen points.
const ROLES: f32 = 196.0;

const ROW: f32 = 22.0;

/// Draws the dialog while it is open. Enter applies, Escape closes.
pub fn columns_ui(ui: &Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    let Some(dialog) = &session.columns_dialog else { return };
    let room = ui.ctx().content_rect().size();
    let ready = dialog.count(ColumnRole::Coordinate) > 0;
    let modal = Modal::new(Id::unique("columns")).show(ui.ctx(), |ui| {
        ui.set_width((room.x - 48.0).min(720.0));
        ui.heading("Choose columns");
        let name = dialog.path.file_name().unwrap_or(dialog.path.as_os_str()).to_string_lossy().into_owned();
        ui.add(Label::new(palette.weak(format!("{name}: {}", dialog.sentence()))).truncate());
        ui.add_space(6.0);
        let mut typed = dialog.search.clone();
        let search =
            TextEdit::singleline(&mut typed).hint_text("Search columns").desired_width(f32::INFINITY);
        name_widget(&ui.add(search), Role::TextInput, "Search columns");
        if typed != dialog.search {
            actions.send(ColumnsAction::Search(typed));
        }
        table_ui(
            ui,
            dialog,
            (room.y - if dialog.possible_pictures().is_empty() { 248.0 } else { 276.0 }).max(80.0),
            palette,
            actions,
        );
        if let Preview::Failed(why) = &dialog.preview {
            ui.label(RichText::new(why).color(palette.warning).small());
        }
        ui.label(palette.small("Shift+click sets all columns from the last one clicked to this one."));
        pictures_ui(ui, dialog, palette, actions);
        ui.add_space(6.0);
        let mut used = false;
        let mut close = false;
        ui.horizontal_wrapped(|ui| {
            let one = "Choose one coordinate at least.";
            let buttons = [
                ui.add_enabled(ready, Button::new("Use these")).on_disabled_hover_text(one),
                ui.button("All numbers")
                    .on_hover_text("Every number that is neither the label nor the name is a coordinate."),
                ui.button("Guess again").on_hover_text(
                    "Forget what was chosen for this file, and read it as for the first time.",
                ),
                ui.button("Close").on_hover_text("Change nothing."),
            ];
            let on_button = buttons.iter().any(Response::has_focus);
            used = buttons[0].clicked();
            for (button, action) in
                buttons[1..3].iter().zip([ColumnsAction::AllNumbers, ColumnsAction::Guess])
            {
                if button.clicked() {
                    actions.send(action);
                }
            }
            close = buttons[3].clicked();
            // On a focused role, Enter sets that role.
            used |= ready
                && !on_button
                && ui.memory(|memory| memory.focused().is_none())
                && ui.input(|input| input.key_pressed(Key::Enter));
        });
        (used, close)
    });
    let (used, close) = modal.inner;
    if used {
        actions.send(ColumnsAction::Use);
    } else if close || modal.should_close() {
        actions.send(ColumnsAction::Close);
    }
}

fn table_ui(ui: &mut Ui, dialog: &ColumnsDialog, height: f32, palette: &Palette, actions: &mut Actions) {
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    let found = dialog.found();
    // Sized to all rows from the first frame, if there is room, so that nothing moves under the pointer.
    let height = height.min(dialog.rows.len() as f32 * (ROW + ui.spacing().item_spacing.y));
    let names = (ui.available_width() - ROLES) * 0.4;
    let table = TableBuilder::new(ui)
        .striped(true)
        .cell_layout(Layout::left_to_right(Align::Center))
        .auto_shrink(false)
        .max_scroll_height(height)
        .min_scrolled_height(height)
        .column(Column::exact(names.clamp(60.0, 160.0)).clip(true))
        .column(Column::exact(ROLES))
        .column(Column::remainder().at_least(40.0).clip(true));
    let table = table.header(20.0, |mut header| {
        for title in ["Column", "Use as", "First rows"] {
            header.col(|ui| drop(ui.label(palette.weak(title))));
        }
    });
    table.body(|body| {
        body.rows(ROW, found.len(), |mut row| {
            let at = found[row.index()];
            let of = &dialog.rows[at];
            let is_used = of.role != ColumnRole::Ignored;
            let shown =
                if of.column.name.is_empty() { format!("column {at}") } else { of.column.name.clone() };
            row.col(|ui| {
                drop(
                    ui.add(
                        Label::new(if is_used {
                            RichText::new(&shown).strong()
                        } else {
                            palette.weak(&shown)
                        })
                        .truncate(),
                    )
                    .on_hover_text(format!("{shown}, number {at}, {}", kind_text(of.kind))),
                )
            });
            row.col(|ui| roles_ui(ui, at, of, &shown, actions));
            row.col(|ui| {
                let first = first_rows(dialog, at);
                let color = if is_used { palette.text } else { palette.text_weak };
                ui.add(Label::new(number(first).color(color)).truncate());
            });
        });
    });
}

/// The image chooser, if rows can be images.
fn pictures_ui(ui: &mut Ui, dialog: &ColumnsDialog, palette: &Palette, actions: &mut Actions) {
    let possible = dialog.possible_pictures();
    if possible.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        ui.label(palette.weak("Rows are"));
        let chosen = dialog.pictures.filter(|chosen| possible.contains(chosen));
        for pictures in std::iter::once(None).chain(possible.into_iter().map(Some)) {
            let text = pictures.map_or_else(
                || "no pictures".to_owned(),
                |pictures| format!("pictures of {}", pictures.text()),
            );
            let response = ui
                .selectable_label(chosen == pictures, &text)
                .on_hover_text("Pictures are shown in tooltips and in Neighbours.");
            response.widget_info(|| {
                egui::WidgetInfo::selected(Role::Button, true, chosen == pictures, format!("Rows are {text}"))
            });
            if response.clicked() {
                actions.send(ColumnsAction::Pictures(pictures));
            }
        }
    });
}

fn roles_ui(ui: &mut Ui, at: usize, of: &ColumnRow, shown: &str, actions: &mut Actions) {
    ui.spacing_mut().item_spacing.x = 3.0;
    for role in ColumnRole::USES {
        let (may, is) = (of.may_be(role), of.role == role);
        let response = ui.add_enabled(may, Button::selectable(is, role.text()));
        response.widget_info(|| {
            egui::WidgetInfo::selected(Role::Button, may, is, format!("{shown}: {}", role.text()))
        });
        let why = if of.kind == ColumnKind::Empty {
            "It is empty."
        } else {
            "It holds text, and a coordinate is a number."
        };
        let about = format!("{} A second click leaves the column out.", role.about());
        let response = response.on_hover_text(about).on_disabled_hover_text(why);
        if response.clicked() {
            let through = ui.input(|input| input.modifiers.shift);
            let role = if is { ColumnRole::Ignored } else { role };
            actions.send(ColumnsAction::Set { column: at, role, through });
        }
    }
}

fn kind_text(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Numeric => "numbers",
        ColumnKind::Text => "text",
        ColumnKind::Empty => "empty",
    }
}

fn first_rows(dialog: &ColumnsDialog, at: usize) -> String {
    let cell = |cell: &Cell| match cell {
        Cell::Number(value) => text::coordinate(*value),
        Cell::Text(text) => text.clone(),
        Cell::Missing => "–".to_owned(),
    };
    match &dialog.preview {
        Preview::Reading => "…".to_owned(),
        Preview::Failed(_) => String::new(),
        Preview::Read(records) => {
            records.rows.iter().filter_map(|row| row.get(at)).map(cell).collect::<Vec<_>>().join(", ")
        }
    }
}
