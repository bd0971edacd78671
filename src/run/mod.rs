//! Runs: a [`RunSpec`] executed into a [`RunRecord`], in place ([`execute`], [`Engines`]) or on the worker
//! thread ([`Worker`]); or one query answered at once, over points that stay where they are
//! ([`Engines::ask`], [`Asker`]).

pub mod analysis;
pub mod answers;
mod ask;
mod batches;
mod chunks;
pub mod compare;
mod engines;
mod execute;
pub mod graph;
mod machine;
pub mod planner;
pub mod presets;
mod problem;
mod record;
pub mod recording;
mod spec;
pub mod stats;
pub mod sweep;
#[cfg(test)]
pub(crate) mod testing;
mod timeline;
pub mod verify;
mod worker;

use std::any::Any;

pub use ask::{Ask, AskId, Asker, Reply};
pub use batches::{Batch, BatchError, Batches, Found, QueryBatches};
pub use engines::Engines;
pub use execute::execute;
pub use machine::Machine;
pub use problem::{Resident, build_problem, query_cloud_of};
pub use record::{
    CloudFile, MeasureMean, Phase, Run, RunFile, RunFileError, RunRecord, SCHEMA_VERSION, Sample, SomeRun,
    Summary,
};
pub use spec::{Declared, EngineChoice, QuerySpec, RunSpec, usual};
pub use timeline::{Multiprocessor, PhaseSpan, PhaseTrack, Place, Timeline, WarpTime};
pub use worker::{Event, Job, JobId, Worker};

use crate::cloud::CloudError;
use crate::knn::{EngineError, ProblemError};

/// Hears what is being done and how far the whole is (0 to 1), and answers whether to go on.
pub type Stage<'a> = dyn FnMut(&str, f32) -> bool + 'a;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The cloud or the queries.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A query names a record that is not there.
    #[error("query row {record}: {why}")]
    Record {
        /// Number of the record in its file, 0-based.
        record: u64,
        /// Dropped, or beyond the end.
        why: String,
    },
    /// More queries are to be drawn than there are rows.
    #[error("{count} queries: the cloud has {rows} rows to draw them from; `all` takes every row")]
    Count {
        /// Queries that were asked for.
        count: u64,
        rows: usize,
    },
    /// The spec names a query file, and its cloud was not handed in.
    #[error("the query file was not loaded: {path}")]
    QueriesNotLoaded {
        /// The query file, as the spec names it.
        path: String,
    },
    /// Nothing would be timed, and nothing answered.
    #[error("repeats = 0: a run has at least one timed repeat")]
    NoRepeats,
    /// The program is at fault.
    #[error("the run failed unexpectedly: {what}; please report this as a bug")]
    Crashed {
        /// The panic's message, on one line.
        what: String,
    },
    /// The neighbours of a single query do not fit into memory.
    #[error(
        "k = {k}: the neighbours of one query need {needed} MiB of memory, where {free} MiB are free: use a \
         smaller k; there are {n} points"
    )]
    OneQuery {
        k: usize,
        n: usize,
        /// Memory that they need, in MiB, rounded up.
        needed: u64,
        /// Free memory in MiB, rounded down.
        free: u64,
    },
    #[error("cancelled")]
    Cancelled,
}

impl RunError {
    /// The error that a caught panic is.
    pub fn crashed(panic: &(dyn Any + Send)) -> Self {
        let text = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("a panic without a message");
        Self::Crashed { what: what.split_whitespace().collect::<Vec<_>>().join(" ") }
    }
}
