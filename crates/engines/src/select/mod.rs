//! Selectors from the literature, for comparison (Hanák 2023): each finds the k smallest of a row of
//! distances, which is computed beforehand or, in `bits-fused`, on the fly.
//!
//! This is the CPU's side. A function has the name of its counterpart in `cuda/`, or its documentation says
//! "No CUDA counterpart" and why.
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
//! Host only: `engine.rs`, the engines on the CPU and their rows in the registry; `distances.rs`, the engine
//! that only times the distances; `cost.rs`, their cost model. Lessons record a selector with the observers
//! below, which cost nothing in runs; on a GPU the recorders in `cuda/select/` do so.
//!
//! A selector is a [`Selector`], made from a problem's shape and parameters, and a row in `engine.rs`. One
//! that computes the distances itself implements [`PointSelector`], as does every [`Selector`] by computing a
//! row first.

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
    BITS, BITS_FUSED, BITS_GLOBAL, BLOCK_SELECT, DISTANCES_ALONE, MERGE_PATH, MERGE_QUEUE, PARTIAL_BITONIC,
    RADIX_SELECT, SAMPLE_SELECT, SORT, THREAD_HEAP, WARP_SELECT,
};
pub use sample::{MAX_MINIMA, SamplePlan};

use super::lockstep::distance::GroupedPoints;
use super::lockstep::{Key, Lanes};
use crate::knn::{AllowedValues, Parameter, Parameters, Shape};

/// The most counters of a selector.
pub const COUNTS: usize = 8;

/// A selector's counters of one query, in the order of its engine's measures.
pub type Counts = [u32; COUNTS];

pub(super) const DISTANCES: Parameter = Parameter {
    name: "distances",
    help: "How a GPU computes distances: one thread per point, with tiles in shared memory, or with tiles in \
           registers; no effect on a CPU.",
    values: AllowedValues::Words(&["registers", "tiles", "naive"]),
    default: "registers",
};

pub(super) const TIMED: Parameter = Parameter {
    name: "timed",
    help: "What a GPU's search time includes: the distances and the selection, or the selection alone; no \
           effect on a CPU.",
    values: AllowedValues::Words(&["all", "selection"]),
    default: "all",
};

/// The resolved parameters: those that all selectors share, and the selector's own.
fn resolved(parameters: &Parameters, own: impl IntoIterator<Item = (&'static str, String)>) -> Parameters {
    let shared = [(DISTANCES.name, "registers"), (TIMED.name, "all")]
        .map(|(name, default)| (name, value_or(parameters, name, default)));
    Parameters::from_iter(shared.into_iter().chain(own))
}

fn value_or(parameters: &Parameters, name: &str, default: &str) -> String {
    parameters.get(name).unwrap_or(default).to_owned()
}

type Select = dyn Fn(&[f32], &mut Vec<Key>) -> Counts + Send + Sync;

/// Finds the k smallest of a row of squared distances by (distance, position).
pub struct Selector {
    /// The resolved parameters.
    parameters: Parameters,
    /// Bytes of host memory per distance of a row, and per neighbour.
    bytes: [usize; 2],
    select: Box<Select>,
}

impl Selector {
    fn new(
        parameters: Parameters,
        select: impl Fn(&[f32], &mut Vec<Key>) -> Counts + Send + Sync + 'static,
    ) -> Self {
        Self { parameters, bytes: [0; 2], select: Box::new(select) }
    }

    /// Selects from a row. `found` becomes k keys, ascending, padded if the row is shorter.
    pub fn select(&self, row: &[f32], found: &mut Vec<Key>) -> Counts {
        (self.select)(row, found)
    }
}

/// Finds the k nearest points of queries: a source of distances with a selector.
pub trait PointSelector: Send + Sync {
    /// Queries that are answered together; their counts depend on each other.
    fn batch_size(&self) -> usize;

    /// Bytes of host memory that a thread needs for a problem of this shape.
    fn bytes_per_thread(&self, shape: &Shape) -> usize;

    /// Answers up to [`Self::batch_size`] queries; calls `put` with the k keys and the counts of each.
    fn answer(
        &self,
        points: &GroupedPoints<{ network::WARP }>,
        queries: &[&[f32]],
        put: &mut dyn FnMut(&[Key], Counts),
    );

    /// The resolved parameters.
    fn resolved(&self) -> Parameters;
}

/// Notified of each step of a warp select.
pub trait Observer<const W: usize> {
    /// A group was read: the distances of points from `first` on, one per lane, and the lanes' queues after
    /// they inserted the distances below their largest keys.
    #[inline(always)]
    fn inserted(&mut self, _first: usize, _distances: &[f32], _lane_queue: &[Lanes<Key, W>]) {}

    /// After a group with an insertion, the lanes' largest keys were compared with the k-th key.
    #[inline(always)]
    fn checked(&mut self, _largest: &Lanes<Key, W>, _limit: Key) {}

    /// No points are left; the last merge follows.
    #[inline(always)]
    fn drained(&mut self) {}

    /// A merge began: the lanes' queues form one ascending list.
    #[inline(always)]
    fn sorted(&mut self, _lane_queue: &[Lanes<Key, W>]) {}

    /// The warp's queue was compared with the list read backwards: it has the smaller keys, the lanes' queues
    /// the larger ones.
    #[inline(always)]
    fn exchanged(&mut self, _warp_queue: &[Lanes<Key, W>], _lane_queue: &[Lanes<Key, W>]) {}

    /// The warp's queue is ascending again.
    #[inline(always)]
    fn merged(&mut self, _warp_queue: &[Lanes<Key, W>]) {}

    /// Each lane's queue is descending again.
    #[inline(always)]
    fn descended(&mut self, _lane_queue: &[Lanes<Key, W>]) {}

    /// The merge finished: the k-th key.
    #[inline(always)]
    fn limited(&mut self, _limit: Key) {}

    /// The warp's queue is the answer.
    #[inline(always)]
    fn finished(&mut self) {}
}

impl<const W: usize> Observer<W> for () {}

/// Notified of each step of a multi-pass selection.
pub trait PassObserver {
    /// A pass counted the remaining distances by bucket.
    #[inline(always)]
    fn counted(&mut self, _counters: &[usize]) {}

    /// The k-th distance is in `bucket`, with `below` remaining distances in earlier buckets and `size` in
    /// this one.
    #[inline(always)]
    fn found(&mut self, _bucket: usize, _below: usize, _size: usize) {}

    /// The distances in that bucket were written contiguously, for the next pass.
    #[inline(always)]
    fn narrowed(&mut self) {}

    /// The k smallest keys were collected, by position.
    #[inline(always)]
    fn taken(&mut self, _found: &[Key]) {}
}

impl PassObserver for () {}

/// Notified of each step of a warp whose threads have one query and one heap each.
pub trait HeapObserver {
    /// Every lane read its distance to a point, the same for all.
    fn read(&mut self, point: u32, distances: &[f32]);

    /// The lanes whose distance is below their root insert it in place of the root. The other lanes wait.
    fn branched(&mut self, lanes: u32);

    /// A round of sifting by the lanes still active: for each lane whose key moved, the lane and the new
    /// entry. The keys of the other lanes reached their position.
    fn sank(&mut self, lanes: u32, to: &[(u32, u32)]);

    /// All lanes continue together; these have inserted a key.
    fn rejoined(&mut self, lanes: u32);

    /// The heaps are being sorted: each lane's root moved to the last of its first `end` entries, whose key
    /// is sifted down from the root.
    fn extracted(&mut self, end: u32);
}
