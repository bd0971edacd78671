//! Shared by all crates: atomic file writes, memory, names, colours, safe text, progress and number formats.

pub mod files;
pub mod memory;
pub mod palette;
pub mod printable;
pub mod progress;
pub mod suggest;
pub mod text;
