//! Merge queue: one warp per query keeps the k smallest in levels of m, m, 2·m, 4·m, … keys, with a buffer of
//! candidates in front (Tang et al. 2015; Hanák 2023, §3.6.2).
//!
//! Twin of `cuda/select/merge_queue.cuh`, where the first level is in registers.
//!
//! Invariants: each level descends, and so do the levels' heads, their largest keys. So the first level's
//! head is the largest of all. The queue holds K ≥ k keys. K − k of them are 0 from the start and stay,
//! because no key is below them; so the head is the k-th smallest.

use super::runs::{merge_runs, sort_run};
use super::{Counts, DISTANCES, Selector, TIMED};
use crate::knn::{AllowedValues, Measure, Parameter, Parameters, Shape};
use crate::lockstep::{Key, PADDING, distance_of, key_of};

/// The largest k.
pub const MAX_K: usize = 2048;

/// Groups of 32 distances that a warp reads at a time.
pub const GROUPS: usize = 8;

const WARP: usize = 32;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 5] = [
    Measure::new(
        "candidates",
        ["candidate", "candidates"],
        "Distances below the largest key of the queue when they were read.",
    ),
    Measure::new("flushes", ["flush", "flushes"], "Times the buffer was sorted and emptied into the queue."),
    Measure::new(
        "inserts",
        ["insert", "inserts"],
        "Candidates inserted into the first level because they were still below the largest key.",
    ),
    Measure::new(
        "merges",
        ["merge", "merges"],
        "Merges of a level with the next one, whose head was larger.",
    ),
    Measure::new("deepest", ["level", "levels"], "Deepest level that took part in a merge, counted from 1."),
];

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 4] = [
    DISTANCES,
    TIMED,
    Parameter {
        name: "level",
        help: "Keys of the first level and of the second; each further level has twice as many as the \
               previous.",
        values: AllowedValues::Words(&["8", "16", "32"]),
        default: "32",
    },
    Parameter {
        name: "buffer",
        help: "Candidates that are sorted and then inserted, smallest first; off: each is inserted when it \
               is read.",
        values: AllowedValues::Words(&["32", "64", "128", "256", "off"]),
        default: "128",
    },
];

/// K: the smallest power of two, at least 32, that holds k. No CUDA counterpart: the host passes it to the
/// kernel.
pub fn capacity(k: usize) -> usize {
    k.next_power_of_two().max(WARP)
}

/// Sizes of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Keys of the queue.
    pub capacity: usize,
    /// Keys of its first level.
    pub level: usize,
    /// Keys of the buffer.
    pub buffer: usize,
    /// Whether the buffer is filled and sorted before it is emptied.
    pub sorts: bool,
}

/// The resolved parameters. No CUDA counterpart: the host passes them to the kernel.
pub fn resolved(k: usize, parameters: &Parameters) -> (Sizes, Parameters) {
    let level = parameters.number("level").unwrap_or(32);
    let buffer = parameters.get("buffer").unwrap_or("128");
    // Without a buffer there is room for the candidates of one group.
    let sizes = Sizes {
        capacity: capacity(k),
        level: level as usize,
        buffer: buffer.parse().unwrap_or(WARP),
        sorts: buffer != "off",
    };
    let own = [("level", level.to_string()), ("buffer", buffer.to_owned())];
    (sizes, super::resolved(parameters, own))
}

/// The selector. No CUDA counterpart: an entry point.
pub fn selector(shape: &Shape, parameters: &Parameters) -> Selector {
    let (k, (sizes, parameters)) = (shape.k, resolved(shape.k, parameters));
    Selector::new(parameters, move |row, found| {
        let mut queue = Queue::new(k, sizes);
        stream_groups(&mut queue, row);
        queue.finish();
        found.clear();
        // The K − k smallest keys are the initial zeros.
        found.extend(queue.levels[..k].iter().rev());
        queue.counts
    })
}

struct Queue {
    /// The first level is [0, m), the second [m, 2·m), then [2·m, 4·m), …
    levels: Vec<Key>,
    buffer: Vec<Key>,
    sizes: Sizes,
    counts: Counts,
}

impl Queue {
    fn new(k: usize, sizes: Sizes) -> Self {
        let levels = (0..sizes.capacity).map(|i| if i < k { PADDING } else { 0 }).collect();
        Self { levels, buffer: Vec::with_capacity(sizes.buffer), sizes, counts: Counts::default() }
    }

    /// Candidates must be below this distance: at the same distance as the k-th, a later point ranks after
    /// it.
    fn bound(&self) -> f32 {
        distance_of(self.levels[0])
    }

    /// Adds a group of distances, of points after all previous ones.
    fn add(&mut self, distances: &[f32], first: usize) {
        for (lane, &distance) in distances.iter().enumerate() {
            // Lanes without a slot vote again after a flush, which lowers the bound.
            if distance < self.bound() {
                self.buffer.push(key_of(distance, (first + lane) as u32));
                self.counts[0] += 1;
                if self.buffer.len() == self.sizes.buffer && self.sizes.sorts {
                    self.flush();
                }
            }
        }
        if !self.sizes.sorts {
            self.flush();
        }
    }

