//! The k nearest points of a query, as a max-heap.
//!
//! Twin of `cuda/kdtree/heap.cuh`.

use crate::lockstep::{Key, PADDING, distance_of, index_of};

#[derive(Debug)]
pub struct Heap {
    entries: Vec<Key>,
}

impl Heap {
    pub fn new(k: usize) -> Self {
        Self { entries: vec![PADDING; k] }
    }

    pub fn restart(&mut self) {
        self.entries.fill(PADDING);
    }

    /// The key that a closer point must be below. No CUDA counterpart: the root is a member.
    pub fn root(&self) -> Key {
        self.entries[0]
    }

    /// Sifts a key down from the root of the first `end` entries; returns the number of levels it descends.
    /// Calls `sank` with the index of each entry that the key moves to.
    #[inline(always)]
    fn sift(&mut self, key: Key, end: usize, mut sank: impl FnMut(u32)) -> u32 {
        let entries = &mut self.entries;
        let (mut hole, mut child, mut levels) = (0, 1, 0);
        while child < end {
            if child + 1 < end && entries[child + 1] > entries[child] {
                child += 1;
            }
            if entries[child] <= key {
                break;
            }
            entries[hole] = entries[child];
            hole = child;
            child = 2 * hole + 1;
            levels += 1;
            sank(hole as u32);
        }
        entries[hole] = key;
        levels
    }

    /// Replaces the farthest point by a nearer one; returns the number of levels it descends.
    pub fn replace(&mut self, key: Key) -> u32 {
        self.sift(key, self.entries.len(), |_| {})
    }

    /// Like [`Self::replace`]; calls `sank` with the index of each entry that the key moves to. No CUDA
    /// counterpart: only lessons use it.
    pub fn replace_observed(&mut self, key: Key, sank: impl FnMut(u32)) {
        self.sift(key, self.entries.len(), sank);
    }

    /// Second half of heapsort: leaves the entries in ascending order.
    pub fn sort(&mut self) {
        for end in (2..=self.entries.len()).rev() {
            self.extract(end, |_| {});
        }
    }

    /// One round of [`Self::sort`]: moves the root to the last of the first `end` entries and sifts that
    /// entry's key down among those before it. No CUDA counterpart: part of `sort`.
    pub fn extract(&mut self, end: usize, sank: impl FnMut(u32)) {
        let last = self.entries[end - 1];
        self.entries[end - 1] = self.entries[0];
        self.sift(last, end - 1, sank);
    }

    /// The entries, ascending after [`Self::sort`]. No CUDA counterpart: only lessons use it.
    pub fn entries(&self) -> &[Key] {
        &self.entries
    }

    /// Positions and squared distances, after [`Self::sort`]. No CUDA counterpart: `answer` writes the
    /// entries in CUDA.
    pub fn neighbours(&self) -> impl Iterator<Item = (u32, f32)> {
        self.entries.iter().map(|&key| (index_of(key), distance_of(key)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn heap_keeps_the_k_smallest(keys in proptest::collection::vec(0u64..1000, 0..200), k in 1usize..70) {
            let mut heap = Heap::new(k);
            for &key in &keys {
                if key < heap.root() {
                    heap.replace(key);
                }
            }
            heap.sort();
            let mut expected = keys;
            expected.sort_unstable();
            expected.resize(expected.len().max(k), PADDING);
            prop_assert_eq!(&heap.entries, &expected[..k]);
        }
    }
}
