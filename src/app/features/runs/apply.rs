//! Carries out actions on runs and recordings.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::state::{ListedRun, RunComparison, RunId, RunsAction, SaveScope};
use crate::app::context::app::{App, ExportContent, Feature};
use crate::app::features::opening::apply::{LOAD, OPEN, OpenTask, RecordedSession};
use crate::app::features::saved::state::SavedSession;
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::{Draft, FailureReason, SessionFile};
use crate::app::prelude::*;
use crate::progress::Progress;
use crate::run::recording::{self, CloudLoadMode, RecordedRun, Recording, RecordingError};
use crate::run::{EngineChoice, LoadedRun, RunRecord, RunSpec};
use crate::{export, text};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Runs(action) => app.runs_action(action),
            other => return Some(other),
        }
        None
    },
    ..Feature::NONE
};

pub static COMPARE: TaskKind<App, (), Arc<RunComparison>> =
    TaskKind::new(TaskPurpose::Compare, "compare", App::compared);

impl App {
    fn runs_action(&mut self, action: RunsAction) {
        let runs = &mut self.session.runs;
        match action {
            RunsAction::Show(id) => self.show_listed_run(id),
            RunsAction::Pin(id, pinned) => runs.pin(id, pinned),
            RunsAction::Rename(renaming) => runs.renaming = renaming,
            RunsAction::TakeName => {
                if let Some((id, name)) = runs.renaming.take() {
                    runs.rename(id, &name);
                }
            }
            RunsAction::Delete(id) => {
                runs.delete(id);
                self.compare_chosen();
            }
            RunsAction::Undelete => runs.restore(),
            RunsAction::Choose(id) => {
                runs.choose(id);
                self.compare_chosen();
            }
            RunsAction::Swap => {
                runs.chosen.reverse();
                self.compare_chosen();
            }
            RunsAction::ChooseNone => {
                runs.chosen = [None, None];
                self.compare_chosen();
            }
            RunsAction::SetView(view) => self.state.runs = view,
        }
    }

    /// Adds a finished run to the list.
    pub(in crate::app) fn list_run(&mut self, record: &Arc<RunRecord>) {
        if self.session.runs.of_record(record).is_none() {
            let id = self.session.runs.add(None, false, LoadedRun::Whole(Arc::clone(record)), None);
            if self.asked_to_run {
                self.session.runs.note_unsaved(id);
            }
            self.session.runs.cursor = Some(id);
            self.trim_runs(record);
        }
    }

    fn trim_runs(&mut self, shown: &Arc<RunRecord>) {
        let gone = self.session.runs.trim(Some(shown));
        if !gone.is_empty() {
            let oldest = text::count(gone.len() as u64, "run", "runs");
            let said = format!(
                "the list of runs is full: removed the oldest unpinned, {oldest}: {}",
                gone.join("; ")
            );
            self.session.log.warn(Subject::Run, said);
        }
    }

    /// Shows a run of the list in all panes, and its problem in the left panel.
    pub(in crate::app) fn show_listed_run(&mut self, id: RunId) {
        let Some(listed) = self.session.runs.get(id) else { return };
        let run = listed.run.clone();
        self.session.runs.cursor = Some(id);
        match run {
            LoadedRun::WithoutClouds { why, .. } => self
                .session
                .log
                .error(Subject::Run, format!("only timings and counters can be compared: {why}")),
            LoadedRun::Whole(record) if self.session.has_record(&record) => {
                self.session.log.resolve(Subject::Run);
            }
            LoadedRun::Whole(record) => {
                self.session.log.resolve(Subject::Run);
                if !self.session.has_cloud(&record.cloud) {
                    let same = self
                        .session
                        .cloud
                        .as_ref()
                        .is_some_and(|cloud| cloud.fingerprint() == record.cloud.fingerprint());
                    let cloud = Arc::clone(&record.cloud);
                    if same {
                        self.keeping_views(|app| app.show_cloud(cloud));
                    } else {
                        self.show_cloud(cloud);
                    }
                }
                let metric = self.state.draft.metric;
                self.state.draft = Draft::from_spec(&record.spec, &self.state.draft);
                self.metric_changed(metric);
                self.show_run(record);
            }
        }
    }

    /// Starts comparing the two chosen runs.
    pub(in crate::app) fn compare_chosen(&mut self) {
        let runs = &mut self.session.runs;
        runs.compared = None;
        let Some([a, b]) = runs.pair().map(|pair| pair.map(ListedRun::clone)) else { return };
        self.jobs.start(&COMPARE, (), move |_| Arc::new(RunComparison::new(&a, &b)));
    }

