//! Confidence interval for the ratio of two durations, by resampling, widened by effects that resampling
//! cannot detect. `docs/compare.md` explains the method and the reasons.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize;

use crate::run::stats;
use crate::text;

/// The 95 % confidence interval of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub lower: f64,
    pub upper: f64,
}

/// Smaller differences are not reported, however significant: rebuilding the same program causes such
/// differences.
pub const MIN_DIFFERENCE: f64 = 0.02;

const RESAMPLES: usize = 1000;
const SEED: u64 = 0x636f_6d70_6172_6501;

/// Minimum repeats per run. With four, 3 of 100 comparisons of equal runs find all of one slower than all of
/// the other; with three, it would be 10.
pub const MIN_REPEATS: usize = 4;

/// Minimum pairs for a valid 95 % interval. With three pairs of equal runs, 9 of 100 would be called
/// different.
pub const MIN_PAIRS: usize = 5;

impl Interval {
    /// The interval of the second run's median over the first's. Durations are in the order of measurement,
    /// since busy phases of the machine last for several of them. `waited` is the fraction of its time that
    /// each run waited for a core, 0 to 1.
    ///
    /// `None` with fewer than [`MIN_REPEATS`] durations, or if one of them is 0.
    pub fn of_runs([a, b]: [&[f64]; 2], waited: [f64; 2]) -> Option<Self> {
        let usable =
            |times: &[f64]| times.len() >= MIN_REPEATS && times.iter().all(|&ms| ms > 0.0 && ms.is_finite());
        if !(usable(a) && usable(b)) {
            return None;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let (mut drawn_a, mut drawn_b) = (Vec::new(), Vec::new());
        let ratios = resampled(|| {
            draw_blocks(a, block(a.len()), &mut rng, &mut drawn_a);
            draw_blocks(b, block(b.len()), &mut rng, &mut drawn_b);
            (median(&mut drawn_b) / median(&mut drawn_a)).ln()
        });
        let blocks = |times: &[f64]| times.len() as f64 / block(times.len()) as f64;
        let ratio = (stats::median(b) / stats::median(a)).ln();
        let widened = widened(&ratios, ratio, blocks(a) + blocks(b) - 2.0);
        let drift = drift(a).hypot(drift(b));
        let trend = if do_not_overlap([a, b]) { trend(a).hypot(trend(b)) } else { 0.0 };
        let [lower, upper] = beyond_gap([widened[0] - drift, widened[1] + drift], [a, b], trend);
        // Without waiting, a run would have been faster by at most its waiting time.
        let [waited_a, waited_b] = waited.map(|share| -(1.0 - share.clamp(0.0, 0.99)).ln());
        Some(Self { lower: (lower - waited_b).exp(), upper: (upper + waited_a).exp() })
    }

    /// The interval of the median ratio of pairs that were measured close together, after `excluded` outliers
    /// were removed. `None` with fewer than [`MIN_PAIRS`] including those, or if a ratio is not positive.
    pub fn of_pairs([a, b]: [&[f64]; 2], excluded: usize) -> Option<Self> {
        let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| b / a).collect();
        if ratios.len() + excluded < MIN_PAIRS
            || !ratios.iter().all(|&ratio| ratio > 0.0 && ratio.is_finite())
        {
            return None;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let mut drawn = Vec::new();
        let medians = resampled(|| {
            draw_blocks(&ratios, 1, &mut rng, &mut drawn);
            median(&mut drawn).ln()
        });
        // Excluding outliers makes the rest look more consistent than it is.
        let freedom = ratios.len() as f64 - 1.0 - 2.0 * excluded as f64;
        let widened = widened(&medians, stats::median(&ratios).ln(), freedom);
        let [lower, upper] = beyond_gap(widened, [a, b], 0.0).map(f64::exp);
        Some(Self { lower, upper })
    }

    /// `0.98 to 1.31×`. Extreme limits are cut off.
    pub fn text(&self) -> String {
        /// Larger factors are not detailed unless the whole interval is beyond.
        const MAX: f64 = 100.0;
        let [cut_lower, cut_upper] =
            [self.lower < MAX.recip() && self.upper > MAX.recip(), self.upper > MAX && self.lower < MAX];
        let lower = if cut_lower { format!("under {}", MAX.recip()) } else { text::digits(self.lower, 3) };
        let upper = if cut_upper { format!("over {MAX}") } else { text::digits(self.upper, 3) };
        format!("{lower} to {upper}×")
    }

    /// The smallest difference that would have been detected, as a fraction: 0.07 for 7 %.
    pub fn smallest_difference(&self, ratio: f64) -> f64 {
        ((self.upper / ratio).max(ratio / self.lower) - 1.0).max(MIN_DIFFERENCE)
    }
}

/// Block length for a number of repeats: the cube root, as is usual for a block bootstrap.
fn block(repeats: usize) -> usize {
    (repeats as f64).cbrt().ceil() as usize
}

/// Resamples as many values as there are, in blocks with random starts that wrap around.
fn draw_blocks(values: &[f64], block: usize, rng: &mut ChaCha8Rng, drawn: &mut Vec<f64>) {
    drawn.clear();
    while drawn.len() < values.len() {
        let start = ((u64::from(rng.next_u32()) * values.len() as u64) >> 32) as usize;
        let whole = block.min(values.len() - drawn.len());
        drawn.extend((start..start + whole).map(|at| values[at % values.len()]));
    }
}

fn resampled(draw: impl FnMut() -> f64) -> Vec<f64> {
    let mut all: Vec<f64> = std::iter::repeat_with(draw).take(RESAMPLES).collect();
    all.sort_unstable_by(f64::total_cmp);
    all
}

/// As [`stats::median`], in linear time.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let odd = !values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd { upper } else { f64::midpoint(upper, below.iter().copied().fold(f64::NEG_INFINITY, f64::max)) }
}

