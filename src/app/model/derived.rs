//! What panes show of a record and is too much to work out in a frame: the histogram of merges, the convergence of
//! all queries, and when what ran. Made once per record, on a thread.

use std::sync::Arc;

use crate::engines::lockstep;
use crate::knn::theory::expected_max_distance;
use crate::knn::{Convergence, Metric, Setup};
use crate::run::{QuerySpec, RunRecord, Timeline, pose};

/// How many points of the convergence's band are worked out.
const BAND_STEPS: usize = 96;

/// Queries that the band looks at, evenly chosen when there are more; the pane says so.
pub const BAND_QUERIES: usize = 20_000;

/// The convergence of all queries at a number of points seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Points seen.
    pub points_seen: f64,
    /// A tenth of the queries have a smaller squared `max_distance`.
    pub low: f64,
    /// Half of them.
    pub median: f64,
    /// Nine tenths.
    pub high: f64,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// Of each measure, by its column: queries per value, (value, queries), ascending, only those that occur.
    pub histograms: Vec<(String, Vec<(u32, u64)>)>,
    /// From the first number of points where a tenth of the queries have k to n.
    pub band: Vec<Band>,
    /// How many queries the band looks at.
    pub band_queries: usize,
    /// Phases and warps in time.
    pub timeline: Timeline,
    /// The rows of the cloud that were asked for, ascending, where they are not all.
    pub asked: Option<Arc<[u32]>>,
}

impl Derived {
    /// A measure's histogram; empty for one that was not counted.
    pub fn histogram(&self, measure: &str) -> &[(u32, u64)] {
        self.histograms.iter().find(|(name, _)| name == measure).map_or(&[], |(_, histogram)| histogram)
    }

    /// Works it out.
    pub fn of(record: &RunRecord) -> Self {
        let queries: Vec<usize> = spread(record.convergence.queries(), BAND_QUERIES).collect();
        let histograms = record.measured.columns().map(|(name, values)| (name.to_owned(), histogram(values.iter().copied()))).collect();
        let band = band(record, &queries);
        Self { histograms, band, band_queries: queries.len(), timeline: Timeline::of(record), asked: asked(record) }
    }
}

fn asked(record: &RunRecord) -> Option<Arc<[u32]>> {
    if record.query_cloud.is_some() || record.query_rows.len() >= record.cloud.len() {
        return None;
    }
    let mut rows = record.query_rows.clone();
    rows.sort_unstable();
    rows.dedup();
    Some(rows.into())
}

/// At most so many of the numbers below `count`, evenly spread.
pub fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let shown = count.min(most);
    (0..shown).map(move |at| at * count / shown)
}