    /// Opens a recording, or the run of it that the path names.
    pub(in crate::app) fn open_recording(&mut self, path: &Path) {
        self.open_recording_for(path, None);
    }

    /// The same, to restore a session's view of it.
    pub(in crate::app) fn open_recording_for(&mut self, path: &Path, resume: Option<SavedSession>) {
        let Some((file, run)) = recording::split_run(path) else { return };
        // The latest request wins.
        self.jobs.stop(&LOAD);
        self.session.endings.load = None;
        let (from, began) = (file.clone(), SystemTime::now());
        let read = move |progress: &dyn Progress| {
            let mut recording = recording::read(&from, CloudLoadMode::Restore, progress)?;
            let session =
                recording.session.take().map(|text| text.and_then(|text| SavedSession::read(&text)));
            Ok((recording, session))
        };
        self.jobs.start(&OPEN, OpenTask { path: file, run, began, resume, next: Vec::new() }, read);
    }

    /// Handles a recording that was read.
    pub(in crate::app) fn opened(
        &mut self,
        opening: OpenTask,
        result: Outcome<Result<(Recording, RecordedSession), RecordingError>>,
    ) {
        let OpenTask { path, run, began, mut resume, next } = opening;
        // If another file is being opened as well, its success must not clear this error.
        let about = if next.is_empty() && resume.is_none() { Subject::Data } else { Subject::Other };
        let ended = match result {
            Err(stopped) => Some(self.failed(about, format!("cannot open: {stopped}: {}", path.display()))),
            Ok(Err(RecordingError::Cancelled)) => {
                self.load_failed(FailureReason::Cancelled);
                return self.opening_cancelled(&next);
            }
            Ok(Err(error)) => Some(self.failed(about, error.to_string())),
            Ok(Ok((recording, session))) => {
                let session = session.filter(|_| run.is_none());
                self.recording_opened(recording, session, resume.take(), run.as_deref(), &path, began);
                None
            }
        };
        if let Some(ended) = ended {
            self.load_failed(ended);
        }
        // Without the recording, the session's data may still be available at their source.
        if let Some(saved) = resume {
            self.resume(&saved, &[], None, None, path.parent());
        }
        self.open_next(next);
    }

    fn recording_opened(
        &mut self,
        recording: Recording,
        session: RecordedSession,
        resume: Option<SavedSession>,
        asked: Option<&str>,
        path: &Path,
        began: SystemTime,
    ) {
        let first = recording.runs.iter().position(|recorded| recorded.run.record().is_some()).unwrap_or(0);
        let shown = match asked.map(|asked| recording.pick(Some(asked), path)) {
            None => first,
            Some(Ok(picked)) => {
                recording.runs.iter().position(|recorded| std::ptr::eq(recorded, picked)).unwrap_or(first)
            }
            Some(Err(error)) => return self.session.log.error(Subject::Data, error.to_string()),
        };
        self.state.remember(path);
        let mut ids = Vec::new();
        let (count, compared) = (recording.runs.len(), recording.compared);
        for RecordedRun { name, pinned, run } in recording.runs {
            // Runs that are already in the list are not added again.
            let known = self.session.runs.same(&run);
            self.session.runs.note_saved(known.as_slice());
            let id = known.unwrap_or_else(|| {
                self.session.runs.add(Some(name.clone()), pinned, run, Some(path.to_owned()))
            });
            ids.push((name, id));
        }
        let mut devices: Vec<&str> = ids
            .iter()
            .filter_map(|(_, id)| self.session.runs.get(*id))
            .map(|listed| listed.run.head().device.name.as_str())
            .collect();
        devices.dedup();
        let on =
            if devices.is_empty() { String::new() } else { format!(", recorded on {}", devices.join(", ")) };
        let data = |saved: &SavedSession| saved.cloud.as_ref().map(|cloud| cloud.source.clone());
        let saved = session.as_ref().and_then(|session| session.as_ref().ok());
        let file =
            saved.map(|saved| SessionFile { path: path.to_owned(), points: saved.points, data: data(saved) });
        let session = resume.map(Ok).or(session);
        let session_of = if matches!(session, Some(Ok(_))) { "session of " } else { "" };
        let said = format!(
            "{session_of}{}{on} with version {}: {}",
            text::count(count as u64, "run", "runs"),
            recording.written_by,
            path.display()
        );
        self.session.log.done(Subject::Data, said);
        if let Some(file) = file {
            let alone = self.session.runs.runs().iter().all(|run| ids.iter().any(|(_, id)| *id == run.id));
            self.session_opened(file, alone);
        }
        match session {
            Some(Ok(saved)) => {
                let read = saved
                    .cloud
                    .as_ref()
                    .is_some_and(|cloud| recording.sources.contains(&cloud.fingerprint))
                    .then_some(began);
                self.resume(&saved, &ids, recording.cloud, read, path.parent());
            }
            other => {
                if let Some(Err(why)) = other {
                    let said = format!(
                        "opened only the runs: the saved window state cannot be read: {why}: {}",
                        path.display()
                    );
                    // A success in showing the rest must not clear this warning.
                    self.session.log.warn(Subject::Other, said);
                }
                let Some(&(_, id)) = ids.get(shown) else { return };
                self.show_listed_run(id);
                if count > 1 {
                    self.show(PaneKind::Runs);
                }
                // A path to a single run selects it without a comparison.
                if let (Some(compared), None) = (compared, asked) {
                    self.session.runs.chosen = compared.map(|at| ids.get(at).map(|(_, id)| *id));
                    self.compare_chosen();
                }
            }
        }
        if let Some(record) = self.session.record.clone() {
            self.trim_runs(&record);
        }
    }

