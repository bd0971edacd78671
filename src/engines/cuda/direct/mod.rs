//! The direct kernel: a warp owns a few queries and computes every distance (`cuda/direct/`).
//!
//! | file | holds |
//! |---|---|
//! | `policy.rs` | which kernel answers a problem, and how it was cut to size |
//! | `layout.rs` | the order in which it streams its points |

mod layout;
mod policy;

pub use layout::{GROUP_ROWS, Layout};
pub use policy::{Cut, Policy, Variant};
