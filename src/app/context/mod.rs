//! The state that features act on, and the interface between shell and features.
//!
//! | module | contents |
//! |---|---|
//! | `adapter` | checks for a display and a graphics adapter |
//! | `app` | [`app::App`]: settings, session, background tasks, queued actions |
//! | `motion` | whether the desktop asks for less motion |
//! | `offscreen_render` | renders the window or a pane offscreen: larger, or as SVG |
//! | `settings` | settings on disk, and recovery from failed starts |

pub mod adapter;
pub mod app;
pub mod motion;
pub mod offscreen_render;
pub mod settings;
