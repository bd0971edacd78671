//! TODO features/lesson

pub mod ask;
pub mod controls;
pub mod export;
pub mod paint;
pub mod panel;
pub mod picture;
pub mod record;
pub mod source;
pub mod words;
