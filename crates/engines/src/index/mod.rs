//! Engines that leave points out: an index over the points says of most of them that they cannot be
//! neighbours.
//!
//! The CPU's side; functions are named like their counterparts in `cuda/index/`, or their documentation says
//! "No namesake" and why.
//!
//! | here | there |
//! |---|---|
//! | `morton.rs` | `cuda/index/morton.cuh` |
//! | `boxes.rs` | `cuda/index/boxes.cuh` |
//! | `tree.rs` | `cuda/index/tree.cuh` |
//! | `lane.rs` | `cuda/lane.cuh` |
//! | `nearest.rs` | `cuda/index/nearest.cuh` |
//! | `packet.rs` | `cuda/index/packet.cuh` |
//! | `traverse.rs` | `cuda/index/traverse.cuh` |
//!
//! `bvh.rs`, the engine on the CPU, which also lists all points within a distance, `cost.rs`, its cost model,
//! `observer.rs`, with which a search is recorded, and `walk.rs`, which records it with its boxes and counts
//! what another order of visiting would cost, have no twins. [`docs/index.md`] describes the tree and proves
//! that no neighbour is left out.
//!
//! [`docs/index.md`]: https://github.com/warpscope/warpscope/blob/main/docs/index.md

mod boxes;
mod bvh;
mod cost;
mod lane;
mod morton;
mod nearest;
mod observer;
mod packet;
mod traverse;
mod tree;
mod walk;

pub(crate) use boxes::lane_keys;
pub use boxes::{Boxes, WARP};
pub use bvh::{BVH, MEASURES, MOST_POINTS, asks_for_packets, why_no_packets};
pub use morton::{Depth, Frame, Part, is_crowded};
pub use nearest::Nearest;
pub(crate) use nearest::lanes_before;
pub use observer::{Observer, Unwatched};
pub use packet::{WORTH_PACKING, are_neighbours, packet_length};
pub use traverse::{Visits, watch};
pub use tree::{HEIGHTS, Tree};
pub use walk::visits_in_order;
