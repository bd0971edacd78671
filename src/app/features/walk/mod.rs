//! The walk through the picked query's search: which boxes or clusters it looked into, in which order, and which it left out.
//!
//! | part | does |
//! |---|---|
//! | `state` | the steps, which of them is shown, what is asked of it |
//! | `apply` | has it recorded, shows it, plays it |
//! | `wanted` | whether there is a walk to be shown, and else why not |
//! | `controls` | the scrubber over Plane and Space, and what happened in the step in words |
//! | `paint` | the boxes or spheres, and the points of the leaf or cluster that is visited |

pub mod apply;
pub mod controls;
pub mod paint;
pub mod state;
pub mod wanted;
