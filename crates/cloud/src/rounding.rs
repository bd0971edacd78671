//! Rounds f64 columns to f32 without losing the file's precision.
//!
//! UTM coordinates have 7 digits before the point; as f32 they have a resolution of a quarter of a metre.
//! Subtracting the axis's midpoint first preserves the scan's grid. Data that is already precise enough in
//! f32 is not shifted, so a float file is searched unchanged.

use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::{ParallelSlice as _, ParallelSliceMut as _};

use crate::table::Real;

/// The range of an axis, and the largest error of rounding its values to f32 without an origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisRange {
    /// The smallest value; ∞ if there are none.
    pub min: f64,
    /// The largest value; −∞ if there are none.
    pub max: f64,
    max_error: f64,
}

/// Number of values that a thread processes at a time: whole rows of `dims`, enough to amortise the overhead.
pub fn chunk_len(dims: usize) -> usize {
    dims * (1 << 16 >> dims.ilog2().min(16))
}

/// The span of each of `dims` axes of row-major finite values.
pub fn spans<T: Real>(values: &[T], dims: usize) -> Vec<AxisRange> {
    let none = || vec![AxisRange::none(); dims];
    let of_chunk = |mut spans: Vec<AxisRange>, chunk: &[T]| {
        for row in chunk.chunks_exact(dims) {
            for (span, value) in spans.iter_mut().zip(row.iter().map(|value| value.to_f64())) {
                let max_error = (f64::from(value as f32) - value).abs();
                span.include(AxisRange { min: value, max: value, max_error });
            }
        }
        spans
    };
    let both = |mut spans: Vec<AxisRange>, more: Vec<AxisRange>| {
        spans.iter_mut().zip(more).for_each(|(span, more)| span.include(more));
        spans
    };
    values.par_chunks(chunk_len(dims)).fold(none, of_chunk).reduce(none, both)
}

impl AxisRange {
    /// The range of no values.
    pub fn none() -> Self {
        Self { min: f64::INFINITY, max: f64::NEG_INFINITY, max_error: 0.0 }
    }

    pub fn include(&mut self, other: Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.max_error = self.max_error.max(other.max_error);
    }

    /// The origin to subtract before rounding: the f64 midpoint of the axis if rounding without it would move
    /// a value by more than 2⁻²⁴ of the axis's extent, else 0. An empty axis gives 0.
    pub fn origin(self) -> f64 {
        let Self { min, max, max_error } = self;
        if min > max || max_error <= (max - min) * 2f64.powi(-24) {
            return 0.0;
        }
        // Halved first: the sum of two large values may overflow.
        min / 2.0 + max / 2.0
    }
}

// Restores a file's f64 values from their f32 roundings and the rounding errors.
//
// The bit patterns of doubles of one sign are ordered like their values, so two doubles differ by a whole
// number of units in the last place (ulp). A value and its f32 relative to an origin differ by less than 2³¹
// ulp, unless the value is far closer to 0 than to the origin. So 4 bytes per value and a list of the rare
// exceptions are lossless; a copy would need 8 bytes per value.

/// The rounding error of each value.
#[derive(Clone, Debug)]
pub enum RoundingErrors {
    /// Ulps from the rounded value (origin + local) to the original.
    Steps {
        /// One i32 per value, stored in the allocation of the original values: the f64 element type has no
        /// meaning.
        steps: Vec<f64>,
        /// Index and value of the exceptions, whose difference does not fit an i32, ascending.
        far: Vec<(u64, f64)>,
    },
    /// The original values, if too many do not fit.
    Whole(Vec<f64>),
}

/// Number of values that a thread packs at a time.
const CHUNK: usize = 1 << 16;

/// Marks a value that is stored in the list of exceptions.
const EXCEPTION: i32 = i32::MIN;

/// Whether the list of exceptions is short enough to be worth it.
fn is_short(far: usize, values: usize) -> bool {
    far < values / 64 + 16
}

impl RoundingErrors {
    /// Packs the original values. `rounded` is the rounded value at an index; for `far` of them,
    /// [`ulps_between`] is `None`.
    pub fn new(mut values: Vec<f64>, far: usize, rounded: impl Fn(usize) -> f64 + Sync) -> Self {
        let count = values.len();
        if !is_short(far, count) {
            return Self::Whole(values);
        }
        let words: &mut [i32] = bytemuck::cast_slice_mut(&mut values);
        // All chunks in parallel, each into its own first half.
        let pack = |(chunk, words): (usize, &mut [i32])| {
            let mut far = Vec::new();
            for at in 0..words.len() / 2 {
                // A step is half as long as a value, so no value is overwritten before it is read.
                let value: f64 = bytemuck::cast([words[2 * at], words[2 * at + 1]]);
                let index = chunk * CHUNK + at;
                words[at] = ulps_between(value, rounded(index)).unwrap_or_else(|| {
                    far.push((index as u64, value));
                    EXCEPTION
                });
            }
            far
        };
        let far = words.par_chunks_mut(2 * CHUNK).enumerate().map(pack).collect::<Vec<_>>().concat();
        // Then move the halves together, front to back, so that none is overwritten before it is moved.
        for start in (CHUNK..count).step_by(CHUNK) {
            words.copy_within(2 * start..2 * start + CHUNK.min(count - start), start);
        }
        values.truncate(count.div_ceil(2));
        values.shrink_to_fit();
        Self::Steps { steps: values, far }
    }

