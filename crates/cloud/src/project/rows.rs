//! Parallel sums over all rows of a cloud, bit-identical on any number of cores.

use std::sync::atomic::{AtomicU64, Ordering};

use multiversion::multiversion;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use crate::progress::Progress;
use crate::{CloudError, PointCloud};

/// Number of strips, each summed sequentially by one thread. It is fixed, and strips are added in order, because
/// floating-point sums depend on the order.
const STRIPS: usize = 16;
/// Rows processed at a time.
const BLOCK: usize = 256;

/// Reports progress over several passes and checks for cancellation.
pub(super) struct Watch<'a> {
    progress: &'a dyn Progress,
    done: AtomicU64,
    total: u64,
}

impl<'a> Watch<'a> {
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
fn sum(cloud: &PointCloud, count: usize, watch: &Watch<'_>, add: impl Fn(&mut [f64], &[f32], &mut Vec<f64>) + Sync) -> Result<Vec<f64>, CloudError> {
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
    let partial: Vec<Vec<f64>> = (0..strips).into_par_iter().map(of_strip).collect::<Result<_, CloudError>>()?;
    let mut partial = partial.into_iter();
    let mut total = partial.next().unwrap_or_else(|| vec![0.0; count]);
    for sums in partial {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    Ok(total)
}

/// The mean of each dimension, in local coordinates.
pub(super) fn mean(cloud: &PointCloud, watch: &Watch<'_>) -> Result<Vec<f64>, CloudError> {
    let dims = cloud.dims();
    let sums = sum(cloud, dims, watch, |sums, block, _| {
        for row in block.chunks_exact(dims) {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        }
    })?;
    Ok(sums.into_iter().map(|sum| sum / cloud.len() as f64).collect())
}

/// The total variance of all dimensions, times n.
pub(super) fn spread(cloud: &PointCloud, mean: &[f64], watch: &Watch<'_>) -> Result<f64, CloudError> {
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
pub(super) fn spread_along(cloud: &PointCloud, mean: &[f64], basis: &[Vec<f64>], watch: &Watch<'_>) -> Result<Vec<f64>, CloudError> {
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
pub(super) fn covariance(cloud: &PointCloud, mean: &[f64], watch: &Watch<'_>) -> Result<Vec<f64>, CloudError> {
    let dims = mean.len();
    sum(cloud, dims * dims, watch, |sums, block, scratch| {
        centre(block, mean, scratch);
        add_products(sums, scratch, dims);
    })
}

/// The product of n times the covariance matrix and a d × L matrix; both row-major.
pub(super) fn covariance_times<const L: usize>(
    cloud: &PointCloud,
    mean: &[f64],
    matrix: &[[f64; L]],
    watch: &Watch<'_>,
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
    centred.extend(block.chunks_exact(mean.len()).flat_map(|row| row.iter().zip(mean).map(|(&value, mean)| f64::from(value) - mean)));
}

/// Adds the outer product of each row with itself, four rows at a time. Multiplications and additions are not fused, so that
/// every processor gives the same bits.
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
            for ((((sum, a), b), c), d) in sums.iter_mut().zip(right[0]).zip(right[1]).zip(right[2]).zip(right[3]) {
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
