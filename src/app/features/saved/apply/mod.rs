//! Saves a session: into a file, on a thread, and with the settings when the window closes.

pub mod check;
pub mod resume;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::app::context::app::App;
use crate::app::context::export::{EXPORT, Exporting, Written};
use crate::app::context::feature::Feature;
use crate::app::features::export::state::ExportKind;
use crate::app::features::runs::state::Saved;
use crate::app::features::runs::state::list::RunId;
use crate::app::features::saved::apply::check::CHECK;
use crate::app::features::saved::state::SavedSession;
use crate::app::features::saved::state::ranges::Ranges;
use crate::app::model::{About, Action, Command, SessionFile, absolute};
use crate::export;
use crate::run::recording;
use crate::run::recording::{Recorded, Shown};

/// Ranges of a selection, of sets, and of records that are queries, that are kept between two starts. They are written while the window waits.
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

    /// Writes a session on a thread of its own, with progress and cancel; once it is there, the next one goes into the same
    /// file.
    pub(in crate::app) fn save_session(&mut self, path: &Path, points: bool) -> Result<(), String> {
        if self.session.cloud.is_none() && self.session.runs.runs().is_empty() {
            return Err("There is nothing to save yet; load a cloud first.".to_owned());
        }
        let path = &absolute(path);
        let file = SessionFile { path: path.clone(), points, data: self.session.cloud.as_ref().map(|cloud| cloud.source().clone()) };
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

    /// A session was opened; `alone` is whether all runs of the list are its own. Where others are there too, the next save
    /// asks where: nobody said that they belong into this file.
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
        let work =
            move |progress: &dyn crate::progress::Progress| (write(progress).map(|missing| [vec![said], missing].concat()), progress.cancelled());
        self.jobs.start(&EXPORT, Exporting { what, path: path.to_owned(), runs, dialog: None }, work);
        Ok(())
    }

    /// The file of the session, also while it is being written for the first time: it is there before the window is gone.
    fn session_file(&self) -> Option<&SessionFile> {
        match self.jobs.about(&EXPORT).map(|exporting| &exporting.what) {
            Some(Written::Session(file)) => Some(file),
            _ => self.session.file.as_ref(),
        }
    }

    /// What the next start goes on with, as text. While nothing was open in this start, that is what this one was to go on
    /// with: what is not there now, or was not waited for, may be there then.
    pub fn put_down(&self) -> Option<String> {
        if self.session.cloud.is_none() {
            return self.last.clone();
        }
        let mut saved = SavedSession::of(&self.state, &self.session);
        if saved.selection.as_ref().is_some_and(|selection| selection.rows.count() + selection.queries.count() > MOST_RANGES) {
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
