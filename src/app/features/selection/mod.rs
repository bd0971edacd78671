//! The selection, and computing its changes.
//!
//! | module | role |
//! |---|---|
//! | `state` | the selection, facts about it, named sets, actions |
//! | `apply` | makes changes, large ones in the background |

use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use super::color::state::channel::PointSet;
use crate::app::features::selection::state::facts::SelectionStats;
use crate::app::features::selection::state::{Selection, SelectionCriterion, complement, union};
use crate::app::model::QueryAnswer;
use crate::app::model::select_mode::SelectMode;
use crate::cloud::PointCloud;
use crate::knn::NONE;
use crate::progress::Progress;
use crate::run::RunRecord;

pub mod apply;
pub mod state;

/// A change of a selection, with all inputs.
#[derive(Clone, Debug)]
pub struct Change {
    pub what: SelectionCriterion,
    pub how: SelectMode,
    pub by: String,
    pub cloud: Arc<PointCloud>,
    /// The run whose queries are selected.
    pub record: Option<Arc<RunRecord>>,
    pub answered: Option<QueryAnswer>,
}

impl Change {
    /// Whether the change takes longer than a frame.
    pub fn is_large(&self, base: &Selection) -> bool {
        const ROWS: usize = 100_000;
        const QUERIES: usize = 2_000;
        let queries = self.record.as_ref().map_or(0, |record| record.query_rows.len());
        let (rows, asked) = match &self.what {
            SelectionCriterion::Rows(rows) | SelectionCriterion::Within(rows, _) => {
                (rows.len(), rows.len().min(queries))
            }
            SelectionCriterion::Queries(queries) => (queries.len(), queries.len()),
            SelectionCriterion::These { rows, queries: chosen } => {
                (rows.len(), rows.len().min(queries) + chosen.len())
            }
            SelectionCriterion::Measure(..) => (queries, queries),
            // An upper bound of the result.
            SelectionCriterion::Region(_)
            | SelectionCriterion::Valued(..)
            | SelectionCriterion::Between { .. } => (self.cloud.len(), queries),
            SelectionCriterion::All | SelectionCriterion::Rest => (self.cloud.len(), queries),
            SelectionCriterion::Neighbors => {
                let k = self.record.as_ref().map_or(0, |record| record.neighbors.k);
                (base.queries().len().saturating_mul(k), queries.min(base.queries().len().saturating_mul(k)))
            }
        };
        rows + base.rows().len() > ROWS || asked + base.queries().len() > QUERIES || queries > 20 * ROWS
    }

    /// The new selection with its facts; `None` if cancelled.
    pub fn apply(self, base: &Selection, progress: &dyn Progress) -> Option<(Selection, SelectionStats)> {
        let record = self.record.clone();
        let cloud = Arc::clone(&self.cloud);
        let (by, how) = (self.by.clone(), self.how);
        let chosen = self.chosen(base, progress);
        if progress.cancelled() {
            return None;
        }
        let selection = base.combined(Selection { by, ..chosen }, how);
        let facts = SelectionStats::new(&selection, &cloud, record.as_deref());
        (!progress.cancelled()).then_some((selection, facts))
    }

