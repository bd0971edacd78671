//! The direct kernel: a warp owns a few queries and computes every distance (`cuda/direct/`).
//!
//! | file | holds |
//! |---|---|
//! | `interface.rs` | constants and structs shared by host and kernel |
//! | `policy.rs` | which kernel answers a problem, and its tuning policy |
//! | `layout.rs` | the memory layout in which it streams its points |

mod interface;
mod layout;
mod policy;

use std::ops::Range;

use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut};
pub use interface::{Cut, GROUP_ROWS_ENTRY, Policy, Search, WARP_KNN_CUT, warp_knn_entry};
pub use layout::Layout;
pub use policy::Variant;

use super::device::memory::Memory;
use super::interface::TallyOut;

/// The kernel argument for a launch over a range of queries.
pub fn arguments(memory: &mut Memory, stream: &CudaStream, queries: &Range<usize>, tally: TallyOut) -> Search {
    Search {
        points: memory.points.floats.device_ptr(stream).0,
        queries: memory.queries.device_ptr(stream).0,
        n: memory.n as u32,
        d: memory.d as u32,
        k: memory.k as u32,
        first_query: queries.start as u32,
        last_query: queries.end as u32,
        indices: memory.indices.device_ptr_mut(stream).0,
        squared_distances: memory.squared_distances.device_ptr_mut(stream).0,
        tally,
    }
}
