//! Loads clouds and shows them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{LOAD, LoadTask, OPEN};
use crate::app::context::app::{App, FIRST_QUERIES};
use crate::app::features::datasets::state::DatasetsDialog;
use crate::app::features::errors::cloud_error;
use crate::app::features::opening::{LoadJob, Loaded, LoadedCloud};
use crate::app::features::unusable::state::UnusableDialog;
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::{
    Action, FileColumns, FileRoles, FileState, ImageShape, LastFailures, PostLoadAction, SpaceView, Subject,
    absolute, data_file, file_name,
};
use crate::cloud::formats::FormatError;
use crate::cloud::{CloudError, Fingerprint, PointCloud, Source};
use crate::run::{QuerySpec, RunSpec, defaults, recording};
use crate::text;

/// Characters of an error that the status line shows.
const MAX_SHOWN_CHARS: usize = 150;

pub static COLUMNS: TaskKind<App, (), FileColumns> =
    TaskKind::new(TaskPurpose::Columns, "columns", App::columns_listed);

impl App {
    /// Loads and shows a file with default columns.
    pub(in crate::app) fn open(&mut self, path: &std::path::Path) {
        if recording::split_run(path).is_some() {
            return self.open_recording(&absolute(path));
        }
        self.state.draft.open(&absolute(path));
        self.recall_columns();
        self.apply(Action::Load);
    }

    /// Loads a source; the previous cloud stays until it has arrived.
    pub(in crate::app) fn load(&mut self, source: Source, then: PostLoadAction) {
        self.load_as(source, self.state.draft.drop_nonfinite, then);
    }

    /// Like [`App::load`] with an explicit `drop_nonfinite`.
    pub(in crate::app) fn load_as(&mut self, source: Source, drop_nonfinite: bool, then: PostLoadAction) {
        let data = match &then {
            PostLoadAction::RunQueries(_) => self.session.cloud.clone(),
            PostLoadAction::Show | PostLoadAction::Run(_) | PostLoadAction::Resume(_) => None,
        };
        self.session.engine_comparison.stop();
        if self.session.running.is_some() {
            self.handles.worker.cancel();
        }
        if !matches!(then, PostLoadAction::RunQueries(_)) {
            // The latest request wins.
            self.jobs.stop(&OPEN);
        }
        (self.session.endings.load, self.session.unusable, self.session.awaited) = (None, None, None);
        let infers_choices = matches!(then, PostLoadAction::Show);
        let job = LoadJob { source, drop_nonfinite, data, infers_choices };
        let asked = job.clone();
        self.jobs.start(&LOAD, LoadTask { job, then }, move |progress| asked.work(progress));
    }

