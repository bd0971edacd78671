//! The window: its content, its update each frame, and rendering without a display.
//!
//! | module | role |
//! |---|---|
//! | `apply` | dispatches actions and frames to the features; handles actions of the window itself |
//! | `window` | opens the window and runs its frames; maps keys to commands |
//! | `ui`, `lesson`, `panels` | menus, panels, status line, the lesson: draw the state and send actions |
//! | `about` | the About window and the first hints |
//! | `finder` | search for commands by name |
//! | `headless` | renders the window without a display |

pub mod about;
pub mod apply;
pub mod finder;
pub mod headless;
pub mod lesson;
pub mod panels {
    //! Panels around the panes, and dialogs.

    pub mod data;
    pub mod engine;
    pub mod finder;
    pub mod nearest;
    pub mod prediction;
    pub mod problem;
    pub mod selected;
    pub mod selection;
    pub mod status;
}
pub mod ui;
pub mod window;
