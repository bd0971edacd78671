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

/// Points whose distances are computed together if there is no index.
const POINTS_AT_A_TIME: usize = 1 << 12;

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
    /// Squared L2 distances, of unit vectors for metrics other than L2, rounded; ∞ where there is no
    /// neighbour.
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
            // Lists whose candidates do not suffice have the distance within which to search.
            let mut lists: Vec<(Vec<Ranked>, Option<f64>)> =
                (start..end).into_par_iter().map(|query| self.nearest(query, found, k)).collect();
            if lists.iter().any(|(_, widen)| widen.is_some()) {
                // Opened here, because building an index on a thread of the pool, while others wait for it, may
                // never end: it runs other queries that wait as well.
                let index = self.index.get_or_init(|| self.open.and_then(|open| open(self.problem).ok()));
                (start..end).into_par_iter().zip(&mut lists).for_each(|(query, (list, widen))| {
                    if let Some(distance) = *widen {
                        *list = self.within(query, distance, index.as_deref());
                        list.truncate(k);
                    }
                });
            }
            let distances: Vec<Vec<f64>> = (start..end)
                .into_par_iter()
                .zip(&lists)
                .map(|(query, (list, _))| self.distances(query, list))
                .collect();
            for ((list, widen), distances) in lists.into_iter().zip(distances) {
                let missing = k - list.len();
                refined.rows.extend(list.iter().map(|ranked| ranked.row));
                refined.rows.extend(std::iter::repeat_n(NONE, missing));
                refined.squared_distances.extend(list.iter().map(|ranked| ranked.distance.powi(2) as f32));
                refined.squared_distances.extend(std::iter::repeat_n(f32::INFINITY, missing));
                refined.distances.extend(distances);
                refined.distances.extend(std::iter::repeat_n(f64::INFINITY, missing));
                refined.widened += usize::from(widen.is_some());
            }
            progress.update(end as u64, q as u64);
        }
        Some(refined)
    }

    /// The nearest of a query; and, if other points may be among them, the distance within which these are.
    fn nearest(&self, query: usize, found: &Neighbors, k: usize) -> (Vec<Ranked>, Option<f64>) {
        let row = self.problem.query_row(query) as usize;
        let (rows, squared) = found.for_query(query);
        let count = rows.iter().take_while(|&&row| row != NONE).count();
        let mut sorted = self.ranking.sorted(row, rows[..count].iter().copied());
        let own = usize::from(self.problem.own_row(query).is_some());
        let are_all = count < rows.len() || count + own >= self.problem.n();
        let farthest = sorted.get(k.wrapping_sub(1)).map(|&ranked| self.ranking.at_most(ranked));
        let may_miss = |farthest: &f64| !are_all && *farthest >= self.margin.at_least(squared[count - 1]);
        sorted.truncate(k);
        (sorted, farthest.filter(may_miss))
    }

    /// The rows that may be within a real distance of a query, in order; without its own row if that is
    /// excluded.
    fn within(&self, query: usize, distance: f64, index: Option<&(dyn Within + 'a)>) -> Vec<Ranked> {
        let (limit, target) = (self.margin.squared_at_most(distance), self.problem.query(query));
        let mut positions = Vec::new();
        if let Some(index) = index {
            index.visit(target, limit, &mut |position, _| positions.push(position));
        } else {
            let mut squared = Vec::new();
            for start in (0..self.problem.n() as u32).step_by(POINTS_AT_A_TIME) {
                let some: Vec<u32> = (start..self.problem.n() as u32).take(POINTS_AT_A_TIME).collect();
                squared_distances(self.problem.points(), target, &some, &mut squared);
                let near = some.into_iter().zip(&squared).filter(|&(_, &squared)| squared <= limit);
                positions.extend(near.map(|(position, _)| position));
            }
        }
        let own = self.problem.own_row(query);
        let rows = positions.into_iter().map(|position| self.problem.row(position));
        let rows = rows.filter(|row| own != Some(*row));
        self.ranking.sorted(self.problem.query_row(query) as usize, rows)
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