    /// The original value at an index, given the rounded one.
    pub fn value(&self, at: usize, rounded: f64) -> f64 {
        match self {
            Self::Whole(values) => values[at],
            Self::Steps { steps, far } => match bytemuck::cast_slice::<f64, i32>(steps)[at] {
                EXCEPTION => far
                    .binary_search_by_key(&(at as u64), |&(index, _)| index)
                    .map_or(f64::NAN, |found| far[found].1),
                step => f64::from_bits(ordered(ordered(rounded.to_bits() as i64) + i64::from(step)) as u64),
            },
        }
    }
}

/// Ulps from the rounded value to the original; `None` if they do not fit an i32.
pub fn ulps_between(value: f64, rounded: f64) -> Option<i32> {
    let [value, rounded] = [value, rounded].map(|value| ordered(value.to_bits() as i64));
    value.checked_sub(rounded).and_then(|step| i32::try_from(step).ok()).filter(|&step| step != EXCEPTION)
}

/// Maps the bits of a double to an integer of the same order; its own inverse.
fn ordered(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_axis(values: &[f64]) -> f64 {
        spans(values, 1)[0].origin()
    }

    #[test]
    fn exact_data_is_not_shifted() {
        assert_eq!(of_axis(&[515368.5, 515401.0]), 0.0);
        assert_eq!(of_axis(&[-176.787412, 166.410291]), 0.0);
        assert_eq!(of_axis(&[]), 0.0);
    }

    #[test]
    fn utm_coordinates_are_shifted_to_their_midpoint() {
        assert_eq!(of_axis(&[4918340.364, 4918381.12375]), 4918340.364 / 2.0 + 4918381.12375 / 2.0);
    }

    #[test]
    fn inexact_constants_are_shifted_to_zero() {
        let value = 0.1;
        assert_eq!(of_axis(&[value, value]), value);
    }

    #[test]
    fn spans_are_independent_of_row_chunks() {
        let dims = 3;
        let values: Vec<f64> = (0..100_000 * dims)
            .map(|at| ((at * 7919) % 1_000_003) as f64 + [0.0, 0.1, 4e6][at % dims])
            .collect();
        let spans = spans(&values, dims);
        for (axis, span) in spans.iter().enumerate() {
            let column = || values[axis..].iter().step_by(dims).copied();
            assert_eq!(
                (span.min, span.max),
                (column().fold(f64::INFINITY, f64::min), column().fold(f64::NEG_INFINITY, f64::max))
            );
            assert_eq!(
                span.max_error,
                column().map(|value| (f64::from(value as f32) - value).abs()).fold(0.0, f64::max)
            );
        }
        assert_eq!(super::spans::<f32>(&[], 2).len(), 2);
    }

    fn check(values: &[f64], origin: f64) {
        let local: Vec<f32> = values.iter().map(|value| (value - origin) as f32).collect();
        let rounded = |at: usize| origin + f64::from(local[at]);
        let far =
            values.iter().enumerate().filter(|&(at, &v)| ulps_between(v, rounded(at)).is_none()).count();
        let exact = RoundingErrors::new(values.to_vec(), far, rounded);
        for (at, value) in values.iter().enumerate() {
            assert_eq!(exact.value(at, rounded(at)).to_bits(), value.to_bits(), "{value} about {origin}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn values_round_trip_exactly(
            values in prop::collection::vec(
                prop_oneof![
                    -1e6f64..1e6,
                    -1e-3..1e-3,
                    -1e30..1e30,
                    prop::sample::select(vec![0.0, -0.0, 1e-310, -5e-324])
                ],
                1..200,
            ),
            origin in prop_oneof![Just(0.0), -1e7f64..1e7],
        ) {
            check(&values, origin);
        }
    }

    #[test]
    fn chunks_are_packed_in_order() {
        // Several chunks, the last one short, each with far values.
        let values: Vec<f64> = (0..3 * CHUNK + 1001)
            .map(|at| if at % 50_000 == 7 { 1e-9 } else { 5e6 + at as f64 * 0.000_25 })
            .collect();
        check(&values, 5e6);
    }

    #[test]
    fn regularly_spaced_values_need_half_the_memory() {
        let values: Vec<f64> = (0..10_001).map(|at| 4_918_340.364 + f64::from(at) * 0.000_25).collect();
        let origin = 4_918_350.0;
        let local: Vec<f32> = values.iter().map(|value| (value - origin) as f32).collect();
        let exact = RoundingErrors::new(values, 0, |at| origin + f64::from(local[at]));
        let RoundingErrors::Steps { steps, far } = exact else { panic!("a copy was kept") };
        assert_eq!((steps.capacity(), far.len()), (5001, 0));
    }
}
