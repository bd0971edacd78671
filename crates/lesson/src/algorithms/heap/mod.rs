//! Threads with a query each, in a warp, each with a heap.

pub(crate) mod account;
mod baseline;
pub mod code;
pub(crate) mod describe;
pub(crate) mod instructions;
pub(crate) mod own_queries;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;
mod step;

pub use baseline::Metered;
pub use step::HeapStep;
