//! What the window can do with a cloud and its runs, a folder for each feature. `state` holds its state and
//! its actions, `apply` the changes that these make, with its background tasks and its row of the `table`;
//! the rest are its computations, which run on any thread, and its controls, which read the state and send
//! actions: in the `mod` of the feature where they are one file.
//!
//! | part | does |
//! |---|---|
//! | `color` | values by which points are coloured, their chooser and their legend |
//! | `picking` | points under the pointer or in a region, and their other columns in the file |
//! | `selection` | computes the selection that a change results in |
//! | `live` | the query's marker in Plane, its coordinates as fields, the row it snaps to |
//! | `telling` | the answer in words, remembered from frame to frame |
//! | `manual` | the documents that the program carries |
//! | `projection` | the cache of projections, and their controls |
//! | `lesson` | a lesson: recorded, played, quizzed, painted and exported |
//! | `saved` | a session as it is saved: which state of the window goes into a file |
//! | `export` | the contents of a pane as a table or a file |
//! | `row_names` | the names of all rows, read and searched |
//! | `why` | why a row is, or is not, among the neighbours |
//! | `contest` | one question answered by engine after engine |
//! | `runs` | the runs of this session and of opened recordings |
//! | `opening` | opens clouds and recordings |
//! | `datasets` | a file with several clouds: which one is meant |
//! | `unusable` | rows of a file that can be no points: it is opened without them, or not |
//! | `columns` | what the columns of a file are |
//! | `quit` | the window closes: at once, or after a question where runs would be lost |
//! | `chooser` | our own file dialog, where the desktop has none |
//! | `shortcuts` | the sheet of shortcuts |
//! | `history` | undo and redo of what is selected, picked and looked at |
//! | `running` | runs the problem on the left |
//! | `errors` | errors as the window words them |

pub mod analysis;
pub mod chooser;
pub mod color;
pub mod columns;
pub mod contest {
    pub mod apply;
    pub mod state;
}
pub mod datasets;
pub mod errors;
pub mod export;
pub mod history {
    pub mod apply;
    pub mod state;
}
pub mod lesson;
pub mod live;
pub mod manual;
pub mod opening;
pub mod picking;
pub mod projection;
pub mod quit;
pub mod row_names {
    pub mod apply;
    pub mod state;
}
pub mod running {
    pub mod apply;
}
pub mod runs {
    pub mod apply;
    pub mod state;
}
pub mod saved;
pub mod selection;
pub mod shortcuts;
pub mod table;
pub mod telling;
pub mod unusable;
pub mod walk;
pub mod why {
    pub mod apply;
    pub mod state;
}
