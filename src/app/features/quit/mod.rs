//! Closing the window, after a question if runs would be lost.
//!
//! | module | role |
//! |---|---|
//! | `state` | what the window waits for |
//! | `apply` | asks, saves, closes |

use crate::app::features::quit::state::{QuitAction, QuitStage};
use crate::app::prelude::*;
use crate::text;

pub mod apply;
pub mod state;

/// Draws the dialog while it is open. Enter saves, Escape stays, Tab and arrow keys move between the buttons.
pub fn quit_ui(ui: &Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    if session.quitting != Some(QuitStage::Asking) {
        return;
    }
    let modal = Modal::new(Id::unique("quit")).show(ui.ctx(), |ui| {
        ui.set_width(400.0f32.min(ui.ctx().content_rect().width() - 40.0));
        let count = session.runs.unsaved();
        ui.heading(format!(
            "{} not saved",
            if count == 1 {
                "1 run is".to_owned()
            } else {
                format!("{} runs are", text::thousands(count as u64))
            }
        ));
        ui.add_space(6.0);
        let about = if count == 1 { "Quitting discards it." } else { "Quitting discards them." };
        ui.add(Label::new(palette.weak(about)).wrap());
        ui.add_space(6.0);
        let mut chosen = None;
        ui.horizontal_wrapped(|ui| {
            let answers = [
                (QuitAction::Save, "Save the session", Command::SaveSession.tooltip()),
                (
                    QuitAction::Without,
                    "Quit without saving",
                    "Discard the runs and close the window. Settings are saved.",
                ),
                (QuitAction::Stay, "Stay", "Keep the window open. Escape"),
            ];
            let buttons = answers.map(|(action, text, about)| (action, ui.button(text).on_hover_text(about)));
            // In the first frame, the focus is still on the widget used before.
            if !buttons.iter().any(|(_, button)| button.has_focus())
                && !ui.input(|input| input.key_pressed(Key::Tab))
            {
                buttons[0].1.request_focus();
            }
            chosen = buttons.iter().find(|(_, button)| button.clicked()).map(|(action, _)| *action);
        });
        chosen
    });
    match modal.inner {
        Some(action) => actions.send(action),
        None if modal.should_close() => actions.send(QuitAction::Stay),
        None => {}
    }
}
