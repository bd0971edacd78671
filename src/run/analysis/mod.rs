//! Results derived from a record that take too long to compute while drawing: histograms of measures, the
//! convergence of all queries, the timeline, and the expectations of theory.
//!
//! | item | purpose |
//! |---|---|
//! | [`RunAnalysis`] | what panes draw of a whole run |
//! | [`TheoryCurve`] | the expected bound of one query |
//! | [`walk`] | the path of a query's search through an index |
//! | [`where_time_goes`], [`outlook`] | sentences about the run's times |
//! | [`Roofline`] | how much of the time each limit of the device explains |
//! | [`rows_within`] | all rows within a distance of a query |
//! | [`RowRank`] | why a row is, or is not, among the neighbours of a query |

mod query;
mod times;

use std::sync::Arc;

pub use query::{RowRank, TheoryCurve, rank_row, rows_within, walk};
pub use times::{Limit, Roofline, outlook, where_time_goes};

use super::problem::{build_problem, build_resident_problem};
use super::{QuerySpec, ResidentPoints, RunError, RunRecord, Timeline};
use crate::knn::{Convergence, Problem, ProblemParameters};
use crate::run::LoadedSpec;

/// Number of points of the convergence's band.
const BAND_POINTS: usize = 96;

/// Queries in the band; if there are more, they are evenly sampled, and the pane says so.
pub const BAND_QUERIES: usize = 20_000;

/// The convergence of all queries at a number of points seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandPoint {
    /// Points seen by a query, the abscissa of the band.
    pub points_seen: f64,
    /// First decile of the squared `max_distance`.
    pub low: f64,
    /// Median of the squared `max_distance`.
    pub median: f64,
    /// Ninth decile of the squared `max_distance`.
    pub high: f64,
}

/// What panes show of a whole run; see the module documentation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunAnalysis {
    /// For each measure, by its column: (value, queries), ascending, without empty values.
    pub histograms: Vec<(String, Vec<(u32, u64)>)>,
    /// Up to n points, starting where a tenth of the queries have k points.
    pub band: Vec<BandPoint>,
    /// Number of queries in the band.
    pub band_queries: usize,
    /// Phases and warps over time.
    pub timeline: Timeline,
    /// The queried rows of the cloud, ascending, unless all were queried.
    pub queried_rows: Option<Arc<[u32]>>,
    /// How close the run came to the limits of its device.
    pub roofline: Option<Roofline>,
}

impl RunAnalysis {
    /// A measure's histogram; empty if it was not counted.
    pub fn histogram(&self, measure: &str) -> &[(u32, u64)] {
        self.histograms.iter().find(|(name, _)| name == measure).map_or(&[], |(_, histogram)| histogram)
    }

    pub fn new(record: &RunRecord) -> Self {
        let queries: Vec<usize> = evenly_spaced(record.convergence.queries(), BAND_QUERIES).collect();
        let histograms = record
            .measured
            .columns()
            .map(|(name, values)| (name.to_owned(), histogram(values.iter().copied())))
            .collect();
        let band = band(record, &queries);
        Self {
            histograms,
            band,
            band_queries: queries.len(),
            timeline: Timeline::new(record),
            queried_rows: queried_rows(record),
            roofline: Roofline::of_run(record),
        }
    }
}

fn queried_rows(record: &RunRecord) -> Option<Arc<[u32]>> {
    if record.query_cloud.is_some() || record.query_rows.len() >= record.cloud.len() {
        return None;
    }
    let mut rows = record.query_rows.clone();
    rows.sort_unstable();
    rows.dedup();
    Some(rows.into())
}

/// At most `most` of the numbers below `count`, evenly spread.
pub fn evenly_spaced(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let shown = count.min(most);
    (0..shown).map(move |at| at * count / shown)
}

