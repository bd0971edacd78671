//! Merge path: one block per query sorts a row run by run, by merging shorter runs, and merges each run into
//! the K smallest (Hanák 2023, §3.4.2).
//!
//! Twin of `cuda/select/merge_path.cuh`. Two sorted runs a and b span a matrix, and their merge is a path
//! through it: down for a key of a, right for one of b. Output i is on the cross diagonal i, where a binary
//! search finds how many keys of a precede it. So each thread finds where its outputs begin, and merges them
//! one after another. Merges are cut off after K outputs.

use super::{Counts, DISTANCES, Selector, TIMED};
use crate::knn::{Measure, Parameter, Parameters, Shape};
use crate::lockstep::{Key, PADDING, key_of};

/// The largest k.
pub const MAX_K: usize = 2048;

/// Keys that a thread sorts by itself.
pub const KEYS: usize = 8;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 3] = [
    Measure::new("merges", ["merge", "merges"], "Merges of a sorted run into the K smallest."),
    Measure::new("pairs", ["pair", "pairs"], "Pairs of shorter runs that were merged to sort a run."),
    Measure::new(
        "steps",
        ["search step", "search steps"],
        "Steps of the binary searches on cross diagonals, over all threads.",
    ),
];

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 2] = [DISTANCES, TIMED];

/// K: the smallest power of two, at least 128, that holds k, so that every thread has an output. No CUDA
/// counterpart: the host chooses the kernel.
pub fn capacity(k: usize) -> usize {
    k.next_power_of_two().max(128)
}

/// Threads per block. No CUDA counterpart: a constant.
pub fn threads(capacity: usize) -> usize {
    if capacity <= 1024 { 128 } else { 256 }
}

/// The resolved parameters. No CUDA counterpart: host only.
pub fn resolved(parameters: &Parameters) -> Parameters {
    super::resolved(parameters, [])
}

/// The selector. No CUDA counterpart: an entry point.
pub fn selector(shape: &Shape, parameters: &Parameters) -> Selector {
    let k = shape.k;
    Selector::new(resolved(parameters), move |row, found| {
        let mut block = Block::new(capacity(k));
        let run = block.threads * KEYS;
        for (number, distances) in row.chunks(run).enumerate() {
            block.load_runs(distances, number * run);
            block.merge_runs();
            block.merge_kept();
        }
        found.clear();
        found.extend(&block.kept[..k]);
        block.counts
    })
}

struct Block {
    capacity: usize,
    threads: usize,
    kept: Vec<Key>,
    runs: Vec<Key>,
    merged: Vec<Key>,
    counts: Counts,
}

impl Block {
    fn new(capacity: usize) -> Self {
        let threads = threads(capacity);
        let runs = vec![PADDING; threads * KEYS];
        Self {
            capacity,
            threads,
            kept: vec![PADDING; capacity],
            merged: runs.clone(),
            runs,
            counts: Counts::default(),
        }
    }

    /// Reads KEYS distances per thread, in vectors of four; past the row's end, padding. Sorts them by
    /// odd-even transposition.
    fn load_runs(&mut self, distances: &[f32], first: usize) {
        for (thread, keys) in self.runs.chunks_exact_mut(KEYS).enumerate() {
            for (i, key) in keys.iter_mut().enumerate() {
                let at = (i / 4 * self.threads + thread) * 4 + i % 4;
                *key = distances.get(at).map_or(PADDING, |&distance| key_of(distance, (first + at) as u32));
            }
            Self::transpose(keys);
        }
    }

    /// Sorts a thread's own keys: each round compares every other pair of neighbours, with as many rounds as
    /// keys.
    fn transpose(keys: &mut [Key]) {
        for round in 0..keys.len() {
            for pair in keys[round % 2..].chunks_exact_mut(2) {
                (pair[0], pair[1]) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            }
        }
    }

    /// The number of keys of a among the first `diagonal` of the merge of a and b, which have equal lengths;
    /// and the steps of the search.
    fn search_path(a: &[Key], b: &[Key], diagonal: usize) -> (usize, u32) {
        let (mut low, mut high, mut steps) = (diagonal.saturating_sub(b.len()), diagonal.min(a.len()), 0);
        while low < high {
            let middle = usize::midpoint(low, high);
            steps += 1;
            if a[middle] < b[diagonal - 1 - middle] { low = middle + 1 } else { high = middle }
        }
        (low, steps)
    }

