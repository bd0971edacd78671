//! What every kernel needs of a device.
//!
//! | file | holds |
//! |---|---|
//! | `driver.rs` | whether a driver and a device are there, and what they are |
//! | `kernels.rs` | modules, loaded and kept |
//! | `memory.rs` | a problem in device memory, and its answer |
//! | `nvrtc.rs` | run-time compilation and its disk cache |
//! | `points.rs` | points on the device, and how their rows get there |
//! | `sources.rs` | parts of the device code as text, for those who want to read them |
//! | `timer.rs` | times what goes to a stream |
//! | `units.rs` | what is compiled on its own: embedded, or text for NVRTC |

pub mod driver;
pub mod kernels;
pub mod memory;
pub mod nvrtc;
pub mod points;
mod sources;
pub mod timer;
pub mod units;

pub use sources::source_of;
