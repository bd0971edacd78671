//! Saves sessions to files in the background, and with the settings when the window closes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::state::{Ranges, SavedCloud, SavedQuery, SavedSession, SavedSet};
use crate::app::context::app::{App, EXPORT, ExportContent, ExportTask, Feature};
use crate::app::features::analysis::state::AnalysisAction;
use crate::app::features::chooser::state::FilePurpose;
use crate::app::features::color::state::ColorBy;
use crate::app::features::export::state::ExportKind;
use crate::app::features::runs::state::{RunId, SaveScope};
use crate::app::features::selection::state::{NamedSet, NamedSets};
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::{
    FileState, PostLoadAction, SHOWN_AFTER, SessionFile, absolute, data_file, file_name, source_name,
};
use crate::app::prelude::*;
use crate::cloud::formats::{self, file_of};
use crate::cloud::{CloudError, Fingerprint, PointCloud, Source, load, query_point};
use crate::export;
use crate::progress::Progress;
use crate::run::EngineChoice;
use crate::run::recording::{self, RecordedRun, WindowState};

/// Maximum number of ranges of selections, sets and query rows saved with the settings, because the window
/// waits for them to be written.
const MAX_RANGES: usize = 20_000;

/// The session saved with the settings.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::app) struct LastSession {
    /// The recording that contains the runs or the cloud's points, if any.
    pub file: Option<PathBuf>,
    /// The session, without what `file` contains.
    pub saved: SavedSession,
}

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Command(Command::SaveSession) => app.save_session_again(),
            Action::Command(Command::SaveSessionAs) => app.start_export(ExportKind::Session),
            Action::FindData => app.browse(FilePurpose::SessionData, PathBuf::new()),
            other => return Some(other),
        }
        None
    },
    leave_cloud: |app, _| {
        app.jobs.stop(&CHECK);
    },
    ..Feature::NONE
};

impl App {
    /// Saves into the session's file. Asks for one if there is none, or if it belongs to other data.
    fn save_session_again(&mut self) {
        match self.session_file().filter(|file| file.is_of(self.session.cloud.as_deref())).cloned() {
            None => self.start_export(ExportKind::Session),
            Some(SessionFile { path, points, .. }) => {
                if let Err(sentence) = self.save_session(&path, points) {
                    self.session.log.error(Subject::File, sentence);
                }
            }
        }
    }

    /// Saves a session in the background, with progress and cancel; later saves go to the same file.
    pub(in crate::app) fn save_session(&mut self, path: &Path, points: bool) -> Result<(), String> {
        if self.session.cloud.is_none() && self.session.runs.runs().is_empty() {
            return Err("There is nothing to save yet; load a cloud first.".to_owned());
        }
        let path = &absolute(path);
        let file = SessionFile {
            path: path.clone(),
            points,
            data: self.session.cloud.as_ref().map(|cloud| cloud.source().clone()),
        };
        let (ids, runs): (_, Vec<RecordedRun>) = self.saved_runs(SaveScope::All).into_iter().unzip();
        let saved = SavedSession { points, ..SavedSession::new(&self.state, &self.session) };
        let (target, cloud) = (path.clone(), self.session.cloud.clone());
        self.write_recording(ExportContent::Session(file), ids, path, move |progress| {
            let text = saved.text()?;
            let shown = WindowState { session: &text, cloud: cloud.as_ref() };
            export::session(shown, &runs, points, &target, progress).map_err(|error| error.to_string())
        })
    }

    pub(in crate::app) fn session_saved(&mut self, file: SessionFile) {
        self.state.remember(&file.path);
        self.session.file = Some(file);
        self.name_window();
    }

    /// Handles an opened session; `alone` says whether all runs of the list belong to it. If not, the next
    /// save asks for a file, because the user may not want the other runs in this one.
    pub(in crate::app) fn session_opened(&mut self, file: SessionFile, alone: bool) {
        if let Some(exporting) = self.jobs.params_mut(&EXPORT)
            && matches!(exporting.what, ExportContent::Session(_))
        {
            // The previous session is still being written.
            exporting.what = ExportContent::Recording;
        }
        self.session.file = alone.then_some(file);
        self.name_window();
        if !alone {
            self.session.log.info("other runs are open too; Save session will ask for a file");
        }
    }

