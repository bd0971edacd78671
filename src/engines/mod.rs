//! The engines: each implements [`crate::knn::Engine`] in a folder of its own, and has one row in the table below. Nothing else
//! lists them.

mod blocks;
pub mod cuda;
mod host_memory;
pub mod index;
pub mod kdtree;
pub mod kdtree_threads;
pub mod lockstep;
pub mod peaks;
mod processor;
pub mod registry;
pub mod select;
pub mod step;
mod threads;

use crate::knn::Descriptor;

/// All engines in listing order: those that report most about a search first.
pub static ENGINES: &[&Descriptor] = &[
    &cuda::DIRECT,
    &cuda::SPLIT,
    &lockstep::LOCKSTEP,
    &index::BVH,
    &step::STEP,
    &step::STEP_EXHAUSTIVE,
    &select::BITS,
    &select::WARP_SELECT,
    &select::BLOCK_SELECT,
    &select::SAMPLE_SELECT,
    &select::RADIX_SELECT,
    &select::SORT,
    &kdtree_threads::KDTREE_THREADS,
    &kdtree::KDTREE,
];
