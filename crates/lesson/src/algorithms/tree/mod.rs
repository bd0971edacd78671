//! The search of a tree: of the index, by a warp.

pub(crate) mod account;
mod baseline;
pub(crate) mod boxes;
pub mod code;
pub(crate) mod describe;
pub(crate) mod from_gpu;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;
mod step;

pub use baseline::Index;
pub use step::TreeStep;
