//! Density, as the distance to the k-th neighbour: the farther, the sparser (Loftsgaarden and Quesenberry 1965; as a score of
//! outliers Ramaswamy, Rastogi and Shim 2000, section 2).

use super::{Cancelled, KnnGraph};
use crate::progress::Progress;

/// Each point's distance to its k-th neighbour or, where there are fewer others, to the last of them.
///
/// # Errors
/// [`Cancelled`].
pub fn k_distances(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<Vec<f64>, Cancelled> {
    graph.map(progress, |point| graph.distances(point).last().unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{graph, line};
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn the_kth_or_the_last_there_is() {
        let far = |k| k_distances(&graph(&line(&[0.0, 1.0, 3.0, 7.0], k)), &Silent).unwrap();
        assert_eq!(far(1), [1.0, 1.0, 2.0, 4.0]);
        assert_eq!(far(2), [3.0, 2.0, 3.0, 6.0]);
        assert_eq!(far(9), [7.0, 6.0, 4.0, 7.0]);
    }
}
