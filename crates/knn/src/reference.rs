//! The reference: brute force in f64 on the f32 problem, and a judge of engines' answers.
//!
//! It shares no code with any engine: no sorting networks, no fused multiply-add, no f32 arithmetic.

use rayon::prelude::*;

use super::{NONE, Neighbors, Problem};
use crate::progress::Progress;

/// Relative difference always allowed between an f32 distance and the reference.
const TOLERANCE: f64 = 1e-5;

/// Queries judged between two checks of the cancel flag.
const CHUNK: usize = 64;

/// The verdict on an answer without mismatch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Queries checked: all of them unless cancelled.
    pub queries: usize,
    /// Largest relative difference between a squared distance found and the reference at the same rank.
    pub largest_relative_error: f64,
    /// Ranks where the engine names a different point than the reference, at an equal distance.
    pub ties: u64,
}

impl Report {
    fn and(self, other: Self) -> Self {
        Self {
            queries: self.queries + other.queries,
            largest_relative_error: self.largest_relative_error.max(other.largest_relative_error),
            ties: self.ties + other.ties,
        }
    }
}

/// The first error in an engine's answer: `expected` is the reference's value, `found` the engine's.
///
/// Ranks count from 0; points are given by position in processing order.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The answer does not have q × k entries.
    #[error(
        "expected {queries} queries with {k} neighbours each, found {found_indices} indices and \
         {found_distances} distances ({found_k} per query)"
    )]
    Shape {
        queries: usize,
        /// Neighbours per query that an engine must find.
        k: usize,
        found_k: usize,
        found_indices: usize,
        found_distances: usize,
    },
    /// The distance at a rank differs from the reference.
    #[error(
        "query {query}, rank {rank}: expected squared distance {expected:?} (position {position}), found \
         {found:?}"
    )]
    Distance {
        query: usize,
        rank: usize,
        /// The reference's squared distance.
        expected: f64,
        /// The reference's neighbour at this rank.
        position: u32,
        /// The engine's squared distance.
        found: f32,
    },
    /// A neighbour is not at the distance reported for it.
    #[error(
        "query {query}, rank {rank}: expected position {expected} at squared distance \
         {expected_distance:?}, found position {found}, which is at {found_distance:?}"
    )]
    Point {
        query: usize,
        rank: usize,
        expected: u32,
        /// Squared distance of `expected`.
        expected_distance: f64,
        found: u32,
        /// Squared distance of `found`, computed by the reference.
        found_distance: f64,
    },
    /// A position is out of range.
    #[error(
        "query {query}, rank {rank}: expected position {expected}, found {found}, which is out of range ({n} \
         points)"
    )]
    NoSuchPoint {
        query: usize,
        rank: usize,
        expected: u32,
        found: u32,
        /// Number of points: positions are below it.
        n: usize,
    },
    /// A point appears twice.
    #[error("query {query}, rank {rank}: position {found} was found twice")]
    Twice {
        query: usize,
        /// The later of its ranks.
        rank: usize,
        /// Its position in processing order.
        found: u32,
    },
    /// Neighbours are not sorted by (squared distance, position).
    #[error(
        "query {query}, rank {rank}: expected ascending (squared distance, position), found \
         ({found_distance:?}, {found}) after ({before_distance:?}, {before})"
    )]
    Order {
        query: usize,
        /// The later of the two ranks.
        rank: usize,
        /// Position at the preceding rank.
        before: u32,
        /// Squared distance of `before`.
        before_distance: f32,
        /// Position at this rank.
        found: u32,
        /// Squared distance of `found`.
        found_distance: f32,
    },
    /// An entry past rank n is not empty.
    #[error(
        "query {query}, rank {rank}: expected no neighbour (inf; only {n} points), found position {found} at \
         {found_distance:?}"
    )]
    Padding {
        query: usize,
        rank: usize,
        n: usize,
        found: u32,
        /// The engine's squared distance.
        found_distance: f32,
    },
}

