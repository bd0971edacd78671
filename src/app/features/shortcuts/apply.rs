//! Opens and closes the shortcut sheet.

use super::shortcuts_ui;
use crate::app::context::app::Feature;
use crate::app::model::{Action, Command};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::CloseShortcuts => app.session.help = false,
            Action::Command(Command::Shortcuts) => app.session.help ^= true,
            other => return Some(other),
        }
        None
    },
    dialogs: |app, ui, palette| shortcuts_ui(ui, &app.session, palette, &mut app.actions),
    ..Feature::NONE
};
