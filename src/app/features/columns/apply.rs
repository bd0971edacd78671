//! Column roles of a file: chosen in a dialog, remembered with the file, and applied when it is opened again.

use super::columns_ui;
use super::state::{ColumnsAction, ColumnsDialog, PREVIEW as ROWS, Preview};
use crate::app::context::app::{App, Feature};
use crate::app::features::color::column_keys;
use crate::app::features::color::state::ColorBy;
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::files::typed_columns;
use crate::app::model::{Action, DataKind, FileColumn, FileRoles, RoleChoice, answer_summary};
use crate::cloud::formats::{self, ColumnInfo, FormatError, Records};
use crate::cloud::{ColumnChoice, PointCloud, Source};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Columns(action) => app.columns_action(action),
            other => return Some(other),
        }
        None
    },
    dialogs: |app, ui, palette| columns_ui(ui, &app.session, palette, &mut app.actions),
    ..Feature::NONE
};

/// The first rows of the file, for the dialog.
pub static PREVIEW: TaskKind<App, (), Result<Records, FormatError>> =
    TaskKind::new(TaskPurpose::Preview, "preview", App::preview_read);

impl App {
    fn columns_action(&mut self, action: ColumnsAction) {
        let dialog = self.session.columns_dialog.as_mut();
        match (action, dialog) {
            (ColumnsAction::Open, _) => self.open_columns(),
            (ColumnsAction::Search(typed), Some(dialog)) => dialog.search = typed,
            (ColumnsAction::Set { column, role, through }, Some(dialog)) => dialog.set(column, role, through),
            (ColumnsAction::AllNumbers, Some(dialog)) => dialog.all_numbers(),
            (ColumnsAction::Pictures(pictures), Some(dialog)) => dialog.pictures = pictures,
            (ColumnsAction::ShowPictures(pictures), _) => {
                self.open_columns();
                if let Some(dialog) = &mut self.session.columns_dialog {
                    dialog.pictures = Some(pictures);
                    self.use_columns();
                }
            }
            (ColumnsAction::Use, Some(_)) => self.use_columns(),
            (ColumnsAction::Guess, Some(_)) => self.guess_columns(),
            (ColumnsAction::Close, _) => self.session.columns_dialog = None,
            (_, None) => {}
        }
    }

