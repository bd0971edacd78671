//! The runs of this session and of opened recordings.
//!
//! | part | does |
//! |---|---|
//! | `state` | the list of runs, the comparison of two, what is asked of them |
//! | `apply` | shows, compares and removes runs; opens recordings |

pub mod apply;
pub mod state;
