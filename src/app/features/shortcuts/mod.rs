//! The sheet of shortcuts.
//!
//! | part | does |
//! |---|---|
//! | `apply` | opens and closes it |
//! | `controls` | the sheet |

pub mod apply;
pub mod controls;
