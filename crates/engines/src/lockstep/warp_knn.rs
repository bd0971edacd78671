//! The search: a block stages batches of points, and each of its warps scans every batch.
//!
//! Twin of `cuda/direct/warp_knn.cuh`. A batch stays in the core's cache; the kernel keeps it in shared
//! memory.

use std::borrow::Cow;
use std::ops::Range;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::candidate_buffer::Warp;
use super::distance::{Coordinates, squared_distances};
use super::lanes::Lanes;
use super::observer::Observer;

/// Groups that a warp scans before it checks whether any of them has a candidate. Most have none, and one
/// check is cheaper than eight.
const WINDOW: usize = 8;

/// Coordinates per batch: 32 KiB, most of the core's L1 cache.
const BATCH_COORDINATES: usize = 8192;

/// In more than three dimensions, queries whose distances to a window are accumulated together. A coordinate
/// is then loaded once for all of them, and their sums are independent.
const TILE: usize = 4;

/// Groups per batch. No CUDA counterpart: the policy contains it.
pub fn groups_in_batch(width: usize, dims: usize) -> usize {
    (BATCH_COORDINATES / (width * dims)).max(1)
}

/// Searches `n` points for a block of queries, one warp each, in batches of `batch` groups. `stage` returns
/// the coordinates of a range of groups; `queries` is row-major.
pub fn warp_knn<'a, const W: usize, O: Observer<W>>(
    n: usize,
    stage: impl Fn(Range<usize>) -> Cow<'a, [Coordinates<W>]>,
    queries: &[f32],
    dims: usize,
    batch: usize,
    warps: &mut [Warp<W, O>],
) {
    // Pad the last tile with dummy queries.
    let mut rows = queries.to_vec();
    rows.resize(warps.len().next_multiple_of(TILE) * dims, 0.0);
    let groups = n.div_ceil(W);
    for first in (0..groups).step_by(batch) {
        let last = (first + batch).min(groups);
        let groups = &*stage(first..last);
        let base = (first * W) as u32;
        for warp in &mut *warps {
            warp.observer.batch(base, (last * W).min(n) as u32);
        }
        match dims {
            2 | 3 => scan_rows(warps, groups, queries, dims, base),
            _ => scan_tiles(warps, groups, &rows, dims, base),
        }
    }
    for warp in warps {
        warp.finish(n as u32);
    }
}

/// Two or three dimensions: the warps filter a batch one after another. `base` is the batch's first point.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
fn scan_rows<const W: usize, O: Observer<W>>(
    warps: &mut [Warp<W, O>],
    batch: &[Coordinates<W>],
    queries: &[f32],
    dims: usize,
    base: u32,
) {
    // Known lengths let the compiler unroll the loop over dimensions.
    for (warp, query) in warps.iter_mut().zip(queries.chunks_exact(dims)) {
        match *query {
            [x, y] => scan_windows(warp, batch, &[x, y], base),
            [x, y, z] => scan_windows(warp, batch, &[x, y, z], base),
            _ => unreachable!("{dims} dimensions are tiled"),
        }
    }
}

/// One warp filters a batch window by window. No CUDA counterpart: part of `scan_rows`, which runs in one
/// warp.
#[inline(always)]
fn scan_windows<const W: usize, const D: usize, O: Observer<W>>(
    warp: &mut Warp<W, O>,
    batch: &[Coordinates<W>],
    query: &[f32; D],
    base: u32,
) {
    for (window, groups) in batch.chunks(WINDOW * D).enumerate() {
        let mut distances = [[f32::INFINITY; W]; WINDOW];
        let mut least = [f32::INFINITY; W];
        for (distances, group) in distances.iter_mut().zip(groups.chunks_exact(D)) {
            [*distances] = squared_distances(group, [query]);
            least = min(least, distances);
        }
        filter_window(warp, &distances, least, base + (window * WINDOW * W) as u32);
    }
}

/// Any dimensions: the warps filter a batch, whose first point is `base`, four at a time. `queries` has one
/// row per warp, padded to whole tiles.
fn scan_tiles<const W: usize, O: Observer<W>>(
    warps: &mut [Warp<W, O>],
    batch: &[Coordinates<W>],
    queries: &[f32],
    dims: usize,
    base: u32,
) {
    let mut distances = [[[f32::INFINITY; W]; WINDOW]; TILE];
    for (warps, queries) in warps.chunks_mut(TILE).zip(queries.chunks_exact(TILE * dims)) {
        for (window, groups) in batch.chunks(WINDOW * dims).enumerate() {
            tile_distances(groups, queries, dims, &mut distances);
            let base = base + (window * WINDOW * W) as u32;
            filter_tile(warps, &distances, groups.len() / dims, base);
        }
    }
}

/// The distances of a window's groups to a tile's queries. A separate function, so that its sums stay in
/// registers. No CUDA counterpart: part of `scan_tiles`.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
fn tile_distances<const W: usize>(
    groups: &[Coordinates<W>],
    queries: &[f32],
    dims: usize,
    distances: &mut [[Lanes<f32, W>; WINDOW]; TILE],
) {
    // Sums of 32 lanes take two of the 32 AVX-512 registers, or four of the 16 of AVX2.
    const SHARE: usize = if target_cfg_f!(target_feature = "avx512f") { TILE } else { TILE / 2 };
    for (queries, distances) in queries.chunks_exact(SHARE * dims).zip(distances.as_chunks_mut::<SHARE>().0) {
        let queries: [&[f32]; SHARE] = std::array::from_fn(|i| &queries[i * dims..][..dims]);
        for (group, coordinates) in groups.chunks_exact(dims).enumerate() {
            let found = squared_distances(coordinates, queries);
            for (distances, found) in distances.iter_mut().zip(found) {
                distances[group] = found;
            }
        }
    }
}

/// The warps of a tile filter a window. No CUDA counterpart: a tile is one warp's queries.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
fn filter_tile<const W: usize, O: Observer<W>>(
    warps: &mut [Warp<W, O>],
    distances: &[[Lanes<f32, W>; WINDOW]; TILE],
    groups: usize,
    base: u32,
) {
    for (warp, distances) in warps.iter_mut().zip(distances) {
        let distances = &distances[..groups];
        filter_window(warp, distances, distances.iter().fold([f32::INFINITY; W], min), base);
    }
}

/// A warp filters the groups of a window. `base` is its first point, `least` the smallest distance in each
/// lane.
#[inline(always)]
fn filter_window<const W: usize, O: Observer<W>>(
    warp: &mut Warp<W, O>,
    distances: &[Lanes<f32, W>],
    least: Lanes<f32, W>,
    base: u32,
) {
    if O::OBSERVES || least.iter().fold(false, |any, &distance| any | (distance < warp.max_distance)) {
        for (group, distances) in distances.iter().enumerate() {
            warp.filter(distances, base + (group * W) as u32);
        }
    }
}

/// Lane-wise minimum. No CUDA counterpart: an instruction.
#[inline(always)]
fn min<const W: usize>(mut least: Lanes<f32, W>, distances: &Lanes<f32, W>) -> Lanes<f32, W> {
    for lane in 0..W {
        least[lane] = if distances[lane] < least[lane] { distances[lane] } else { least[lane] };
    }
    least
}
