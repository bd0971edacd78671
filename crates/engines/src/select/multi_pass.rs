//! Selection in several passes over a row (Hanák 2023, §3.7, §4.3): a pass divides the distances among which
//! the k-th is into buckets, counts them, and goes on with the bucket of the k-th; then all below it and as
//! many equal ones as are left are taken.
//!
//! Twin of `cuda/select/multi_pass.cuh`. What divides is a [`Partition`]: digits (`radix_select.rs`) or
//! splitters from a sample (`sample_select.rs`). Distances are compared by their bits, so that a bucket is a
//! range of whole numbers, and equal ones are a range of one.

use super::sort::sort_row;
use super::{Counts, DISTANCES, PassObserver, Selector, TIMED, value_of};
use crate::knn::{Measure, Parameter, Parameters, Shape, Values};
use crate::lockstep::{Key, PADDING, distance_of, key_of};

/// So many distances are sorted; as many are sampled.
pub const FEW: usize = 1024;

/// Above the bits of all distances, the infinite ones included.
const END: u32 = 1 << 31;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 4] = [
    Measure::new("passes", ["pass", "passes"], "Passes that divided distances into buckets."),
    Measure {
        name: "bucket",
        unit: ["distance", "distances"],
        help: "Distances of the last bucket that the k-th was in: they were sorted, all equal, or all taken.",
        theory: None,
        worst_case: Some(|shape| shape.n as f64),
    },
    Measure::new(
        "read",
        ["distance", "distances"],
        "Distances read, by all passes and to take the k nearest, without the sort of these.",
    ),
    Measure::new(
        "written",
        ["distance", "distances"],
        "Distances written to go on with, and the k nearest, without the sort of these.",
    ),
];

/// Whether positions are moved along with distances.
const STAGES: Parameter = Parameter {
    name: "stages",
    help: "Whether positions are moved along with distances (1), or the k-th distance is found first and \
           the row is read once more (2).",
    values: Values::Words(&["1", "2"]),
    default: "1",
};

/// What is timed of the sort at the end.
const SORTED: Parameter = Parameter {
    name: "sorted",
    help: "Whether a GPU's search time includes the sort of the k nearest (1), or not (0); answers are \
           sorted. On a CPU it changes nothing.",
    values: Values::Words(&["1", "0"]),
    default: "1",
};

/// What can be chosen, with how a pass divides. No namesake: of the host.
pub const fn parameters(divides: Parameter) -> [Parameter; 5] {
    [DISTANCES, TIMED, STAGES, SORTED, divides]
}

/// What parameters resolve to. No namesake: of the host.
pub fn resolved(parameters: &Parameters, divides: (&'static str, String)) -> Parameters {
    let own = [STAGES.name, SORTED.name].map(|name| (name, value_of(parameters, name, "1")));
    super::resolved(parameters, own.into_iter().chain([divides]))
}

/// A range of bits, in which the k-th distance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub low: u32,
    /// The first beyond it.
    pub high: u32,
    /// Of the k-th among those in it, from 1.
    pub rank: usize,
    /// Distances in it.
    pub size: usize,
}

impl Range {
    /// Whether another pass is needed: not if all in it are taken or all are equal, or so few that they are
    /// sorted.
    fn is_open(&self, few: usize) -> bool {
        self.rank < self.size && self.high - self.low > 1 && self.size > few
    }

    pub fn holds(&self, bits: u32) -> bool {
        (self.low..self.high).contains(&bits)
    }
}

/// Divides a range of distances into buckets, in one pass.
pub trait Partition: Sized {
    /// Distances that are sampled in a pass.
    const SAMPLED: usize;

    /// Of a source's distances in a range, in pass `pass`, into about 2^bits.
    fn new(source: &[Key], range: &Range, bits: u32, pass: usize) -> Self;

    /// How many there are. No namesake: of each partition there.
    fn buckets(&self) -> usize;

    /// The bucket of a distance in the range. No namesake: of each partition there.
    fn bucket_of(&self, bits: u32) -> usize;

    /// The bounds of a bucket of `range`. No namesake: of each partition there.
    fn range_of(&self, bucket: usize, range: &Range) -> Range;
}

/// What is taken: all whose bits are less, and the first so many of those that equal it.
struct Limit {
    bits: u32,
    equal: usize,
}

/// The bits of a key's distance. No namesake: there a key is a distance and a position apart.
pub fn bits_of(key: Key) -> u32 {
    distance_of(key).to_bits()
}

/// The selector by resolved parameters, and the logarithm of the buckets of a pass. No namesake: an entry
/// point there.
pub fn selector<P: Partition>(shape: &Shape, (bits, parameters): (u32, Parameters)) -> Selector {
    let (k, moves_positions) = (shape.k, parameters.get(STAGES.name) == Some("1"));
    let selector = Selector::new(parameters, move |row, found| {
        found.clear();
        let counts = select_row::<P>(row, k, bits, moves_positions, found);
        sort_row(found);
        found.resize(k, PADDING);
        counts
    });
    // The keys of the row, those that it goes on with, and what was found, which is sorted by way of another
    // place.
    Selector { bytes: [size_of::<Key>() * 3 / 2, size_of::<Key>() * 2], ..selector }
}

