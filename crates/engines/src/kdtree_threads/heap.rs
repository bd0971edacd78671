//! The k nearest points of a query, as a heap whose root is the farthest.
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

    /// What a closer point must be below. No namesake: it is a member there.
    pub fn root(&self) -> Key {
        self.entries[0]
    }

    /// Lets a key sink from the root of the first `end` entries; returns by how many levels. `sank` is told
    /// each entry that it sinks to.
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

    /// Takes a point that is nearer than the farthest, in its place; returns the levels that it sank by.
    pub fn replace(&mut self, key: Key) -> u32 {
        self.sift(key, self.entries.len(), |_| {})
    }

    /// The same; `sank` is told each entry that the key sinks to. No namesake: a lesson records it.
    pub fn replace_watched(&mut self, key: Key, sank: impl FnMut(u32)) {
        self.sift(key, self.entries.len(), sank);
    }

    /// Heapsort's second half: the entries become ascending.
    pub fn sort(&mut self) {
        for end in (2..=self.entries.len()).rev() {
            self.extract(end, |_| {});
        }
    }

    /// A round of it: the root goes to the last of the first `end` entries, whose key sinks among those
    /// before it. No namesake: `sort` does that itself there.
    pub fn extract(&mut self, end: usize, sank: impl FnMut(u32)) {
        let last = self.entries[end - 1];
        self.entries[end - 1] = self.entries[0];
        self.sift(last, end - 1, sank);
    }

    /// The entries: after [`Self::sort`], ascending. No namesake: a lesson's.
    pub fn entries(&self) -> &[Key] {
        &self.entries
    }

    /// Positions and squared distances, after [`Self::sort`]. No namesake: entries are written one by one
    /// there.
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
        fn keeps_the_smallest(keys in proptest::collection::vec(0u64..1000, 0..200), k in 1usize..70) {
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
