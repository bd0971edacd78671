//! The search of the kernel: every point is looked at, and candidates wait in a buffer.

pub mod code;
pub(crate) mod describe;
pub(crate) mod describe_faults;
pub(crate) mod questions;
pub(crate) mod recorder;
