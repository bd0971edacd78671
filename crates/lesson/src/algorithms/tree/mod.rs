//! The search of a tree: of the index, by a warp.

pub(crate) mod account;
pub(crate) mod boxes;
pub mod code;
pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;
mod step;

pub use step::TreeStep;
