//! Summarises a comparison in a sentence, and checks it against a limit.

use super::{Comparison, Difference, DurationStats, Interval, OUTLIER_RULE, PhaseComparison, Verdict};
use crate::run::Phase;
use crate::text;

/// Phases that occur once before the searches, with their names in sentences.
const SETUP: [(Phase, &str); 2] = [(Phase::Upload, "upload"), (Phase::BuildIndex, "index")];

/// How to compare for certain, on the command line. The window words it differently.
pub const IN_TURN: &str = "Run them in turn: warpscope compare --exe or --method.";

impl Comparison {
    /// Which search is faster, by what factor, and how that changes with the time spent once before; or why
    /// it cannot be decided. `None` if several engines are compared, or nothing was searched.
    pub fn sentence(&self) -> Option<String> {
        if let Some(job) = self.job_sentence() {
            return Some(job);
        }
        let search = self.search()?;
        let names = names(search);
        let neighbours = match &self.answers {
            Some(answers) if answers.identical() => ", with identical neighbours",
            Some(_) => ", with different neighbours",
            None => "",
        };
        let said = match search.verdict {
            Verdict::OtherJob => return None,
            Verdict::TooFew => format!(
                "Too few repeats: run {} more to tell which is faster.",
                search.missing_repeats.unwrap_or_default()
            ),
            Verdict::Unclear if search.interval.is_none() => {
                format!("The searches of {} and {} are too short to compare.", names[0], names[1])
            }
            Verdict::Unclear => {
                let ratio = search.ratio?;
                let (faster, slower) = if ratio < 1.0 { (1, 0) } else { (0, 1) };
                let times = faster_text(ratio.max(ratio.recip()));
                format!(
                    "In these repeats, {} was {times} {} {}{neighbours}. That is not certain: drift, waiting \
                     for a core or a repeat as slow as the other run's may explain it. {IN_TURN}",
                    names[faster],
                    than(&times),
                    names[slower]
                )
            }
            Verdict::Slight => {
                format!(
                    "The searches of {} and {} are {}, too close to call either faster{neighbours}.",
                    names[0],
                    names[1],
                    search.text()
                )
            }
            Verdict::NoneShown => {
                let these = self
                    .pairs
                    .map_or_else(|| "these repeats".to_owned(), |pairs| format!("{pairs} pairs of runs"));
                let (clear, seen) = search
                    .smallest_difference
                    .map_or_else(|| (true, String::new()), |share| (share < 1.0, size(share)));
                let total = self.total_shown().map_or_else(String::new, |(faster, times)| {
                    format!(
                        " Counting the {}, {} is faster: {}.",
                        self.setup,
                        names[faster],
                        faster_text(times)
                    )
                });
                let [a, b] = &names;
                let said = if clear {
                    format!("No difference between the searches of {a} and {b} in {these}")
                } else {
                    format!("The searches of {a} and {b} cannot be told apart in {these}")
                };
                format!("{said}{neighbours}{seen}.{total}")
            }
            verdict => {
                let (faster, slower) = if verdict == Verdict::Faster { (1, 0) } else { (0, 1) };
                let setup = self.with_setup(search, faster);
                let times = faster_text(times_as_fast(search)?);
                let than = than(&times);
                let between = search.interval.map_or_else(String::new, |interval| {
                    let (least, most) = if faster == 1 {
                        (interval.upper.recip(), interval.lower.recip())
                    } else {
                        (interval.lower, interval.upper)
                    };
                    format!(
                        " The factor is between {} and {}, with a confidence of 95 %.",
                        text::digits(least, 3),
                        text::digits(most, 3)
                    )
                });
                format!(
                    "{} searches {times} {than} {}{neighbours}{setup}.{between}",
                    names[faster], names[slower]
                )
            }
        };
        Some(said + &self.exclusion(search))
    }

    /// How many repeats of the search are excluded, and the rule; empty if none.
    fn exclusion(&self, search: &Difference) -> String {
        let of = |spread: DurationStats, what: &str| {
            (spread.excluded > 0).then(|| format!("{} of {} {what}", spread.excluded, spread.repeats))
        };
        let excluded = match self.pairs {
            Some(_) => of(search.a, "pairs"),
            None => [of(search.a, "repeats of A"), of(search.b, "repeats of B")]
                .into_iter()
                .flatten()
                .reduce(|a, b| format!("{a} and {b}")),
        };
        excluded.map_or_else(String::new, |excluded| format!(" {excluded} excluded: {OUTLIER_RULE}."))
    }

