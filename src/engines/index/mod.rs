//! Engines that leave points out: an index over the points says of most of them that they cannot be neighbours.
//!
//! The CPU's side; functions are named like their counterparts in `cuda/index/`, or their documentation says "No namesake" and why.
//!
//! | here | there |
//! |---|---|
//! | `morton.rs` | `cuda/index/morton.cuh` |
//! | `boxes.rs` | `cuda/index/boxes.cuh` |
//! | `tree.rs` | `cuda/index/tree.cuh` |
//! | `nearest.rs` | `cuda/index/nearest.cuh` |
//! | `traverse.rs` | `cuda/index/traverse.cuh` |
//!
//! `bvh.rs`, the engine on the CPU, and `cost.rs`, its cost model, have no twins. [`docs/index.md`] describes the tree and proves
//! that no neighbour is left out.
//!
//! [`docs/index.md`]: https://github.com/warpscope/warpscope/blob/main/docs/index.md

mod boxes;
mod bvh;
mod cost;
mod morton;
mod nearest;
mod traverse;
mod tree;

pub use boxes::WARP;
pub(in crate::engines) use boxes::lane_keys;
pub use bvh::{BVH, Bvh, MEASURES};
pub use morton::Frame;
pub(in crate::engines) use nearest::lanes_before;
pub use traverse::Visits;
pub use tree::HEIGHTS;