    /// Whether the shown run was opened from a recording.
    pub(in crate::app) fn shows_recording(&self) -> bool {
        let listed = self.session.record.as_ref().and_then(|record| self.session.runs.of_record(record));
        listed.is_some_and(|listed| listed.from.is_some())
    }

    /// For queries that a recording does not answer, falls back to an engine available here, and says so.
    pub(in crate::app) fn answer_here(&mut self, spec: &mut RunSpec) {
        if !self.shows_recording() {
            return;
        }
        let engines = &self.session.engines;
        let missing = |id| engines.iter().all(|status| status.id != id || status.is_unavailable());
        let recorded = spec.engine.clone();
        if let EngineChoice::Named(method) = &recorded
            && missing(method.engine)
        {
            spec.engine = EngineChoice::Auto;
        }
        let gone =
            if spec.engine == recorded { String::new() } else { format!(" ({recorded} cannot run here)") };
        let said = format!(
            "this point is not in the recording; searched on this machine, engine {}{gone}",
            spec.engine
        );
        if self.session.log.last().is_none_or(|entry| entry.text != said) {
            self.session.log.info(said);
        }
    }

    /// The runs that a recording would contain.
    pub(in crate::app) fn saved_runs(&self, which: SaveScope) -> Vec<(RunId, RecordedRun)> {
        let runs = &self.session.runs;
        let shown = self
            .session
            .record
            .as_ref()
            .and_then(|record| runs.of_record(record))
            .map(|listed| listed.id)
            .or(runs.cursor);
        let wanted = |listed: &&ListedRun| match which {
            SaveScope::Shown => Some(listed.id) == shown,
            SaveScope::Compared => runs.chosen.contains(&Some(listed.id)),
            SaveScope::Pinned => listed.pinned,
            SaveScope::All => true,
        };
        let recorded = |listed: &ListedRun| {
            let (name, pinned, run) = (listed.name.clone(), listed.pinned, listed.run.clone());
            (listed.id, RecordedRun { name, pinned, run })
        };
        runs.runs().iter().filter(wanted).map(recorded).collect()
    }

    /// Writes a recording in the background, with progress and cancel.
    pub(in crate::app) fn save_recording(
        &mut self,
        which: SaveScope,
        points: bool,
        path: &Path,
    ) -> Result<(), String> {
        let runs = self.saved_runs(which);
        if runs.is_empty() {
            return Err("There is no such run; choose another.".to_owned());
        }
        let (ids, runs): (Vec<RunId>, Vec<RecordedRun>) = runs.into_iter().unzip();
        let place = |chosen: Option<RunId>| ids.iter().position(|&id| Some(id) == chosen);
        let [a, b] = self.session.runs.chosen.map(place);
        let (target, compared) = (path.to_owned(), a.zip(b).map(<[usize; 2]>::from));
        self.write_recording(ExportContent::Recording, ids, path, move |progress| {
            export::compared_recording(&runs, compared, points, &target, progress)
                .map_err(|error| error.to_string())
        })
    }

    fn compared(&mut self, (): (), compared: Outcome<Arc<RunComparison>>) {
        if let Some(compared) = self
            .done("compare", compared)
            .filter(|compared| self.session.runs.chosen == compared.ids.map(Some))
        {
            self.session.runs.compared = Some(compared);
        }
    }
}
