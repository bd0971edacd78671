//! A selection by digits.

pub(crate) mod account;
pub mod code;
pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;
mod step;

pub use step::RadixSelectStep;