    /// How the result changes when upload and index count as well; empty if neither run has them.
    fn with_setup(&self, search: &Difference, faster: usize) -> String {
        let [setup_a, setup_b] = self.setup_ms;
        if [setup_a, setup_b] == [0.0; 2] {
            return String::new();
        }
        let said = |faster_in_total: usize, times: f64| {
            if faster_in_total == faster {
                faster_text(times)
            } else {
                format!("slower: {} times as long", text::digits(times, 2))
            }
        };
        if self.pairs.is_some() {
            let untold = || self.total.as_ref().map_or_else(String::new, Difference::text);
            let total = self.total_shown().map_or_else(untold, |(faster, times)| said(faster, times));
            return format!("; counting the {}, {total}", self.setup);
        }
        let ratio = (search.b.median + setup_b) / (search.a.median + setup_a);
        let total = if ratio < 1.0 { said(1, ratio.recip()) } else { said(0, ratio) };
        format!("; counting the {} (timed once each), {total}", self.setup)
    }

    /// Which of the two takes less time in total, and by what factor; `None` if pairs show no difference.
    fn total_shown(&self) -> Option<(usize, f64)> {
        let total = self.total.as_ref()?;
        match total.verdict {
            Verdict::Faster => Some((1, times_as_fast(total)?)),
            Verdict::Slower => Some((0, times_as_fast(total)?)),
            Verdict::OtherJob | Verdict::TooFew | Verdict::NoneShown | Verdict::Unclear | Verdict::Slight => {
                None
            }
        }
    }
}

/// The factor of the faster one. For pairs, the ratio differs from that of the medians.
fn times_as_fast(difference: &Difference) -> Option<f64> {
    difference.ratio.map(|ratio| if difference.verdict == Verdict::Faster { ratio.recip() } else { ratio })
}

/// `3.3 times as fast`, or `2 % faster`.
fn faster_text(times: f64) -> String {
    if times < 1.095 {
        format!("{} % faster", text::digits((times - 1.0) * 100.0, 1))
    } else {
        format!("{} times as fast", text::digits(times, 2))
    }
}

/// The word after [`faster_text`].
fn than(times: &str) -> &'static str {
    if times.ends_with("faster") { "than" } else { "as" }
}

/// The smallest difference that would have been detected, rounded up: a percentage, or a factor if it is
/// large.
fn size(share: f64) -> String {
    let percent = (share * 100.0 - 1e-9).ceil();
    match share + 1.0 {
        _ if percent < 100.0 => format!("; one of {percent} % or more would have been seen"),
        factor if factor < 100.0 => {
            format!("; the times scatter, and only a factor of {} or more would be seen", factor.ceil())
        }
        _ => "; the times scatter too widely".to_owned(),
    }
}

/// `B (kdtree)`, or `B` if both have the same engine.
fn names(search: &PhaseComparison) -> [String; 2] {
    if search.engine_a == search.engine_b {
        ["A".to_owned(), "B".to_owned()]
    } else {
        [format!("A ({})", search.engine_a), format!("B ({})", search.engine_b)]
    }
}

/// The time a run spent once before its searches, in milliseconds (medians).
pub(super) fn setup_ms(run: &super::SavedRun) -> f64 {
    setup(run).map(|(_, ms)| ms).sum()
}

/// `upload and index`: the phases that either run had before its searches.
pub(super) fn setup_text(runs: [&super::SavedRun; 2]) -> String {
    let done = SETUP
        .iter()
        .filter(|(_, name)| runs.iter().any(|run| setup(run).any(|(of, ms)| of == *name && ms > 0.0)));
    done.map(|(_, name)| *name).collect::<Vec<_>>().join(" and ")
}

fn setup(run: &super::SavedRun) -> impl Iterator<Item = (&'static str, f64)> {
    run.phases.iter().filter_map(|((_, phase), times)| {
        let (_, name) = SETUP.iter().find(|(of, _)| of == phase)?;
        Some((*name, DurationStats::new(times).median))
    })
}

/// The result of checking a comparison against a limit.
#[derive(Clone, Debug, PartialEq)]
pub enum GateResult {
    /// The second is slower than allowed, beyond the interval; with a sentence.
    Slower(String),
    /// It cannot be decided, and why.
    Unknown(String),
    /// It is not known to be slower; with a sentence if it may still be.
    Passed(Option<String>),
}

