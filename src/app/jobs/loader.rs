//! Reading and generating on a thread of its own, with progress and cancel.

use std::sync::Arc;

use crate::app::jobs::task::Task;
use crate::app::model::files::FileState;
use crate::cloud::{CloudError, PointCloud, Source, load, load_queries};

/// What to load.
#[derive(Clone, Debug)]
pub struct LoadJob {
    /// From where.
    pub source: Source,
    /// Whether rows with NaN or ±∞ are left out.
    pub drop_nonfinite: bool,
    /// For a file of queries: the data in whose frame they are.
    pub data: Option<Arc<PointCloud>>,
}

/// How a load ended. Cancelled, it is [`CloudError::Cancelled`].
pub type Loaded = Result<Arc<PointCloud>, CloudError>;

/// A load in progress. Dropped, it is cancelled, and its result is lost.
pub struct Loading {
    /// What was asked.
    pub job: LoadJob,
    /// How far it is. It gives what the source's file was before it was read, too.
    pub task: Task<(Loaded, Option<FileState>)>,
}

impl Loading {
    /// Starts. `wake` is called when there is something to see.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(job: LoadJob, wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        let asked = job.clone();
        let task = Task::start("load", wake, move |progress| {
            // Whoever changes the file meanwhile has changed what was read.
            let file = FileState::of(&asked.source);
            let loaded = match &asked.data {
                None => load(&asked.source, asked.drop_nonfinite, progress),
                Some(data) => load_queries(&asked.source, data, asked.drop_nonfinite, progress),
            };
            (loaded.map(Arc::new), file)
        })?;
        Ok(Self { job, task })
    }
}