    /// Writes a recording in the background, with progress and cancel.
    pub(in crate::app) fn write_recording(
        &mut self,
        what: ExportContent,
        runs: Vec<RunId>,
        path: &Path,
        write: impl FnOnce(&dyn crate::progress::Progress) -> Result<Vec<String>, String> + Send + 'static,
    ) -> Result<(), String> {
        if !recording::is_recording(path) {
            return Err(format!("The name of a recording must end in .{}.", recording::EXTENSION));
        }
        if self.jobs.has(&EXPORT) {
            return Err("Another file is being written; wait for it, or cancel it.".to_owned());
        }
        let said = format!("written: {}", path.display());
        let work = move |progress: &dyn crate::progress::Progress| {
            (write(progress).map(|missing| [vec![said], missing].concat()), progress.cancelled())
        };
        self.jobs.start(&EXPORT, ExportTask { what, path: path.to_owned(), runs, dialog: None }, work);
        Ok(())
    }

    /// The file of the session, even while it is first being written: it will be complete before the window
    /// closes.
    fn session_file(&self) -> Option<&SessionFile> {
        match self.jobs.params(&EXPORT).map(|exporting| &exporting.what) {
            Some(ExportContent::Session(file)) => Some(file),
            _ => self.session.file.as_ref(),
        }
    }

    /// The session to restore at the next launch, as text. If this launch has opened nothing, the one it
    /// should have restored is kept, because its data may be available next time.
    pub fn session_text(&self) -> Option<String> {
        if self.session.cloud.is_none() {
            return self.last.clone();
        }
        let mut saved = SavedSession::new(&self.state, &self.session);
        if saved
            .selection
            .as_ref()
            .is_some_and(|selection| selection.rows.count() + selection.queries.count() > MAX_RANGES)
        {
            saved.selection = None;
        }
        if saved.sets.iter().map(|set| set.rows.count()).sum::<usize>() > MAX_RANGES {
            saved.sets.clear();
        }
        if saved.view.selected_records.count() > MAX_RANGES {
            saved.view.selected_records = Ranges::default();
        }
        let shown = self.session.record.as_ref().and_then(|record| self.session.runs.of_record(record));
        let file = self.session_file().map(|file| &file.path).or(shown.and_then(|run| run.from.as_ref()));
        serde_json::to_string(&LastSession { file: file.cloned(), saved }).ok()
    }
}

// Checks whether the file of a session's cloud has changed. The file, which may be large, is read again only
// if its modification time or size suggests a change.

/// A file being read again to detect changes.
pub struct FileCheck {
    pub path: PathBuf,
    /// Of the cloud that was read from it.
    pub fingerprint: Fingerprint,
}

/// The result of the check.
pub enum CheckResult {
    /// Unchanged, with the file's current state.
    Same(Option<FileState>),
    /// Changed, as the end of a sentence.
    Other(&'static str),
    Cancelled,
}

pub static CHECK: TaskKind<App, FileCheck, CheckResult> = TaskKind {
    shown_after: SHOWN_AFTER,
    purpose: |checking, fraction| Some(Activity::Checking { what: file_name(&checking.path), fraction }),
    ..TaskKind::new(TaskPurpose::Check, "check", App::checked)
};

impl App {
    /// Reports if the file of a session's cloud is missing or has changed since it was saved. `read` is when
    /// the points were read, if that was just now from this file; `is_near` says whether a source's file may
    /// be read without asking.
    pub(in crate::app) fn compare_source(
        &mut self,
        saved: &SavedSession,
        read: Option<SystemTime>,
        is_near: impl Fn(&Source) -> bool,
    ) {
        let Some(cloud) = self.session.cloud.as_ref().filter(|cloud| is_near(cloud.source())) else { return };
        let Source::File { path, .. } = cloud.source() else { return };
        let path = formats::file_of(path);
        let (source, fingerprint, drop_nonfinite) =
            (cloud.source().clone(), cloud.fingerprint().clone(), cloud.dropped() > 0);
        let before = saved
            .cloud
            .as_ref()
            .filter(|cloud| cloud.fingerprint == fingerprint)
            .and_then(|cloud| cloud.file);
        let (file, expected) = (path.clone(), fingerprint.clone());
        let work = move |progress: &dyn Progress| match FileState::read(&source) {
            None if !file.exists() => CheckResult::Other("is missing"),
            Some(now) if Some(now) == before || read.is_some_and(|read| now.is_before(read)) => {
                CheckResult::Same(Some(now))
            }
            // Even an older file may have replaced the original.
            now => match load(&source, drop_nonfinite, progress) {
                Ok(cloud) if *cloud.fingerprint() == expected => CheckResult::Same(now),
                Ok(_) => CheckResult::Other("has changed"),
                Err(CloudError::Cancelled) => CheckResult::Cancelled,
                Err(_) => CheckResult::Other("cannot be read any more"),
            },
        };
        self.jobs.start(&CHECK, FileCheck { path, fingerprint }, work);
    }