/// How many of the values are how large, ascending, only those that occur.
pub fn histogram(values: impl IntoIterator<Item = u32>) -> Vec<(u32, u64)> {
    let mut counts = std::collections::BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

/// The convergence of some queries.
pub fn band(record: &RunRecord, queries: &[usize]) -> Vec<Band> {
    band_of(&record.convergence, record.cloud.len() as u64, Setup::from(&record.spec).found_k(), queries)
}

/// As [`band`], of a run whose cloud may not be there: n points, and k neighbours that were searched for.
pub fn band_of(convergence: &Convergence, n: u64, k: usize, queries: &[usize]) -> Vec<Band> {
    if queries.is_empty() {
        return Vec::new();
    }
    let n = n as f64;
    let first = (k as f64).min(n).max(1.0);
    let steps: Vec<f64> = (0..BAND_STEPS).map(|step| first * (n / first).powf(step as f64 / (BAND_STEPS - 1) as f64)).collect();
    let mut columns: Vec<Vec<f32>> = (0..BAND_STEPS).map(|_| Vec::with_capacity(queries.len())).collect();
    for &query in queries {
        let (seen, distances) = convergence.of(query);
        let mut entry = 0;
        for (column, &points_seen) in columns.iter_mut().zip(&steps) {
            // A hair of slack: the last step is n up to rounding.
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
        let of_step = Band { points_seen, low: quantile(0.1), median: quantile(0.5), high: quantile(0.9) };
        if of_step.low.is_finite() {
            band.push(of_step);
        }
    }
    band
}

/// What theory expects of one query: where `max_distance` should stand after so many points, met in random order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TheoryCurve {
    /// (points seen, squared `max_distance`).
    pub points: Vec<[f64; 2]>,
    /// Points seen and squared `max_distance` after every merge, of a query that had more than a run keeps.
    pub replayed: Option<(Vec<u32>, Vec<f32>)>,
}

impl TheoryCurve {
    /// Works it out from the query's distances to all points.
    pub fn of(record: &RunRecord, query: usize) -> Self {
        let mut distances = all_distances(record, query);
        distances.sort_unstable_by(f32::total_cmp);
        let (n, k) = (distances.len(), Setup::from(&record.spec).found_k());
        if n < k || k == 0 {
            return Self { points: Vec::new(), replayed: replayed(record, query) };
        }
        let mut points: Vec<[f64; 2]> = Vec::new();
        for step in 0..BAND_STEPS {
            let seen = (k as f64 * (n as f64 / k as f64).powf(step as f64 / (BAND_STEPS - 1) as f64)).round() as usize;
            let seen = seen.clamp(k, n);
            if points.last().is_none_or(|last| last[0] < seen as f64) {
                points.push([seen as f64, f64::from(expected_max_distance(&distances, k, seen))]);
            }
        }
        Self { points, replayed: replayed(record, query) }
    }
}

/// All merges of a query of which the run kept only some: it is searched again, by the kernel's twin.
fn replayed(record: &RunRecord, query: usize) -> Option<(Vec<u32>, Vec<f32>)> {
    let merges = *record.measured.column(&record.convergence.counted_by)?.get(query)?;
    if merges as usize <= record.convergence.of(query).0.len() {
        return None;
    }
    let mut spec = record.spec.clone();
    let mut at = query;
    if record.query_cloud.is_none() {
        spec.queries = QuerySpec::Rows(vec![record.cloud.record(record.query_rows[query] as usize)]);
        at = 0;
    }
    let problem = pose(&spec, &record.cloud, record.query_cloud.as_ref()).ok()?;
    let (again, history) = lockstep::replay(&problem, at);
    // What did not go the same way says nothing of the run.
    record.measured.of(query).map(|(_, value)| value).eq(again.row()).then(|| history.into_iter().unzip())
}

/// Squared distances of a query to all points, as the record's metric has them.
fn all_distances(record: &RunRecord, query: usize) -> Vec<f32> {
    let cloud = &record.cloud;
    let queries = record.query_cloud.as_ref().unwrap_or(cloud);
    let row = record.query_rows[query] as usize;
    let dims = cloud.dims();
    match record.spec.metric {
        Metric::L2 => {
            let asked = queries.point(row);
            cloud.points().chunks_exact(dims).map(|point| point.iter().zip(asked).map(|(p, q)| (p - q) * (p - q)).sum()).collect()
        }
        Metric::Angular => {
            let asked: Vec<f64> = (0..dims).map(|axis| queries.coordinate(row, axis)).collect();
            let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
            let asked_norm = norm(&asked);
            let mut point = vec![0.0; dims];
            (0..cloud.len())
                .filter_map(|row| {
                    point.iter_mut().enumerate().for_each(|(axis, value)| *value = cloud.coordinate(row, axis));
                    let scale = norm(&point);
                    // A row without a direction is not searched either.
                    (scale > 0.0).then(|| point.iter().zip(&asked).map(|(p, q)| (p / scale - q / asked_norm).powi(2)).sum::<f64>() as f32)
                })
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    #[test]
    fn rows_that_were_asked_for_are_listed() {
        let mut record = RunRecord::clone(&record());
        record.query_rows = vec![8, 3, 8];
        assert_eq!(asked(&record).as_deref(), Some(&[3, 8][..]));
        record.query_rows = (0..50).collect();
        assert_eq!(asked(&record), None, "all");
        (record.query_rows, record.query_cloud) = (vec![1], Some(Arc::clone(&record.cloud)));
        assert_eq!(asked(&record), None, "they are points of their own");
    }

    #[test]
    fn the_histogram_counts_every_query() {
        assert_eq!(Derived::of(&record()).histogram("merges"), [(3, 3)]);
    }

    #[test]
    fn a_query_with_more_merges_than_are_kept_is_replayed() {
        use crate::cloud::Column;
        use crate::cloud::PointCloud;
        use crate::cloud::Source;
        use crate::cloud::Table;
        use crate::knn::{Measured, warp};
        // Every point is nearer to the last one than all before it.
        let n = 3200;
        let table = Table { columns: vec![Column { name: "x".to_owned() }], values: (0..n).map(|at| f64::from(n - at)).collect() };
        let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
        let mut record = RunRecord::clone(&record());
        record.cloud = std::sync::Arc::new(PointCloud::from_table(table, source, None, false).expect("a cloud"));
        record.head.spec.queries = QuerySpec::Rows(vec![n as u64 - 1]);
        record.query_rows = vec![n as u32 - 1];
        let problem = pose(&record.spec, &record.cloud, None).expect("a problem");
        let (counters, history) = lockstep::replay(&problem, 0);
        assert!(counters.merges > 64);
        let counted = |row: [u32; 3]| {
            let mut measured = Measured::default();
            measured.extend(&warp::MEASURES, [row]);
            measured
        };
        record.measured = counted(counters.row());
        record.convergence = Convergence { counted_by: warp::CONVERGENCE.to_owned(), ..Convergence::default() };
        record.convergence.push(history.iter().take(64).copied());

        let (seen, distances) = TheoryCurve::of(&record, 0).replayed.expect("most merges are not kept");
        assert_eq!(seen.len(), counters.merges as usize);
        assert_eq!((seen.last(), distances.last()), (Some(&(n as u32)), Some(&9.0)), "k = 4, at distances 0 to 3");
        let [merges, candidates, groups_hit] = counters.row();
        record.measured = counted([merges, candidates + 1, groups_hit]);
        assert_eq!(TheoryCurve::of(&record, 0).replayed, None, "it went another way");
    }

    #[test]
    fn the_band_ends_where_the_answers_are() {
        let derived = Derived::of(&record());
        let last = derived.band.last().expect("three queries");
        assert!((last.points_seen - 50.0).abs() < 1e-6);
        assert_eq!([last.low, last.median, last.high].map(|value| value as f32), [0.05, 0.1, 0.15]);
        assert!(derived.band.iter().all(|step| step.low <= step.median && step.median <= step.high));
        assert!(derived.band[0].points_seen >= 10.0 * 0.99, "before the first merge there is no bound");
    }

    #[test]
    fn theory_ends_at_the_kth_distance_and_only_falls() {
        let record = record();
        let curve = TheoryCurve::of(&record, 0).points;
        let mut all = all_distances(&record, 0);
        all.sort_unstable_by(f32::total_cmp);
        assert_eq!(all.len(), 50);
        let end = curve.last().expect("n is at least k");
        assert_eq!(end[0], 50.0);
        assert!((end[1] - f64::from(all[3])).abs() < 1e-6, "after all points the bound is the k-th distance");
        assert!(curve.windows(2).all(|pair| pair[1][1] <= pair[0][1]));

        // A query that leaves itself out is searched with one neighbour more: itself.
        let mut without = RunRecord::clone(&record);
        without.head.spec.exclude_self = true;
        let end = TheoryCurve::of(&without, 0).points.last().copied().expect("n is at least k + 1");
        assert!((end[1] - f64::from(all[4])).abs() < 1e-6);
    }
}
