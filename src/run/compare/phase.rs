//! Compares one phase of two runs, without outliers.
//!
//! The rule for outliers is fixed; `docs/compare.md` has its reasons and simulated error rates.

use std::ops::{Deref, RangeInclusive};

use serde::Serialize;

use super::Interval;
use super::interval::{MIN_DIFFERENCE, MIN_PAIRS, MIN_REPEATS, do_not_overlap};
use super::sentence::percent;
use crate::knn::EngineId;
use crate::run::{Phase, stats};

/// A summary of durations in milliseconds, without outliers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DurationStats {
    /// Durations measured.
    pub repeats: usize,
    /// Outliers among them.
    pub excluded: usize,
    pub median: f64,
    /// First quartile.
    pub lower_quartile: f64,
    /// Third quartile.
    pub upper_quartile: f64,
    pub min: f64,
    pub max: f64,
}

impl DurationStats {
    /// Summarises at least one duration.
    pub fn new(values: &[f64]) -> Self {
        let quantile = |p| stats::quantile(values, p);
        Self {
            repeats: values.len(),
            excluded: 0,
            median: quantile(0.5),
            lower_quartile: quantile(0.25),
            upper_quartile: quantile(0.75),
            min: quantile(0.0),
            max: quantile(1.0),
        }
    }

    /// Summarises the durations that were not excluded, of `repeats`.
    fn from_kept(kept: &[f64], repeats: usize) -> Self {
        Self { repeats, excluded: repeats - kept.len(), ..Self::new(kept) }
    }

    /// `5`, or `4 of 5` if one is excluded.
    pub fn counted(&self) -> String {
        if self.excluded == 0 {
            self.repeats.to_string()
        } else {
            format!("{} of {}", self.repeats - self.excluded, self.repeats)
        }
    }
}

/// The significance of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The runs did different work.
    OtherJob,
    /// Fewer than four repeats, or five pairs.
    TooFew,
    /// The interval includes 1.
    NoneShown,
    /// The interval includes 1 although the runs do not overlap, or a time is 0.
    Unclear,
    /// The interval excludes 1, but a rebuild of the same program may differ as much.
    Slight,
    /// The second run took less time, beyond the interval.
    Faster,
    /// The second run took more time, beyond the interval.
    Slower,
}

impl Verdict {
    /// Judges a ratio and its interval; `apart` means that the runs do not overlap.
    pub fn new(ratio: Option<f64>, interval: Option<Interval>, disjoint: bool) -> Self {
        let Some((ratio, interval)) = ratio.zip(interval) else { return Self::Unclear };
        match () {
            () if interval.lower > 1.0 && ratio >= 1.0 + MIN_DIFFERENCE => Self::Slower,
            () if interval.upper < 1.0 && ratio.recip() >= 1.0 + MIN_DIFFERENCE => Self::Faster,
            () if interval.lower > 1.0 || interval.upper < 1.0 => Self::Slight,
            () if disjoint => Self::Unclear,
            () => Self::NoneShown,
        }
    }
}

/// The durations of a phase in both runs, and the verdict on their difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub a: DurationStats,
    pub b: DurationStats,
    /// The second's median over the first's, or the median of such ratios of pairs; below 1, the second is
    /// faster. Absent if the first took no time.
    pub ratio: Option<f64>,
    /// The confidence interval; absent with fewer than four repeats or five pairs.
    pub interval: Option<Interval>,
    /// The smallest difference that would have been detected, as a fraction.
    pub smallest_difference: Option<f64>,
    /// The second's median minus the first's, in milliseconds.
    pub delta_ms: f64,
    pub verdict: Verdict,
    /// Repeats that the shorter run lacks; absent if both have enough, or if a run times the phase only once.
    pub missing_repeats: Option<usize>,
}

impl Difference {
    /// Compares two runs: durations in the order of measurement, at least one each; `waited` as in
    /// [`Interval::of_runs`].
    pub(super) fn of_runs(times: [&[f64]; 2], waited: [f64; 2], same_job: bool) -> Self {
        let kept = without_distinct_outliers(times);
        let [a, b] = [0, 1].map(|side| DurationStats::from_kept(&kept[side], times[side].len()));
        let ratio = (a.median > 0.0).then(|| b.median / a.median);
        let disjoint = do_not_overlap(without_outliers(times).each_ref().map(Vec::as_slice));
        Self::new(
            [a, b],
            ratio,
            Interval::of_runs(kept.each_ref().map(Vec::as_slice), waited),
            disjoint,
            MIN_REPEATS,
            same_job,
        )
    }

