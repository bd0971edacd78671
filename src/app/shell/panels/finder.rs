//! The finder: a field, and what fits it under it.

use egui::{Align, Align2, Key, Modifiers, RichText, ScrollArea, TextEdit, Ui, vec2};

use crate::app::look::{Palette, keys_text};
use crate::app::model::{Action, Actions, Mode, Session, State};
use crate::app::shell::finder::{Found, find};

/// The finder, when it is open.
pub fn finder_ui(ui: &Ui, state: &State, session: &Session, palette: &Palette, actions: &mut Actions) {
    let Some(finder) = &session.finder else { return };
    let mode = if session.lesson.open { Mode::Lesson } else { Mode::Explorer };
    let mut next = finder.clone();
    let screen = ui.ctx().content_rect();
    let area = egui::Modal::default_area(egui::Id::unique("finder")).anchor(Align2::CENTER_TOP, vec2(0.0, screen.height() * 0.12));
    let modal = egui::Modal::new(egui::Id::unique("finder")).area(area).show(ui.ctx(), |ui| {
        ui.set_width(480.0f32.min(screen.width() - 40.0));
        // Before the field sees them: up and down choose.
        let (up, down, enter) = ui.input_mut(|input| {
            let mut pressed = |key| input.consume_key(Modifiers::NONE, key);
            (pressed(Key::ArrowUp), pressed(Key::ArrowDown), pressed(Key::Enter))
        });
        let edit = TextEdit::singleline(&mut next.text).hint_text("What to do, or which file to open").desired_width(f32::INFINITY);
        let field = ui.add(edit);
        field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Find a command"));
        field.request_focus();
        let found = find(&next.text, mode, state);
        if next.text != finder.text {
            next.at = 0;
        }
        let last = found.len().saturating_sub(1);
        next.at = if down { next.at + 1 } else { next.at.saturating_sub(usize::from(up)) }.min(last);
        if found.is_empty() {
            ui.label(RichText::new("No matching command.").color(palette.text_weak));
        }
        let mut chosen = None;
        ScrollArea::vertical().max_height(screen.height() * 0.55).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            for (at, entry) in found.iter().enumerate() {
                let response = entry_ui(ui, entry, at == next.at);
                if at == next.at && (up || down || next.text != finder.text) {
                    response.scroll_to_me(Some(Align::Center));
                }
                if response.clicked() {
                    chosen = Some(at);
                }
            }
        });
        if enter && !found.is_empty() {
            chosen = Some(next.at);
        }
        chosen.and_then(|at| found.into_iter().nth(at))
    });
    if let Some(entry) = modal.inner {
        actions.send(Action::SetFinder(None));
        actions.send(entry.action);
    } else if modal.should_close() {
        actions.send(Action::SetFinder(None));
    } else if next != *finder {
        actions.send(Action::SetFinder(Some(next)));
    }
}

/// A line: what it is called, its keys, and what it does.
fn entry_ui(ui: &mut Ui, entry: &Found, current: bool) -> egui::Response {
    let shortcut = if let Action::Command(command) = entry.action { command.shortcut() } else { None };
    let keys = shortcut.map(|shortcut| keys_text(ui.ctx(), &shortcut)).unwrap_or_default();
    let button = egui::Button::selectable(current, &entry.text);
    // Weak text is not to be read on the ground of the chosen line.
    let button = if current { button.right_text(keys) } else { button.shortcut_text(keys) };
    ui.add(button.min_size(vec2(ui.available_width(), 24.0))).on_hover_text(&entry.about)
}