/// The middle 95 % of sorted logarithms, widened by Student's factor for small samples.
fn widened(sorted: &[f64], estimate: f64, freedom: f64) -> [f64; 2] {
    let factor = student(freedom) / student(f64::INFINITY);
    [0.025, 0.975].map(|p| estimate + (stats::quantile(sorted, p) - estimate) * factor)
}

/// Log ratio between the largest and smallest median of the three thirds of a run.
fn drift(times: &[f64]) -> f64 {
    let third = times.len() / 3;
    let medians = (0..3).map(|part| {
        let end = if part == 2 { times.len() } else { (part + 1) * third };
        stats::median(&times[part * third..end])
    });
    let (least, most) =
        medians.fold((f64::INFINITY, 0.0_f64), |(least, most), median| (least.min(median), most.max(median)));
    (most / least).ln()
}

/// The drift of a run whose repeats rise or fall steadily (Kendall's rank correlation with time, at 5 %),
/// otherwise 0.
fn trend(times: &[f64]) -> f64 {
    /// Limit on repeats, as every pair is compared.
    const MAX: usize = 1000;
    let thinned: Vec<f64> = times.iter().copied().step_by(times.len().div_ceil(MAX)).collect();
    let score: i32 = (thinned.iter().enumerate())
        .flat_map(|(at, ms)| thinned[at + 1..].iter().map(move |later| later.total_cmp(ms) as i32))
        .sum();
    let n = thinned.len() as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    if f64::from(score.abs()) > student(f64::INFINITY) * deviation { drift(times) } else { 0.0 }
}

/// Log ratio of the slower run's fastest repeat to the faster run's slowest one, if both have [`MIN_REPEATS`]
/// repeats and do not overlap.
fn gap(fast: &[f64], slow: &[f64]) -> Option<f64> {
    let slowest = fast.iter().copied().fold(0.0, f64::max);
    let fastest = slow.iter().copied().fold(f64::INFINITY, f64::min);
    (fast.len().min(slow.len()) >= MIN_REPEATS && slowest < fastest).then(|| (fastest / slowest).ln())
}

/// Whether every repeat of one run took longer than every repeat of the other, with at least [`MIN_REPEATS`]
/// each.
pub fn do_not_overlap([a, b]: [&[f64]; 2]) -> bool {
    gap(a, b).or_else(|| gap(b, a)).is_some()
}

/// Logarithmic limits for runs that do not overlap. Chance alone separates four from four in 3 of 100
/// comparisons, so the ratio is assumed to exceed the gap between them, less their `trend`.
fn beyond_gap([lower, upper]: [f64; 2], [a, b]: [&[f64]; 2], trend: f64) -> [f64; 2] {
    [
        gap(a, b).map_or(lower, |gap| lower.max(gap - trend)),
        gap(b, a).map_or(upper, |gap| upper.min(trend - gap)),
    ]
}

