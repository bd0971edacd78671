//! The lesson in the window.
//!
//! | part | does |
//! |---|---|
//! | `record` | records it, by the twin or by a GPU |
//! | `panel`, `controls`, `ask`, `source` | draw, read, and send actions |
//! | `export` | what becomes a file |
//! | `picture`, `paint`, `words` | the picture: what is pointed at, how shapes are painted, what a tooltip says |

pub mod ask;
pub mod controls;
pub mod export;
pub mod paint;
pub mod panel;
pub mod picture;
pub mod record;
pub mod source;
pub mod words;
