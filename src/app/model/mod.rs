//! The state of the window: settings that persist between launches, what is open, and the actions that change either. Data,
//! and pure functions on it: no threads, no GPU objects, no painting.
//!
//! | part | holds |
//! |---|---|
//! | `state`, `views`, `pane`, `look`, `draft` | what persists between launches: layout, views of panes, input fields |
//! | `session`, `answer`, `activity`, `scene` | what is open: the cloud, its answer, tasks in progress, what is drawn for it |
//! | `timeline` | the state of each feature |
//! | `after_load` | what happens once a cloud is loaded |
//! | `sort` | tables in the order of a column |
//! | `files`, `finder`, `log` | files, dialogs, the log |
//! | `camera` | transforms between cloud and screen coordinates |
//! | `apart`, `between` | how far rows are from a place, and two from each other |
//! | `samples` | clouds that ship with the program |
//! | `roles` | what the columns of a file are |
//! | `pictures` | rows that are pictures |
//! | `telling` | an answer in words |
//! | `picture`, `titles` | pictures of panes for slides and papers, and what stands over them |
//! | `commands` | actions: one enum feeds menus, shortcuts and the list of shortcuts |

pub mod activity;
pub mod after_load;
pub mod answer;
pub mod apart;
pub mod between;
pub mod camera;
pub mod commands;
pub mod draft;
pub mod files;
pub mod finder;
pub mod how;
pub mod log;
pub mod look;
pub mod pane;
pub mod picture;
pub mod pictures;
pub mod plan;
pub mod roles;
pub mod samples;
pub mod scene;
pub mod session;
pub mod sort;
pub mod state;
pub mod telling;
pub mod timeline;
pub mod titles;
pub mod views;

// What other floors use of it. Within the floor, imports name the part: tests/architecture.rs looks for circles of parts.
pub use activity::{Activity, Ended, Endings, NOTICED, Running};
pub use after_load::Then;
pub use answer::{Answered, Picked};
pub use camera::{PlaneCamera, Projection, SpaceCamera};
pub use commands::command::{Command, Mode};
pub use commands::{Action, Actions};
pub use draft::{DataKind, Draft, Field, FieldError, QueryKind};
pub use files::{FileState, SessionFile, absolute, data_file, file_name};
pub use finder::Finder;
pub use log::{About, Level, Log};
pub use look::Look;
pub use pane::{PaneKind, measuring_layout, single_layout};
pub use picture::{Ground, Layout, Mark, Picture, PictureChoice, PictureDraft, PictureSize};
pub use pictures::Pictures;
pub use plan::{candidates, comparable, plan_of};
pub use roles::{ColumnRole, FileColumn, FileRoles, LeftOut, Roles, Told};
pub use samples::{Material, SAMPLES, Sample};
pub use scene::Scene;
pub use session::{EngineStatus, FileColumns, Session};
pub use sort::{Sort, SortKey, sorted};
pub use state::{Room, SCALES, State};
pub use telling::{Kinds, Telling};
pub use timeline::{TimeAxis, TimelineView};
pub use titles::{source_name, title_of};
pub use views::{CountsView, PlaneView, PlaneWindow, SpaceView, TimingsFigure, TimingsView};
