//! Round numbers along an axis.

pub use crate::text::log_ticks;

/// Values that are 1, 2 or 5 times a power of ten apart, and how many decimals they need.
///
/// `min` to `max` is what is shown, `most` how many fit.
pub fn ticks(min: f64, max: f64, most: usize) -> (Vec<f64>, usize) {
    let extent = max - min;
    if !extent.is_finite() || extent <= 0.0 || most == 0 {
        return (Vec::new(), 0);
    }
    let rough = extent / most as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|&step| step >= rough).unwrap_or(10.0 * power);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let (first, last) = ((min / step).ceil(), (max / step).floor());
    // So far from 0 that neighbouring steps are the same number.
    if last - first > 10_000.0 || first + 1.0 == first {
        return (Vec::new(), 0);
    }
    ((first as i64..=last as i64).map(|at| at as f64 * step).collect(), decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_round_and_inside() {
        assert_eq!(ticks(-1.2, 1.2, 5), (vec![-1.0, -0.5, 0.0, 0.5, 1.0], 1));
        assert_eq!(ticks(515_368.0, 515_401.0, 4).0, vec![515_370.0, 515_380.0, 515_390.0, 515_400.0]);
        assert_eq!(ticks(0.0, 0.0, 5).0, Vec::<f64>::new());
        assert!(ticks(f64::NAN, 1.0, 5).0.is_empty());
    }
}
