//! The state of the window: settings that persist between launches, what is open, and the actions that change either. Data,
//! and pure functions on it: no threads, no GPU objects, no painting.
//!
//! | part | holds |
//! |---|---|
//! | `state`, `views`, `pane`, `look`, `draft` | what persists between launches: layout, views of panes, input fields |
//! | `session`, `answer`, `activity`, `scene`, `live` | what is open: the cloud, its answer, tasks in progress, what is drawn for it |
//! | `color`, `picking`, `projection`, `selection`, `runs`, `lesson`, `timeline` | the state of each feature |
//! | `history` | undo and redo |
//! | `saved`, `files`, `export`, `parts`, `finder`, `log` | saved sessions, dialogs, the log |
//! | `camera` | transforms between cloud and screen coordinates |
//! | `commands` | actions: one enum feeds menus, shortcuts and the list of shortcuts |

pub mod activity;
pub mod answer;
pub mod camera;
pub mod color;
pub mod commands;
pub mod draft;
pub mod export;
pub mod files;
pub mod finder;
pub mod history;
pub mod lesson;
pub mod live;
pub mod log;
pub mod look;
pub mod pane;
pub mod parts;
pub mod picking;
pub mod plan;
pub mod projection;
pub mod runs;
pub mod saved;
pub mod scene;
pub mod selection;
pub mod session;
pub mod state;
pub mod timeline;
pub mod views;
