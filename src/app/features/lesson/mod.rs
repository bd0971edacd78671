//! The lesson in the window: recording, playback, quiz, painting, export.
//!
//! | module | role |
//! |---|---|
//! | `state` | player, quiz, class poll, input fields; actions |
//! | `apply` | opens, records and plays lessons, runs quizzes, moves points |
//! | `record` | records a lesson on the CPU twin or a GPU, optionally with an injected fault |
//! | `panel`, `controls`, `ask`, `poll`, `source` | draw the state and send actions |
//! | `drag` | dragging the query and points in a map |
//! | `export` | writes pictures, animations and handouts |
//! | `picture`, `paint`, `words` | the picture: hit testing, painting, animation, tooltips |

pub mod apply;
pub mod ask;
pub mod controls;
pub mod drag;
pub mod export;
pub mod paint;
pub mod panel;
pub mod picture;
pub mod poll;
pub mod record;
pub mod source;
pub mod state;
pub mod words;
