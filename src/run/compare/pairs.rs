//! Runs of two methods in turn, compared pair by pair.

use super::{Comparison, Difference, SavedRun, Spread, compare, sentence};
use crate::run::Phase;

/// What is done for one answer from nothing, in the order of a run.
const TOTAL: [Phase; 4] = [Phase::Upload, Phase::BuildIndex, Phase::Search, Phase::Download];

/// The times of pairs of runs, as they are made.
#[derive(Debug, Default)]
pub struct Pairs {
    /// Of the first pair: what was asked, and whether the neighbours are the same.
    first: Option<Comparison>,
    /// Milliseconds of each compared phase, a pair of runs after the other; then those of the total.
    times: Vec<[Vec<f64>; 2]>,
    /// What each did once before its searches, in milliseconds.
    setups: [Vec<f64>; 2],
    /// What the last busy run says of the machine.
    doubt: Option<String>,
}

impl Pairs {
    /// Adds a pair. Its neighbours are read only if it is the first.
    pub fn push(&mut self, a: &SavedRun, b: &SavedRun) {
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
        let machine = |run: &SavedRun| run.file.as_ref().and_then(|file| file.machine.as_ref()?.doubt());
        self.doubt = machine(b).or_else(|| machine(a)).or(self.doubt.take());
    }

    /// All pairs side by side; `None` of none.
    pub fn compared(self) -> Option<Comparison> {
        let Self { first, times, setups, doubt } = self;
        let mut comparison = first?;
        let same_job = comparison.other_job.is_empty();
        let difference = |[a, b]: &[Vec<f64>; 2]| Difference::of_pairs(a, b, same_job);
        for (phase, times) in comparison.phases.iter_mut().zip(&times) {
            phase.difference = difference(times);
        }
        let total = times.last()?;
        comparison.pairs = Some(total[0].len());
        comparison.total = Some(difference(total));
        comparison.setup_ms = setups.map(|times| Spread::of(&times).median);
        comparison.warnings = doubt.map(|doubt| format!("the machine was shared: {doubt}")).into_iter().collect();
        Some(comparison)
    }
}

/// Of a run of one engine; 0 where it has no such phase.
fn median_ms(run: &SavedRun, phase: Phase) -> f64 {
    let times = run.phases.iter().find(|((_, of), _)| *of == phase);
    times.map_or(0.0, |(_, times)| Spread::of(times).median)
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    fn run(engine: &str, rows: &[(&str, f64)]) -> SavedRun {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timings.csv");
        let mut text = "engine,phase,repeat,chunk,start_ms,duration_ms\n".to_owned();
        for (at, (phase, ms)) in rows.iter().enumerate() {
            text += &format!("{engine},{phase},{at},0,0,{ms}\n");
        }
        std::fs::write(&path, text).unwrap();
        SavedRun::read(&path).unwrap()
    }

    #[test]
    fn a_machine_that_slows_down_does_not_count() {
        let mut pairs = Pairs::default();
        let mut same = Pairs::default();
        for pair in 0..8 {
            let slow = f64::from(1 + pair);
            let jitter = 1.0 + 0.002 * f64::from(pair % 3);
            let of = |ms: f64| run("lockstep", &[("search", slow * ms), ("search", slow * ms * 1.01), ("search", slow * ms * 1.3)]);
            pairs.push(&of(1.0), &of(1.2 * jitter));
            same.push(&of(1.0), &of(1.004 / jitter));
        }
        let compared = pairs.compared().unwrap();
        let search = compared.search().unwrap();
        assert_eq!((search.verdict, search.a.repeats, compared.pairs), (Verdict::Slower, 8, Some(8)));
        assert!(search.interval.unwrap().lower > 1.19 && search.interval.unwrap().upper < 1.21, "{search:?}");
        assert_eq!(same.compared().unwrap().search().unwrap().verdict, Verdict::NoneShown);
    }

    #[test]
    fn the_total_counts_the_index_of_one_side() {
        let mut pairs = Pairs::default();
        for jitter in [0.0, 0.1, 0.05, 0.02] {
            let searches = |ms: f64| [("search", ms + jitter), ("search", ms + jitter), ("search", ms + jitter)];
            let b = [[("build index", 100.0)].as_slice(), &searches(10.0)].concat();
            pairs.push(&run("lockstep", &searches(33.0)), &run("kdtree", &b));
        }
        let compared = pairs.compared().unwrap();
        assert_eq!(compared.search().unwrap().verdict, Verdict::Faster);
        let total = compared.total.clone().unwrap();
        assert_eq!(total.verdict, Verdict::Slower);
        assert!((total.b.median - 110.035).abs() < 1e-9 && (total.ratio.unwrap() - 110.035 / 33.035).abs() < 0.01, "{total:?}");
        let said = compared.sentence().unwrap();
        assert!(said.starts_with("B (kdtree) searches 3.3 times as fast as A (lockstep); counting the"), "{said}");
        assert!(said.contains("slower: 3.3 times as long"), "{said}");
    }

    #[test]
    fn no_pairs_are_no_comparison() {
        assert_eq!(Pairs::default().compared(), None);
    }
}
