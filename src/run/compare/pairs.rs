//! Compares two methods that run alternately, pair by pair.

use super::{CompareError, Comparison, Difference, DurationStats, SavedRun, compare, sentence};
use crate::knn::EngineId;
use crate::run::Phase;

/// The phases of one answer, in order.
const TOTAL: [Phase; 4] = [Phase::Upload, Phase::BuildIndex, Phase::Search, Phase::Download];

/// The times of pairs of runs, collected run by run.
#[derive(Debug, Default)]
pub struct PairedTimes {
    /// The comparison of the first pair, with its parameters and neighbours.
    first: Option<Comparison>,
    /// Milliseconds of each compared phase per pair; the total comes last.
    times: Vec<[Vec<f64>; 2]>,
    /// Time spent once before the searches, in milliseconds.
    setups: [Vec<f64>; 2],
    /// The engine of each.
    engines: [Option<EngineId>; 2],
    /// The last remark about other work on the machine.
    warning: Option<String>,
}

impl PairedTimes {
    /// Adds a pair. Neighbours are read for the first pair only.
    ///
    /// # Errors
    /// [`CompareError::EngineChanged`] if `auto` selects another engine than before, so that times would mix
    /// two engines.
    pub fn push(&mut self, a: &SavedRun, b: &SavedRun) -> Result<(), CompareError> {
        for (before, (which, run)) in self.engines.iter_mut().zip([("first", a), ("second", b)]) {
            let Some((now, _)) = run.phases.keys().next() else { continue };
            let before = *before.get_or_insert(*now);
            if before != *now {
                return Err(CompareError::EngineChanged { which, before, now: *now });
            }
        }
        let first = self.first.get_or_insert_with(|| compare(a, b));
        self.times.resize_with(first.phases.len() + 1, Default::default);
        for (phase, [times_a, times_b]) in first.phases.iter().zip(&mut self.times) {
            times_a.push(median_ms(a, phase.phase));
            times_b.push(median_ms(b, phase.phase));
        }
        if let Some([times_a, times_b]) = self.times.last_mut() {
            let total = |run: &SavedRun| TOTAL.into_iter().map(|phase| median_ms(run, phase)).sum();
            times_a.push(total(a));
            times_b.push(total(b));
        }
        for (setups, run) in self.setups.iter_mut().zip([a, b]) {
            setups.push(sentence::setup_ms(run));
        }
        let machine =
            |run: &SavedRun| run.file.as_ref().and_then(|file| file.machine.as_ref()?.load_warning());
        self.warning = machine(b).or_else(|| machine(a)).or(self.warning.take());
        Ok(())
    }

    /// The comparison of all pairs; `None` without pairs.
    pub fn comparison(self) -> Option<Comparison> {
        let Self { first, times, setups, warning, .. } = self;
        let mut comparison = first?;
        let same_job = comparison.other_job.is_empty();
        let difference = |[a, b]: &[Vec<f64>; 2]| Difference::of_pairs(a, b, same_job);
        for (phase, times) in comparison.phases.iter_mut().zip(&times) {
            phase.difference = difference(times);
        }
        let total = times.last()?;
        comparison.pairs = Some(total[0].len());
        comparison.total = Some(difference(total));
        comparison.setup_ms = setups.map(|times| DurationStats::new(&times).median);
        comparison.warnings =
            warning.map(|warning| format!("the machine was shared: {warning}")).into_iter().collect();
        Some(comparison)
    }
}

