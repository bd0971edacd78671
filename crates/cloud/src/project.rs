//! Linear projections of high-dimensional clouds to at most three dimensions, for display.
//!
//! Projections use the raw coordinates, even if neighbours are ranked by angle. Neighbours are always
//! computed in all dimensions.

use std::sync::atomic::{AtomicU64, Ordering};

use multiversion::multiversion;
use nalgebra::{DMatrix, SymmetricEigen};
use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};
use rayon::slice::{ParallelSlice as _, ParallelSliceMut as _};
use serde::{Deserialize, Serialize};

use super::{CloudError, PointCloud};
use crate::generate::draw::CloudRng;
use crate::progress::Progress;

/// The number of directions of a projection: three for Space, of which the first two are used in Plane.
pub const DIRECTIONS: usize = 3;
/// Maximum number of dimensions for which the full covariance matrix is computed; beyond, subspace iteration
/// is used.
const MAX_EXACT: usize = 512;
/// Rows projected between progress reports.
const BATCH: usize = 1 << 13;

/// How the directions of a projection were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectionKind {
    /// Principal components: eigenvectors of the covariance matrix of all rows, to the precision of f64.
    Pca,
    /// Principal components by subspace iteration from random directions (Halko, Martinsson & Tropp, SIAM
    /// Review 53, 2011), of all rows, until explained variances change by less than 10⁻⁶.
    RandomisedPca,
    /// Uniformly distributed orthogonal directions: normal vectors, orthonormalised. Distances shrink by
    /// about √(directions / d) (Dasgupta & Gupta, Random Structures & Algorithms 22, 2003).
    Random,
}

/// Orthogonal directions in the space of a cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// How the directions were found.
    pub kind: ProjectionKind,
    /// Up to [`DIRECTIONS`] unit vectors of d elements each; fewer if d is less.
    pub basis: Vec<Vec<f64>>,
    /// The mean of all rows as d local coordinates, which projects to 0.
    pub mean: Vec<f64>,
    /// The fraction of the cloud's variance along each direction, 0 to 1; `None` if all rows are equal.
    pub explained: Option<Vec<f64>>,
}

impl Projection {
    /// Principal components in order of decreasing variance. The sign of each makes its largest element
    /// positive, so that pictures do not flip.
    ///
    /// The same cloud and seed give the same bits on any number of cores; only
    /// [`ProjectionKind::RandomisedPca`], which is used beyond 512 dimensions, depends on the seed.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`] if `progress` asks to stop.
    pub fn pca(cloud: &PointCloud, seed: u64, progress: &dyn Progress) -> Result<Self, CloudError> {
        if cloud.dims() <= MAX_EXACT {
            exact_pca(cloud, progress)
        } else {
            randomised_pca(cloud, seed, progress)
        }
    }

    /// Random orthogonal directions, drawn from the seed.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`] if `progress` asks to stop.
    pub fn random(cloud: &PointCloud, seed: u64, progress: &dyn Progress) -> Result<Self, CloudError> {
        let watch = PassProgress::new(cloud, 3, progress);
        let directions = orthonormal(&random_directions(cloud.dims(), cloud.dims().min(DIRECTIONS), seed));
        let basis: Vec<Vec<f64>> =
            directions.column_iter().map(|direction| direction.iter().copied().collect()).collect();
        let mean = mean(cloud, &watch)?;
        let total = spread(cloud, &mean, &watch)?;
        let along = spread_along(cloud, &mean, &basis, &watch)?;
        Ok(Self { kind: ProjectionKind::Random, basis, mean, explained: shares(&along, total) })
    }

    /// The projected coordinates of each row, in the units of the cloud's axes; 0 in missing directions.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`] if `progress` asks to stop.
    ///
    /// # Panics
    /// If the cloud's number of dimensions differs from that of the projection.
    pub fn project(
        &self,
        cloud: &PointCloud,
        progress: &dyn Progress,
    ) -> Result<Vec<[f32; DIRECTIONS]>, CloudError> {
        let dims = self.mean.len();
        assert_eq!(cloud.dims(), dims, "the cloud must have the projection's number of dimensions");
        let watch = PassProgress::new(cloud, 1, progress);
        let directions = self.directions();
        let mut projected = vec![[0.0; DIRECTIONS]; cloud.len()];
        projected.par_chunks_mut(BATCH).zip(cloud.points().par_chunks(BATCH * dims)).try_for_each(
            |(projected, points)| {
                projected
                    .iter_mut()
                    .zip(points.chunks_exact(dims))
                    .for_each(|(to, point)| *to = self.along(&directions, point));
                watch.done(projected.len())
            },
        )?;
        Ok(projected)
    }

