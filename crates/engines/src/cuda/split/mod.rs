//! Few queries on an NVIDIA GPU: the engine `cuda-split`.
//!
//! The points are split over the whole GPU, so that one query keeps it as busy as thousands do. A sample of the points
//! bounds each query's k-th distance; points within the bound are collected, and the k nearest of them are selected
//! (described in `cuda/split/split.cuh`). The neighbours are bit-identical to every other engine's. No warp owns a query and
//! merges, so there are no counters.
//!
//! | file | holds |
//! |---|---|
//! | `cost.rs` | the cost model |
//! | `interface.rs` | constants and structs shared by host and kernels |
//! | `plan.rs` | how a problem is partitioned |
//! | `search.rs` | device memory and launches |

mod cost;
mod interface;
mod plan;
mod search;

use super::Cuda;
use super::device::units::Unit;
use crate::knn::{
    Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Keeps, Limits, Metric, Parameters, Place, Problem, Search,
    Shape, code, warp as rules,
};

/// The registry's row for `cuda-split`.
pub static SPLIT: Descriptor = Descriptor {
    id: EngineId::new("cuda-split"),
    group: Group::Exhaustive,
    about: "An NVIDIA GPU for few queries: the points are split over the whole chip; counts no merges.",
    source: "cuda/split/",
    code: code!["cuda/split/split.cuh", "cuda/split/window.cuh"],
    document: "docs/kernel.md",
    lesson: None,
    runs_on: &[DeviceKind::Gpu],
    keeps: &[
        Keeps::new(Place::Memory, "points, split over the GPU", "all queries", Shape::points),
        Keeps::new(Place::Memory, "points within the bound, in any order", "a query", |shape| 2 * shape.k),
    ],
    limits: Limits { k: rules::MAX_K, d: usize::MAX, n: u32::MAX as usize, metrics: &Metric::ALL },
    measures: &[],
    convergence: None,
    active_threads: None,
    phases: &[],
    parameters: &[],
    is_exhaustive: true,
    distances: |n, _, _| Some(n as f64),
    twin_of: None,
    cost: |shape, _| cost::cost(shape),
    traces: false,
    walk: None,
    within: None,
    inner_products: None,
    open: |device| Ok(Box::new(CudaSplit::open_on(device)?)),
};

pub struct CudaSplit {
    cuda: Cuda,
}

impl CudaSplit {
    /// Opens the first GPU, like [`Cuda::open`].
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], saying what is missing and how to get it.
    pub fn open() -> Result<Self, EngineError> {
        Self::open_on(DeviceKind::Gpu.first())
    }

    /// Opens a given GPU.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_on(device: DeviceId) -> Result<Self, EngineError> {
        Ok(Self { cuda: Cuda::open_with(SPLIT.id, device, unit(2))? })
    }
}

/// The unit for 2, 3 or, as 0, any other number of dimensions.
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

    fn is_lost(&self) -> bool {
        self.cuda.is_lost()
    }

    fn device(&self) -> DeviceInfo {
        self.cuda.device()
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, _parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        Ok(Box::new(search::SplitSearch::new(&mut self.cuda, problem)?))
    }
}
