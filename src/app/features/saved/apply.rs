//! Saves a session: into a file, on a thread, and with the settings when the window closes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::state::{Ranges, SavedCloud, SavedQuery, SavedSession, SavedSet};
use crate::app::context::app::{App, EXPORT, Exporting, Feature, Written};
use crate::app::features::analysis::state::AnalysisAction;
use crate::app::features::color::state::ColorBy;
use crate::app::features::export::state::ExportKind;
use crate::app::features::runs::state::{RunId, Saved};
use crate::app::features::selection::state::{NamedSet, NamedSets};
use crate::app::jobs::table::{Kind, Slot};
use crate::app::jobs::task::Outcome;
use crate::app::model::{FileState, NOTICED, SessionFile, Then, absolute, data_file, file_name, source_name};
use crate::app::prelude::*;
use crate::cloud::formats::{self, file_of};
use crate::cloud::{CloudError, Fingerprint, PointCloud, Source, load, query_point};
use crate::export;
use crate::progress::Progress;
use crate::run::EngineChoice;
use crate::run::recording::{self, Recorded, Shown};

/// Ranges of a selection, of sets, and of records that are queries, that are kept between two starts. They
/// are written while the window waits.
const MOST_RANGES: usize = 20_000;

/// What is kept between two starts.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::app) struct Last {
    /// The recording that has the runs, or the points of the cloud, where there is one.
    pub file: Option<PathBuf>,
    /// The session, without what `file` holds.
    pub saved: SavedSession,
}

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Command(Command::SaveSession) => app.save_session_again(),
            Action::Command(Command::SaveSessionAs) => app.start_export(ExportKind::Session),
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
    /// Saves into the session's file; asks where there is none, or it is a session of other data.
    fn save_session_again(&mut self) {
        match self.session_file().filter(|file| file.is_of(self.session.cloud.as_deref())).cloned() {
            None => self.start_export(ExportKind::Session),
            Some(SessionFile { path, points, .. }) => {
                if let Err(sentence) = self.save_session(&path, points) {
                    self.session.log.error(About::File, sentence);
                }
            }
        }
    }

    /// Writes a session on a thread of its own, with progress and cancel; once it is there, the next one goes
    /// into the same file.
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
        let (ids, runs): (_, Vec<Recorded>) = self.saved_runs(Saved::All).into_iter().unzip();
        let saved = SavedSession { points, ..SavedSession::of(&self.state, &self.session) };
        let (target, cloud) = (path.clone(), self.session.cloud.clone());
        self.write_recording(Written::Session(file), ids, path, move |progress| {
            let text = saved.text()?;
            let shown = Shown { session: &text, cloud: cloud.as_ref() };
            export::session(shown, &runs, points, &target, progress).map_err(|error| error.to_string())
        })
    }

    /// A session was written.
    pub(in crate::app) fn session_saved(&mut self, file: SessionFile) {
        self.state.remember(&file.path);
        self.session.file = Some(file);
        self.name_window();
    }

    /// A session was opened; `alone` is whether all runs of the list are its own. Where others are there too,
    /// the next save asks where: nobody said that they belong into this file.
    pub(in crate::app) fn session_opened(&mut self, file: SessionFile, alone: bool) {
        if let Some(exporting) = self.jobs.about_mut(&EXPORT)
            && matches!(exporting.what, Written::Session(_))
        {
            // The one before it is still being written.
            exporting.what = Written::Recording;
        }
        self.session.file = alone.then_some(file);
        self.name_window();
        if !alone {
            self.session.log.info("the list holds other runs too, so Save session asks where");
        }
    }

    /// Writes a recording on a thread of its own, with progress and cancel.
    pub(in crate::app) fn write_recording(
        &mut self,
        what: Written,
        runs: Vec<RunId>,
        path: &Path,
        write: impl FnOnce(&dyn crate::progress::Progress) -> Result<Vec<String>, String> + Send + 'static,
    ) -> Result<(), String> {
        if !recording::is_recording(path) {
            return Err(format!("A recording's name ends in .{}.", recording::EXTENSION));
        }
        if self.jobs.has(&EXPORT) {
            return Err("Another file is being written; wait for it, or cancel it.".to_owned());
        }
        let said = format!("written: {}", path.display());
        let work = move |progress: &dyn crate::progress::Progress| {
            (write(progress).map(|missing| [vec![said], missing].concat()), progress.cancelled())
        };
        self.jobs.start(&EXPORT, Exporting { what, path: path.to_owned(), runs, dialog: None }, work);
        Ok(())
    }

    /// The file of the session, also while it is being written for the first time: it is there before the
    /// window is gone.
    fn session_file(&self) -> Option<&SessionFile> {
        match self.jobs.about(&EXPORT).map(|exporting| &exporting.what) {
            Some(Written::Session(file)) => Some(file),
            _ => self.session.file.as_ref(),
        }
    }

    /// What the next start goes on with, as text. While nothing was open in this start, that is what this one
    /// was to go on with: what is not there now, or was not waited for, may be there then.
    pub fn put_down(&self) -> Option<String> {
        if self.session.cloud.is_none() {
            return self.last.clone();
        }
        let mut saved = SavedSession::of(&self.state, &self.session);
        if saved
            .selection
            .as_ref()
            .is_some_and(|selection| selection.rows.count() + selection.queries.count() > MOST_RANGES)
        {
            saved.selection = None;
        }
        if saved.sets.iter().map(|set| set.rows.count()).sum::<usize>() > MOST_RANGES {
            saved.sets.clear();
        }
        if saved.view.selected_records.count() > MOST_RANGES {
            saved.view.selected_records = Ranges::default();
        }
        let shown = self.session.record.as_ref().and_then(|record| self.session.runs.of_record(record));
        let file = self.session_file().map(|file| &file.path).or(shown.and_then(|kept| kept.from.as_ref()));
        serde_json::to_string(&Last { file: file.cloned(), saved }).ok()
    }
}