/// The median of a phase for a run of one engine; 0 if it has no such phase.
fn median_ms(run: &SavedRun, phase: Phase) -> f64 {
    let times = run.phases.iter().find(|((_, of), _)| *of == phase);
    times.map_or(0.0, |(_, times)| DurationStats::new(times).median)
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::super::saved::saved;
    use super::*;

    fn run(engine: &str, rows: &[(&str, f64)]) -> SavedRun {
        let row = |(at, (phase, ms)): (usize, &(&str, f64))| format!("{engine},{phase},{at},0,0,{ms}\n");
        saved(&rows.iter().enumerate().map(row).collect::<String>()).unwrap()
    }

    #[test]
    fn pairs_cancel_a_machine_slowdown() {
        let mut pairs = PairedTimes::default();
        let mut same = PairedTimes::default();
        for pair in 0..8 {
            let slow = f64::from(1 + pair);
            let jitter = 1.0 + 0.002 * f64::from(pair % 3);
            let of = |ms: f64| {
                run(
                    "lockstep",
                    &[("search", slow * ms), ("search", slow * ms * 1.01), ("search", slow * ms * 1.3)],
                )
            };
            pairs.push(&of(1.0), &of(1.2 * jitter)).unwrap();
            same.push(&of(1.0), &of(1.004 / jitter)).unwrap();
        }
        let compared = pairs.comparison().unwrap();
        let search = compared.search().unwrap();
        assert_eq!((search.verdict, search.a.repeats, compared.pairs), (Verdict::Slower, 8, Some(8)));
        assert!(search.interval.unwrap().lower > 1.19 && search.interval.unwrap().upper < 1.21, "{search:?}");
        assert_eq!(same.comparison().unwrap().search().unwrap().verdict, Verdict::NoneShown);
    }

    #[test]
    fn the_total_includes_index_build_time() {
        let mut pairs = PairedTimes::default();
        for jitter in [0.0, 0.1, 0.05, 0.02, 0.05] {
            let searches =
                |ms: f64| [("search", ms + jitter), ("search", ms + jitter), ("search", ms + jitter)];
            let b = [[("build index", 100.0)].as_slice(), &searches(10.0)].concat();
            pairs.push(&run("lockstep", &searches(33.0)), &run("kdtree", &b)).unwrap();
        }
        let compared = pairs.comparison().unwrap();
        assert_eq!(compared.search().unwrap().verdict, Verdict::Faster);
        let total = compared.total.clone().unwrap();
        assert_eq!(total.verdict, Verdict::Slower);
        assert!(
            (total.b.median - 110.05).abs() < 1e-9 && (total.ratio.unwrap() - 110.05 / 33.05).abs() < 0.01,
            "{total:?}"
        );
        let said = compared.sentence().unwrap();
        assert!(
            said.starts_with("B (kdtree) searches 3.3 times as fast as A (lockstep); counting the"),
            "{said}"
        );
        assert!(said.contains("slower: 3.3 times as long"), "{said}");
    }

    #[test]
    fn the_summary_reports_search_and_total_time() {
        let mut pairs = PairedTimes::default();
        // The medians belong to the one pair in which the second takes 1.42 times as long.
        for (slow, times, index) in [
            (1.0, 1.5, 50.0),
            (2.0, 1.5, 150.0),
            (3.0, 1.5, 100.0),
            (4.0, 1.42, 80.0),
            (5.0, 1.5, 130.0),
            (6.0, 1.5, 90.0),
            (7.0, 1.5, 110.0),
        ] {
            let of = |index: f64, search: f64| {
                run(
                    "bvh",
                    &[("build index", index), ("search", search), ("search", search), ("search", search)],
                )
            };
            pairs.push(&of(100.0, slow), &of(index, slow * times)).unwrap();
        }
        let compared = pairs.comparison().unwrap();
        assert_eq!(
            [compared.search().unwrap().verdict, compared.total.clone().unwrap().verdict],
            [Verdict::Slower, Verdict::NoneShown]
        );
        let said = compared.sentence().unwrap();
        assert!(
            said.starts_with(
                "A searches 1.5 times as fast as B; counting the index, no difference shown. The factor is \
                 between 1."
            ),
            "{said}"
        );
    }

    #[test]
    fn equal_searches_still_report_the_total() {
        let mut pairs = PairedTimes::default();
        for jitter in [1.0, 1.01, 0.99, 1.005, 0.995] {
            let of = |index: f64| {
                run(
                    "bvh",
                    &[("build index", index), ("search", jitter), ("search", jitter), ("search", jitter)],
                )
            };
            pairs.push(&of(30.0), &of(10.0 * jitter)).unwrap();
        }
        let said = pairs.comparison().unwrap().sentence().unwrap();
        assert!(
            said.starts_with("No difference between the searches of A and B in 5 pairs of runs"),
            "{said}"
        );
        assert!(said.ends_with(" Counting the index, B is faster: 2.8 times as fast."), "{said}");
    }

    #[test]
    fn changing_engines_between_pairs_is_an_error() {
        let mut pairs = PairedTimes::default();
        let of = |engine| run(engine, &[("search", 1.0)]);
        pairs.push(&of("bvh"), &of("kdtree")).unwrap();
        let why = pairs.push(&of("bvh"), &of("lockstep")).unwrap_err().to_string();
        assert_eq!(why, "the second program used kdtree earlier but lockstep now; pass --engine to pin one");
    }

    #[test]
    fn comparison_requires_at_least_one_pair() {
        assert_eq!(PairedTimes::default().comparison(), None);
    }
}
