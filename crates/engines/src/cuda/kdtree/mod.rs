//! The engine `kdtree-threads` on an NVIDIA GPU: the tree of [`crate::kdtree_threads`], built on the host and searched on the
//! device.
//!
//! | file | holds |
//! |---|---|
//! | `interface.rs` | constants and structs shared by host and kernels |
//! | `search.rs` | the launches that search the tree |

mod interface;
mod search;

use super::Cuda;
use super::device::units::Unit;
use crate::kdtree_threads::KDTREE_THREADS;
use crate::knn::{Descriptor, DeviceId, DeviceInfo, Engine, EngineError, Parameters, Problem, Search};

/// The unit of the search.
const SEARCH: &str = "kdtree/search";

/// The engine `kdtree-threads` on a GPU.
pub struct CudaKdTree {
    cuda: Cuda,
}

impl CudaKdTree {
    /// Opens a given GPU.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], saying what is missing and how to get it.
    pub fn open_on(device: DeviceId) -> Result<Self, EngineError> {
        Ok(Self { cuda: Cuda::open_with(KDTREE_THREADS.id, device, Unit::new(SEARCH, 0, 2))? })
    }
}

impl Engine for CudaKdTree {
    fn descriptor(&self) -> &'static Descriptor {
        &KDTREE_THREADS
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
        Ok(Box::new(search::KdTreeSearch::new(&mut self.cuda, problem)?))
    }
}
