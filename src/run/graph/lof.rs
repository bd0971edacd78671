//! The local outlier factor (Breunig, Kriegel, Ng and Sander 2000, definitions 5 to 7), as scikit-learn computes it.
//!
//! `reach(a, b) = max(k-distance(b), d(a, b))`; the local reachability density of a point is one over its mean reach to its k neighbours; its factor is the
//! mean of their densities over its own. It is about 1 inside a cluster, and larger for outliers.

use super::{Cancelled, KnnGraph, density};
use crate::progress::Progress;

/// Added to the mean reach, which is 0 among duplicates: scikit-learn's value.
const SMALLEST_REACH: f64 = 1e-10;

/// Each point's local outlier factor: scikit-learn's `-negative_outlier_factor_` for `LocalOutlierFactor(n_neighbors=k)`.
///
/// # Errors
/// [`Cancelled`].
pub fn factors(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<Vec<f64>, Cancelled> {
    let k_distances = density::k_distances(graph, progress)?;
    let densities = graph.map(progress, |point| {
        let neighbours = graph.of(point).0.iter().map(|&other| k_distances[other as usize]);
        let reach = neighbours.zip(graph.distances(point)).map(|(k_distance, distance)| k_distance.max(distance));
        1.0 / (mean(reach) + SMALLEST_REACH)
    })?;
    graph.map(progress, |point| mean(graph.of(point).0.iter().map(|&other| densities[other as usize] / densities[point])))
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / count as f64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{generated, graph, line};
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn by_hand() {
        // k-distances with k = 2: 2, 1, 2, 9. Mean reaches: of 0 to 1 and 2: (1 + 2)/2; of 1 to 0 and 2: (2 + 2)/2; of 2 to 1 and 0: (1 + 2)/2;
        // of 10 to 2 and 1: (8 + 9)/2.
        let factors = factors(&graph(&line(&[0.0, 1.0, 2.0, 10.0], 2)), &Silent).unwrap();
        let [outer, inner, far] = [1.5, 2.0, 8.5];
        let by_hand = [(outer / inner + 1.0) / 2.0, inner / outer, (outer / inner + 1.0) / 2.0, (far / outer + far / inner) / 2.0];
        assert!(factors.iter().zip(by_hand).all(|(a, b)| (a - b).abs() < 1e-9), "{factors:?}, {by_hand:?}");
    }

    #[test]
    fn duplicates_are_no_outliers_and_a_point_far_from_them_is() {
        let factors = factors(&graph(&line(&[3.0, 3.0, 3.0, 3.0, 5.0], 2)), &Silent).unwrap();
        assert!(factors[..4].iter().all(|&factor| factor == 1.0), "{factors:?}");
        assert!((factors[4] / 2e10 - 1.0).abs() < 1e-9, "{factors:?}");
    }

    #[test]
    fn uniform_points_have_factors_about_one() {
        let record = generated("uniform:n=2000,d=2", 20);
        let factors = factors(&graph(&record), &Silent).unwrap();
        let mean = factors.iter().sum::<f64>() / 2000.0;
        assert!((mean - 1.0).abs() < 0.05 && factors.iter().all(|factor| (0.7..3.0).contains(factor)), "{mean}");
    }
}
