//! Turns the answers of an engine into exact ones.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::cloud::PointCloud;
use crate::knn::distance::squared_distances;
use crate::knn::within::Opener;
use crate::knn::{NONE, Neighbors, Problem, Within, theory};
use crate::margin::Margin;
use crate::order::{Ranked, Ranking};
use crate::progress::Progress;

/// Queries between cancellation checks.
const QUERIES_PER_TASK: usize = 1 << 10;

/// The number of neighbours to ask an engine for, so that most queries need no radius search: up to the next
/// size of a warp's list, which costs nothing there, but not far beyond k.
pub fn search_k(k: usize, largest: usize) -> usize {
    let wanted = k + 4 + k / 4;
    let capacity = theory::capacity(k);
    let enough = if capacity >= k + 4 { wanted.min(capacity) } else { wanted };
    enough.min(largest).max(k)
}

/// The k nearest of each query, by the file's values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refined {
    /// Rows of the cloud, k per query, nearest first, padded with [`NONE`].
    pub rows: Vec<u32>,
    /// Squared L2 distances, of unit vectors for metrics other than L2, rounded; ∞ where there is no neighbour.
    pub squared_distances: Vec<f32>,
    /// Distances in the metric's unit; ∞ where there is no neighbour.
    pub distances: Vec<f64>,
    /// Queries whose first candidates were not proven to suffice.
    pub widened: usize,
}

/// Refines the answers to a problem.
pub struct Refiner<'a> {
    problem: &'a Problem,
    queries: &'a PointCloud,
    ranking: Ranking<'a>,
    margin: Margin,
    open: Option<Opener>,
    index: OnceLock<Option<Box<dyn Within + 'a>>>,
}

impl<'a> Refiner<'a> {
    /// `queries` is the cloud that the queries are rows of, and `open` opens an index for radius searches;
    /// without one, all points are tested.
    pub fn new(problem: &'a Problem, queries: &'a PointCloud, open: Option<Opener>) -> Self {
        let ranking = Ranking::new(problem.metric(), problem.cloud(), queries);
        let margin = Margin::new(problem, queries);
        Self { problem, queries, ranking, margin, open, index: OnceLock::new() }
    }

    #[cfg(test)]
    fn with_margin(self, scale: f64) -> Self {
        Self { margin: self.margin.scaled(scale), ..self }
    }

    /// The `k` nearest of each query, from an engine's answers to the problem, which may have more; `None`
    /// if cancelled.
    pub fn refine(&self, found: &Neighbors, k: usize, progress: &dyn Progress) -> Option<Refined> {
        let q = found.queries();
        let mut refined = Refined::default();
        for start in (0..q).step_by(QUERIES_PER_TASK * rayon::current_num_threads()) {
            if progress.cancelled() {
                return None;
            }
            let end = q.min(start + QUERIES_PER_TASK * rayon::current_num_threads());
            let lists: Vec<(Vec<Ranked>, bool)> =
                (start..end).into_par_iter().map(|query| self.nearest(query, found, k)).collect();
            let distances: Vec<Vec<f64>> = (start..end)
                .into_par_iter()
                .zip(&lists)
                .map(|(query, (list, _))| self.distances(query, list))
                .collect();
            for ((list, widened), distances) in lists.into_iter().zip(distances) {
                let missing = k - list.len();
                refined.rows.extend(list.iter().map(|ranked| ranked.row));
                refined.rows.extend(std::iter::repeat_n(NONE, missing));
                refined.squared_distances.extend(list.iter().map(|ranked| ranked.distance.powi(2) as f32));
                refined.squared_distances.extend(std::iter::repeat_n(f32::INFINITY, missing));
                refined.distances.extend(distances);
                refined.distances.extend(std::iter::repeat_n(f64::INFINITY, missing));
                refined.widened += usize::from(widened);
            }
            progress.update(end as u64, q as u64);
        }
        Some(refined)
    }

    /// The nearest of a query, and whether the engine's answers did not suffice.
    fn nearest(&self, query: usize, found: &Neighbors, k: usize) -> (Vec<Ranked>, bool) {
        let row = self.problem.query_row(query) as usize;
        let (rows, squared) = found.for_query(query);
        let count = rows.iter().take_while(|&&row| row != NONE).count();
        let mut sorted = self.ranking.sorted(row, rows[..count].iter().copied());
        let are_all = count < rows.len()
            || count + usize::from(self.problem.own_row(query).is_some()) >= self.problem.n();
        let farthest = sorted.get(k.wrapping_sub(1)).map(|&ranked| self.ranking.at_most(ranked));
        let widen =
            farthest.filter(|&farthest| !are_all && farthest >= self.margin.at_least(squared[count - 1]));
        if let Some(farthest) = widen {
            let limit = self.margin.squared_at_most(farthest);
            sorted = self.ranking.sorted(row, self.within(query, limit).into_iter());
        }
        sorted.truncate(k);
        (sorted, widen.is_some())
    }

    /// The rows whose computed squared distance to a query does not exceed a limit, without its own row if
    /// that is excluded.
    fn within(&self, query: usize, limit: f32) -> Vec<u32> {
        let open = || self.open.and_then(|open| open(self.problem).ok());
        let (mut rows, own) = (Vec::new(), self.problem.own_row(query));
        let mut take = |position: u32| {
            rows.extend(Some(self.problem.row(position)).filter(|row| own != Some(*row)));
        };
        match self.index.get_or_init(open) {
            Some(index) => index.visit(self.problem.query(query), limit, &mut |position, _| take(position)),
            None => {
                let positions: Vec<u32> = (0..self.problem.n() as u32).collect();
                let mut squared = Vec::new();
                let points = self.problem.points();
                squared_distances(points, self.problem.query(query), &positions, &mut squared);
                let near = positions.into_iter().zip(squared).filter(|&(_, squared)| squared <= limit);
                near.for_each(|(position, _)| take(position));
            }
        }
        rows
    }

    fn distances(&self, query: usize, list: &[Ranked]) -> Vec<f64> {
        let vectors = self.ranking.vectors;
        let target = vectors.vector(self.queries, self.problem.query_row(query) as usize);
        let mut vector = Vec::with_capacity(target.len());
        let distance = |ranked: &Ranked| {
            vectors.write(self.problem.cloud(), ranked.row as usize, &mut vector);
            vectors.distance(&target, &vector)
        };
        list.iter().map(distance).collect()
    }
}

#[cfg(test)]
mod tests;
