//! The finder: a text field, its matches, and what the selected match does.

use egui::Modifiers;

use crate::app::model::Mode;
use crate::app::prelude::*;
use crate::app::shell::finder::{CommandPaletteEntry, find};

/// Height of a list row, and the gap between rows.
const LINE: f32 = 24.0;

const GAP: f32 = 1.0;

pub fn finder_ui(ui: &Ui, state: &State, session: &Session, palette: &Palette, actions: &mut Actions) {
    let Some(finder) = &session.finder else { return };
    let mode = if session.lesson.open { Mode::Lesson } else { Mode::Explorer };
    let mut next = finder.clone();
    let screen = ui.ctx().content_rect();
    let area = Modal::default_area(Id::unique("finder"))
        .anchor(Align2::CENTER_TOP, vec2(0.0, screen.height() * 0.12));
    let modal = Modal::new(Id::unique("finder")).area(area).show(ui.ctx(), |ui| {
        ui.set_width(480.0f32.min(screen.width() - 40.0));
        // Before the text field handles them: arrow keys move through the list.
        let (up, down, enter) = ui.input_mut(|input| {
            let mut pressed = |key| input.consume_key(Modifiers::NONE, key);
            (pressed(Key::ArrowUp), pressed(Key::ArrowDown), pressed(Key::Enter))
        });
        let hint = "A command, a file’s path, k 64, an engine, a colour, a row by its name";
        let edit = TextEdit::singleline(&mut next.text).hint_text(hint).desired_width(f32::INFINITY);
        let field = ui.add(edit);
        name_widget(&field, Role::TextInput, "Find a row or a command");
        field.request_focus();
        let found = find(&next.text, mode, state, session);
        if next.text != finder.text {
            next.at = 0;
        }
        let last = found.len().saturating_sub(1);
        next.at = if down { next.at + 1 } else { next.at.saturating_sub(usize::from(up)) }.min(last);
        let names = session
            .row_names
            .as_deref()
            .filter(|_| mode == Mode::Explorer && session.name_search.is_for(&next.text));
        if let Some(note) = names.and_then(|names| session.name_search.note(names)) {
            ui.label(palette.small(note));
        } else if found.is_empty() {
            let rows = if session.row_names.is_some() { "No command or row" } else { "No command" };
            ui.label(palette.weak(format!("{rows} matches “{}”.", next.text.trim())));
        }
        if found.is_empty() {
            return None;
        }
        let moved = up || down || next.text != finder.text;
        let mut chosen = list_ui(ui, &found, next.at, moved, screen.height() * 0.5);
        if let Some(entry) = found.get(next.at) {
            let color = if entry.action.is_some() { palette.text_weak } else { palette.error };
            ui.add(Label::new(RichText::new(&entry.about).color(color).small()).truncate());
        }
        if enter {
            chosen = Some(next.at);
        }
        chosen.and_then(|at| found.into_iter().nth(at)?.action)
    });
    if let Some(action) = modal.inner {
        actions.send(Action::SetFinder(None));
        actions.send(action);
    } else if modal.should_close() {
        actions.send(Action::SetFinder(None));
    } else if next != *finder {
        actions.send(Action::SetFinder(Some(next)));
    }
}

/// Draws the matches; only visible rows, because columns may be thousands. Returns the clicked row.
fn list_ui(ui: &mut Ui, found: &[CommandPaletteEntry], at: usize, moved: bool, most: f32) -> Option<usize> {
    // An always visible scroll bar shows that there is more.
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    let height = found.len() as f32 * (LINE + GAP);
    let area = ScrollArea::vertical()
        .max_height(most.min(height))
        .min_scrolled_height(most.min(height))
        .auto_shrink([false, true]);
    area.show_viewport(ui, |ui, sight| {
        ui.set_height(height);
        let (start, width) = (ui.max_rect().min, ui.available_width());
        let line = |at: usize| {
            Rect::from_min_size(pos2(start.x, start.y + at as f32 * (LINE + GAP)), vec2(width, LINE))
        };
        if moved {
            ui.scroll_to_rect(
                line(at),
                (!sight.y_range().contains(line(at).center().y - start.y)).then_some(Align::Center),
            );
        }
        let first = (sight.top() / (LINE + GAP)).max(0.0) as usize;
        let count = (sight.height() / (LINE + GAP)).ceil() as usize + 1;
        let mut chosen = None;
        for (number, entry) in found.iter().enumerate().skip(first).take(count) {
            let clicked =
                ui.push_id(number, |ui| entry_ui(ui, line(number), entry, number == at).clicked()).inner;
            if clicked {
                chosen = Some(number);
            }
        }
        chosen
    })
    .inner
}

/// A row: name and keys.
fn entry_ui(ui: &mut Ui, place: Rect, entry: &CommandPaletteEntry, current: bool) -> Response {
    let shortcut = if let Some(Action::Command(command)) = &entry.action { command.shortcut() } else { None };
    let keys = shortcut.map(|shortcut| keys_text(ui.ctx(), &shortcut)).unwrap_or_default();
    let button = Button::selectable(current, &entry.text).truncate();
    // Weak text would be unreadable on the selection colour.
    let button = if current { button.right_text(keys) } else { button.shortcut_text(keys) };
    let button = button.min_size(place.size());
    let line = if entry.action.is_some() {
        ui.put(place, button)
    } else {
        ui.add_enabled_ui(false, |ui| ui.put(place, button)).inner
    };
    line.widget_info(|| {
        egui::WidgetInfo::selected(Role::Button, entry.action.is_some(), current, &entry.text)
    });
    line.on_hover_text(format!("{}\n{}", entry.text, entry.about))
}
