//! The window itself: its content, what it does each frame, and how it is drawn without a display.
//!
//! | part | does |
//! |---|---|
//! | `app` | its content: state, tasks in progress, queued actions |
//! | `tasks` | the kinds of background task |
//! | `handles` | threads and GPU objects that live as long as the window |
//! | `apply` | carries out actions: the only place that mutates the session |
//! | `kept` | settings on disk, and starts that fail |
//! | `window` | opens it and drives its frames |
//! | `ui`, `lesson`, `panels` | menus, panels, status line, the lesson: draw, read, and send actions |
//! | `about` | what the program is and runs on |
//! | `keys`, `finder` | commands by shortcut and by name |
//! | `portrait`, `headless`, `adapter` | renders the window into a file, or without a display |

pub mod about;
pub mod adapter;
pub mod app;
pub mod apply;
pub mod finder;
pub mod handles;
pub mod headless;
pub mod kept;
pub mod keys;
pub mod lesson;
pub mod panels;
pub mod portrait;
pub mod tasks;
pub mod ui;
pub mod window;