    /// The projected coordinates of one point, given as d local coordinates; bit-identical to
    /// [`Projection::project`].
    ///
    /// # Panics
    /// If the number of coordinates is not d.
    pub fn project_point(&self, point: &[f32]) -> [f32; DIRECTIONS] {
        assert_eq!(point.len(), self.mean.len(), "the point must have the projection's number of dimensions");
        self.along(&self.directions(), point)
    }

    /// The basis transposed: one row per dimension.
    fn directions(&self) -> Vec<[f64; DIRECTIONS]> {
        let of = |axis: usize| {
            std::array::from_fn(|at| self.basis.get(at).map_or(0.0, |direction| direction[axis]))
        };
        (0..self.mean.len()).map(of).collect()
    }

    fn along(&self, directions: &[[f64; DIRECTIONS]], point: &[f32]) -> [f32; DIRECTIONS] {
        let mut sums = [0.0; DIRECTIONS];
        for ((&value, &mean), direction) in point.iter().zip(&self.mean).zip(directions) {
            let centred = f64::from(value) - mean;
            sums.iter_mut().zip(direction).for_each(|(sum, part)| *sum += centred * part);
        }
        sums.map(|sum| sum as f32)
    }
}

/// A d × `count` matrix of independent normal numbers.
fn random_directions(dims: usize, count: usize, seed: u64) -> DMatrix<f64> {
    // Decorrelated from the generator's stream with the same seed, which may have produced the cloud.
    let mut draw = CloudRng::new(seed ^ 0x7072_6f6a_6563_7401);
    DMatrix::from_fn(dims, count, |_, _| draw.normal())
}

/// An orthonormal basis of the column space, with the same number of columns.
fn orthonormal(columns: &DMatrix<f64>) -> DMatrix<f64> {
    columns.clone().qr().q()
}

/// Each part as a fraction of the whole; `None` if the whole is 0.
fn shares(parts: &[f64], whole: f64) -> Option<Vec<f64>> {
    (whole > 0.0).then(|| parts.iter().map(|part| (part / whole).clamp(0.0, 1.0)).collect())
}

// Principal components: exact by eigendecomposition, or randomised by subspace iteration.

/// Dimension of the iterated subspace. More than [`DIRECTIONS`], so that these converge faster.
const SUBSPACE_DIMS: usize = 16;
/// Maximum number of passes over the rows.
const MAX_PASSES: usize = 30;
/// Convergence threshold: change of an explained variance relative to the largest.
const TOLERANCE: f64 = 1e-6;

/// Eigendecomposition of the covariance matrix.
fn exact_pca(cloud: &PointCloud, progress: &dyn Progress) -> Result<Projection, CloudError> {
    let dims = cloud.dims();
    let watch = PassProgress::new(cloud, 2, progress);
    let mean = mean(cloud, &watch)?;
    let upper = covariance(cloud, &mean, &watch)?;
    let matrix = DMatrix::from_fn(dims, dims, |row, column| upper[row.min(column) * dims + row.max(column)]);
    let total = matrix.trace();
    let (spreads, vectors) = descending(matrix);
    Ok(projection(ProjectionKind::Pca, mean, &spreads, &vectors, total))
}

