//! Runs the problem on the left.
//!
//! | part | does |
//! |---|---|
//! | `apply` | hands problems to the worker, hears it, shows what was run; finds out which engines can run |

pub mod apply;
