//! What is under the pointer, and what is inside a rectangle or a lasso: worked out on the processor from the points
//! themselves, so that it is the same with every graphics adapter and every number of pixels a point.
//!
//! | part | does |
//! |---|---|
//! | [`Region`] | rectangle and lasso on the screen |
//! | [`Eye`] | where rows are on the screen |
//! | `search` | the nearest row, and all rows in a region, in parallel |
//! | `tool` | clicks, drags and rests of the pointer as actions |
//! | `lookup` | the other columns of points' records, read on a thread |
//! | `others` | what of records is kept, once they are known to be the points' own |
//! | `apply` | searches on threads, the newest wins |
//! | `measure` | how long these take |

mod apply;
mod eye;
mod lookup;
mod measure;
mod others;
mod region;
mod search;
mod tool;

pub use apply::{PickAction, Picking};
pub use eye::Eye;
pub use lookup::{Beside, Lookup};
pub use measure::{PickTimes, measure};
pub use search::{Within, is_small, nearest_row};
pub use tool::{Tool, follow_ui, gesture_ui, hint_ui, pointing_ui, tools_ui};
