//! What is known: what is kept between starts, what is open now, and what can be asked for. Data, and plain computations on
//! it: no threads, no GPU objects, no painting.
//!
//! | part | holds |
//! |---|---|
//! | `state`, `views`, `pane`, `look`, `draft` | what is kept between two starts: layout, views of panes, fields |
//! | `session`, `answer`, `activity`, `scene`, `live` | what is open now: the cloud, its answer, what goes on, what is drawn for it |
//! | `color`, `picking`, `projection`, `selection`, `runs`, `lesson`, `timeline` | what is known for each feature |
//! | `history` | undo and redo |
//! | `saved`, `files`, `export`, `parts`, `finder`, `log` | sessions as files have them, dialogs, what was said |
//! | `camera` | from places in the cloud to places on the screen and back |
//! | `commands` | what can be asked for: one enum feeds menus, shortcuts and the sheet |

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
