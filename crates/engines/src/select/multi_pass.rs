//! Selection in several passes over a row (Hanák 2023, §3.7, §4.3). A pass divides the distances that may
//! include the k-th into buckets, counts them, and continues with the bucket of the k-th. At the end, all
//! smaller distances and the first equal ones are collected.
//!
//! Twin of `cuda/select/multi_pass.cuh`. A [`Partition`] defines the buckets: digits (`radix_select.rs`) or
//! splitters from a sample (`sample_select.rs`). Distances are compared by their bits, so that a bucket is a
//! range of integers, and equal distances are a range of one integer.

use super::sort::sort_row;
use super::{Counts, DISTANCES, PassObserver, Selector, TIMED, value_or};
use crate::knn::{AllowedValues, Measure, Parameter, Parameters, Shape};
use crate::lockstep::{Key, PADDING, distance_of, key_of};

/// Sample size; also the largest bucket that is sorted.
pub const FEW: usize = 1024;

/// Above the bits of all distances, including infinite ones.
const END: u32 = 1 << 31;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 4] = [
    Measure::new("passes", ["pass", "passes"], "Passes that divided distances into buckets."),
    Measure {
        name: "bucket",
        unit: ["distance", "distances"],
        help: "Size of the last bucket with the k-th; its distances were sorted, equal, or all selected.",
        theory: None,
        worst_case: Some(|shape| shape.n as f64),
    },
    Measure::new(
        "read",
        ["distance", "distances"],
        "Distances read by all passes and to collect the k nearest, without the final sort.",
    ),
    Measure::new(
        "written",
        ["distance", "distances"],
        "Distances written for the next pass, and the k nearest, without the final sort.",
    ),
];

const STAGES: Parameter = Parameter {
    name: "stages",
    help: "Whether positions are moved along with distances (1), or the k-th distance is found first and \
           the row is read again (2).",
    values: AllowedValues::Words(&["1", "2"]),
    default: "1",
};

const SORTED: Parameter = Parameter {
    name: "sorted",
    help: "Whether a GPU's search time includes the sort of the k nearest (1) or not (0); answers are \
           always sorted. No effect on a CPU.",
    values: AllowedValues::Words(&["1", "0"]),
    default: "1",
};

/// The parameters, including the selector's own. No CUDA counterpart: host only.
pub const fn parameters(divides: Parameter) -> [Parameter; 5] {
    [DISTANCES, TIMED, STAGES, SORTED, divides]
}

/// The resolved parameters. No CUDA counterpart: host only.
pub fn resolved(parameters: &Parameters, divides: (&'static str, String)) -> Parameters {
    let own = [STAGES.name, SORTED.name].map(|name| (name, value_or(parameters, name, "1")));
    super::resolved(parameters, own.into_iter().chain([divides]))
}

/// A range of bits that contains the k-th distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitRange {
    pub low: u32,
    /// Exclusive.
    pub high: u32,
    /// Rank of the k-th among the distances in the range, from 1.
    pub rank: usize,
    /// Distances in the range.
    pub size: usize,
}

impl BitRange {
    /// Whether another pass is needed: not if all distances in the range are selected or equal, or if there
    /// are few enough to sort.
    fn is_open(&self, few: usize) -> bool {
        self.rank < self.size && self.high - self.low > 1 && self.size > few
    }

    pub fn holds(&self, bits: u32) -> bool {
        (self.low..self.high).contains(&bits)
    }
}

/// Divides a range of distances into buckets, in one pass.
pub trait Partition: Sized {
    /// Distances sampled per pass.
    const SAMPLED: usize;

    /// Divides a source's distances in a range into about 2^bits buckets, in pass `pass`.
    fn new(source: &[Key], range: &BitRange, bits: u32, pass: usize) -> Self;

    /// The number of buckets. No CUDA counterpart: a method of each partition.
    fn buckets(&self) -> usize;

    /// The bucket of a distance in the range. No CUDA counterpart: a method of each partition.
    fn bucket_of(&self, bits: u32) -> usize;

    /// The bounds of a bucket of `range`. No CUDA counterpart: a method of each partition.
    fn range_of(&self, bucket: usize, range: &BitRange) -> BitRange;
}

/// Selects all distances with smaller bits, and the first `equal` ones with equal bits.
struct SelectionThreshold {
    bits: u32,
    equal: usize,
}

/// The bits of a key's distance. No CUDA counterpart: distances and positions are separate.
pub fn distance_bits(key: Key) -> u32 {
    distance_of(key).to_bits()
}

