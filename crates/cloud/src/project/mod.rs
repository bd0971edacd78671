//! Linear projections of high-dimensional clouds to at most three dimensions, for display.
//!
//! A projection is of the raw coordinates, even if neighbours are ranked by angle. Neighbours are always
//! computed in all dimensions.

mod pca;
mod rows;

use nalgebra::DMatrix;
use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::{ParallelSlice as _, ParallelSliceMut as _};
use serde::{Deserialize, Serialize};

use super::generate::draw::Draw;
use super::{CloudError, PointCloud};
use crate::progress::Progress;
use rows::{Watch, spread};

/// The number of directions of a projection: three for Space, of which the first two are used in Plane.
pub const DIRECTIONS: usize = 3;
/// Maximum number of dimensions for which the full covariance matrix is computed; beyond, subspace iteration is used.
const MAX_EXACT: usize = 512;
/// Rows projected between progress reports.
const BATCH: usize = 1 << 13;

/// How the directions of a projection were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectionKind {
    /// Principal components: eigenvectors of the covariance matrix of all rows, to the precision of f64.
    Pca,
    /// Principal components by subspace iteration from random directions (Halko, Martinsson & Tropp, SIAM Review 53, 2011),
    /// of all rows, until explained variances change by less than 10⁻⁶.
    RandomisedPca,
    /// Uniformly distributed orthogonal directions: normal vectors, orthonormalised. Distances shrink by about √(directions
    /// / d) (Dasgupta & Gupta, Random Structures & Algorithms 22, 2003).
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
    /// Principal components in order of decreasing variance. The sign of each makes its largest element positive, so that
    /// pictures do not flip.
    ///
    /// The same cloud and seed give the same bits on any number of cores; only [`ProjectionKind::RandomisedPca`], which is
    /// used beyond 512 dimensions, depends on the seed.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`] if `progress` asks to stop.
    pub fn pca(cloud: &PointCloud, seed: u64, progress: &dyn Progress) -> Result<Self, CloudError> {
        if cloud.dims() <= MAX_EXACT { pca::exact(cloud, progress) } else { pca::randomised(cloud, seed, progress) }
    }

    /// Random orthogonal directions, drawn from the seed.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`] if `progress` asks to stop.
    pub fn random(cloud: &PointCloud, seed: u64, progress: &dyn Progress) -> Result<Self, CloudError> {
        let watch = Watch::new(cloud, 3, progress);
        let directions = orthonormal(&random_directions(cloud.dims(), cloud.dims().min(DIRECTIONS), seed));
        let basis: Vec<Vec<f64>> = directions.column_iter().map(|direction| direction.iter().copied().collect()).collect();
        let mean = rows::mean(cloud, &watch)?;
        let total = spread(cloud, &mean, &watch)?;
        let along = rows::spread_along(cloud, &mean, &basis, &watch)?;
        Ok(Self { kind: ProjectionKind::Random, basis, mean, explained: shares(&along, total) })
    }

    /// The projected coordinates of each row, in the units of the cloud's axes; 0 in missing directions.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`] if `progress` asks to stop.
    ///
    /// # Panics
    /// If the cloud's number of dimensions differs from that of the projection.
    pub fn project(&self, cloud: &PointCloud, progress: &dyn Progress) -> Result<Vec<[f32; DIRECTIONS]>, CloudError> {
        let dims = self.mean.len();
        assert_eq!(cloud.dims(), dims, "a projection is for clouds of as many dimensions");
        let watch = Watch::new(cloud, 1, progress);
        let directions = self.directions();
        let mut projected = vec![[0.0; DIRECTIONS]; cloud.len()];
        projected.par_chunks_mut(BATCH).zip(cloud.points().par_chunks(BATCH * dims)).try_for_each(|(projected, points)| {
            projected.iter_mut().zip(points.chunks_exact(dims)).for_each(|(to, point)| *to = self.along(&directions, point));
            watch.done(projected.len())
        })?;
        Ok(projected)
    }

    /// The projected coordinates of one point, given as d local coordinates; bit-identical to [`Projection::project`].
    ///
    /// # Panics
    /// If the number of coordinates is not d.
    pub fn project_point(&self, point: &[f32]) -> [f32; DIRECTIONS] {
        assert_eq!(point.len(), self.mean.len(), "a point has the dimensions of the projection");
        self.along(&self.directions(), point)
    }

    /// The basis transposed: one row per dimension.
    fn directions(&self) -> Vec<[f64; DIRECTIONS]> {
        let of = |axis: usize| std::array::from_fn(|at| self.basis.get(at).map_or(0.0, |direction| direction[axis]));
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
    let mut draw = Draw::new(seed ^ 0x7072_6f6a_6563_7401);
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

#[cfg(test)]
mod tests;
