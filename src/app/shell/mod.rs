//! The window itself: its content, what it does each frame, and how it is drawn without a display.
//!
//! | part | does |
//! |---|---|
//! | `apply` | dispatches actions and frames to the features; carries out what is of the window alone |
//! | `window` | opens it and drives its frames; keys as commands |
//! | `ui`, `lesson`, `panels` | menus, panels, status line, the lesson: draw, read, and send actions |
//! | `about` | what the program is and runs on, and the first hints |
//! | `finder` | commands by name |
//! | `headless` | renders the window without a display |

pub mod about;
pub mod apply;
pub mod finder;
pub mod headless;
pub mod lesson;
pub mod panels {
    //! The panels around the panes, and the dialogs over them.

    pub mod engine;
    pub mod finder;
    pub mod problem;
    pub mod selection;
    pub mod status;
}
pub mod ui;
pub mod window;