impl Comparison {
    /// Checks the search and, for pairs, the total against a limit; 0.05 allows the second 5 % more time.
    pub fn gate(&self, limit: f64) -> GateResult {
        let Some(search) = self.search() else {
            return GateResult::Unknown("the two runs do not each have one engine's search".to_owned());
        };
        match search.verdict {
            Verdict::OtherJob => {
                return GateResult::Unknown(format!(
                    "the runs are different jobs ({})",
                    self.other_job.join(", ")
                ));
            }
            Verdict::TooFew => return GateResult::Unknown(search.text()),
            _ if search.difference.interval.is_none() => {
                return GateResult::Unknown("its times are too short to compare".to_owned());
            }
            Verdict::NoneShown | Verdict::Unclear | Verdict::Slight | Verdict::Faster | Verdict::Slower => {}
        }
        let most = 1.0 + limit;
        let percent = percent(limit);
        let judged = [("search", Some(&search.difference)), ("total", self.total.as_ref())];
        let of = judged.map(|(name, difference)| {
            difference.and_then(|of: &Difference| Some((name, of.verdict, of.ratio?, of.interval?)))
        });
        // For very small limits, the verdict decides whether there is a difference at all.
        let is_slower = |verdict, interval: Interval| verdict == Verdict::Slower && interval.lower > most;
        if let Some((name, _, ratio, interval)) =
            of.into_iter().flatten().find(|&(_, verdict, _, interval)| is_slower(verdict, interval))
        {
            let [ratio, lower, upper] = [ratio, interval.lower, interval.upper].map(text::significant);
            return GateResult::Slower(format!(
                "the second run is slower by more than {percent} %: its {name} takes {ratio} times as long \
                 (95 %: {lower} to {upper})"
            ));
        }
        let open = of.into_iter().flatten().find(|(.., interval)| interval.upper > most);
        GateResult::Passed(open.map(|(name, .., interval)| {
            let upper = text::significant(interval.upper);
            let more = if self.pairs.is_some() { "pairs" } else { "repeats" };
            format!(
                "the second run may still be slower by {percent} %: its {name} takes up to {upper} times as \
                 long; run more {more}"
            )
        }))
    }
}

