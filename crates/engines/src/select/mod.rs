//! k-selection of the literature, side by side (Hanák 2023): each finds the k smallest of a row of distances, which is computed before or, in
//! `bits-fused`, on the way.
//!
//! The CPU's side; functions are named like their counterparts in `cuda/`, or their documentation says "No namesake" and why.
//!
//! | here | there |
//! |---|---|
//! | `bitonic.rs` | `cuda/block/bitonic.cuh` |
//! | `expanded.rs` | `cuda/select/expanded.cuh` |
//! | `sample.rs` | `cuda/select/sample.cuh` |
//! | `bits.rs` | `cuda/select/bits.cuh` |
//! | `bits_fused.rs` | `cuda/select/bits_fused.cuh` |
//! | `bits_global.rs` | `cuda/select/bits_global.cuh` |
//! | `network.rs` | `cuda/warp/network.cuh` |
//! | `runs.rs` | `cuda/warp/runs.cuh` |
//! | `merge_queue.rs` | `cuda/select/merge_queue.cuh` |
//! | `thread_heap.rs` | `cuda/select/thread_heap.cuh` |
//! | `multi_pass.rs` | `cuda/select/multi_pass.cuh` |
//! | `radix_select.rs` | `cuda/select/radix_select.cuh` |
//! | `sample_select.rs` | `cuda/select/sample_select.cuh` |
//! | `sort.rs` | `cuda/select/sort.cuh` |
//! | `warp_select.rs` | `cuda/select/warp_select.cuh` |
//! | `shared_bitonic.rs` | `cuda/block/shared_bitonic.cuh` |
//! | `partial_bitonic.rs` | `cuda/select/partial_bitonic.cuh` |
//! | `merge_path.rs` | `cuda/select/merge_path.cuh` |
//!
//! Of the host alone: `engine.rs`, the engines on the CPU and their rows in the registry; `distances.rs`, the engine that times the distances
//! alone; `cost.rs`, their cost model; `observer.rs`, with which lessons record a selector.
//!
//! A selector is a [`Selector`], made of a problem's sizes and of parameters, and a row in `engine.rs`; one that computes the distances itself is
//! [`FromPoints`], as every selector is with a row of distances before it.

mod bitonic;
pub mod bits;
pub mod bits_fused;
pub mod bits_global;
mod cost;
pub mod distances;
mod engine;
mod expanded;
pub mod merge_path;
pub mod merge_queue;
pub mod multi_pass;
mod network;
mod observer;
pub mod partial_bitonic;
pub mod radix_select;
mod runs;
mod sample;
pub mod sample_select;
mod shared_bitonic;
pub mod sort;
pub mod thread_heap;
pub mod warp_select;

pub use engine::{
    BITS, BITS_FUSED, BITS_GLOBAL, BLOCK_SELECT, DISTANCES_ALONE, Kind, MERGE_PATH, MERGE_QUEUE, PARTIAL_BITONIC, RADIX_SELECT, SAMPLE_SELECT, SORT,
    THREAD_HEAP, WARP_SELECT,
};
pub use observer::{HeapObserver, Observer, PassObserver};
pub use sample::{MOST_MINIMA, Sample};

use super::lockstep::Key;
use super::lockstep::distance::GroupedPoints;
use crate::knn::{Parameter, Parameters, Values};

/// Numbers that a selector may count of a query.
pub const COUNTS: usize = 8;

/// What a selector counts of a query: as many as its engine has measures, in their order.
pub type Counts = [u32; COUNTS];

/// How a GPU computes the matrix of distances.
pub(super) const DISTANCES: Parameter = Parameter {
    name: "distances",
    help: "How a GPU computes distances: a thread a point, by tiles in shared memory, or by tiles in registers; on a CPU it changes nothing.",
    values: Values::Words(&["registers", "tiles", "naive"]),
    default: "registers",
};

/// What is timed.
pub(super) const TIMED: Parameter = Parameter {
    name: "timed",
    help: "What a GPU's search time is of: the distances and the selection, or the selection alone; on a CPU it changes nothing.",
    values: Values::Words(&["all", "selection"]),
    default: "all",
};

/// What the parameters that every selector has resolve to.
pub fn shared(parameters: &Parameters) -> [(&'static str, String); 2] {
    [(DISTANCES.name, "registers"), (TIMED.name, "all")].map(|(name, default)| (name, parameters.get(name).unwrap_or(default).to_owned()))
}

/// Finds the k smallest of a row of squared distances by (distance, position).
pub trait Selector: Send + Sync {
    /// `found` becomes k keys, ascending; where the row is shorter, padding follows.
    fn select(&self, row: &[f32], found: &mut Vec<Key>) -> Counts;

    /// What its parameters resolved to.
    fn parameters(&self) -> Parameters;

    /// Bytes of host memory that it takes for a row of n distances, beside those.
    fn row_bytes(&self, _n: usize) -> usize {
        0
    }
}

/// Finds the k nearest points of queries: a source of distances with a selector.
pub trait FromPoints: Send + Sync {
    /// Queries that are answered together, and of which the counts of each depend on the others.
    fn together(&self) -> usize;

    /// Bytes of host memory that a thread takes for n points.
    fn bytes_of_thread(&self, n: usize) -> usize;

    /// Answers as many queries as are answered together, or fewer where they end; `put` takes k keys of each, and what was counted.
    fn answer(&self, points: &GroupedPoints<{ network::WARP }>, queries: &[&[f32]], put: &mut dyn FnMut(&[Key], Counts));

    /// What its parameters resolved to.
    fn resolved(&self) -> Parameters;
}
