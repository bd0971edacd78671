//! Compares answers with the file's own 64-bit values: the effect of searching with f32 coordinates and
//! distances.
//!
//! Brute force in f64 over the values in the file, before an origin is subtracted or anything is rounded. It
//! shares no code with the engines or with the oracle of the f32 problem ([`crate::knn::reference`]).

use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;

use crate::cloud::PointCloud;
use crate::exact::RowVectors;
use crate::knn::{Metric, NONE, Neighbors, Problem};
use crate::memory;
use crate::progress::Progress;
use crate::text::{count, thousands};

/// Points whose distances are computed together. They are stored dimension by dimension, so that inner loops
/// run over points.
const BLOCK: usize = 256;

/// Queries that process a block together while it is in a core's cache.
const GROUP: usize = 16;

/// Comparisons predicted to take longer are refused.
const MAX_SECONDS: f64 = 600.0;

/// How answers compare with the nearest neighbours by the file's own values. Distances that differ by no more
/// than f64 rounding are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Float64Comparison {
    pub queries: u64,
    /// Queries with a point at some rank that is farther than the nearest one.
    pub different: u64,
    /// The part of `different` with a point that is not among the nearest; the other queries only have
    /// another order.
    pub missing: u64,
    /// The largest excess of a distance at a rank, in the metric's unit.
    pub largest_excess: f64,
}

impl std::ops::AddAssign for Float64Comparison {
    fn add_assign(&mut self, other: Self) {
        self.queries += other.queries;
        self.different += other.different;
        self.missing += other.missing;
        self.largest_excess = self.largest_excess.max(other.largest_excess);
    }
}

/// Why answers cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Float64Error {
    #[error(
        "--f64: comparing {} with all {} points in 64 bits would take about {}, but the limit is ten \
         minutes; pass --queries {max_queries} or fewer",
        count(*.queries as u64, "query", "queries"),
        thousands(*.points as u64),
        duration(*.seconds)
    )]
    TooLong {
        queries: usize,
        points: usize,
        /// The predicted time.
        seconds: f64,
        /// The number of queries that fit in the time limit.
        max_queries: usize,
    },
    #[error(
        "--f64: not enough memory: {} points in 64 bits need {} MiB",
        thousands(*.points as u64),
        *.bytes >> 20
    )]
    Memory { bytes: u64, points: usize },
    #[error("cancelled")]
    Cancelled,
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 5400.0 => count((seconds / 60.0).round() as u64, "minute", "minutes"),
        seconds if seconds < 172_800.0 => count((seconds / 3600.0).round() as u64, "hour", "hours"),
        seconds => count((seconds / 86_400.0).round() as u64, "day", "days"),
    }
}

/// A problem's points and queries in f64.
pub struct Float64Data<'a> {
    problem: &'a Problem,
    /// d, as searched.
    dims: usize,
    /// Blocks of d × [`BLOCK`] values; the last is padded with NaN.
    blocks: Vec<f64>,
    /// q × d.
    queries: Vec<f64>,
}

impl<'a> Float64Data<'a> {
    /// Reads the values of `cloud` and of `queries`, which may be the same cloud.
    ///
    /// # Errors
    /// [`Float64Error::Memory`], and [`Float64Error::TooLong`] as extrapolated from a few queries.
    pub fn new(problem: &'a Problem, cloud: &PointCloud, queries: &PointCloud) -> Result<Self, Float64Error> {
        let (n, dims) = (problem.n(), problem.dims());
        let count = n.div_ceil(BLOCK) * BLOCK * dims;
        let refused = |count: usize| Float64Error::Memory { bytes: 8 * count as u64, points: n };
        let mut blocks: Vec<f64> = memory::room(count).ok_or_else(|| refused(count))?;
        blocks.resize(count, f64::NAN);
        let vectors = RowVectors::new(problem.metric(), cloud);
        blocks.par_chunks_mut(BLOCK * dims).enumerate().for_each(|(block, values)| {
            for position in block * BLOCK..n.min((block + 1) * BLOCK) {
                let point = vectors.vector(cloud, problem.row(position as u32) as usize);
                point
                    .iter()
                    .enumerate()
                    .for_each(|(dim, &value)| values[dim * BLOCK + position % BLOCK] = value);
            }
        });
        let count = problem.q() * dims;
        let mut asked: Vec<f64> = memory::room(count).ok_or_else(|| refused(count))?;
        asked.extend(
            (0..problem.q()).flat_map(|query| vectors.vector(queries, problem.query_row(query) as usize)),
        );
        let values = Self { problem, dims, blocks, queries: asked };
        values.check_time(MAX_SECONDS)?;
        Ok(values)
    }

