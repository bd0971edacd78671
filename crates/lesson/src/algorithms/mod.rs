//! What can be recorded, a folder an algorithm.
//!
//! | folder | holds |
//! |---|---|
//! | [`kernel`] | the search of the kernel |
//! | [`tree`] | the search of the index |
//! | [`warp_select`] | warp select |
//! | [`radix_select`] | a selection by digits |
//! | [`heap`] | threads with a query each |

pub mod heap;
pub mod kernel;
pub mod radix_select;
pub mod tree;
pub mod warp_select;
