//! Local intrinsic dimension, by maximum likelihood (Levina and Bickel 2004, equation 8).
//!
//! With the distances T₁ ≤ … ≤ T_k to a point's neighbours, its dimension is ((1/(k−1)) · Σ_{j<k} ln(T_k/T_j))⁻¹. Amsaleg and others 2015 (section 4.1)
//! derive the same estimate with 1/k, since they count the k-th neighbour too: theirs is k/(k−1) of this one. Neighbours at distance 0 say nothing
//! about the dimension and are left out.

use super::{Cancelled, KnnGraph};
use crate::progress::Progress;

/// Each point's dimension; `None` where fewer than two neighbours are apart from it, or all are equally far.
///
/// # Errors
/// [`Cancelled`].
pub fn dimensions(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<Vec<Option<f64>>, Cancelled> {
    graph.map(progress, |point| {
        let apart = graph.distances(point).filter(|&distance| distance > 0.0);
        dimension(&apart.collect::<Vec<f64>>())
    })
}

/// The estimate from ascending distances above 0.
fn dimension(distances: &[f64]) -> Option<f64> {
    let (last, others) = distances.split_last()?;
    let logarithms: f64 = others.iter().map(|distance| (last / distance).ln()).sum();
    (logarithms > 0.0).then(|| others.len() as f64 / logarithms)
}

/// The dimension of the whole cloud: one over the mean of inverse local ones, which are what is averaged without bias (MacKay and
/// Ghahramani 2005); `None` where there are none.
pub fn of_all(dimensions: &[Option<f64>]) -> Option<f64> {
    let (sum, count) = dimensions.iter().flatten().fold((0.0, 0.0), |(sum, count), dimension| (sum + 1.0 / dimension, count + 1.0));
    (count > 0.0).then(|| count / sum)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{generated, graph, line};
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn by_hand() {
        let e = std::f64::consts::E;
        assert!((dimension(&[1.0, e, e * e]).unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!([dimension(&[]), dimension(&[1.0]), dimension(&[2.0, 2.0])], [None; 3]);
        // The duplicate is left out: 1 and 2 remain.
        let dimensions = dimensions(&graph(&line(&[0.0, 0.0, 1.0, 2.0], 3)), &Silent).unwrap();
        assert!((dimensions[0].unwrap() - 1.0 / 2f64.ln()).abs() < 1e-6, "{dimensions:?}");
        assert_eq!(of_all(&[Some(1.0), None, Some(3.0)]), Some(1.5));
        assert_eq!(of_all(&[None]), None);
    }

    #[test]
    fn a_surface_has_two_dimensions_wherever_it_lies() {
        for (spec, expected) in [("swiss-roll:n=4000", 2.0), ("uniform:n=4000,d=5", 5.0), ("uniform:n=4000,d=1", 1.0)] {
            let record = generated(spec, 40);
            let found = of_all(&dimensions(&graph(&record), &Silent).unwrap()).unwrap();
            assert!((found / expected - 1.0).abs() < 0.15, "{spec}: {found}");
        }
    }
}
