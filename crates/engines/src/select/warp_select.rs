//! Warp select: one warp per query, whose lanes have short queues of candidates. All queues are merged when
//! one lane's queue may have dropped a neighbour (Johnson, Douze and Jégou 2017, §4; Hanák 2023, §3.6.3).
//!
//! Twin of `cuda/select/warp_select.cuh`. In block select, the warps of a block share a query, take batches
//! in turn, and merge at the end.
//!
//! Invariants: a lane's queue descends; its first key, the largest, is not below the k-th of the warp's
//! queue, which ascends; every key seen so far that is among the k smallest is in one of them.

use super::network::{WARP, merge_any, sort_any};
use super::{Counts, DISTANCES, Observer, Selector, TIMED};
use crate::knn::{AllowedValues, Measure, Parameter, Parameters, Shape};
use crate::lockstep::{Key, Lanes, PADDING, distance_of, key_of, registers_for};

/// The largest k.
pub const MAX_K: usize = 1024;

/// Warps per block up to FEW keys, and groups of 32 distances that each reads at a time.
pub const WARPS: usize = 4;
pub const FEW: usize = 128;
pub const GROUPS: usize = 16;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 2] = [
    Measure::new(
        "merges",
        ["merge", "merges"],
        "Merges of the lanes' queues into the warp's: when a lane broke the invariant, and at the end.",
    ),
    Measure::new("inserts", ["insert", "inserts"], "Distances inserted into a lane's queue."),
];

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 3] = [
    DISTANCES,
    TIMED,
    Parameter {
        name: "queue",
        help: "Keys in a lane's queue.",
        values: AllowedValues::Numbers(2..=10),
        default: "2 for k up to 32, 3 up to 128, 4 up to 256, otherwise 8",
    },
];

/// K: the smallest power of two, at least 32, that holds k. No CUDA counterpart: the host chooses the kernel.
pub fn capacity(k: usize) -> usize {
    k.next_power_of_two().max(WARP)
}

/// Warps that share a query in block select. Each has K keys; if K is large, half as many warps need fewer
/// merges.
pub fn block_select_warps(capacity: usize) -> usize {
    if capacity <= FEW { WARPS } else { WARPS / 2 }
}

/// Default number of keys in a lane's queue, the same as in Faiss. No CUDA counterpart: a macro.
pub fn default_queue(k: usize) -> usize {
    match capacity(k) {
        32 => 2,
        64 | 128 => 3,
        256 => 4,
        _ => 8,
    }
}

/// The resolved parameters. No CUDA counterpart: host only.
pub fn resolved(k: usize, parameters: &Parameters) -> (usize, Parameters) {
    let queue = parameters.number("queue").map_or_else(|| default_queue(k), |queue| queue as usize);
    (queue, super::resolved(parameters, [("queue", queue.to_string())]))
}

/// The selector; with several warps, block select. No CUDA counterpart: an entry point.
pub fn selector(shape: &Shape, parameters: &Parameters, of_block: usize) -> Selector {
    let (k, (queue, parameters)) = (shape.k, resolved(shape.k, parameters));
    Selector::new(parameters, move |row, found| {
        let mut warps: Vec<WarpQueues<WARP, ()>> =
            (0..of_block).map(|_| WarpQueues::new(k, queue, ())).collect();
        for (first, warp) in warps.iter_mut().enumerate() {
            stream_groups(warp, row, first, of_block);
            warp.merge();
        }
        let counts = warps.iter().fold(Counts::default(), |mut sum, warp| {
            sum.iter_mut().zip(warp.counts).for_each(|(sum, count)| *sum += count);
            sum
        });
        while warps.len() > 1 {
            let upper = warps.split_off(warps.len() / 2);
            warps.iter_mut().zip(&upper).for_each(|(warp, other)| warp.merge_warp(other));
        }
        found.clear();
        found.extend(warps[0].warp_queue.as_flattened()[..k].iter());
        counts
    })
}

/// Block select. No CUDA counterpart: an entry point.
pub fn block_selector(shape: &Shape, parameters: &Parameters) -> Selector {
    selector(shape, parameters, block_select_warps(capacity(shape.k)))
}

/// A search by a warp of W lanes for a lesson: its observer and its counts. No CUDA counterpart: an entry
/// point in CUDA.
pub fn observe<const W: usize, O: Observer<W>>(
    row: &[f32],
    k: usize,
    queue: usize,
    observer: O,
) -> (O, Counts) {
    let mut warp = WarpQueues::<W, O>::new(k, queue, observer);
    stream_groups(&mut warp, row, 0, 1);
    warp.observer.drained();
    warp.merge();
    warp.observer.finished();
    (warp.observer, warp.counts)
}

