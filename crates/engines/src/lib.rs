//! The engines. Each is a folder and a row in [`ENGINES`]; nothing else lists them.
//!
//! An engine declares itself in a [`Descriptor`] and says how it searches a loaded problem: on the CPU by a
//! [`cpu::Searcher`], on a GPU by the kernels that it launches (`cuda/search.rs`). Those two modules hold the
//! code that engines share.

// Aliases, so that paths such as `crate::memory` and `crate::knn` are the same in every crate.
use warpscope_base::{files, memory, progress};
#[cfg(test)]
use warpscope_cloud as cloud;
use warpscope_knn as knn;

pub mod cpu;
pub mod cuda;
pub mod gemm_heap;
mod host_memory;
pub mod index;
pub mod kdtree;
pub mod kdtree_threads;
pub mod lockstep;
pub mod peaks;
pub mod registry;
pub mod select;
pub mod several;
mod span_log;
pub mod step;
mod streamed;
#[cfg(test)]
mod testing;

use crate::knn::{Descriptor, EngineError};

pub(crate) type Result<T, E = EngineError> = std::result::Result<T, E>;

/// All engines in listing order: those that report most about a search come first.
pub static ENGINES: &[&Descriptor] = &[
    &cuda::DIRECT,
    &cuda::SPLIT,
    &lockstep::LOCKSTEP,
    &index::BVH,
    &step::STEP,
    &step::STEP_EXHAUSTIVE,
    &select::BITS,
    &select::BITS_GLOBAL,
    &select::BITS_FUSED,
    &select::WARP_SELECT,
    &select::BLOCK_SELECT,
    &select::MERGE_QUEUE,
    &select::THREAD_HEAP,
    &select::PARTIAL_BITONIC,
    &select::MERGE_PATH,
    &select::SAMPLE_SELECT,
    &select::RADIX_SELECT,
    &select::SORT,
    &select::DISTANCES_ALONE,
    &gemm_heap::GEMM_HEAP,
    &kdtree_threads::KDTREE_THREADS,
    &kdtree::KDTREE,
];