/// Counts values: (value, count), ascending, without empty ones.
pub fn histogram(values: impl IntoIterator<Item = u32>) -> Vec<(u32, u64)> {
    let mut counts = std::collections::BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

/// Computes the convergence band of the given queries.
pub fn band(record: &RunRecord, queries: &[usize]) -> Vec<BandPoint> {
    band_of(
        &record.convergence,
        record.cloud.len() as u64,
        ProblemParameters::from(&record.spec).found_k(),
        queries,
    )
}

/// As [`band`], for a run whose cloud may be missing: n points, and k as searched.
pub fn band_of(convergence: &Convergence, n: u64, k: usize, queries: &[usize]) -> Vec<BandPoint> {
    if queries.is_empty() {
        return Vec::new();
    }
    let n = n as f64;
    let first = (k as f64).min(n).max(1.0);
    let steps: Vec<f64> = (0..BAND_POINTS)
        .map(|step| first * (n / first).powf(step as f64 / (BAND_POINTS - 1) as f64))
        .collect();
    let mut columns: Vec<Vec<f32>> = (0..BAND_POINTS).map(|_| Vec::with_capacity(queries.len())).collect();
    for &query in queries {
        let (seen, distances) = convergence.for_query(query);
        let mut entry = 0;
        for (column, &points_seen) in columns.iter_mut().zip(&steps) {
            // Allows for rounding, as the last step equals n.
            while entry < seen.len() && f64::from(seen[entry]) <= points_seen * (1.0 + 1e-9) {
                entry += 1;
            }
            column.push(if entry == 0 { f32::INFINITY } else { distances[entry - 1] });
        }
    }
    let mut band = Vec::new();
    for (column, points_seen) in columns.iter_mut().zip(steps) {
        column.sort_unstable_by(f32::total_cmp);
        let quantile = |q: f64| f64::from(column[((column.len() - 1) as f64 * q).round() as usize]);
        let of_step =
            BandPoint { points_seen, low: quantile(0.1), median: quantile(0.5), high: quantile(0.9) };
        if of_step.low.is_finite() {
            band.push(of_step);
        }
    }
    band
}

/// The problem of one query of a record, and the query's index in it. Uses resident points of the same
/// problem; resident points of another problem are left in place.
fn problem_of(
    record: &RunRecord,
    query: usize,
    resident: &ResidentPoints,
) -> Result<(Problem, usize), RunError> {
    let mut spec = record.spec.clone();
    let mut at = query;
    if record.query_cloud.is_none() {
        let row = *record.query_rows.get(query).ok_or_else(|| RunError::Record {
            record: query as u64,
            why: "the run has no such query".to_owned(),
        })?;
        spec.queries = QuerySpec::Rows(vec![record.cloud.record(row as usize)]);
        at = 0;
    }
    let queries = record.query_cloud.as_ref();
    let problem = if resident.contains(&record.cloud, ProblemParameters::from(&spec).arrangement()) {
        build_resident_problem(resident, LoadedSpec::new(&spec, &record.cloud, queries))
    } else {
        build_problem(LoadedSpec::new(&spec, &record.cloud, queries))
    };
    Ok((problem?, at))
}

#[cfg(test)]
mod tests {
    use super::super::testing::records::record;
    use super::*;

    #[test]
    fn requested_query_rows_are_listed() {
        let mut record = RunRecord::clone(&record());
        record.query_rows = vec![8, 3, 8];
        assert_eq!(queried_rows(&record).as_deref(), Some(&[3, 8][..]));
        record.query_rows = (0..50).collect();
        assert_eq!(queried_rows(&record), None, "all");
        (record.query_rows, record.query_cloud) = (vec![1], Some(Arc::clone(&record.cloud)));
        assert_eq!(queried_rows(&record), None, "queries from another cloud");
    }

    #[test]
    fn the_histogram_counts_every_query() {
        assert_eq!(RunAnalysis::new(&record()).histogram("merges"), [(3, 3)]);
    }

    #[test]
    fn the_convergence_band_ends_at_the_kth_distances() {
        let derived = RunAnalysis::new(&record());
        let last = derived.band.last().expect("three queries");
        assert!((last.points_seen - 50.0).abs() < 1e-6);
        assert_eq!([last.low, last.median, last.high].map(|value| value as f32), [0.05, 0.1, 0.15]);
        assert!(derived.band.iter().all(|step| step.low <= step.median && step.median <= step.high));
        assert!(derived.band[0].points_seen >= 10.0 * 0.99, "before the first merge there is no bound");
    }
}
