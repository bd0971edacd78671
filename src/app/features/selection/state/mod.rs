//! The selection: rows of the cloud and queries of the run, each derived from the other, so that points,
//! histogram bins, table rows and timeline spans can highlight one another.
//!
//! | item | contents |
//! |---|---|
//! | [`Selection`] | rows and queries, ascending, and how they were selected |
//! | [`RadiusInput`] | the distance for selecting rows around the query |
//! | [`facts`] | facts about a selection: measures, ranges |
//! | [`NamedSets`] | named selections |

use std::ops::RangeInclusive;
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use crate::app::features::color::state::PointValues;
use crate::app::features::color::state::channel::PointSet;
use crate::app::features::picking::state::RegionSelection;
use crate::app::model::answer::{PickedPoint, QueryAnswer};
use crate::app::model::pane::PaneKind;
use crate::app::model::select_mode::SelectMode;
use crate::knn::Metric;
use crate::run::RunRecord;

pub mod facts;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    pub(in crate::app) rows: Arc<[u32]>,
    pub(in crate::app) queries: Arc<[u32]>,
    pub(in crate::app) by: String,
    /// The query of a radius selection, to which exports give the distance.
    pub(in crate::app) center: Option<QueryAnswer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoverTarget {
    /// A row of the cloud, or a query of a query file.
    pub what: PickedPoint,
    pub pane: PaneKind,
}

impl Selection {
    /// Selects rows, in any order, with the queries of `record` at these rows. `by` says how they were
    /// selected: "rectangle in Plane".
    pub fn of_rows(mut rows: Vec<u32>, record: Option<&RunRecord>, by: impl Into<String>) -> Self {
        rows.sort_unstable();
        rows.dedup();
        let queries = record.map(|record| queries_of(&rows, record)).unwrap_or_default();
        Self { rows: rows.into(), queries: queries.into(), by: by.into(), center: None }
    }

    /// Selects queries of `record`, in any order, with their rows if they are rows of the cloud. `by` says
    /// how they were selected: "16 merges".
    ///
    /// # Panics
    /// If the record lacks one of the queries.
    pub fn of_queries(mut queries: Vec<u32>, record: &RunRecord, by: impl Into<String>) -> Self {
        queries.sort_unstable();
        queries.dedup();
        let rows = rows_of(&queries, record);
        Self { rows: rows.into(), queries: queries.into(), by: by.into(), center: None }
    }

    /// Rows of the cloud, ascending.
    pub fn rows(&self) -> &Arc<[u32]> {
        &self.rows
    }

    /// Queries of the run, ascending.
    pub fn queries(&self) -> &Arc<[u32]> {
        &self.queries
    }

    /// How they were selected: "rectangle in Plane".
    pub fn by(&self) -> &str {
        &self.by
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.queries.is_empty()
    }

    pub fn has_row(&self, row: u32) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    pub fn combined(&self, other: Self, how: SelectMode) -> Self {
        let whole =
            |own: &[u32], others: &[u32]| others.iter().all(|number| own.binary_search(number).is_ok());
        let how = match how {
            SelectMode::Toggle
                if !other.is_empty()
                    && whole(&self.rows, &other.rows)
                    && whole(&self.queries, &other.queries) =>
            {
                SelectMode::Remove
            }
            SelectMode::Toggle => SelectMode::Add,
            how => how,
        };
        let (rows, queries, sign) = match how {
            SelectMode::Replace => return other,
            SelectMode::Add | SelectMode::Toggle => {
                (union(&self.rows, &other.rows), union(&self.queries, &other.queries), "+")
            }
            SelectMode::Remove => {
                (difference(&self.rows, &other.rows), difference(&self.queries, &other.queries), "−")
            }
        };
        if rows.is_empty() && queries.is_empty() {
            return Self::default();
        }
        let by = if self.is_empty() { other.by } else { joined(&self.by, sign, &other.by) };
        // Distances to several queries, or of rows chosen otherwise, would be ambiguous.
        let center = match how {
            SelectMode::Remove => self.center.clone(),
            _ if self.is_empty() => other.center,
            _ => self.center.clone().filter(|center| other.center.as_ref() == Some(center)),
        };
        Self { rows: rows.into(), queries: queries.into(), by, center }
    }
}

/// The description of a combined selection; if it gets too long, an ellipsis and the last step.
fn joined(before: &str, sign: &str, last: &str) -> String {
    const MAX_CHARS: usize = 60;
    let all = format!("{before} {sign} {last}");
    if all.chars().count() <= MAX_CHARS && !before.starts_with('…') {
        all
    } else {
        format!("… {sign} {last}")
    }
}

