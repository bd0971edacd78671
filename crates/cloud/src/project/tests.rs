//! Projections compared with plain f64 computations.

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;
use crate::progress::NoProgress;
use crate::{Column, Source, Table};

fn cloud(dims: usize, values: Vec<f64>) -> PointCloud {
    let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
    PointCloud::from_table(Table { columns: Column::unnamed(dims), values }, source, None, false).unwrap()
}

/// Normal numbers whose standard deviation falls by a factor per dimension, rotated so that no axis is a
/// component.
fn falling(n: usize, dims: usize, factor: f64) -> PointCloud {
    let turned = orthonormal(&random_directions(dims, dims.min(40), 3));
    let mut draw = CloudRng::new(9);
    let mut values = vec![0.0; n * dims];
    for row in values.chunks_exact_mut(dims) {
        for (at, direction) in turned.column_iter().enumerate() {
            let along = draw.normal() * factor.powi(at as i32);
            row.iter_mut().zip(direction.iter()).for_each(|(value, part)| *value += along * part);
        }
    }
    cloud(dims, values)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Mean and covariance by the textbook formula.
fn covariance(cloud: &PointCloud) -> (Vec<f64>, Vec<Vec<f64>>) {
    let (n, d) = (cloud.len(), cloud.dims());
    let value = |row: usize, axis: usize| f64::from(cloud.point(row)[axis]);
    let mean: Vec<f64> =
        (0..d).map(|axis| (0..n).map(|row| value(row, axis)).sum::<f64>() / n as f64).collect();
    let of = |i: usize, j: usize| {
        (0..n).map(|row| (value(row, i) - mean[i]) * (value(row, j) - mean[j])).sum::<f64>() / n as f64
    };
    let matrix = (0..d).map(|i| (0..d).map(|j| of(i, j)).collect()).collect();
    (mean, matrix)
}

#[track_caller]
fn assert_orthonormal(basis: &[Vec<f64>]) {
    for (i, a) in basis.iter().enumerate() {
        for (j, b) in basis.iter().enumerate() {
            assert!((dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-9, "{i}, {j}: {}", dot(a, b));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn components_are_eigenvectors(
        dims in 1usize..12,
        values in prop::collection::vec(-100.0f64..100.0, 12..600),
        scale in 0.0f64..10.0,
    ) {
        let rows = (values.len() / dims).max(1);
        let values = (0..rows * dims)
            .map(|at| values[at % values.len()] * (1.0 + scale * (at % dims) as f64))
            .collect();
        let cloud = cloud(dims, values);
        let (mean, matrix) = covariance(&cloud);
        let total: f64 = (0..dims).map(|axis| matrix[axis][axis]).sum();
        let found = Projection::pca(&cloud, 0, &NoProgress).unwrap();
        prop_assert_eq!(found.basis.len(), dims.min(3));
        assert_orthonormal(&found.basis);
        let largest = mean.iter().fold(1.0f64, |largest, mean| largest.max(mean.abs()));
        prop_assert!(mean.iter().zip(&found.mean).all(|(a, b)| (a - b).abs() < 1e-9 * largest));
        if let Some(explained) = &found.explained {
            prop_assert!(explained.is_sorted_by(|a, b| a >= b) && explained.iter().sum::<f64>() < 1.0 + 1e-9);
            prop_assert!(dims > 3 || (explained.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for (direction, share) in found.basis.iter().zip(explained) {
                for (row, part) in matrix.iter().zip(direction) {
                    prop_assert!(
                        (dot(row, direction) - share * total * part).abs() < 1e-7 * total,
                        "{} of {}",
                        share,
                        total
                    );
                }
            }
            // No direction has more variance than the first.
            let sums: f64 = matrix.iter().flatten().sum::<f64>() / dims as f64;
            prop_assert!(sums <= explained[0] * total * (1.0 + 1e-9) + 1e-9);
        }
        for direction in &found.basis {
            let largest =
                direction.iter().copied().fold(0.0f64, |a, b| if b.abs() > a.abs() { b } else { a });
            prop_assert!(largest > 0.0);
        }
    }
}

#[test]
fn projections_are_products_with_the_basis() {
    let cloud = falling(1000, 7, 0.7);
    for found in [
        Projection::pca(&cloud, 0, &NoProgress).unwrap(),
        Projection::random(&cloud, 5, &NoProgress).unwrap(),
    ] {
        let places = found.project(&cloud, &NoProgress).unwrap();
        for (row, place) in places.iter().enumerate() {
            let point = cloud.point(row);
            let centred: Vec<f64> =
                point.iter().zip(&found.mean).map(|(&value, mean)| f64::from(value) - mean).collect();
            for (at, direction) in found.basis.iter().enumerate() {
                assert!((f64::from(place[at]) - dot(&centred, direction)).abs() < 1e-6);
            }
            assert_eq!(*place, found.project_point(point));
        }
        // Their variance is the reported explained variance.
        let (_, matrix) = covariance(&cloud);
        let total: f64 = (0..7).map(|axis| matrix[axis][axis]).sum();
        for (at, share) in found.explained.unwrap().into_iter().enumerate() {
            let along = places.iter().map(|place| f64::from(place[at]).powi(2)).sum::<f64>() / 1000.0;
            assert!((along / total - share).abs() < 1e-5, "{along} of {total}, not {share}");
        }
    }
}

#[test]
fn randomised_pca_matches_exact_pca() {
    let cloud = falling(3000, 200, 0.9);
    let exact = exact_pca(&cloud, &NoProgress).unwrap();
    let iterated = randomised_pca(&cloud, 1, &NoProgress).unwrap();
    for (a, b) in exact.explained.unwrap().into_iter().zip(iterated.explained.clone().unwrap()) {
        assert!((a - b).abs() < 1e-5 * a, "{a} and {b}");
    }
    for (a, b) in exact.basis.iter().zip(&iterated.basis) {
        assert!(dot(a, b) > 0.999, "{}", dot(a, b));
    }
    assert_eq!(randomised_pca(&cloud, 1, &NoProgress).unwrap(), iterated);
    assert_orthonormal(&iterated.basis);
}

#[test]
fn the_pca_method_depends_on_dimension() {
    let kind = |dims| Projection::pca(&falling(30, dims, 0.5), 0, &NoProgress).unwrap().kind;
    assert_eq!((kind(MAX_EXACT), kind(MAX_EXACT + 1)), (ProjectionKind::Pca, ProjectionKind::RandomisedPca));
}

#[test]
fn results_are_identical_for_any_thread_count() {
    let cloud = falling(20_000, 9, 0.8);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            (
                Projection::pca(&cloud, 0, &NoProgress).unwrap(),
                randomised_pca(&falling(500, 40, 0.8), 0, &NoProgress).unwrap(),
            )
        })
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn random_directions_depend_on_the_seed() {
    let cloud = falling(100, 50, 0.9);
    let of = |seed| Projection::random(&cloud, seed, &NoProgress).unwrap();
    assert_orthonormal(&of(1).basis);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1).basis, of(2).basis);
    assert_eq!(Projection::random(&falling(10, 2, 0.5), 0, &NoProgress).unwrap().basis.len(), 2);
    // On average over directions, 3 of 50 dimensions hold 6 % of the variance.
    let mean = (0..200).map(|seed| of(seed).explained.unwrap().iter().sum::<f64>()).sum::<f64>() / 200.0;
    assert!((mean - 0.06).abs() < 0.01, "{mean}");
}

#[test]
fn identical_points_have_no_explained_variance() {
    let cloud = cloud(5, [1.0, 2.0, 3.0, 4.0, 5.0].repeat(10));
    for found in [
        Projection::pca(&cloud, 0, &NoProgress).unwrap(),
        Projection::random(&cloud, 0, &NoProgress).unwrap(),
        randomised_pca(&self::cloud(20, vec![1.0; 100]), 0, &NoProgress).unwrap(),
    ] {
        assert_eq!(found.explained, None);
        assert_orthonormal(&found.basis);
    }
    let found = Projection::pca(&cloud, 0, &NoProgress).unwrap();
    assert_eq!(found.project(&cloud, &NoProgress).unwrap(), vec![[0.0; 3]; 10]);
}

#[test]
fn projection_can_be_cancelled() {
    let cloud = falling(100, 4, 0.5);
    let stop = AtomicBool::new(true);
    let projection = Projection::pca(&cloud, 0, &NoProgress).unwrap();
    assert!(matches!(Projection::pca(&cloud, 0, &stop), Err(CloudError::Cancelled)));
    assert!(matches!(Projection::random(&cloud, 0, &stop), Err(CloudError::Cancelled)));
    assert!(matches!(projection.project(&cloud, &stop), Err(CloudError::Cancelled)));
}