    fn chosen(self, base: &Selection, progress: &dyn Progress) -> Selection {
        let record = self.record.as_deref();
        let n = self.cloud.len() as u32;
        let queries = record.map_or(0, |record| record.query_rows.len() as u32);
        let own_file = record.is_some_and(|record| record.query_cloud.is_some());
        match self.what {
            SelectionCriterion::Rows(mut rows) => {
                rows.retain(|&row| row < n);
                Selection::of_rows(rows, record, "")
            }
            SelectionCriterion::Within(rows, of) => {
                Selection { center: Some(*of), ..Selection::of_rows(rows, record, "") }
            }
            SelectionCriterion::Queries(mut chosen) => {
                chosen.retain(|&query| query < queries);
                record.map(|record| Selection::of_queries(chosen, record, "")).unwrap_or_default()
            }
            SelectionCriterion::These { mut rows, queries: mut chosen } => {
                rows.retain(|&row| row < n);
                chosen.retain(|&query| query < queries);
                chosen.sort_unstable();
                let of_rows = Selection::of_rows(rows, record, "");
                let queries = union(of_rows.queries(), &chosen).into();
                Selection { queries, ..of_rows }
            }
            SelectionCriterion::Measure(name, within) => {
                let Some(values) = record.and_then(|record| record.measured.column(&name)) else {
                    return Selection::default();
                };
                let Some(record) = record else { return Selection::default() };
                let chosen = values
                    .par_iter()
                    .enumerate()
                    .filter(|(_, value)| within.contains(value))
                    .map(|(query, _)| query as u32);
                Selection::of_queries(chosen.collect(), record, "")
            }
            SelectionCriterion::Valued(values, value) => {
                let own = values
                    .values
                    .par_iter()
                    .enumerate()
                    .filter(|(_, own)| **own == value)
                    .map(|(row, _)| row as u32);
                let rows: Vec<u32> = own.filter(|&row| row < n).collect();
                Selection::of_rows(rows, record, "")
            }
            SelectionCriterion::Between { points, values, from, to } => {
                let within = |value: Option<&f32>| value.is_some_and(|value| (from..=to).contains(value));
                match (points, record) {
                    (PointSet::Data, _) => {
                        let rows = values
                            .values
                            .par_iter()
                            .enumerate()
                            .filter(|(_, value)| within(Some(value)))
                            .map(|(row, _)| row as u32);
                        let rows: Vec<u32> = rows.filter(|&row| row < n).collect();
                        Selection::of_rows(rows, record, "")
                    }
                    (PointSet::Queries, Some(record)) => {
                        let rows = record.query_rows.par_iter().enumerate();
                        let queries = rows
                            .filter(|(_, row)| within(values.values.get(**row as usize)))
                            .map(|(query, _)| query as u32);
                        Selection::of_queries(queries.collect(), record, "")
                    }
                    (PointSet::Queries, None) => Selection::default(),
                }
            }
            SelectionCriterion::Region(within) => {
                let (rows, queries) = within.rows_and_queries(progress);
                if own_file {
                    Selection { rows: rows.into(), queries: queries.into(), ..Selection::default() }
                } else {
                    Selection::of_rows(rows, record, "")
                }
            }
            SelectionCriterion::All => {
                Selection { rows: (0..n).collect(), queries: (0..queries).collect(), ..Selection::default() }
            }
            SelectionCriterion::Rest => {
                let rows = complement(base.rows(), n);
                if own_file {
                    Selection {
                        rows: rows.into(),
                        queries: complement(base.queries(), queries).into(),
                        ..Selection::default()
                    }
                } else {
                    Selection::of_rows(rows, record, "")
                }
            }
            SelectionCriterion::Neighbors => {
                let rows = match (record, &self.answered) {
                    (Some(record), _) if !base.queries().is_empty() => base
                        .queries()
                        .iter()
                        .flat_map(|&query| record.neighbors.for_query(query as usize).0)
                        .copied()
                        .filter(|&row| row != NONE)
                        .collect(),
                    (_, Some(answered)) if base.is_empty() => {
                        answered.neighbors().map(|(row, _)| row).collect()
                    }
                    _ => Vec::new(),
                };
                Selection::of_rows(rows, record, "")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::color::state::PointValues;
    use crate::app::features::selection::state::SelectAction;
    use crate::app::testing::{measured, record};
    use crate::progress::NoProgress;

    fn after(
        base: &Selection,
        what: SelectionCriterion,
        how: SelectMode,
        record: &Arc<RunRecord>,
    ) -> Selection {
        let change = Change {
            what,
            how,
            by: "test".to_owned(),
            cloud: Arc::clone(&record.cloud),
            record: Some(Arc::clone(record)),
            answered: None,
        };
        change.apply(base, &NoProgress).expect("not cancelled").0
    }

    #[test]
    fn each_criterion_selects_matching_rows_and_queries() {
        let record = record();
        let none = Selection::default();
        let all = after(&none, SelectionCriterion::All, SelectMode::Replace, &record);
        assert_eq!((all.rows().len(), all.queries().len(), all.by()), (50, 3, "test"));
        let some = after(&none, SelectionCriterion::Rows(vec![3, 7, 900]), SelectMode::Replace, &record);
        assert_eq!(
            (&some.rows()[..], &some.queries()[..]),
            (&[3, 7][..], &[0][..]),
            "row 900 does not exist"
        );
        let rest = after(&some, SelectionCriterion::Rest, SelectMode::Replace, &record);
        assert_eq!((rest.rows().len(), &rest.queries()[..]), (48, &[1, 2][..]));
        assert_eq!(after(&rest, SelectionCriterion::Rest, SelectMode::Replace, &record).rows(), some.rows());
        assert_eq!(
            after(&none, SelectionCriterion::Queries(vec![2, 77]), SelectMode::Replace, &record).rows()[..],
            [8]
        );
        let values = Arc::new(PointValues::new((0..60).map(|row| (row % 20) as f32).collect()));
        let valued = after(&none, SelectionCriterion::Valued(values, 3.0), SelectMode::Replace, &record);
        assert_eq!((&valued.rows()[..], &valued.queries()[..]), (&[3, 23, 43][..], &[0][..]));
        let values = Arc::new(PointValues::new(
            (0..60).map(|row| if row == 4 { f32::NAN } else { row as f32 }).collect(),
        ));
        let between = |points, from, to| {
            after(
                &none,
                SelectionCriterion::Between { points, values: Arc::clone(&values), from, to },
                SelectMode::Replace,
                &record,
            )
        };
        assert_eq!(between(PointSet::Data, 3.0, 5.0).rows()[..], [3, 5], "row 4 has no value");
        assert_eq!(between(PointSet::Data, 48.0, f32::INFINITY).rows()[..], [48, 49], "there are 50 rows");
        assert_eq!(between(PointSet::Queries, 3.0, 8.0).queries().len(), 3);
        assert_eq!(between(PointSet::Queries, 3.0, 3.5).queries()[..], [0], "query 0 is row 3");
        let these = after(
            &none,
            SelectionCriterion::These { rows: vec![900, 7, 3], queries: vec![77, 2, 0] },
            SelectMode::Replace,
            &record,
        );
        assert_eq!((&these.rows()[..], &these.queries()[..]), (&[3, 7][..], &[0, 2][..]));
        let grown = after(&some, SelectionCriterion::Neighbors, SelectMode::Add, &record);
        assert_eq!(grown.rows()[..], [1, 2, 3, 4, 7], "query 0 is row 3, with the neighbours 3, 1, 2 and 4");
    }

    #[test]
    fn merge_count_ranges_select_matching_queries() {
        let mut record = RunRecord::clone(&record());
        record.measured = measured([3, 7, 3]);
        let record = Arc::new(record);
        let of = |merges| {
            let measure = SelectionCriterion::Measure("merges".to_owned(), merges);
            after(&Selection::default(), measure, SelectMode::Replace, &record).queries().to_vec()
        };
        assert_eq!(
            (of(3..=3), of(7..=9), of(0..=99), of(4..=6)),
            (vec![0, 2], vec![1], vec![0, 1, 2], vec![])
        );
        let SelectAction::Choose { by, .. } =
            SelectAction::measure("merges", ["merge", "merges"], 12..=16, SelectMode::Add)
        else {
            panic!("a choice")
        };
        assert_eq!(by, "12 to 16 merges");
    }

    #[test]
    fn queries_from_a_separate_file_are_selected_independently() {
        let mut record = RunRecord::clone(&record());
        record.query_cloud = Some(Arc::clone(&record.cloud));
        let record = Arc::new(record);
        let rows =
            after(&Selection::default(), SelectionCriterion::Rows(vec![3]), SelectMode::Replace, &record);
        let both = after(&rows, SelectionCriterion::Queries(vec![1]), SelectMode::Add, &record);
        assert_eq!((&both.rows()[..], &both.queries()[..]), (&[3][..], &[1][..]));
        let rest = after(&both, SelectionCriterion::Rest, SelectMode::Replace, &record);
        assert_eq!((rest.rows().len(), &rest.queries()[..]), (49, &[0, 2][..]));
    }
}
