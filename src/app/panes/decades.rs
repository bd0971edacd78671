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
