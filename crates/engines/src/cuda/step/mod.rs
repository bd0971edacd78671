//! The engines `step` and `step-exhaustive` on an NVIDIA GPU: those of [`crate::step`], with clusters found by k-means on the
//! device, bounded on the host, and searched on the device.
//!
//! | file | holds |
//! |---|---|
//! | `cluster.rs` | clusters in device memory, and the launches of k-means |
//! | `interface.rs` | constants and structs shared by host and kernels |
//! | `search.rs` | the launches that answer queries |
//! | `share.rs` | those that answer few queries, each by several warps |

mod cluster;
mod interface;
mod search;
mod share;

use super::Cuda;
use super::device::units::Unit;
use crate::knn::{Descriptor, DeviceId, DeviceInfo, Engine, EngineError, Parameters, Problem, Search};
use crate::step::Plan;

/// The unit of clustering.
const CLUSTER: &str = "step/cluster";

/// The unit of what comes before clusters are visited.
const ORDER: &str = "step/order";

/// The unit of the visit by several warps a query.
const SHARE: &str = "step/share";

/// The unit of the visit.
const VISIT: &str = "step/visit";

/// One of the two engines on a GPU.
pub struct CudaStep {
    cuda: Cuda,
    descriptor: &'static Descriptor,
}

impl CudaStep {
    /// Opens a given GPU for the engine of this descriptor.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], saying what is missing and how to get it.
    pub fn open_on(device: DeviceId, descriptor: &'static Descriptor) -> Result<Self, EngineError> {
        Ok(Self { cuda: Cuda::open_with(descriptor.id, device, Unit::new(ORDER, 0, 0))?, descriptor })
    }
}

impl Engine for CudaStep {
    fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
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

    fn prepare<'a>(&'a mut self, problem: &'a Problem, parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let plan = Plan::new(problem, parameters, self.descriptor.is_exhaustive);
        Ok(Box::new(search::StepSearch::new(&mut self.cuda, self.descriptor, problem, plan)?))
    }
}
