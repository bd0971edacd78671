//! Spec to record.

use std::sync::Arc;

use super::{RunRecord, RunSpec};
use crate::cloud::{CloudError, PointCloud};
use crate::knn::{Engine, EngineError, ProblemError};

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The cloud or the queries.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// The problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// Runs a spec on an engine. `stage` hears what is being done and how far the whole is (0 to 1), and answers whether to
/// go on.
///
/// # Errors
/// See [`RunError`].
pub fn execute(
    _spec: &RunSpec,
    _cloud: &Arc<PointCloud>,
    _query_cloud: Option<&Arc<PointCloud>>,
    _engine: &mut dyn Engine,
    _stage: &mut dyn FnMut(&str, f32) -> bool,
) -> Result<RunRecord, RunError> {
    unimplemented!()
}
