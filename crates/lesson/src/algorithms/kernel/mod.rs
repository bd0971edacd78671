//! The search of the kernel: every point is looked at, and candidates wait in a buffer.

pub(crate) mod account;
mod baseline;
mod buffered;
pub mod code;
pub(crate) mod describe;
pub(crate) mod describe_faults;
pub(crate) mod from_gpu;
mod layout;
pub(crate) mod questions;
pub(crate) mod recorder;

pub use baseline::Theory;
pub use buffered::Buffered;
