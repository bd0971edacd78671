//! The lesson: its player, its quiz, what a class votes on, its input fields.

pub mod files;
pub mod player;
pub mod poll;
pub mod quiz;
pub mod session;
pub mod touch;
