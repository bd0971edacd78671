//! What is under the pointer, and what is inside a rectangle or a lasso: worked out on the processor from the points
//! themselves, so that it is the same with every graphics adapter and every number of pixels a point.
//!
//! | part | does |
//! |---|---|
//! | `search` | the nearest row, and all rows in a region, in parallel |
//! | `tool` | clicks, drags and rests of the pointer as actions |
//! | `lookup` | the other columns of points' records |
//! | `measure` | how long these take |

pub mod lookup;
pub mod measure;
pub mod search;
pub mod tool;