/// A query's min(k, n) nearest points: positions in processing order and squared distances, sorted by
/// (distance, position).
pub fn neighbours(problem: &Problem, query: usize) -> (Vec<u32>, Vec<f64>) {
    let (k, dims, target) = (problem.k().min(problem.n()), problem.dims(), problem.query(query));
    // Collect candidates and keep only the k best whenever the list is full. Positions ascend, so a later
    // point that ties with the k-th sorts after it.
    let room = 4 * k + 1024;
    let mut nearest: Vec<(f64, u32)> = Vec::with_capacity(room);
    let mut bound = f64::INFINITY;
    for (position, point) in problem.points().chunks_exact(dims).enumerate() {
        let distance = squared_distance(point, target);
        if distance < bound {
            nearest.push((distance, position as u32));
            if nearest.len() == room {
                nearest.select_nth_unstable_by(k - 1, by_distance_and_position);
                nearest.truncate(k);
                bound = nearest[k - 1].0;
            }
        }
    }
    nearest.sort_unstable_by(by_distance_and_position);
    nearest.truncate(k);
    nearest.into_iter().map(|(distance, position)| (position, distance)).unzip()
}

fn by_distance_and_position(a: &(f64, u32), b: &(f64, u32)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum()
}

/// Judges an engine's answer, given as positions in processing order.
///
/// Squared distances must agree at every rank. A different point than the reference's is allowed only at an
/// equal distance. No point may appear twice, neighbours must be sorted, and entries past rank n must be
/// empty. If `progress` is cancelled, judging stops early and reports fewer queries.
///
/// # Errors
/// The first [`Mismatch`] by query.
pub fn judge(problem: &Problem, found: &Neighbors, progress: &dyn Progress) -> Result<Report, Mismatch> {
    let (q, k) = (problem.q(), problem.k());
    if found.k != k || found.indices.len() != q * k || found.squared_distances.len() != q * k {
        return Err(Mismatch::Shape {
            queries: q,
            k,
            found_k: found.k,
            found_indices: found.indices.len(),
            found_distances: found.squared_distances.len(),
        });
    }
    let mut report = Report::default();
    progress.update(0, q as u64);
    for start in (0..q).step_by(CHUNK) {
        if progress.cancelled() {
            break;
        }
        let end = (start + CHUNK).min(q);
        // In query order, so that the reported mismatch is deterministic.
        let verdicts: Vec<Result<Report, Mismatch>> =
            (start..end).into_par_iter().map(|query| judge_query(problem, found, query)).collect();
        for verdict in verdicts {
            report = report.and(verdict?);
        }
        progress.update(end as u64, q as u64);
    }
    Ok(report)
}

fn judge_query(problem: &Problem, found: &Neighbors, query: usize) -> Result<Report, Mismatch> {
    let (n, dims, target) = (problem.n(), problem.dims(), problem.query(query));
    let (expected_positions, expected_distances) = neighbours(problem, query);
    let (positions, distances) = found.for_query(query);
    let there = expected_positions.len();
    let allowance = Tolerance::new(dims);
    let mut report = Report { queries: 1, ..Report::default() };

    for rank in there..positions.len() {
        if positions[rank] != NONE || distances[rank] != f32::INFINITY {
            return Err(Mismatch::Padding {
                query,
                rank,
                n,
                found: positions[rank],
                found_distance: distances[rank],
            });
        }
    }
    for rank in 0..there {
        let (expected, expected_distance) = (expected_positions[rank], expected_distances[rank]);
        let (position, distance) = (positions[rank], distances[rank]);
        if !allowance.holds(f64::from(distance), expected_distance) {
            return Err(Mismatch::Distance {
                query,
                rank,
                expected: expected_distance,
                position: expected,
                found: distance,
            });
        }
        if position as usize >= n {
            return Err(Mismatch::NoSuchPoint { query, rank, expected, found: position, n });
        }
        let own = squared_distance(&problem.points()[position as usize * dims..][..dims], target);
        if !allowance.holds(own, expected_distance) || !allowance.holds(f64::from(distance), own) {
            return Err(Mismatch::Point {
                query,
                rank,
                expected,
                expected_distance,
                found: position,
                found_distance: own,
            });
        }
        if expected_distance > 0.0 {
            // Relative error, counted as zero within the absolute allowance for subnormal squares.
            let error = ((f64::from(distance) - expected_distance).abs() - allowance.absolute).max(0.0)
                / expected_distance;
            report.largest_relative_error = report.largest_relative_error.max(error);
        }
        report.ties += u64::from(position != expected);
    }
    for rank in 1..there {
        let (before, at) = ((distances[rank - 1], positions[rank - 1]), (distances[rank], positions[rank]));
        if at.1 == before.1 {
            return Err(Mismatch::Twice { query, rank, found: at.1 });
        }
        if before.0.total_cmp(&at.0).then(before.1.cmp(&at.1)).is_ge() {
            return Err(Mismatch::Order {
                query,
                rank,
                before: before.1,
                before_distance: before.0,
                found: at.1,
                found_distance: at.0,
            });
        }
    }
    let mut by_position: Vec<(u32, usize)> = positions[..there].iter().copied().zip(0..).collect();
    by_position.sort_unstable();
    match by_position.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(Mismatch::Twice { query, rank: pair[1].1, found: pair[1].0 }),
        None => Ok(report),
    }
}

