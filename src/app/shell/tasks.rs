//! The table of what the window has done in the background: a row for each kind of task, with what is asked of it, what comes
//! of it, the status line's word for it, how it is cancelled, and what takes in its result. A new kind is one row here.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::app::context::app::App;
use crate::app::features::export::Files;
use crate::app::features::lesson::record::Recorded;
use crate::app::jobs::loader::{LoadJob, Loaded};
use crate::app::jobs::table::{Applied, AtExit, Cancel, Kind, Row, Slot};
use crate::app::model::chooser::Item;
use crate::app::model::{
    Activity, AskedBy, Compared, EngineStatus, ExportDialog, FileColumns, FileState, NOTICED, SavedSession, Session, Then, file_name,
};
use crate::cloud::Fingerprint;
use crate::cloud::formats::{FormatError, Records};
use crate::knn::EngineId;
use crate::lesson::LessonError;
use crate::lesson::lessons::Lesson;
use crate::run::analysis::Derived;
use crate::run::recording::{Recording, RecordingError};
use crate::run::{Asker, RunRecord, Worker};

/// A cloud that is read or generated, and what then.
pub struct Loading {
    pub job: LoadJob,
    pub then: Then,
}

pub static LOAD: Kind<App, Loading, (Loaded, Option<FileState>)> = Kind {
    purpose: |loading, fraction| Some(Activity::Loading { what: loading.job.name(), fraction }),
    ..Kind::new(Slot::Load, "load", App::loaded)
};

/// A recording that is read.
pub struct Opening {
    pub path: PathBuf,
    /// The run of it that is to be shown.
    pub run: Option<String>,
    /// When it began to be read.
    pub began: SystemTime,
    /// What to show of it; else what it says itself, or its first run.
    pub resume: Option<SavedSession>,
    /// What is to be opened after it.
    pub next: Vec<PathBuf>,
}

/// The saved session beside the runs, or why it cannot be restored.
pub type Kept = Option<Result<SavedSession, String>>;

pub static OPEN: Kind<App, Opening, Result<(Recording, Kept), RecordingError>> = Kind {
    purpose: |opening, fraction| Some(Activity::Loading { what: file_name(&opening.path), fraction }),
    ..Kind::new(Slot::Open, "open", App::opened)
};

/// A lesson whose search is recorded.
pub static RECORD: Kind<App, &'static Lesson, Result<Recorded, LessonError>> = Kind {
    purpose: |lesson, fraction| Some(Activity::Recording { what: format!("lesson {}", lesson.number), fraction }),
    cancel: Cancel::By(|app| {
        app.cancel_lesson();
    }),
    at_exit: |_| AtExit::Stop,
    ..Kind::new(Slot::Record, "lesson", App::lesson_recorded)
};

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

/// Histogram, band and timeline of a run.
pub static DERIVE: Kind<App, Arc<RunRecord>, Derived> = Kind::new(Slot::Derive, "derive", App::derived);

/// Two runs side by side.
pub static COMPARE: Kind<App, (), Arc<Compared>> = Kind::new(Slot::Compare, "compare", App::compared);

/// What columns the cloud's file has.
pub static COLUMNS: Kind<App, (), FileColumns> = Kind::new(Slot::Columns, "columns", App::columns_listed);

/// The first rows of the file whose columns are chosen.
pub static PREVIEW: Kind<App, (), Result<Records, FormatError>> = Kind::new(Slot::Preview, "preview", App::preview_read);

/// Whether an engine can run, on each of its devices.
pub static PROBE: Kind<App, EngineId, Vec<EngineStatus>> = Kind { several: true, ..Kind::new(Slot::Probe, "probe", App::engine_probed) };

/// What a dialog of the desktop gave, or that there is none.
pub enum Answer {
    Path(Option<PathBuf>),
    NoDialog,
}

/// A file that is chosen in a dialog of the desktop, by who asks for it and how it is called.
pub static DIALOG: Kind<App, (AskedBy, PathBuf), Answer> = Kind { several: true, ..Kind::new(Slot::Dialog, "dialog", App::file_chosen) };

/// A folder that our own dialog lists.
pub static LIST: Kind<App, PathBuf, Result<Vec<Item>, String>> = Kind::new(Slot::List, "folder", App::folder_listed);

/// A table or a picture that is written, as a dialog asked.
pub static SAVE: Kind<App, Box<ExportDialog>, Result<Files, String>> =
    Kind { several: true, at_exit: |_| AtExit::Finish, ..Kind::new(Slot::Save, "save", App::saved) };

/// The worker, which answers whole problems.
pub struct Runs(pub Arc<Worker>);

impl Row<App> for Runs {
    fn next(&mut self) -> Option<(Applied<App>, bool)> {
        let event = self.0.try_recv()?;
        Some((Box::new(move |app| app.event(event)), false))
    }

    fn purpose(&self, session: &Session) -> Option<Activity> {
        session.running.as_ref().map(|running| Activity::Running { stage: running.stage.clone(), fraction: running.fraction })
    }

    fn cancel(&self) -> Cancel<App> {
        Cancel::By(|app| {
            // What runs may be done by now: the next engine is not to begin.
            app.session.contest.stop();
            app.handles.worker.cancel();
        })
    }
}

/// The asker, which answers the picked query at once, beside the worker.
pub struct Asks(pub Arc<Asker>);

impl Row<App> for Asks {
    fn next(&mut self) -> Option<(Applied<App>, bool)> {
        let reply = self.0.try_recv()?;
        Some((Box::new(move |app| app.reply(reply)), false))
    }

    fn purpose(&self, session: &Session) -> Option<Activity> {
        session.live.is_slow().then_some(Activity::Asking)
    }

    fn cancel(&self) -> Cancel<App> {
        Cancel::By(App::cancel_ask)
    }
}

impl App {
    /// Whether a load, a run or the recording of a lesson goes on, or a query is asked.
    pub fn is_busy(&self) -> bool {
        self.session.running.is_some() || self.jobs.has(&LOAD) || self.jobs.has(&OPEN) || self.jobs.has(&RECORD) || self.session.live.is_waiting()
    }

    /// Whether what the window went on with at its start is there, or could not be had.
    pub(in crate::app) fn has_begun(&self) -> bool {
        !self.jobs.has(&LOAD) && !self.jobs.has(&OPEN) && !self.session.live.is_waiting()
    }

    /// How many background tasks are under way, also short ones; without runs and asks.
    pub fn tasks(&self) -> usize {
        self.jobs.tasks()
    }
}