#[derive(Clone, Debug)]
pub enum SelectionCriterion {
    /// Rows of the cloud, in any order; missing ones are ignored.
    Rows(Vec<u32>),
    /// Rows within a distance of an answer's query.
    Within(Vec<u32>, Box<QueryAnswer>),
    /// Queries of the run, in any order; missing ones are ignored.
    Queries(Vec<u32>),
    /// Rows of the cloud, and queries of the run in addition to those at the rows.
    These {
        /// Rows of the cloud, in any order; missing ones are ignored.
        rows: Vec<u32>,
        /// Queries of the run, in any order; missing ones are ignored.
        queries: Vec<u32>,
    },
    /// Queries whose counter is in this range, by measure.
    Measure(String, RangeInclusive<u32>),
    /// Rows with this value.
    Valued(Arc<PointValues>, f32),
    /// Points with values in a closed range.
    Between {
        points: PointSet,
        values: Arc<PointValues>,
        from: f32,
        to: f32,
    },
    Region(Box<RegionSelection>),
    All,
    /// Everything that is not selected.
    Rest,
    /// The neighbours of the selected queries, or else of the picked query.
    Neighbors,
}

#[derive(Clone, Debug)]
pub enum SelectAction {
    /// Select something. `by` says how, in a few words: "rectangle in Plane", "16 merges".
    Choose {
        what: SelectionCriterion,
        how: SelectMode,
        by: String,
    },
    Clear,
    /// Edit the name for a set.
    TypeName(String),
    /// Store the selected rows under the edited name.
    Keep,
    /// Delete a named set.
    Forget(String),
    /// Zoom Plane and Space to the selected rows.
    ZoomTo,
    /// Make the selected rows the queries of the next run.
    UseAsQueries,
    /// The pointer is over a point, or over a table row that represents one.
    Hover(Option<HoverTarget>),
}

impl SelectAction {
    /// Selects rows of the cloud.
    pub fn rows(rows: Vec<u32>, how: SelectMode, by: impl Into<String>) -> Self {
        Self::Choose { what: SelectionCriterion::Rows(rows), how, by: by.into() }
    }

    /// Selects queries of the run.
    pub fn queries(queries: Vec<u32>, how: SelectMode, by: impl Into<String>) -> Self {
        Self::Choose { what: SelectionCriterion::Queries(queries), how, by: by.into() }
    }

    /// Selects queries whose counter is in a range. The measure is given by its column, and by its unit in
    /// singular and plural.
    pub fn measure(name: &str, [one, many]: [&str; 2], values: RangeInclusive<u32>, how: SelectMode) -> Self {
        let by = match (values.start(), values.end()) {
            (1, 1) => format!("1 {one}"),
            (from, to) if from == to => format!("{from} {many}"),
            (from, to) => format!("{from} to {to} {many}"),
        };
        Self::Choose { what: SelectionCriterion::Measure(name.to_owned(), values), how, by }
    }
}

// Named selections.

/// Maximum number of sets.
const MAX_SETS: usize = 100;

/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// Named rows of the cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSet {
    pub name: String,
    /// Rows of the cloud, ascending.
    pub rows: Arc<[u32]>,
}

/// The named sets of the shown cloud, oldest first.
#[derive(Clone, Debug, Default)]
pub struct NamedSets {
    /// The name being edited.
    pub typed: String,
    list: Vec<NamedSet>,
}

impl NamedSets {
    pub fn new(list: Vec<NamedSet>) -> Self {
        Self { typed: String::new(), list }
    }

    pub fn list(&self) -> &[NamedSet] {
        &self.list
    }

    /// Stores rows under the edited name, or else under the description of how they were selected. A set of
    /// the same name is replaced.
    ///
    /// # Errors
    /// A sentence if there are no rows, or too many sets.
    pub fn keep(&mut self, rows: &Arc<[u32]>, by: &str) -> Result<&NamedSet, String> {
        if rows.is_empty() {
            return Err("nothing to save: no rows are selected".to_owned());
        }
        let typed = if self.typed.trim().is_empty() { by.trim() } else { self.typed.trim() };
        let name: String = typed.chars().take(MAX_NAME_CHARS).collect();
        let set = NamedSet { name, rows: Arc::clone(rows) };
        let at = match self.list.iter().position(|known| known.name == set.name) {
            Some(at) => at,
            None if self.list.len() == MAX_SETS => {
                return Err(format!("{MAX_SETS} sets are saved already; delete one first"));
            }
            None => self.list.len(),
        };
        self.typed.clear();
        if at == self.list.len() {
            self.list.push(set)
        } else {
            self.list[at] = set
        }
        Ok(&self.list[at])
    }

    pub fn forget(&mut self, name: &str) {
        self.list.retain(|set| set.name != name);
    }
}

// The distance for selecting rows around the picked query, as typed.

