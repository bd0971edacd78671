//! What goes on in the background, and how it ended.

use std::path::PathBuf;
use std::time::Duration;

use crate::run::JobId;

/// After so long an ask, or a selection, is worth a word in the status line.
pub const NOTICED: Duration = Duration::from_millis(300);

/// What the background does.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Activity {
    #[default]
    Idle,
    /// A cloud is read from a file or generated.
    Loading {
        /// A file's name or a generator's spec.
        what: String,
        /// 0 to 1, when it is known.
        fraction: Option<f32>,
    },
    Recording {
        /// What the status line names: "lesson 3".
        what: String,
        /// 0 to 1, when it is known.
        fraction: Option<f32>,
    },
    /// What a view shows is worked out: a projection, or a column of the file that colours points.
    Preparing {
        /// As the status line shows it: "Reading column label".
        what: String,
        fraction: Option<f32>,
    },
    /// A file is read again, to see whether it has changed.
    Checking {
        what: String,
        fraction: Option<f32>,
    },
    Exporting {
        path: PathBuf,
        fraction: Option<f32>,
    },
    Running {
        /// As the worker says it.
        stage: String,
        /// Fraction done, 0 to 1.
        fraction: f32,
    },
    /// The picked query is answered, which takes a while.
    Asking,
    /// Points are selected, which takes a while.
    Selecting,
}

impl Activity {
    /// Whether something is going on, which Cancel stops.
    pub fn is_busy(&self) -> bool {
        !matches!(self, Self::Idle)
    }
}

/// A job that the worker has.
#[derive(Clone, Debug)]
pub struct Running {
    pub id: JobId,
    pub stage: String,
    pub fraction: f32,
}

/// Why nothing came of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Cancelled,
    /// It failed: a sentence.
    Failed(String),
}

/// How the last load, the last run and the last ask ended, where nothing came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// Of a file or a generator.
    pub load: Option<Ended>,
    /// Of the problem on the left.
    pub run: Option<Ended>,
    /// Of the picked query.
    pub ask: Option<Ended>,
}
