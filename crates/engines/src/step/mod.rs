//! STEP: sort clusters of points for each query, traverse the nearest, then prune the rest (Wang and Ino
//! 2025).
//!
//! This is the CPU's side. A function has the name of its counterpart in `cuda/step/`, or its documentation
//! says "No CUDA counterpart" and why.
//!
//! | here | there |
//! |---|---|
//! | `kmeans.rs` | `cuda/step/kmeans.cuh` |
//! | `bounds.rs` | `cuda/step/bounds.cuh` |
//! | `queue.rs` | `cuda/step/queue.cuh` |
//! | `traverse.rs` | `cuda/step/traverse.cuh` |
//! | `exhaustive.rs` | `cuda/step/exhaustive.cuh` |
//!
//! Host only, for both devices: `spheres.rs`, bounding spheres by three methods; `clusters.rs`, points stored
//! cluster by cluster; `engine.rs`, the engines on the CPU and the resolution of parameters; `cost.rs`, their
//! cost model; `walk.rs`, which records a search with its spheres.
//!
//! [`docs/step.md`] describes the published algorithm and the differences here, and proves that no neighbour
//! is missed.
//!
//! [`docs/step.md`]: https://github.com/warpscope/warpscope/blob/main/docs/step.md

mod bounds;
mod clusters;
mod cost;
mod engine;
mod exhaustive;
mod kmeans;
mod queue;
mod spheres;
#[cfg(test)]
mod tests;
mod traverse;
mod walk;

pub use clusters::{ClusterParameters, Clusters};
pub use engine::{MEASURES, Plan, STEP, STEP_EXHAUSTIVE};
pub use exhaustive::groups_in_cluster;
pub use kmeans::{BLOCK, Quantizer, first_seed};
pub use queue::CANDIDATES;
pub use traverse::Visits;