/// `5` of 0.05, `2.5` of 0.025.
pub fn percent(share: f64) -> f64 {
    (share * 1e4).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::{SavedRun, compare};

    fn saved(rows: &str) -> SavedRun {
        super::super::saved::saved(rows).unwrap()
    }

    fn searches(engine: &str, times: &[f64]) -> String {
        times.iter().enumerate().map(|(repeat, ms)| format!("{engine},search,{repeat},0,0,{ms}\n")).collect()
    }

    #[test]
    fn the_faster_run_is_named_with_its_factor() {
        let (a, b) = (
            saved(&searches("lockstep", &[33.0, 34.0, 32.0, 33.0])),
            saved(&searches("kdtree", &[10.0, 9.9, 10.1, 10.0])),
        );
        assert_eq!(
            compare(&a, &b).sentence().as_deref(),
            Some(
                "B (kdtree) searches 3.3 times as fast as A (lockstep). The factor is between 3.17 and \
                 3.62, with a confidence of 95 %."
            )
        );
        assert_eq!(
            compare(&b, &a).sentence().as_deref(),
            Some(
                "A (kdtree) searches 3.3 times as fast as B (lockstep). The factor is between 3.17 and \
                 3.62, with a confidence of 95 %."
            )
        );
    }

    #[test]
    fn index_build_time_is_counted() {
        let a = saved(&searches("lockstep", &[33.0, 34.0, 32.0, 33.0]));
        let b =
            saved(&format!("kdtree,build index,0,0,0,56\n{}", searches("kdtree", &[10.0, 9.9, 10.1, 10.0])));
        let said = compare(&a, &b).sentence().unwrap();
        assert!(
            said.starts_with(
                "B (kdtree) searches 3.3 times as fast as A (lockstep); counting the index (timed once \
                 each), slower: 2.0 times as long. The"
            ),
            "{said}"
        );
    }

    #[test]
    fn the_summary_reports_excluded_repeats_and_the_rule() {
        let (a, b) = ([80.9, 81.0, 80.7, 80.9, 81.2], [150.0, 9.7, 9.8, 9.7, 9.6]);
        let compared = compare(&saved(&searches("lockstep", &a)), &saved(&searches("kdtree", &b)));
        let said = compared.sentence().unwrap();
        assert!(
            said.starts_with(
                "B (kdtree) searches 8.3 times as fast as A (lockstep). The factor is between 8"
            ),
            "{said}"
        );
        assert!(
            said.ends_with(
                " 1 of 5 repeats of B excluded: more than a factor of 1.25 and 7 MAD from the median."
            ),
            "{said}"
        );
        let json = serde_json::to_value(&compared.phases[0]).unwrap();
        assert_eq!(
            (&json["a"]["excluded"], &json["b"]["excluded"], &json["b"]["repeats"]),
            (&0.into(), &1.into(), &5.into())
        );
    }

    #[test]
    fn scattered_repeats_show_no_difference() {
        let (a, b) = (
            saved(&searches("lockstep", &[33.0, 34.0, 32.0, 33.0])),
            saved(&searches("bvh", &[14.0, 2.0, 26.0, 33.5])),
        );
        let said = compare(&a, &b).sentence().unwrap();
        assert_eq!(
            said,
            "The searches of A (lockstep) and B (bvh) cannot be told apart in these repeats; the times scatter \
             too widely."
        );
    }

    #[test]
    fn undetectable_differences_are_reported() {
        let said = |a: &[f64], b: &[f64]| {
            compare(&saved(&searches("cuda", a)), &saved(&searches("cuda", b))).sentence().unwrap()
        };
        assert_eq!(said(&[1.0], &[1.0]), "Too few repeats: run 3 more to tell which is faster.");
        assert_eq!(
            said(&[33.0, 34.0, 32.0], &[14.0, 2.0, 26.0, 3.0]),
            "Too few repeats: run 1 more to tell which is faster."
        );
        let same = [1.0, 1.1, 0.9, 1.0];
        assert_eq!(
            said(&same, &same),
            "No difference between the searches of A and B in these repeats; one of 54 % or more would have \
             been seen."
        );
        assert_eq!(
            said(&[10.0; 4], &[10.1; 4]),
            "The searches of A and B are less than 2 % apart, too close to call either faster."
        );
        assert_eq!(
            said(&[10.0, 11.0, 12.0, 13.0], &[14.0, 15.0, 16.0, 17.0]),
            format!(
                "In these repeats, A was 1.3 times as fast as B. That is not certain: drift, waiting for a core \
                 or a repeat as slow as the other run's may explain it. {IN_TURN}"
            )
        );
        assert_eq!(said(&[0.0; 4], &[1.0; 4]), "The searches of A and B are too short to compare.");
        let none = saved("cuda,upload,0,0,0,4\n");
        assert_eq!(compare(&none, &none).sentence(), None);
    }

    #[test]
    fn the_gate_fails_only_for_significant_slowdowns() {
        let times = [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 10.1, 9.9];
        let of = |a: &[f64], b: &[f64]| compare(&saved(&searches("cuda", a)), &saved(&searches("cuda", b)));
        let slower = |by: f64| of(&times, &times.map(|ms| ms * by));
        let GateResult::Slower(why) = slower(1.3).gate(0.05) else { panic!("it is slower") };
        assert!(
            why.starts_with(
                "the second run is slower by more than 5 %: its search takes 1.30 times as long (95 %: 1.30 \
                 to 1.30)"
            ),
            "{why}"
        );
        assert!(matches!(slower(1.3).gate(0.5), GateResult::Passed(None)));
        let GateResult::Passed(Some(open)) =
            of(&times, &[10.2, 10.4, 10.6, 10.4, 10.2, 10.6, 10.6, 10.2, 10.4]).gate(0.05)
        else {
            panic!("it may be")
        };
        assert!(
            open.starts_with("the second run may still be slower by 5 %: its search takes up to 1.0"),
            "{open}"
        );
        assert!(matches!(slower(0.5).gate(0.05), GateResult::Passed(None)));
        // No difference is shown, so the limit is not exceeded, however small it is.
        let steady = [10.0; 9];
        let GateResult::Passed(Some(open)) = of(&steady, &steady.map(|ms| ms * 1.015)).gate(0.01) else {
            panic!("1.5 %")
        };
        assert!(open.contains("takes up to 1.0"), "{open}");
        assert_eq!(
            of(&[1.0], &[9.0]).gate(0.05),
            GateResult::Unknown("too few repeats: run 3 more".to_owned())
        );
    }
}
