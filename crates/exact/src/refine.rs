//! Turns the answers of an engine into exact ones.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::cloud::PointCloud;
use crate::knn::distance::squared_distances;
use crate::knn::exact_distances::{ExactDistances, StoredRows};
use crate::knn::within::Opener;
use crate::knn::{Metric, NONE, Neighbors, Problem, RadiusIndex, theory};
use crate::margin::Margin;
use crate::order::{Query, RankedPoint, Ranking};

/// Bytes of a row from which queries are processed by their neighbours, so that rows are read from caches.
const LONG_ROW: usize = 1 << 10;

/// Queries per thread between cancellation checks.
const QUERIES_PER_TASK: usize = 1 << 10;

/// Work items per thread between two reports of progress: enough that threads rarely wait for the last one.
const TASKS_PER_BLOCK: usize = if cfg!(test) { 1 } else { 16 };

/// Candidates of a block, if several work items per thread are not more.
const PAIRS_PER_BLOCK: usize = 1 << 24;

/// Bytes per second that a thread gathers from long rows for their distances in f64.
const CPU_BYTES_PER_SECOND: f64 = 2.4e9;

/// The same for a small GPU.
const GPU_BYTES_PER_SECOND: f64 = 4e11;

/// Transfer rate between unpinned host memory and a GPU, in bytes per second.
const TRANSFER_BYTES_PER_SECOND: f64 = 6e9;

/// Seconds to load the kernel and reserve memory.
const GPU_START: f64 = 0.05;

/// Points whose distances are computed together if there is no index.
const POINTS_AT_A_TIME: usize = 1 << 12;

/// The number of neighbours to ask an engine for, so that few queries need a radius search: the more
/// dimensions, the more points are within the margin. Up to the next size of a warp's list, where more cost
/// nothing.
pub fn search_k(k: usize, dims: usize, largest: usize) -> usize {
    let wanted = k + 2 + k * dims.min(64) / 256;
    let capacity = theory::capacity(k);
    let enough = if capacity >= k + 2 { wanted.min(capacity) } else { wanted };
    enough.min(largest).max(k)
}

/// The k nearest of each query, by the file's values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefinedNeighbors {
    /// Rows of the cloud, k per query, nearest first, padded with [`NONE`].
    pub rows: Vec<u32>,
    /// Squared L2 distances, of unit vectors for metrics other than L2, rounded; ∞ where there is no
    /// neighbour.
    pub squared_distances: Vec<f32>,
    /// Distances in the metric's unit; ∞ where there is no neighbour.
    pub distances: Vec<f64>,
    /// Queries whose first candidates were not proven to suffice.
    pub widened: usize,
    /// Queries whose neighbours may be missing, with the distance within which they are, if the points were
    /// only candidates.
    pub unproven: Vec<(usize, f64)>,
    /// Whether a device computed the distances of all candidates.
    pub on_device: bool,
}

impl RefinedNeighbors {
    fn zeros(q: usize, k: usize) -> Self {
        Self {
            rows: vec![0; q * k],
            squared_distances: vec![0.0; q * k],
            distances: vec![0.0; q * k],
            ..Self::default()
        }
    }

    /// Where the neighbours of these queries are written.
    fn outputs(
        &mut self,
        k: usize,
        queries: impl IntoIterator<Item = usize>,
    ) -> impl Iterator<Item = QueryOutput<'_>> {
        (self.rows.chunks_mut(k))
            .zip(self.squared_distances.chunks_mut(k))
            .zip(self.distances.chunks_mut(k))
            .zip(queries)
            .map(|(((rows, squared_distances), distances), query)| QueryOutput {
                query,
                rows,
                squared_distances,
                distances,
            })
    }
}

/// The rows of the `k` nearest of a query by ranking every point, without candidates or margins, padded with
/// [`NONE`].
pub fn nearest_of_all(problem: &Problem, queries: &PointCloud, query: usize, k: usize) -> Vec<u32> {
    let ranking = Ranking::new(problem.metric(), problem.cloud(), queries, 0);
    let own = problem.own_row(query);
    let query = ranking.query(problem.query_row(query) as usize);
    let rows = (0..problem.n() as u32).into_par_iter().map(|position| problem.row(position));
    let rank = |vector: &mut Vec<f64>, row| ranking.rank(&query, row, vector);
    let mut ranked: Vec<RankedPoint> =
        rows.filter(|row| own != Some(*row)).map_init(Vec::new, rank).collect();
    ranking.keep_nearest(&mut ranked, k);
    ranking.sort(&query, &mut ranked, &mut Vec::new());
    let mut rows: Vec<u32> = ranked.iter().map(|ranked| ranked.row).collect();
    rows.resize(k, NONE);
    rows
}

