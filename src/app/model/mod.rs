//! The state of the window: settings that persist between launches, what is open, and the actions that change
//! either. Data, and pure functions on it: no threads, no GPU objects, no painting.
//!
//! - `state`, `views`, `pane`, `draft`, `fields`: what persists between launches: layout, views of panes,
//!   input fields
//! - `session`, `answer`: what is open: the cloud, its answer, tasks in progress
//! - `after_load`: what happens once a cloud is loaded
//! - `files`: files: their names, columns and state, and the samples
//! - `log`: what goes on in the background, how it ended, and everything that was said
//! - `camera`: what Plane and Space draw, and transforms between cloud and screen coordinates
//! - `distances`: how far rows are from a place, and two from each other
//! - `pictures`: rows that are pictures
//! - `telling`: an answer in words
//! - `picture`, `titles`: pictures of panes for slides and papers, and what stands over them
//! - `commands`: actions: one enum feeds menus, shortcuts and the list of shortcuts; what is typed into the
//!   finder

pub mod after_load;
pub mod answer;
pub mod camera;
pub mod commands;
pub mod distances;
pub mod draft;
pub mod fields;
pub mod files;
pub mod how;
pub mod log;
pub mod pane;
pub mod picture;
pub mod pictures;
pub mod plan;
pub mod session;
pub mod state;
pub mod telling;
pub mod titles;
pub mod views;

// What other floors use of it. Within the floor, imports name the part: tests/architecture.rs looks for
// circles of parts.
pub use after_load::Then;
pub use answer::{Answered, Picked};
pub use camera::{PlaneCamera, Projection, Scene, SpaceCamera};
pub use commands::command::{Command, Mode};
pub use commands::{Action, Actions, Finder};
pub use draft::{DataKind, Draft, QueryKind};
pub use fields::{Field, FieldError};
pub use files::{
    ColumnRole, FileColumn, FileRoles, FileState, LeftOut, Material, Roles, SAMPLES, Sample, SessionFile,
    Told, absolute, data_file, file_name,
};
pub use log::{About, Activity, Ended, Endings, Level, Log, NOTICED, Running};
pub use pane::{PaneKind, measuring_layout, single_layout};
pub use picture::{Ground, Layout, Mark, Picture, PictureChoice, PictureDraft, PictureSize};
pub use pictures::Pictures;
pub use plan::{candidates, comparable, plan_of};
pub use session::{EngineStatus, FileColumns, Session};
pub use state::{Room, SCALES, State};
pub use telling::{Kinds, Telling};
pub use titles::{source_name, title_of};
pub use views::{
    CountsView, Look, PlaneView, PlaneWindow, Sort, SortKey, SpaceView, TimeAxis, TimelineView,
    TimingsFigure, TimingsView, sorted,
};
