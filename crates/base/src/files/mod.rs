//! Files that are written completely or not at all: under a temporary name, then renamed; several of one
//! folder in one step.
//!
//! Whatever ends the program, a destination is old or new. What is left of a program that was killed is
//! recognised by the lock that it no longer holds, and removed by the next program that writes into the same
//! folder. Another machine may not see the lock: what it left is removed when it is old.

mod batch;
mod live;
mod mute;
mod part;
mod small;
mod target;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use batch::{Batch, Ours, place, recover};
pub use live::{Live, made, remove_all};
pub use mute::Mute;
pub use part::{PartFolder, Scratch, is_private, named_scratch};
pub use small::{open_regular, read_at_most, read_small, write_small};
pub use target::{check, is_pipe, room, same, write};
