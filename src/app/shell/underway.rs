//! What is under way: what each task is about, beside the task itself.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use crate::app::features::selection::Change;
use crate::app::jobs::task::Task;
use crate::app::model::answer::Picked;
use crate::app::model::commands::picking::Purpose;
use crate::app::model::files::FileState;
use crate::app::model::live::{NOTICED, Target};
use crate::app::model::projection::{Projected, ProjectionKind, ProjectionView};
use crate::app::model::saved::SavedSession;
use crate::app::model::selection::Selection;
use crate::app::model::selection::facts::Facts;
use crate::app::model::views::{PaneKind, PlaneView, SpaceView};
use crate::cloud::{CloudError, Fingerprint, PointCloud};
use crate::run::recording::{Recording, RecordingError};

/// What has become of a file.
pub enum Found {
    /// It is what it was, and the system says this of it.
    Same(Option<FileState>),
    /// It is not, as the rest of a sentence.
    Other(&'static str),
    /// Nobody wanted to know.
    Cancelled,
}

/// A file that is looked at.
pub struct Checking {
    pub(super) path: PathBuf,
    pub(super) fingerprint: Fingerprint,
    pub(super) task: Task<Found>,
    pub(super) since: Instant,
}

impl Checking {
    /// Which file is read, and how far, once that takes long.
    pub fn activity(&self) -> Option<(String, Option<f32>)> {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned();
        (self.since.elapsed() >= NOTICED).then(|| (name, self.task.fraction()))
    }

    /// Asks it to stop.
    pub fn cancel(&self) {
        self.task.cancel();
    }
}

/// A recording that is being read.
pub struct Opening {
    /// Which.
    pub path: PathBuf,
    /// Which of its runs is to be shown.
    pub(super) run: Option<String>,
    /// When it began to be read.
    pub(super) began: SystemTime,
    /// What to show of it; else what it says itself, or its first run.
    pub(super) resume: Option<SavedSession>,
    /// How far it is.
    pub task: Task<Result<(Recording, Kept), RecordingError>>,
    /// What is to be opened after it.
    pub next: Vec<PathBuf>,
}

/// What a window wrote beside the runs, or why it cannot be picked up.
pub type Kept = Option<Result<SavedSession, String>>;

/// A search for what the pointer means.
pub struct Picking {
    pub(super) task: Task<Option<Picked>>,
    pub(super) purpose: Purpose,
    pub(super) pane: PaneKind,
}

/// A projection that is worked out.
pub struct Work {
    pub(super) view: ProjectionView,
    pub(super) queries: Option<Arc<PointCloud>>,
    pub(super) task: Task<Result<Projected, CloudError>>,
}

/// Projections that are worked out and kept.
#[derive(Default)]
pub struct Projecting {
    pub(super) work: Option<Work>,
    pub(super) kept: Vec<Arc<Projected>>,
    /// The axes that were shown before a projection was: of Plane, of Space.
    pub(super) axes: Option<([usize; 2], [usize; 3])>,
    /// Where Plane and Space are to look once what is chosen is shown, where that is known.
    pub(super) awaited: Option<(PlaneView, SpaceView)>,
}

impl Projecting {
    /// What goes on, and how far it is.
    pub fn activity(&self) -> Option<(String, Option<f32>)> {
        let work = self.work.as_ref()?;
        let what = match work.view.kind {
            ProjectionKind::Random => "Projecting on random directions",
            ProjectionKind::Axes | ProjectionKind::Pca => "Finding principal components",
        };
        Some((what.to_owned(), work.task.fraction()))
    }

    /// Asks what goes on to stop; true when there is something.
    pub fn cancel(&self) -> bool {
        if let Some(work) = &self.work {
            work.task.cancel();
        }
        self.work.is_some()
    }

    /// Lets go of what belongs to the cloud that was shown.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

/// A change that is worked out on a thread, and those that build on it.
pub struct Selecting {
    pub(super) task: Task<Option<(Selection, Facts)>>,
    /// Whether it only finds again what was selected: no step to undo.
    pub(super) quiet: bool,
    pub(super) waiting: VecDeque<Change>,
    pub(super) since: Instant,
}

impl Selecting {
    /// Whether it has gone on for so long that it should be said.
    pub fn is_slow(&self) -> bool {
        self.since.elapsed() >= NOTICED
    }
}

/// A search for the row that the query goes to.
pub struct Snapping {
    pub(super) task: Task<Option<u32>>,
    /// What is looked for after it.
    pub(super) next: Option<Target>,
    /// Whether the query is let go once it is there.
    pub(super) lets_go: bool,
}