    /// A thread's part of a merge: the outputs from `diagonal` on. Returns the steps of its search.
    fn merge_along(out: &mut [Key], a: &[Key], b: &[Key], diagonal: usize) -> u32 {
        let (mut of_a, steps) = Self::search_path(a, b, diagonal);
        let mut of_b = diagonal - of_a;
        // Padding represents the end of a run: it is never chosen before a real key.
        let key = |keys: &[Key], i: usize| keys.get(i).copied().unwrap_or(PADDING);
        for out in out {
            let (key_a, key_b) = (key(a, of_a), key(b, of_b));
            if key_a < key_b {
                *out = key_a;
                of_a += 1;
            } else {
                *out = key_b;
                of_b += 1;
            }
        }
        steps
    }

    /// Merges the runs of the threads, stored one after another, in pairs until one is left. It has K keys.
    fn merge_runs(&mut self) {
        let (mut count, mut length) = (self.threads, KEYS);
        while count > 1 {
            let out = (2 * length).min(self.capacity);
            let items = count / 2 * out / self.threads;
            for (to, pair) in
                self.merged.chunks_exact_mut(out).zip(self.runs[..count * length].chunks_exact(2 * length))
            {
                let (a, b) = pair.split_at(length);
                for (number, to) in to.chunks_exact_mut(items).enumerate() {
                    self.counts[2] = self.counts[2].wrapping_add(Self::merge_along(to, a, b, number * items));
                }
            }
            std::mem::swap(&mut self.runs, &mut self.merged);
            self.counts[1] += (count / 2) as u32;
            (count, length) = (count / 2, out);
        }
    }

    /// Merges the remaining run into the kept keys.
    fn merge_kept(&mut self) {
        let items = self.capacity / self.threads;
        let run = &self.runs[..self.capacity];
        for (number, to) in self.merged[..self.capacity].chunks_exact_mut(items).enumerate() {
            self.counts[2] =
                self.counts[2].wrapping_add(Self::merge_along(to, &self.kept, run, number * items));
        }
        self.kept.copy_from_slice(&self.merged[..self.capacity]);
        self.counts[0] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that starts on any diagonal continues like a full merge.
    #[test]
    fn merging_can_start_on_any_diagonal() {
        let a = [1, 4, 5, 8, 11, 17, 19, 20];
        let b = [2, 3, 7, 9, 10, 12, 13, 14];
        let mut all = [a, b].concat();
        all.sort_unstable();
        for diagonal in 0..16 {
            let mut out = vec![0; 16 - diagonal];
            Block::merge_along(&mut out, &a, &b, diagonal);
            assert_eq!(out, all[diagonal..], "from {diagonal} on");
        }
        // Each step halves the diagonal's candidates: eight places in at most four steps.
        assert_eq!(Block::search_path(&a, &b, 8), (4, 3));
        assert_eq!(Block::search_path(&a, &b, 0), (0, 0));
    }

    #[test]
    fn transposition_sort_sorts_every_zero_one_sequence() {
        for bits in 0..1u32 << KEYS {
            let mut keys: Vec<Key> = (0..KEYS).map(|at| u64::from(bits >> at & 1)).collect();
            Block::transpose(&mut keys);
            assert!(keys.is_sorted(), "{bits:#b}");
        }
    }

    #[test]
    fn runs_are_merged_in_pairs() {
        // 127 pairs for a run of 1,024, or 255 for one of 2,048, for every K.
        for (k, n, merges, pairs) in
            [(1, 1000, 1, 127), (128, 2049, 3, 381), (1024, 1024, 1, 127), (2048, 2049, 2, 510)]
        {
            let row: Vec<f32> = (0..n as u32).map(|at| (at * 37 % 1009) as f32).collect();
            let mut expected: Vec<Key> =
                row.iter().zip(0..).map(|(&distance, at)| key_of(distance, at)).collect();
            expected.sort_unstable();
            expected.resize(n.max(k), PADDING);
            let mut found = Vec::new();
            let counts =
                selector(&Shape { n, q: 1, d: 1, k }, &Parameters::default()).select(&row, &mut found);
            assert_eq!(
                (&found[..], &counts[..2]),
                (&expected[..k], &[merges, pairs][..]),
                "k = {k}, n = {n}"
            );
        }
    }
}
