//! What the window can do with a cloud and its runs. Each feature has what is worked out for it, on any thread, and the
//! controls that belong to it; they read the model and send actions.
//!
//! | part | does |
//! |---|---|
//! | `color` | values by which points are coloured, their chooser and their legend |
//! | `picking` | what is under the pointer or in a region, and what the file has beside it |
//! | `selection` | what comes of a change of the selection |
//! | `live` | the query's mark in Plane, its coordinates as fields, the row that it snaps to |
//! | `projection` | projections that are kept, and their controls |
//! | `lesson` | a lesson recorded, played, asked about, painted and exported |
//! | `saved` | a session put down: what of the window goes into a file |
//! | `export` | what a pane shows, as a table or a file |
//! | `errors` | errors as the window says them |

pub mod color;
pub mod errors;
pub mod export;
pub mod lesson;
pub mod live;
pub mod picking;
pub mod projection;
pub mod saved;
pub mod selection;
