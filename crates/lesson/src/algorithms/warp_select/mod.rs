//! Warp select: a queue in each lane, and one of the warp.

pub(crate) mod account;
mod baseline;
pub mod code;
pub(crate) mod describe;
pub(crate) mod from_gpu;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;
mod step;

pub use baseline::Queued;
pub use step::WarpSelectStep;
