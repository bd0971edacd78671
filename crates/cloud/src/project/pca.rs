//! Principal components: exact by eigendecomposition, or randomised by subspace iteration.

use nalgebra::{DMatrix, SymmetricEigen};

use super::rows::{self, Watch};
use super::{DIRECTIONS, Projection, ProjectionKind, orthonormal, random_directions, shares};
use crate::progress::Progress;
use crate::{CloudError, PointCloud};

/// Dimension of the iterated subspace: oversampled, so that the wanted directions converge faster.
const TOGETHER: usize = 16;
/// Maximum number of passes over the rows.
const MOST_PASSES: usize = 30;
/// Convergence threshold: change of an explained variance relative to the largest.
const STILL: f64 = 1e-6;

/// Eigendecomposition of the covariance matrix.
pub(super) fn exact(cloud: &PointCloud, progress: &dyn Progress) -> Result<Projection, CloudError> {
    let dims = cloud.dims();
    let watch = Watch::new(cloud, 2, progress);
    let mean = rows::mean(cloud, &watch)?;
    let upper = rows::covariance(cloud, &mean, &watch)?;
    let matrix = DMatrix::from_fn(dims, dims, |row, column| upper[row.min(column) * dims + row.max(column)]);
    let total = matrix.trace();
    let (spreads, vectors) = descending(matrix);
    Ok(projection(ProjectionKind::Pca, mean, &spreads, &vectors, total))
}

/// Subspace iteration: the covariance matrix is never formed, only applied, in one pass over the rows each time.
pub(super) fn randomised(cloud: &PointCloud, seed: u64, progress: &dyn Progress) -> Result<Projection, CloudError> {
    let dims = cloud.dims();
    let watch = Watch::new(cloud, 2 + MOST_PASSES as u64, progress);
    let mean = rows::mean(cloud, &watch)?;
    let total = rows::spread(cloud, &mean, &watch)?;
    let mut subspace = orthonormal(&random_directions(dims, TOGETHER, seed));
    let mut before = vec![f64::INFINITY; DIRECTIONS];
    let mut pass = 1;
    loop {
        let by_row: Vec<[f64; TOGETHER]> = subspace.row_iter().map(|row| std::array::from_fn(|at| row[at])).collect();
        let product = DMatrix::from_row_slice(dims, TOGETHER, &rows::covariance_times(cloud, &mean, &by_row, &watch)?);
        // Rayleigh–Ritz projection onto the subspace; averaging with the transpose makes it exactly symmetric.
        let within = subspace.transpose() * &product;
        let (spreads, rotation) = descending((&within + within.transpose()) / 2.0);
        let moved = spreads.iter().zip(&before).any(|(now, before)| (now - before).abs() > STILL * spreads[0]);
        if !moved || pass == MOST_PASSES {
            return Ok(projection(ProjectionKind::RandomisedPca, mean, &spreads, &(subspace * rotation), total));
        }
        before = spreads[..DIRECTIONS].to_vec();
        subspace = orthonormal(&product);
        pass += 1;
    }
}

/// Eigenvalues of a symmetric matrix in descending order, and their eigenvectors as columns.
fn descending(matrix: DMatrix<f64>) -> (Vec<f64>, DMatrix<f64>) {
    let SymmetricEigen { eigenvectors, eigenvalues } = matrix.symmetric_eigen();
    let mut order: Vec<usize> = (0..eigenvalues.len()).collect();
    order.sort_by(|&a, &b| eigenvalues[b].total_cmp(&eigenvalues[a]));
    (order.iter().map(|&at| eigenvalues[at]).collect(), eigenvectors.select_columns(&order))
}

fn projection(kind: ProjectionKind, mean: Vec<f64>, spreads: &[f64], vectors: &DMatrix<f64>, total: f64) -> Projection {
    let count = mean.len().min(DIRECTIONS);
    let direction = |at: usize| {
        let vector = vectors.column(at);
        // The first element of largest magnitude decides the sign.
        let largest = vector.iter().copied().fold(0.0f64, |largest, part| if part.abs() > largest.abs() { part } else { largest });
        vector.iter().map(|part| part * largest.signum()).collect()
    };
    Projection { kind, basis: (0..count).map(direction).collect(), mean, explained: shares(&spreads[..count], total) }
}
