//! Point colours: which values they show, how those are computed, and their legend.
//!
//! | part | does |
//! |---|---|
//! | `state` | what points are coloured by, the values, what is asked of them |
//! | `apply` | chooses, selects by value, has values worked out |
//! | `request` | what has to be computed for a choice, and when that changes |
//! | `query`, `counters`, `column`, `analysis` | compute it |
//! | `work` | caches the latest result |
//! | `bar`, `legend` | the chooser and the legend above Plane and Space |
//! | `picture` | the legend in pictures of them |
//! | `brush` | selects by value: the histogram of the legend |

pub mod analysis;
pub mod apply;
pub mod bar;
pub mod brush;
pub mod column;
pub mod counters;
pub mod legend;
pub mod picture;
pub mod query;
pub mod request;
pub mod state;
pub mod work;
