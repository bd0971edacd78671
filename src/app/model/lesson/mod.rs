//! The lesson: its player, its quiz, its input fields.

pub mod files;
pub mod player;
pub mod quiz;
pub mod session;
pub mod touch;
