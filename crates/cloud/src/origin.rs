//! Rounds f64 columns to f32 without losing the file's precision.
//!
//! UTM coordinates have 7 digits before the point; as f32 they have a resolution of a quarter of a metre. Subtracting the
//! axis's midpoint first preserves the scan's grid. Data that is already precise enough in f32 is left unchanged, so that a
//! float file is searched as it is.

use rayon::iter::ParallelIterator as _;
use rayon::slice::ParallelSlice as _;

use super::values::Real;

/// The range of an axis, and the largest error of rounding its values to f32 without an origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The smallest value; ∞ if there are none.
    pub min: f64,
    /// The largest value; −∞ if there are none.
    pub max: f64,
    moved: f64,
}

/// Number of values that a thread processes at a time: whole rows of `dims`, enough to amortise the overhead.
pub fn chunk_len(dims: usize) -> usize {
    dims * (1 << 16 >> dims.ilog2().min(16))
}

/// The span of each of `dims` axes of row-major finite values.
pub fn spans<T: Real>(values: &[T], dims: usize) -> Vec<Span> {
    let none = || vec![Span { min: f64::INFINITY, max: f64::NEG_INFINITY, moved: 0.0 }; dims];
    let of_chunk = |mut spans: Vec<Span>, chunk: &[T]| {
        for row in chunk.chunks_exact(dims) {
            for (span, value) in spans.iter_mut().zip(row.iter().map(|value| value.get())) {
                span.take_in(Span { min: value, max: value, moved: (f64::from(value as f32) - value).abs() });
            }
        }
        spans
    };
    let both = |mut spans: Vec<Span>, more: Vec<Span>| {
        spans.iter_mut().zip(more).for_each(|(span, more)| span.take_in(more));
        spans
    };
    values.par_chunks(chunk_len(dims)).fold(none, of_chunk).reduce(none, both)
}

impl Span {
    fn take_in(&mut self, other: Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.moved = self.moved.max(other.moved);
    }

    /// The origin to subtract before rounding: the f64 midpoint of the axis if rounding without it would move a value by
    /// more than 2⁻²⁴ of the axis's extent, else 0. An empty axis gives 0.
    pub fn origin(self) -> f64 {
        let Self { min, max, moved } = self;
        if min > max || moved <= (max - min) * 2f64.powi(-24) {
            return 0.0;
        }
        // Halved first: the sum of two large values may overflow.
        min / 2.0 + max / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_axis(values: &[f64]) -> f64 {
        spans(values, 1)[0].origin()
    }

    #[test]
    fn exact_data_is_untouched() {
        assert_eq!(of_axis(&[515368.5, 515401.0]), 0.0);
        assert_eq!(of_axis(&[-176.787412, 166.410291]), 0.0);
        assert_eq!(of_axis(&[]), 0.0);
    }

    #[test]
    fn utm_is_shifted_to_its_midpoint() {
        assert_eq!(of_axis(&[4918340.364, 4918381.12375]), 4918340.364 / 2.0 + 4918381.12375 / 2.0);
    }

    #[test]
    fn a_constant_that_f32_cannot_hold_becomes_zero() {
        let value = 0.1;
        assert_eq!(of_axis(&[value, value]), value);
    }

    #[test]
    fn every_axis_has_its_own_span_however_the_rows_are_parted() {
        let dims = 3;
        let values: Vec<f64> = (0..100_000 * dims).map(|at| ((at * 7919) % 1_000_003) as f64 + [0.0, 0.1, 4e6][at % dims]).collect();
        let spans = spans(&values, dims);
        for (axis, span) in spans.iter().enumerate() {
            let column = || values[axis..].iter().step_by(dims).copied();
            assert_eq!((span.min, span.max), (column().fold(f64::INFINITY, f64::min), column().fold(f64::NEG_INFINITY, f64::max)));
            assert_eq!(span.moved, column().map(|value| (f64::from(value as f32) - value).abs()).fold(0.0, f64::max));
        }
        assert_eq!(super::spans::<f32>(&[], 2).len(), 2);
    }
}
