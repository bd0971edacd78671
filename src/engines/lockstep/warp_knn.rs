//! The search: batches of points, each scanned by every warp of a block in turn.
//!
//! Twin of `cuda/warp_knn.cuh`. A block's batch lies in the core's cache as the kernel's lies in shared memory.

use multiversion::multiversion;

use super::candidate_buffer::Warp;
use super::distance::{GroupedPoints, squared_distances};
use super::warp::Lanes;

/// Groups that a warp scans before it looks whether any of them has a candidate: most have none, and one look is
/// cheaper than eight.
const WINDOW: usize = 8;

/// Coordinates in a batch: 32 KiB, a share of the core's second-level cache that also leaves the warps theirs.
const BATCH_COORDINATES: usize = 8192;

/// Searches all points for a block of queries, one warp each. `queries` is row-major.
pub fn search_block<const W: usize>(points: &GroupedPoints<W>, queries: &[f32], dims: usize, warps: &mut [Warp<W>]) {
    let batch = (BATCH_COORDINATES / (W * dims)).max(1).next_multiple_of(WINDOW);
    for first in (0..points.groups()).step_by(batch) {
        let groups = first..(first + batch).min(points.groups());
        let coordinates = points.range(groups);
        for (warp, query) in warps.iter_mut().zip(queries.chunks_exact(dims)) {
            scan(warp, coordinates, query, (first * W) as u32);
        }
    }
    for warp in warps {
        warp.finish(points.n() as u32);
    }
}

/// One warp filters one batch, whose first point is `base`.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
fn scan<const W: usize>(warp: &mut Warp<W>, batch: &[Lanes<f32, W>], query: &[f32], base: u32) {
    // Known lengths let the compiler unroll the loop over dimensions.
    match query.len() {
        2 => scan_windows(warp, batch, &[query[0], query[1]], base),
        3 => scan_windows(warp, batch, &[query[0], query[1], query[2]], base),
        _ => scan_windows(warp, batch, query, base),
    }
}

#[inline(always)]
fn scan_windows<const W: usize, Q: AsRef<[f32]> + ?Sized>(warp: &mut Warp<W>, batch: &[Lanes<f32, W>], query: &Q, base: u32) {
    let query = query.as_ref();
    let dims = query.len();
    for (window, groups) in batch.chunks(WINDOW * dims).enumerate() {
        let mut distances = [[f32::INFINITY; W]; WINDOW];
        let mut least = [f32::INFINITY; W];
        for (distances, group) in distances.iter_mut().zip(groups.chunks_exact(dims)) {
            *distances = squared_distances(group, query);
            for lane in 0..W {
                least[lane] = if distances[lane] < least[lane] { distances[lane] } else { least[lane] };
            }
        }
        if least.iter().fold(false, |any, &distance| any | (distance < warp.max_distance)) {
            for (group, distances) in distances.iter().enumerate() {
                warp.filter(distances, base + ((window * WINDOW + group) * W) as u32);
            }
        }
    }
}
