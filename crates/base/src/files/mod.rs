//! Atomic file writes: under a temporary name, then renamed. Several files of one folder can be replaced in
//! one step.
//!
//! A destination has either the old or the new content, even after a crash. A killed program releases the
//! locks on its temporary files, and the next program that writes into the folder removes them. Locks may be
//! invisible across machines, so files of other machines are removed only when they are old.

mod batch;
mod latching;
mod live;
mod small;
mod stored;
mod target;
mod temp;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use batch::{Batch, IsOwn, locate, recover};
pub use latching::LatchingWriter;
pub use live::{LivePath, made, remove_all};
pub use small::{open_regular, read_at_most, read_small, write_small};
pub use stored::{ScratchError, StoreWriter, Stored};
pub use target::{check, is_pipe, room, same, write};
pub use temp::{ScratchFile, StagingDir, is_private, named_scratch};
