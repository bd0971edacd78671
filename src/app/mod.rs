//! The window, in floors: imports go down, as `tests/architecture.rs` sees to.
//!
//! | floor | holds | may use |
//! |---|---|---|
//! | `model` | what is known and what can be asked for: data, and plain computations on it; no threads, no GPU objects, no painting | |
//! | `jobs` | every task in the background: what it is for, how far it is, how it is cancelled, what applies its result | `model` |
//! | `look` | colours, ticks, widgets, shapes as SVG | `model` |
//! | `gpu` | points in buffers of the graphics adapter, drawn into a picture for each pane | `model`, `look` |
//! | `features` | one folder each: what is worked out, and the controls that belong to it | all of these |
//! | `panes` | one file or folder each, and a row of their table | all of these |
//! | `shell` | menus, panels, status line, window; in it `apply`, the one place that changes anything | all of these |

mod features;
mod gpu;
mod jobs;
mod look;
mod model;
mod panes;
mod shell;
#[cfg(test)]
mod testing;

// What the command line, the tests of the whole and the benches use of it.
pub use features::export::PaneData;
pub use features::picking::measure::{PickTimes, measure as measure_picking};
pub use gpu::{FrameBench, FrameReport, FrameTimes, Heard, Method, measure as measure_frames};
pub use look::tokens;
pub use model::color::ColorMap;
pub use model::color::channel::Channel;
pub use model::color::view::{ColorBy, ColorView};
pub use model::commands::color::ColorAction;
pub use model::draft::{DataKind, Draft, QueryKind};
pub use model::export::ExportKind;
pub use model::log::{About, Entry, Level, Log};
pub use model::projection::{ProjectionKind, ProjectionView};
pub use shell::adapter::check_adapter;
pub use shell::app::{App, plane_position, screen_position};
pub use shell::headless::{Headless, render_headless, write_picture};
pub use shell::window::run;

pub mod commands {
    //! What can be asked for.
    pub use super::model::commands::command::{Command, Mode};
    pub use super::model::commands::{Action, Actions};
}

pub mod lesson {
    //! The lesson: where one is in it, what is typed, what is asked.
    pub use super::model::commands::lesson::LessonAction;
    pub use super::model::commands::lesson::QuizAction;
    pub use super::model::lesson::session::Presenting;
    pub use super::model::lesson::{player, quiz, session};
    pub use super::shell::app::target_position;
}

pub mod live {
    //! The live query.
    pub use super::model::commands::live::LiveAction;
}

pub mod runs {
    //! What was run and opened.
    pub use super::model::commands::runs::RunsAction;
    pub use super::model::runs::list::{KeptRun, RunId, RunList};
    pub use super::model::runs::which::Saved;
}

pub mod saved {
    //! A session that is put down.
    pub use super::model::saved::SavedSession;
    pub use super::model::saved::layout::Layout;
}

pub mod selection {
    //! What is selected.
    pub use super::model::commands::selection::SelectAction;
    pub use super::model::selection::Selection;
    pub use super::model::selection::how::How;
}

pub mod session {
    //! What is open now.
    pub use super::model::activity::{Activity, Ended, Endings};
    pub use super::model::answer::{Answered, Picked};
    pub use super::model::color::channel::Colored;
    pub use super::model::session::Session;
}

pub mod state {
    //! What is kept between two starts.
    pub use super::model::pane::{PaneKind, single_layout};
    pub use super::model::state::State;
    pub use super::model::views::{ConvergenceView, PlaneView, PlaneWindow, SpaceView};
}