    /// Handles the result of the check.
    fn checked(&mut self, FileCheck { path, fingerprint }: FileCheck, found: Outcome<CheckResult>) {
        let unknown = |why: &str| {
            format!("{why}; cannot tell whether the points still match their file: {}", path.display())
        };
        match found {
            Ok(CheckResult::Same(file)) => self.session.loaded_file = file.map(|file| (fingerprint, file)),
            Ok(CheckResult::Other(how)) => {
                let said = format!("showing the session's points; their file {how}: {}", path.display());
                self.session.log.warn(Subject::Data, said);
            }
            Ok(CheckResult::Cancelled) => self.session.log.info(unknown("cancelled")),
            Err(stopped) => self.session.log.error(Subject::Data, unknown(&stopped.to_string())),
        }
    }
}

// Restores a saved session: shows its runs, loads its cloud again, then restores the views and the selection.

impl App {
    /// Restores the text returned by [`App::session_text`]; for any other text, loads the data that the
    /// fields name.
    pub fn restore_session(&mut self, text: &str) {
        self.last = Some(text.to_owned()).filter(|text| !text.is_empty());
        match serde_json::from_str::<LastSession>(text) {
            Ok(LastSession { file: Some(file), saved }) if file.exists() => {
                self.open_recording_for(&file, Some(saved))
            }
            // A missing recording's folder still limits which files its session may open.
            Ok(LastSession { file, saved }) if saved.cloud.is_some() => {
                self.resume(&saved, &[], None, None, file.as_deref().and_then(Path::parent))
            }
            _ => self.apply(Action::Load),
        }
    }

    /// Restores a session. `runs` are the runs of its file that are in the list, by their names in the file;
    /// `held` is the cloud contained in the file; `read` is when the points began to be read, if that was
    /// just now from their source. `home` is the folder of the file: files outside it are not read until the
    /// user loads them.
    pub(in crate::app) fn resume(
        &mut self,
        saved: &SavedSession,
        runs: &[(String, RunId)],
        held: Option<Arc<PointCloud>>,
        read: Option<SystemTime>,
        home: Option<&Path>,
    ) {
        let is_near = |source: &Source| match (home, source) {
            (Some(home), Source::File { path, .. }) => recording::is_below(&file_of(path), home),
            _ => true,
        };
        let id_of = |name: &Option<String>| {
            runs.iter().find(|(known, _)| Some(known) == name.as_ref()).map(|(_, id)| *id)
        };
        let whole = |id: &RunId| self.session.runs.get(*id).is_some_and(|run| run.run.record().is_some());
        let shown = id_of(&saved.shown).filter(whole);
        let [a, b] = saved.compared.each_ref().map(&id_of);
        if a != b {
            self.session.runs.chosen = [a, b];
            self.compare_chosen();
        }
        match (shown, &saved.cloud) {
            (Some(id), _) => {
                self.show_listed_run(id);
                self.restore_views(saved);
                self.compare_source(saved, read, is_near);
            }
            (None, Some(cloud)) => {
                if self.session.cloud.is_none() {
                    self.state.draft = saved.view.draft();
                }
                match self.known_cloud(cloud, runs, held) {
                    Some(known) => {
                        self.show_cloud(known);
                        self.restore_views(saved);
                        self.compare_source(saved, read, is_near);
                    }
                    None if is_missing(&cloud.source) => self.wait_for_data(
                        saved,
                        "their file is missing; press Find it… if it has moved",
                        &cloud.source,
                    ),
                    None if is_near(&cloud.source) => {
                        self.load_as(
                            cloud.source.clone(),
                            cloud.drop_nonfinite,
                            PostLoadAction::Resume(Box::new(saved.clone())),
                        );
                    }
                    None => self.wait_for_data(
                        saved,
                        "load their file, or put it in the session's folder",
                        &cloud.source,
                    ),
                }
            }
            // The session had runs, but showed none.
            (None, None) => saved.view.restore(&mut self.state),
        }
    }

    /// Changes nothing until the user opens the session's points.
    fn wait_for_data(&mut self, saved: &SavedSession, way_out: &str, source: &Source) {
        let file = self.session.file.as_ref().map(|file| format!(" {}", file_name(&file.path)));
        let said = format!(
            "the session{} was saved without its points; {way_out}: {source}",
            file.unwrap_or_default()
        );
        let ended = self.failed(Subject::Data, said);
        self.load_failed(ended);
        self.session.awaited = Some(Box::new(saved.clone()));
    }

