//! Our own file dialog, where the desktop has none.
//!
//! | part | does |
//! |---|---|
//! | `state` | the folder that is shown, and what is typed |
//! | `apply` | asks for a file: by the desktop’s dialog, or by our own |
//! | `controls` | the dialog |

pub mod apply;
pub mod controls;
pub mod state;
