//! The window, driven by the names of its parts, without a display.
//!
//! One binary: each links the whole program. A test that changes the environment or the working directory has
//! a binary of its own.

#![cfg(feature = "gui")]

#[path = "../common/window.rs"]
mod driven;

mod analysis;
mod app;
mod colors;
mod columns;
mod engines;
mod focus;
mod kept;
mod labels;
mod lesson;
mod lesson_motion;
mod lesson_touch;
mod live;
mod neighbors;
mod pictures;
mod quitting;
mod runs;
mod selecting;
mod session;
mod shell;
mod timeline;
mod walk;
