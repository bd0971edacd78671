//! The bitonic network over a block's registers: T consecutive keys per thread (Hanák 2023, §4.1.1 to 4.1.4).
//!
//! Twin of `cuda/block/bitonic.cuh`. K = T·N keys; thread i holds elements T·i … T·i+T−1. All runs ascend:
//! the first layer of each size compares an element with its mirror image in the run.

use crate::lockstep::Key;

/// The network of N threads with T keys each, both powers of two.
#[derive(Clone, Copy, Debug)]
pub struct BitonicNetwork {
    t: usize,
    n: usize,
}

impl BitonicNetwork {
    /// A network for `keys` keys, with one key per thread as long as there are enough threads. No CUDA
    /// counterpart: template arguments in CUDA.
    pub fn new(keys: usize, threads: usize) -> Self {
        let n = keys.min(threads);
        Self { t: keys / n, n }
    }

    /// Threads that hold `keys` keys: a power of two. No CUDA counterpart: a loop.
    pub fn threads_for(&self, keys: usize) -> usize {
        keys.div_ceil(self.t).next_power_of_two().min(self.n)
    }

    /// A comparator within one thread. No CUDA counterpart: `exchange` of `cuda/lane.cuh`.
    fn exchange_in_thread(keys: &mut [Key], low: usize, high: usize) {
        let (a, b) = (keys[low], keys[high]);
        keys[low] = a.min(b);
        keys[high] = a.max(b);
    }

    /// Strides `stride`, `stride` / 2, … 1, in a thread. No CUDA counterpart: `bitonic_merge` of
    /// `cuda/lane.cuh`.
    fn halve_in_thread(keys: &mut [Key], mut stride: usize) {
        while stride > 0 {
            for low in (0..keys.len()).filter(|low| low & stride == 0) {
                Self::exchange_in_thread(keys, low, low + stride);
            }
            stride /= 2;
        }
    }

    /// The sizes up to T: each thread sorts its own keys.
    fn sort_in_thread(keys: &mut [Key]) {
        let mut size = 2;
        while size <= keys.len() {
            for low in (0..keys.len()).filter(|low| low & (size / 2) == 0) {
                Self::exchange_in_thread(keys, low, low ^ (size - 1));
            }
            Self::halve_in_thread(keys, size / 4);
            size *= 2;
        }
    }

    /// A layer between threads whose numbers differ in the bits of `mask`; the first of two keeps the smaller
    /// keys.
    fn exchange_between_threads(&self, keys: &mut [Key], mask: usize, mirrored: bool) {
        for thread in (0..keys.len() / self.t).filter(|thread| thread < &(thread ^ mask)) {
            for i in 0..self.t {
                let other = (thread ^ mask) * self.t + if mirrored { self.t - 1 - i } else { i };
                Self::exchange_in_thread(keys, thread * self.t + i, other);
            }
        }
    }

    /// Strides T·`stride`, … T, and then those in a thread. Runs of twice the first stride must be bitonic.
    fn halve(&self, keys: &mut [Key], mut stride: usize) {
        while stride > 0 {
            self.exchange_between_threads(keys, stride, false);
            stride /= 2;
        }
        keys.chunks_exact_mut(self.t).for_each(|keys| Self::halve_in_thread(keys, self.t / 2));
    }

    /// Sorts a bitonic sequence.
    pub fn merge(&self, keys: &mut [Key]) {
        self.halve(keys, self.n / 2);
    }

    /// Sorts the keys of the first `threads` threads, a power of two up to N. If the other threads hold
    /// padding, everything is sorted.
    pub fn sort(&self, keys: &mut [Key], threads: usize) {
        let keys = &mut keys[..threads * self.t];
        keys.chunks_exact_mut(self.t).for_each(Self::sort_in_thread);
        let mut size = 2;
        while size <= threads {
            self.exchange_between_threads(keys, size - 1, true);
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
        for threads in [4, 8, 16] {
            let network = BitonicNetwork::new(16, threads);
            for bits in 0..1u32 << 16 {
                let mut keys: Vec<Key> = (0..16).map(|at| u64::from(bits >> at & 1)).collect();
                network.sort(&mut keys, threads);
                assert!(keys.is_sorted(), "{threads} threads: {bits:#b}");
            }
        }
    }

    #[test]
    fn bitonic_sequences_are_merged() {
        for (keys, threads) in [(32, 256), (64, 32), (1024, 256), (2048, 256)] {
            let mut values: Vec<Key> = (0..keys as u64)
                .map(|at| if at < keys as u64 / 3 { 3 * at } else { 2 * (keys as u64 - at) })
                .collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            BitonicNetwork::new(keys, threads).merge(&mut values);
            assert_eq!(values, expected, "{keys} keys of {threads} threads");
        }
    }
}
