//! Fused bitonic select: distances and selection in one kernel, without a matrix (Hanák 2023, §4.2).
//!
//! Twin of `cuda/select/bits_fused.cuh`. A warp answers eight queries. It computes their distances to a
//! window of points, and has a sorted list of the K nearest and a buffer of K candidates for each. If one
//! buffer is full, all of them are merged.

use std::array;

use super::bitonic::BitonicNetwork;
use super::engine::compute_row;
use super::network::WARP;
use super::{Counts, PointSelector};
use crate::knn::{MeanBound, Measure, Parameters, Shape, theory};
use crate::lockstep::distance::GroupedPoints;
use crate::lockstep::{Key, Lanes, PADDING, distance_of, key_of};

/// The largest k.
pub const MAX_K: usize = 128;

/// Queries per warp, and groups of 32 points per window.
pub const QUERIES: usize = 8;
pub const GROUPS: usize = 8;

/// Lanes per list in a merge.
const LANES: usize = 8;

const POINTS: usize = GROUPS * WARP;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 3] = [
    Measure::new(
        "merges",
        ["merge", "merges"],
        "Merges of the buffer into the K nearest, together with those of the warp's seven other queries.",
    ),
    Measure::new(
        "forced",
        ["forced merge", "forced merges"],
        "Merges of a buffer that was not full, because another one of the warp was, or at the last point.",
    ),
    Measure {
        theory: Some(MeanBound {
            mean: |shape| theory::expected_candidates(shape.n, shape.k, capacity(shape.k)),
            condition: "in random order",
            source: "Hanák 2023, §4.1.6",
        }),
        ..Measure::new(
            "candidates",
            ["candidate", "candidates"],
            "Distances below the bound, added to the buffer.",
        )
    },
];

/// K: the smallest power of two, at least 8, that holds k. A smaller list would be merged more often without
/// saving time. No CUDA counterpart: the host chooses the kernel.
pub fn capacity(k: usize) -> usize {
    k.next_power_of_two().max(LANES)
}

/// The selector.
pub struct BitsFused {
    k: usize,
}

impl BitsFused {
    pub fn new(shape: &Shape) -> Self {
        Self { k: shape.k }
    }
}

impl PointSelector for BitsFused {
    /// No CUDA counterpart: host only.
    fn batch_size(&self) -> usize {
        QUERIES
    }

    /// No CUDA counterpart: host only.
    fn bytes_per_thread(&self, _shape: &Shape) -> usize {
        4 * QUERIES * POINTS
    }

    /// No CUDA counterpart: an entry point.
    fn answer(&self, points: &GroupedPoints<WARP>, queries: &[&[f32]], put: &mut dyn FnMut(&[Key], Counts)) {
        let mut lists = FusedLists::new(self.k, queries.len());
        let mut windows: [Vec<Lanes<f32, WARP>>; QUERIES] =
            array::from_fn(|_| vec![[f32::INFINITY; WARP]; GROUPS]);
        for (window, first) in (0..points.groups()).step_by(GROUPS).enumerate() {
            let groups = first..(first + GROUPS).min(points.groups());
            for (query, distances) in queries.iter().zip(&mut windows) {
                compute_row(points, groups.clone(), query, distances);
                distances.resize(GROUPS, [f32::INFINITY; WARP]);
            }
            lists.add(&windows, window);
        }
        lists.finish();
        for (kept, counts) in lists.kept.iter().zip(lists.counts).take(queries.len()) {
            put(&kept[..self.k], counts);
        }
    }

    /// No CUDA counterpart: host only.
    fn resolved(&self) -> Parameters {
        Parameters::default()
    }
}

/// A lane's points of a window that are waiting for a slot: one bit each, query by query.
type Waiting = [Lanes<u8, WARP>; QUERIES];

/// Position of a lane's item in the window: four neighbours, and four more half a window further.
fn point_of_item(lane: usize, item: usize) -> usize {
    item / 4 * (POINTS / 2) + lane * 4 + item % 4
}

