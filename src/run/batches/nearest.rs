//! The k nearest, answered in consecutive parts of the queries.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::cloud::PointCloud;
use crate::knn::{Problem, answer_bytes};
use crate::memory;
use crate::run::engines::once;
use crate::run::execute::Asked;
use crate::run::problem::{build_problem_over, query_cloud_of};
use crate::run::{Engines, RunError, RunSpec};

/// The most bytes that the answers and the queries of a part take, once: enough that a device is busy for long.
const PART: u64 = 512 << 20;

/// The share of free memory that they may take once: they are in an engine, downloaded and reported at the same time.
const SHARE: u64 = 16;

/// Copies of one query's answer, the least that a part has.
const COPIES: u64 = 3;

/// A spec's problem and the size of its parts. All parts are over the same points, of which engines keep what they made.
pub struct QueryBatches {
    spec: RunSpec,
    cloud: Arc<PointCloud>,
    query_cloud: Option<Arc<PointCloud>>,
    problem: Problem,
    /// The most queries of a part.
    most: usize,
}

impl QueryBatches {
    /// Builds the problem of a spec that these engines will answer. Most problems are one part.
    ///
    /// # Errors
    /// As [`crate::run::build_problem`], and [`RunError::OneQuery`] where a single query has too many neighbours for the memory.
    pub fn new(engines: &Engines, spec: &RunSpec, cloud: &Arc<PointCloud>, query_cloud: Option<&Arc<PointCloud>>) -> Result<Self, RunError> {
        let query_cloud = query_cloud_of(spec, cloud, query_cloud)?;
        let problem = build_problem_over(engines.resident(), spec, cloud, query_cloud.as_ref())?;
        let most = part_queries(&problem, memory::available())?;
        Ok(Self { spec: once(spec), cloud: Arc::clone(cloud), query_cloud, problem, most })
    }

    /// The same with at most so many queries in a part.
    #[must_use]
    pub fn of_at_most(self, queries: usize) -> Self {
        Self { most: self.most.min(queries.max(1)), ..self }
    }

    /// The number of queries, q.
    pub fn queries(&self) -> usize {
        self.problem.q()
    }

    /// Neighbours reported of each query.
    pub fn k(&self) -> usize {
        self.problem.reported_k()
    }

    /// What is asked: one pass, whatever the spec had.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// The parts, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (queries, most) = (self.queries(), self.most);
        (0..queries).step_by(most).map(move |start| start..queries.min(start.saturating_add(most)))
    }

    /// The problem of some queries.
    pub(in crate::run) fn problem(&self, queries: Range<usize>) -> Cow<'_, Problem> {
        if queries == (0..self.queries()) { Cow::Borrowed(&self.problem) } else { Cow::Owned(self.problem.part(queries)) }
    }

    /// A part, and what it was made of.
    pub(in crate::run) fn asked<'a>(&'a self, problem: &'a Problem) -> Asked<'a> {
        Asked { spec: &self.spec, cloud: &self.cloud, query_cloud: self.query_cloud.as_ref(), problem }
    }
}

/// The most queries of a part where so many bytes are free.
fn part_queries(problem: &Problem, free: Option<u64>) -> Result<usize, RunError> {
    let (n, k) = (problem.n(), problem.k());
    let needed = COPIES.saturating_mul(answer_bytes(1, k));
    if let Some(free) = free.filter(|&free| needed > free) {
        return Err(RunError::OneQuery { k: problem.reported_k(), n, needed: needed.div_ceil(1 << 20), free: free >> 20 });
    }
    let bytes = free.map_or(PART, |free| PART.min(free / SHARE));
    let of_query = answer_bytes(1, k).saturating_add(4 * problem.dims() as u64);
    Ok(usize::try_from(bytes / of_query).unwrap_or(usize::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::{EngineId, Metric};
    use crate::run::testing::{cloud, spec, squares};
    use crate::run::{EngineChoice, QuerySpec, build_problem};

    #[test]
    fn parts_are_as_large_as_the_memory_lets_them() {
        let of = |k: usize, free| {
            let problem = build_problem(&RunSpec { k, queries: QuerySpec::All, ..spec() }, &squares(100), None).unwrap();
            part_queries(&problem, free)
        };
        let row = |k: u64| 8 * k + 4 * squares(2).dims() as u64;
        assert_eq!(of(10, Some(1 << 40)).unwrap() as u64, PART / row(10));
        assert_eq!(of(10, None).unwrap() as u64, PART / row(10));
        assert_eq!(of(10, Some(1 << 20)).unwrap() as u64, (1 << 16) / row(10));
        assert_eq!(of(10, Some(240)).unwrap(), 1, "one query at least");
        let refused = of(4_000_000_000, Some(1 << 33)).unwrap_err().to_string();
        let why =
            "k = 4000000000: the neighbours of one query need 91553 MiB of memory, where 8192 MiB are free: use a smaller k; there are 100 points";
        assert_eq!(refused, why);
    }

    /// The neighbours of all queries, answered in parts of at most so many, and how many parts there were.
    fn answered(spec: &RunSpec, cloud: &Arc<PointCloud>, most: usize) -> (Vec<u32>, Vec<u32>, Vec<u32>, usize) {
        let mut engines = Engines::default();
        let parts = QueryBatches::new(&engines, spec, cloud, None).unwrap().of_at_most(most);
        let (mut rows, mut indices, mut distances, mut count) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let mut shares = Vec::new();
        for range in parts.ranges() {
            let mut stage = |_: &str, share| {
                shares.push(share);
                true
            };
            let record = engines.answer_part(&parts, range.clone(), None, &mut stage).unwrap();
            assert_eq!((record.neighbors.queries(), record.neighbors.k), (range.len(), parts.k()));
            assert_eq!(record.dropped_queries, (cloud.len() - parts.queries()) as u64);
            rows.extend(record.query_rows);
            indices.extend(record.neighbors.indices);
            distances.extend(record.neighbors.squared_distances.iter().map(|distance| distance.to_bits()));
            count += 1;
        }
        assert!(shares.is_sorted() && shares.last() == Some(&1.0), "{shares:?}");
        (rows, indices, distances, count)
    }

    #[test]
    fn parts_have_the_answers_of_all() {
        // Zero rows are left out under the angular metric, which moves the numbers of queries behind them.
        let cloud = cloud(2, (0..60).map(|at| if at % 14 < 2 { 0.0 } else { f64::from(at * 37 % 11) }).collect());
        for engine in ["lockstep", "kdtree", "bvh", "sort"] {
            for metric in [Metric::L2, Metric::Angular] {
                let engine = EngineChoice::named(EngineId::new(engine));
                let spec = RunSpec { queries: QuerySpec::All, k: 7, metric, exclude_self: true, drop_nonfinite: true, engine, ..spec() };
                let whole = answered(&spec, &cloud, usize::MAX);
                assert_eq!(whole.3, 1);
                for most in [1, 4, 25] {
                    let parts = answered(&spec, &cloud, most);
                    assert_eq!(parts.3, whole.0.len().div_ceil(most));
                    assert_eq!((&parts.0, &parts.1, &parts.2), (&whole.0, &whole.1, &whole.2), "{spec:?}");
                }
            }
        }
    }
}