    /// Compares pairs of runs: equally many durations of both, at least one each.
    pub(super) fn of_pairs(a: &[f64], b: &[f64], same_job: bool) -> Self {
        let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| b / a).collect();
        let usual = inlier_range(&ratios);
        let is_kept = |ratio: &f64| usual.contains(ratio) || ratio.is_nan();
        let keep = |values: &[f64]| {
            values
                .iter()
                .zip(&ratios)
                .filter(|(_, ratio)| is_kept(ratio))
                .map(|(value, _)| *value)
                .collect::<Vec<f64>>()
        };
        let kept = [keep(a), keep(b)];
        let [kept_a, kept_b] = kept.each_ref().map(Vec::as_slice);
        let ratio = ratios.iter().all(|ratio| ratio.is_finite()).then(|| stats::median(&keep(&ratios)));
        let interval = Interval::of_pairs([kept_a, kept_b], ratios.len() - kept_a.len());
        let spreads = [kept_a, kept_b].map(|kept| DurationStats::from_kept(kept, ratios.len()));
        Self::new(spreads, ratio, interval, false, MIN_PAIRS, same_job)
    }

    fn new(
        [a, b]: [DurationStats; 2],
        ratio: Option<f64>,
        interval: Option<Interval>,
        disjoint: bool,
        fewest: usize,
        same_job: bool,
    ) -> Self {
        let missing_repeats = fewest.checked_sub(a.repeats.min(b.repeats)).filter(|missing| *missing > 0);
        let verdict = match () {
            () if !same_job => Verdict::OtherJob,
            () if missing_repeats.is_some() => Verdict::TooFew,
            () => Verdict::new(ratio, interval, disjoint),
        };
        let smallest_difference =
            ratio.zip(interval).map(|(ratio, interval)| interval.smallest_difference(ratio));
        Self {
            a,
            b,
            ratio,
            interval,
            smallest_difference,
            delta_ms: b.median - a.median,
            verdict,
            missing_repeats,
        }
    }

    /// The verdict in a few words.
    pub fn text(&self) -> String {
        match self.verdict {
            Verdict::OtherJob => "different job".to_owned(),
            Verdict::TooFew => self.missing_repeats.map_or_else(
                || "timed once per run".to_owned(),
                |missing| format!("too few repeats: run {missing} more"),
            ),
            Verdict::NoneShown => "no difference shown".to_owned(),
            Verdict::Unclear => "cannot tell".to_owned(),
            Verdict::Slight => format!("less than {} % apart", percent(MIN_DIFFERENCE)),
            Verdict::Faster => "faster".to_owned(),
            Verdict::Slower => "slower".to_owned(),
        }
    }
}

/// A phase of both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseComparison {
    pub phase: Phase,
    pub engine_a: EngineId,
    pub engine_b: EngineId,
    #[serde(flatten)]
    pub difference: Difference,
}

/// Dereferences to the phase's difference.
impl Deref for PhaseComparison {
    type Target = Difference;

    fn deref(&self) -> &Difference {
        &self.difference
    }
}

/// The rule, as shown with verdicts.
pub const OUTLIER_RULE: &str = "more than a factor of 1.25 and 7 MAD from the median";

const FACTOR: f64 = 1.25;

/// Replaces [`FACTOR`] when an outlier is compared with the other run's repeats.
const SHARED_FACTOR: f64 = 1.05;

/// Median absolute deviations of the logarithms.
const DEVIATIONS: f64 = 7.0;

/// If more than one repeat in five is that far out, it is scatter, and none is excluded.
const SCATTER_SHARE: usize = 5;

const EVERYTHING: RangeInclusive<f64> = f64::NEG_INFINITY..=f64::INFINITY;

