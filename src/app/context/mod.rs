//! What the features of the window act on, and what the shell knows of a feature.
//!
//! | part | holds |
//! |---|---|
//! | `adapter` | whether there is a display and a graphics adapter |
//! | `app` | [`app::App`]: settings, session, background tasks, queued actions |
//! | `export` | the background task that writes a file, which several features share |
//! | `feature` | a row of the table of features: what it does with an action, in every frame, and when another cloud is shown |
//! | `handles` | threads and GPU objects that live as long as the window |
//! | `offscreen_render` | the window or a pane drawn once more, without the screen: larger, or as SVG |
//! | `settings` | settings on disk, and starts that fail |

pub mod adapter;
pub mod app;
pub mod export;
pub mod feature;
pub mod handles;
pub mod offscreen_render;
pub mod settings;
