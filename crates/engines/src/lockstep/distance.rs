//! Points in groups of W lanes, and distances from a whole group at once.
//!
//! Twin of `cuda/distance.cuh`. The rule on every device:
//! `acc = 0; for j in 0..d { t = p[j] - q[j]; acc = fma(t, t, acc) }` in f32.

use super::lanes::Lanes;

/// One coordinate of a group's points. Aligned to a cache line, so that no vector load spans two.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Coordinates<const W: usize>(pub Lanes<f32, W>);

/// The points in the order of a warp's loads: by group, then by dimension, W lanes together. The last group
/// is padded with points at infinity, which never pass the filter.
#[derive(Clone, Debug)]
pub struct GroupedPoints<const W: usize> {
    coordinates: Vec<Coordinates<W>>,
    dims: usize,
    n: usize,
}

impl<const W: usize> GroupedPoints<W> {
    /// Groups n × d row-major coordinates.
    pub fn new(points: &[f32], dims: usize) -> Self {
        Self { coordinates: group(points, dims), dims, n: points.len() / dims }
    }

    /// The number of points. No CUDA counterpart: a parameter of the kernel.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The number of dimensions. No CUDA counterpart: a parameter of the kernel.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The number of groups; the last may be partial. No CUDA counterpart: the kernel counts batches.
    pub fn groups(&self) -> usize {
        self.coordinates.len() / self.dims
    }

    /// The coordinates of a contiguous range of groups. No CUDA counterpart: the kernel stages them in shared
    /// memory.
    #[inline(always)]
    pub fn range(&self, groups: std::ops::Range<usize>) -> &[Coordinates<W>] {
        &self.coordinates[groups.start * self.dims..groups.end * self.dims]
    }
}

/// Groups n × d row-major coordinates. No CUDA counterpart: the host groups the points for kernels.
pub fn group<const W: usize>(points: &[f32], dims: usize) -> Vec<Coordinates<W>> {
    let mut coordinates = vec![Coordinates([f32::INFINITY; W]); (points.len() / dims).div_ceil(W) * dims];
    for (group, rows) in points.chunks(W * dims).enumerate() {
        for (lane, row) in rows.chunks_exact(dims).enumerate() {
            for (axis, &value) in row.iter().enumerate() {
                coordinates[group * dims + axis].0[lane] = value;
            }
        }
    }
    coordinates
}

/// Squared L2 distances from each lane's point of a group to each of Q queries, which share the loads of the
/// points. `group` has one row of lanes per dimension. No CUDA counterpart: `squared_distance` handles one
/// lane's point in CUDA.
#[inline(always)]
pub fn squared_distances<const W: usize, const Q: usize>(
    group: &[Coordinates<W>],
    queries: [&[f32]; Q],
) -> [Lanes<f32, W>; Q] {
    let queries = queries.map(|query| &query[..group.len()]);
    let mut acc = [[0.0f32; W]; Q];
    for (axis, coordinates) in group.iter().enumerate() {
        for query in 0..Q {
            acc[query] = add_squared_difference(&coordinates.0, queries[query][axis], acc[query]);
        }
    }
    acc
}

/// Adds one dimension. Passed by value, so that the compiler keeps the lanes in vector registers.
#[inline(always)]
pub fn add_squared_difference<const W: usize>(
    p: &Lanes<f32, W>,
    q: f32,
    mut acc: Lanes<f32, W>,
) -> Lanes<f32, W> {
    for lane in 0..W {
        let t = p[lane] - q;
        acc[lane] = t.mul_add(t, acc[lane]);
    }
    acc
}
