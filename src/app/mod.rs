//! The window, in layers. Imports only go down, which `tests/architecture.rs` enforces. Parentheses list the
//! layers that each may use.
//!
//! - `model`, `features/*/state`: state and actions as data, with pure functions on it; no threads, GPU
//!   objects or painting
//! - `jobs` (`model`): background tasks: purpose, progress, cancellation, and how the result is applied
//! - `look` (`model`): colours, axis ticks, widgets, shapes as SVG
//! - `prelude` (`model`, `look`): names of `egui`, `look` and `model` that most files above use
//! - `gpu` (`model`, `look`): point buffers on the graphics adapter, rendered into one texture per pane
//! - `features` (all of these): one folder per feature, with its state, computations, controls and state
//!   changes
//! - `panes` (all of these): one file or folder per pane, and the table that lists them
//! - `context` (all of these but `panes`): the whole window, as features see it
//! - `features/*/apply` (all of these): state changes and background tasks of a feature; only this layer
//!   mutates the session
//! - `shell` (all of these): menus, panels, status line, window; dispatches to the table of features

mod context;
mod features;
mod gpu;
mod jobs;
mod look;
mod model;
mod panes;
mod prelude;
mod shell;
#[cfg(test)]
mod testing;

// Used by the command line, the integration tests and the benches.
pub use context::adapter::{check_adapter, check_runtime_folder, leave_displays};
pub use context::app::{App, plane_position, screen_position};
pub use features::analysis::state::{AnalysisAction, AnalysisKind};
pub use features::color::state::channel::Channel;
pub use features::color::state::{ColorAction, ColorBy, ColorMap, ColorView};
pub use features::engine_comparison::state::TimeLimit;
pub use features::export::PaneData;
pub use features::export::state::ExportKind;
pub use features::picking::{PickTimes, measure as measure_picking};
pub use features::projection::state::{ProjectionKind, ProjectionView};
pub use features::second::state::SecondAction;
pub use gpu::{BenchEvent, FrameBench, FrameReport, FrameTimes, Method, measure as measure_frames};
pub use look::tokens;
pub use model::log::Entry;
pub use model::{DataKind, Draft, Level, Log, PictureSize, QueryKind, Subject};
pub use shell::headless::{HeadlessOptions, SinglePane, render_headless, write_picture};
pub use shell::window::run;

pub mod commands {
    //! Menu commands, and the queue of actions that panes send.
    pub use super::features::engine_comparison::state::EnginesAction;
    pub use super::features::manual::state::Manual;
    pub use super::features::walk::state::WalkAction;
    pub use super::model::{Action, Actions, Command, Mode};
}

pub mod lesson {
    //! The lesson: player, input fields, quiz.
    pub use super::context::app::{is_moving, place_in_map, target_position};
    pub use super::features::lesson::drag::NAME as MAP;
    pub use super::features::lesson::state::files::LessonFile;
    pub use super::features::lesson::state::session::PresentationMode;
    pub use super::features::lesson::state::{
        DragAction, LessonAction, PollAction, QuizAction, player, poll, quiz, session,
    };
}

pub mod live {
    //! Actions of the live query, which is answered while it is dragged.
    pub use super::features::live::state::LiveAction;
}

pub mod runs {
    //! Runs of this session and of opened recordings.
    pub use super::features::runs::state::{ListedRun, RunId, RunList, RunsAction, SaveScope};
}

pub mod settings {
    //! Settings that persist between launches.
    pub use super::context::settings::{Startup, begin};
}

pub mod saved {
    //! Saved sessions.
    pub use super::features::saved::state::{Layout, SavedSession, SizedTile};
}

pub mod selection {
    //! Selected rows and queries, and the actions that change them.
    pub use super::features::selection::state::{HoverTarget, SelectAction, Selection};
    pub use super::model::select_mode::SelectMode;
}

pub mod session {
    //! What is open: the cloud, its answers, tasks in progress.
    pub use super::features::color::state::channel::ColoringState;
    pub use super::features::walk::state::{WalkState, Walkthrough};
    pub use super::model::{Activity, FailureReason, LastFailures, PickedPoint, QueryAnswer, Session};
}

pub mod state {
    //! Settings that persist between launches.
    pub use super::features::walk::state::WalkView;
    pub use super::model::views::ConvergenceView;
    pub use super::model::{
        PaneKind, PlaneView, PlaneWindow, SpaceView, State, TimingsFigure, Workspace, single_layout,
    };
}
