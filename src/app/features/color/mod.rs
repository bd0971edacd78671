//! Point colours: which values they show, how those are computed, and their legend.
//!
//! | part | does |
//! |---|---|
//! | `request` | what has to be worked out for a choice, and when that changes |
//! | `query`, `counters`, `column` | work it out |
//! | `work` | what came out last |
//! | `bar`, `legend` | the chooser and the legend over Plane and Space |

pub mod bar;
pub mod column;
pub mod counters;
pub mod legend;
pub mod query;
pub mod request;
pub mod work;