    /// Predicts the total time from one group of queries per thread.
    fn check_time(&self, most: f64) -> Result<(), Float64Error> {
        let q = self.problem.q();
        let sample = q.min(GROUP * rayon::current_num_threads());
        let start = Instant::now();
        (0..sample.div_ceil(GROUP)).into_par_iter().for_each(|group| {
            self.nearest(group * GROUP..sample.min((group + 1) * GROUP));
        });
        let each = start.elapsed().as_secs_f64() / sample as f64;
        let seconds = each * q as f64;
        let max_queries = ((most / each) as usize).max(1);
        if seconds > most {
            Err(Float64Error::TooLong { queries: q, points: self.problem.n(), seconds, max_queries })
        } else {
            Ok(())
        }
    }

    /// Compares an engine's answer, as positions, with the nearest neighbours by these values.
    ///
    /// # Errors
    /// [`Float64Error::Cancelled`].
    pub fn compare(
        &self,
        found: &Neighbors,
        progress: &dyn Progress,
    ) -> Result<Float64Comparison, Float64Error> {
        let q = self.problem.q();
        let together = GROUP * rayon::current_num_threads();
        let mut all = Float64Comparison::default();
        for start in (0..q).step_by(together) {
            if progress.cancelled() {
                return Err(Float64Error::Cancelled);
            }
            let groups: Vec<usize> = (start..q.min(start + together)).step_by(GROUP).collect();
            let compared: Vec<Float64Comparison> = groups
                .into_par_iter()
                .map(|start| self.compare_group(start..q.min(start + GROUP), found))
                .collect();
            compared.into_iter().for_each(|compared| all += compared);
            progress.update(all.queries, q as u64);
        }
        Ok(all)
    }

    fn compare_group(&self, queries: std::ops::Range<usize>, found: &Neighbors) -> Float64Comparison {
        let mut all = Float64Comparison::default();
        for (query, nearest) in queries.clone().zip(self.nearest(queries)) {
            all += self.compare_query(query, &nearest, found.for_query(query).0);
        }
        all
    }

    /// `nearest` has squared distances, ascending; `found` has positions, including the query's own row.
    fn compare_query(&self, query: usize, nearest: &[f64], found: &[u32]) -> Float64Comparison {
        let own = self.problem.own_row(query);
        let named =
            found.iter().filter(|&&position| position != NONE && own != Some(self.problem.row(position)));
        let last = nearest.last().copied().unwrap_or(0.0);
        let (mut different, mut missing, mut excess) = (false, false, 0.0f64);
        for (&position, &least) in named.zip(nearest) {
            let far = self.squared_distance(query, position as usize);
            if !self.is_same_distance(far, least) {
                different = true;
                missing |= far > last && !self.is_same_distance(far, last);
                let [far, least] = [far, least].map(|squared| self.problem.metric().distance_of(squared));
                excess = excess.max(far - least);
            }
        }
        Float64Comparison {
            queries: 1,
            different: different.into(),
            missing: missing.into(),
            largest_excess: excess,
        }
    }

    /// Whether two squared distances differ by no more than f64 rounding: of their sum and, on a sphere, of
    /// unit vectors.
    fn is_same_distance(&self, one: f64, other: f64) -> bool {
        let relative = (self.dims as f64 + 4.0) * f64::EPSILON;
        let absolute = if self.problem.metric() == Metric::L2 { 0.0 } else { 8.0 * f64::EPSILON };
        (one - other).abs() <= relative * one.max(other) || (one.sqrt() - other.sqrt()).abs() <= absolute
    }

