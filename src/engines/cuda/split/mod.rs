//! Few queries on an NVIDIA GPU: the engine `cuda-split`.
//!
//! The points are split over the whole chip, so that one query keeps it as busy as thousands do. A sample of the points
//! bounds each query's k-th distance; what lies within the bound is collected, and the k nearest of it are selected
//! (`cuda/split/split.cuh` says how). The neighbours are those of every other engine, to the bit; there is no warp that owns
//! a query and merges, so there is nothing to count.
//!
//! | file | holds |
//! |---|---|
//! | `cost.rs` | what it predicts its work to cost |
//! | `interface.rs` | what the host and the kernels agree on |
//! | `plan.rs` | how a problem is cut to pieces |
//! | `search.rs` | device memory, launches |

mod cost;
mod interface;
mod plan;
mod search;

use super::Cuda;
use super::device::units::Unit;
use crate::knn::{
    Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Limits, Metric, Parameters, Problem, Search, warp as rules,
};

/// The row of the registry.
pub static SPLIT: Descriptor = Descriptor {
    id: EngineId::new("cuda-split"),
    group: Group::Exhaustive,
    about: "An NVIDIA GPU for few queries: the points are split over the whole chip; counts no merges.",
    source: "cuda/split/",
    runs_on: &[DeviceKind::Gpu],
    limits: Limits { k: rules::MAX_K, d: usize::MAX, n: u32::MAX as usize, metrics: &[Metric::L2, Metric::Angular] },
    measures: &[],
    convergence: None,
    phases: &[],
    parameters: &[],
    is_exhaustive: true,
    twin_of: None,
    cost: cost::cost,
    traces: false,
    open: |device| Ok(Box::new(CudaSplit::open_on(device)?)),
};

/// The engine.
pub struct CudaSplit {
    cuda: Cuda,
}

impl CudaSplit {
    /// Opens the first GPU, as [`Cuda::open`].
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] with what is missing and how to get it.
    pub fn open() -> Result<Self, EngineError> {
        Self::open_on(DeviceKind::Gpu.first())
    }

    /// The same on a GPU of the caller's choice.
    ///
    /// # Errors
    /// As [`Self::open`]'s.
    pub fn open_on(device: DeviceId) -> Result<Self, EngineError> {
        Ok(Self { cuda: Cuda::open_with(SPLIT.id, device, unit(2))? })
    }
}

/// The kernels for 2, 3 or, as 0, any other number of dimensions.
fn unit(dims: u32) -> Unit {
    Unit::new("split/split", 0, dims)
}

impl Engine for CudaSplit {
    fn descriptor(&self) -> &'static Descriptor {
        &SPLIT
    }

    fn device_id(&self) -> DeviceId {
        self.cuda.device_id
    }

    fn device(&self) -> DeviceInfo {
        self.cuda.device()
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, _parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        Ok(Box::new(search::SplitSearch::new(&mut self.cuda, problem)?))
    }
}
