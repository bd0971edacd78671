//! The built-in file dialog, for desktops without one.
//!
//! | module | role |
//! |---|---|
//! | `state` | the folder shown, and the typed text |
//! | `apply` | asks for a file, with the desktop's dialog or the built-in one |

use std::path::Path;

use egui::Modifiers;
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;

use crate::app::features::chooser::state::{Chooser, ChooserAction, FilePurpose, FolderEntry};
use crate::app::prelude::*;
use crate::text;

pub mod apply;
pub mod state;

/// Maximum number of items listed; typing finds the others.
const MAX_LISTED: usize = 1_000;

/// Draws the dialog while it is open. Arrow keys select, Enter confirms, Tab completes, Escape closes.
pub fn chooser_ui(ui: &Ui, state: &State, session: &Session, palette: &Palette, actions: &mut Actions) {
    let Some(chooser) = &session.chooser else { return };
    let screen = ui.ctx().content_rect();
    let modal = Modal::new(Id::unique("chooser")).show(ui.ctx(), |ui| {
        ui.set_width(560.0f32.min(screen.width() - 40.0));
        ui.heading(chooser.title());
        ui.add_space(4.0);
        let shown: Vec<&FolderEntry> = chooser.shown().take(MAX_LISTED).collect();
        // Before the text field handles them; on a button, Enter presses it.
        let is_typing = ui.memory(|memory| memory.focused().is_none_or(|id| id == field_id()));
        let (up, down, enter) = ui.input_mut(|input| {
            let mut pressed = |key| input.consume_key(Modifiers::NONE, key);
            (pressed(Key::ArrowUp), pressed(Key::ArrowDown), is_typing && pressed(Key::Enter))
        });
        field_ui(ui, chooser, actions);
        places_ui(ui, state, chooser, actions);
        let last = shown.len().checked_sub(1);
        let at = match (chooser.at, last) {
            (at, Some(last)) if down => Some(at.map_or(0, |at| (at + 1).min(last))),
            (Some(at), Some(_)) if up => at.checked_sub(1),
            (at, _) => at,
        };
        if at != chooser.at {
            actions.send(ChooserAction::Move(at));
        }
        list_ui(ui, chooser, &shown, at, (screen.height() * 0.5).max(120.0), palette, actions);
        if let Some(error) = &chooser.error {
            ui.label(RichText::new(error).color(palette.error));
        }
        ui.add_space(4.0);
        let (mut done, mut close) = (enter, false);
        ui.horizontal(|ui| {
            done |= ui
                .button(if chooser.asked_by == FilePurpose::Export { "Save here" } else { "Open" })
                .clicked();
            close = ui.button("Cancel").clicked();
            if chooser.asked_by != FilePurpose::Export {
                let mut all = chooser.all;
                ui.checkbox(&mut all, "All files")
                    .on_hover_text("Also files that Warpscope may not be able to open.");
                if all != chooser.all {
                    actions.send(ChooserAction::All(all));
                }
            }
        });
        if close {
            actions.send(ChooserAction::Close);
        } else if done {
            let item = at.and_then(|at| shown.get(at)).map(|item| item.name.clone());
            actions.send(item.map_or(ChooserAction::Done, ChooserAction::Take));
        }
    });
    if modal.should_close() {
        actions.send(ChooserAction::Close);
    }
}

fn field_id() -> Id {
    Id::unique("path of the chooser")
}

