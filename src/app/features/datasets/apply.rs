//! Loads one cloud of a file with several.

use super::parts_ui;
use super::state::{PartsAction, PartsDialog};
use crate::app::context::app::{App, Feature};
use crate::app::model::{About, Action, DataKind, Then};
use crate::cloud::Source;
use crate::cloud::formats::path_of;
use crate::run::{QuerySpec, RunSpec};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Parts(action) => app.parts_action(action),
            other => return Some(other),
        }
        None
    },
    dialogs: |app, ui, palette| parts_ui(ui, &app.session, palette, &mut app.actions),
    ..Feature::NONE
};

impl App {
    fn parts_action(&mut self, action: PartsAction) {
        match action {
            PartsAction::Select(part) => {
                if let Some(dialog) = &mut self.session.parts
                    && dialog.parts.get(part).is_some_and(|part| part.unread.is_none())
                {
                    dialog.selected = part;
                }
            }
            PartsAction::Open => {
                if let Some(dialog) = self.session.parts.take() {
                    self.open_part(dialog);
                }
            }
            PartsAction::Close => {
                self.session.parts = None;
                self.session.log.info("no cloud of the file was chosen");
                self.name_shown_data();
            }
        }
    }

    /// Continues the load with the chosen dataset in the path, also in the field it came from.
    fn open_part(&mut self, dialog: PartsDialog) {
        let path = path_of(&dialog.path, &dialog.parts[dialog.selected].name);
        let draft = &mut self.state.draft;
        match dialog.then {
            Then::Show | Then::Resume(_) => {
                (draft.data, draft.path) = (DataKind::File, path.display().to_string());
                self.restore_columns();
                match self.state.draft.source() {
                    Ok(source) => self.load(source, Then::Show),
                    Err(error) => self.session.log.error(About::Data, error.sentence),
                }
            }
            Then::Run(spec) => {
                (draft.data, draft.path) = (DataKind::File, path.display().to_string());
                let Source::File { columns, .. } = spec.data else { return };
                let data = Source::File { path, columns };
                self.load(data.clone(), Then::Run(RunSpec { data, ..spec }));
            }
            Then::RunQueries(spec) => {
                draft.query_path = path.display().to_string();
                let (QuerySpec::File { columns, .. }, Some(cloud)) =
                    (&spec.queries, self.session.cloud.clone())
                else {
                    return;
                };
                let queries = QuerySpec::File { path, columns: columns.clone() };
                self.run_on(&cloud, RunSpec { queries, ..spec });
            }
        }
    }
}
