//! Finds and sorts neighbours within a radius, by the file's values.

use std::ops::Range;

use rayon::prelude::*;

use super::{BatchAnswers, BatchError};
use crate::cloud::PointCloud;
use crate::exact::{Margin, RadiusTest, RankedPoint, Ranking};
use crate::knn::{Descriptor, DeviceKind, Goal, Metric, Problem, Radius, RadiusIndex, put_own_first};
use crate::memory;

/// Queries between cancellation checks.
pub const BLOCK: usize = 1 << 10;

/// Bytes of a neighbour: a row, a squared distance and a distance.
pub const NEIGHBOR_BYTES: u64 = 16;

/// Limit on neighbours per batch, unless a single query has more.
pub const MAX_BATCH_NEIGHBORS: u64 = 1 << 22;

/// The neighbours of consecutive queries, nearest first by the file's values, ties by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighborhoods {
    /// Number of the first query in the problem.
    pub start: usize,
    /// CSR offsets into the following; length q + 1.
    pub offsets: Vec<u64>,
    /// Rows of the cloud.
    pub rows: Vec<u32>,
    pub squared_distances: Vec<f32>,
    /// In the metric's unit.
    pub distances: Vec<f64>,
}

impl Neighborhoods {
    /// Room for the neighbours of queries from `start` on, from their counts. `radius` and the total number of
    /// queries are for errors.
    ///
    /// # Errors
    /// [`BatchError::WithinMemory`].
    pub fn new(start: usize, counts: &[u64], (radius, queries): (f64, usize)) -> Result<Self, BatchError> {
        let found: u64 = counts.iter().sum();
        // Each thread also holds one query's neighbours while it sorts them.
        let threads = rayon::current_num_threads() as u64;
        let sorted = counts.iter().max().map_or(0, |most| most.saturating_mul(threads)).min(found);
        let needed = (found + sorted).saturating_mul(NEIGHBOR_BYTES);
        let count = found as usize;
        let room = || Some((memory::room(count)?, memory::room(count)?, memory::room(count)?));
        let room = memory::check(needed).is_ok().then(room).flatten();
        let (mut rows, mut squared_distances, mut distances) =
            room.ok_or_else(|| too_many(found, needed, counts.len(), (radius, queries)))?;
        rows.resize(count, 0);
        squared_distances.resize(count, 0.0);
        distances.resize(count, 0.0);
        let ends = counts.iter().scan(0, |total, count| {
            *total += count;
            Some(*total)
        });
        let offsets = std::iter::once(0).chain(ends).collect();
        Ok(Self { start, offsets, rows, squared_distances, distances })
    }

    pub fn queries(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Sorts and stores the neighbours of some of the queries, counted from the first. `rows` are those of a
    /// query, given its slots; `row_of` is the query's own row in its cloud.
    pub fn fill(
        &mut self,
        queries: Range<usize>,
        ranking: &Ranking<'_>,
        row_of: impl Fn(usize) -> u32 + Sync,
        rows: impl Fn(usize, Range<usize>) -> Vec<u32> + Sync,
    ) {
        let slots = self.offsets[queries.start] as usize..self.offsets[queries.end] as usize;
        let mut sorted = &mut self.rows[slots.clone()];
        let mut squared = &mut self.squared_distances[slots.clone()];
        let mut distances = &mut self.distances[slots];
        let mut parts = Vec::with_capacity(queries.len());
        for query in queries {
            let slots = self.offsets[query] as usize..self.offsets[query + 1] as usize;
            let count = slots.len();
            parts.push((
                (query, slots),
                sorted.split_off_mut(..count).unwrap_or_default(),
                squared.split_off_mut(..count).unwrap_or_default(),
                distances.split_off_mut(..count).unwrap_or_default(),
            ));
        }
        parts.into_par_iter().for_each(|((query, slots), sorted, squared, distances)| {
            let target = ranking.query(row_of(query) as usize);
            let (mut tied, mut vector) = (Vec::new(), Vec::new());
            let rank = |row| ranking.rank(&target, row, &mut vector);
            let mut found: Vec<RankedPoint> = rows(query, slots).into_iter().map(rank).collect();
            ranking.sort(&target, &mut found, &mut tied);
            sorted.iter_mut().zip(&found).for_each(|(row, ranked)| *row = ranked.row);
            ranking.distances(&target, (&found, &tied), &mut vector, |at, to, distance| {
                (squared[at], distances[at]) = (to, distance);
            });
        });
    }

    /// Appends the neighbours of the queries that follow. `about` is as for [`Self::new`].
    ///
    /// # Errors
    /// [`BatchError::WithinMemory`].
    pub fn append(&mut self, next: &Self, about: (f64, usize)) -> Result<(), BatchError> {
        let (found, more) = (self.rows.len(), next.rows.len());
        let needed = NEIGHBOR_BYTES * more as u64;
        let is_short = memory::check(needed).is_err()
            || self.rows.try_reserve(more).is_err()
            || self.squared_distances.try_reserve(more).is_err()
            || self.distances.try_reserve(more).is_err();
        if is_short {
            let counted = self.queries() + next.queries();
            return Err(too_many((found + more) as u64, needed, counted, about));
        }
        self.rows.extend(&next.rows);
        self.squared_distances.extend(&next.squared_distances);
        self.distances.extend(&next.distances);
        self.offsets.extend(next.offsets[1..].iter().map(|offset| found as u64 + offset));
        Ok(())
    }

    /// Puts each query's own row first among neighbours at the same distance.
    pub fn put_own_first(&mut self, own_row: impl Fn(usize) -> u32) {
        for query in 0..self.queries() {
            let range = self.offsets[query] as usize..self.offsets[query + 1] as usize;
            put_own_first(
                &mut self.rows[range.clone()],
                &mut self.squared_distances[range],
                own_row(self.start + query),
            );
        }
    }

    pub fn answers(&self, metric: Metric) -> BatchAnswers<'_> {
        let Self { offsets, rows, squared_distances: squared, distances, .. } = self;
        BatchAnswers::Within { offsets, metric, rows, squared, distances }
    }
}

