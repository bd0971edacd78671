//! The names of all rows, read and searched where somebody types what may be one.
//!
//! | part | does |
//! |---|---|
//! | `state` | the names, and a search of them |
//! | `apply` | has them read and searched |

pub mod apply;
pub mod state;
