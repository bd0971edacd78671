//! Small widgets shared by panels.

use egui::{
    Align, Align2, Key, Label, Layout, Response, RichText, ScrollArea, Sense, Stroke, TextEdit, TextStyle,
    Ui, Widget, vec2,
};

use super::tokens::Palette;
use crate::app::model::{Action, Actions, Command, Field, FieldError, Mark};
use crate::cloud::Order;

/// A small heading above a group of fields.
pub fn heading_ui(ui: &mut Ui, text: &str) {
    ui.add_space(6.0);
    ui.label(RichText::new(text).strong());
}

pub const LABEL_WIDTH: f32 = 84.0;

/// A label and its widgets in one line.
pub fn row_ui<R>(ui: &mut Ui, label: &str, palette: &Palette, add: impl FnOnce(&mut Ui, egui::Id) -> R) -> R {
    ui.horizontal(|ui| {
        let response = ui
            .allocate_ui_with_layout(
                egui::vec2(LABEL_WIDTH, ui.spacing().interact_size.y),
                Layout::left_to_right(Align::Center),
                |ui| {
                    ui.set_min_width(LABEL_WIDTH);
                    ui.label(palette.weak(label))
                },
            )
            .inner;
        add(ui, response.id)
    })
    .inner
}

/// A text field with a label before it and its error below.
pub fn field_ui(
    ui: &mut Ui,
    label: &str,
    text: &mut String,
    hint: &str,
    field: Field,
    errors: &[FieldError],
    palette: &Palette,
) -> Response {
    let response = row_ui(ui, label, palette, |ui, label_id| {
        let width = ui.available_width();
        ui.add(TextEdit::singleline(text).id_salt(label).hint_text(hint.to_owned()).desired_width(width))
            .labelled_by(label_id)
    });
    error_ui(ui, field, errors, palette);
    response
}

/// A text field below its label, as wide as the panel: for paths and specs.
pub fn wide_field_ui(
    ui: &mut Ui,
    label: &str,
    text: &mut String,
    hint: &str,
    field: Field,
    errors: &[FieldError],
    palette: &Palette,
) -> Response {
    let label_id = ui.label(palette.weak(label)).id;
    let edit =
        TextEdit::singleline(text).id_salt(label).hint_text(hint.to_owned()).desired_width(f32::INFINITY);
    let response = ui.add(edit).labelled_by(label_id);
    error_ui(ui, field, errors, palette);
    response
}

pub fn error_ui(ui: &mut Ui, field: Field, errors: &[FieldError], palette: &Palette) {
    if let Some(error) = errors.iter().find(|error| error.field == field) {
        ui.label(RichText::new(&error.sentence).color(palette.error).small());
    }
}

/// A shortcut as text, with the characters on the keys instead of their names. Arrows are limited to those in
/// the window's fonts.
pub fn keys_text(ctx: &egui::Context, shortcut: &egui::KeyboardShortcut) -> String {
    let (text, key) = (ctx.format_shortcut(shortcut), shortcut.logical_key);
    let sign = match key {
        Key::Equals => Some("="),
        Key::Minus => Some("-"),
        Key::Questionmark => Some("?"),
        Key::Period => Some("."),
        Key::Comma => Some(","),
        _ => None,
    };
    if let Some((modifiers, sign)) = text.strip_suffix(key.name()).zip(sign) {
        return format!("{modifiers}{sign}");
    }
    text.replace('⏴', "←").replace('⏵', "→").replace('⏶', "↑").replace('⏷', "↓")
}

pub fn command_ui(ui: &mut Ui, command: Command, actions: &mut Actions) -> Response {
    let mut tooltip = command.tooltip().to_owned();
    if let Some(shortcut) = command.shortcut() {
        tooltip = format!("{tooltip} {}", keys_text(ui.ctx(), &shortcut));
    }
    let response = ui.button(command.text()).on_hover_text(tooltip);
    if response.clicked() {
        actions.send(command);
    }
    response
}

pub fn menu_items_ui(ui: &mut Ui, commands: &[Command], actions: &mut Actions) {
    for &command in commands {
        let mut button = egui::Button::new(command.text());
        if let Some(shortcut) = command.shortcut() {
            button = button.shortcut_text(keys_text(ui.ctx(), &shortcut));
        }
        menu_entry_ui(ui, button, command, actions).on_hover_text(command.tooltip());
    }
}

/// A menu entry that is not a command; closes the menu when chosen.
pub fn menu_entry_ui(
    ui: &mut Ui,
    entry: impl Widget,
    action: impl Into<Action>,
    actions: &mut Actions,
) -> Response {
    let response = ui.add(entry);
    if response.clicked() {
        actions.send(action);
        ui.close();
    }
    response
}

/// Sets a widget's accessible name, also used by tests.
pub fn name_widget(widget: &Response, role: egui::Role, name: &str) {
    widget.widget_info(|| egui::WidgetInfo::labeled(role, true, name));
}

/// Sets a chooser's accessible name and value, also used by tests.
pub fn name_chooser(chooser: &Response, name: &str, chosen: &str) {
    chooser.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(egui::Role::ComboBox, true, name);
        info.current_text_value = Some(chosen.to_owned());
        info
    });
}

