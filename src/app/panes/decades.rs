//! Axes by powers of ten: what is drawn on them is the logarithm.

use std::ops::RangeInclusive;

use egui_plot::{GridInput, GridMark};

use crate::text;

/// Powers of ten, with the steps between them fainter.
pub fn decades(input: GridInput) -> Vec<GridMark> {
    let (low, high) = (input.bounds.0.floor() as i32, input.bounds.1.ceil() as i32);
    if high - low > 40 {
        return Vec::new();
    }
    (low..=high)
        .flat_map(|decade| (1..10).map(move |digit| (decade, digit)))
        .map(|(decade, digit)| GridMark { value: f64::from(decade) + f64::from(digit).log10(), step_size: if digit == 1 { 1.0 } else { 0.1 } })
        .collect()
}

/// The number whose logarithm a mark is.
pub fn power(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    let narrow = range.end() - range.start() < 1.5;
    let whole = (mark.value - mark.value.round()).abs() < 1e-6;
    // At the very ends of the axis a number would be cut.
    let extent = range.end() - range.start();
    if mark.value > range.end() - 0.04 * extent || mark.value < *range.start() {
        return String::new();
    }
    let value = 10f64.powf(mark.value);
    if whole {
        text::digits(value, 1)
    } else if narrow {
        text::digits(value, 3)
    } else {
        String::new()
    }
}

/// As [`power`], of numbers so large that they are written with a prefix: `10 T`.
pub fn prefixed(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    if power(mark, range).is_empty() {
        return String::new();
    }
    let value = 10f64.powf(mark.value);
    let (unit, scale) = text::unit_of(value);
    format!("{} {unit}", text::digits(value / scale, 1)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_powers_of_ten() {
        let mark = |value| GridMark { value, step_size: 1.0 };
        let wide = 0.0..=20.0;
        assert_eq!([0.0, 3.0, 13.0].map(|value| prefixed(mark(value), &wide)), ["1", "1 k", "10 T"]);
        assert_eq!([power(mark(3.0), &wide), power(mark(3.3), &wide)], ["1,000", ""]);
        assert_eq!(power(mark(3.301_03), &(3.0..=4.0)), "2,000");
    }
}