    /// Opens the dialog for the shown file, and reads the first rows.
    fn open_columns(&mut self) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let (Some(known), Source::File { path, .. }) = (self.session.file_columns(), cloud.source()) else {
            return;
        };
        let keys = column_keys(known.columns.iter().map(|column| column.name.as_str()));
        let columns = keys
            .zip(&known.columns)
            .map(|((name, key), info)| (FileColumn { name: name.to_owned(), key }, info.kind));
        // For roles that the user has not chosen, preselect the inferred columns.
        let told = self
            .session
            .listed_columns()
            .map_or([None; 2], |columns| answer_summary::label_and_name(columns, &self.session.roles));
        let key_of = |name: &str| {
            column_keys(known.columns.iter().map(|column| column.name.as_str()))
                .find(|(of, _)| *of == name)
                .map(|(_, key)| key)
        };
        let chosen = [&self.session.roles.label, &self.session.roles.name]
            .map(|told| told.column().map(|column| column.key.clone()));
        let guessed = told.map(|name| name.and_then(key_of));
        let [label, name] = [0, 1].map(|at| chosen[at].as_deref().or(guessed[at].as_deref()));
        let axes = numbers_of(&cloud, &known.columns);
        let mut dialog = ColumnsDialog::new(
            path.clone(),
            columns,
            (axes, self.state.draft.columns.clone()),
            [label, name],
        );
        dialog.pictures = self.session.pictures(&cloud);
        self.session.columns_dialog = Some(dialog);
        let path = cloud.file().unwrap_or(path).to_owned();
        let last = cloud.record(cloud.len() - 1);
        let first: Vec<u64> = (0..=last).take(ROWS).collect();
        self.jobs.stop(&PREVIEW);
        self.jobs.start(&PREVIEW, (), move |progress| formats::records(&path, &first, progress));
    }

    fn preview_read(&mut self, (): (), outcome: Outcome<Result<Records, FormatError>>) {
        let Some(dialog) = &mut self.session.columns_dialog else { return };
        dialog.preview = match outcome {
            Ok(Ok(records)) => Preview::Read(records),
            Ok(Err(error)) => Preview::Failed(error.to_string()),
            Err(stopped) => Preview::Failed(stopped.to_string()),
        };
    }

    /// Applies and remembers the choices; reads the file again if the coordinates changed.
    fn use_columns(&mut self) {
        let Some(dialog) = self.session.columns_dialog.take() else { return };
        let Some(cloud) = self.session.cloud.clone() else { return };
        let coordinates = dialog.coordinates();
        if coordinates.is_empty() {
            self.session.columns_dialog = Some(dialog);
            return;
        }
        let (columns, roles) = (dialog.typed_coordinates(), dialog.roles());
        let label_before = self.session.roles.label.clone();
        self.state.remember_roles(
            cloud.source(),
            Some(FileRoles { columns: columns.clone(), roles: roles.clone(), ..FileRoles::default() }),
        );
        let draft = &mut self.state.draft;
        (draft.data, draft.path) = (DataKind::File, dialog.path.display().to_string());
        draft.columns = columns;
        if coordinates != dialog.axes {
            return self.apply(Action::Load);
        }
        self.session.left_out.clear();
        self.session.roles = roles;
        if self.session.roles.label != label_before {
            match (&self.session.roles.label, &self.state.color.by) {
                (RoleChoice::Column(_), _) => self.color_by_label(),
                // The previous label column no longer colours points.
                (_, ColorBy::Column(key))
                    if label_before.column().is_some_and(|column| column.key == *key) =>
                {
                    self.state.color.choose(ColorBy::Nothing);
                }
                _ => {}
            }
        }
    }

    /// Forgets the choices, and reads the file with inferred columns.
    fn guess_columns(&mut self) {
        self.session.columns_dialog = None;
        let Some(cloud) = self.session.cloud.clone() else { return };
        let Source::File { path, .. } = cloud.source() else { return };
        self.state.remember_roles(cloud.source(), None);
        self.session.roles = Default::default();
        let draft = &mut self.state.draft;
        (draft.data, draft.path) = (DataKind::File, path.display().to_string());
        draft.columns.clear();
        self.apply(Action::Load);
    }

    /// Restores the columns field from the last time the file was open.
    pub(in crate::app) fn recall_columns(&mut self) {
        if let Some(kept) = self.state.draft.source().ok().and_then(|source| self.state.roles_of(&source)) {
            self.state.draft.columns = kept.columns.clone();
        }
    }

    /// Restores the columns field if it is empty. If the user cleared it for the shown file, it stays empty
    /// and the columns are inferred.
    pub(in crate::app) fn restore_columns(&mut self) {
        let draft = &self.state.draft;
        let (DataKind::File, true, Ok(source)) =
            (draft.data, draft.columns.trim().is_empty(), draft.source())
        else {
            return;
        };
        let shown = self.session.cloud.as_ref().map(|cloud| cloud.source());
        let is_shown = shown.is_some_and(|shown| FileRoles::path_of(shown) == FileRoles::path_of(&source));
        if !is_shown {
            self.recall_columns();
        }
    }

    /// After opening a file with typed columns, updates its remembered choices, if any.
    pub(in crate::app) fn note_columns(&mut self, source: &Source) {
        let (Source::File { columns, .. }, Some(kept)) = (source, self.state.roles_of(source).cloned())
        else {
            return;
        };
        let typed = typed_columns(columns);
        match columns {
            ColumnChoice::Default => self.state.remember_roles(source, None),
            ColumnChoice::Named(_) if kept.columns.parse() == Ok(columns.clone()) => {}
            ColumnChoice::Named(_) => {
                self.state.remember_roles(source, Some(FileRoles { columns: typed, ..kept }))
            }
        }
    }
}

/// Column numbers of a cloud's axes in its file.
fn numbers_of(cloud: &PointCloud, columns: &[ColumnInfo]) -> Vec<usize> {
    let typed = match cloud.source() {
        Source::File { columns: ColumnChoice::Named(names), .. } if names.len() == cloud.dims() => {
            names.as_slice()
        }
        _ => &[],
    };
    let mut taken = vec![false; columns.len()];
    let mut next = 0;
    let mut numbers = Vec::with_capacity(cloud.dims());
    for (at, axis) in cloud.axes().iter().enumerate() {
        let is_it = |number: usize| columns.get(number).is_some_and(|column| column.name == axis.name);
        let by_number = typed.get(at).and_then(|name| name.parse().ok()).filter(|&number| is_it(number));
        // Axes are usually in file order, so the search continues after the last match.
        let found = by_number
            .or_else(|| (next..columns.len()).chain(0..next).find(|&number| is_it(number) && !taken[number]));
        if let Some(number) = found {
            (taken[number], next) = (true, number + 1);
            numbers.push(number);
        }
    }
    numbers
}