/// The error for neighbours that do not fit into memory.
pub fn too_many(found: u64, needed: u64, counted: usize, (radius, queries): (f64, usize)) -> BatchError {
    let (needed, free) = (needed.div_ceil(1 << 20), memory::available().unwrap_or(0) >> 20);
    BatchError::WithinMemory { found, counted, queries, radius, needed, free }
}

/// Length of the longest prefix of queries with at most `most` neighbours in total; at least 1 unless empty.
pub fn fitting(counts: &[u64], most: u64) -> usize {
    let mut total = 0;
    let fits = |&&count: &&u64| {
        total += count;
        total <= most
    };
    counts.iter().take_while(fits).count().max(1).min(counts.len())
}

/// A search for all neighbours within a radius, in the metric's own unit. Membership is decided by f32
/// distance where rounding cannot matter, otherwise in f64 or exactly, so that 0.3 is within 0.3.
pub struct RadiusSearch<'a> {
    pub problem: &'a Problem,
    pub ranking: Ranking<'a>,
    index: Box<dyn RadiusIndex + 'a>,
    test: RadiusTest,
    pub radius: f64,
    /// Squared distances up to this are within the radius, regardless of rounding.
    surely_within: f32,
    /// Squared distances above this are beyond the radius, regardless of rounding.
    possibly_within: f32,
}

impl<'a> RadiusSearch<'a> {
    /// `queries` is the cloud that the queries are rows of. The problem's k is ignored.
    ///
    /// # Errors
    /// [`BatchError`].
    pub fn new(
        problem: &'a Problem,
        queries: &'a PointCloud,
        engine: &Descriptor,
        radius: Radius,
    ) -> Result<Self, BatchError> {
        let (metric, cloud) = (problem.metric(), problem.cloud());
        let test = RadiusTest::new(metric, radius).ok_or(BatchError::Radius(radius.distance))?;
        let open = engine.within.filter(|_| engine.runs_on.contains(&DeviceKind::Cpu));
        let open = open.ok_or(BatchError::Engine { engine: engine.id, goal: Goal::Within(radius) })?;
        let margin = Margin::new(metric, cloud, queries);
        let [within, beyond] = test.chord();
        Ok(Self {
            problem,
            ranking: Ranking::new(metric, cloud, queries, problem.q()),
            index: open(problem)?,
            test,
            radius: radius.distance,
            surely_within: margin.squared_surely_within(within),
            possibly_within: margin.squared_at_most(beyond),
        })
    }

    /// Passes the row of each neighbour of a query to `found`, except `own`.
    pub fn visit(&self, query: usize, own: Option<u32>, found: &mut dyn FnMut(u32)) {
        let target = self.ranking.query(self.problem.query_row(query) as usize);
        let mut vector = Vec::new();
        self.index.visit(self.problem.query(query), self.possibly_within, &mut |position, squared| {
            let row = self.problem.row(position);
            let mut is_within = || {
                let ranked = self.ranking.rank(&target, row, &mut vector);
                self.ranking.is_within(&target, ranked, &self.test)
            };
            if own != Some(row) && (squared <= self.surely_within || is_within()) {
                found(row);
            }
        });
    }

    /// The rows of the neighbours of a query, except `own`.
    pub fn rows(&self, query: usize, own: Option<u32>) -> Vec<u32> {
        let mut rows = Vec::new();
        self.visit(query, own, &mut |row| rows.push(row));
        rows
    }
}