/// Refines the answers to a problem.
pub struct Refiner<'a> {
    problem: &'a Problem,
    /// The number of points, if those of the problem are only candidates.
    among: Option<usize>,
    ranking: Ranking<'a>,
    margin: Margin,
    /// Whether positions ascend with rows, once this is needed.
    rows_ascend: OnceLock<bool>,
    open: Option<Opener>,
    index: OnceLock<Option<Box<dyn RadiusIndex + 'a>>>,
}

/// Where the neighbours of a query are written.
struct QueryOutput<'a> {
    query: usize,
    rows: &'a mut [u32],
    squared_distances: &'a mut [f32],
    distances: &'a mut [f64],
}

/// Memory that queries of a thread reuse.
#[derive(Default)]
struct Scratch {
    ranked: Vec<RankedPoint>,
    /// Whether each is as far as the one before.
    tied: Vec<bool>,
    vector: Vec<f64>,
}

/// Bytes needed to compute a [`RefinedNeighbors`], including the result.
pub fn refined_bytes(q: usize, k: usize) -> u64 {
    let neighbor = size_of::<u32>() + size_of::<f32>() + size_of::<f64>();
    // Distances of a block from a device.
    let block = (queries_per_block(k).min(q) * size_of::<f64>()) as u64;
    (q as u64)
        .saturating_mul((k as u64).saturating_mul(neighbor as u64) + size_of::<QueryOutput<'_>>() as u64)
        .saturating_add(block.saturating_mul(k as u64))
}

/// Queries that are refined together, before the progress is reported.
fn queries_per_block(k: usize) -> usize {
    let queries = QUERIES_PER_TASK * rayon::current_num_threads();
    queries * (PAIRS_PER_BLOCK / (queries * k).max(1)).clamp(1, TASKS_PER_BLOCK)
}

impl<'a> Refiner<'a> {
    /// `queries` is the cloud that the queries are rows of, and `open` opens an index for radius searches;
    /// without one, all points are tested.
    pub fn new(problem: &'a Problem, queries: &'a PointCloud, open: Option<Opener>) -> Self {
        let evaluations = problem.q().saturating_mul(problem.k());
        let ranking = Ranking::new(problem.metric(), problem.cloud(), queries, evaluations);
        let margin = Margin::new(problem.metric(), problem.cloud(), queries);
        Self {
            problem,
            among: None,
            ranking,
            margin,
            rows_ascend: OnceLock::new(),
            open,
            index: OnceLock::new(),
        }
    }

    /// For points that are only the candidates among `n`. Queries for which the candidates do not suffice are
    /// returned as [`RefinedNeighbors::unproven`].
    #[must_use]
    pub fn among(self, n: usize) -> Self {
        Self { among: Some(n), ..self }
    }

    #[cfg(test)]
    fn with_margin(self, scale: f64) -> Self {
        Self { margin: self.margin.scaled(scale), ..self }
    }

    /// The rows to put on a GPU, with the number of pairs in a call, if it is predicted to compute the
    /// distances to all candidates sooner than the CPU.
    pub fn rows_for_device(&self) -> Option<(StoredRows<'a>, usize)> {
        let rows = self.ranking.stored_rows()?;
        let (q, k) = (self.problem.q(), self.problem.k());
        let pairs = (q as f64) * (k as f64);
        let gathered = pairs * (rows.dims * size_of::<f32>()) as f64;
        let uploaded = size_of_val(rows.points) + rows.queries.map_or(0, size_of_val);
        let transferred = uploaded as f64 + pairs * (size_of::<u32>() + size_of::<f64>()) as f64;
        let on_cpu = gathered / (CPU_BYTES_PER_SECOND * rayon::current_num_threads() as f64);
        let on_gpu = GPU_START + gathered / GPU_BYTES_PER_SECOND + transferred / TRANSFER_BYTES_PER_SECOND;
        (on_gpu < on_cpu).then(|| (rows, k * queries_per_block(k).min(q)))
    }

    /// The `k` nearest of each query, from an engine's answers to the problem, which may have more; `None`
    /// if cancelled by `go_on`, which gets the fraction done. Distances are computed by `device`, if there is
    /// one with [`Self::rows_for_device`], and by the CPU if it fails.
    pub fn refine(
        &self,
        found: &Neighbors,
        k: usize,
        mut device: Option<Box<dyn ExactDistances + '_>>,
        go_on: &mut dyn FnMut(f32) -> bool,
    ) -> Option<RefinedNeighbors> {
        let q = found.queries();
        // Zeros take no memory until they are written, which all threads do.
        let mut refined = RefinedNeighbors::zeros(q, k);
        let (mut on_device, mut widened, mut unproven) = (device.is_some(), 0, Vec::new());
        let mut outputs = refined.outputs(k, 0..q);
        let mut sorted: Vec<QueryOutput<'_>> = Vec::new();
        if device.is_none() && self.problem.dims() * size_of::<f32>() >= LONG_ROW {
            sorted.extend(outputs.by_ref());
            sorted.par_sort_by_cached_key(|output| found.for_query(output.query).0.iter().min().copied());
        }
        let mut outputs = sorted.into_iter().chain(outputs);
        for first in (0..q).step_by(queries_per_block(found.k)) {
            let mut queries: Vec<QueryOutput<'_>> =
                outputs.by_ref().take(queries_per_block(found.k)).collect();
            let count = queries.len();
            let squared = device.as_mut().and_then(|device| {
                let rows: Vec<u32> =
                    (first..first + queries.len()).map(|query| self.problem.query_row(query)).collect();
                device.squared(&rows, &found.indices[first * found.k..][..rows.len() * found.k]).ok()
            });
            if squared.is_none() {
                (device, on_device) = (None, false);
            }
            // Queries whose candidates do not suffice, with the distance within which to search.
            let wide: Vec<(&mut QueryOutput<'_>, f64)> = queries
                .par_iter_mut()
                .map_init(Scratch::default, |scratch, output| {
                    let computed = squared
                        .as_ref()
                        .map(|squared| &squared[(output.query - first) * found.k..][..found.k]);
                    let distance = self.nearest(output, found, computed, scratch)?;
                    Some((output, distance))
                })
                .flatten()
                .collect();
            widened += wide.len();
            if self.among.is_some() {
                unproven.extend(wide.into_iter().map(|(output, distance)| (output.query, distance)));
            } else if !wide.is_empty() {
                // Opened here, because building an index on a thread of the pool, while others wait for it, may
                // never end: it runs other queries that wait as well.
                let index = self.index.get_or_init(|| self.open.and_then(|open| open(self.problem).ok()));
                wide.into_par_iter().for_each_init(Scratch::default, |scratch, (output, distance)| {
                    self.within(output, distance, index.as_deref(), scratch);
                });
            }
            if !go_on((first + count) as f32 / q as f32) {
                return None;
            }
        }
        drop(outputs);
        Some(RefinedNeighbors { on_device, widened, unproven, ..refined })
    }

    /// The `k` nearest of some queries among the points within a distance of each.
    pub fn nearest_within(&self, wide: &[(usize, f64)], k: usize) -> RefinedNeighbors {
        let index = self.open.and_then(|open| open(self.problem).ok());
        let mut refined = RefinedNeighbors::zeros(wide.len(), k);
        let outputs: Vec<_> = refined.outputs(k, wide.iter().map(|&(query, _)| query)).collect();
        outputs.into_par_iter().zip(wide).for_each_init(Scratch::default, |scratch, (mut output, wide)| {
            self.within(&mut output, wide.1, index.as_deref(), scratch);
        });
        refined
    }

    /// The `k` nearest of some queries among some rows for each.
    pub fn nearest_of(&self, candidates: &[(usize, Vec<u32>)], k: usize) -> RefinedNeighbors {
        let mut refined = RefinedNeighbors::zeros(candidates.len(), k);
        let outputs: Vec<_> = refined.outputs(k, candidates.iter().map(|&(query, _)| query)).collect();
        outputs
            .into_par_iter()
            .zip(candidates)
            .for_each_init(Scratch::default, |scratch, (mut output, (_, rows))| {
                self.rank(&mut output, rows.iter().copied(), scratch)
            });
        refined
    }

    /// Writes the nearest of a query's candidates, whose squared distances in f64 may be known. If other points
    /// may be among them, returns the distance within which these are.
    fn nearest(
        &self,
        output: &mut QueryOutput<'_>,
        found: &Neighbors,
        computed: Option<&[f64]>,
        scratch: &mut Scratch,
    ) -> Option<f64> {
        let Scratch { ranked, tied, vector } = scratch;
        let k = output.rows.len();
        let query = self.ranking.query(self.problem.query_row(output.query) as usize);
        let (rows, squared) = found.for_query(output.query);
        let count = rows.iter().take_while(|&&row| row != NONE).count();
        let mut rank = |at: usize| match computed {
            Some(squared) => RankedPoint { row: rows[at], distance: squared[at].sqrt() },
            None => self.ranking.rank(&query, rows[at], vector),
        };
        if computed.is_none() {
            self.ranking.touch(&rows[..count]);
        }
        ranked.clear();
        ranked.extend((0..count.min(k)).map(&mut rank));
        // Candidates that are farther than all of the first k need not be ranked, nor do those after them.
        let bound = ranked.iter().map(|&ranked| self.ranking.at_most(ranked)).fold(0.0, f64::max);
        let more = (k.min(count)..count).take_while(|&at| self.margin.at_least(squared[at]) <= bound).count();
        let is_bounded = k + more < count;
        ranked.extend((k.min(count)..).take(more).map(rank));
        self.ranking.sort(&query, ranked, tied);
        self.write(output, &query, scratch);
        let own = usize::from(self.problem.own_row(output.query).is_some());
        let are_all = count < rows.len() || count + own >= self.among.unwrap_or(self.problem.n());
        let kth = *scratch.ranked.get(k.wrapping_sub(1))?;
        // Under L2 only equal rows are at distance 0. They have f32 distance 0, and engines return the first
        // of these. Vectors of one direction may differ in f32.
        let is_equal = self.problem.metric() == Metric::L2
            && kth.distance == 0.0
            && self.rows_ascend()
            && self.ranking.is_equal(&query, kth.row);
        let farthest = self.ranking.at_most(kth);
        (!are_all && !is_bounded && !is_equal && farthest >= self.margin.at_least(squared[count - 1]))
            .then_some(farthest)
    }

    fn rows_ascend(&self) -> bool {
        let row = |position| self.problem.row(position);
        *self.rows_ascend.get_or_init(|| (1..self.problem.n() as u32).all(|at| row(at - 1) < row(at)))
    }

    /// Writes the nearest of the rows that may be within a real distance of a query, except its own row if
    /// that is excluded.
    fn within(
        &self,
        output: &mut QueryOutput<'_>,
        distance: f64,
        index: Option<&(dyn RadiusIndex + 'a)>,
        scratch: &mut Scratch,
    ) {
        let (limit, target) = (self.margin.squared_at_most(distance), self.problem.query(output.query));
        let mut positions: Vec<u32> = Vec::new();
        if let Some(index) = index {
            index.visit(target, limit, &mut |position, _| positions.push(position));
        } else {
            let near = |(chunk, points): (usize, &[f32])| {
                let some: Vec<u32> = (0..(points.len() / target.len()) as u32).collect();
                let mut squared = Vec::new();
                squared_distances(points, target, &some, &mut squared);
                let first = (chunk * POINTS_AT_A_TIME) as u32;
                let near = some.into_iter().zip(squared).filter(|&(_, squared)| squared <= limit);
                near.map(|(position, _)| first + position).collect::<Vec<u32>>()
            };
            let chunks = self.problem.points().par_chunks(POINTS_AT_A_TIME * target.len());
            positions.par_extend(chunks.enumerate().flat_map_iter(near));
        }
        let own = self.problem.own_row(output.query);
        let rows = positions.into_iter().map(|position| self.problem.row(position));
        self.rank(output, rows.filter(|row| own != Some(*row)), scratch);
    }

    /// Writes the nearest of some rows.
    fn rank(&self, output: &mut QueryOutput<'_>, rows: impl Iterator<Item = u32>, scratch: &mut Scratch) {
        let query = self.ranking.query(self.problem.query_row(output.query) as usize);
        scratch.ranked.clear();
        scratch.ranked.extend(rows.map(|row| self.ranking.rank(&query, row, &mut scratch.vector)));
        self.ranking.keep_nearest(&mut scratch.ranked, output.rows.len());
        self.ranking.sort(&query, &mut scratch.ranked, &mut scratch.tied);
        self.write(output, &query, scratch);
    }

    /// Writes the first of the ranked points.
    fn write(&self, output: &mut QueryOutput<'_>, query: &Query, scratch: &mut Scratch) {
        let Scratch { ranked, tied, vector } = scratch;
        let count = ranked.len().min(output.rows.len());
        output.rows[count..].fill(NONE);
        output.squared_distances[count..].fill(f32::INFINITY);
        output.distances[count..].fill(f64::INFINITY);
        output.rows.iter_mut().zip(&*ranked).for_each(|(row, ranked)| *row = ranked.row);
        self.ranking.distances(query, (&ranked[..count], &tied[..count]), vector, |at, squared, distance| {
            (output.squared_distances[at], output.distances[at]) = (squared, distance);
        });
    }
}

#[cfg(test)]
mod tests;
