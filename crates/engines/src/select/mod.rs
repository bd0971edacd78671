//! k-selection of the literature, side by side (Hanák 2023): each finds the k smallest of a row of distances,
//! which is computed before or, in `bits-fused`, on the way.
//!
//! The CPU's side; functions are named like their counterparts in `cuda/`, or their documentation says "No
//! namesake" and why.
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
//! Of the host alone: `engine.rs`, the engines on the CPU and their rows in the registry; `distances.rs`, the
//! engine that times the distances alone; `cost.rs`, their cost model. With the observers below lessons
//! record a selector, at no cost where nothing is recorded; on a GPU recorders in `cuda/select/` write it
//! down.
//!
//! A selector is a [`Selector`], made of a problem's sizes and of parameters, and a row in `engine.rs`; one
//! that computes the distances itself is [`FromPoints`], as every selector is with a row of distances before
//! it.

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
pub use sample::{MOST_MINIMA, Sample};

use super::lockstep::distance::GroupedPoints;
use super::lockstep::{Key, Lanes};
use crate::knn::{Parameter, Parameters, Shape, Values};

/// Numbers that a selector may count of a query.
pub const COUNTS: usize = 8;

/// What a selector counts of a query: as many as its engine has measures, in their order.
pub type Counts = [u32; COUNTS];

/// How a GPU computes the matrix of distances.
pub(super) const DISTANCES: Parameter = Parameter {
    name: "distances",
    help: "How a GPU computes distances: a thread a point, by tiles in shared memory, or by tiles in \
           registers; on a CPU it changes nothing.",
    values: Values::Words(&["registers", "tiles", "naive"]),
    default: "registers",
};

/// What is timed.
pub(super) const TIMED: Parameter = Parameter {
    name: "timed",
    help: "What a GPU's search time is of: the distances and the selection, or the selection alone; on a \
           CPU it changes nothing.",
    values: Values::Words(&["all", "selection"]),
    default: "all",
};

/// What parameters resolve to: those that every selector has, and its own.
fn resolved(parameters: &Parameters, own: impl IntoIterator<Item = (&'static str, String)>) -> Parameters {
    let shared = [(DISTANCES.name, "registers"), (TIMED.name, "all")]
        .map(|(name, default)| (name, value_of(parameters, name, default)));
    Parameters::from_iter(shared.into_iter().chain(own))
}

/// The value of a parameter, or its default.
fn value_of(parameters: &Parameters, name: &str, default: &str) -> String {
    parameters.get(name).unwrap_or(default).to_owned()
}

/// Finds what a row of distances keeps, as [`Selector::select`] does.
type Select = dyn Fn(&[f32], &mut Vec<Key>) -> Counts + Send + Sync;

/// Finds the k smallest of a row of squared distances by (distance, position).
pub struct Selector {
    /// What its parameters resolved to.
    parameters: Parameters,
    /// Bytes of host memory that it needs for each distance of a row, and for each of the k neighbours.
    bytes: [usize; 2],
    select: Box<Select>,
}

impl Selector {
    /// A selector by a function of a row.
    fn new(
        parameters: Parameters,
        select: impl Fn(&[f32], &mut Vec<Key>) -> Counts + Send + Sync + 'static,
    ) -> Self {
        Self { parameters, bytes: [0; 2], select: Box::new(select) }
    }

    /// Selects from a row. `found` becomes k keys, ascending; where the row is shorter, padding follows.
    pub fn select(&self, row: &[f32], found: &mut Vec<Key>) -> Counts {
        (self.select)(row, found)
    }
}

/// Finds the k nearest points of queries: a source of distances with a selector.
pub trait FromPoints: Send + Sync {
    /// Queries that are answered together, and of which the counts of each depend on the others.
    fn together(&self) -> usize;

    /// Bytes of host memory that a thread takes for a problem of these sizes.
    fn bytes_of_thread(&self, shape: &Shape) -> usize;

    /// Answers as many queries as are answered together, or fewer where they end; `put` takes k keys of each,
    /// and what was counted.
    fn answer(
        &self,
        points: &GroupedPoints<{ network::WARP }>,
        queries: &[&[f32]],
        put: &mut dyn FnMut(&[Key], Counts),
    );

    /// What its parameters resolved to.
    fn resolved(&self) -> Parameters;
}

/// Is told of a warp select's way through a row.
pub trait Observer<const W: usize> {
    /// A group was read: the distances of points `first` on, one a lane, and the lanes' queues after what was
    /// below their largest keys was taken.
    #[inline(always)]
    fn inserted(&mut self, _first: usize, _distances: &[f32], _lane_queue: &[Lanes<Key, W>]) {}

    /// After a group of which a lane took something, the lanes' largest keys were compared with the k-th.
    #[inline(always)]
    fn checked(&mut self, _largest: &Lanes<Key, W>, _limit: Key) {}

    /// No points are left: what follows is the last merge.
    #[inline(always)]
    fn drained(&mut self) {}

    /// A merge began: the lanes' queues are one ascending list.
    #[inline(always)]
    fn sorted(&mut self, _lane_queue: &[Lanes<Key, W>]) {}

    /// The smaller keys of the list and of the warp's queue, read backwards, are the warp's; the others are
    /// the lanes'.
    #[inline(always)]
    fn exchanged(&mut self, _warp_queue: &[Lanes<Key, W>], _lane_queue: &[Lanes<Key, W>]) {}

    /// The warp's queue ascends again.
    #[inline(always)]
    fn merged(&mut self, _warp_queue: &[Lanes<Key, W>]) {}

    /// Each lane's queue descends again.
    #[inline(always)]
    fn descended(&mut self, _lane_queue: &[Lanes<Key, W>]) {}

    /// The merge is done: the k-th key.
    #[inline(always)]
    fn limited(&mut self, _limit: Key) {}

    /// The warp's queue is the answer.
    #[inline(always)]
    fn finished(&mut self) {}
}

impl<const W: usize> Observer<W> for () {}

/// Is told of a selection in several passes.
pub trait PassObserver {
    /// A pass counted the distances that are left by buckets.
    #[inline(always)]
    fn counted(&mut self, _counters: &[usize]) {}

    /// The k-th distance is in a bucket, with so many that are left in those before it, and in it.
    #[inline(always)]
    fn found(&mut self, _bucket: usize, _below: usize, _size: usize) {}

    /// The distances in that bucket were written side by side, for the next pass.
    #[inline(always)]
    fn narrowed(&mut self) {}

    /// The k smallest keys were taken, by position.
    #[inline(always)]
    fn taken(&mut self, _found: &[Key]) {}
}

impl PassObserver for () {}

/// Is told of a warp whose threads have a query each, and a heap.
pub trait HeapObserver {
    /// Every lane has its distance to a point, the same for all.
    fn read(&mut self, point: u32, distances: &[f32]);

    /// The lanes whose distance is below their own root put it there, for what was the root; the others wait
    /// until these have inserted.
    fn branched(&mut self, lanes: u32);

    /// A round of sinking of the lanes that are still at it: where the keys went that sank, by lane. The
    /// others' found their place.
    fn sank(&mut self, lanes: u32, to: &[(u32, u32)]);

    /// All lanes go on together; these have inserted.
    fn rejoined(&mut self, lanes: u32);

    /// Heaps are sorted: each lane's root went to the last of its first `end` entries, whose key sinks from
    /// the root.
    fn extracted(&mut self, end: u32);
}
