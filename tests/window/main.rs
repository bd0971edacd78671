//! The window without a display, driven by accessible names.
//!
//! One binary, because each links the whole program. Tests that change the environment or the working
//! directory have separate binaries.

#![cfg(feature = "gui")]

#[path = "../common/window.rs"]
mod driven;

mod analysis;
mod app;
mod colors;
mod columns;
mod engines;
mod focus;
mod labels;
mod lesson;
mod lesson_dragging;
mod lesson_motion;
mod live;
mod neighbors;
mod pictures;
mod quitting;
mod runs;
mod saved_state;
mod second;
mod selection;
mod session;
mod shell;
mod timeline;
mod walk;
