//! The engines `step` and `step-exhaustive` on an NVIDIA GPU: those of [`crate::step`], with clusters found
//! by k-means on the device, bounded on the host, and searched on the device.
//!
//! | file | holds |
//! |---|---|
//! | `cluster.rs` | clusters in device memory, and the launches of k-means |
//! | `search.rs` | the launches that answer queries |
//! | `share.rs` | the launches that answer few queries, each by several warps |

mod cluster;
mod search;
mod share;

use super::device::units::Unit;
use super::search::open;
use crate::Result;
use crate::knn::{Descriptor, DeviceId, Engine};
use crate::step::Plan;

const CLUSTER: &str = "step/cluster";

/// The unit of the steps before clusters are visited.
const ORDER: &str = "step/order";

/// The unit of the visit by several warps per query.
const SHARE: &str = "step/share";

const VISIT: &str = "step/visit";

/// Opens a given GPU for one of the two engines.
///
/// # Errors
/// `EngineError::Unavailable`, which says what is missing and how to get it.
pub fn open_step(device: DeviceId, descriptor: &'static Descriptor) -> Result<Box<dyn Engine>> {
    open(descriptor, device, Unit::new(ORDER, 0, 0), move |cuda, problem, parameters| {
        let plan = Plan::new(problem, parameters, descriptor.is_exhaustive);
        Ok(Box::new(search::load(cuda, descriptor, problem, plan)?))
    })
}
