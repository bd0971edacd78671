//! The selection: rows of the cloud and queries of the run, each derived from the other, so that points, histogram bins, table
//! rows and timeline spans can highlight one another.
//!
//! | part | does |
//! |---|---|
//! | [`Selection`] | rows and queries, ascending, and how they were chosen |
//! | [`nearby`] | the distance within which rows are to be selected |
//! | [`facts`] | what panes show about a selection: measures, ranges |
//! | [`sets`] | ascending numbers as sets |
//! | [`named`] | selections that were given a name |

pub mod facts;
pub mod named;
pub mod nearby;
pub mod sets;

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::app::features::color::state::PointValues;
use crate::app::features::color::state::channel::Whose;
use crate::app::features::picking::state::Within;
use crate::app::model::answer::Picked;
use crate::app::model::how::How;
use crate::app::model::pane::PaneKind;
use crate::run::RunRecord;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    pub(in crate::app) rows: Arc<[u32]>,
    pub(in crate::app) queries: Arc<[u32]>,
    pub(in crate::app) by: String,
}

/// The point under the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hovered {
    /// A row of the cloud, or a query of a file of queries.
    pub what: Picked,
    pub pane: PaneKind,
}

impl Selection {
    /// Rows of the cloud, in any order, plus the queries of `record` whose points they are. `by` says how they were
    /// chosen: "rectangle in Plane".
    pub fn of_rows(mut rows: Vec<u32>, record: Option<&RunRecord>, by: impl Into<String>) -> Self {
        rows.sort_unstable();
        rows.dedup();
        let queries = record.map(|record| sets::queries_of(&rows, record)).unwrap_or_default();
        Self { rows: rows.into(), queries: queries.into(), by: by.into() }
    }

    /// Queries of `record`, in any order, plus their points, where these are rows of the cloud.
    /// `by` says how they were chosen: "16 merges".
    ///
    /// # Panics
    /// If the record has no such query.
    pub fn of_queries(mut queries: Vec<u32>, record: &RunRecord, by: impl Into<String>) -> Self {
        queries.sort_unstable();
        queries.dedup();
        let rows = sets::rows_of(&queries, record);
        Self { rows: rows.into(), queries: queries.into(), by: by.into() }
    }

    /// Rows of the cloud, ascending.
    pub fn rows(&self) -> &Arc<[u32]> {
        &self.rows
    }

    /// Queries of the run, ascending.
    pub fn queries(&self) -> &Arc<[u32]> {
        &self.queries
    }

    /// How they were chosen: "rectangle in Plane".
    pub fn by(&self) -> &str {
        &self.by
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.queries.is_empty()
    }

    /// Whether a row of the cloud is selected.
    pub fn has_row(&self, row: u32) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    /// This selection combined with another.
    pub fn combined(&self, other: Self, how: How) -> Self {
        let whole = |own: &[u32], others: &[u32]| others.iter().all(|number| own.binary_search(number).is_ok());
        let how = match how {
            How::Toggle if !other.is_empty() && whole(&self.rows, &other.rows) && whole(&self.queries, &other.queries) => How::Remove,
            How::Toggle => How::Add,
            how => how,
        };
        let (rows, queries, sign) = match how {
            How::Replace => return other,
            How::Add | How::Toggle => (sets::union(&self.rows, &other.rows), sets::union(&self.queries, &other.queries), "+"),
            How::Remove => (sets::difference(&self.rows, &other.rows), sets::difference(&self.queries, &other.queries), "−"),
        };
        if rows.is_empty() && queries.is_empty() {
            return Self::default();
        }
        let by = if self.is_empty() { other.by } else { joined(&self.by, sign, &other.by) };
        Self { rows: rows.into(), queries: queries.into(), by }
    }
}

/// How a selection was built; only the last step once the text gets too long.
fn joined(before: &str, sign: &str, last: &str) -> String {
    const LONGEST: usize = 60;
    let all = format!("{before} {sign} {last}");
    if all.chars().count() <= LONGEST && !before.starts_with('…') { all } else { format!("… {sign} {last}") }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    #[test]
    fn rows_and_queries_give_each_other() {
        let record = record();
        let by_rows = Selection::of_rows(vec![8, 20, 3, 8], Some(&record), "rectangle in Plane");
        assert_eq!((&by_rows.rows()[..], &by_rows.queries()[..]), (&[3, 8, 20][..], &[0, 2][..]));
        let by_queries = Selection::of_queries(vec![2, 0], &record, "3 merges");
        assert_eq!((&by_queries.rows()[..], &by_queries.queries()[..]), (&[3, 8][..], &[0, 2][..]));
        assert!(by_rows.has_row(20) && !by_queries.has_row(20) && by_queries.queries().contains(&2) && !by_queries.queries().contains(&1));
        assert!(Selection::default().is_empty() && !by_rows.is_empty());
    }

    #[test]
    fn queries_of_a_file_of_their_own_are_no_rows() {
        let mut record = RunRecord::clone(&record());
        record.query_cloud = Some(Arc::clone(&record.cloud));
        assert!(Selection::of_rows(vec![3, 8], Some(&record), "").queries().is_empty());
        let by_queries = Selection::of_queries(vec![1], &record, "");
        assert!(by_queries.rows().is_empty() && by_queries.queries().contains(&1));
    }

    #[test]
    fn selections_are_added_removed_and_toggled() {
        let record = record();
        let of = |rows: &[u32], by: &str| Selection::of_rows(rows.to_vec(), Some(&record), by);
        let base = of(&[3, 4], "a");
        let added = base.combined(of(&[4, 8], "b"), How::Add);
        assert_eq!((&added.rows()[..], &added.queries()[..], added.by()), (&[3, 4, 8][..], &[0, 2][..], "a + b"));
        let removed = added.combined(of(&[3, 9], "c"), How::Remove);
        assert_eq!((&removed.rows()[..], &removed.queries()[..], removed.by()), (&[4, 8][..], &[2][..], "a + b − c"));
        assert_eq!(added.combined(of(&[3, 8], "d"), How::Toggle).rows()[..], [4], "all of it was there: it goes");
        assert_eq!(added.combined(of(&[3, 9], "d"), How::Toggle).rows()[..], [3, 4, 8, 9], "some was not: all comes");
        assert_eq!(base.combined(of(&[3, 4], ""), How::Remove), Selection::default());
        assert_eq!(base.combined(of(&[9], "new"), How::Replace).by(), "new");
        let long = (0..20).fold(base, |sum, row| sum.combined(of(&[row], "a click"), How::Add));
        assert_eq!(long.by(), "… + a click");
    }
}