// Whether the file of a session's cloud is still what it was. It is read again only where the system says
// that it may be another, on a thread, with progress and cancel: a file may be as large as it likes.

/// A file that is read again, to see whether it has changed.
pub struct Checking {
    pub path: PathBuf,
    /// Of the cloud that was read from it.
    pub fingerprint: Fingerprint,
}

/// What has become of a file.
pub enum Checked {
    /// It is what it was, and the system says this of it.
    Same(Option<FileState>),
    /// It is not, as the rest of a sentence.
    Other(&'static str),
    /// Nobody wanted to know.
    Cancelled,
}

pub static CHECK: Kind<App, Checking, Checked> = Kind {
    noticed: NOTICED,
    purpose: |checking, fraction| Some(Activity::Checking { what: file_name(&checking.path), fraction }),
    ..Kind::new(Slot::Check, "check", App::checked)
};

impl App {
    /// Says where the file of a session's cloud is gone, or another by now: what is shown are the points of
    /// then. `read` is when these began to be read, where they were just read from that very file, and
    /// `is_near` whether a source's file may be read unasked.
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
        let work = move |progress: &dyn Progress| match FileState::of(&source) {
            None if !file.exists() => Checked::Other("is gone"),
            Some(now) if Some(now) == before || read.is_some_and(|read| now.is_before(read)) => {
                Checked::Same(Some(now))
            }
            // Also one that was put in its place with an older time.
            now => match load(&source, drop_nonfinite, progress) {
                Ok(cloud) if *cloud.fingerprint() == expected => Checked::Same(now),
                Ok(_) => Checked::Other("has changed since"),
                Err(CloudError::Cancelled) => Checked::Cancelled,
                Err(_) => Checked::Other("cannot be read any more"),
            },
        };
        self.jobs.start(&CHECK, Checking { path, fingerprint }, work);
    }

    /// What has become of the file is known.
    fn checked(&mut self, Checking { path, fingerprint }: Checking, found: Outcome<Checked>) {
        let unknown =
            |why: &str| format!("{why} whether the points are still those of their file: {}", path.display());
        match found {
            Ok(Checked::Same(file)) => self.session.loaded_file = file.map(|file| (fingerprint, file)),
            Ok(Checked::Other(how)) => {
                let said =
                    format!("the points are those of the session; their file {how}: {}", path.display());
                self.session.log.warn(About::Data, said);
            }
            Ok(Checked::Cancelled) => self.session.log.info(unknown("cancelled; it is not known")),
            Err(stopped) => {
                self.session.log.error(About::Data, unknown(&format!("{stopped}; it is not known")))
            }
        }
    }
}

