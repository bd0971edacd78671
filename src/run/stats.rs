//! Summary statistics of samples.

use rayon::slice::ParallelSliceMut as _;
use serde::Serialize;

use super::{Phase, Sample};

/// Bytes of a distance in the matrix of all distances.
pub const DISTANCE_BYTES: f64 = 4.0;

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

/// Mean milliseconds of a phase, over the repeats that have it; `None` if none does.
pub fn mean_ms(samples: &[Sample], phase: Phase) -> Option<f64> {
    let of_phase = || samples.iter().filter(|sample| sample.phase == phase);
    let mut repeats: Vec<u32> = of_phase().map(|sample| sample.repeat).collect();
    repeats.sort_unstable();
    repeats.dedup();
    (!repeats.is_empty())
        .then(|| of_phase().map(|sample| sample.duration_ms).sum::<f64>() / repeats.len() as f64)
}

/// The interpolated `p`-quantile (0 to 1); NaN without values.
pub fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_of_sorted(&sorted, p)
}

fn quantile_of_sorted(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = p.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// The median; NaN without values.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The mean and the sample standard deviation, which is 0 for a single value; `None` without values.
pub fn mean_and_deviation(values: &[f64]) -> Option<[f64; 2]> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (!values.is_empty()).then(|| [mean, (squares / (count - 1.0).max(1.0)).sqrt()])
}

/// The distribution of values: mean, extremes and quantiles, as in [`quantile`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SummaryStats {
    pub mean: f64,
    pub min: f64,
    pub p05: f64,
    pub p25: f64,
    pub median: f64,
    pub p75: f64,
    pub p95: f64,
    pub max: f64,
}

impl SummaryStats {
    /// `None` without values.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        if sorted.is_empty() {
            return None;
        }
        sorted.par_sort_unstable_by(f64::total_cmp);
        let at = |p| quantile_of_sorted(&sorted, p);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        Some(Self {
            mean,
            min: at(0.0),
            p05: at(0.05),
            p25: at(0.25),
            median: at(0.5),
            p75: at(0.75),
            p95: at(0.95),
            max: at(1.0),
        })
    }
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
        let spread = SummaryStats::new([4.0, 1.0, 2.0, 3.0, 5.0]).unwrap();
        assert_eq!(
            [spread.mean, spread.min, spread.p25, spread.median, spread.p75, spread.max],
            [3.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        );
        assert_eq!(SummaryStats::new([]), None);
        assert_eq!(mean_and_deviation(&[1.0, 3.0, 5.0]), Some([3.0, 2.0]));
        assert_eq!((mean_and_deviation(&[7.0]), mean_and_deviation(&[])), (Some([7.0, 0.0]), None));
    }

    #[test]
    fn a_repeat_is_the_sum_of_its_chunks() {
        let sample =
            |phase, repeat, duration_ms| Sample { phase, repeat, chunk: 0, start_ms: 0.0, duration_ms };
        let samples = [
            sample(Phase::Upload, 0, 100.0),
            sample(Phase::Search, 0, 1.0),
            sample(Phase::Search, 0, 2.0),
            sample(Phase::Search, 1, 4.0),
            sample(Phase::Download, 1, 50.0),
        ];
        assert_eq!(search_ms(&samples), [3.0, 4.0]);
        assert_eq!(
            [Phase::Search, Phase::Upload, Phase::Profiled].map(|phase| mean_ms(&samples, phase)),
            [Some(3.5), Some(100.0), None]
        );
    }
}
