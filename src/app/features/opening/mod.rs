//! Opens clouds and recordings.
//!
//! | part | does |
//! |---|---|
//! | `state` | which row is asked for before the user picks one |
//! | `apply` | shows what was opened, as a file of its kind is looked at; opens samples, and files that are dropped |

pub mod apply;
pub mod state;