#[derive(Clone, Debug, Default)]
pub struct RadiusInput {
    pub typed: String,
    /// The error of the last attempt.
    pub wrong: Option<String>,
}

impl RadiusInput {
    /// Parses the distance, with or without the metric's unit.
    ///
    /// # Errors
    /// A sentence if it is invalid.
    pub fn radius(&self, metric: Metric) -> Result<f64, String> {
        let typed = self.typed.trim();
        let number = metric.unit().and_then(|unit| typed.strip_suffix(unit)).unwrap_or(typed).trim();
        let radius =
            number.replace(',', "").parse().ok().filter(|radius: &f64| radius.is_finite() && *radius >= 0.0);
        let unit = metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
        radius.ok_or_else(|| format!("“{typed}” is not a distance such as 0.5{unit}."))
    }
}

// Ascending unique numbers as sets.

/// Below this size, binary search is as fast as a bit table.
const MIN_TABLE_SIZE: usize = 256;

pub fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut at, mut of) = (0, 0);
    while at < a.len() && of < b.len() {
        let (x, y) = (a[at], b[of]);
        all.push(x.min(y));
        at += usize::from(x <= y);
        of += usize::from(y <= x);
    }
    all.extend_from_slice(&a[at..]);
    all.extend_from_slice(&b[of..]);
    all
}

/// The first set without the second.
pub fn difference(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut of = 0;
    let outside = |&number: &u32| {
        while of < b.len() && b[of] < number {
            of += 1;
        }
        b.get(of) != Some(&number)
    };
    a.iter().copied().filter(outside).collect()
}

/// The numbers below `end` that are not in the set.
pub fn complement(set: &[u32], end: u32) -> Vec<u32> {
    let mut rest = Vec::with_capacity((end as usize).saturating_sub(set.len()));
    let mut next = 0;
    for &number in set {
        rest.extend(next..number.min(end));
        next = number.saturating_add(1);
    }
    rest.extend(next..end);
    rest
}

/// A set with fast lookup.
pub enum LookupSet<'a> {
    /// A small set, for binary search.
    Few(&'a [u32]),
    Bits(Vec<u64>),
}

impl<'a> LookupSet<'a> {
    /// From an ascending set.
    pub fn new(set: &'a [u32]) -> Self {
        let Some(&last) = set.last().filter(|_| set.len() > MIN_TABLE_SIZE) else { return Self::Few(set) };
        let mut bits = vec![0u64; last as usize / 64 + 1];
        for &number in set {
            bits[number as usize / 64] |= 1 << (number % 64);
        }
        Self::Bits(bits)
    }

    pub fn has(&self, number: u32) -> bool {
        match self {
            Self::Few(set) => set.binary_search(&number).is_ok(),
            Self::Bits(bits) => {
                bits.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
            }
        }
    }
}

/// The queries of a run at these rows of its cloud; empty if queries come from a separate file.
pub fn queries_of(rows: &[u32], record: &RunRecord) -> Vec<u32> {
    if record.query_cloud.is_some() || rows.is_empty() {
        return Vec::new();
    }
    let table = LookupSet::new(rows);
    record
        .query_rows
        .par_iter()
        .enumerate()
        .filter(|(_, row)| table.has(**row))
        .map(|(query, _)| query as u32)
        .collect()
}

