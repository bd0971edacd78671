//! Device support shared by all kernels.
//!
//! | file | holds |
//! |---|---|
//! | `driver.rs` | detection and description of driver and GPUs |
//! | `kernels.rs` | modules, loaded and kept |
//! | `memory.rs` | the device memory of a problem and its answer |
//! | `nvrtc.rs` | run-time compilation and its disk cache |
//! | `points.rs` | points on the device and the upload of their rows |
//! | `sources.rs` | device code as text, for display |
//! | `timer.rs` | timing of work on a stream |
//! | `units.rs` | compilation units: embedded, or text for NVRTC |

pub mod driver;
pub mod kernels;
pub mod memory;
pub mod nvrtc;
pub mod points;
mod sources;
pub mod timer;
pub mod units;

pub use sources::source_of;
