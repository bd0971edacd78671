//! Rounding f64 columns to f32 without losing what the file says.
//!
//! UTM coordinates have 7 digits before the point; as f32 they keep a quarter of a metre. Subtracting the axis's
//! midpoint first keeps the scan's grid. Data that is already exact enough in f32 is left alone, so that a float file
//! is searched as it is.

/// The origin to subtract from an axis before rounding: its f64 midpoint when rounding as it stands would move a value
/// by more than 2⁻²⁴ of the axis's extent, else 0.
///
/// `values` are the axis's finite values; none gives 0.
pub fn of_axis(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (mut min, mut max, mut moved) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
    for value in values {
        min = min.min(value);
        max = max.max(value);
        moved = moved.max((f64::from(value as f32) - value).abs());
    }
    if min > max || moved <= (max - min) * 2f64.powi(-24) {
        return 0.0;
    }
    // Halves first: the sum of two large values may overflow.
    min / 2.0 + max / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_data_is_untouched() {
        assert_eq!(of_axis([515368.5, 515401.0].into_iter()), 0.0);
        assert_eq!(of_axis([-176.787412, 166.410291].into_iter()), 0.0);
        assert_eq!(of_axis([].into_iter()), 0.0);
    }

    #[test]
    fn utm_is_shifted_to_its_midpoint() {
        assert_eq!(of_axis([4918340.364, 4918381.12375].into_iter()), 4918340.364 / 2.0 + 4918381.12375 / 2.0);
    }

    #[test]
    fn a_constant_that_f32_cannot_hold_becomes_zero() {
        let value = 0.1;
        assert_eq!(of_axis([value, value].into_iter()), value);
    }
}
