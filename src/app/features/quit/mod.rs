//! The window closes: at once, or after a question where runs would be lost.
//!
//! | part | does |
//! |---|---|
//! | `state` | what is waited for |
//! | `apply` | asks, saves, closes |
//! | `controls` | the dialog |

pub mod apply;
pub mod controls;
pub mod state;
