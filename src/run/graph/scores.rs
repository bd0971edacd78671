//! Scores of points: density, local outlier factor, k-occurrence, and local intrinsic dimension.
//!
//! - Density is the distance to the k-th neighbour: the larger, the sparser (Loftsgaarden and Quesenberry
//!   1965; as an outlier score Ramaswamy, Rastogi and Shim 2000, section 2).
//! - The local outlier factor (Breunig, Kriegel, Ng and Sander 2000, definitions 5 to 7) is as scikit-learn
//!   computes it. `reach(a, b) = max(k-distance(b), d(a, b))`; the local reachability density of a point is
//!   one over its mean reach to its k neighbours; its factor is the mean of their densities over its own. It
//!   is about 1 inside a cluster, and larger for outliers.
//! - Hubness: in many dimensions some points are neighbours of very many others, while many points are not a
//!   neighbour of any (Radovanović, Nanopoulos and Ivanović 2010, section 2).
//! - Local intrinsic dimension is estimated by maximum likelihood (Levina and Bickel 2004, equation 8). With
//!   the distances T₁ ≤ … ≤ T_k to a point's neighbours, its dimension is ((1/(k−1)) · Σ_{j<k}
//!   ln(T_k/T_j))⁻¹. Amsaleg and others 2015 (section 4.1) derive the same estimate with 1/k, since they
//!   count the k-th neighbour too; their value is k/(k−1) times this one. Neighbours at distance 0 do not
//!   contribute and are skipped.

use serde::Serialize;

use super::{AnalysisError, Cancelled, KnnGraph};
use crate::files::Stored;
use crate::progress::Progress;