/// The selector, given the logarithm of the number of buckets and the resolved parameters. No CUDA
/// counterpart: an entry point in CUDA.
pub fn selector<P: Partition>(shape: &Shape, (bits, parameters): (u32, Parameters)) -> Selector {
    let (k, moves_positions) = (shape.k, parameters.get(STAGES.name) == Some("1"));
    let selector = Selector::new(parameters, move |row, found| {
        found.clear();
        let counts = select_row::<P>(row, k, bits, moves_positions, found);
        sort_row(found);
        found.resize(k, PADDING);
        counts
    });
    // Per distance: its key, and half a key for those kept for the next pass. Per neighbour: two keys,
    // because the sort needs a second buffer.
    Selector { bytes: [size_of::<Key>() * 3 / 2, size_of::<Key>() * 2], ..selector }
}

/// Counts the distances of a range by the buckets of `partition`.
fn count_buckets(source: &[Key], range: &BitRange, partition: &impl Partition) -> Vec<usize> {
    let mut counters = vec![0; partition.buckets()];
    for bits in source.iter().map(|&key| distance_bits(key)).filter(|&bits| range.holds(bits)) {
        counters[partition.bucket_of(bits)] += 1;
    }
    counters
}

/// The bucket that contains the distance of a rank, the number of distances in earlier buckets, and in this
/// one.
fn find_bucket(counters: &[usize], rank: usize) -> (usize, usize, usize) {
    let mut below = 0;
    for (bucket, &size) in counters.iter().enumerate() {
        if rank - below <= size {
            return (bucket, below, size);
        }
        below += size;
    }
    unreachable!("no rank is above the distances that were counted")
}

/// The k-th distance, by sorting its range.
fn sort_few(source: &[Key], range: &BitRange) -> SelectionThreshold {
    let mut few: Vec<u32> =
        source.iter().map(|&key| distance_bits(key)).filter(|&bits| range.holds(bits)).collect();
    few.sort_unstable();
    let bits = few[range.rank - 1];
    SelectionThreshold { bits, equal: range.rank - few.partition_point(|&other| other < bits) }
}

/// Appends the k smallest of a row; equal distances are in the order of positions.
fn select_row<P: Partition>(
    row: &[f32],
    k: usize,
    bits: u32,
    moves_positions: bool,
    found: &mut Vec<Key>,
) -> Counts {
    select_observed::<P>(row, k, bits, FEW, moves_positions, found, &mut ())
}

/// A selection for a lesson, in two stages, that never sorts to find the k-th distance: its neighbours by
/// position, and its counts. No CUDA counterpart: an entry point.
pub fn observe<P: Partition>(row: &[f32], k: usize, bits: u32, observer: &mut impl PassObserver) -> Counts {
    select_observed::<P>(row, k, bits, 1, false, &mut Vec::new(), observer)
}

