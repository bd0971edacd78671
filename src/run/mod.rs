//! Runs: executes a [`RunSpec`] into a [`RunRecord`], directly ([`execute`], [`EnginePool`]) or on the worker
//! thread ([`Worker`]); or answers a live query over resident points ([`EnginePool::answer_live`],
//! [`LiveQueryWorker`]).

pub mod analysis;
pub mod answers;
mod batches;
mod chunks;
pub mod compare;
mod engines;
mod execute;
pub mod graph;
mod live_query;
mod machine;
pub mod planner;
pub mod presets;
mod problem;
mod radius;
mod record;
pub mod recording;
mod schema;
mod spec;
pub mod stats;
pub mod sweep;
#[cfg(test)]
pub(crate) mod testing;
mod tiles;
mod timeline;
pub mod verify;
mod worker;

use std::any::Any;

pub use batches::{
    AnswerBatch, Arithmetic, BatchAnswers, BatchError, BatchResult, BatchSearch, QueryBatches,
};
pub use engines::EnginePool;
pub use execute::execute;
pub use live_query::{LiveQuery, LiveQueryId, LiveQueryWorker, Reply};
pub use machine::Machine;
pub use problem::{LoadedSpec, ResidentPoints, build_problem, query_cloud_of};
pub use record::{
    CloudDescription, LoadedRun, MeasureMean, Phase, Run, RunFile, RunFileError, RunRecord, SCHEMA_VERSION,
    Sample, Summary,
};
pub use schema::SchemaVersion;
pub use spec::{DeclaredMetric, EngineChoice, QuerySpec, RunSpec, defaults};
pub use tiles::{TilePlan, TileStats, TiledAnswer, TiledSearch};
pub use timeline::{LaneTrack, PhaseSpan, PhaseTrack, Timeline, UnitKind, UnitTracks, WarpTime};
pub use worker::{Event, Job, JobId, Worker};

use crate::cloud::CloudError;
use crate::knn::{EngineError, ProblemError};

/// Callback with the current step and the fraction done (0 to 1); returns whether to continue.
pub type Stage<'a> = dyn FnMut(&str, f32) -> bool + 'a;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An error of the cloud or the queries.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A query's record does not exist.
    #[error("query row {record}: {why}")]
    Record {
        /// Number of the record in its file, 0-based.
        record: u64,
        /// Dropped, or beyond the end.
        why: String,
    },
    /// More queries are to be sampled than there are rows.
    #[error("cannot sample {count} queries: the cloud has only {rows} rows; use `all` for every row")]
    Count {
        /// Number of queries requested.
        count: u64,
        rows: usize,
    },
    /// The spec has a query file, but its cloud was not passed.
    #[error("the query file was not loaded: {path}")]
    QueriesNotLoaded {
        /// The query file, as the spec names it.
        path: String,
    },
    /// Nothing would be timed or answered.
    #[error("repeats = 0: must be at least 1")]
    NoRepeats,
    /// A bug in the program.
    #[error("the run failed unexpectedly: {what}; please report this as a bug")]
    Crashed {
        /// The panic's message, on one line.
        what: String,
    },
    /// The neighbours of a single query do not fit in memory.
    #[error(
        "k = {k}: the neighbours of one query need {needed} MiB of memory, but only {free} MiB is free; use \
         a smaller k (there are {n} points)"
    )]
    OneQuery {
        k: usize,
        n: usize,
        /// Required memory in MiB, rounded up.
        needed: u64,
        /// Free memory in MiB, rounded down.
        free: u64,
    },
    #[error("cancelled")]
    Cancelled,
}

impl RunError {
    /// The error for a caught panic.
    pub fn crashed(panic: &(dyn Any + Send)) -> Self {
        let text = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("a panic without a message");
        Self::Crashed { what: what.split_whitespace().collect::<Vec<_>>().join(" ") }
    }
}
