//! The lesson in the window: a mode of its own, beside the explorer.
//!
//! | part | does |
//! |---|---|
//! | [`session`] | which lesson is open, what is typed, what is kept |
//! | [`player`], [`quiz`] | where one is in it; what is asked |
//! | `apply` | the one place that changes any of that |
//! | `ui`, `panel`, `controls`, `ask`, `source` | draw, read, and send [`LessonAction`]s |
//! | `export` | what becomes a file |
//! | `picture`, `paint`, `words` | the picture: what is pointed at, how shapes are painted, what a tooltip says |

mod apply;
mod ask;
mod controls;
mod export;
mod paint;
mod panel;
mod picture;
pub mod player;
pub mod quiz;
pub mod session;
mod source;
mod ui;
mod words;

pub use apply::{LessonAction, QuizAction, Recording};
pub use ask::keys as question_keys;
pub use controls::export_ui as export_lesson_ui;
pub use export::{Exporting, LessonFile, RangeDraft, Written};
pub use picture::{Picture, target_position};
pub use session::{LessonSession, LessonView, Presenting};