/// How far an f32 distance may differ from the reference.
struct Tolerance {
    relative: f64,
    absolute: f64,
}

impl Tolerance {
    /// For d dimensions: one rounding for the difference, one for its square and one per step, half a unit
    /// each. Where a square is below the smallest normal f32, also half the smallest f32 per step, doubled.
    fn new(dims: usize) -> Self {
        Self {
            relative: TOLERANCE.max((dims as f64 + 2.0) * 2f64.powi(-24)),
            absolute: dims as f64 * 2f64.powi(-149),
        }
    }

    /// Whether two distances are equal within the allowance. NaN equals nothing.
    fn holds(&self, distance: f64, expected: f64) -> bool {
        (distance - expected).abs() <= self.relative * expected + self.absolute
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::cloud::{Column, Order, PointCloud, Source, Table};
    use crate::progress::NoProgress;
    use crate::{Metric, ProblemParameters, Queries};

    /// Points on a line at 0, 1, 1, 2, 3, 4; the first is the query; k = 4.
    fn line() -> Problem {
        problem_of(&[0.0, 1.0, 1.0, 2.0, 3.0, 4.0], 4)
    }

    fn problem_of(values: &[f64], k: usize) -> Problem {
        let table = Table { columns: vec![Column { name: "x".to_owned() }], values: values.to_vec() };
        let source = Source::Generate { spec: "line".to_owned(), seed: 0 };
        let cloud =
            Arc::new(PointCloud::from_table(table, source, None, false).expect("finite values make a cloud"));
        let setup = ProblemParameters {
            k,
            metric: Metric::L2,
            order: Order::File,
            seed: 0,
            exclude_self: false,
            drop_zero_rows: false,
        };
        Problem::new(&cloud, &Queries::Rows(vec![0]), setup).expect("the problem is sound")
    }

    fn right() -> Neighbors {
        Neighbors { k: 4, indices: vec![0, 1, 2, 3], squared_distances: vec![0.0, 1.0, 1.0, 4.0] }
    }

    #[test]
    fn the_reference_sorts_by_distance_and_position() {
        assert_eq!(neighbours(&line(), 0), (vec![0, 1, 2, 3], vec![0.0, 1.0, 1.0, 4.0]));
        assert_eq!(neighbours(&problem_of(&[2.0], 5), 0), (vec![0], vec![0.0]));
    }

    #[test]
    fn the_candidate_list_matches_a_full_sort() {
        // Enough points to fill the list many times, in descending distance and with ties.
        let values: Vec<f64> =
            std::iter::once(0.0).chain((1..20_000u32).rev().map(|i| f64::from(i / 3))).collect();
        let problem = problem_of(&values, 7);
        let mut all: Vec<(f64, u32)> =
            values.iter().zip(0..).map(|(value, position)| (value * value, position)).collect();
        all.sort_by(by_distance_and_position);
        let expected: Vec<u32> = all[..7].iter().map(|&(_, position)| position).collect();
        assert_eq!(neighbours(&problem, 0).0, expected);
    }

    #[test]
    fn correct_answers_pass() {
        let report = judge(&line(), &right(), &NoProgress).expect("the answer is right");
        assert_eq!(report, Report { queries: 1, largest_relative_error: 0.0, ties: 0 });
    }

    #[test]
    fn ties_at_rank_k_accept_either_point() {
        let problem = problem_of(&[0.0, 1.0, 1.0, 2.0], 2);
        let found = Neighbors { k: 2, indices: vec![0, 2], squared_distances: vec![0.0, 1.0] };
        assert_eq!(judge(&problem, &found, &NoProgress).map(|report| report.ties), Ok(1));
    }

    #[test]
    fn rounding_errors_pass_and_are_reported() {
        let mut found = right();
        found.squared_distances[3] = 4.0 * (1.0 + 5e-6);
        let report = judge(&line(), &found, &NoProgress).expect("the difference is within the tolerance");
        assert!((report.largest_relative_error - 5e-6).abs() < 1e-6, "{report:?}");
    }

    /// Applies a change to the right answer and returns the judge's message.
    fn broken(how: impl FnOnce(&mut Neighbors)) -> String {
        let mut found = right();
        how(&mut found);
        judge(&line(), &found, &NoProgress).expect_err("the answer is wrong").to_string()
    }

    #[test]
    fn every_kind_of_mismatch_is_reported() {
        assert_eq!(
            broken(|found| found.squared_distances[3] = 4.001),
            "query 0, rank 3: expected squared distance 4.0 (position 3), found 4.001"
        );
        assert!(broken(|found| found.squared_distances[0] = f32::NAN).contains("rank 0"));
        assert_eq!(
            broken(|found| found.indices[3] = 4),
            "query 0, rank 3: expected position 3 at squared distance 4.0, found position 4, which is at 9.0"
        );
        assert_eq!(
            broken(|found| found.indices[3] = 6),
            "query 0, rank 3: expected position 3, found 6, which is out of range (6 points)"
        );
        assert_eq!(
            broken(|found| found.indices[3] = NONE),
            "query 0, rank 3: expected position 3, found 4294967295, which is out of range (6 points)"
        );
        assert_eq!(broken(|found| found.indices[2] = 1), "query 0, rank 2: position 1 was found twice");
        assert_eq!(
            broken(|found| found.indices.swap(1, 2)),
            "query 0, rank 2: expected ascending (squared distance, position), found (1.0, 1) after (1.0, 2)"
        );
        assert!(broken(|found| found.squared_distances.swap(0, 3)).contains("rank 0"));
        assert_eq!(
            broken(|found| found.k = 2),
            "expected 1 queries with 4 neighbours each, found 4 indices and 4 distances (2 per query)"
        );
    }

    #[test]
    fn ranks_beyond_the_last_point_must_be_empty() {
        let problem = problem_of(&[0.0, 1.0], 3);
        let right =
            Neighbors { k: 3, indices: vec![0, 1, NONE], squared_distances: vec![0.0, 1.0, f32::INFINITY] };
        assert!(judge(&problem, &right, &NoProgress).is_ok());
        let mut wrong = right.clone();
        wrong.indices[2] = 1;
        assert!(matches!(judge(&problem, &wrong, &NoProgress), Err(Mismatch::Padding { rank: 2, .. })));
        let mut wrong = right;
        wrong.squared_distances[2] = 9.0;
        assert!(matches!(judge(&problem, &wrong, &NoProgress), Err(Mismatch::Padding { rank: 2, .. })));
    }

    #[test]
    fn duplicate_points_are_detected_despite_rounding() {
        let problem = problem_of(&[0.0, 1.0, 1.000_001, 1.000_002], 4);
        let distances: Vec<f32> = vec![0.0, 1.0, 1.000_002, 1.000_004];
        let found = Neighbors { k: 4, indices: vec![0, 1, 2, 1], squared_distances: distances };
        assert_eq!(
            judge(&problem, &found, &NoProgress),
            Err(Mismatch::Twice { query: 0, rank: 3, found: 1 })
        );
    }

    #[test]
    fn cancelled_checks_report_their_progress() {
        assert_eq!(judge(&line(), &right(), &AtomicBool::new(true)).map(|report| report.queries), Ok(0));
    }
}
