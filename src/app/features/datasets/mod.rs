//! A file with several clouds: which one is meant.
//!
//! | part | does |
//! |---|---|
//! | `state` | the question, and what is asked by it |
//! | `apply` | loads the one that was chosen |
//! | `controls` | the dialog |

pub mod apply;
pub mod controls;
pub mod state;
