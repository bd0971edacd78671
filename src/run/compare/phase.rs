//! One phase in two runs, and what its difference is worth.

use std::ops::Deref;

use serde::Serialize;

use super::Interval;
use super::interval::{FEWEST, FEWEST_PAIRS, LEAST};
use crate::knn::EngineId;
use crate::run::{Phase, stats};

/// Many durations in a few numbers, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many there are.
    pub repeats: usize,
    pub median: f64,
    /// A quarter is below.
    pub lower_quartile: f64,
    /// A quarter is above.
    pub upper_quartile: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// Of at least one duration.
    pub fn of(values: &[f64]) -> Self {
        let quantile = |p| stats::quantile(values, p);
        Self {
            repeats: values.len(),
            median: quantile(0.5),
            lower_quartile: quantile(0.25),
            upper_quartile: quantile(0.75),
            min: quantile(0.0),
            max: quantile(1.0),
        }
    }
}

/// What a difference is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The runs did other work, and so took other times.
    OtherJob,
    /// Fewer than three repeats, or five pairs, have no spread to speak of.
    TooFew,
    /// The interval holds 1, or the difference is too small to speak of.
    NoneShown,
    /// The second run took less time, beyond the interval.
    Faster,
    /// The second run took more.
    Slower,
}

impl Verdict {
    /// Of a ratio between the limits of an interval.
    pub fn of(ratio: Option<f64>, interval: Option<Interval>) -> Self {
        match (ratio, interval) {
            (Some(ratio), Some(interval)) if interval.lower > 1.0 && ratio >= 1.0 + LEAST => Self::Slower,
            (Some(ratio), Some(interval)) if interval.upper < 1.0 && ratio.recip() >= 1.0 + LEAST => Self::Faster,
            _ => Self::NoneShown,
        }
    }

    /// In a few words.
    pub fn text(self) -> &'static str {
        match self {
            Self::OtherJob => "another job",
            Self::TooFew => "too few repeats to tell",
            Self::NoneShown => "no difference shown",
            Self::Faster => "faster",
            Self::Slower => "slower",
        }
    }
}

/// The durations of one thing in both runs, and what their difference is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub a: Spread,
    pub b: Spread,
    /// The second's median over the first's, or the median of such ratios of pairs: below 1, the second is faster. Absent where the
    /// first took no time.
    pub ratio: Option<f64>,
    /// Between what the ratio lies; absent of fewer than three repeats or five pairs.
    pub interval: Option<Interval>,
    /// The smallest difference that would have been called one, as a share of the times.
    pub smallest_difference: Option<f64>,
    /// The second's median less the first's, in milliseconds.
    pub delta_ms: f64,
    pub verdict: Verdict,
}

impl Difference {
    /// Of two runs: durations in the order in which they were measured, at least one each; `waited` as in [`Interval::of_runs`].
    pub(super) fn of_runs(times: [&[f64]; 2], waited: [f64; 2], same_job: bool) -> Self {
        let [a, b] = times.map(Spread::of);
        Self::new([a, b], (a.median > 0.0).then(|| b.median / a.median), Interval::of_runs(times, waited), FEWEST, same_job)
    }

    /// Of pairs of runs: as many durations of the first as of the second, at least one each.
    pub(super) fn of_pairs(a: &[f64], b: &[f64], same_job: bool) -> Self {
        let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| b / a).collect();
        let ratio = ratios.iter().all(|ratio| ratio.is_finite()).then(|| stats::median(&ratios));
        Self::new([a, b].map(Spread::of), ratio, Interval::of_pairs(&ratios), FEWEST_PAIRS, same_job)
    }

    fn new([a, b]: [Spread; 2], ratio: Option<f64>, interval: Option<Interval>, fewest: usize, same_job: bool) -> Self {
        let verdict = match () {
            () if !same_job => Verdict::OtherJob,
            () if a.repeats.min(b.repeats) < fewest => Verdict::TooFew,
            () => Verdict::of(ratio, interval),
        };
        let smallest_difference = ratio.zip(interval).map(|(ratio, interval)| interval.smallest_difference(ratio));
        Self { a, b, ratio, interval, smallest_difference, delta_ms: b.median - a.median, verdict }
    }
}

/// One phase in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedPhase {
    pub phase: Phase,
    pub engine_a: EngineId,
    pub engine_b: EngineId,
    #[serde(flatten)]
    pub difference: Difference,
}

/// A phase's difference is read as the phase's own.
impl Deref for ComparedPhase {
    type Target = Difference;

    fn deref(&self) -> &Difference {
        &self.difference
    }
}