    pub(in crate::app) fn loaded(
        &mut self,
        loading: LoadTask,
        outcome: Outcome<(Loaded, Option<FileState>)>,
    ) {
        let LoadTask { job, then } = loading;
        let runs = !matches!(then, PostLoadAction::Show | PostLoadAction::Resume(_));
        let about = if matches!(then, PostLoadAction::RunQueries(_)) { Subject::Run } else { Subject::Data };
        let (result, file) = match outcome {
            Ok((loaded, file)) => (Ok(loaded), file),
            Err(stopped) => (Err(stopped), None),
        };
        if let Ok(Err(error)) = &result
            && let Some(dialog) = UnusableDialog::new(&job.source, error, cloud_error(error), &then)
        {
            self.session.unusable = Some(dialog);
            return;
        }
        // If the load for a session fails, the session keeps waiting for its data.
        let awaited = if let PostLoadAction::Resume(saved) = &then { Some(saved.clone()) } else { None };
        let ended = match (result, then) {
            (Err(stopped), _) => self.failed(about, format!("cannot load: {stopped}: {}", job.source)),
            (Ok(Err(CloudError::Cancelled)), _) => self.cancelled(),
            (Ok(Err(CloudError::Format(FormatError::Ambiguous { datasets, path }))), then) => {
                self.session.datasets = DatasetsDialog::new(path, datasets, then);
                return;
            }
            (Ok(Err(error)), _) => {
                let sentence = cloud_error(&error);
                // The status line would cut off the path at the end.
                let is_long = sentence.chars().count() > MAX_SHOWN_CHARS;
                let name = if is_long { format!("{}: ", job.name()) } else { String::new() };
                self.failed(about, format!("{name}{sentence}"))
            }
            (Ok(Ok(queries)), PostLoadAction::RunQueries(spec)) => {
                if let Some(data) = job.data.clone() {
                    self.submit(spec, data, Some(queries.cloud));
                }
                return;
            }
            (Ok(Ok(LoadedCloud { cloud, left_out, declared, first, note })), PostLoadAction::Show) => {
                let again = self.shows(&cloud);
                let shown = self.session.cloud.clone().filter(|shown| self.has_file(shown, &cloud, file));
                let kept = shown.map(|shown| {
                    let sets = std::mem::take(&mut self.session.sets);
                    (std::mem::take(&mut self.history), sets, shown)
                });
                let before = again.then(|| {
                    (std::mem::take(&mut self.session.left_out), std::mem::take(&mut self.session.roles))
                });
                self.note_columns(&job.source);
                let other = self
                    .session
                    .cloud
                    .as_ref()
                    .is_some_and(|shown| data_file(shown.source()) != data_file(cloud.source()));
                let k = self.state.draft.k.clone();
                if other {
                    self.start_fresh();
                }
                self.show_loaded_cloud(Arc::clone(&cloud), file, note);
                self.set_roles(left_out, before);
                // Reading the same file again keeps the user's metric, if it applies.
                if kept.is_none() && (other || !again) {
                    self.choose_metric(&cloud, declared);
                } else {
                    self.check_metric(&cloud);
                }
                self.open_to_an_answer(first, again);
                if k != self.state.draft.k {
                    let now = &self.state.draft.k;
                    self.session
                        .log
                        .info(format!("k = {now} for the new data; File, Keep settings keeps {k}"));
                }
                if let Some((history, sets, shown)) = kept {
                    self.continue_history(history, sets, &shown);
                }
                return;
            }
            (Ok(Ok(LoadedCloud { cloud, note, .. })), PostLoadAction::Resume(saved)) => {
                self.show_loaded_cloud(cloud, file, note);
                return self.resume_loaded(&saved);
            }
            (Ok(Ok(LoadedCloud { cloud, note, .. })), PostLoadAction::Run(spec)) => {
                let is_default =
                    matches!(spec.queries, QuerySpec::Count(count) if self.is_default_count(count));
                self.show_loaded_cloud(Arc::clone(&cloud), file, note);
                // The number of rows was unknown before.
                let queries =
                    if is_default { QuerySpec::Count(default_query_count(&cloud)) } else { spec.queries };
                return self.run_on(&cloud, RunSpec { queries, ..spec });
            }
        };
        self.session.awaited = awaited;
        if runs {
            self.session.endings.run = Some(ended.clone());
        }
        self.load_failed(ended);
    }

    /// Shows a cloud that the user opened, and remembers its file.
    fn show_loaded_cloud(&mut self, cloud: Arc<PointCloud>, file: Option<FileState>, note: Option<String>) {
        self.session.loaded_file = file.map(|file| (cloud.fingerprint().clone(), file));
        if let Source::File { path, .. } = cloud.source() {
            self.state.remember(path);
        }
        self.session.runs.complete(&cloud);
        self.show_cloud(cloud);
        if let Some(note) = &note {
            self.session.log.info(note.clone());
        }
        self.session.note = note;
    }

    /// Whether the number of queries is a default rather than the user's choice.
    fn is_default_count(&self, count: u64) -> bool {
        // The first launch's number counts as well: it stays until its cloud arrives.
        count == defaults::QUERIES
            || self
                .session
                .cloud
                .as_ref()
                .is_some_and(|cloud| [default_query_count(cloud), FIRST_QUERIES].contains(&count))
    }

