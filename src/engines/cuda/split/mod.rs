//! Few queries on an NVIDIA GPU: the engine `cuda-split`.
//!
//! The points are split over the whole chip, so that one query keeps it as busy as thousands do. A sample of the points
//! bounds each query's k-th distance; what lies within the bound is collected, and the k nearest of it are selected
//! (`cuda/split/split.cuh` says how). The neighbours are those of every other engine, to the bit; there is no warp that owns
//! a query and merges, so there is nothing to count.
//!
//! | file | holds |
//! |---|---|
//! | `interface.rs` | what the host and the kernels agree on |
//! | `plan.rs` | how a problem is cut to pieces |
//! | `search.rs` | device memory, launches |

mod interface;
mod plan;
mod search;

use super::Cuda;
use super::device::units::Unit;
use crate::knn::{DeviceInfo, Engine, EngineError, EngineKind, MAX_K, Problem, Search};

/// The engine.
pub struct CudaSplit {
    cuda: Cuda,
}

impl CudaSplit {
    /// Opens the device, as [`Cuda::open`].
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] with what is missing and how to get it.
    pub fn open() -> Result<Self, EngineError> {
        Ok(Self { cuda: Cuda::open_with(EngineKind::CudaSplit, unit(2))? })
    }
}

/// The kernels for 2, 3 or, as 0, any other number of dimensions.
fn unit(dims: u32) -> Unit {
    Unit::new("split/split", 0, dims)
}

impl Engine for CudaSplit {
    fn kind(&self) -> EngineKind {
        EngineKind::CudaSplit
    }

    fn device(&self) -> DeviceInfo {
        self.cuda.device()
    }

    fn load<'a>(&'a mut self, problem: &'a Problem, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        if problem.k() > MAX_K {
            return Err(EngineError::Limit { engine: EngineKind::CudaSplit, what: "k", limit: MAX_K as u64, value: problem.k() as u64 });
        }
        Ok(Box::new(search::SplitSearch::new(&mut self.cuda, problem)?))
    }
}
