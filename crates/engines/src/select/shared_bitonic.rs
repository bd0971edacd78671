//! The bitonic network over keys in shared memory (Hanák 2023, §4.1.1), on which `bitonic.rs` improves.
//!
//! Twin of `cuda/block/shared_bitonic.cuh`. With shuffles, strides below 32 run between the lanes of a warp,
//! 32 keys at a time. All runs ascend.

use crate::lockstep::Key;

const WARP: usize = 32;

/// The network, for a power of two of keys; with shuffles, at least 32.
#[derive(Clone, Copy, Debug)]
pub struct SharedBitonicNetwork {
    pub shuffles: bool,
}

impl SharedBitonicNetwork {
    /// A layer: the numbers of a comparator's keys differ in the bits of `mask`, the highest of which is
    /// `stride`.
    fn exchange_in_memory(keys: &mut [Key], stride: usize, mask: usize) {
        for i in 0..keys.len() / 2 {
            // i with a 0 inserted at the bit of the stride.
            let low = (i & !(stride - 1)) << 1 | (i & (stride - 1));
            let (a, b) = (keys[low], keys[low ^ mask]);
            keys[low] = a.min(b);
            keys[low ^ mask] = a.max(b);
        }
    }

    /// A layer between lanes.
    fn exchange_lanes(keys: &mut [Key], stride: usize, mask: usize) {
        Self::exchange_in_memory(keys, stride, mask);
    }

    /// Strides `stride`, `stride` / 2, … 1, below 32, between lanes.
    fn halve_lanes(keys: &mut [Key], mut stride: usize) {
        while stride > 0 {
            Self::exchange_lanes(keys, stride, stride);
            stride /= 2;
        }
    }

    /// Strides `stride`, `stride` / 2, … 1. Runs of twice the first stride must be bitonic.
    fn halve(self, keys: &mut [Key], mut stride: usize) {
        let last = if self.shuffles { WARP } else { 1 };
        while stride >= last {
            Self::exchange_in_memory(keys, stride, stride);
            stride /= 2;
        }
        if self.shuffles {
            keys.chunks_exact_mut(WARP).for_each(|keys| Self::halve_lanes(keys, stride));
        }
    }

    /// The sizes up to 32, between lanes.
    fn sort_lanes(keys: &mut [Key]) {
        for keys in keys.chunks_exact_mut(WARP) {
            let mut size = 2;
            while size <= WARP {
                Self::exchange_lanes(keys, size / 2, size - 1);
                Self::halve_lanes(keys, size / 4);
                size *= 2;
            }
        }
    }

    /// Sorts a bitonic sequence.
    pub fn merge(self, keys: &mut [Key]) {
        self.halve(keys, keys.len() / 2);
    }

    /// Sorts the keys.
    pub fn sort(self, keys: &mut [Key]) {
        let mut size = 2;
        if self.shuffles {
            Self::sort_lanes(keys);
            size = 2 * WARP;
        }
        while size <= keys.len() {
            Self::exchange_in_memory(keys, size / 2, size - 1);
            self.halve(keys, size / 4);
            size *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 0-1 principle: a network that sorts every sequence of zeros and ones sorts everything.
    #[test]
    fn all_16_key_zero_one_sequences_are_sorted() {
        for bits in 0..1u32 << 16 {
            let mut keys: Vec<Key> = (0..16).map(|at| u64::from(bits >> at & 1)).collect();
            SharedBitonicNetwork { shuffles: false }.sort(&mut keys);
            assert!(keys.is_sorted(), "{bits:#b}");
        }
    }

    #[test]
    fn shuffles_do_not_change_the_result() {
        for size in [32, 128, 2048] {
            let mut keys: Vec<Key> =
                (0..size as u64).map(|at| at.wrapping_mul(6_364_136_223_846_793_005) >> 50).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            SharedBitonicNetwork { shuffles: true }.sort(&mut keys);
            assert_eq!(keys, expected, "{size} keys");
            // First ascending, then descending.
            keys[size / 3..].reverse();
            SharedBitonicNetwork { shuffles: true }.merge(&mut keys);
            assert_eq!(keys, expected, "{size} bitonic keys");
        }
    }
}