/// The queue of a warp, K keys, and those of its lanes.
struct WarpQueues<const W: usize, O> {
    warp_queue: Vec<Lanes<Key, W>>,
    lane_queue: Vec<Lanes<Key, W>>,
    limit: Key,
    k: usize,
    counts: Counts,
    observer: O,
}

impl<const W: usize, O: Observer<W>> WarpQueues<W, O> {
    fn new(k: usize, queue: usize, observer: O) -> Self {
        let (padding, registers) = ([PADDING; W], registers_for(k, W));
        Self {
            warp_queue: vec![padding; registers],
            lane_queue: vec![padding; queue],
            limit: PADDING,
            k,
            counts: Counts::default(),
            observer,
        }
    }

    /// Adds a group: each lane's distance of a point after all previous ones.
    fn add(&mut self, distances: &[f32], first: usize) {
        let mut any = false;
        for (lane, &distance) in distances.iter().enumerate() {
            if distance < distance_of(self.lane_queue[0][lane]) {
                any = true;
                self.counts[1] += 1;
                self.insert(lane, key_of(distance, (first + lane) as u32));
            }
        }
        self.observer.inserted(first, distances, &self.lane_queue);
        // The second invariant is broken if a lane's largest key is below the k-th.
        if any {
            self.observer.checked(&self.lane_queue[0], self.limit);
            let limit = self.limit;
            if self.lane_queue[0].iter().any(|&key| key < limit) {
                self.merge();
            }
        }
    }

    /// Replaces the largest key of a lane's queue by a smaller one.
    fn insert(&mut self, lane: usize, key: Key) {
        self.lane_queue[0][lane] = key;
        for i in 0..self.lane_queue.len() - 1 {
            let (a, b) = (self.lane_queue[i][lane], self.lane_queue[i + 1][lane]);
            (self.lane_queue[i][lane], self.lane_queue[i + 1][lane]) = (a.max(b), a.min(b));
        }
    }

    /// Merges the lanes' queues into the warp's; the lanes get the remaining keys.
    fn merge(&mut self) {
        self.counts[0] += 1;
        sort_any(&mut self.lane_queue);
        self.observer.sorted(&self.lane_queue);
        // The warp keeps the smaller of its element K − 1 − i and the lanes' element i, which is in the
        // mirrored register of the mirrored lane.
        let registers = self.warp_queue.len();
        for (i, of_lanes) in self.lane_queue.iter_mut().take(registers).enumerate() {
            let of_warp = &mut self.warp_queue[registers - 1 - i];
            for lane in 0..W {
                let (a, b) = (of_warp[W - 1 - lane], of_lanes[lane]);
                (of_warp[W - 1 - lane], of_lanes[lane]) = (a.min(b), a.max(b));
            }
        }
        self.observer.exchanged(&self.warp_queue, &self.lane_queue);
        merge_any(&mut self.warp_queue);
        self.observer.merged(&self.warp_queue);
        self.descend();
        self.observer.descended(&self.lane_queue);
        self.set_limit();
        self.observer.limited(self.limit);
    }

    /// Each lane sorts its queue, the largest first.
    fn descend(&mut self) {
        for lane in 0..W {
            let mut keys: Vec<Key> = self.lane_queue.iter().map(|register| register[lane]).collect();
            keys.sort_unstable_by(|a, b| b.cmp(a));
            self.lane_queue.iter_mut().zip(keys).for_each(|(register, key)| register[lane] = key);
        }
    }

    fn set_limit(&mut self) {
        self.limit = self.warp_queue[(self.k - 1) / W][(self.k - 1) % W];
    }

    /// Merges the sorted keys of another warp.
    fn merge_warp(&mut self, other: &Self) {
        let registers = self.warp_queue.len();
        for (r, register) in self.warp_queue.iter_mut().enumerate() {
            for (key, &mirrored) in register.iter_mut().zip(other.warp_queue[registers - 1 - r].iter().rev())
            {
                *key = (*key).min(mirrored);
            }
        }
        merge_any(&mut self.warp_queue);
    }
}

/// Reads every `stride`-th batch of a row, starting with batch `first`.
fn stream_groups<const W: usize, O: Observer<W>>(
    queues: &mut WarpQueues<W, O>,
    row: &[f32],
    first: usize,
    stride: usize,
) {
    let per_batch = GROUPS * W;
    for (number, batch) in row.chunks(per_batch).enumerate().skip(first).step_by(stride) {
        for (group, distances) in batch.chunks(W).enumerate() {
            queues.add(distances, number * per_batch + group * W);
        }
    }
}
