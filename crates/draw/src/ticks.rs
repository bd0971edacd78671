//! Round numbers along an axis.

/// The smallest number of at least `least` that is 1, 2 or 5 times a power of ten.
pub fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].map(|factor| factor * power).into_iter().find(|&step| step >= least).unwrap_or(10.0 * power)
}

/// At most `most` ticks from `min` to `max`, 1, 2 or 5 times a power of ten apart, and the decimals that their labels need.
pub fn linear_ticks(min: f64, max: f64, most: usize) -> (Vec<f64>, usize) {
    let extent = max - min;
    if !extent.is_finite() || extent <= 0.0 || most == 0 {
        return (Vec::new(), 0);
    }
    let step = round_step(extent / most as f64);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let (first, last) = ((min / step).ceil(), (max / step).floor());
    // So far from 0 that neighbouring steps are the same number.
    if last - first > 10_000.0 || first + 1.0 == first {
        return (Vec::new(), 0);
    }
    ((first as i64..=last as i64).map(|at| at as f64 * step).collect(), decimals)
}

/// At most `most` ticks between two positive ends of a logarithmic axis: 1, 2 and 5 times powers of ten, or coarser.
pub fn log_ticks(min: f64, max: f64, most: usize) -> Vec<f64> {
    if !(min > 0.0 && max > min && max.is_finite()) || most == 0 {
        return Vec::new();
    }
    let (first, last) = (min.log10().floor() as i32, max.log10().ceil() as i32);
    let of = |factors: &[f64], every: usize| -> Vec<f64> {
        let decades = (first..=last).step_by(every);
        decades.flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade))).filter(|value| (min..=max).contains(value)).collect()
    };
    let fine = [of(&[1.0, 2.0, 5.0], 1), of(&[1.0, 3.0], 1), of(&[1.0], 1), of(&[1.0], 2), of(&[1.0], 5)];
    fine.into_iter().find(|ticks| ticks.len() <= most).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_round_and_inside() {
        assert_eq!(linear_ticks(-1.2, 1.2, 5), (vec![-1.0, -0.5, 0.0, 0.5, 1.0], 1));
        assert_eq!(linear_ticks(515_368.0, 515_401.0, 4).0, vec![515_370.0, 515_380.0, 515_390.0, 515_400.0]);
        assert_eq!(linear_ticks(0.0, 0.0, 5).0, Vec::<f64>::new());
        assert!(linear_ticks(f64::NAN, 1.0, 5).0.is_empty());
    }

    #[test]
    fn ticks_of_a_log_scale_are_round() {
        let near = |ticks: Vec<f64>, expected: &[f64]| {
            assert_eq!(ticks.len(), expected.len(), "{ticks:?}");
            assert!(ticks.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-12), "{ticks:?}");
        };
        near(log_ticks(0.9, 60.0, 6), &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        near(log_ticks(0.9, 60.0, 3), &[1.0, 10.0]);
        near(log_ticks(1e-6, 1e6, 8), &[1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6]);
        near(log_ticks(-1.0, 10.0, 5), &[]);
    }
}