/// Counts the distances of a range by the buckets of `partition`.
fn count_buckets(source: &[Key], range: &Range, partition: &impl Partition) -> Vec<usize> {
    let mut counters = vec![0; partition.buckets()];
    for bits in source.iter().map(|&key| bits_of(key)).filter(|&bits| range.holds(bits)) {
        counters[partition.bucket_of(bits)] += 1;
    }
    counters
}

/// The bucket that holds the distance of a rank, with how many are in those before it, and in it.
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
fn sort_few(source: &[Key], range: &Range) -> Limit {
    let mut few: Vec<u32> =
        source.iter().map(|&key| bits_of(key)).filter(|&bits| range.holds(bits)).collect();
    few.sort_unstable();
    let bits = few[range.rank - 1];
    Limit { bits, equal: range.rank - few.partition_point(|&other| other < bits) }
}

/// Appends the k smallest of a row, such that equal distances are in the order of positions.
fn select_row<P: Partition>(
    row: &[f32],
    k: usize,
    bits: u32,
    moves_positions: bool,
    found: &mut Vec<Key>,
) -> Counts {
    select_watched::<P>(row, k, bits, FEW, moves_positions, found, &mut ())
}

/// A selection for a lesson, in two stages, which sorts none to find the k-th distance: its neighbours by
/// position, and what it counts. No namesake: an entry point there.
pub fn watch<P: Partition>(row: &[f32], k: usize, bits: u32, observer: &mut impl PassObserver) -> Counts {
    select_watched::<P>(row, k, bits, 1, false, &mut Vec::new(), observer)
}

/// The same, where `few` are sorted, and an observer is told. No namesake: a constant there.
fn select_watched<P: Partition>(
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
    let mut range = Range { low: 0, high: END, rank: wanted, size: row.len() };
    let (mut pass, mut read, mut written) = (0, 0, 0);
    while range.is_open(few) {
        let source = narrowed.as_deref().unwrap_or(&keys);
        read += source.len() + P::SAMPLED;
        let partition = P::new(source, &range, bits, pass);
        let counters = count_buckets(source, &range, &partition);
        observer.counted(&counters);
        let (bucket, below, size) = find_bucket(&counters, range.rank);
        observer.found(bucket, below, size);
        range = Range { rank: range.rank - below, size, ..partition.range_of(bucket, &range) };
        pass += 1;
        if !range.is_open(few) || range.size > source.len() / 2 {
            continue;
        }
        // It goes on with those in the range.
        read += source.len();
        if moves_positions {
            let before = found.len();
            found.extend(source.iter().filter(|&&key| bits_of(key) < range.low));
            written += found.len() - before;
        }
        let inside: Vec<Key> = source.iter().copied().filter(|&key| range.holds(bits_of(key))).collect();
        written += inside.len();
        narrowed = Some(inside);
        observer.narrowed();
    }
    let source = narrowed.as_deref().unwrap_or(&keys);
    let limit = if range.rank == range.size {
        Limit { bits: range.high, equal: 0 }
    } else if range.high - range.low == 1 {
        Limit { bits: range.low, equal: range.rank }
    } else {
        read += source.len();
        sort_few(source, &range)
    };
    let last = if moves_positions { source } else { &keys };
    let (before, mut equal) = (found.len(), 0);
    found.extend(last.iter().filter(|&&key| {
        let bits = bits_of(key);
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

    /// The answer and the counts, by both partitions and in both numbers of stages, which give the same keys.
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
    fn any_k_of_any_row_is_found() {
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
    fn a_sample_divides_better_than_digits_that_are_alike() {
        // All distances have one exponent: the first digits are the same.
        let row: Vec<f32> = scattered(40_000).iter().map(|distance| 1.0 + distance / 1e3).collect();
        let [digits, _, splitters, in_two_stages] = check(&row, 20_000);
        assert!(digits[0] >= 3 && splitters[0] == 1, "{digits:?}, {splitters:?}");
        // The row is read once to count and once to divide it, or to sort those in the bucket and to take
        // those below.
        assert!(splitters[2] <= in_two_stages[2] && splitters[1] < 1024, "{splitters:?}, {in_two_stages:?}");
    }

    #[test]
    fn what_misleads_samples_is_divided_evenly() {
        // Wherever the sample looks there is a distance larger than all others. The row is left as it is, and
        // the next pass samples nothing in range.
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
    fn passes_end_even_where_distances_double() {
        // From the least to the largest: each range has as many distances as all below it.
        let row: Vec<f32> = (0..20_000u32).map(|at| f32::from_bits(0x7f00_0000 >> (at % 29))).collect();
        for k in [1, 700, 5000, 19_999] {
            let counts = check(&row, k);
            assert!(counts.iter().all(|counts| counts[0] <= 9), "{counts:?}");
        }
    }
}
