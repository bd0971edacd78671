//! The tree: points in Morton order, in leaves of 32, under an implicit 32-ary hierarchy of boxes.
//!
//! Twin of `cuda/index/tree.cuh`. Leaf l holds points 32·l … 32·l + 31 of the order. Box i of height 0 bounds
//! leaf i. Box i of height h + 1 bounds boxes 32·i … 32·i + 31 of height h, which are stored together as
//! group i of that height. The highest group holds the root's children.

use rayon::prelude::*;

use super::boxes::{Boxes, WARP};
use super::morton::{MortonGrid, SortPrecision, is_crowded};
use crate::knn::Problem;
use crate::lockstep::Lanes;
use crate::lockstep::distance::Coordinates;

/// Heights of the largest tree: 2³² points in 2²⁷ leaves.
pub const HEIGHTS: usize = 6;

/// Leaves, or groups of boxes, per work item.
const LEAVES_PER_TASK: usize = 256;

/// The tree over a problem's points.
#[derive(Clone, Debug)]
pub struct Tree {
    pub frame: MortonGrid,
    dims: usize,
    n: usize,
    /// Leaf by leaf, axis by axis; the last leaf is padded with points at infinity.
    coordinates: Vec<Coordinates<WARP>>,
    /// Leaf by leaf: positions in processing order; `u32::MAX` for padding.
    positions: Vec<Lanes<u32, WARP>>,
    /// From the leaves up; the last height has at most 32 boxes.
    heights: Vec<Boxes>,
}

impl Tree {
    /// Builds the tree. No CUDA counterpart: the host launches a kernel for each step.
    pub fn new(problem: &Problem) -> Self {
        let (dims, points) = (problem.dims(), problem.points());
        let frame = MortonGrid::new(problem.extents());
        let mut order = sorted(&frame, points, dims, SortPrecision::Coarse);
        let starts = || order.iter().step_by(WARP).map(|&(code, _)| code);
        let crowded = starts().zip(starts().skip(1)).filter(|(code, next)| code == next).count();
        if frame.bit_ranges(SortPrecision::Coarse).1 > 0 && is_crowded(crowded, order.len()) {
            order = sorted(&frame, points, dims, SortPrecision::Fine);
        }
        let leaves = order.len().div_ceil(WARP);
        let mut coordinates = vec![Coordinates([f32::INFINITY; WARP]); leaves * dims];
        let mut positions = vec![[u32::MAX; WARP]; leaves];
        let fill = |((coordinates, positions), order): (Target<'_>, &[(u64, u32)])| {
            for (lane, &(_, position)) in order.iter().enumerate() {
                positions[lane] = position;
                for (axis, row) in coordinates.iter_mut().enumerate() {
                    row.0[lane] = points[position as usize * dims + axis];
                }
            }
        };
        coordinates
            .par_chunks_mut(dims)
            .zip(&mut positions)
            .zip(order.par_chunks(WARP))
            .with_min_len(LEAVES_PER_TASK)
            .for_each(fill);

        let mut heights = vec![Boxes::empty(leaves, dims)];
        for (leaf, order) in order.chunks(WARP).enumerate() {
            heights[0].set_first_code(leaf, order[0].0);
        }
        let (corners, smallest) = heights[0].groups_mut();
        let bound = |((corners, smallest), (rows, positions)): (Target<'_>, Leaves<'_>)| {
            for (lane, (rows, positions)) in rows.chunks_exact(dims).zip(positions).enumerate() {
                bound_points(rows, positions, lane, corners, &mut smallest[lane]);
            }
        };
        let children = coordinates.par_chunks(WARP * dims).zip(positions.par_chunks(WARP));
        corners.par_chunks_mut(2 * dims).zip(smallest).zip(children).for_each(bound);
        while let Some(below) = heights.last().filter(|boxes| boxes.count() > WARP) {
            let mut above = Boxes::empty(below.count().div_ceil(WARP), dims);
            let (corners, smallest) = above.groups_mut();
            let codes: Vec<u64> =
                (0..below.count().div_ceil(WARP)).map(|child| below.first_codes(child)[0]).collect();
            for child in 0..codes.len() {
                let (group, lane) = (child / WARP, child % WARP);
                bound_boxes(
                    below,
                    child,
                    lane,
                    &mut corners[group * 2 * dims..(group + 1) * 2 * dims],
                    &mut smallest[group][lane],
                );
            }
            codes.into_iter().enumerate().for_each(|(number, code)| above.set_first_code(number, code));
            heights.push(above);
        }
        Self { frame, dims, n: order.len(), coordinates, positions, heights }
    }

