//! What is asked of the selection.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::app::features::color::state::PointValues;
use crate::app::features::color::state::channel::Whose;
use crate::app::model::picking::sight::Within;
use crate::app::model::selection::Hovered;
use crate::app::model::selection::how::How;

#[derive(Clone, Debug)]
pub enum Choice {
    /// Rows of the cloud, in any order; what it does not have is left out.
    Rows(Vec<u32>),
    /// Queries of the run, in any order; what it does not have is left out.
    Queries(Vec<u32>),
    /// Both: rows of the cloud, and queries of the run beside those that ask for the rows.
    These {
        /// Rows of the cloud, in any order; those that it does not have are ignored.
        rows: Vec<u32>,
        /// Queries of the run, in any order; those that it does not have are ignored.
        queries: Vec<u32>,
    },
    /// Queries of the run that counted so many of a measure.
    Measure(String, RangeInclusive<u32>),
    /// Rows that have this value, of one by row.
    Valued(Arc<PointValues>, f32),
    /// Points whose value, of one by row, lies between two, both included.
    Between {
        whose: Whose,
        values: Arc<PointValues>,
        from: f32,
        to: f32,
    },
    /// Everything in a region of the screen.
    Within(Box<Within>),
    All,
    /// Everything that is not selected.
    Rest,
    /// The neighbours of the selected queries; of the picked one where none is.
    Neighbors,
}

/// What panes ask of the selection.
#[derive(Clone, Debug)]
pub enum SelectAction {
    /// Something is chosen. `by` says how, as a few words after which nothing follows: "rectangle in Plane", "16 merges".
    Choose { what: Choice, how: How, by: String },
    /// Nothing is selected any more.
    Clear,
    /// What is typed as the name of a set.
    TypeName(String),
    /// The selected rows are kept under the name that is typed.
    Keep,
    /// A kept set goes, by its name.
    Forget(String),
    /// The selected rows fill Plane and Space.
    ZoomTo,
    /// The selected rows are the queries of the next run.
    UseAsQueries,
    /// The pointer rests on a point, or on a row that stands for one.
    Hover(Option<Hovered>),
}

impl SelectAction {
    /// Chooses rows of the cloud.
    pub fn rows(rows: Vec<u32>, how: How, by: impl Into<String>) -> Self {
        Self::Choose { what: Choice::Rows(rows), how, by: by.into() }
    }

    /// Chooses queries of the run.
    pub fn queries(queries: Vec<u32>, how: How, by: impl Into<String>) -> Self {
        Self::Choose { what: Choice::Queries(queries), how, by: by.into() }
    }

    /// Chooses the queries that counted so many of a measure, which is named by its column and its unit, one and many.
    pub fn measure(name: &str, [one, many]: [&str; 2], values: RangeInclusive<u32>, how: How) -> Self {
        let by = match (values.start(), values.end()) {
            (1, 1) => format!("1 {one}"),
            (from, to) if from == to => format!("{from} {many}"),
            (from, to) => format!("{from} to {to} {many}"),
        };
        Self::Choose { what: Choice::Measure(name.to_owned(), values), how, by }
    }
}
