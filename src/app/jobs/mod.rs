//! Work in the background.

pub mod loader;
pub mod table;
pub mod task;
