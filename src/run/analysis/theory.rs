//! What theory expects of one query, by the distances that a search of it computes.

use super::super::{Resident, RunRecord};
use super::{STEPS, problem_of};
use crate::engines::lockstep;
use crate::knn::theory::expected_max_distance;
use crate::knn::{Problem, Setup};

/// What theory expects of one query: where `max_distance` should stand after so many points, met in random order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TheoryCurve {
    /// (points seen, squared `max_distance`).
    pub points: Vec<[f64; 2]>,
    /// Points seen and squared `max_distance` after every merge, of a query that had more than a run keeps.
    pub replayed: Option<(Vec<u32>, Vec<f32>)>,
}

impl TheoryCurve {
    /// Works it out from the query's distances to all points. `resident` has the points, where they were prepared for a search.
    pub fn of(record: &RunRecord, query: usize, resident: &Resident) -> Self {
        let Ok((problem, at)) = problem_of(record, query, resident) else { return Self::default() };
        let mut distances = distances(&problem, at);
        distances.sort_unstable_by(f32::total_cmp);
        let (n, k) = (distances.len(), Setup::from(&record.spec).found_k());
        let mut points: Vec<[f64; 2]> = Vec::new();
        for step in 0..if n < k || k == 0 { 0 } else { STEPS } {
            let seen = (k as f64 * (n as f64 / k as f64).powf(step as f64 / (STEPS - 1) as f64)).round() as usize;
            let seen = seen.clamp(k, n);
            if points.last().is_none_or(|last| last[0] < seen as f64) {
                points.push([seen as f64, f64::from(expected_max_distance(&distances, k, seen))]);
            }
        }
        Self { points, replayed: replayed(record, query, &problem, at) }
    }
}

/// Squared distances of a query to all points that are searched, by the rule of every engine.
fn distances(problem: &Problem, query: usize) -> Vec<f32> {
    /// Points that are grouped anew at a time.
    const PART: usize = 1 << 16;
    let n = problem.n();
    (0..n).step_by(PART).flat_map(|from| lockstep::distances_to(problem, query, from..(from + PART).min(n))).collect()
}

/// All merges of a query of which the run kept only some: it is searched again, by the kernel's twin.
fn replayed(record: &RunRecord, query: usize, problem: &Problem, at: usize) -> Option<(Vec<u32>, Vec<f32>)> {
    let merges = *record.measured.column(&record.convergence.counted_by)?.get(query)?;
    if merges as usize <= record.convergence.of(query).0.len() {
        return None;
    }
    let (again, history) = lockstep::replay(problem, at);
    // What did not go the same way says nothing of the run.
    record.measured.of(query).map(|(_, value)| value).eq(again.row()).then(|| history.into_iter().unzip())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::QuerySpec;
    use super::super::super::problem::build_problem;
    use super::super::super::testing::records::record;
    use super::*;
    use crate::knn::{Convergence, Measured, Metric, warp};

    #[test]
    fn a_query_with_more_merges_than_are_kept_is_replayed() {
        use crate::cloud::Column;
        use crate::cloud::PointCloud;
        use crate::cloud::Source;
        use crate::cloud::Table;
        // Every point is nearer to the last one than all before it.
        let n = 3200;
        let table = Table { columns: vec![Column { name: "x".to_owned() }], values: (0..n).map(|at| f64::from(n - at)).collect() };
        let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
        let mut record = RunRecord::clone(&record());
        record.cloud = Arc::new(PointCloud::from_table(table, source, None, false).expect("a cloud"));
        record.head.spec.queries = QuerySpec::Rows(vec![n as u64 - 1]);
        record.query_rows = vec![n as u32 - 1];
        let problem = build_problem(&record.spec, &record.cloud, None).expect("a problem");
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

        let (seen, distances) = TheoryCurve::of(&record, 0, &Resident::default()).replayed.expect("most merges are not kept");
        assert_eq!(seen.len(), counters.merges as usize);
        assert_eq!((seen.last(), distances.last()), (Some(&(n as u32)), Some(&9.0)), "k = 4, at distances 0 to 3");
        let [merges, candidates, groups_hit] = counters.row();
        record.measured = counted([merges, candidates + 1, groups_hit]);
        assert_eq!(TheoryCurve::of(&record, 0, &Resident::default()).replayed, None, "it went another way");
    }

    #[test]
    fn theory_ends_at_the_kth_distance_and_only_falls() {
        let record = record();
        let curve = TheoryCurve::of(&record, 0, &Resident::default()).points;
        let (problem, at) = problem_of(&record, 0, &Resident::default()).expect("a problem");
        let mut all = distances(&problem, at);
        all.sort_unstable_by(f32::total_cmp);
        assert_eq!(all.len(), 50);
        let end = curve.last().expect("n is at least k");
        assert_eq!(end[0], 50.0);
        assert!((end[1] - f64::from(all[3])).abs() < 1e-6, "after all points the bound is the k-th distance");
        assert!(curve.windows(2).all(|pair| pair[1][1] <= pair[0][1]));

        // A query that leaves itself out is searched with one neighbour more: itself.
        let mut without = RunRecord::clone(&record);
        without.head.spec.exclude_self = true;
        let end = TheoryCurve::of(&without, 0, &Resident::default()).points.last().copied().expect("n is at least k + 1");
        assert!((end[1] - f64::from(all[4])).abs() < 1e-6);
    }

    #[test]
    fn prepared_points_are_used_and_others_left() {
        let (record, resident) = (record(), Resident::default());
        let own = Setup::from(&record.spec).arrangement();
        let of_another = Setup { metric: Metric::Angular, ..Setup::from(&record.spec) }.arrangement();
        resident.points(&record.cloud, of_another).expect("points");
        let apart = TheoryCurve::of(&record, 1, &resident);
        assert!(resident.has(&record.cloud, of_another), "what another problem prepared is left");
        resident.points(&record.cloud, own).expect("points");
        assert_eq!(TheoryCurve::of(&record, 1, &resident), apart);
    }
}