/// The path field, which receives keys unless another widget has focus; Tab completes.
fn field_ui(ui: &mut Ui, chooser: &Chooser, actions: &mut Actions) {
    let id = field_id();
    let mut text = chooser.text.clone();
    let has_focus = ui.memory(|memory| memory.has_focus(id));
    let tab = has_focus && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Tab));
    if tab {
        text = chooser.completed();
    }
    let edit = TextEdit::singleline(&mut text)
        .id(id)
        .lock_focus(true)
        .desired_width(f32::INFINITY)
        .hint_text("Path of a file");
    let field = ui.add(edit);
    field.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(Role::TextInput, true, "Path of the file");
        info.current_text_value = Some(text.clone());
        info
    });
    if text != chooser.text {
        actions.send(ChooserAction::Type(text.clone()));
    }
    // Keeps the cursor at the end after a click or Tab changed the text.
    let told = ui.data(|data| data.get_temp::<String>(id));
    if told.as_ref() != Some(&text) {
        if !field.changed() || tab {
            let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
            state.cursor.set_char_range(Some(CCursorRange::one(CCursor::new(text.chars().count()))));
            state.store(ui.ctx(), id);
        }
        ui.data_mut(|data| data.insert_temp(id, text));
    }
    if ui.memory(|memory| memory.focused()).is_none() {
        field.request_focus();
    }
}

/// Buttons for the parent folder, home, and folders of recent files.
fn places_ui(ui: &mut Ui, state: &State, chooser: &Chooser, actions: &mut Actions) {
    ui.horizontal_wrapped(|ui| {
        let above = chooser.folder.parent();
        if ui.add_enabled(above.is_some(), Button::new("Folder above")).clicked()
            && let Some(above) = above
        {
            actions.send(ChooserAction::Go(above.to_owned()));
        }
        if let Some(dirs) = directories::UserDirs::new()
            && ui.button("Home").clicked()
        {
            actions.send(ChooserAction::Go(dirs.home_dir().to_owned()));
        }
        let mut folders: Vec<&Path> = Vec::new();
        for folder in state
            .recent
            .iter()
            .filter_map(|path| path.parent())
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        ui.add_enabled_ui(!folders.is_empty(), |ui| {
            let combo = ComboBox::from_id_salt("recent folders").width(140.0).selected_text("Recent folders");
            let response = combo.show_ui(ui, |ui| {
                for folder in &folders {
                    if ui.selectable_label(false, folder.display().to_string()).clicked() {
                        actions.send(ChooserAction::Go((*folder).to_owned()));
                    }
                }
            });
            name_chooser(&response.response, "Recent folders", "");
        });
    });
}

fn list_ui(
    ui: &mut Ui,
    chooser: &Chooser,
    shown: &[&FolderEntry],
    at: Option<usize>,
    height: f32,
    palette: &Palette,
    actions: &mut Actions,
) {
    let weak = |ui: &mut Ui, text: String| ui.label(palette.small(text));
    let area = ScrollArea::vertical()
        .id_salt(&chooser.folder)
        .max_height(height)
        .min_scrolled_height(height)
        .auto_shrink([false, false]);
    area.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        if let Err(why) = &chooser.items {
            ui.label(RichText::new(why).color(palette.error));
        } else if let Some(nothing) = chooser.nothing() {
            weak(ui, nothing);
        }
        for (row, item) in shown.iter().enumerate() {
            let name = if item.is_file {
                item.name.clone()
            } else {
                format!("{}{}", item.name, std::path::MAIN_SEPARATOR)
            };
            let button = Button::selectable(at == Some(row), name)
                .truncate()
                .min_size(vec2(ui.available_width(), 0.0));
            let response = ui.add(button);
            if at == Some(row) && at != chooser.at {
                response.scroll_to_me(Some(Align::Center));
            }
            if response.clicked() {
                actions.send(ChooserAction::Take(item.name.clone()));
            }
        }
        if shown.len() == MAX_LISTED {
            weak(ui, format!("The first {MAX_LISTED} are listed; type the start of a name to find others."));
        }
        // The list is still the previous one.
        if chooser.reading && !shown.is_empty() {
            weak(ui, "Reading again…".to_owned());
        }
        let left_out = chooser.left_out();
        if left_out > 0 {
            weak(ui, format!("{} of other kinds", text::count(left_out as u64, "file", "files")));
        }
    });
}
