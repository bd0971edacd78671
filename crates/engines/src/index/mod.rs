//! Engines that prune: an index over the points shows that most of them cannot be neighbours.
//!
//! This is the CPU's side. A function has the name of its counterpart in `cuda/index/`, or its documentation
//! says "No CUDA counterpart" and why.
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
//! Files without twins: `bvh.rs`, the engine on the CPU, which also finds all points within a radius;
//! `cost.rs`, its cost model; `observer.rs`, through which a search is recorded; and `walk.rs`, which records
//! a search with its boxes and counts what another order of visiting would cost. [`docs/index.md`] describes
//! the tree and proves that no neighbour is missed.
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
pub use bvh::{BVH, MAX_POINTS, MEASURES, asks_for_packets, why_no_packets};
pub use morton::{BitRange, MortonGrid, SortPrecision, is_crowded};
pub use nearest::NearestWarp;
pub(crate) use nearest::lanes_before;
pub use observer::{NoTrace, Observer};
pub use packet::{WORTH_PACKING, are_neighbours, packet_length};
pub use traverse::{Visits, observe};
pub use tree::{HEIGHTS, Tree};
pub use walk::visits_in_order;
