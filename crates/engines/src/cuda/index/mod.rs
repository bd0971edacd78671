//! The engine `bvh` on an NVIDIA GPU: the tree of [`crate::index`], built and searched on the device.
//!
//! | file | holds |
//! |---|---|
//! | `grow.rs` | the tree in device memory, and the launches that build it |
//! | `interface.rs` | constants and structs shared by host and kernels |
//! | `search.rs` | the launches that search it |
//! | `sort.rs` | the radix sort of points, and of queries, by their Morton codes |
//! | `trace.rs` | the launch that writes down what a search does |

mod grow;
mod interface;
mod search;
mod sort;
mod trace;

pub use interface::tree_event;
pub(super) use interface::{Pass, SORT_BITS, SORT_ITEMS, SORT_PASSES, SORT_THREADS};
pub(super) use search::BvhSearch;

use super::Cuda;
use super::device::units::Unit;
use crate::index::{self, BVH};
use crate::knn::{Descriptor, DeviceId, DeviceInfo, Engine, EngineError, Parameters, Problem, Search};

/// The unit of the steps that build a tree.
const BUILD: &str = "index/build";

/// The unit of the search by packets.
const PACKET: &str = "index/packet";

/// The unit of the search.
const TRAVERSE: &str = "index/traverse";

/// The engine `bvh` on a GPU.
pub struct CudaBvh {
    cuda: Cuda,
}

impl CudaBvh {
    /// Opens a given GPU.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], saying what is missing and how to get it.
    pub fn open_on(device: DeviceId) -> Result<Self, EngineError> {
        Ok(Self { cuda: Cuda::open_with(BVH.id, device, Unit::new(BUILD, 0, 0))? })
    }
}

impl Engine for CudaBvh {
    fn descriptor(&self) -> &'static Descriptor {
        &BVH
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
        Ok(Box::new(BvhSearch::new(&mut self.cuda, problem, index::asks_for_packets(parameters))?))
    }
}
