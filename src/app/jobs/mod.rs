//! Work in the background.

pub mod loader;
pub mod task;
