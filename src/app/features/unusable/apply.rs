//! Opens a file without its unusable rows, or not.

use super::state::UnusableAction;
use super::unusable_ui;
use crate::app::context::app::{App, Feature};
use crate::app::model::{Action, PostLoadAction, Subject};
use crate::run::RunSpec;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Unusable(action) => app.unusable_action(action),
            other => return Some(other),
        }
        None
    },
    dialogs: |app, ui, palette| unusable_ui(ui, &app.session, palette, &mut app.actions),
    ..Feature::NONE
};

impl App {
    /// Continues the load, or reports why it failed.
    fn unusable_action(&mut self, action: UnusableAction) {
        let Some(dialog) = self.session.unusable.take() else { return };
        let runs = !matches!(dialog.then, PostLoadAction::Show | PostLoadAction::Resume(_));
        match action {
            UnusableAction::Open => {
                self.state.draft.drop_nonfinite = true;
                let without = |spec| RunSpec { drop_nonfinite: true, ..spec };
                let then = match dialog.then {
                    PostLoadAction::Run(spec) => PostLoadAction::Run(without(spec)),
                    PostLoadAction::RunQueries(spec) => PostLoadAction::RunQueries(without(spec)),
                    then => then,
                };
                self.load_as(dialog.source, true, then);
            }
            UnusableAction::Close => {
                let for_run = matches!(dialog.then, PostLoadAction::RunQueries(_));
                let about = if for_run { Subject::Run } else { Subject::Data };
                let ended = self.failed(about, dialog.error);
                if runs {
                    self.session.endings.run = Some(ended.clone());
                }
                self.load_failed(ended);
            }
        }
    }
}
