//! Picking, by pointer or by region: screen positions, regions, and the requests made with them.

pub mod beside;
pub mod eye;
pub mod others;
pub mod region;
pub mod sight;
pub mod tool;
