//! Sort: a radix sort of all distances of a row, from the lowest digit to the highest; the baseline of all
//! selectors (Hanák 2023, §3.4.3).
//!
//! Twin of `cuda/select/sort.cuh`, which also sorts the results of the multi-pass selectors. The keys are the
//! distances alone. The sort is stable, so equal distances stay in the order of positions.

use super::{Counts, DISTANCES, Selector, TIMED, value_or};
use crate::knn::{AllowedValues, Measure, Parameter, Parameters, Shape};
use crate::lockstep::{Key, PADDING, distance_of, key_of};

/// Bits per pass, and passes per distance.
pub const SORT_BITS: u32 = 8;
pub const SORT_PASSES: usize = 4;

const DIGITS: usize = 1 << SORT_BITS;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 3] = [
    Measure::new("passes", ["pass", "passes"], "Passes over the row, one per digit."),
    Measure::new(
        "read",
        ["distance", "distances"],
        "Distances read: once to count the digits of all passes, and once per pass.",
    ),
    Measure::new(
        "written",
        ["key", "keys"],
        "Distances written with their positions in each pass; the last pass writes only the k nearest.",
    ),
];

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 3] = [
    DISTANCES,
    TIMED,
    Parameter {
        name: "by",
        help: "Whether a GPU sorts all rows in one launch, with one block per row, or one row after the \
               other on all multiprocessors; no effect on a CPU.",
        values: AllowedValues::Words(&["segmented", "query"]),
        default: "segmented",
    },
];

/// The resolved parameters. No CUDA counterpart: host only.
pub fn resolved(parameters: &Parameters) -> Parameters {
    super::resolved(parameters, [("by", value_or(parameters, "by", "segmented"))])
}

/// The selector. No CUDA counterpart: an entry point.
pub fn selector(shape: &Shape, parameters: &Parameters) -> Selector {
    let k = shape.k;
    let selector = Selector::new(resolved(parameters), move |row, found| {
        found.clear();
        found.extend(row.iter().zip(0..).map(|(&distance, position)| key_of(distance, position)));
        sort_row(found);
        found.resize(k, PADDING);
        sort_counts(row.len(), k)
    });
    Selector { bytes: [2 * size_of::<Key>(), 0], ..selector }
}

/// The counts, which do not depend on the distances. They saturate at `u32::MAX`.
fn sort_counts(n: usize, k: usize) -> Counts {
    let (n, kept) = (n as u64, k.min(n) as u64);
    let [read, written] = [n * (1 + SORT_PASSES as u64), n * (SORT_PASSES as u64 - 1) + kept]
        .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    [SORT_PASSES as u32, read, written, 0, 0, 0, 0, 0]
}

/// No CUDA counterpart: a function of the tile.
fn digit_of(key: Key, pass: usize) -> usize {
    (distance_of(key).to_bits() >> (pass as u32 * SORT_BITS)) as usize & (DIGITS - 1)
}

/// Counts the digits of all passes: a pass changes the order of keys, not their digits.
fn tally(keys: &[Key]) -> [[usize; DIGITS]; SORT_PASSES] {
    let mut histogram = [[0; DIGITS]; SORT_PASSES];
    for &key in keys {
        for (pass, counts) in histogram.iter_mut().enumerate() {
            counts[digit_of(key, pass)] += 1;
        }
    }
    histogram
}

/// Writes each key after those with lower digits and after earlier ones with the same digit.
fn sort_pass(keys: &[Key], sorted: &mut [Key], counts: &[usize; DIGITS], pass: usize) {
    let mut next = 0;
    let mut places = counts.map(|count| {
        next += count;
        next - count
    });
    for &key in keys {
        let place = &mut places[digit_of(key, pass)];
        sorted[*place] = key;
        *place += 1;
    }
}

/// Sorts keys by distance; equal distances keep their order.
pub fn sort_row(keys: &mut [Key]) {
    let histogram = tally(keys);
    let mut spare = vec![PADDING; keys.len()];
    for (pass, counts) in histogram.iter().enumerate() {
        if pass % 2 == 0 {
            sort_pass(keys, &mut spare, counts, pass);
        } else {
            sort_pass(&spare, keys, counts, pass);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lockstep::index_of;

    #[test]
    fn sort_is_stable() {
        let mut keys: Vec<Key> =
            (0..5000).map(|at| key_of([3.5, 0.0, 1e-30, 3.5, 1e30][at as usize * 7 % 5], at)).collect();
        let mut expected = keys.clone();
        expected.sort_unstable();
        sort_row(&mut keys);
        assert_eq!(keys, expected);
        assert!(
            keys.chunk_by(|a, b| distance_of(*a).to_bits() == distance_of(*b).to_bits())
                .all(|equal| equal.is_sorted_by_key(|key| index_of(*key)))
        );
    }

    #[test]
    fn overflowing_counts_saturate() {
        assert_eq!(sort_counts(1000, 10), [4, 5000, 3010, 0, 0, 0, 0, 0]);
        assert_eq!(sort_counts(10, 1000), [4, 50, 40, 0, 0, 0, 0, 0]);
        assert_eq!(sort_counts(u32::MAX as usize, 1)[1..3], [u32::MAX; 2]);
    }
}
