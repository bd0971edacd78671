//! Loads one cloud of a file with several.

use super::datasets_ui;
use super::state::{DatasetsAction, DatasetsDialog};
use crate::app::context::app::{App, Feature};
use crate::app::model::{Action, DataKind, PostLoadAction, Subject};
use crate::cloud::Source;
use crate::cloud::formats::path_of;
use crate::run::{QuerySpec, RunSpec};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Datasets(action) => app.datasets_action(action),
            other => return Some(other),
        }
        None
    },
    dialogs: |app, ui, palette| datasets_ui(ui, &app.session, palette, &mut app.actions),
    ..Feature::NONE
};

impl App {
    fn datasets_action(&mut self, action: DatasetsAction) {
        match action {
            DatasetsAction::Select(dataset) => {
                if let Some(dialog) = &mut self.session.datasets
                    && dialog.datasets.get(dataset).is_some_and(|dataset| dataset.unread.is_none())
                {
                    dialog.selected = dataset;
                }
            }
            DatasetsAction::Open => {
                if let Some(dialog) = self.session.datasets.take() {
                    self.open_dataset(dialog);
                }
            }
            DatasetsAction::Close => {
                self.session.datasets = None;
                self.session.log.info("no cloud was chosen");
                self.name_shown_data();
            }
        }
    }

    /// Continues the load with the chosen dataset in the path, also in the field it came from.
    fn open_dataset(&mut self, dialog: DatasetsDialog) {
        let path = path_of(&dialog.path, &dialog.datasets[dialog.selected].name);
        let draft = &mut self.state.draft;
        match dialog.then {
            PostLoadAction::Show | PostLoadAction::Resume(_) => {
                (draft.data, draft.path) = (DataKind::File, path.display().to_string());
                self.restore_columns();
                match self.state.draft.source() {
                    Ok(source) => self.load(source, PostLoadAction::Show),
                    Err(error) => self.session.log.error(Subject::Data, error.sentence),
                }
            }
            PostLoadAction::Run(spec) => {
                (draft.data, draft.path) = (DataKind::File, path.display().to_string());
                let Source::File { columns, .. } = spec.data else { return };
                let data = Source::File { path, columns };
                self.load(data.clone(), PostLoadAction::Run(RunSpec { data, ..spec }));
            }
            PostLoadAction::RunQueries(spec) => {
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
