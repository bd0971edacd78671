//! What all rooms share: whole files, memory, names, colours, safe text, progress and numbers for people.

pub mod files;
pub mod memory;
pub mod nearest;
pub mod palette;
pub mod printable;
pub mod progress;
pub mod text;
