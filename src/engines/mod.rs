//! The engines: each implements [`crate::knn::Engine`] in a folder of its own and has one row in [`registry`].

pub mod cuda;
mod host_memory;
pub mod kdtree;
pub mod lockstep;
mod processor;
pub mod registry;