    /// Empties the buffer from its end, which has the smallest keys if it is sorted, and otherwise the
    /// latest.
    fn flush(&mut self) {
        let mut start = 0;
        let mut buffer = std::mem::take(&mut self.buffer);
        if self.sizes.sorts {
            self.counts[1] += 1;
            let end = buffer.len().next_power_of_two().max(WARP);
            start = end - buffer.len();
            buffer.resize(end, PADDING);
            sort_run(&mut buffer);
        }
        for &key in buffer[start..].iter().rev() {
            if key < self.levels[0] {
                self.insert(key);
            } else if self.sizes.sorts {
                break;
            }
        }
        buffer.clear();
        self.buffer = buffer;
    }

    /// Replaces the head by a smaller key; the keys larger than that one move up.
    fn insert(&mut self, key: Key) {
        self.counts[2] += 1;
        let m = self.sizes.level;
        let larger = self.levels[..m].partition_point(|&other| other > key);
        self.levels.copy_within(1..larger, 0);
        self.levels[larger - 1] = key;
        self.repair();
    }

    /// Merges the first level with the second, and continues as long as a level's head is below the next
    /// one's.
    fn repair(&mut self) {
        let (mut from, mut to, mut number) = (0, self.sizes.level, 2);
        while to < self.levels.len() && self.levels[from] < self.levels[to] {
            merge_runs(&mut self.levels, from, to);
            self.counts[3] += 1;
            self.counts[4] = self.counts[4].max(number);
            (from, to, number) = (to, 2 * to, number + 1);
        }
    }

    /// After the last point: merges all levels into one descending run.
    fn finish(&mut self) {
        if !self.buffer.is_empty() {
            self.flush();
        }
        let mut size = self.sizes.level;
        while size < self.levels.len() {
            merge_runs(&mut self.levels, 0, size);
            size *= 2;
        }
    }
}

/// Reads a row. Most batches have no candidate, so each batch is first tested as a whole, and only those with
/// candidates are read group by group.
fn stream_groups(queue: &mut Queue, row: &[f32]) {
    const BATCH: usize = GROUPS * WARP;
    for (number, batch) in row.chunks(BATCH).enumerate() {
        let bound = queue.bound();
        if !batch.iter().fold(false, |any, &distance| any | (distance < bound)) {
            continue;
        }
        for (group, distances) in batch.chunks(WARP).enumerate() {
            queue.add(distances, number * BATCH + group * WARP);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(k: usize, level: &str, buffer: &str) -> Sizes {
        resolved(k, &Parameters::from_iter([("level", level), ("buffer", buffer)])).0
    }

    /// Both invariants, and the number of zero keys.
    fn check(queue: &Queue, k: usize) {
        let (mut from, mut to, mut above) = (0, queue.sizes.level, Key::MAX);
        while from < queue.levels.len() {
            let level = &queue.levels[from..to];
            assert!(level.is_sorted_by(|a, b| a >= b), "a level descends");
            assert!(level[0] <= above, "the heads descend");
            (above, from, to) = (level[0], to, 2 * to);
        }
        // The nearest point may also have key 0.
        let zeros = queue.levels.iter().filter(|&&key| key == 0).count();
        assert!((queue.levels.len() - k..=queue.levels.len() - k + 1).contains(&zeros));
    }

    proptest! {
        #[test]
        fn merge_queue_keeps_the_k_smallest(
            row in proptest::collection::vec(0u16..500, 1..900),
            k in 1usize..200,
            level in prop::sample::select(vec!["8", "16", "32"]),
            buffer in prop::sample::select(vec!["32", "64", "off"]),
        ) {
            let row: Vec<f32> = row.into_iter().map(f32::from).collect();
            let mut queue = Queue::new(k, made(k, level, buffer));
            for (group, distances) in row.chunks(WARP).enumerate() {
                queue.add(distances, group * WARP);
                check(&queue, k);
            }
            queue.finish();
            let mut expected: Vec<Key> =
                (0..).zip(&row).map(|(position, &distance)| key_of(distance, position)).collect();
            expected.sort_unstable();
            expected.resize(row.len().max(k), PADDING);
            let found: Vec<Key> = queue.levels[..k].iter().rev().copied().collect();
            prop_assert_eq!(&found, &expected[..k]);
        }
    }

    #[test]
    fn sorting_the_buffer_reduces_inserts() {
        // Distances descend: without a buffer, all are inserted.
        let row: Vec<f32> = (0..4096u16).rev().map(f32::from).collect();
        let counts = |buffer| {
            let mut queue = Queue::new(32, made(32, "16", buffer));
            stream_groups(&mut queue, &row);
            queue.finish();
            queue.counts
        };
        // Of each 128, the 32 smallest are inserted, which replaces the keys of both levels.
        assert_eq!(counts("128")[..3], [4096, 32, 1024]);
        assert_eq!(counts("off")[0], 4096);
        assert!(counts("off")[2] > 2000, "{:?}", counts("off"));
    }
}
