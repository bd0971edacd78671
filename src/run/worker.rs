//! The thread that owns the engines.
//!
//! Two bounded channels: the window sends [`Job`]s and polls [`Event`]s. The worker calls `wake` after each event.

use std::sync::Arc;

use super::{RunError, RunRecord, RunSpec};
use crate::cloud::PointCloud;

/// Names a job; later jobs have larger numbers.
pub type JobId = u64;

/// A run to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name.
    pub id: JobId,
    /// What to run.
    pub spec: RunSpec,
    /// The spec's cloud, loaded.
    pub cloud: Arc<PointCloud>,
    /// The spec's query file, loaded, if it names one.
    pub query_cloud: Option<Arc<PointCloud>>,
}

/// What the worker says.
#[derive(Debug)]
pub enum Event {
    /// Work goes on.
    Progress {
        /// Whose.
        id: JobId,
        /// What it is at, for the status line: "uploading", "repeat 3 of 10", …
        stage: String,
        /// 0 to 1 over the whole job.
        fraction: f32,
    },
    /// It is done.
    Finished {
        /// Whose.
        id: JobId,
        /// All of it.
        record: Arc<RunRecord>,
    },
    /// It is not, and why ([`RunError::Cancelled`] when that was asked).
    Failed {
        /// Whose.
        id: JobId,
        /// Why.
        error: RunError,
    },
}

/// The worker thread's handle: dropped, it cancels what runs and joins.
pub struct Worker {}

impl Worker {
    /// Starts the thread. `wake` is called after every event.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn spawn(_wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        unimplemented!()
    }

    /// Cancels what runs or waits, and starts this instead.
    pub fn submit(&self, _job: Job) {
        unimplemented!()
    }

    /// Asks the running job to stop; [`Event::Failed`] with [`RunError::Cancelled`] follows.
    pub fn cancel(&self) {
        unimplemented!()
    }

    /// The next event, if there is one; never waits.
    pub fn try_recv(&self) -> Option<Event> {
        unimplemented!()
    }
}
