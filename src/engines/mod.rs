//! What answers a problem: each engine implements [`crate::knn::Engine`].

pub mod cuda;
mod host_memory;
pub mod kdtree;
pub mod lockstep;

use crate::knn::{Engine, EngineError, EngineKind};

/// Opens an engine: loads its driver and library, finds its device.
///
/// # Errors
/// [`EngineError::Unavailable`], with what is missing and how to get it.
pub fn open(kind: EngineKind) -> Result<Box<dyn Engine>, EngineError> {
    match kind {
        EngineKind::Lockstep => Ok(Box::new(lockstep::Lockstep::new())),
        EngineKind::Cuda => Ok(Box::new(cuda::Cuda::open()?)),
        EngineKind::CudaSplit => Ok(Box::new(cuda::CudaSplit::open()?)),
        EngineKind::KdTree => Ok(Box::new(kdtree::KdTree::new())),
    }
}

/// Opens the best engine that has counters: `cuda` where it can run, else `lockstep`. The second value says why it is
/// not `cuda`.
pub fn open_best() -> (Box<dyn Engine>, Option<String>) {
    match open(EngineKind::Cuda) {
        Ok(cuda) => (cuda, None),
        Err(error) => (Box::new(lockstep::Lockstep::new()), Some(error.to_string())),
    }
}