/// Selects with an observer, sorting ranges of up to `few` distances. No CUDA counterpart: a template
/// argument in CUDA.
fn select_observed<P: Partition>(
    row: &[f32],
    k: usize,
    bits: u32,
    few: usize,
    moves_positions: bool,
    found: &mut Vec<Key>,
    observer: &mut impl PassObserver,
) -> Counts {
    let wanted = k.min(row.len());
    let keys: Vec<Key> =
        row.iter().zip(0..).map(|(&distance, position)| key_of(distance, position)).collect();
    let mut narrowed: Option<Vec<Key>> = None;
    let mut range = BitRange { low: 0, high: END, rank: wanted, size: row.len() };
    let (mut pass, mut read, mut written) = (0, 0, 0);
    while range.is_open(few) {
        let source = narrowed.as_deref().unwrap_or(&keys);
        read += source.len() + P::SAMPLED;
        let partition = P::new(source, &range, bits, pass);
        let counters = count_buckets(source, &range, &partition);
        observer.counted(&counters);
        let (bucket, below, size) = find_bucket(&counters, range.rank);
        observer.found(bucket, below, size);
        range = BitRange { rank: range.rank - below, size, ..partition.range_of(bucket, &range) };
        pass += 1;
        if !range.is_open(few) || range.size > source.len() / 2 {
            continue;
        }
        // Narrow the source to the distances in the range.
        read += source.len();
        if moves_positions {
            let before = found.len();
            found.extend(source.iter().filter(|&&key| distance_bits(key) < range.low));
            written += found.len() - before;
        }
        let inside: Vec<Key> =
            source.iter().copied().filter(|&key| range.holds(distance_bits(key))).collect();
        written += inside.len();
        narrowed = Some(inside);
        observer.narrowed();
    }
    let source = narrowed.as_deref().unwrap_or(&keys);
    let limit = if range.rank == range.size {
        SelectionThreshold { bits: range.high, equal: 0 }
    } else if range.high - range.low == 1 {
        SelectionThreshold { bits: range.low, equal: range.rank }
    } else {
        read += source.len();
        sort_few(source, &range)
    };
    let last = if moves_positions { source } else { &keys };
    let (before, mut equal) = (found.len(), 0);
    found.extend(last.iter().filter(|&&key| {
        let bits = distance_bits(key);
        let is_equal = bits == limit.bits && equal < limit.equal;
        equal += usize::from(is_equal);
        bits < limit.bits || is_equal
    }));
    observer.taken(found);
    read += last.len();
    written += found.len() - before;
    let [read, written] = [read, written].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    [pass as u32, range.size as u32, read, written, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::radix_select::Digits;
    use crate::select::sample_select::Splitters;

    /// The answer, checked for both partitions and both numbers of stages, and the counts of all four.
    fn check(row: &[f32], k: usize) -> [Counts; 4] {
        let mut expected: Vec<Key> =
            row.iter().zip(0..).map(|(&distance, position)| key_of(distance, position)).collect();
        expected.sort_unstable();
        expected.truncate(k);
        let check = |select: fn(&[f32], usize, u32, bool, &mut Vec<Key>) -> Counts,
                     bits: u32,
                     moves_positions: bool| {
            let mut found = Vec::new();
            let counts = select(row, k, bits, moves_positions, &mut found);
            sort_row(&mut found);
            assert!(found == expected, "n = {}, k = {k}, 2^{bits} buckets, {moves_positions}", row.len());
            counts
        };
        for bits in [4, 11] {
            check(select_row::<Digits>, bits, true);
            check(select_row::<Splitters>, bits.min(8), false);
        }
        [
            check(select_row::<Digits>, 8, true),
            check(select_row::<Digits>, 8, false),
            check(select_row::<Splitters>, 7, true),
            check(select_row::<Splitters>, 7, false),
        ]
    }

    fn scattered(n: u32) -> Vec<f32> {
        (0..n).map(|at| (at.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0).collect()
    }

    #[test]
    fn selection_is_correct_for_every_k_and_distribution() {
        for n in [1, 2, 31, 1000, 1024, 1025, 5000, 40_000] {
            for k in [1, 2, n / 3, n / 2, n - 1, n, n + 5] {
                check(&scattered(n), (k as usize).max(1));
                let few: Vec<f32> = scattered(n).iter().map(|distance| (distance * 5.0).floor()).collect();
                check(&few, (k as usize).max(1));
                check(&vec![2.5; n as usize], (k as usize).max(1));
                check(&(0..n).map(|at| (n - at) as f32).collect::<Vec<_>>(), (k as usize).max(1));
            }
        }
    }

    #[test]
    fn sample_splitters_need_fewer_passes_than_digits() {
        // All distances have the same exponent, and so the same first digits.
        let row: Vec<f32> = scattered(40_000).iter().map(|distance| 1.0 + distance / 1e3).collect();
        let [digits, _, splitters, in_two_stages] = check(&row, 20_000);
        assert!(digits[0] >= 3 && splitters[0] == 1, "{digits:?}, {splitters:?}");
        // The row is read once to count and once more to divide it, or to sort the bucket and to collect the
        // distances below.
        assert!(splitters[2] <= in_two_stages[2] && splitters[1] < 1024, "{splitters:?}, {in_two_stages:?}");
    }

    #[test]
    fn biased_samples_fall_back_to_even_splits() {
        // The largest distances are at the sampled positions. The first pass leaves the row unchanged, and
        // the next one finds no sample in the range.
        let mut row = scattered(1 << 16);
        let stretch = row.len() / FEW;
        for number in 0..FEW {
            row[number * stretch + Splitters::scrambled(number as u32) as usize % stretch] =
                1e6 + number as f32;
        }
        let [_, _, splitters, _] = check(&row, 5000);
        assert!((2..=9).contains(&splitters[0]), "{splitters:?}");
    }

    #[test]
    fn passes_terminate_on_exponential_distances() {
        // The bits of distinct distances double from each to the next.
        let row: Vec<f32> = (0..20_000u32).map(|at| f32::from_bits(0x7f00_0000 >> (at % 29))).collect();
        for k in [1, 700, 5000, 19_999] {
            let counts = check(&row, k);
            assert!(counts.iter().all(|counts| counts[0] <= 9), "{counts:?}");
        }
    }
}