    /// Replaces the shown cloud and drops state of the previous one.
    pub(in crate::app) fn show_cloud(&mut self, cloud: Arc<PointCloud>) {
        let columns: Vec<&str> = cloud.axes().iter().map(|axis| axis.name.as_str()).take(6).collect();
        let more = if cloud.dims() > columns.len() { ", …" } else { "" };
        let dropped = match cloud.dropped() {
            0 => String::new(),
            rows => format!(", {} dropped", text::count(rows, "row", "rows")),
        };
        let said = format!(
            "{} of {} ({}{more}){dropped}: {}",
            text::count(cloud.len() as u64, "point", "points"),
            text::count(cloud.dims() as u64, "dimension", "dimensions"),
            columns.join(", "),
            cloud.source()
        );
        self.session.log.done(Subject::Data, said);
        for of_another in [
            Subject::Run,
            Subject::Query,
            Subject::Selection,
            Subject::Color,
            Subject::Projection,
            Subject::Analysis,
        ] {
            self.session.log.resolve(of_another);
        }
        if self.state.draft.query_count.parse().is_ok_and(|count| self.is_default_count(count)) {
            self.state.draft.query_count = default_query_count(&cloud).to_string();
        }
        (self.state.plane.window, self.state.plane.whole, self.state.plane.axes) =
            (None, false, widest_axes(&cloud));
        let view = SpaceView { axes: widest_axes(&cloud), ..SpaceView::default() };
        self.state.space = self.state.space.with_position_of(&view);
        self.list_columns(&cloud);
        if self.session.running.take().is_some() {
            self.handles.worker.cancel();
        }
        self.leave_cloud(&cloud);
        self.handles.forget();
        let session = &mut self.session;
        (session.record, session.derived, session.theory) = (None, None, None);
        (session.picked, session.answered, session.rank) = (None, None, None);
        session.left_out = Vec::new();
        session.roles =
            self.state.roles_of(cloud.source()).map(|kept| kept.roles.clone()).unwrap_or_default();
        (session.columns_dialog, session.note) = (None, None);
        session.inferred_image_shape = ImageShape::named(cloud.axes());
        session.endings = LastFailures::default();
        session.cloud = Some(cloud);
        self.name_window();
        self.enter_cloud();
    }

    /// Whether the same points are already shown.
    pub(in crate::app) fn shows(&self, cloud: &PointCloud) -> bool {
        self.session.cloud.as_ref().is_some_and(|shown| shown.fingerprint() == cloud.fingerprint())
    }

    /// Whether `cloud` comes from the file of the shown cloud, which has not changed since.
    fn has_file(&self, shown: &PointCloud, cloud: &PointCloud, file: Option<FileState>) -> bool {
        let is_unchanged =
            |(of, then): &(Fingerprint, FileState)| of == shown.fingerprint() && file == Some(*then);
        self.session.loaded_file.as_ref().is_some_and(is_unchanged)
            && FileRoles::path_of(shown.source()) == FileRoles::path_of(cloud.source())
    }

    /// Handles the list of a file's columns, which tells whether the colouring column exists.
    fn columns_listed(&mut self, (): (), columns: Outcome<FileColumns>) {
        let Some(columns) = self.done("columns", columns) else { return };
        if !self.session.cloud.as_ref().is_some_and(|cloud| columns.is_of(cloud)) {
            // The columns belong to a file shown earlier.
            return;
        }
        self.session.columns = Some(columns);
        self.check_color_column();
        self.show_file_colors();
    }

    /// Starts listing all columns of the cloud's file, for the colour chooser.
    fn list_columns(&mut self, cloud: &PointCloud) {
        let Some(path) = cloud.file().map(Path::to_owned) else { return };
        if self.session.columns.as_ref().is_some_and(|known| known.is_of(cloud)) {
            return;
        }
        self.jobs.start(&COLUMNS, (), move |_| {
            // If they cannot be listed, names can be typed.
            let columns = crate::cloud::formats::describe(&path, &crate::progress::NoProgress)
                .map(|info| info.columns)
                .unwrap_or_default();
            FileColumns { path, columns }
        });
    }
}

/// The default number of queries, as on the command line, limited to the number of rows.
fn default_query_count(cloud: &PointCloud) -> u64 {
    (cloud.len() as u64).min(defaults::QUERIES)
}

