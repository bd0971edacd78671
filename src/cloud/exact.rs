//! Gives a file's f64 values back, from their rounded ones and what the rounding took.
//!
//! Doubles of one sign lie in the order of their bits, so that the distance of two is a whole number of units in the last
//! place. A value and its f32 about an origin are less than 2³¹ of those apart, unless the value is far nearer to 0 than to the
//! origin: with 4 bytes a value, and a list of the rare others, nothing is lost, where a copy would take 8.

use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;

/// What the rounding took from each value.
#[derive(Clone, Debug)]
pub(super) enum Exact {
    /// Units in the last place between what the rounded value stands for and the value.
    Steps {
        /// An i32 for each value, in the memory where the values were: its type is theirs, and means nothing.
        steps: Vec<f64>,
        /// The values that lie further apart, ascending by place.
        far: Vec<(u64, f64)>,
    },
    /// The values themselves, where many lie far apart.
    Whole(Vec<f64>),
}

/// Values that a thread packs in one go.
const PART: usize = 1 << 16;

/// Stands for a value that is in the list.
const FAR: i32 = i32::MIN;

/// Whether so many values are a short list.
pub(super) fn few(far: usize, values: usize) -> bool {
    far < values / 64 + 16
}

impl Exact {
    /// Keeps values, of which `far` are [far](step) from what the rounded value at the same place `stands_for`.
    pub fn new(mut values: Vec<f64>, far: usize, stands_for: impl Fn(usize) -> f64 + Sync) -> Self {
        let count = values.len();
        if !few(far, count) {
            return Self::Whole(values);
        }
        let words: &mut [i32] = bytemuck::cast_slice_mut(&mut values);
        // All parts at once, each into its own first half.
        let pack = |(part, words): (usize, &mut [i32])| {
            let mut far = Vec::new();
            for at in 0..words.len() / 2 {
                // A step takes half the bytes of a value, so that the next value is still there when it is read.
                let value: f64 = bytemuck::cast([words[2 * at], words[2 * at + 1]]);
                let place = part * PART + at;
                words[at] = step(value, stands_for(place)).unwrap_or_else(|| {
                    far.push((place as u64, value));
                    FAR
                });
            }
            far
        };
        let far = words.par_chunks_mut(2 * PART).enumerate().map(pack).collect::<Vec<_>>().concat();
        // Then the halves one behind the other: none is written over before it was moved.
        for start in (PART..count).step_by(PART) {
            words.copy_within(2 * start..2 * start + PART.min(count - start), start);
        }
        values.truncate(count.div_ceil(2));
        values.shrink_to_fit();
        Self::Steps { steps: values, far }
    }

    /// The value at a place, from what the rounded one stands for.
    pub fn value(&self, at: usize, stands_for: f64) -> f64 {
        match self {
            Self::Whole(values) => values[at],
            Self::Steps { steps, far } => match bytemuck::cast_slice::<f64, i32>(steps)[at] {
                FAR => far.binary_search_by_key(&(at as u64), |&(place, _)| place).map_or(f64::NAN, |found| far[found].1),
                step => f64::from_bits(ordered(ordered(stands_for.to_bits() as i64) + i64::from(step)) as u64),
            },
        }
    }
}

/// Units in the last place from what a rounded value stands for to the value; `None` when they are too many.
pub(super) fn step(value: f64, stands_for: f64) -> Option<i32> {
    let [value, stands_for] = [value, stands_for].map(|value| ordered(value.to_bits() as i64));
    value.checked_sub(stands_for).and_then(|step| i32::try_from(step).ok()).filter(|&step| step != FAR)
}

/// The bits of a double as a number that grows with it, and back.
fn ordered(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(values: &[f64], origin: f64) {
        let local: Vec<f32> = values.iter().map(|value| (value - origin) as f32).collect();
        let stands_for = |at: usize| origin + f64::from(local[at]);
        let far = values.iter().enumerate().filter(|&(at, &value)| step(value, stands_for(at)).is_none()).count();
        let exact = Exact::new(values.to_vec(), far, stands_for);
        for (at, value) in values.iter().enumerate() {
            assert_eq!(exact.value(at, stands_for(at)).to_bits(), value.to_bits(), "{value} about {origin}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn values_come_back_to_the_bit(values in prop::collection::vec(prop_oneof![-1e6f64..1e6, -1e-3..1e-3, -1e30..1e30, prop::sample::select(vec![0.0, -0.0, 1e-310, -5e-324])], 1..200), origin in prop_oneof![Just(0.0), -1e7f64..1e7]) {
            check(&values, origin);
        }
    }

    #[test]
    fn parts_are_packed_in_their_order() {
        // Some parts, the last of them short, with far values in each.
        let values: Vec<f64> = (0..3 * PART + 1001).map(|at| if at % 50_000 == 7 { 1e-9 } else { 5e6 + at as f64 * 0.000_25 }).collect();
        check(&values, 5e6);
    }

    #[test]
    fn half_the_memory_is_enough_for_what_people_measure() {
        let values: Vec<f64> = (0..10_001).map(|at| 4_918_340.364 + f64::from(at) * 0.000_25).collect();
        let origin = 4_918_350.0;
        let local: Vec<f32> = values.iter().map(|value| (value - origin) as f32).collect();
        let exact = Exact::new(values, 0, |at| origin + f64::from(local[at]));
        let Exact::Steps { steps, far } = exact else { panic!("a copy was kept") };
        assert_eq!((steps.capacity(), far.len()), (5001, 0));
    }
}