    /// Peak bytes of building. No CUDA counterpart: the host reserves them.
    pub fn bytes(n: usize, dims: usize) -> u64 {
        let (sorting, leaves) = (24 * n as u64, (n.next_multiple_of(WARP) * (dims + 1) * 4) as u64);
        // All other levels together have 1/31 of the boxes of the lowest level.
        sorting + leaves + Boxes::bytes(n.div_ceil(WARP), dims) * 32 / 31 + 4096
    }

    /// The greatest height. No CUDA counterpart: a parameter of the kernel.
    pub fn top(&self) -> usize {
        self.heights.len() - 1
    }

    /// The boxes of a height. No CUDA counterpart: a parameter of the kernel.
    #[inline(always)]
    pub fn boxes(&self, height: usize) -> &Boxes {
        &self.heights[height]
    }

    /// A leaf's coordinates, axis by axis, and positions. No CUDA counterpart: pointers.
    #[inline(always)]
    pub fn leaf(&self, leaf: usize) -> (&[Coordinates<WARP>], &Lanes<u32, WARP>) {
        (&self.coordinates[leaf * self.dims..(leaf + 1) * self.dims], &self.positions[leaf])
    }

    /// The number of real points in a leaf. No CUDA counterpart: a subtraction.
    #[inline(always)]
    pub fn in_leaf(&self, leaf: usize) -> u32 {
        (self.n - leaf * WARP).min(WARP) as u32
    }
}

/// The output of one step: a leaf's coordinates and positions, or a group's corners and smallest positions.
type Target<'a> = (&'a mut [Coordinates<WARP>], &'a mut Lanes<u32, WARP>);

/// The leaves under a group of boxes: coordinates and positions.
type Leaves<'a> = (&'a [Coordinates<WARP>], &'a [Lanes<u32, WARP>]);

/// The rows of n × d values with their codes, without the bits that are not sorted by; ordered by code, then
/// by row. No CUDA counterpart: a stable radix sort on the device.
pub fn sorted(frame: &MortonGrid, values: &[f32], dims: usize, depth: SortPrecision) -> Vec<(u64, u32)> {
    let (_, below) = frame.bit_ranges(depth);
    let rows = values.par_chunks_exact(dims).with_min_len(LEAVES_PER_TASK);
    let mut codes: Vec<(u64, u32)> =
        rows.map(|row| frame.code(row) >> below << below).zip(0..(values.len() / dims) as u32).collect();
    codes.par_sort_unstable();
    codes
}

/// Bounds a leaf: column `lane` of its group's corners becomes the box around its points.
fn bound_points(
    rows: &[Coordinates<WARP>],
    positions: &Lanes<u32, WARP>,
    lane: usize,
    corners: &mut [Coordinates<WARP>],
    smallest: &mut u32,
) {
    // A leaf's points come first; the padding is at infinity.
    let points = positions.iter().filter(|&&position| position != u32::MAX).count();
    for (axis, row) in rows.iter().enumerate() {
        let values = &row.0[..points];
        corners[axis].0[lane] = values.iter().copied().fold(f32::INFINITY, f32::min);
        corners[rows.len() + axis].0[lane] = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    }
    *smallest = positions.iter().copied().fold(u32::MAX, u32::min);
}

fn bound_boxes(
    below: &Boxes,
    group: usize,
    lane: usize,
    corners: &mut [Coordinates<WARP>],
    smallest: &mut u32,
) {
    let (low, high, positions) = below.group(group);
    for (axis, (low, high)) in low.iter().zip(high).enumerate() {
        corners[axis].0[lane] = low.0.iter().copied().fold(f32::INFINITY, f32::min);
        let axis = corners.len() / 2 + axis;
        corners[axis].0[lane] = high.0.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    }
    *smallest = positions.iter().copied().fold(u32::MAX, u32::min);
}
