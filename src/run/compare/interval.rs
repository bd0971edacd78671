//! Between what the ratio of two durations lies: resampling of what was measured, widened by what resampling cannot see.
//! `docs/compare.md` says how, and why so.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize;

use crate::run::stats;
use crate::text;

/// The limits between which a ratio lies with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub lower: f64,
    pub upper: f64,
}

/// Differences below this are not spoken of, however sure they are: another build of the same program has such.
pub const LEAST: f64 = 0.02;

const RESAMPLES: usize = 1000;
const SEED: u64 = 0x636f_6d70_6172_6501;

/// From so many repeats on there is a spread to resample.
pub const FEWEST: usize = 3;

/// From so many pairs on an interval of 95 % holds what it says: of three pairs of the same, 9 of 100 would be called different.
pub const FEWEST_PAIRS: usize = 5;

impl Interval {
    /// Of the second run's median over the first's. Both are durations in the order in which they were measured, since busy phases of
    /// the machine last for several of them. `waited` is the share of its time that each run waited for a core, 0 to 1.
    ///
    /// `None` of fewer than [`FEWEST`] durations, or where one of them is 0.
    pub fn of_runs([a, b]: [&[f64]; 2], waited: [f64; 2]) -> Option<Self> {
        let usable = |times: &[f64]| times.len() >= FEWEST && times.iter().all(|&ms| ms > 0.0 && ms.is_finite());
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
        // A run that was alone would have taken less by at most what it waited.
        let [waited_a, waited_b] = waited.map(|share| -(1.0 - share.clamp(0.0, 0.99)).ln());
        Some(Self { lower: (widened[0] - drift - waited_b).exp(), upper: (widened[1] + drift + waited_a).exp() })
    }

    /// Of the median of ratios that were each measured close together. `None` of fewer than [`FEWEST_PAIRS`], or where one of them is
    /// not above 0.
    pub fn of_pairs(ratios: &[f64]) -> Option<Self> {
        if ratios.len() < FEWEST_PAIRS || !ratios.iter().all(|&ratio| ratio > 0.0 && ratio.is_finite()) {
            return None;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let mut drawn = Vec::new();
        let medians = resampled(|| {
            draw_blocks(ratios, 1, &mut rng, &mut drawn);
            median(&mut drawn).ln()
        });
        let [lower, upper] = widened(&medians, stats::median(ratios).ln(), ratios.len() as f64 - 1.0).map(f64::exp);
        Some(Self { lower, upper })
    }

    /// `0.98 to 1.31×`. Limits that say nothing are cut off.
    pub fn text(&self) -> String {
        /// Nobody asks between what hundreds of times a ratio lies, unless it is all beyond them.
        const MOST: f64 = 100.0;
        let [cut_lower, cut_upper] = [self.lower < MOST.recip() && self.upper > MOST.recip(), self.upper > MOST && self.lower < MOST];
        let lower = if cut_lower { format!("under {}", MOST.recip()) } else { text::digits(self.lower, 3) };
        let upper = if cut_upper { format!("over {MOST}") } else { text::digits(self.upper, 3) };
        format!("{lower} to {upper}×")
    }

    /// The smallest difference that would have been called one, as a share: 0.07 for 7 %.
    pub fn smallest_difference(&self, ratio: f64) -> f64 {
        ((self.upper / ratio).max(ratio / self.lower) - 1.0).max(LEAST)
    }
}

/// Of so many repeats, how many stay together: the cube root, as is usual for a bootstrap of blocks.
fn block(repeats: usize) -> usize {
    (repeats as f64).cbrt().ceil() as usize
}

/// As many values as there are, in blocks that begin anywhere and go on at the beginning behind the end.
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

/// As [`stats::median`], in time that grows as the number of values.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let odd = !values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd { upper } else { f64::midpoint(upper, below.iter().copied().fold(f64::NEG_INFINITY, f64::max)) }
}

/// The middle 95 % of sorted logarithms, and farther from the estimate where few were resampled: a bootstrap knows no more
/// than they do, and Student's factor is for that.
fn widened(sorted: &[f64], estimate: f64, freedom: f64) -> [f64; 2] {
    let factor = student(freedom) / student(f64::INFINITY);
    [0.025, 0.975].map(|p| estimate + (stats::quantile(sorted, p) - estimate) * factor)
}

