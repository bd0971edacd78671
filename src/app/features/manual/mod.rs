//! The documents that the program carries, read in the window.
//!
//! | part | does |
//! |---|---|
//! | `state` | the documents, and which place of which is read |
//! | `apply` | opens them, and goes from one to another |
//! | `controls` | the window in which they are read |

pub mod apply;
pub mod controls;
pub mod state;