/// Student's factor for 95 %, by degrees of freedom (at least 1), interpolated by their inverses.
fn student(freedom: f64) -> f64 {
    const TABLE: [(f64, f64); 11] = [
        (1.0, 12.706),
        (2.0, 4.303),
        (3.0, 3.182),
        (4.0, 2.776),
        (5.0, 2.571),
        (7.0, 2.365),
        (10.0, 2.228),
        (15.0, 2.131),
        (30.0, 2.042),
        (60.0, 2.000),
        (f64::INFINITY, 1.960),
    ];
    let freedom = freedom.max(1.0);
    let at = TABLE.partition_point(|(known, _)| *known < freedom).clamp(1, TABLE.len() - 1);
    let ((from, factor_from), (to, factor_to)) = (TABLE[at - 1], TABLE[at]);
    let share = (from.recip() - freedom.recip()) / (from.recip() - to.recip());
    factor_from + share * (factor_to - factor_from)
}

#[cfg(test)]
mod tests {
    use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

    use super::super::{Difference, Verdict};
    use super::*;

    /// A machine with busy phases: times have noise of a percent or two around 1, and take up to twice as
    /// long in a busy phase.
    struct Machine {
        rng: ChaCha8Rng,
        /// Mean length of a busy phase in repeats; quiet phases are as long.
        phase: f64,
        noise: f64,
        /// Mean slowdown in a busy phase; 1 for an idle machine.
        busy: f64,
    }

    impl Machine {
        fn new(seed: u64, phase: f64, noise: f64, busy: f64) -> Self {
            Self { rng: ChaCha8Rng::seed_from_u64(seed), phase, noise, busy }
        }

        fn uniform(&mut self) -> f64 {
            f64::from(self.rng.next_u32()) / 2f64.powi(32)
        }

        fn run(&mut self, repeats: usize, ms: f64) -> Vec<f64> {
            let mut is_busy = self.uniform() < 0.5;
            let one = |_| {
                is_busy ^= self.uniform() < self.phase.recip();
                let slowed = if is_busy { 1.0 + (self.busy - 1.0) * (0.5 + self.uniform()) } else { 1.0 };
                // The sum of twelve uniform numbers is nearly Gaussian.
                let noise = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
                ms * slowed * (self.noise * noise).exp()
            };
            (0..repeats).map(one).collect()
        }
    }

    const TRIALS: usize = 200;

    fn percent(found: usize) -> f64 {
        100.0 * found as f64 / TRIALS as f64
    }

    /// Whether the second is called faster or slower; asserts that this is true.
    fn is_detected(difference: &Difference, [a_ms, b_ms]: [f64; 2]) -> bool {
        let (ratio, interval) =
            (difference.ratio.expect("a ratio"), difference.interval.expect("an interval"));
        assert!(
            interval.lower <= ratio * (1.0 + 1e-12) && ratio <= interval.upper * (1.0 + 1e-12),
            "{difference:?}"
        );
        match difference.verdict {
            Verdict::Faster => b_ms <= a_ms,
            Verdict::Slower => b_ms >= a_ms,
            _ => false,
        }
    }

    /// Percentage of comparisons of two runs that find a difference.
    fn detected(repeats: usize, ms: [f64; 2], mut machine: Machine) -> f64 {
        let trial = |_: &usize| {
            is_detected(
                &Difference::of_runs(
                    [&machine.run(repeats, ms[0]), &machine.run(repeats, ms[1])],
                    [0.0; 2],
                    true,
                ),
                ms,
            )
        };
        percent((0..TRIALS).filter(trial).count())
    }

    /// Percentage of comparisons that find a difference: without outliers, with one in either run (in turn),
    /// and with one in each. Outliers take three times as long.
    fn detected_with_outliers(trials: usize, repeats: usize, factor: f64, noise: f64) -> [f64; 3] {
        let ms = [1.0, factor];
        let is_detected = |outliers: usize, trial: usize| {
            let mut machine = Machine::new(trial as u64, 3.0, noise, 1.0);
            let mut times = ms.map(|ms| machine.run(repeats, ms));
            for side in 0..outliers {
                times[(trial + side) % 2][(machine.uniform() * repeats as f64) as usize] *= 3.0;
            }
            is_detected(&Difference::of_runs(times.each_ref().map(Vec::as_slice), [0.0; 2], true), ms)
        };
        let rates = [0, 1, 2].map(|outliers| {
            let detected = (0..trials).into_par_iter().filter(|&trial| is_detected(outliers, trial)).count();
            100.0 * detected as f64 / trials as f64
        });
        println!(
            "{repeats} repeats that scatter by {noise}, factor {factor}: {rates:.1?} % are called different"
        );
        rates
    }

