//! The sheet of shortcuts is opened and closed.

use crate::app::context::feature::Feature;
use crate::app::features::shortcuts::controls::shortcuts_ui;
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
