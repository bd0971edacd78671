//! The shortcut sheet.
//!
//! | module | role |
//! |---|---|
//! | `apply` | opens and closes it |

use egui::Modifiers;

use crate::app::model::Mode;
use crate::app::prelude::*;

pub mod apply;

/// Draws the sheet, which is generated from the commands, while it is open.
pub fn shortcuts_ui(ui: &Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    if !session.help {
        return;
    }
    let mut open = true;
    egui::Window::new("Keyboard shortcuts")
        .open(&mut open)
        .collapsible(false)
        .resizable(false)
        .anchor(Align2::CENTER_CENTER, Vec2::ZERO)
        .show(ui.ctx(), |ui| {
            ScrollArea::vertical().max_height((ui.ctx().content_rect().height() - 120.0).max(120.0)).show(
                ui,
                |ui| {
                    scrolled_by_keys(ui);
                    egui::Grid::new("shortcuts").num_columns(2).spacing([24.0, 4.0]).show(ui, |ui| {
                        let mode = if session.lesson.open { Mode::Lesson } else { Mode::Explorer };
                        for command in
                            Command::all().iter().copied().filter(|command| command.mode().is_in(mode))
                        {
                            let Some(shortcut) = command.shortcut() else { continue };
                            ui.label(RichText::new(keys_text(ui.ctx(), &shortcut)).monospace());
                            ui.label(command.text()).on_hover_text(command.tooltip());
                            ui.end_row();
                        }
                        let mouse: &[(&str, &str)] = if session.lesson.open {
                            &[
                                ("Click", "Curve, layers, scrubber: go there; code: its source"),
                                ("Hover", "Lanes, slots, elements, points: their values"),
                                ("Enter", "Question: answer, then go to the next one"),
                                ("0 to 9, arrows", "Question: a number, or the lane that Space chooses"),
                                ("Y, N", "Question: yes or no"),
                                ("A to D", "Question: an option; while a class votes, a vote for it"),
                                ("Backspace", "Question: take back the last digit, or the last vote"),
                            ]
                        } else {
                            &[
                                ("Drag", "Plane: pan; Space: orbit; with a tool: select what is in it"),
                                ("Right drag", "Space: pan; Alt+Drag moves the view under a tool"),
                                ("Shift+Drag", "Select a rectangle as well; with Ctrl, deselect it"),
                                ("Scroll", "Zoom about the pointer"),
                                (
                                    "Click",
                                    "Make the nearest point the query; hover over a point to see its values",
                                ),
                                ("Ctrl+Click", "Add a point to the selection, or remove it; Shift only adds"),
                                (
                                    "Arrows",
                                    "Move the focused query (with Shift in small steps); step through Runs",
                                ),
                                ("F2, Delete", "Runs: rename the chosen run, delete it"),
                                (
                                    "Double-click",
                                    "Zoom to the point and its neighbours; on empty ground, fit the view",
                                ),
                            ]
                        };
                        for &(keys, what) in mouse {
                            ui.label(RichText::new(keys).monospace());
                            ui.label(RichText::new(what).color(palette.text));
                            ui.end_row();
                        }
                    });
                },
            );
        });
    if !open {
        actions.send(Action::CloseShortcuts);
    }
}

/// Scrolls by keys, which the sheet does not need otherwise.
fn scrolled_by_keys(ui: &Ui) {
    let (line, page) = (3.0 * ui.spacing().interact_size.y, 0.9 * ui.clip_rect().height());
    let keys = [
        (Key::ArrowUp, line),
        (Key::ArrowDown, -line),
        (Key::PageUp, page),
        (Key::PageDown, -page),
        (Key::Home, f32::INFINITY),
        (Key::End, f32::NEG_INFINITY),
    ];
    for (key, by) in keys {
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            ui.scroll_with_delta(vec2(0.0, by.clamp(-1e5, 1e5)));
        }
    }
}