    fn squared_distance(&self, query: usize, position: usize) -> f64 {
        let block = &self.blocks[position / BLOCK * BLOCK * self.dims..];
        let target = &self.queries[query * self.dims..][..self.dims];
        target
            .iter()
            .enumerate()
            .map(|(dim, value)| (block[dim * BLOCK + position % BLOCK] - value).powi(2))
            .sum()
    }

    /// The squared distances of each query's k nearest points, ascending.
    fn nearest(&self, queries: std::ops::Range<usize>) -> Vec<Vec<f64>> {
        let (k, problem) = (self.problem.reported_k(), self.problem);
        // The query's own row, if excluded, is found like any other and removed at the end.
        let kept = k + 1;
        let mut lists: Vec<TopK> = queries.clone().map(|_| TopK::new(kept)).collect();
        let mut distances = [0.0; BLOCK];
        for (block, values) in self.blocks.chunks_exact(BLOCK * self.dims).enumerate() {
            for (query, list) in queries.clone().zip(&mut lists) {
                let target = &self.queries[query * self.dims..][..self.dims];
                squared_distances(values, target, &mut distances);
                list.insert(block * BLOCK, &distances);
            }
        }
        let of = |(query, list): (usize, TopK)| {
            let own = problem.own_row(query);
            let there = list.finish().into_iter().filter(|&(_, position)| own != Some(problem.row(position)));
            there.take(k).map(|(distance, _)| distance).collect()
        };
        queries.zip(lists).map(of).collect()
    }
}

/// The squared distances between a block's points and a target.
fn squared_distances(block: &[f64], target: &[f64], distances: &mut [f64; BLOCK]) {
    *distances = [0.0; BLOCK];
    for (values, target) in block.chunks_exact(BLOCK).zip(target) {
        for (sum, value) in distances.iter_mut().zip(values) {
            let difference = value - target;
            *sum += difference * difference;
        }
    }
}

/// A query's nearest points so far. The list grows beyond `capacity` and is cut whenever it is full.
struct TopK {
    capacity: usize,
    list: Vec<(f64, u32)>,
    bound: f64,
}

impl TopK {
    fn new(capacity: usize) -> Self {
        Self { capacity, list: Vec::with_capacity(2 * capacity + BLOCK), bound: f64::INFINITY }
    }

    fn insert(&mut self, first: usize, distances: &[f64; BLOCK]) {
        // Padding is NaN, which is not below any bound.
        if !distances.iter().any(|&distance| distance < self.bound) {
            return;
        }
        let near = distances.iter().enumerate().filter(|&(_, &distance)| distance < self.bound);
        self.list.extend(near.map(|(at, &distance)| (distance, (first + at) as u32)));
        if self.list.len() >= 2 * self.capacity {
            self.list.select_nth_unstable_by(self.capacity - 1, |a, b| a.0.total_cmp(&b.0));
            self.list.truncate(self.capacity);
            self.bound = self.list[self.capacity - 1].0;
        }
    }

