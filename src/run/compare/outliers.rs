//! Outliers among repeats. The rule is fixed, and `docs/compare.md` gives its reasons and its simulated error rates.

use std::ops::RangeInclusive;

use crate::run::stats;

/// The rule, as verdicts name it.
pub const RULE: &str = "more than a factor of 1.25 and 7 MAD from the median";

const FACTOR: f64 = 1.25;

/// In place of [`FACTOR`], where an outlier is compared with the other run's repeats.
const SAME: f64 = 1.05;

/// Median absolute deviations of the logarithms.
const DEVIATIONS: f64 = 7.0;

/// If more than one repeat in five is that far out, they are scatter, and none is excluded.
const SHARE: usize = 5;

const EVERYTHING: RangeInclusive<f64> = f64::NEG_INFINITY..=f64::INFINITY;

/// The range outside of which a value is an outlier; everything, where a value is not positive.
pub fn usual(values: &[f64]) -> RangeInclusive<f64> {
    let usual = within(values, FACTOR);
    let outliers = values.iter().filter(|value| !usual.contains(value)).count();
    if outliers * SHARE > values.len() { EVERYTHING } else { usual }
}

/// The range within this factor of the median, or within [`DEVIATIONS`] where that is wider.
fn within(values: &[f64], factor: f64) -> RangeInclusive<f64> {
    if !values.iter().all(|&value| value > 0.0 && value.is_finite()) {
        return EVERYTHING;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let median = stats::median(&logs);
    let deviations: Vec<f64> = logs.iter().map(|log| (log - median).abs()).collect();
    let limit = factor.ln().max(DEVIATIONS * stats::median(&deviations));
    (median - limit).exp()..=(median + limit).exp()
}

/// Both runs without outliers, in the order of measurement.
pub fn without(times: [&[f64]; 2]) -> [Vec<f64>; 2] {
    times.map(|times| {
        let usual = usual(times);
        times.iter().copied().filter(|ms| usual.contains(ms)).collect()
    })
}

/// As [`without`], but a run keeps all repeats if one of its outliers is usual in the other run: a machine that switches between two speeds
/// shows both, and excluding one of them would turn the switch into a difference.
pub fn kept(times: [&[f64]; 2]) -> [Vec<f64>; 2] {
    let (usual, same) = (times.map(usual), times.map(|times| within(times, SAME)));
    let [a, b] = without(times);
    let shared = |own: usize| times[own].iter().any(|ms| !usual[own].contains(ms) && same[1 - own].contains(ms));
    [if shared(0) { times[0].to_vec() } else { a }, if shared(1) { times[1].to_vec() } else { b }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_far_values_are_outliers_and_many_are_scatter() {
        let kept_of = |values: &[f64]| without([values, &[]])[0].clone();
        assert_eq!(kept_of(&[30.0, 10.0, 10.2, 9.9, 10.1]), [10.0, 10.2, 9.9, 10.1]);
        assert_eq!(kept_of(&[10.0, 10.0, 10.0, 10.0, 3.0]), [10.0; 4], "a deviation of 0 does not exclude everything else");
        for all in [
            [12.4, 10.0, 10.0, 10.0, 10.0].as_slice(),
            &[30.0, 10.0, 30.0, 10.0, 10.0],
            &[30.0, 10.0, 10.0, 10.0],
            &[10.0, 14.0, 18.0, 22.0, 60.0],
            &[30.0, 0.0, 10.0, 10.0, 10.0],
            &[],
        ] {
            assert_eq!(kept_of(all), all);
        }
    }

    #[test]
    fn a_repeat_as_slow_as_the_other_run_is_kept() {
        let (switches, slow) = ([10.0, 10.0, 20.0, 10.0, 10.0], [20.0, 20.0, 21.0, 20.0, 20.0]);
        assert_eq!(kept([&switches, &slow]), [switches.to_vec(), slow.to_vec()]);
        assert_eq!(kept([&switches, &[40.0; 5]])[0], [10.0; 4]);
    }
}
