//! Comparisons with another cloud: the overlap of neighbours between two clouds of the same rows, which
//! measures how similar two embeddings are, row by row; and rows of another cloud near rows of this one, such
//! as test data leaked into training data.

use serde::Serialize;

use super::{Cancelled, KnnGraph};
use crate::cloud::PointCloud;
use crate::knn::{Metric, NONE, Neighbors};
use crate::progress::Progress;

/// Why two graphs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OverlapError {
    #[error("the clouds have different rows: {here} points in the first, {there} in the second")]
    Rows { here: usize, there: usize },
    /// Same row count, but different rows were dropped.
    #[error("the clouds have different rows: row {row} was dropped from one of them")]
    LeftOut { row: u32 },
    #[error("cancelled")]
    Cancelled,
}

/// Checks that two clouds have the same rows of their files before searching.
///
/// # Errors
/// [`OverlapError::Rows`] and [`OverlapError::LeftOut`].
pub fn check_same_rows(here: &PointCloud, there: &PointCloud) -> Result<(), OverlapError> {
    if here.len() != there.len() {
        return Err(OverlapError::Rows { here: here.len(), there: there.len() });
    }
    match (0..here.len()).find(|&row| here.record(row) != there.record(row)) {
        Some(row) => Err(OverlapError::LeftOut { row: here.record(row).min(there.record(row)) as u32 }),
        None => Ok(()),
    }
}

/// For each point, the fraction of its neighbours that the two graphs have in common.
///
/// # Errors
/// [`OverlapError`].
pub fn overlap(
    a: &KnnGraph<'_>,
    b: &KnnGraph<'_>,
    progress: &dyn Progress,
) -> Result<Vec<f64>, OverlapError> {
    if a.len() != b.len() {
        return Err(OverlapError::Rows { here: a.len(), there: b.len() });
    }
    if let Some(point) = (0..a.len()).find(|&point| a.row(point) != b.row(point)) {
        return Err(OverlapError::LeftOut { row: a.row(point).min(b.row(point)) });
    }
    let share = |point: usize| {
        let (mut here, mut there) = (a.neighbors(point).0.to_vec(), b.neighbors(point).0.to_vec());
        here.sort_unstable();
        there.sort_unstable();
        let common = here.iter().filter(|other| there.binary_search(other).is_ok()).count();
        common as f64 / here.len().min(there.len()).max(1) as f64
    };
    a.map(progress, share).map_err(|Cancelled| OverlapError::Cancelled)
}

/// The nearest row of this cloud for each row of another.
#[derive(Clone, Debug, PartialEq)]
pub struct LeakCandidates {
    /// The nearest row and its distance.
    pub nearest: Vec<(u32, f64)>,
    pub eps: f64,
}

/// The numbers of leaks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LeakCounts {
    pub eps: f64,
    /// Rows of the other cloud.
    pub rows: u64,
    /// Rows of the other cloud within `eps` of a row of this one.
    pub leaks: u64,
    /// The leaks at distance 0.
    pub equal: u64,
}

impl LeakCandidates {
    /// From the neighbours of the other cloud's rows; only the nearest counts.
    pub fn new(neighbors: &Neighbors, metric: Metric, eps: f64) -> Self {
        let nearest = |query| match neighbors.for_query(query) {
            ([row, ..], [squared, ..]) if *row != NONE => (*row, metric.distance(*squared)),
            _ => (NONE, f64::INFINITY),
        };
        Self { nearest: (0..neighbors.queries()).map(nearest).collect(), eps }
    }

    /// Whether a row of the other cloud is near a row of this one.
    pub fn is_leak(&self, row: usize) -> bool {
        self.nearest[row].1 <= self.eps
    }

    pub fn counts(&self) -> LeakCounts {
        let count = |eps: f64| self.nearest.iter().filter(|(_, distance)| *distance <= eps).count() as u64;
        LeakCounts {
            eps: self.eps,
            rows: self.nearest.len() as u64,
            leaks: count(self.eps),
            equal: count(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::run::graph::testing::{graph, line};

    #[test]
    fn common_neighbours_are_counted() {
        let (a, b) = (line(&[0.0, 1.0, 2.5, 4.5], 2), line(&[0.0, 1.0, 4.5, 2.5], 2));
        let overlap = |a, b| overlap(&graph(a), &graph(b), &NoProgress);
        // Neighbours here: {1, 2}, {0, 2}, {1, 3}, {2, 1}; there: {1, 3}, {0, 3}, {3, 1}, {1, 2}.
        assert_eq!(overlap(&a, &b).unwrap(), [0.5, 0.5, 1.0, 1.0]);
        assert_eq!(overlap(&a, &a).unwrap(), [1.0; 4]);
        let error = overlap(&a, &line(&[0.0, 1.0], 2)).unwrap_err().to_string();
        assert_eq!(error, "the clouds have different rows: 4 points in the first, 2 in the second");
    }

    #[test]
    fn leaks_are_decided_by_the_nearest_neighbour() {
        let neighbors = Neighbors { k: 1, indices: vec![4, 2, 0], squared_distances: vec![0.0, 4.0, 4.5] };
        let leaks = LeakCandidates::new(&neighbors, Metric::L2, 2.0);
        assert_eq!([0, 1, 2].map(|row| leaks.is_leak(row)), [true, true, false]);
        assert_eq!(leaks.counts(), LeakCounts { eps: 2.0, rows: 3, leaks: 2, equal: 1 });
    }
}
