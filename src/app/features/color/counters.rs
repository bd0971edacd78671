//! Values of queries: k-th distances, counters, and bounds at a moment of the search.

use super::state::ColorBy;
use super::state::channel::{Channel, NumericValues, PointSet};
use super::values::{missing, unit};
use crate::knn::{Measure, Metric};
use crate::run::RunRecord;
use crate::text;

/// A value for each query, at its row; NaN means no value.
fn by_row(record: &RunRecord, value: impl Fn(usize) -> f32) -> (PointSet, Vec<f32>) {
    let (points, rows) = match &record.query_cloud {
        Some(queries) => (PointSet::Queries, queries.len()),
        None => (PointSet::Data, record.cloud.len()),
    };
    let mut values = vec![f32::NAN; rows];
    for (query, &row) in record.query_rows.iter().enumerate() {
        values[row as usize] = value(query);
    }
    (points, values)
}

fn channel(record: &RunRecord, title: String, unit: &'static str, value: impl Fn(usize) -> f32) -> Channel {
    let (points, values) = by_row(record, value);
    let missing = missing(&values);
    Channel::of_numbers(points, title, unit, NumericValues::new(values, 0.0), (missing, "are not queries"))
}

/// A counter or the k-th distance, at each query's row.
pub fn counted(record: &RunRecord, by: &ColorBy) -> Channel {
    match by {
        ColorBy::Measure(name) => {
            let values = record.measured.column(name).unwrap_or_default();
            // Prefer the unit declared by the engine, if this build has it: `pruned children` for `pruned`.
            let declared = record
                .descriptor()
                .and_then(|engine| engine.measure(name))
                .map(|measure| measure.unit[1].to_owned());
            channel(record, declared.unwrap_or_else(|| Measure::words(name)), "per query", |query| {
                values.get(query).map_or(f32::NAN, |&value| value as f32)
            })
        }
        _ => {
            let metric = record.spec.metric;
            let title = match metric {
                Metric::L2 | Metric::Haversine | Metric::Sky => {
                    format!("distance of the {} neighbour", text::ordinal(record.spec.k as u64))
                }
                Metric::Angular => format!("angle to the {} neighbour", text::ordinal(record.spec.k as u64)),
                Metric::Cosine => {
                    format!("cosine distance of the {} neighbour", text::ordinal(record.spec.k as u64))
                }
            };
            let last = |query: usize| {
                let squared = record.neighbors.for_query(query).1.last().copied().unwrap_or(f32::INFINITY);
                if squared.is_finite() { metric.distance(squared) as f32 } else { f32::NAN }
            };
            channel(record, title, unit(metric), last)
        }
    }
}

/// The squared bound after this many points; `None` while it is ∞.
pub fn bound_at(record: &RunRecord, query: usize, points_seen: u32) -> Option<f32> {
    let (seen, bounds) = record.convergence.for_query(query);
    let merged = seen.partition_point(|&seen| seen <= points_seen);
    bounds.get(merged.checked_sub(1)?).copied().filter(|bound| bound.is_finite())
}

/// Each query's bound after this many points, as a distance. The range covers all moments, so that a colour
/// always means the same.
pub fn moment(record: &RunRecord, points_seen: u32) -> Channel {
    let metric = record.spec.metric;
    let distance = |squared: f32| metric.distance(squared) as f32;
    let (points, values) =
        by_row(record, |query| bound_at(record, query, points_seen).map_or(f32::NAN, distance));
    let nothing_yet = (0..record.query_rows.len())
        .filter(|&query| bound_at(record, query, points_seen).is_none())
        .count() as u64;
    let missing = missing(&values);
    let bounds = record.convergence.max_squared_distance.iter().copied().filter(|bound| bound.is_finite());
    let ends = bounds
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), bound| (low.min(bound), high.max(bound)));
    let mut numbers = NumericValues::new(values, 0.0);
    if let Some(numbers) = &mut numbers {
        numbers.whole = (f64::from(distance(ends.0)), f64::from(distance(ends.1)));
        // The same at every moment, so that colours are comparable.
        numbers.most = numbers.whole;
    }
    let mut notes = Vec::new();
    if nothing_yet > 0 {
        let queries = text::count(nothing_yet, "query has", "queries have");
        notes.push(format!("{queries} not merged k points yet: the bound is ∞"));
    }
    let partly_recorded = partly_recorded(record, points_seen);
    if partly_recorded > 0 {
        let queries = text::count(partly_recorded, "query", "queries");
        notes.push(format!("{queries} with more merges than a run records: the last recorded bound"));
    }
    let title = match metric {
        Metric::L2 => "√max_distance",
        Metric::Angular => "angle of max_distance",
        Metric::Cosine => "cosine distance of max_distance",
        Metric::Sky => "angle of max_distance",
        Metric::Haversine => "great-circle max_distance",
    };
    let channel = Channel::of_numbers(
        points,
        title,
        unit(metric),
        numbers,
        (missing.saturating_sub(nothing_yet), "are not queries"),
    );
    Channel { note: (!notes.is_empty()).then(|| notes.join("; ")), ..channel }
}

