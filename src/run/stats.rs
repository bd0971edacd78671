//! A few numbers out of many samples.

use super::{Phase, Sample};

/// The search time of each timed repeat in milliseconds, all chunks together, in the order of repeats.
pub fn search_ms(samples: &[Sample]) -> Vec<f64> {
    let mut repeats: Vec<f64> = Vec::new();
    for sample in samples.iter().filter(|sample| sample.phase == Phase::Search) {
        let repeat = sample.repeat as usize;
        if repeats.len() <= repeat {
            repeats.resize(repeat + 1, 0.0);
        }
        repeats[repeat] += sample.duration_ms;
    }
    repeats
}

/// The value below which the share `p` (0 to 1) of the values lies, interpolated; NaN of none.
pub fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = p.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// The middle value, or the mean of the two in the middle; NaN of none.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(quantile(&[10.0, 20.0], 0.25), 12.5);
        assert_eq!(quantile(&[10.0, 20.0], 1.0), 20.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_repeat_is_the_sum_of_its_chunks() {
        let sample = |phase, repeat, duration_ms| Sample { phase, repeat, chunk: 0, start_ms: 0.0, duration_ms };
        let samples = [
            sample(Phase::Upload, 0, 100.0),
            sample(Phase::Search, 0, 1.0),
            sample(Phase::Search, 0, 2.0),
            sample(Phase::Search, 1, 4.0),
            sample(Phase::Download, 1, 50.0),
        ];
        assert_eq!(search_ms(&samples), [3.0, 4.0]);
    }
}
