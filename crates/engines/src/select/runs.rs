//! Descending runs of keys in shared memory, which a warp sorts and merges in place.
//!
//! Twin of `cuda/warp/runs.cuh`. A bitonic network in which all runs descend. The first layer of each size
//! compares a key with its mirror image. Padding at the larger end of a run would never move, so comparators
//! with it are left out. On the device, layers of strides below 32 work in registers.

use crate::lockstep::Key;

/// A comparator between two slots: the larger key goes to the lower one.
#[inline(always)]
fn exchange(keys: &mut [Key], low: usize, high: usize) {
    let (a, b) = (keys[low], keys[high]);
    keys[low] = a.max(b);
    keys[high] = a.min(b);
}

/// The strides `stride`, `stride` / 2, … 1 within the slots from `first` on; the length is a power of two,
/// `first` a quarter of it or 0.
fn halve_runs(keys: &mut [Key], first: usize, mut stride: usize) {
    while stride > 0 {
        // Runs of twice the stride are either entirely below `first` or entirely after it.
        for run in (first.next_multiple_of(2 * stride)..keys.len()).step_by(2 * stride) {
            for low in run..run + stride {
                exchange(keys, low, low + stride);
            }
        }
        stride /= 2;
    }
}

/// Merges the runs [first, middle) and [middle, 2 middle), where `middle` is a power of two, and `first` its
/// half or 0.
pub fn merge_runs(keys: &mut [Key], first: usize, middle: usize) {
    for low in first..middle {
        exchange(keys, low, 2 * middle - 1 - low);
    }
    halve_runs(&mut keys[..2 * middle], first, middle / 2);
}

/// Sorts keys; their number is a power of two.
pub fn sort_run(keys: &mut [Key]) {
    let mut run = 2;
    while run <= keys.len() {
        for start in (0..keys.len()).step_by(run) {
            for low in start..start + run / 2 {
                exchange(keys, low, 2 * start + run - 1 - low);
            }
        }
        halve_runs(keys, 0, run / 4);
        run *= 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_are_sorted(power in 0u32..9, seed in proptest::collection::vec(0u64..300, 256)) {
            let mut keys = seed[..1 << power].to_vec();
            let mut expected = keys.clone();
            sort_run(&mut keys);
            expected.sort_unstable_by(|a, b| b.cmp(a));
            prop_assert_eq!(keys, expected);
        }

        /// A run is merged with one of the same or twice the length, and the keys before and after them stay.
        #[test]
        fn adjacent_runs_are_merged(
            power in 0u32..7,
            is_half in any::<bool>(),
            seed in proptest::collection::vec(0u64..300, 256),
        ) {
            let middle = 1usize << power;
            let first = if is_half { middle / 2 } else { 0 };
            let descend = |keys: &mut [Key]| keys.sort_unstable_by(|a, b| b.cmp(a));
            let mut keys = seed;
            descend(&mut keys[first..middle]);
            descend(&mut keys[middle..2 * middle]);
            let mut expected = keys.clone();
            merge_runs(&mut keys, first, middle);
            descend(&mut expected[first..2 * middle]);
            prop_assert_eq!(keys, expected);
        }
    }
}
