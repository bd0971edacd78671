//! Carries out actions of the manual.

use super::manual_ui;
use super::state::Manual;
use crate::app::context::app::Feature;
use crate::app::model::{Action, Command};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::SetManual(manual) => app.session.manual = manual,
            Action::Command(Command::Contents) => {
                app.session.manual = if app.session.manual.is_some() { None } else { Some(Manual::default()) }
            }
            other => return Some(other),
        }
        None
    },
    dialogs: |app, ui, palette| {
        manual_ui(ui, &app.session, &mut app.handles.manual, palette, &mut app.actions)
    },
    ..Feature::NONE
};
