//! What is under the pointer or in a region: places on the screen, regions, and what is asked of them.

pub mod beside;
pub mod eye;
pub mod others;
pub mod region;
pub mod sight;
pub mod tool;
