//! The state of the window: settings that persist between launches, what is open, and the actions that change
//! either. Data with pure functions on it: no threads, GPU objects or painting.
//!
//! - `state`, `views`, `pane`, `draft`, `fields`: persistent settings: layout, views of panes, input fields
//! - `session`, `answer`: the open cloud, its answer, tasks in progress
//! - `after_load`: follow-up to a load
//! - `files`: names, columns and state of files; the sample clouds
//! - `log`: background activity, how it ended, and all messages
//! - `camera`: what Plane and Space draw, and transforms between cloud and screen coordinates
//! - `search`: text to compare regardless of case and accents
//! - `table`: rows, columns and order of tables
//! - `map`, `coastlines`: Plane as a map of longitude and latitude
//! - `distances`: distances from a point to rows, and between two rows
//! - `pictures`: rows that are images
//! - `answer_summary`: summary of an answer in words
//! - `picture`, `titles`: pictures of panes for slides and papers, and their titles
//! - `commands`: actions and commands; one enum feeds menus, shortcuts, their list and the finder

pub mod after_load;
pub mod answer;
pub mod answer_summary;
pub mod camera;
pub mod coastlines;
pub mod commands;
pub mod distances;
pub mod draft;
pub mod fields;
pub mod files;
pub mod log;
pub mod map;
pub mod pane;
pub mod picture;
pub mod pictures;
pub mod plan;
pub mod search;
pub mod select_mode;
pub mod session;
pub mod state;
pub mod table;
pub mod titles;
pub mod views;
pub mod workspace;

// Re-exports for other layers. Modules of this layer import each other by path, because tests/architecture.rs
// looks for import cycles between modules.
pub use after_load::PostLoadAction;
pub use answer::{PickedPoint, QueryAnswer};
pub use answer_summary::{AnswerSummary, ClassCounts};
pub use camera::{PlaneCamera, Projection, Scene, SpaceCamera};
pub use commands::command::{Command, Mode};
pub use commands::{Action, Actions, CommandPalette};
pub use draft::{DataKind, Draft, QueryKind};
pub use fields::{Field, FieldError};
pub use files::{
    ColumnRole, FileColumn, FileRoles, FileState, RoleChoice, Roles, SAMPLES, Sample, SampleSource,
    SessionFile, UnusedColumn, absolute, data_file, file_name,
};
pub use log::{Activity, CurrentJob, FailureReason, LastFailures, Level, Log, SHOWN_AFTER, Subject};
pub use map::MapAxes;
pub use pane::{PaneKind, single_layout};
pub use picture::{Background, Layout, Mark, Picture, PictureDraft, PictureSettings, PictureSize};
pub use pictures::ImageShape;
pub use plan::{candidates, comparable, plan_of};
pub use search::folded;
pub use session::{EngineStatus, FileColumns, Session};
pub use state::{SCALES, State, WindowLayout};
pub use table::{SortOrder, TableView};
pub use titles::{shown_run, source_name, title_of};
pub use views::{
    CountsView, PlaneView, PlaneWindow, SpaceView, Theme, TimeAxis, TimelineView, TimingsFigure, TimingsView,
};
pub use workspace::Workspace;