/// How far apart the medians of the three thirds of a run are, as a logarithm.
fn drift(times: &[f64]) -> f64 {
    let third = times.len() / 3;
    let medians = (0..3).map(|part| {
        let end = if part == 2 { times.len() } else { (part + 1) * third };
        stats::median(&times[part * third..end])
    });
    let (least, most) = medians.fold((f64::INFINITY, 0.0_f64), |(least, most), median| (least.min(median), most.max(median)));
    (most / least).ln()
}

/// Student's factor for 95 %, by degrees of freedom (at least one is taken); between those of the table by their inverses.
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
    use super::super::Verdict;
    use super::*;

    /// A machine with phases in which it is busy: times of a run, noise of a percent or two around 1, and in a busy phase up to twice as long.
    struct Machine {
        rng: ChaCha8Rng,
        /// How many repeats a busy phase lasts, in the mean; as many repeats are quiet.
        phase: f64,
        noise: f64,
        /// What a busy phase multiplies times by, in the mean; 1 for a machine that nobody else uses.
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
                // Nearly Gaussian.
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

    fn is_called(ratio: f64, interval: Interval) -> bool {
        assert!(interval.lower <= ratio && ratio <= interval.upper);
        [Verdict::Faster, Verdict::Slower].contains(&Verdict::of(Some(ratio), Some(interval)))
    }

    /// Of a hundred comparisons of two runs, how many find a difference.
    fn called(repeats: usize, [a_ms, b_ms]: [f64; 2], mut machine: Machine) -> f64 {
        let trial = |_: &usize| {
            let (a, b) = (machine.run(repeats, a_ms), machine.run(repeats, b_ms));
            is_called(stats::median(&b) / stats::median(&a), Interval::of_runs([&a, &b], [0.0; 2]).expect("an interval"))
        };
        percent((0..TRIALS).filter(trial).count())
    }

    /// Of a hundred comparisons of pairs of runs with three repeats, how many find a difference. A busy phase goes on from run to run.
    fn called_of_pairs(pairs: usize, [a_ms, b_ms]: [f64; 2], mut machine: Machine) -> f64 {
        let trial = |_: &usize| {
            let times = machine.run(8 * pairs, 1.0);
            let ratios = times.chunks(8).map(|pair| b_ms / a_ms * stats::median(&pair[4..7]) / stats::median(&pair[..3]));
            let ratios: Vec<f64> = ratios.collect();
            is_called(stats::median(&ratios), Interval::of_pairs(&ratios).expect("an interval"))
        };
        percent((0..TRIALS).filter(trial).count())
    }

    #[test]
    fn runs_of_the_same_on_a_busy_machine_are_seldom_called_different() {
        for (repeats, phase, busy) in [(3, 3.0, 1.5), (5, 3.0, 1.5), (10, 3.0, 1.5), (10, 4.0, 2.0), (20, 5.0, 1.5)] {
            let different = called(repeats, [1.0, 1.0], Machine::new(1, phase, 0.02, busy));
            assert!(different <= 5.0, "{different} of 100: {repeats} repeats, busy for {phase}, {busy} times as long");
        }
        assert_eq!(called(10, [1.0, 1.0], Machine::new(1, 3.0, 0.01, 1.0)), 0.0, "nobody else is there");
    }

    #[test]
    fn pairs_of_the_same_are_seldom_called_different_however_long_it_is_busy() {
        for (pairs, phase, busy) in [(FEWEST_PAIRS, 5.0, 2.0), (8, 5.0, 2.0), (10, 5.0, 1.5), (10, 30.0, 1.5), (10, 200.0, 2.0)] {
            let different = called_of_pairs(pairs, [1.0, 1.0], Machine::new(3, phase, 0.02, busy));
            assert!(different <= 5.0, "{different} of 100: {pairs} pairs, busy for {phase}, {busy} times as long");
        }
    }

    #[test]
    fn a_tenth_is_found_where_it_is_quiet() {
        for ms in [[1.0, 1.1], [1.1, 1.0]] {
            let found = [called(10, ms, Machine::new(2, 3.0, 0.01, 1.0)), called_of_pairs(10, ms, Machine::new(2, 3.0, 0.01, 1.0))];
            assert!(found.iter().all(|found| *found >= 98.0), "{found:?} of 100");
        }
        // Pairs find most of it where others come and go for long, too.
        let found = called_of_pairs(10, [1.0, 1.1], Machine::new(2, 200.0, 0.01, 1.5));
        assert!(found >= 65.0, "{found} of 100");
    }

    #[test]
    fn a_run_that_waited_for_a_core_may_have_been_faster() {
        let (a, b) = ([10.0, 10.1, 9.9, 10.0], [15.0, 15.1, 14.9, 15.0]);
        let alone = Interval::of_runs([&a, &b], [0.0, 0.0]).unwrap();
        let waited = Interval::of_runs([&a, &b], [0.0, 0.5]).unwrap();
        assert!(alone.lower > 1.3 && waited.lower < 1.0, "{alone:?} {waited:?}");
        assert_eq!((alone.upper, (waited.lower * 2.0 / alone.lower - 1.0).abs() < 1e-9), (waited.upper, true));
        let other = Interval::of_runs([&a, &b], [0.5, 0.0]).unwrap();
        assert!(other.lower == alone.lower && other.upper > 2.9, "{other:?}");
    }

    #[test]
    fn drift_within_a_run_widens() {
        let (flat, rising) = ([10.0, 10.1, 10.0, 10.1, 10.0, 10.1], [10.0, 10.1, 11.0, 11.1, 12.0, 12.1]);
        assert!((drift(&rising) - (12.05f64 / 10.05).ln()).abs() < 1e-12);
        assert!(drift(&flat) < 1e-12);
        let interval = Interval::of_runs([&flat, &rising], [0.0; 2]).unwrap();
        assert!(interval.lower < 1.0 && interval.smallest_difference(11.05 / 10.05) > 0.19, "{interval:?}");
    }

    #[test]
    fn pairs_cancel_what_both_suffer() {
        // The machine becomes ten times as slow on the way, and the second takes a twentieth more each time.
        let ratios: Vec<f64> = (0..10).map(|pair| 1.05 + 0.002 * f64::from(pair % 3)).collect();
        let interval = Interval::of_pairs(&ratios).unwrap();
        assert!(1.049 < interval.lower && interval.upper < 1.056, "{interval:?}");
        assert_eq!([Interval::of_pairs(&[1.0, 1.1, 1.0, 1.1]), Interval::of_pairs(&[1.0, 0.0, 1.0, 1.0, 1.0])], [None; 2]);
    }

    #[test]
    fn limits_that_say_nothing_are_cut_off() {
        let text = |lower, upper| Interval { lower, upper }.text();
        assert_eq!([text(0.98, 1.314), text(1e-6, 4e6)], ["0.980 to 1.31×", "under 0.01 to over 100×"]);
        assert_eq!([text(0.007, 0.0076), text(132.0, 143.4)], ["0.00700 to 0.00760×", "132 to 143×"]);
    }

    #[test]
    fn what_has_no_spread_has_no_interval() {
        assert_eq!(Interval::of_runs([&[1.0, 2.0], &[1.0, 2.0, 3.0]], [0.0; 2]), None);
        assert_eq!(Interval::of_runs([&[1.0, 0.0, 1.0], &[1.0, 2.0, 3.0]], [0.0; 2]), None);
    }

    #[test]
    fn medians_and_factors_are_those_of_tables() {
        for values in [vec![3.0, 1.0, 2.0], vec![4.0, 1.0, 2.0, 3.0], vec![7.0]] {
            assert_eq!(median(&mut values.clone()), stats::median(&values));
        }
        for (freedom, factor) in [(0.0, 12.706), (1.0, 12.706), (4.0, 2.776), (20.0, 2.086), (120.0, 1.980), (f64::INFINITY, 1.960)] {
            assert!((student(freedom) - factor).abs() < 0.004, "{freedom}: {}", student(freedom));
        }
    }
}
