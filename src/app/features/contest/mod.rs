//! One question answered by engine after engine.
//!
//! | part | does |
//! |---|---|
//! | `state` | which engines are compared, and what they answered |
//! | `apply` | runs them one after another |

pub mod apply;
pub mod state;