    /// Percentage of comparisons of pairs of runs, with three repeats each, that find a difference. Busy
    /// phases continue from run to run.
    fn detected_for_pairs(pairs: usize, [a_ms, b_ms]: [f64; 2], mut machine: Machine) -> f64 {
        let trial = |_: &usize| {
            let times = machine.run(8 * pairs, 1.0);
            let medians = |ms: f64, from: usize| {
                times
                    .chunks(8)
                    .map(move |pair| ms * stats::median(&pair[from..from + 3]))
                    .collect::<Vec<f64>>()
            };
            is_detected(&Difference::of_pairs(&medians(a_ms, 0), &medians(b_ms, 4), true), [a_ms, b_ms])
        };
        percent((0..TRIALS).filter(trial).count())
    }

    #[test]
    fn equal_runs_on_a_busy_machine_rarely_differ() {
        for (repeats, phase, busy) in [(5, 3.0, 1.5), (10, 3.0, 1.5), (10, 4.0, 2.0), (20, 5.0, 1.5)] {
            let different = detected(repeats, [1.0, 1.0], Machine::new(1, phase, 0.02, busy));
            assert!(
                different <= 5.0,
                "{different} of 100: {repeats} repeats, busy for {phase}, {busy} times as long"
            );
        }
        assert_eq!(detected(10, [1.0, 1.0], Machine::new(1, 3.0, 0.01, 1.0)), 0.0, "the machine is idle");
    }

    /// `docs/compare.md` has the rates of 10,000 trials each.
    #[test]
    fn outliers_neither_create_nor_hide_a_difference() {
        for (repeats, noise) in [(5, 0.03), (5, 0.3), (10, 0.03), (20, 0.03)] {
            let rates = detected_with_outliers(TRIALS * 5 / repeats, repeats, 1.0, noise);
            assert!(
                rates.iter().all(|rate| *rate <= 5.0),
                "{repeats} repeats that scatter by {noise}: {rates:?}"
            );
        }
        let rates = detected_with_outliers(TRIALS, 5, 1.3, 0.03);
        assert!(rates.iter().all(|rate| *rate >= 95.0), "{rates:?}");
    }

    #[test]
    fn steady_drift_gives_an_unclear_verdict() {
        // Two percent per repeat, through both runs, which do not overlap.
        for repeats in [4, 5, 10, 20] {
            let mut noise = Machine::new(7, 3.0, 0.003, 1.0);
            let both: Vec<f64> = noise
                .run(2 * repeats, 1.0)
                .iter()
                .enumerate()
                .map(|(at, ms)| ms * 1.02f64.powi(at as i32))
                .collect();
            let (a, b) = both.split_at(repeats);
            assert_eq!(Difference::of_runs([a, b], [0.0; 2], true).verdict, Verdict::Unclear, "{repeats}");
        }
    }

    #[test]
    fn runs_with_disjoint_times_differ() {
        let mut machine = Machine::new(8, 3.0, 0.5, 1.0);
        let mut verdicts = Vec::new();
        for trial in 0..TRIALS {
            let repeats = 4 + trial % 4;
            let (a, b) = (machine.run(repeats, 10.0), machine.run(repeats + trial % 3, 10.0));
            let factor = 1.001 * a.iter().copied().fold(0.0, f64::max)
                / b.iter().copied().fold(f64::INFINITY, f64::min);
            let b: Vec<f64> = b.iter().map(|ms| ms * factor).collect();
            for (times, right) in
                [([a.as_slice(), &b], Verdict::Slower), ([b.as_slice(), &a], Verdict::Faster)]
            {
                let verdict = Difference::of_runs(times, [0.0; 2], true).verdict;
                assert!(verdict == right || verdict == Verdict::Unclear, "{times:?}: {verdict:?}");
                verdicts.push(verdict);
            }
        }
        let unclear = verdicts.iter().filter(|verdict| **verdict == Verdict::Unclear).count();
        assert!(unclear * 5 < verdicts.len(), "{unclear} of {}: only where they drift", verdicts.len());
    }

    #[test]
    fn equal_pairs_rarely_differ_on_a_busy_machine() {
        for (pairs, phase, busy) in
            [(MIN_PAIRS, 5.0, 2.0), (8, 5.0, 2.0), (10, 5.0, 1.5), (10, 30.0, 1.5), (10, 200.0, 2.0)]
        {
            let different = detected_for_pairs(pairs, [1.0, 1.0], Machine::new(3, phase, 0.02, busy));
            assert!(
                different <= 5.0,
                "{different} of 100: {pairs} pairs, busy for {phase}, {busy} times as long"
            );
        }
    }