// Restores a saved session: shows its runs, loads its cloud again, then restores the views and the selection.

impl App {
    /// Goes on with what [`App::put_down`] gave. A text that it did not give only loads what the fields on
    /// the left name.
    pub fn pick_up(&mut self, text: &str) {
        self.last = Some(text.to_owned()).filter(|text| !text.is_empty());
        match serde_json::from_str::<Last>(text) {
            Ok(Last { file: Some(file), saved }) if file.exists() => {
                self.open_recording_for(&file, Some(saved))
            }
            // The folder of a recording that is gone still limits what its session opens.
            Ok(Last { file, saved }) if saved.cloud.is_some() => {
                self.resume(&saved, &[], None, None, file.as_deref().and_then(Path::parent))
            }
            _ => self.apply(Action::Load),
        }
    }

    /// Shows what a session showed. `runs` are those of its file that are in the list, by their names there,
    /// `held` is the cloud that the file has of what was shown, and `read` when the points began to be read,
    /// where that was just now and from where they come from. `home` is the folder of the file, which may
    /// name any file of this machine: outside, none is read until the user loads it.
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
        let whole = |id: &RunId| self.session.runs.get(*id).is_some_and(|kept| kept.run.record().is_some());
        let shown = id_of(&saved.shown).filter(whole);
        let [a, b] = saved.compared.each_ref().map(&id_of);
        if a != b {
            self.session.runs.chosen = [a, b];
            self.compare_chosen();
        }
        saved.view.restore(&mut self.state);
        match (shown, &saved.cloud) {
            (Some(id), _) => {
                self.show_kept(id);
                self.settle(saved);
                self.compare_source(saved, read, is_near);
            }
            (None, Some(cloud)) => {
                self.state.draft = saved.view.draft();
                match self.known_cloud(cloud, runs, held) {
                    Some(known) => {
                        self.show_cloud(known);
                        self.settle(saved);
                        self.compare_source(saved, read, is_near);
                    }
                    None if is_near(&cloud.source) => {
                        self.load_as(
                            cloud.source.clone(),
                            cloud.drop_nonfinite,
                            Then::Resume(Box::new(saved.clone())),
                        );
                    }
                    None => {
                        let said = format!(
                            "the session was saved without its points; load their file to continue, or put \
                             it beside the session: {}",
                            cloud.source
                        );
                        self.session.endings.load = Some(self.failed(About::Data, said));
                        self.session.awaited = Some(Box::new(saved.clone()));
                    }
                }
            }
            // Runs of which nothing was shown.
            (None, None) => {}
        }
    }

    /// What follows when the user loads a source: a session that waits for it.
    pub(in crate::app) fn after_load(&mut self, source: &Source) -> Then {
        let waits = |saved: &SavedSession| {
            saved.cloud.as_ref().is_some_and(|cloud| data_file(&cloud.source) == data_file(source))
        };
        self.session.awaited.take().filter(|saved| waits(saved)).map_or(Then::Show, Then::Resume)
    }

    /// The cloud of a session was read from where it came from.
    pub(in crate::app) fn resume_loaded(&mut self, saved: &SavedSession) {
        let Some(cloud) = &self.session.cloud else { return };
        if saved.cloud.as_ref().is_some_and(|known| known.fingerprint == *cloud.fingerprint()) {
            // The run that was shown has its points now.
            let shown = self
                .session
                .runs
                .runs()
                .iter()
                .find(|kept| saved.shown.as_deref() == Some(&*kept.name) && kept.run.record().is_some());
            if let Some(id) = shown.map(|kept| kept.id) {
                self.show_kept(id);
            }
            return self.settle(saved);
        }
        let said = format!(
            "the data has changed since it was saved, so query, selection and views are left out: {}",
            cloud.source()
        );
        self.session.log.warn(About::Data, said);
    }

    /// The cloud, where the session's file has it, a run of the session, or the window. The same points may
    /// have come from several files: those of the one that was shown are meant, or of one of its name, which
    /// was moved with the session. Others stand in for it only where it is gone; where it is there, it is
    /// read.
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
        let (far, nearest) =
            known.map(|known| (unlike(known.source(), &cloud.source), known)).min_by_key(|&(far, _)| far)?;
        let gone = || matches!(&cloud.source, Source::File { path, .. } if !file_of(path).exists());
        (far < OTHER || gone()).then(|| Arc::clone(nearest))
    }

    /// Views, query and selection as they were, of the cloud that is shown.
    fn settle(&mut self, saved: &SavedSession) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let view = &saved.view;
        self.state.draft = view.draft();
        if let (Source::File { path, .. }, Some(saved)) = (cloud.source(), &saved.cloud)
            && *cloud.source() != saved.source
        {
            // Moved with the session.
            self.state.draft.path = path.display().to_string();
        }
        self.state.draft.selected_rows = view.selected_records(&cloud).into();
        (self.state.color, self.state.projection, self.state.walk) =
            (view.color.clone(), view.projection, view.walk);
        (self.session.roles, self.session.left_out) = (view.roles.clone(), view.left_out.clone());
        self.session.note = view.note.clone().or(self.session.note.take());
        let (plane, space) = view.views(&cloud);
        self.set_views(plane, space);
        self.session.timeline = view.timeline.settled();
        match &saved.query {
            Some(SavedQuery::Row(row)) => self.pick(Picked::Row(*row)),
            Some(SavedQuery::Query(query)) => self.pick_query(*query),
            Some(SavedQuery::Coordinates(at)) => match query_point::cloud(at, &cloud) {
                Ok(place) => self.put_at(Some(Arc::new(place))),
                Err(why) => self.session.log.error(About::Query, why.to_string()),
            },
            None => self.pick_nothing(),
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
            NamedSets::of(saved.sets.iter().map(set).filter(|set| !set.rows.is_empty()).collect());
        if let Some(selection) = &saved.selection {
            let queries = self.session.record.as_ref().map_or(0, |record| record.query_rows.len());
            self.select_these(
                numbers(&selection.rows, cloud.len()),
                numbers(&selection.queries, queries),
                selection.by.clone(),
            );
        }
        // The scores of another file are not computed again: the session does not hold that file.
        if matches!(view.color.by, ColorBy::Analysis(kind) if !kind.is_of_two())
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

/// What [`unlike`] gives of sources that have nothing to do with each other.
const OTHER: u8 = 2;

/// 0 for the same source, 1 for a file of the same name elsewhere, else [`OTHER`].
fn unlike(a: &Source, b: &Source) -> u8 {
    match (a, b) {
        _ if a == b => 0,
        (Source::File { path: a, columns: of_a }, Source::File { path: b, columns: of_b })
            if a.file_name() == b.file_name() && of_a == of_b =>
        {
            1
        }
        _ => OTHER,
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
    fn what_is_read_again_is_named_and_can_be_stopped() {
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
            Checked::Cancelled
        };
        let (path, fingerprint) = (PathBuf::from("far/large.csv"), cloud(3, 2, 1).fingerprint().clone());
        let jobs = &mut window.state_mut().jobs;
        jobs.start(&CHECK, Checking { path, fingerprint }, work);
        // As if it had not begun yet, however slow this machine is.
        jobs.began(Slot::Check, Instant::now() + Duration::from_secs(3_600));
        window.step();
        assert!(
            window.query_by_label_contains("Reading large.csv again").is_none(),
            "what takes a moment is not worth a word"
        );
        waiting.recv().expect("it goes on");
        window.state_mut().jobs.began(Slot::Check, Instant::now() - NOTICED);
        window.run_steps(2);
        window.get_by_label_contains("Reading large.csv again, to see whether it has changed 25 %");
        window.get_by_label("Cancel").click();
        let started = Instant::now();
        while window.state().jobs.has(&CHECK) {
            assert!(started.elapsed().as_secs() < 60, "it goes on");
            window.step();
        }
        window.run_steps(2);
        assert!(window.query_by_label_contains("Reading large.csv again").is_none());
        let said = window.state().session.log.last().map(|entry| entry.text.clone());
        assert!(said.is_some_and(|said| said.starts_with("cancelled; it is not known whether")));
    }
}
