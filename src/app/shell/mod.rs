//! The window itself: its content, what it does each frame, and how it is drawn without a display.
//!
//! | part | does |
//! |---|---|
//! | `app` | its content: what is known, what is under way, what is asked for |
//! | `tasks` | the table of what is done in the background |
//! | `handles` | threads that live as long as the window, and GPU objects |
//! | `apply` | the one place that changes anything |
//! | `window` | opens, and lives frame by frame |
//! | `ui`, `lesson`, `panels` | menus, panels, status line, the lesson: draw, read, and send actions |
//! | `keys`, `finder` | commands by their keys and by their words |
//! | `portrait`, `headless`, `adapter` | the window drawn once more for a file, or without a display |

pub mod adapter;
pub mod app;
pub mod apply;
pub mod finder;
pub mod handles;
pub mod headless;
pub mod keys;
pub mod lesson;
pub mod panels;
pub mod portrait;
pub mod tasks;
pub mod ui;
pub mod window;
