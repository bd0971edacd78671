//! The engine `bvh` on an NVIDIA GPU: the tree of [`crate::index`], built and searched on the device.
//!
//! | file | holds |
//! |---|---|
//! | `grow.rs` | the tree in device memory, the launches that build it, and the sort by Morton codes |
//! | `search.rs` | the launches that search it, timed, counted or traced |

mod grow;
mod search;

pub(super) use search::load;

use super::device::units::Unit;
use super::search::open;
use crate::Result;
use crate::index::{self, BVH};
use crate::knn::{DeviceId, Engine};

const BUILD: &str = "index/build";

const PACKET: &str = "index/packet";

const TRAVERSE: &str = "index/traverse";

/// Opens a given GPU for the engine.
///
/// # Errors
/// `EngineError::Unavailable`, which says what is missing and how to get it.
pub fn open_bvh(device: DeviceId) -> Result<Box<dyn Engine>> {
    open(&BVH, device, Unit::new(BUILD, 0, 0), |cuda, problem, parameters| {
        Ok(Box::new(load(cuda, problem, index::asks_for_packets(parameters))?))
    })
}
