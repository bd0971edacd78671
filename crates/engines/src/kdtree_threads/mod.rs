//! A k-d tree searched by a thread a query, as the first k-d trees on GPUs were: what a warp loses where its lanes diverge (Wang and Ino
//! 2025, §6.5). The baseline of the other indexes, which give a query a warp.
//!
//! The CPU's side; functions are named like their counterparts in `cuda/kdtree/`, or their documentation says "No namesake" and why.
//!
//! | here | there |
//! |---|---|
//! | `heap.rs` | `cuda/kdtree/heap.cuh` |
//! | `traverse.rs` | `cuda/kdtree/traverse.cuh` |
//!
//! Of the host alone, for both devices: `tree.rs`, the tree; `engine.rs`, the engine on the CPU; `cost.rs`, its cost model.
//!
//! **No neighbour is missed.** Let s be the coordinate of a node along its axis j, and p a point on the other side of it than the query q:
//! then |p_j − q_j| ≥ |s − q_j|. Rounding is monotone, so this holds of the differences in f32 and of their squares; all that the sum of
//! a squared distance adds to them is not negative, and fma is monotone in each argument. Hence the distance of p, as the problem defines
//! it, is at least the rounded square of s − q_j: a side is left out only if that is greater than the k-th distance.

mod cost;
mod engine;
pub(super) mod heap;
mod traverse;
mod tree;

pub use engine::{KDTREE_THREADS, MEASURES, MOST_DIMS};
pub(super) use heap::Heap;
pub use traverse::Visits;
pub use tree::Tree;
