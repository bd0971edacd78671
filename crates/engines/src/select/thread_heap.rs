//! Thread heap: one thread per query keeps the k smallest in a heap; lanes that do not insert a distance wait
//! for those that do (Hanák 2023, §3.6.1).
//!
//! Twin of `cuda/select/thread_heap.cuh`. The heap is the one of `kdtree-threads`.

use super::{Counts, DISTANCES, HeapObserver, Selector, TIMED};
use crate::kdtree_threads::heap::Heap;
use crate::knn::{AllowedValues, Measure, Parameter, Parameters, Shape};
use crate::lockstep::{Key, PADDING, distance_of, key_of};

/// The largest k.
pub const MAX_K: usize = 2048;

/// The largest k whose heaps fit into a GPU's shared memory: 16 KiB for the 32 of a warp.
pub const MAX_SHARED_K: usize = 64;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 2] = [
    Measure::new("inserts", ["insert", "inserts"], "Distances that replaced the heap's root."),
    Measure::new(
        "steps",
        ["sift step", "sift steps"],
        "Levels that inserted keys moved down the heap, while the other lanes of the warp waited.",
    ),
];

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 3] = [
    DISTANCES,
    TIMED,
    Parameter {
        name: "heaps",
        help: "Where a GPU stores heaps of k up to 64; larger ones are in device memory. No effect on a CPU.",
        values: AllowedValues::Words(&["shared", "device"]),
        default: "shared for k up to 64, otherwise device",
    },
];

/// Whether heaps are in shared memory, and the resolved parameters. No CUDA counterpart: the host chooses the
/// kernel.
pub fn resolved(k: usize, parameters: &Parameters) -> (bool, Parameters) {
    let in_shared = k <= MAX_SHARED_K && parameters.get("heaps") != Some("device");
    let own = [("heaps", if in_shared { "shared" } else { "device" }.to_owned())];
    (in_shared, super::resolved(parameters, own))
}

/// The selector. No CUDA counterpart: an entry point.
pub fn selector(shape: &Shape, parameters: &Parameters) -> Selector {
    let k = shape.k;
    Selector::new(resolved(k, parameters).1, move |row, found| thread_heap(row, k, found))
}

/// Selects for one of a warp's 32 queries.
fn thread_heap(row: &[f32], k: usize, found: &mut Vec<Key>) -> Counts {
    let (mut heap, mut counts) = (Heap::new(k), Counts::default());
    stream_tiles(&mut heap, &mut counts, row);
    heap.sort();
    found.clear();
    found.extend(heap.neighbours().map(|(index, distance)| key_of(distance, index)));
    counts
}

/// Reads the query's row and inserts distances below the k-th. On the device: tile by tile, of 32 rows.
fn stream_tiles(heap: &mut Heap, counts: &mut Counts, row: &[f32]) {
    let mut bound = distance_of(PADDING);
    for (position, &distance) in row.iter().enumerate() {
        if distance < bound {
            counts[0] += 1;
            counts[1] += heap.replace(key_of(distance, position as u32));
            bound = distance_of(heap.root());
        }
    }
}

/// Runs a warp's queries in lockstep, given one row of distances each, all of equal length; returns each
/// lane's keys, ascending. There are up to 32 lanes. No CUDA counterpart: on the GPU, `thread_heap` does
/// this, and the hardware masks idle lanes.
pub fn observe(rows: &[Vec<f32>], k: usize, observer: &mut impl HeapObserver) -> Vec<Vec<Key>> {
    let mut heaps: Vec<Heap> = rows.iter().map(|_| Heap::new(k)).collect();
    for point in 0..rows.first().map_or(0, Vec::len) {
        let distances: Vec<f32> = rows.iter().map(|row| row[point]).collect();
        observer.read(point as u32, &distances);
        let below =
            |(lane, heap): (usize, &Heap)| u32::from(distances[lane] < distance_of(heap.root())) << lane;
        let lanes = heaps.iter().enumerate().map(below).sum();
        observer.branched(lanes);
        if lanes == 0 {
            continue;
        }
        let mut ways = vec![Vec::new(); heaps.len()];
        for lane in (0..heaps.len()).filter(|lane| lanes >> lane & 1 == 1) {
            heaps[lane]
                .replace_observed(key_of(distances[lane], point as u32), |entry| ways[lane].push(entry));
        }
        in_step(lanes, &ways, k as u32, observer);
        observer.rejoined(lanes);
    }
    for end in (2..=k).rev() {
        observer.extracted(end as u32);
        let mut ways = vec![Vec::new(); heaps.len()];
        for (heap, way) in heaps.iter_mut().zip(&mut ways) {
            heap.extract(end, |entry| way.push(entry));
        }
        in_step(u32::MAX >> (32 - heaps.len()), &ways, end as u32 - 1, observer);
    }
    heaps.iter().map(|heap| heap.entries().to_vec()).collect()
}

/// Reports what the lanes did in the order of a warp: in round r, the lanes whose key has moved down r levels
/// and has children among the first `end` entries. No CUDA counterpart: done by the hardware.
fn in_step(lanes: u32, ways: &[Vec<u32>], end: u32, observer: &mut impl HeapObserver) {
    for round in 0.. {
        let (mut looping, mut to) = (0, Vec::new());
        for (lane, way) in (0..).zip(ways).filter(|(lane, _)| lanes >> lane & 1 == 1) {
            let hole = if round == 0 { Some(0) } else { way.get(round - 1).copied() };
            if hole.is_some_and(|hole| 2 * hole + 1 < end) {
                looping |= 1 << lane;
                to.extend(way.get(round).map(|&entry| (lane, entry)));
            }
        }
        if looping == 0 {
            return;
        }
        observer.sank(looping, &to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_smaller_than_the_root_are_inserted() {
        let mut found = Vec::new();
        let rising: Vec<f32> = (0..100u8).map(f32::from).collect();
        let counts = thread_heap(&rising, 7, &mut found);
        assert_eq!(counts[0], 7, "then all are above");
        assert!(found.iter().map(|&key| distance_of(key)).eq(rising[..7].iter().copied()));
        // Each later key is sifted below all existing keys: to a leaf of a heap of three levels.
        let falling: Vec<f32> = rising.into_iter().rev().collect();
        assert_eq!(thread_heap(&falling, 7, &mut found)[..2], [100, 200]);
        // Among equal keys the first ones stay.
        assert_eq!(thread_heap(&[1.0; 50], 3, &mut found)[0], 3);
        assert_eq!(found, [0, 1, 2].map(|position| key_of(1.0, position)));
    }
}
