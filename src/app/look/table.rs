//! Controls of tables: headers that sort, fields for conditions, and a chooser of columns.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Button, PopupCloseBehavior, Response, RichText, Role, ScrollArea, TextEdit, Ui, vec2};

use super::tokens::Palette;
use super::widgets::name_widget;
use crate::app::model::{Action, Actions, PaneKind, SortOrder, TableView, folded};
use crate::text;

const HEADER: f32 = 20.0;

/// Height of a field below it.
const FIELD: f32 = 30.0;

/// Height of the header, with fields for conditions if they are visible.
pub fn header_height(view: &TableView) -> f32 {
    if view.filtering { HEADER + FIELD } else { HEADER }
}

/// A column's header, at the right or left. A click sorts: ascending, descending, the table's own order.
pub fn head_ui(
    ui: &mut Ui,
    name: &str,
    [at_right, is_text]: [bool; 2],
    (pane, view): (PaneKind, &TableView),
    palette: &Palette,
    actions: &mut Actions,
) -> Response {
    let sort = view.sort.as_ref().filter(|sort| sort.column == name);
    let (shown, spoken) = match sort {
        Some(sort) => {
            let (arrow, order) = if sort.descending { ("↓", "descending") } else { ("↑", "ascending") };
            (RichText::new(format!("{name} {arrow}")).strong(), format!("{name}, sorted {order}"))
        }
        None => (palette.weak(name), name.to_owned()),
    };
    ui.vertical(|ui| {
        // No taller than its text, and as wide as the column, so that short names are easy to hit.
        ui.spacing_mut().interact_size.y = 0.0;
        let [left, right] = if at_right { [RichText::new(""), shown] } else { [shown, RichText::new("")] };
        let button = Button::new(left).right_text(right).gap(0.0).frame(false).truncate();
        let response = ui.add(button.min_size(vec2(ui.available_width(), HEADER)));
        name_widget(&response, Role::Button, &spoken);
        let mut next = None;
        if response.clicked() {
            next = Some(TableView { sort: SortOrder::after_click(sort, name), ..view.clone() });
        }
        if view.filtering {
            let mut typed = view.filters.get(name).cloned().unwrap_or_default();
            let field = TextEdit::singleline(&mut typed).id_salt(("condition", name)).hint_text(if is_text {
                "words"
            } else {
                "> 3"
            });
            let field = ui.add(field.desired_width(ui.available_width()));
            name_widget(&field, Role::TextInput, &format!("Condition on {name}"));
            if field.changed() {
                let mut view = view.clone();
                view.filters.insert(name.to_owned(), typed);
                next = Some(view);
            }
        }
        if let Some(view) = next {
            actions.send(Action::SetTable(pane, Box::new(view)));
        }
        response
    })
    .inner
}

/// A table's controls. `columns` has all names, and whether the table shows them at first; `rows` is the number
/// of rows shown and of all.
pub fn table_bar_ui(
    ui: &mut Ui,
    (pane, view): (PaneKind, &TableView),
    columns: &[(&str, bool)],
    rows: [usize; 2],
    palette: &Palette,
    actions: &mut Actions,
) {
    let mut next = view.clone();
    let about = "Show rows by conditions on columns, such as > 3, 2..5, or words.";
    next.filtering ^= ui.selectable_label(view.filtering, "Filter").on_hover_text(about).clicked();
    columns_ui(ui, pane, &mut next, columns, palette);
    if rows[0] != rows[1] {
        let [shown, all] = rows.map(|rows| text::thousands(rows as u64));
        ui.label(format!("{shown} of {all} rows"));
        if ui.small_button("Show all").on_hover_text("Clear the conditions.").clicked() {
            next.filters.clear();
        }
    }
    if next != *view {
        actions.send(Action::SetTable(pane, Box::new(next)));
    }
}

/// A menu of all columns with a search box.
fn columns_ui(
    ui: &mut Ui,
    pane: PaneKind,
    view: &mut TableView,
    columns: &[(&str, bool)],
    palette: &Palette,
) {
    const MAX_LISTED: usize = 200;
    let shown = columns.iter().filter(|(name, at_first)| view.shows(name, *at_first)).count();
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let button = MenuButton::new(format!("Columns ({shown} of {})", text::thousands(columns.len() as u64)));
    let (response, _) = button.config(config).ui(ui, |ui| {
        let search = TextEdit::singleline(&mut view.search).hint_text("Search columns").desired_width(200.0);
        name_widget(&ui.add(search), Role::TextInput, "Search columns");
        let wanted = folded(view.search.trim());
        let found: Vec<_> = columns.iter().filter(|(name, _)| folded(name).contains(&wanted)).collect();
        ScrollArea::vertical().max_height(280.0).show(ui, |ui| {
            for (name, at_first) in found.iter().take(MAX_LISTED) {
                let mut is_shown = view.shows(name, *at_first);
                let label = if is_shown { RichText::new(*name).strong() } else { palette.weak(*name) };
                if ui.checkbox(&mut is_shown, label).changed() && !view.toggled.remove(*name) {
                    view.toggled.insert((*name).to_owned());
                }
            }
        });
        if found.len() > MAX_LISTED {
            ui.label(palette.small(format!("The first {MAX_LISTED} are listed; type to find others.")));
        }
        if !view.toggled.is_empty() && ui.button("Reset").clicked() {
            view.toggled.clear();
        }
    });
    name_widget(&response, Role::Button, &format!("Columns of {}", pane.title()));
}