/// Excludes the padding of the last window from the candidates.
fn limit_of(last: Key) -> Key {
    last.min(key_of(f32::INFINITY, 0))
}

struct FusedLists {
    k: usize,
    /// Number of queries; slots beyond them get no candidates.
    queries: usize,
    network: BitonicNetwork,
    kept: [Vec<Key>; QUERIES],
    buffers: [Vec<Key>; QUERIES],
    /// Candidates must be below these keys.
    limits: [Key; QUERIES],
    counts: [Counts; QUERIES],
}

impl FusedLists {
    fn new(k: usize, queries: usize) -> Self {
        let size = capacity(k);
        Self {
            k,
            queries,
            network: BitonicNetwork::new(size, LANES),
            kept: array::from_fn(|_| vec![PADDING; size]),
            buffers: array::from_fn(|_| Vec::with_capacity(size)),
            limits: [limit_of(PADDING); QUERIES],
            counts: [Counts::default(); QUERIES],
        }
    }

    /// Adds a window of points, given its distances to each query.
    fn add(&mut self, windows: &[Vec<Lanes<f32, WARP>>; QUERIES], window: usize) {
        let mut waiting: Waiting = [[0; WARP]; QUERIES];
        let mut near = false;
        for (query, distances) in windows.iter().enumerate().take(self.queries) {
            let (distances, bound) = (distances.as_flattened(), distance_of(self.limits[query]));
            // Most windows have no candidate.
            if distances.iter().fold(false, |any, &distance| any | (distance <= bound)) {
                near = true;
                for (lane, items) in waiting[query].iter_mut().enumerate() {
                    let is_near = |item| u8::from(distances[point_of_item(lane, item)] <= bound);
                    *items = (0..GROUPS).fold(0, |bits, item| bits | is_near(item) << item);
                }
            }
        }
        while near && self.append(&mut waiting, windows, window) {
            self.merge();
        }
    }

    /// Appends the candidates among the waiting points: each round takes the next point of every lane, in the
    /// order of lanes, query by query. Returns whether some are still waiting because a buffer was full.
    fn append(
        &mut self,
        waiting: &mut Waiting,
        windows: &[Vec<Lanes<f32, WARP>>; QUERIES],
        window: usize,
    ) -> bool {
        let size = self.kept[0].len();
        let mut any_full = false;
        for (query, items) in waiting.iter_mut().enumerate() {
            let (distances, limit, buffer) =
                (windows[query].as_flattened(), self.limits[query], &mut self.buffers[query]);
            let mut full = false;
            while !full && items.iter().any(|&items| items != 0) {
                for (lane, items) in items.iter_mut().enumerate().filter(|(_, items)| **items != 0) {
                    let at = point_of_item(lane, items.trailing_zeros() as usize);
                    let key = key_of(distances[at], (window * POINTS + at) as u32);
                    if key < limit {
                        if buffer.len() == size {
                            full = true;
                            continue;
                        }
                        buffer.push(key);
                        self.counts[query][2] += 1;
                    }
                    *items &= *items - 1;
                }
            }
            any_full |= full;
        }
        any_full
    }

    fn merge(&mut self) {
        for query in 0..QUERIES {
            let (kept, buffer) = (&mut self.kept[query], &mut self.buffers[query]);
            self.counts[query][0] += 1;
            self.counts[query][1] += u32::from(buffer.len() < kept.len());
            buffer.resize(kept.len(), PADDING);
            self.network.sort(buffer, LANES);
            for (key, &candidate) in kept.iter_mut().rev().zip(buffer.iter()) {
                *key = candidate.min(*key);
            }
            self.network.merge(kept);
            self.limits[query] = limit_of(kept[self.k - 1]);
            buffer.clear();
        }
    }

    fn finish(&mut self) {
        if self.buffers.iter().any(|buffer| !buffer.is_empty()) {
            self.merge();
        }
    }
}
