//! Rows of another cloud that are near rows of this one: test data that training has seen.

use serde::Serialize;

use crate::knn::{Metric, NONE, Neighbors};

/// The nearest row of this cloud to each row of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaks {
    /// The nearest row, and how far away it is.
    pub nearest: Vec<(u32, f64)>,
    pub eps: f64,
}

/// How many there are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LeaksFound {
    pub eps: f64,
    /// Rows of the other cloud.
    pub rows: u64,
    /// Rows of the other cloud within `eps` of a row of this one.
    pub leaks: u64,
    /// Of these, rows at distance 0.
    pub equal: u64,
}

impl Leaks {
    /// From the neighbours of each of the other cloud's rows, of which the first counts.
    pub fn of(neighbors: &Neighbors, metric: Metric, eps: f64) -> Self {
        let nearest = |query| match neighbors.of(query) {
            ([row, ..], [squared, ..]) if *row != NONE => (*row, metric.distance(*squared)),
            _ => (NONE, f64::INFINITY),
        };
        Self { nearest: (0..neighbors.queries()).map(nearest).collect(), eps }
    }

    /// Whether a row of the other cloud is near one of this.
    pub fn is_leak(&self, row: usize) -> bool {
        self.nearest[row].1 <= self.eps
    }

    pub fn found(&self) -> LeaksFound {
        let count = |eps: f64| self.nearest.iter().filter(|(_, distance)| *distance <= eps).count() as u64;
        LeaksFound { eps: self.eps, rows: self.nearest.len() as u64, leaks: count(self.eps), equal: count(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_decides() {
        let neighbors = Neighbors { k: 1, indices: vec![4, 2, 0], squared_distances: vec![0.0, 4.0, 4.5] };
        let leaks = Leaks::of(&neighbors, Metric::L2, 2.0);
        assert_eq!([0, 1, 2].map(|row| leaks.is_leak(row)), [true, true, false]);
        assert_eq!(leaks.found(), LeaksFound { eps: 2.0, rows: 3, leaks: 2, equal: 1 });
    }
}
