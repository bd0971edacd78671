//! The lesson: where one is in it, what is asked, what is typed.

pub mod files;
pub mod player;
pub mod quiz;
pub mod session;