/// The default axes: all if there are at most three, otherwise those with the largest variance.
fn widest_axes<const N: usize>(cloud: &PointCloud) -> [usize; N] {
    /// Number of rows sampled for the choice.
    const SAMPLED_ROWS: usize = 4096;
    let dims = cloud.dims();
    if dims <= 3 {
        return std::array::from_fn(|axis| axis);
    }
    let rows: Vec<usize> = cloud.sample_rows(SAMPLED_ROWS).collect();
    let variance = |axis: usize| {
        let values = rows.iter().map(|&row| f64::from(cloud.point(row)[axis]));
        let mean = values.clone().sum::<f64>() / rows.len() as f64;
        values.map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let mut axes: Vec<(f64, usize)> = (0..dims).map(|axis| (variance(axis), axis)).collect();
    axes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen: [usize; N] = std::array::from_fn(|at| axes[at].1);
    chosen.sort_unstable();
    chosen
}

// Files dropped together. Each recording is opened in turn, then the first data file, so that its cloud is
// the one shown. Files not opened are named.

#[derive(Debug, Default, PartialEq, Eq)]
struct DroppedFiles {
    /// In opening order.
    opened: Vec<PathBuf>,
    /// Data files that are not opened.
    left: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl DroppedFiles {
    fn from_paths(paths: Vec<PathBuf>) -> Self {
        let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) =
            paths.into_iter().partition(|path| path.is_dir());
        let (mut opened, points): (Vec<PathBuf>, Vec<PathBuf>) =
            files.into_iter().partition(|path| recording::split_run(path).is_some());
        let mut points = points.into_iter();
        opened.extend(points.next());
        Self { opened, left: points.collect(), folders }
    }
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| file_name(path)).collect::<Vec<_>>().join(", ")
}

impl App {
    /// Opens dropped files, and reports those not opened.
    pub(in crate::app) fn open_dropped(&mut self, paths: Vec<PathBuf>) {
        let DroppedFiles { opened, left, folders } = DroppedFiles::from_paths(paths);
        if !folders.is_empty() {
            self.session.log.error(
                Subject::Other,
                format!("cannot open a folder: drop the files in it instead: {}", names(&folders)),
            );
        }
        if let Some(points) = opened.last().filter(|_| !left.is_empty()) {
            let (shown, left) = (file_name(points), names(&left));
            self.session.log.warn(
                Subject::Other,
                format!(
                    "opened {shown}, but not {left}: only one cloud is shown at a time. Drop files one by \
                     one, or choose one as queries under Measure, A file"
                ),
            );
        }
        self.open_next(opened);
    }

    /// Opens the first file, and the others after it.
    pub(in crate::app) fn open_next(&mut self, mut paths: Vec<PathBuf>) {
        while !paths.is_empty() {
            self.open(&paths.remove(0));
            if let Some(opening) = self.jobs.params_mut(&OPEN) {
                opening.next = paths;
                return;
            }
        }
    }

    /// Reports a cancelled load, and the files that were to be opened after it.
    pub(in crate::app) fn opening_cancelled(&mut self, next: &[PathBuf]) {
        let others =
            if next.is_empty() { String::new() } else { format!("; not opened either: {}", names(next)) };
        self.session.log.info(format!("cancelled{others}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{cloud, folder, stretched};

    #[test]
    fn initial_axes_have_the_largest_variance() {
        assert_eq!(widest_axes::<2>(&cloud(10, 2, 1)), [0, 1]);
        assert_eq!(widest_axes::<2>(&stretched(50, [0.0, 2.0, 0.1, 5.0])), [1, 3]);
        assert_eq!(widest_axes::<3>(&stretched(50, [0.0, 2.0, 0.1, 5.0])), [1, 2, 3]);
    }

    #[test]
    fn dropped_recordings_open_before_data_files() {
        let folder = folder();
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut all = paths(&["a.csv", "one.warpscope", "b.npy", "two.WARPSCOPE"]);
        all.push(folder.path().to_owned());
        let dropped = DroppedFiles::from_paths(all);
        assert_eq!(dropped.opened, paths(&["one.warpscope", "two.WARPSCOPE", "a.csv"]));
        assert_eq!((dropped.left, dropped.folders), (paths(&["b.npy"]), vec![folder.path().to_owned()]));
    }
}
