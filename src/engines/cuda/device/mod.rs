//! What every kernel needs of a device.
//!
//! | file | holds |
//! |---|---|
//! | `driver.rs` | whether a driver and a device are there, and what they are |
//! | `kernels.rs` | the device code: embedded, or compiled by NVRTC |
//! | `memory.rs` | a problem in device memory, its answer, event timing |
//! | `nvrtc.rs` | run-time compilation and its disk cache |
//! | `points.rs` | points on the device, and how their rows get there |
//! | `sources.rs` | parts of the device code as text, for those who want to read them |

pub mod driver;
pub mod kernels;
pub mod memory;
pub mod nvrtc;
pub mod points;
mod sources;

pub use sources::source_of;
