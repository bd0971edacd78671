//! Closes the window, after a question if runs would be lost.

use std::sync::atomic::Ordering;

use super::quit_ui;
use super::state::{QuitAction, QuitStage};
use crate::app::context::app::{App, EXPORT, Feature};
use crate::app::model::{Action, Command};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Quit(action) => app.quit_action(action),
            Action::Command(Command::Quit) => app.quit(),
            other => return Some(other),
        }
        None
    },
    update: |app| {
        app.quit_when_saved();
        app.handle_close_request();
    },
    dialogs: |app, ui, palette| quit_ui(ui, &app.session, palette, &mut app.actions),
    ..Feature::NONE
};

impl App {
    fn quit(&mut self) {
        if self.session.runs.unsaved() == 0 {
            return self.leave();
        }
        if self.session.quitting.is_none() {
            // Only one dialog at a time.
            (self.session.finder, self.session.help) = (None, false);
            self.session.quitting = Some(QuitStage::Asking);
        }
    }

    /// Handles close requests by the window frame or the desktop; once per frame.
    fn handle_close_request(&mut self) {
        let asked = self.handles.ctx.input(|input| input.viewport().close_requested());
        if !asked || self.leaves.load(Ordering::Relaxed) {
            return;
        }
        if self.session.runs.unsaved() > 0 {
            self.handles.ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.quit();
        }
    }

    fn quit_action(&mut self, action: QuitAction) {
        match action {
            QuitAction::Save => {
                self.session.quitting = Some(QuitStage::Saving);
                self.apply(Action::Command(Command::SaveSession));
            }
            QuitAction::Without => self.leave(),
            QuitAction::Stay => self.session.quitting = None,
        }
    }

    /// Closes once the session is saved, or stays if saving failed; once per frame.
    fn quit_when_saved(&mut self) {
        let under_way = self.jobs.has(&EXPORT) || self.session.export.is_some();
        if self.session.quitting != Some(QuitStage::Saving) || under_way {
            return;
        }
        self.session.quitting = None;
        if self.session.runs.unsaved() == 0 {
            self.leave();
        }
    }

    fn leave(&mut self) {
        self.session.quitting = None;
        self.leaves.store(true, Ordering::Relaxed);
        self.handles.ctx.send_viewport_cmd(egui::ViewportCommand::Close);
    }
}