    fn finish(mut self) -> Vec<(f64, u32)> {
        self.list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.list
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::testing::{cloud, spec, squares};
    use super::super::super::{QuerySpec, RunSpec, build_problem};
    use super::*;
    use crate::knn::reference;
    use crate::progress::NoProgress;
    use crate::run::LoadedSpec;

    /// The answer of the f32 problem, from its oracle.
    fn answer(problem: &Problem) -> Neighbors {
        let of: Vec<_> = (0..problem.q()).map(|query| reference::neighbours(problem, query)).collect();
        let indices = of.iter().flat_map(|(positions, _)| positions.clone()).collect();
        Neighbors {
            k: problem.k(),
            indices,
            squared_distances: of.iter().flat_map(|(_, far)| far.iter().map(|&far| far as f32)).collect(),
        }
    }

    fn compared(spec: &RunSpec, cloud: &Arc<PointCloud>, found: Option<Neighbors>) -> Float64Comparison {
        let problem = build_problem(LoadedSpec::new(spec, cloud, None)).unwrap();
        let found = found.unwrap_or_else(|| answer(&problem));
        Float64Data::new(&problem, cloud, cloud).unwrap().compare(&found, &NoProgress).unwrap()
    }

    #[test]
    fn values_exact_in_f32_give_equal_answers() {
        for exclude_self in [false, true] {
            for k in [1, 5, 9] {
                // 600 points fill more than two blocks.
                let spec = RunSpec { k, exclude_self, ..spec() };
                let same = Float64Comparison { queries: 600, ..Float64Comparison::default() };
                assert_eq!(compared(&spec, &squares(600), None), same, "k = {k}, {exclude_self}");
            }
        }
    }

    #[test]
    fn neighbours_swapped_by_f32_rounding_are_counted() {
        // From row 0, row 1 is farther than row 2 by less than f32 resolves, and the first of equals is
        // chosen. For row 3 both are equal.
        let close = cloud(1, vec![0.0, 1.0 + 1e-9, 1.0, 1e9]);
        let of_first =
            |k: usize| RunSpec { k, queries: QuerySpec::Rows(vec![0]), exclude_self: true, ..spec() };
        let one = compared(&of_first(1), &close, None);
        assert_eq!((one.queries, one.different, one.missing), (1, 1, 1), "{one:?}");
        assert!((one.largest_excess - 1e-9).abs() < 1e-15, "{one:?}");
        let two = compared(&of_first(2), &close, None);
        assert_eq!((two.different, two.missing), (1, 0), "both are found, in another order");
        // If rows are equal in f64, too, there is no difference.
        assert_eq!(compared(&of_first(1), &cloud(1, vec![0.0, 1.0, 1.0, 1e9]), None).different, 0);
    }

    #[test]
    fn excess_distance_uses_the_metrics_unit() {
        let places = cloud(2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 3.0]);
        let spec = RunSpec {
            k: 1,
            metric: Metric::Haversine,
            queries: QuerySpec::Rows(vec![0]),
            exclude_self: true,
            ..spec()
        };
        assert_eq!(compared(&spec, &places, None).different, 0);
        // The wrong answer has the second nearest point, two degrees farther.
        let wrong = Neighbors { k: 2, indices: vec![0, 2], squared_distances: vec![0.0, 1.0] };
        let found = compared(&spec, &places, Some(wrong.clone()));
        assert!((found.largest_excess - 222.39).abs() < 0.01 && found.missing == 1, "{found:?}");
        let plane = RunSpec { metric: Metric::L2, ..spec };
        assert_eq!(compared(&plane, &places, Some(wrong)).largest_excess, 2.0);
        let angles = cloud(2, vec![2.0, 0.0, 0.0, 1.0, 3.0, 0.0]);
        let angular = RunSpec { metric: Metric::Angular, ..plane };
        assert_eq!(compared(&angular, &angles, None).different, 0);
        let wrong = Neighbors { k: 2, indices: vec![0, 1], squared_distances: vec![0.0, 1.0] };
        assert!(
            (compared(&angular, &angles, Some(wrong)).largest_excess - std::f64::consts::FRAC_PI_2).abs()
                < 1e-15
        );
    }

    #[test]
    fn slow_f64_checks_are_rejected_with_a_feasible_size() {
        let data = squares(300);
        let problem = build_problem(LoadedSpec::new(&spec(), &data, None)).unwrap();
        let why = Float64Data::new(&problem, &data, &data).unwrap().check_time(1e-9).unwrap_err().to_string();
        assert!(
            why.starts_with("--f64: comparing 300 queries with all 300 points in 64 bits would take about "),
            "{why}"
        );
        assert!(why.ends_with("but the limit is ten minutes; pass --queries 1 or fewer"), "{why}");
        assert_eq!(
            [90.0, 5000.0, 7200.0, 200_000.0].map(duration),
            ["2 minutes", "83 minutes", "2 hours", "2 days"]
        );
    }
}
