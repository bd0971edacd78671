//! The lesson in the window: recording, playback, quiz, painting, export.
//!
//! | part | does |
//! |---|---|
//! | `state` | the player, the quiz, what a class votes on, the input fields; what is asked of them |
//! | `apply` | opens and records lessons, plays them, asks questions, moves points |
//! | `record` | records it, on the CPU twin or on a GPU, as it is or with a mistake made on purpose |
//! | `panel`, `controls`, `ask`, `poll`, `source` | draw, read, and send actions |
//! | `touch` | dragging the query and points in a map |
//! | `export` | writes it as pictures, animations and handouts |
//! | `picture`, `paint`, `words` | the picture: hit testing, painting, what moves after a step, tooltips |

pub mod apply;
pub mod ask;
pub mod controls;
pub mod export;
pub mod paint;
pub mod panel;
pub mod picture;
pub mod poll;
pub mod record;
pub mod source;
pub mod state;
pub mod touch;
pub mod words;