    /// Loads the points of the session that waits for them from the file that the user found.
    pub(in crate::app) fn take_found_data(&mut self, found: &Path) {
        let Some(saved) = self.session.awaited.clone() else { return };
        let Some(SavedCloud { source: Source::File { path, columns }, drop_nonfinite, .. }) = &saved.cloud
        else {
            return;
        };
        let inner = path.to_str().and_then(|path| path.rsplit_once(':'));
        let path = match inner.filter(|(file, _)| Path::new(file).extension() == found.extension()) {
            Some((_, name)) => formats::path_of(found, name),
            None => found.to_owned(),
        };
        let (source, drop_nonfinite) = (Source::File { path, columns: columns.clone() }, *drop_nonfinite);
        self.load_as(source, drop_nonfinite, PostLoadAction::Resume(saved));
    }

    /// The follow-up to loading a source: restores the session that waits for it, if any.
    pub(in crate::app) fn after_load(&mut self, source: &Source) -> PostLoadAction {
        let waits = |saved: &SavedSession| {
            saved.cloud.as_ref().is_some_and(|cloud| data_file(&cloud.source) == data_file(source))
        };
        self.session
            .awaited
            .take()
            .filter(|saved| waits(saved))
            .map_or(PostLoadAction::Show, PostLoadAction::Resume)
    }

    /// Continues to restore a session whose cloud was loaded from its source.
    pub(in crate::app) fn resume_loaded(&mut self, saved: &SavedSession) {
        let Some(cloud) = &self.session.cloud else { return };
        if saved.cloud.as_ref().is_some_and(|known| known.fingerprint == *cloud.fingerprint()) {
            // The shown run gets its points.
            let shown = self
                .session
                .runs
                .runs()
                .iter()
                .find(|run| saved.shown.as_deref() == Some(&*run.name) && run.run.record().is_some());
            if let Some(id) = shown.map(|listed| listed.id) {
                self.show_listed_run(id);
            }
            return self.restore_views(saved);
        }
        let said = format!(
            "the data has changed since it was saved; query, selection and views are not restored: {}",
            cloud.source()
        );
        self.session.log.warn(Subject::Data, said);
    }

    /// The session's cloud, if its file, one of its runs or the window has it. Equal points may come from
    /// several files: the original file is preferred, or one of the same name that moved with the session.
    /// Points from other files are used only if the original is missing; otherwise the original is read.
    fn known_cloud(
        &self,
        cloud: &SavedCloud,
        runs: &[(String, RunId)],
        held: Option<Arc<PointCloud>>,
    ) -> Option<Arc<PointCloud>> {
        let of_runs =
            runs.iter().filter_map(|(_, id)| Some(&self.session.runs.get(*id)?.run.record()?.cloud));
        let known = held
            .iter()
            .chain(of_runs)
            .chain(&self.session.cloud)
            .filter(|known| *known.fingerprint() == cloud.fingerprint);
        let ranked = known.map(|known| (source_distance(known.source(), &cloud.source), known));
        let (far, nearest) = ranked.min_by_key(|&(far, _)| far)?;
        (far < UNRELATED || is_missing(&cloud.source)).then(|| Arc::clone(nearest))
    }

    /// Restores views, query and selection for the shown cloud.
    fn restore_views(&mut self, saved: &SavedSession) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let view = &saved.view;
        view.restore(&mut self.state);
        self.state.draft = view.draft();
        if let (Source::File { path, .. }, Some(saved)) = (cloud.source(), &saved.cloud)
            && *cloud.source() != saved.source
        {
            // The file moved with the session.
            self.state.draft.path = path.display().to_string();
        }
        self.state.draft.selected_rows = view.selected_records(&cloud).into();
        (self.state.color, self.state.projection, self.state.walk) =
            (view.color.clone(), view.projection, view.walk);
        (self.session.roles, self.session.left_out) = (view.roles.clone(), view.left_out.clone());
        self.session.note = view.note.clone().or(self.session.note.take());
        let (plane, space) = view.views(&cloud);
        self.set_views(plane, space);
        self.session.timeline = view.timeline.clamped();
        match &saved.query {
            Some(SavedQuery::Row(row)) => self.pick(PickedPoint::Row(*row)),
            Some(SavedQuery::Query(query)) => self.pick_query(*query),
            Some(SavedQuery::Coordinates(at)) => match query_point::cloud(at, &cloud) {
                Ok(place) => self.set_query_point(Some(Arc::new(place))),
                Err(why) => self.session.log.error(Subject::Query, why.to_string()),
            },
            None => self.clear_query(),
        }
        self.session.rank = saved.rank.filter(|&rank| rank < EngineChoice::Auto.k_limit());
        let numbers = |ranges: &Ranges, end: usize| -> Vec<u32> {
            ranges.below(end as u64).into_iter().map(|number| number as u32).collect()
        };
        let set = |set: &SavedSet| NamedSet {
            name: set.name.clone(),
            rows: numbers(&set.rows, cloud.len()).into(),
        };
        self.session.sets =
            NamedSets::new(saved.sets.iter().map(set).filter(|set| !set.rows.is_empty()).collect());
        if let Some(selection) = &saved.selection {
            let queries = self.session.record.as_ref().map_or(0, |record| record.query_rows.len());
            self.select_these(
                numbers(&selection.rows, cloud.len()),
                numbers(&selection.queries, queries),
                selection.by.clone(),
            );
        }
        // The scores of another file are not computed again: the session does not contain that file.
        if matches!(view.color.by, ColorBy::Analysis(kind) if !kind.is_comparison())
            && self.session.analysed().is_none()
        {
            self.analysis_action(AnalysisAction::Start);
        }
        // Restoring is not a step that undo should revert.
        self.history.clear();
    }