/// The rows of a run's cloud that are these queries; empty if queries come from a separate file.
pub fn rows_of(queries: &[u32], record: &RunRecord) -> Vec<u32> {
    if record.query_cloud.is_some() {
        return Vec::new();
    }
    let mut rows: Vec<u32> = queries.iter().map(|&query| record.query_rows[query as usize]).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;
    use crate::app::testing::record;

    #[test]
    fn selecting_rows_selects_their_queries_and_vice_versa() {
        let record = record();
        let by_rows = Selection::of_rows(vec![8, 20, 3, 8], Some(&record), "rectangle in Plane");
        assert_eq!((&by_rows.rows()[..], &by_rows.queries()[..]), (&[3, 8, 20][..], &[0, 2][..]));
        let by_queries = Selection::of_queries(vec![2, 0], &record, "3 merges");
        assert_eq!((&by_queries.rows()[..], &by_queries.queries()[..]), (&[3, 8][..], &[0, 2][..]));
        assert!(
            by_rows.has_row(20)
                && !by_queries.has_row(20)
                && by_queries.queries().contains(&2)
                && !by_queries.queries().contains(&1)
        );
        assert!(Selection::default().is_empty() && !by_rows.is_empty());
    }

    #[test]
    fn queries_from_separate_files_do_not_select_rows() {
        let mut record = RunRecord::clone(&record());
        record.query_cloud = Some(Arc::clone(&record.cloud));
        assert!(Selection::of_rows(vec![3, 8], Some(&record), "").queries().is_empty());
        let by_queries = Selection::of_queries(vec![1], &record, "");
        assert!(by_queries.rows().is_empty() && by_queries.queries().contains(&1));
    }

    #[test]
    fn selections_can_be_added_removed_and_toggled() {
        let record = record();
        let of = |rows: &[u32], by: &str| Selection::of_rows(rows.to_vec(), Some(&record), by);
        let base = of(&[3, 4], "a");
        let added = base.combined(of(&[4, 8], "b"), SelectMode::Add);
        assert_eq!(
            (&added.rows()[..], &added.queries()[..], added.by()),
            (&[3, 4, 8][..], &[0, 2][..], "a + b")
        );
        let removed = added.combined(of(&[3, 9], "c"), SelectMode::Remove);
        assert_eq!(
            (&removed.rows()[..], &removed.queries()[..], removed.by()),
            (&[4, 8][..], &[2][..], "a + b − c")
        );
        assert_eq!(
            added.combined(of(&[3, 8], "d"), SelectMode::Toggle).rows()[..],
            [4],
            "all were selected: toggling removes them"
        );
        assert_eq!(
            added.combined(of(&[3, 9], "d"), SelectMode::Toggle).rows()[..],
            [3, 4, 8, 9],
            "some were not selected: toggling adds all"
        );
        assert_eq!(base.combined(of(&[3, 4], ""), SelectMode::Remove), Selection::default());
        assert_eq!(base.combined(of(&[9], "new"), SelectMode::Replace).by(), "new");
        let long = (0..20).fold(base, |sum, row| sum.combined(of(&[row], "a click"), SelectMode::Add));
        assert_eq!(long.by(), "… + a click");
    }

    #[test]
    fn set_names_are_unique() {
        let mut sets = NamedSets::default();
        let rows = |rows: &[u32]| Arc::<[u32]>::from(rows);
        assert!(sets.keep(&rows(&[]), "lasso in Plane").is_err_and(|why| why.starts_with("nothing to save")));
        sets.typed = " far ".to_owned();
        assert_eq!(
            sets.keep(&rows(&[1, 2]), "lasso in Plane").map(|set| set.name.clone()),
            Ok("far".to_owned())
        );
        assert_eq!(
            (sets.keep(&rows(&[3]), "lasso in Plane").map(|set| set.name.clone()), sets.typed.as_str()),
            (Ok("lasso in Plane".to_owned()), "")
        );
        sets.typed = "far".to_owned();
        sets.keep(&rows(&[7]), "").expect("replaces the first");
        assert_eq!(sets.list().iter().map(|set| set.rows.to_vec()).collect::<Vec<_>>(), [vec![7], vec![3]]);
        sets.forget("far");
        assert_eq!(sets.list().len(), 1);
        for number in 1..MAX_SETS {
            sets.typed = number.to_string();
            sets.keep(&rows(&[1]), "").expect("room");
        }
        sets.typed = "one more".to_owned();
        assert!(sets.keep(&rows(&[1]), "").is_err_and(|why| why.contains("100 sets")));
    }

    #[test]
    fn distances_accept_a_unit() {
        let radius =
            |typed: &str, metric| RadiusInput { typed: typed.to_owned(), wrong: None }.radius(metric);
        assert_eq!(
            (
                radius("5 km", Metric::Haversine),
                radius("1,500", Metric::Haversine),
                radius(" 0.25", Metric::L2)
            ),
            (Ok(5.0), Ok(1500.0), Ok(0.25))
        );
        assert_eq!(radius("5 km", Metric::L2), Err("“5 km” is not a distance such as 0.5.".to_owned()));
        assert_eq!(radius("-1", Metric::Haversine), Err("“-1” is not a distance such as 0.5 km.".to_owned()));
        assert!(radius("", Metric::L2).is_err() && radius("inf", Metric::L2).is_err());
    }

    fn list(set: &BTreeSet<u32>) -> Vec<u32> {
        set.iter().copied().collect()
    }

    proptest! {
        #[test]
        fn set_operations_match_the_standard_library(
            a in btree_set(0u32..900, 0..400),
            b in btree_set(0u32..900, 0..400),
        ) {
            let (x, y) = (list(&a), list(&b));
            prop_assert_eq!(union(&x, &y), list(&(&a | &b)));
            prop_assert_eq!(difference(&x, &y), list(&(&a - &b)));
            prop_assert_eq!(
                complement(&x, 900),
                (0..900).filter(|number| !a.contains(number)).collect::<Vec<_>>()
            );
            let table = LookupSet::new(&x);
            prop_assert!((0..1000).all(|number| table.has(number) == a.contains(&number)));
        }
    }
}
