//! Rows of a file that can be no points: it is opened without them, or not.
//!
//! | part | does |
//! |---|---|
//! | `state` | the question |
//! | `apply` | loads the file without these rows, or not |
//! | `controls` | the dialog |

pub mod apply;
pub mod controls;
pub mod state;
