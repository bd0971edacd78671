//! Why a row is, or is not, among the neighbours.
//!
//! | part | does |
//! |---|---|
//! | `state` | the row that is asked about, and what was worked out of it |
//! | `apply` | has it worked out |

pub mod apply;
pub mod state;
