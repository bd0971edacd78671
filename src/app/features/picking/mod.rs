//! Picking under the pointer and inside a rectangle or a lasso. It is computed on the CPU from the points themselves, so that
//! the result does not depend on the graphics adapter or the pixel density.
//!
//! | part | does |
//! |---|---|
//! | `state` | screen positions and regions, the tool, what is asked with them, the other columns of the points' records |
//! | `apply` | carries out clicks, regions and rests of the pointer; has the other columns read |
//! | `search` | the nearest row, and all rows in a region, in parallel |
//! | `tool` | clicks, drags and hovers as actions |
//! | `lookup` | the other columns of the points' records |
//! | `measure` | benchmark of the above |

pub mod apply;
pub mod lookup;
pub mod measure;
pub mod search;
pub mod state;
pub mod tool;
