//! Undo and redo.
//!
//! | part | does |
//! |---|---|
//! | `state` | the steps, and what can be brought back |
//! | `apply` | takes steps back |

pub mod apply;
pub mod state;