/// The range outside which a value is an outlier; everything if a value is not positive.
pub fn inlier_range(values: &[f64]) -> RangeInclusive<f64> {
    let usual = range_within(values, FACTOR);
    let outliers = values.iter().filter(|value| !usual.contains(value)).count();
    if outliers * SCATTER_SHARE > values.len() { EVERYTHING } else { usual }
}

/// The range within this factor of the median, or within [`DEVIATIONS`] if that is wider.
fn range_within(values: &[f64], factor: f64) -> RangeInclusive<f64> {
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
pub fn without_outliers(times: [&[f64]; 2]) -> [Vec<f64>; 2] {
    times.map(|times| {
        let usual = inlier_range(times);
        times.iter().copied().filter(|ms| usual.contains(ms)).collect()
    })
}

/// As [`without_outliers`], but a run keeps all repeats if one of its outliers is normal in the other run. A
/// machine that switches between two speeds shows both; excluding one would turn the switch into a
/// difference.
pub fn without_distinct_outliers(times: [&[f64]; 2]) -> [Vec<f64>; 2] {
    let (usual, same) = (times.map(inlier_range), times.map(|times| range_within(times, SHARED_FACTOR)));
    let [a, b] = without_outliers(times);
    let shared =
        |own: usize| times[own].iter().any(|ms| !usual[own].contains(ms) && same[1 - own].contains(ms));
    [if shared(0) { times[0].to_vec() } else { a }, if shared(1) { times[1].to_vec() } else { b }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_first_repeat_does_not_hide_a_factor_of_eight() {
        let slow = [80.9, 81.0, 80.7, 80.9, 81.2];
        for first in [9.7, 12.0, 20.0, 40.0, 60.0, 70.0, 80.0, 81.0, 84.0, 95.0, 110.0, 400.0, 1e6] {
            let fast = [first, 9.7, 9.8, 9.7, 9.6];
            let difference = Difference::of_runs([&slow, &fast], [0.0; 2], true);
            // A first repeat as slow as the other run's may show the machine's other speed, so it is kept;
            // the runs may still not overlap.
            let shared = (0.96..=1.05).contains(&(first / 80.9));
            let right = if shared && first > 80.7 { Verdict::Unclear } else { Verdict::Faster };
            assert_eq!(difference.verdict, right, "{first}: {difference:?}");
            let excluded = usize::from(first > 12.0 && !shared);
            assert_eq!(
                (difference.a.excluded, difference.b.excluded, difference.b.repeats),
                (0, excluded, 5),
                "{first}"
            );
        }
    }

    #[test]
    fn an_outlier_excludes_both_runs_of_its_pair() {
        let (a, b) = ([10.0, 10.1, 30.0, 10.0, 9.9], [13.0, 13.1, 13.0, 12.9, 13.2]);
        let difference = Difference::of_pairs(&a, &b, true);
        assert_eq!(
            (difference.verdict, difference.a.counted(), difference.b.counted()),
            (Verdict::Slower, "4 of 5".to_owned(), "4 of 5".to_owned())
        );
        assert!(difference.a.max < 11.0, "{difference:?}");
        let nothing = Difference::of_pairs(&[0.0; 5], &[0.0; 5], true);
        assert_eq!(
            (nothing.verdict, nothing.a.median, nothing.a.excluded, nothing.ratio),
            (Verdict::Unclear, 0.0, 0, None)
        );
    }

    #[test]
    fn only_isolated_values_are_outliers() {
        let kept_of = |values: &[f64]| without_outliers([values, &[]])[0].clone();
        assert_eq!(kept_of(&[30.0, 10.0, 10.2, 9.9, 10.1]), [10.0, 10.2, 9.9, 10.1]);
        assert_eq!(
            kept_of(&[10.0, 10.0, 10.0, 10.0, 3.0]),
            [10.0; 4],
            "a deviation of 0 does not exclude everything else"
        );
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
    fn values_shared_by_both_runs_are_not_outliers() {
        let (switches, slow) = ([10.0, 10.0, 20.0, 10.0, 10.0], [20.0, 20.0, 21.0, 20.0, 20.0]);
        assert_eq!(without_distinct_outliers([&switches, &slow]), [switches.to_vec(), slow.to_vec()]);
        assert_eq!(without_distinct_outliers([&switches, &[40.0; 5]])[0], [10.0; 4]);
    }
}
