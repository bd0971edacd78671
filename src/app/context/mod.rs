//! What the features of the window act on, and what the shell knows of a feature.
//!
//! | part | holds |
//! |---|---|
//! | `adapter` | whether there is a display and a graphics adapter |
//! | `app` | [`app::App`]: settings, session, background tasks, queued actions |
//! | `offscreen_render` | the window or a pane drawn once more, without the screen: larger, or as SVG |
//! | `settings` | settings on disk, and starts that fail |

pub mod adapter;
pub mod app;
pub mod offscreen_render;
pub mod settings;
