//! Device support shared by all kernels.
//!
//! | file | holds |
//! |---|---|
//! | `driver.rs` | detection and description of driver and GPUs |
//! | `kernels.rs` | loaded modules |
//! | `memory.rs` | the device memory of a problem and its answer; timing and launches |
//! | `nvrtc.rs` | run-time compilation and its disk cache |
//! | `pipe.rs` | large copies between host and device, through pinned buffers |
//! | `units.rs` | compilation units: embedded, or text for NVRTC and for display |

pub mod driver;
pub mod kernels;
pub mod memory;
pub mod nvrtc;
pub mod pipe;
pub mod units;

pub use units::source_of;
