//! The dialog that offers to open a file without rows that are unusable as points.
//!
//! | module | role |
//! |---|---|
//! | `state` | the dialog's state and actions |
//! | `apply` | loads the file without these rows, or not |

use crate::app::features::unusable::state::UnusableAction;
use crate::app::prelude::*;

pub mod apply;
pub mod state;

/// Draws the dialog while it is open. Enter opens the file, Escape closes the dialog.
pub fn unusable_ui(ui: &Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    let Some(dialog) = &session.unusable else { return };
    let modal = Modal::new(Id::unique("unusable")).show(ui.ctx(), |ui| {
        ui.set_width((ui.ctx().content_rect().width() - 48.0).min(420.0));
        ui.add(Label::new(RichText::new(dialog.question()).heading()).wrap());
        ui.add(Label::new(palette.weak(dialog.source.to_string())).truncate());
        ui.add_space(6.0);
        for reason in dialog.reasons() {
            ui.label(reason);
        }
        ui.add_space(6.0);
        let rows = "The other rows keep their row numbers.";
        ui.label(palette.small(rows));
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            let open = ui.button("Open without them");
            let close = ui.button("Close").on_hover_text("Don't open the file.");
            // In the first frame, Enter presses the first button.
            if !open.has_focus() && !close.has_focus() && ui.memory(|memory| memory.focused().is_none()) {
                open.request_focus();
            }
            let entered =
                !close.has_focus() && ui.input(|input| input.key_pressed(Key::Enter)) && !open.clicked();
            (open.clicked() || entered, close.clicked())
        })
        .inner
    });
    let (open, close) = modal.inner;
    if open {
        actions.send(UnusableAction::Open);
    } else if close || modal.should_close() {
        actions.send(UnusableAction::Close);
    }
}
