//! Pictures of clouds of many dimensions: linear projections to at most three.
//!
//! A projection is of the raw coordinates, also where neighbours are ranked by angle, and only of what is shown: neighbours
//! are computed in all dimensions.

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

/// The most directions of a projection: those of a picture in space, of which the first two are one in the plane.
pub const DIRECTIONS: usize = 3;
/// The most dimensions whose covariance matrix is computed as a whole; beyond, its first eigenvectors are iterated for.
const MAX_EXACT: usize = 512;
/// Rows that are projected between two looks at the progress.
const BATCH: usize = 1 << 13;

/// How the directions of a projection were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectionKind {
    /// Principal components: eigenvectors of the covariance matrix of all rows, to the precision of f64.
    Pca,
    /// Principal components by subspace iteration from random directions (Halko, Martinsson & Tropp, SIAM Review 53, 2011),
    /// of all rows, until explained variances stand still to a millionth.
    RandomisedPca,
    /// Orthogonal directions, each as likely as any other: normal vectors, orthonormalised. Distances shrink alike, by
    /// √(directions / d), give or take (Dasgupta & Gupta, Random Structures & Algorithms 22, 2003).
    Random,
}

/// Some orthogonal directions in the space of a cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// How the directions were found.
    pub kind: ProjectionKind,
    /// Up to [`DIRECTIONS`] unit vectors, of d numbers each; fewer where d is less.
    pub basis: Vec<Vec<f64>>,
    /// d local coordinates: the place that comes to lie in the middle, the mean of all rows.
    pub mean: Vec<f64>,
    /// The share of the cloud's variance along each direction, 0 to 1; `None` where all rows are one place.
    pub explained: Option<Vec<f64>>,
}

impl Projection {
    /// Principal components, the one with the most variance first. Each points to where its largest number is positive, so
    /// that pictures do not flip.
    ///
    /// The same cloud and seed give the same bits on any number of cores; only [`ProjectionKind::RandomisedPca`], which is
    /// taken beyond 512 dimensions, looks at the seed.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`].
    pub fn pca(cloud: &PointCloud, seed: u64, progress: &dyn Progress) -> Result<Self, CloudError> {
        if cloud.dims() <= MAX_EXACT { pca::exact(cloud, progress) } else { pca::randomised(cloud, seed, progress) }
    }

    /// Random orthogonal directions, drawn from the seed.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`].
    pub fn random(cloud: &PointCloud, seed: u64, progress: &dyn Progress) -> Result<Self, CloudError> {
        let watch = Watch::new(cloud, 3, progress);
        let directions = orthonormal(&random_directions(cloud.dims(), cloud.dims().min(DIRECTIONS), seed));
        let basis: Vec<Vec<f64>> = directions.column_iter().map(|direction| direction.iter().copied().collect()).collect();
        let mean = rows::mean(cloud, &watch)?;
        let total = spread(cloud, &mean, &watch)?;
        let along = rows::spread_along(cloud, &mean, &basis, &watch)?;
        Ok(Self { kind: ProjectionKind::Random, basis, mean, explained: shares(&along, total) })
    }

    /// Where each row of the cloud lies in the picture, in the units of its axes; 0 in directions that there are not.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`].
    ///
    /// # Panics
    /// If the cloud has other dimensions than the one that the projection was made for.
    pub fn project(&self, cloud: &PointCloud, progress: &dyn Progress) -> Result<Vec<[f32; DIRECTIONS]>, CloudError> {
        let dims = self.mean.len();
        assert_eq!(cloud.dims(), dims, "a projection is for clouds of as many dimensions");
        let watch = Watch::new(cloud, 1, progress);
        let directions = self.directions();
        let mut places = vec![[0.0; DIRECTIONS]; cloud.len()];
        places.par_chunks_mut(BATCH).zip(cloud.points().par_chunks(BATCH * dims)).try_for_each(|(places, points)| {
            places.iter_mut().zip(points.chunks_exact(dims)).for_each(|(place, point)| *place = self.along(&directions, point));
            watch.done(places.len())
        })?;
        Ok(places)
    }

    /// Where one place lies in the picture, from its d local coordinates; the same bits as [`Projection::project`] gives.
    ///
    /// # Panics
    /// If it has not d coordinates.
    pub fn place(&self, point: &[f32]) -> [f32; DIRECTIONS] {
        assert_eq!(point.len(), self.mean.len(), "a place has the dimensions of the projection");
        self.along(&self.directions(), point)
    }

    /// The basis by dimension, as it is walked along.
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
    // Not the stream of a generator with the same seed, of which the cloud may be.
    let mut draw = Draw::new(seed ^ 0x7072_6f6a_6563_7401);
    DMatrix::from_fn(dims, count, |_, _| draw.normal())
}

/// Orthogonal unit vectors that span the columns of a matrix, as many.
fn orthonormal(columns: &DMatrix<f64>) -> DMatrix<f64> {
    columns.clone().qr().q()
}

/// Parts of a whole; `None` where there is nothing to share.
fn shares(parts: &[f64], whole: f64) -> Option<Vec<f64>> {
    (whole > 0.0).then(|| parts.iter().map(|part| (part / whole).clamp(0.0, 1.0)).collect())
}

#[cfg(test)]
mod tests;