    pub(in crate::app) fn name_window(&self) {
        self.handles.ctx.send_viewport_cmd(egui::ViewportCommand::Title(self.title()));
    }

    /// The window's title: its data, the session's file and the program.
    pub fn title(&self) -> String {
        let cloud = self.session.cloud.as_deref();
        let file = self
            .session
            .file
            .as_ref()
            .filter(|file| file.is_of(cloud))
            .and_then(|file| file.path.file_stem());
        let names = [
            cloud.map(source_name),
            file.map(|name| name.to_string_lossy().into_owned()),
            Some("Warpscope".to_owned()),
        ];
        names.into_iter().flatten().collect::<Vec<_>>().join(" – ")
    }
}

fn is_missing(source: &Source) -> bool {
    matches!(source, Source::File { path, .. } if !file_of(path).exists())
}

/// The rank of unrelated sources.
const UNRELATED: u8 = 2;

/// 0 for the same source, 1 for a file of the same name elsewhere, otherwise [`UNRELATED`].
fn source_distance(a: &Source, b: &Source) -> u8 {
    match (a, b) {
        _ if a == b => 0,
        (Source::File { path: a, columns: of_a }, Source::File { path: b, columns: of_b })
            if a.file_name() == b.file_name() && of_a == of_b =>
        {
            1
        }
        _ => UNRELATED,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crossbeam_channel::bounded;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::testing::cloud;

    #[test]
    fn slow_rechecks_are_shown_and_can_be_cancelled() {
        let mut window = Harness::builder().with_size([1280.0, 800.0]).build_eframe(|cc| {
            App::bare(cc, State { hints: false, ..State::default() }).expect("a thread for the worker")
        });
        let (begun, waiting) = bounded(1);
        let work = move |progress: &dyn Progress| {
            progress.update(1, 4);
            let _ = begun.send(());
            while !progress.cancelled() {
                std::thread::yield_now();
            }
            CheckResult::Cancelled
        };
        let (path, fingerprint) = (PathBuf::from("far/large.csv"), cloud(3, 2, 1).fingerprint().clone());
        let jobs = &mut window.state_mut().jobs;
        jobs.start(&CHECK, FileCheck { path, fingerprint }, work);
        // A start in the future, as if the task had just begun, however slow the machine is.
        jobs.set_start(TaskPurpose::Check, Instant::now() + Duration::from_secs(3_600));
        window.step();
        assert!(
            window.query_by_label_contains("Reading large.csv again").is_none(),
            "short tasks are not shown"
        );
        waiting.recv().expect("it goes on");
        window.state_mut().jobs.set_start(TaskPurpose::Check, Instant::now() - SHOWN_AFTER);
        window.run_steps(2);
        window.get_by_label_contains("Checking large.csv for changes 25 %");
        window.get_by_label("Cancel").click();
        let started = Instant::now();
        while window.state().jobs.has(&CHECK) {
            assert!(started.elapsed().as_secs() < 60, "it goes on");
            window.step();
        }
        window.run_steps(2);
        assert!(window.query_by_label_contains("Reading large.csv again").is_none());
        let said = window.state().session.log.last().map(|entry| entry.text.clone());
        assert!(said.is_some_and(|said| said.starts_with("cancelled; cannot tell whether")));
    }
}
