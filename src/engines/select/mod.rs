//! k-selection of the literature, side by side (Hanák 2023): each finds the k smallest of a row of distances, which is computed before.
//!
//! The CPU's side; functions are named like their counterparts in `cuda/`, or their documentation says "No namesake" and why.
//!
//! | here | there |
//! |---|---|
//! | `bitonic.rs` | `cuda/block/bitonic.cuh` |
//! | `sample.rs` | `cuda/select/sample.cuh` |
//! | `bits.rs` | `cuda/select/bits.cuh` |
//! | `network.rs` | `cuda/warp/network.cuh` |
//! | `multi_pass.rs` | `cuda/select/multi_pass.cuh` |
//! | `radix_select.rs` | `cuda/select/radix_select.cuh` |
//! | `sample_select.rs` | `cuda/select/sample_select.cuh` |
//! | `sort.rs` | `cuda/select/sort.cuh` |
//! | `warp_select.rs` | `cuda/select/warp_select.cuh` |
//!
//! Of the host alone: `engine.rs`, the engines on the CPU and their rows in the registry; `cost.rs`, their cost model; `observer.rs`, with which lessons
//! record a selector.
//!
//! A selector is a [`Selector`], made of a problem's sizes and of parameters, and a row in `engine.rs`.

mod bitonic;
pub mod bits;
mod cost;
mod engine;
pub mod multi_pass;
mod network;
mod observer;
pub mod radix_select;
mod sample;
pub mod sample_select;
pub mod sort;
pub mod warp_select;

pub use engine::{BITS, BLOCK_SELECT, Kind, RADIX_SELECT, SAMPLE_SELECT, SORT, WARP_SELECT};
pub use observer::{Observer, PassObserver};
pub use sample::{MOST_MINIMA, Sample};

use super::lockstep::Key;
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