/// Each point's distance to its k-th neighbour, or to the last one if there are fewer.
///
/// # Errors
/// [`AnalysisError`].
pub fn k_distances(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<Stored<f64>, AnalysisError> {
    graph.stored(progress, |point| graph.distances(point).last().unwrap_or(f64::INFINITY))
}

/// Added to the mean reach, which is 0 among duplicates; scikit-learn's value.
const SMALLEST_REACH: f64 = 1e-10;

/// Each point's local outlier factor: scikit-learn's `-negative_outlier_factor_` for
/// `LocalOutlierFactor(n_neighbors=k)`.
///
/// # Errors
/// [`AnalysisError`].
pub fn outlier_factors(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<Stored<f64>, AnalysisError> {
    let k_distances = k_distances(graph, progress)?;
    let densities = graph.stored(progress, |point| {
        let neighbours = graph.neighbors(point).0.iter().map(|&other| k_distances[other as usize]);
        let reach =
            neighbours.zip(graph.distances(point)).map(|(k_distance, distance)| k_distance.max(distance));
        1.0 / (mean(reach) + SMALLEST_REACH)
    })?;
    graph.stored(progress, |point| {
        mean(graph.neighbors(point).0.iter().map(|&other| densities[other as usize] / densities[point]))
    })
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / count as f64
}

/// How often each point is among the k nearest neighbours of another: its k-occurrence, N_k.
///
/// # Errors
/// [`Cancelled`].
pub fn occurrences(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<Vec<u32>, Cancelled> {
    let mut occurrences = vec![0; graph.len()];
    for block in graph.blocks(progress) {
        for point in block? {
            graph.neighbors(point).0.iter().for_each(|&other| occurrences[other as usize] += 1);
        }
    }
    Ok(occurrences)
}

/// The distribution of k-occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hubness {
    /// The third standardised moment of N_k, S_Nk in the paper; `None` if all are equal.
    pub skewness: Option<f64>,
    pub mean: f64,
    pub standard_deviation: f64,
    pub max: u32,
    /// The first point with the maximum.
    #[serde(skip)]
    pub largest: usize,
    /// Points above the mean plus two standard deviations.
    pub hubs: u64,
    /// Points that are not a neighbour of any other.
    pub antihubs: u64,
}

impl Hubness {
    /// `None` without points.
    pub fn new(occurrences: &[u32]) -> Option<Self> {
        let (n, max) = (occurrences.len() as f64, occurrences.iter().copied().max()?);
        let mean = occurrences.iter().map(|&count| f64::from(count)).sum::<f64>() / n;
        let moment =
            |power| occurrences.iter().map(|&count| (f64::from(count) - mean).powi(power)).sum::<f64>() / n;
        let standard_deviation = moment(2).sqrt();
        let many = mean + 2.0 * standard_deviation;
        Some(Self {
            skewness: (standard_deviation > 0.0).then(|| moment(3) / standard_deviation.powi(3)),
            mean,
            standard_deviation,
            max,
            largest: occurrences.iter().position(|&count| count == max).unwrap_or(0),
            hubs: occurrences.iter().filter(|&&count| f64::from(count) > many).count() as u64,
            antihubs: occurrences.iter().filter(|&&count| count == 0).count() as u64,
        })
    }
}

/// Each point's dimension; NaN if fewer than two neighbours have a positive distance, or all distances are
/// equal.
///
/// # Errors
/// [`AnalysisError`].
pub fn dimensions(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<Stored<f64>, AnalysisError> {
    graph.stored(progress, |point| {
        let apart = graph.distances(point).filter(|&distance| distance > 0.0);
        dimension(&apart.collect::<Vec<f64>>()).unwrap_or(f64::NAN)
    })
}

/// The estimate from ascending positive distances.
fn dimension(distances: &[f64]) -> Option<f64> {
    let (last, others) = distances.split_last()?;
    let logarithms: f64 = others.iter().map(|distance| (last / distance).ln()).sum();
    (logarithms > 0.0).then(|| others.len() as f64 / logarithms)
}

/// The dimension of the whole cloud: the harmonic mean of the local ones, as their inverses are the unbiased
/// estimates (MacKay and Ghahramani 2005); `None` without local ones.
pub fn overall_dimension(dimensions: &[f64]) -> Option<f64> {
    let (sum, count) = dimensions
        .iter()
        .filter(|dimension| !dimension.is_nan())
        .fold((0.0, 0.0), |(sum, count), dimension| (sum + 1.0 / dimension, count + 1.0));
    (count > 0.0).then(|| count / sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::run::graph::testing::{generated, graph, line};

    #[test]
    fn k_distances_use_the_kth_or_last_neighbour() {
        let far = |k| k_distances(&graph(&line(&[0.0, 1.0, 3.0, 7.0], k)), &NoProgress).unwrap().to_vec();
        assert_eq!(far(1), [1.0, 1.0, 2.0, 4.0]);
        assert_eq!(far(2), [3.0, 2.0, 3.0, 6.0]);
        assert_eq!(far(9), [7.0, 6.0, 4.0, 7.0]);
    }

    #[test]
    fn outlier_factors_match_hand_computation() {
        // k-distances with k = 2: 2, 1, 2, 9. Mean reaches: of 0 to 1 and 2: (1 + 2)/2; of 1 to 0 and 2: (2 +
        // 2)/2; of 2 to 1 and 0: (1 + 2)/2; of 10 to 2 and 1: (8 + 9)/2.
        let factors = outlier_factors(&graph(&line(&[0.0, 1.0, 2.0, 10.0], 2)), &NoProgress).unwrap();
        let [outer, inner, far] = [1.5, 2.0, 8.5];
        let by_hand = [
            (outer / inner + 1.0) / 2.0,
            inner / outer,
            (outer / inner + 1.0) / 2.0,
            (far / outer + far / inner) / 2.0,
        ];
        assert!(factors.iter().zip(by_hand).all(|(a, b)| (a - b).abs() < 1e-9), "{factors:?}, {by_hand:?}");
    }

    #[test]
    fn duplicates_are_inliers_and_a_distant_point_is_an_outlier() {
        let factors = outlier_factors(&graph(&line(&[3.0, 3.0, 3.0, 3.0, 5.0], 2)), &NoProgress).unwrap();
        assert!(factors[..4].iter().all(|&factor| factor == 1.0), "{factors:?}");
        assert!((factors[4] / 2e10 - 1.0).abs() < 1e-9, "{factors:?}");
    }

    #[test]
    fn uniform_points_have_outlier_factors_near_one() {
        let record = generated("uniform:n=2000,d=2", 20);
        let factors = outlier_factors(&graph(&record), &NoProgress).unwrap();
        let mean = factors.iter().sum::<f64>() / 2000.0;
        assert!(
            (mean - 1.0).abs() < 0.05 && factors.iter().all(|factor| (0.7..3.0).contains(factor)),
            "{mean}"
        );
    }

    #[test]
    fn hubness_matches_hand_computation() {
        let record = line(&[0.0, 1.0, 2.5, 10.0], 1);
        let occurrences = occurrences(&graph(&record), &NoProgress).unwrap();
        assert_eq!(occurrences, [1, 2, 1, 0]);
        let hubness = Hubness::new(&occurrences).unwrap();
        assert_eq!(
            (hubness.mean, hubness.skewness, hubness.max, hubness.largest, hubness.antihubs),
            (1.0, Some(0.0), 2, 1, 1)
        );
        assert_eq!(Hubness::new(&[2, 2]).unwrap().skewness, None);
        // By hand, (2 · 1 − 8)/3 over 2^1.5: values 0, 3, 3 around 2.
        let skewed = Hubness::new(&[0, 3, 3]).unwrap();
        assert!((skewed.skewness.unwrap() + 2.0 / 2f64.powf(1.5)).abs() < 1e-12, "{skewed:?}");
    }

    #[test]
    fn hubness_grows_with_the_dimension() {
        let skewness = |d: u32| {
            let record = generated(&format!("gaussian-mixture:n=1000,d={d},clusters=1"), 10);
            let occurrences = occurrences(&graph(&record), &NoProgress).unwrap();
            assert_eq!(occurrences.iter().sum::<u32>(), 10_000);
            Hubness::new(&occurrences).unwrap().skewness.unwrap()
        };
        let (few, many) = (skewness(2), skewness(50));
        assert!(few < 0.5 && many > 1.5, "{few}, {many}");
    }

    #[test]
    fn intrinsic_dimensions_match_hand_computation() {
        let e = std::f64::consts::E;
        assert!((dimension(&[1.0, e, e * e]).unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!([dimension(&[]), dimension(&[1.0]), dimension(&[2.0, 2.0])], [None; 3]);
        // The duplicate is skipped; 1 and 2 remain.
        let dimensions = dimensions(&graph(&line(&[0.0, 0.0, 1.0, 2.0], 3)), &NoProgress).unwrap();
        assert!((dimensions[0] - 1.0 / 2f64.ln()).abs() < 1e-6, "{dimensions:?}");
        assert_eq!(overall_dimension(&[1.0, f64::NAN, 3.0]), Some(1.5));
        assert_eq!(overall_dimension(&[f64::NAN]), None);
    }

    #[test]
    fn estimated_dimensions_match_the_generators() {
        for (spec, expected) in
            [("swiss-roll:n=4000", 2.0), ("uniform:n=4000,d=5", 5.0), ("uniform:n=4000,d=1", 1.0)]
        {
            let record = generated(spec, 40);
            let found = overall_dimension(&dimensions(&graph(&record), &NoProgress).unwrap()).unwrap();
            assert!((found / expected - 1.0).abs() < 0.15, "{spec}: {found}");
        }
    }
}