/// Subspace iteration: the covariance matrix is never formed, only applied, in one pass over the rows each
/// time.
fn randomised_pca(cloud: &PointCloud, seed: u64, progress: &dyn Progress) -> Result<Projection, CloudError> {
    let dims = cloud.dims();
    let watch = PassProgress::new(cloud, 2 + MAX_PASSES as u64, progress);
    let mean = mean(cloud, &watch)?;
    let total = spread(cloud, &mean, &watch)?;
    let mut subspace = orthonormal(&random_directions(dims, SUBSPACE_DIMS, seed));
    let mut before = vec![f64::INFINITY; DIRECTIONS];
    let mut pass = 1;
    loop {
        let by_row: Vec<[f64; SUBSPACE_DIMS]> =
            subspace.row_iter().map(|row| std::array::from_fn(|at| row[at])).collect();
        let product =
            DMatrix::from_row_slice(dims, SUBSPACE_DIMS, &covariance_times(cloud, &mean, &by_row, &watch)?);
        // Rayleigh–Ritz projection onto the subspace; averaging with the transpose makes it exactly
        // symmetric.
        let within = subspace.transpose() * &product;
        let (spreads, rotation) = descending((&within + within.transpose()) / 2.0);
        let moved =
            spreads.iter().zip(&before).any(|(now, before)| (now - before).abs() > TOLERANCE * spreads[0]);
        if !moved || pass == MAX_PASSES {
            return Ok(projection(
                ProjectionKind::RandomisedPca,
                mean,
                &spreads,
                &(subspace * rotation),
                total,
            ));
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

fn projection(
    kind: ProjectionKind,
    mean: Vec<f64>,
    spreads: &[f64],
    vectors: &DMatrix<f64>,
    total: f64,
) -> Projection {
    let count = mean.len().min(DIRECTIONS);
    let direction = |at: usize| {
        let vector = vectors.column(at);
        // The first element of largest magnitude decides the sign.
        let largest = vector
            .iter()
            .copied()
            .fold(0.0f64, |largest, part| if part.abs() > largest.abs() { part } else { largest });
        vector.iter().map(|part| part * largest.signum()).collect()
    };
    Projection {
        kind,
        basis: (0..count).map(direction).collect(),
        mean,
        explained: shares(&spreads[..count], total),
    }
}

// Parallel sums over all rows of a cloud, bit-identical on any number of cores.

/// Number of strips, each summed sequentially by one thread. It is fixed, and strips are added in order,
/// because floating-point sums depend on the order.
const STRIPS: usize = 16;
/// Rows processed at a time.
const BLOCK: usize = 256;

/// Reports progress over several passes and checks for cancellation.
struct PassProgress<'a> {
    progress: &'a dyn Progress,
    done: AtomicU64,
    total: u64,
}

impl<'a> PassProgress<'a> {
    /// Expects up to this many passes.
    pub fn new(cloud: &PointCloud, passes: u64, progress: &'a dyn Progress) -> Self {
        Self { progress, done: AtomicU64::new(0), total: cloud.len() as u64 * passes }
    }

    /// Reports that this many more rows have been processed.
    pub fn done(&self, rows: usize) -> Result<(), CloudError> {
        let done = self.done.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        self.progress.update(done.min(self.total), self.total);
        if self.progress.cancelled() { Err(CloudError::Cancelled) } else { Ok(()) }
    }
}

/// Accumulates blocks of rows into `count` sums that start at 0. A block consists of whole rows of d values.
fn sum(
    cloud: &PointCloud,
    count: usize,
    watch: &PassProgress<'_>,
    add: impl Fn(&mut [f64], &[f32], &mut Vec<f64>) + Sync,
) -> Result<Vec<f64>, CloudError> {
    let dims = cloud.dims();
    let strip = cloud.len().div_ceil(STRIPS).next_multiple_of(BLOCK);
    let strips = cloud.len().div_ceil(strip);
    let of_strip = |at: usize| {
        let rows = at * strip..((at + 1) * strip).min(cloud.len());
        let mut sums = vec![0.0; count];
        let mut scratch = Vec::new();
        for block in cloud.points()[rows.start * dims..rows.end * dims].chunks(BLOCK * dims) {
            add(&mut sums, block, &mut scratch);
            watch.done(block.len() / dims)?;
        }
        Ok(sums)
    };
    let partial: Vec<Vec<f64>> =
        (0..strips).into_par_iter().map(of_strip).collect::<Result<_, CloudError>>()?;
    let mut partial = partial.into_iter();
    let mut total = partial.next().unwrap_or_else(|| vec![0.0; count]);
    for sums in partial {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    Ok(total)
}

/// The mean of each dimension, in local coordinates.
fn mean(cloud: &PointCloud, watch: &PassProgress<'_>) -> Result<Vec<f64>, CloudError> {
    let dims = cloud.dims();
    let sums = sum(cloud, dims, watch, |sums, block, _| {
        for row in block.chunks_exact(dims) {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        }
    })?;
    Ok(sums.into_iter().map(|sum| sum / cloud.len() as f64).collect())
}

/// The total variance of all dimensions, times n.
fn spread(cloud: &PointCloud, mean: &[f64], watch: &PassProgress<'_>) -> Result<f64, CloudError> {
    let sums = sum(cloud, mean.len(), watch, |sums, block, _| {
        for row in block.chunks_exact(mean.len()) {
            for ((sum, &value), mean) in sums.iter_mut().zip(row).zip(mean) {
                let centred = f64::from(value) - mean;
                *sum += centred * centred;
            }
        }
    })?;
    Ok(sums.iter().sum())
}

/// The variance along each of some unit vectors, times n.
fn spread_along(
    cloud: &PointCloud,
    mean: &[f64],
    basis: &[Vec<f64>],
    watch: &PassProgress<'_>,
) -> Result<Vec<f64>, CloudError> {
    sum(cloud, basis.len(), watch, |sums, block, scratch| {
        centre(block, mean, scratch);
        for row in scratch.chunks_exact(mean.len()) {
            for (sum, direction) in sums.iter_mut().zip(basis) {
                let along: f64 = row.iter().zip(direction).map(|(value, part)| value * part).sum();
                *sum += along * along;
            }
        }
    })
}

/// The d × d covariance matrix times n, row-major; only the diagonal and the upper triangle.
fn covariance(cloud: &PointCloud, mean: &[f64], watch: &PassProgress<'_>) -> Result<Vec<f64>, CloudError> {
    let dims = mean.len();
    sum(cloud, dims * dims, watch, |sums, block, scratch| {
        centre(block, mean, scratch);
        add_products(sums, scratch, dims);
    })
}

/// The product of n times the covariance matrix and a d × L matrix; both row-major.
fn covariance_times<const L: usize>(
    cloud: &PointCloud,
    mean: &[f64],
    matrix: &[[f64; L]],
    watch: &PassProgress<'_>,
) -> Result<Vec<f64>, CloudError> {
    sum(cloud, mean.len() * L, watch, |sums, block, scratch| {
        centre(block, mean, scratch);
        for row in scratch.chunks_exact(mean.len()) {
            add_projected(sums, row, matrix);
        }
    })
}

fn centre(block: &[f32], mean: &[f64], centred: &mut Vec<f64>) {
    centred.clear();
    centred.extend(
        block
            .chunks_exact(mean.len())
            .flat_map(|row| row.iter().zip(mean).map(|(&value, mean)| f64::from(value) - mean)),
    );
}

/// Adds the outer product of each row with itself, four rows at a time. Multiplications and additions are not
/// fused, so that every processor gives the same bits.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2", "aarch64+neon"))]
fn add_products(sums: &mut [f64], rows: &[f64], dims: usize) {
    let fours = rows.chunks_exact(4 * dims);
    for row in fours.remainder().chunks_exact(dims) {
        for at in 0..dims {
            let sums = &mut sums[at * dims + at..(at + 1) * dims];
            sums.iter_mut().zip(&row[at..]).for_each(|(sum, value)| *sum += row[at] * value);
        }
    }
    for four in fours {
        let (a, rest) = four.split_at(dims);
        let (b, rest) = rest.split_at(dims);
        let (c, d) = rest.split_at(dims);
        for at in 0..dims {
            let sums = &mut sums[at * dims + at..(at + 1) * dims];
            let (left, right) = ([a[at], b[at], c[at], d[at]], [&a[at..], &b[at..], &c[at..], &d[at..]]);
            for ((((sum, a), b), c), d) in
                sums.iter_mut().zip(right[0]).zip(right[1]).zip(right[2]).zip(right[3])
            {
                *sum += (left[0] * a + left[1] * b) + (left[2] * c + left[3] * d);
            }
        }
    }
}

/// Adds the outer product of a row and its projections.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2", "aarch64+neon"))]
fn add_projected<const L: usize>(sums: &mut [f64], row: &[f64], matrix: &[[f64; L]]) {
    let mut along = [0.0; L];
    for (&value, parts) in row.iter().zip(matrix) {
        along.iter_mut().zip(parts).for_each(|(along, part)| *along += value * part);
    }
    for (&value, sums) in row.iter().zip(sums.as_chunks_mut::<L>().0) {
        sums.iter_mut().zip(along).for_each(|(sum, along)| *sum += value * along);
    }
}

#[cfg(test)]
mod tests;