/// Number of queries whose bound at this moment is unknown, because entries before the last one were not
/// recorded.
fn partly_recorded(record: &RunRecord, points_seen: u32) -> u64 {
    let merges = record.measured.column(&record.convergence.counted_by).unwrap_or_default();
    let queries = merges.iter().enumerate().filter(|&(query, &merges)| {
        let seen = record.convergence.for_query(query).0;
        let entries = seen.len();
        merges as usize > entries
            && entries >= 2
            && (seen[entries - 2]..seen[entries - 1]).contains(&points_seen)
    });
    queries.count() as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::testing::{measured, record};

    fn there(channel: &Channel) -> Vec<(usize, f32)> {
        let values = &channel.numbers.as_ref().expect("values").values.values;
        values.iter().copied().enumerate().filter(|(_, value)| !value.is_nan()).collect()
    }

    #[test]
    fn counters_colour_the_query_rows() {
        let record = record();
        let candidates = counted(&record, &ColorBy::measure("candidates"));
        assert_eq!(there(&candidates), [(3, 20.0), (5, 21.0), (8, 22.0)]);
        assert_eq!((candidates.missing, candidates.points), (47, PointSet::Data));
        assert_eq!(there(&counted(&record, &ColorBy::measure("merges"))), [(3, 3.0), (5, 3.0), (8, 3.0)]);
        assert_eq!(there(&counted(&record, &ColorBy::measure("groups_hit"))), [(3, 2.0), (5, 2.0), (8, 2.0)]);
        let kth = counted(&record, &ColorBy::KthDistance);
        assert_eq!(
            there(&kth),
            [(3, 0.05f32), (5, 0.1), (8, 0.15)].map(|(row, squared)| (row, f64::from(squared).sqrt() as f32))
        );
        assert_eq!(kth.title, "distance of the 4th neighbour");
    }

    #[test]
    fn counters_colour_queries_from_separate_files() {
        let mut record = RunRecord::clone(&record());
        record.query_cloud = Some(Arc::clone(&record.cloud));
        assert_eq!(counted(&record, &ColorBy::measure("merges")).points, PointSet::Queries);
    }

    #[test]
    fn incomplete_answers_have_no_kth_distance() {
        let mut record = RunRecord::clone(&record());
        record.neighbors.squared_distances[7] = f32::INFINITY;
        let kth = counted(&record, &ColorBy::KthDistance);
        assert_eq!(there(&kth).iter().map(|(row, _)| *row).collect::<Vec<_>>(), [3, 8]);
    }

    #[test]
    fn moment_values_match_the_convergence_curve() {
        // After 10, 30 and 50 points: 0.5, 0.1 and 0.05, times 1, 2 and 3.
        let record = record();
        let at = |moment_of: u32| there_or_none(&moment(&record, moment_of));
        let root = |squared: f32| f64::from(squared).sqrt() as f32;
        assert_eq!(at(9), None, "before the first merge the bound is ∞");
        assert_eq!(at(10), Some(vec![(3, root(0.5)), (5, root(1.0)), (8, root(1.5))]));
        assert_eq!(at(29), at(10));
        assert_eq!(at(30), Some(vec![(3, root(0.1)), (5, root(0.2)), (8, root(0.1 * 3.0))]));
        assert_eq!(at(50), Some(vec![(3, root(0.05)), (5, root(0.1)), (8, root(0.05 * 3.0))]));
        let channel = moment(&record, 30);
        let ends = (f64::from(root(0.05)), f64::from(root(1.5)));
        assert_eq!(
            channel.numbers.as_ref().map(|numbers| numbers.whole),
            Some(ends),
            "the range covers all moments"
        );
        assert_eq!((channel.missing, channel.note), (47, None));
        let before = moment(&record, 0);
        assert_eq!(
            (before.missing, before.note.as_deref()),
            (47, Some("3 queries have not merged k points yet: the bound is ∞"))
        );
    }

    fn there_or_none(channel: &Channel) -> Option<Vec<(usize, f32)>> {
        channel.numbers.is_some().then(|| there(channel))
    }

    #[test]
    fn queries_with_unrecorded_bounds_are_counted() {
        let mut record = RunRecord::clone(&record());
        record.measured = measured([3, 90, 3]);
        assert_eq!(partly_recorded(&record, 29), 0);
        assert_eq!([30, 49, 50].map(|points_seen| partly_recorded(&record, points_seen)), [1, 1, 0]);
    }
}
