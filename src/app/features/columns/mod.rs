//! What the columns of a file are.
//!
//! | part | does |
//! |---|---|
//! | `state` | the table in which that is chosen |
//! | `apply` | reads the file with the columns that were chosen, and keeps them with it |
//! | `controls` | the dialog |

pub mod apply;
pub mod controls;
pub mod state;