    #[test]
    fn a_ten_percent_difference_is_detected_on_a_quiet_machine() {
        for ms in [[1.0, 1.1], [1.1, 1.0]] {
            let found = [
                detected(10, ms, Machine::new(2, 3.0, 0.01, 1.0)),
                detected_for_pairs(10, ms, Machine::new(2, 3.0, 0.01, 1.0)),
            ];
            assert!(found.iter().all(|found| *found >= 98.0), "{found:?} of 100");
        }
        // Pairs find most differences even with long busy phases.
        let found = detected_for_pairs(10, [1.0, 1.1], Machine::new(2, 200.0, 0.01, 1.5));
        assert!(found >= 65.0, "{found} of 100");
    }

    #[test]
    fn waiting_for_a_core_widens_the_interval() {
        let (a, b) = ([10.0, 10.1, 9.9, 10.0], [15.0, 15.1, 14.9, 15.0]);
        let alone = Interval::of_runs([&a, &b], [0.0, 0.0]).unwrap();
        let waited = Interval::of_runs([&a, &b], [0.0, 0.5]).unwrap();
        assert!(alone.lower > 1.3 && waited.lower < 1.0, "{alone:?} {waited:?}");
        assert_eq!(
            (alone.upper, (waited.lower * 2.0 / alone.lower - 1.0).abs() < 1e-9),
            (waited.upper, true)
        );
        let other = Interval::of_runs([&a, &b], [0.5, 0.0]).unwrap();
        assert!(other.lower == alone.lower && other.upper > 2.9, "{other:?}");
    }

    #[test]
    fn drift_within_a_run_widens_the_interval() {
        let (flat, rising) = ([10.0, 10.1, 10.0, 10.1, 10.0, 10.1], [10.0, 10.1, 11.0, 11.1, 12.0, 12.1]);
        assert!((drift(&rising) - (12.05f64 / 10.05).ln()).abs() < 1e-12);
        assert!(drift(&flat) < 1e-12);
        let interval = Interval::of_runs([&flat, &rising], [0.0; 2]).unwrap();
        assert!(interval.lower < 1.0 && interval.smallest_difference(11.05 / 10.05) > 0.19, "{interval:?}");
    }

    #[test]
    fn pairs_cancel_shared_noise() {
        // The machine slows down tenfold meanwhile, and the second run always takes about 5 % longer.
        let ratios: Vec<f64> = (0..10).map(|pair| 1.05 + 0.002 * f64::from(pair % 3)).collect();
        let of_pairs = |ratios: &[f64]| Interval::of_pairs([&vec![1.0; ratios.len()], ratios], 0);
        let interval = of_pairs(&ratios).unwrap();
        assert!(1.049 < interval.lower && interval.upper < 1.056, "{interval:?}");
        assert_eq!([of_pairs(&[1.0, 1.1, 1.0, 1.1]), of_pairs(&[1.0, 0.0, 1.0, 1.0, 1.0])], [None; 2]);
    }

    #[test]
    fn extreme_limits_are_abbreviated() {
        let text = |lower, upper| Interval { lower, upper }.text();
        assert_eq!([text(0.98, 1.314), text(1e-6, 4e6)], ["0.980 to 1.31×", "under 0.01 to over 100×"]);
        assert_eq!([text(0.007, 0.0076), text(132.0, 143.4)], ["0.00700 to 0.00760×", "132 to 143×"]);
    }

    #[test]
    fn too_few_or_zero_times_have_no_interval() {
        assert_eq!(Interval::of_runs([&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]], [0.0; 2]), None);
        assert_eq!(Interval::of_runs([&[1.0, 0.0, 1.0, 1.0], &[1.0, 2.0, 3.0, 4.0]], [0.0; 2]), None);
    }

    #[test]
    fn medians_and_students_t_match_published_tables() {
        for values in [vec![3.0, 1.0, 2.0], vec![4.0, 1.0, 2.0, 3.0], vec![7.0]] {
            assert_eq!(median(&mut values.clone()), stats::median(&values));
        }
        for (freedom, factor) in [
            (0.0, 12.706),
            (1.0, 12.706),
            (4.0, 2.776),
            (20.0, 2.086),
            (120.0, 1.980),
            (f64::INFINITY, 1.960),
        ] {
            assert!((student(freedom) - factor).abs() < 0.004, "{freedom}: {}", student(freedom));
        }
    }
}
