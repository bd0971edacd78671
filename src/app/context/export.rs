//! The one background task that several features share: a file is written, with progress and cancel.

use std::path::PathBuf;

use crate::app::context::app::App;
use crate::app::features::export::state::ExportDialog;
use crate::app::features::runs::state::list::RunId;
use crate::app::jobs::table::{AtExit, Kind, Slot};
use crate::app::model::{Activity, SessionFile};

/// What is written with progress and cancel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A file of a lesson. It can be had again, and may take minutes.
    Lesson,
    /// The graph of all rows' neighbours. So can this.
    Graph,
    /// Runs, without what the window shows of them.
    Recording,
    /// A session, into which the next save goes once this one is there.
    Session(SessionFile),
}

/// A file that is written.
pub struct Exporting {
    pub what: Written,
    pub path: PathBuf,
    /// The runs of the list that go into it.
    pub runs: Vec<RunId>,
    /// What was asked for, where a dialog asked.
    pub dialog: Option<Box<ExportDialog>>,
}

/// What is said of a file that was written, and then what is missing in it; or why it was not written, and whether that was cancelled.
pub type Exported = (Result<Vec<String>, String>, bool);

/// Writes files in the background; one export at a time.
pub static EXPORT: Kind<App, Exporting, Exported> = Kind {
    purpose: |exporting, fraction| Some(Activity::Exporting { path: exporting.path.clone(), fraction }),
    at_exit: |exporting| match exporting.what {
        Written::Lesson | Written::Graph => AtExit::Stop,
        Written::Recording | Written::Session(_) => AtExit::Finish,
    },
    ..Kind::new(Slot::Export, "export", App::exported)
};