/// A menu that scrolls if it fits neither above nor below its button.
pub fn menu_ui(ui: &mut Ui, text: &str, add: impl FnOnce(&mut Ui)) -> Response {
    /// Height around the entries.
    const MENU_MARGIN: f32 = 28.0;
    /// Minimum height; with less room, the menu covers its button.
    const MIN_HEIGHT: f32 = 160.0;
    let (window, top) = (ui.ctx().content_rect(), ui.cursor().top());
    let beside = (window.bottom() - top - ui.spacing().interact_size.y).max(top - window.top());
    let room = beside.max(MIN_HEIGHT).min(window.height()) - MENU_MARGIN;
    let button = ui.menu_button(text, |ui| {
        // An always visible scroll bar shows that there is more.
        ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
        let area = ScrollArea::vertical().max_height(room).min_scrolled_height(room);
        // Opens scrolled to the top.
        let area = if ui.is_sizing_pass() { area.vertical_scroll_offset(0.0) } else { area };
        area.show(ui, |ui| {
            add(ui);
            // The scroll bar must not narrow the entries.
            if ui.is_sizing_pass() && ui.min_size().y > room {
                ui.set_min_width(ui.min_size().x + ui.spacing().scroll.allocated_width());
            }
        });
    });
    button.response
}

/// A placeholder: what is missing, and what to do next.
pub fn empty_ui(ui: &mut Ui, title: &str, next: &str, palette: &Palette) {
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() / 2.0 - 30.0).max(8.0));
        ui.label(RichText::new(title).color(palette.text).size(15.0));
        ui.label(palette.weak(next));
    });
}

/// A number in monospace, so that digits line up.
pub fn number(text: impl Into<String>) -> RichText {
    RichText::new(text).monospace()
}

/// A name and its value for lists of facts: in two columns, or the value below if it would wrap within a
/// number.
pub fn fact_ui(ui: &mut Ui, name: &str, value: impl Into<String>, palette: &Palette) {
    const NAMES: f32 = 96.0;
    let value = value.into();
    let font = egui::TextStyle::Monospace.resolve(ui.style());
    let digit = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0'));
    let longest = value.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    let room = ui.available_width() - NAMES - ui.spacing().item_spacing.x;
    if longest as f32 * digit > room {
        ui.label(palette.weak(name));
        ui.add(egui::Label::new(number(value)).wrap());
        return;
    }
    ui.horizontal_top(|ui| {
        ui.allocate_ui_with_layout(egui::vec2(NAMES, 16.0), Layout::left_to_right(Align::Min), |ui| {
            ui.set_min_width(NAMES);
            ui.label(palette.weak(name));
        });
        ui.add(egui::Label::new(number(value)).wrap());
    });
}

// Source text with line numbers.

/// Line height without spacing.
pub fn code_height(ui: &Ui) -> f32 {
    ui.text_style_height(&TextStyle::Monospace) + 2.0
}

/// A text in a scroll area; only visible lines are laid out. `lit` is a highlighted line, from 0.
pub fn code_ui(area: ScrollArea, ui: &mut Ui, text: &str, lit: Option<usize>, palette: &Palette) {
    area.show_rows(ui, code_height(ui), text.lines().count(), |ui, rows| {
        for (at, line) in text.lines().enumerate().skip(rows.start).take(rows.len()) {
            let is_lit = lit == Some(at);
            let color = if is_lit { palette.on_accent } else { palette.text };
            let mut shown = RichText::new(format!("{:>4}  {line}", at + 1)).monospace().color(color);
            if is_lit {
                shown = shown.background_color(palette.accent);
            }
            ui.add(Label::new(shown).extend());
        }
    });
}

// Legend of the marks over points.

/// Width of a mark in the legend.
const SAMPLE: f32 = 14.0;

/// Each mark with its meaning, in a line that wraps.
pub fn marks_legend_ui(ui: &mut Ui, marks: &[Mark], palette: &Palette) {
    ui.horizontal_wrapped(|ui| {
        for &mark in marks {
            let text = ui.painter().layout_no_wrap(
                mark.text().to_owned(),
                TextStyle::Body.resolve(ui.style()),
                palette.text,
            );
            let size = vec2(SAMPLE + 6.0 + text.size().x, text.size().y);
            // Allocated as one item, which wraps as a whole.
            ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 6.0;
                let (rect, _) = ui.allocate_exact_size(vec2(SAMPLE, SAMPLE), Sense::hover());
                let (painter, center) = (ui.painter(), Align2::CENTER_CENTER.pos_in_rect(&rect));
                match mark {
                    Mark::Query => {
                        painter.circle_filled(center, 3.0, palette.query);
                        painter.circle_stroke(center, 6.0, Stroke::new(1.5, palette.query));
                    }
                    Mark::Neighbors => {
                        painter.circle_filled(center, 3.5, palette.neighbor);
                    }
                    Mark::Circle => {
                        painter.circle_stroke(center, 6.0, Stroke::new(1.5, palette.intermediate));
                    }
                    Mark::Selected => {
                        painter.circle_filled(center, 3.5, palette.selected);
                    }
                }
                ui.add(Label::new(mark.text()).extend());
            });
        }
    });
}

// Wording around numbers, and lists of names.

/// The condition of a bound that holds only for random order.
pub fn if_shuffled(order: Order) -> &'static str {
    match order {
        Order::Shuffled => "",
        Order::File => " if shuffled",
    }
}

/// Names as alternatives: `a, b or c`.
pub fn any_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Progress, to be appended to a description.
pub fn percent(fraction: Option<f32>) -> String {
    fraction.map(|fraction| format!(", {:.0} %", fraction * 100.0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_joined_by_commas_and_a_final_or() {
        assert_eq!(
            [&[][..], &["a"], &["a", "b"], &["a", "b", "c"]].map(any_of),
            ["", "a", "a or b", "a, b or c"]
        );
    }
}
