//! The features of the window, one folder each. `state` holds state and actions; `apply` the state changes,
//! background tasks and the feature's row of the `table`. The rest are computations, which run on any thread,
//! and controls, which read the state and send actions; if they fit in one file, it is the feature's `mod`.
//!
//! | module | role |
//! |---|---|
//! | `analysis` | analyses of all rows' neighbours, and comparisons with other files |
//! | `color` | values that colour points, their chooser and legend |
//! | `picking` | points under the pointer or in a region, and their other columns in the file |
//! | `selection` | computes the selection after a change |
//! | `live` | the query's marker in Plane, its coordinates as fields, the row it snaps to |
//! | `answer_summary` | summary of the answer in words, cached between frames |
//! | `manual` | the embedded documents |
//! | `projection` | the cache of projections, and their controls |
//! | `lesson` | a lesson: recorded, played, quizzed, painted and exported |
//! | `saved` | sessions as files: which state is saved |
//! | `export` | the contents of a pane as a table or a file |
//! | `row_names` | names of all rows, read and searched |
//! | `walk` | the walk through the picked query's search of an index |
//! | `points_table` | the table of all points: sorted, filtered, read page by page |
//! | `why` | why a row is, or is not, among the neighbours |
//! | `engine_comparison` | comparison of all engines on one problem |
//! | `runs` | runs of this session and of opened recordings |
//! | `opening` | opens clouds and recordings |
//! | `datasets` | chooses one cloud of a file with several |
//! | `unusable` | offers to open a file without its unusable rows |
//! | `columns` | roles of a file's columns |
//! | `quit` | closes the window, after a question if runs would be lost |
//! | `chooser` | the built-in file dialog, for desktops without one |
//! | `shortcuts` | the shortcut sheet |
//! | `history` | undo and redo of selection, query, question, columns and view |
//! | `running` | runs the problem in the left panel |
//! | `errors` | wording of errors in the window |

pub mod analysis;
pub mod chooser;
pub mod color;
pub mod columns;
pub mod engine_comparison {
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
pub mod points_table {
    pub mod apply;
    pub mod state;
}
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
pub mod answer_summary;
pub mod saved;
pub mod second;
pub mod selection;
pub mod shortcuts;
pub mod table;
pub mod unusable;
pub mod walk;
pub mod why {
    pub mod apply;
    pub mod state;
}
