//! Whether the second is slower than is allowed.

use super::{Comparison, Difference, Interval, Verdict};
use crate::text;

/// What a comparison says to a limit.
#[derive(Clone, Debug, PartialEq)]
pub enum Gate {
    /// The second is slower than that, beyond the interval: what of it, in a sentence.
    Slower(String),
    /// It cannot be said, and why.
    Unknown(String),
    /// It is not known to be slower; a sentence where it may be all the same.
    Passed(Option<String>),
}

impl Comparison {
    /// Holds the search and, of pairs, the total against a limit: 0.05 allows the second 5 % more.
    pub fn gate(&self, limit: f64) -> Gate {
        let Some(search) = self.search() else { return Gate::Unknown("there is no search of one engine in both".to_owned()) };
        match search.verdict {
            Verdict::OtherJob => return Gate::Unknown(format!("the runs are different jobs ({})", self.other_job.join(", "))),
            Verdict::TooFew => return Gate::Unknown(search.text()),
            _ if search.difference.interval.is_none() => return Gate::Unknown("its times are too short to compare".to_owned()),
            Verdict::NoneShown | Verdict::Unclear | Verdict::Slight | Verdict::Faster | Verdict::Slower => {}
        }
        let most = 1.0 + limit;
        let percent = percent(limit);
        let judged = [("search", Some(&search.difference)), ("total", self.total.as_ref())];
        let of = judged.map(|(name, difference)| difference.and_then(|of: &Difference| Some((name, of.verdict, of.ratio?, of.interval?))));
        // Of a limit below what is spoken of as a difference, the verdict decides.
        let is_slower = |verdict, interval: Interval| verdict == Verdict::Slower && interval.lower > most;
        if let Some((name, _, ratio, interval)) = of.into_iter().flatten().find(|&(_, verdict, _, interval)| is_slower(verdict, interval)) {
            let [ratio, lower, upper] = [ratio, interval.lower, interval.upper].map(text::significant);
            return Gate::Slower(format!(
                "the second is slower by more than {percent} %: its {name} takes {ratio} times as long (95 %: {lower} to {upper})"
            ));
        }
        let open = of.into_iter().flatten().find(|(.., interval)| interval.upper > most);
        Gate::Passed(open.map(|(name, .., interval)| {
            let upper = text::significant(interval.upper);
            let more = if self.pairs.is_some() { "pairs" } else { "repeats" };
            format!("whether the second is slower by {percent} % is open: its {name} takes up to {upper} times as long; more {more} narrow that")
        }))
    }
}

/// `5` of 0.05, `2.5` of 0.025.
pub fn percent(share: f64) -> f64 {
    (share * 1e4).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::super::{SavedRun, compare};
    use super::*;

    fn saved(times: &[f64]) -> SavedRun {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timings.csv");
        let rows: String = times.iter().enumerate().map(|(repeat, ms)| format!("cuda,search,{repeat},0,0,{ms}\n")).collect();
        std::fs::write(&path, format!("engine,phase,repeat,chunk,start_ms,duration_ms\n{rows}")).unwrap();
        SavedRun::read(&path).unwrap()
    }

    #[test]
    fn only_what_is_beyond_the_interval_is_slower() {
        let times = [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 10.1, 9.9];
        let slower = |by: f64| compare(&saved(&times), &saved(&times.map(|ms| ms * by)));
        let Gate::Slower(why) = slower(1.3).gate(0.05) else { panic!("it is slower") };
        assert!(why.starts_with("the second is slower by more than 5 %: its search takes 1.30 times as long (95 %: 1.30 to 1.30)"), "{why}");
        assert!(matches!(slower(1.3).gate(0.5), Gate::Passed(None)));
        let Gate::Passed(Some(open)) = compare(&saved(&times), &saved(&[10.2, 10.4, 10.6, 10.4, 10.2, 10.6, 10.6, 10.2, 10.4])).gate(0.05) else {
            panic!("it may be")
        };
        assert!(open.starts_with("whether the second is slower by 5 % is open: its search takes up to 1.0"), "{open}");
        assert!(matches!(slower(0.5).gate(0.05), Gate::Passed(None)));
        // No difference is shown, so none is held against it, however small the limit.
        let steady = [10.0; 9];
        let Gate::Passed(Some(open)) = compare(&saved(&steady), &saved(&steady.map(|ms| ms * 1.015))).gate(0.01) else { panic!("1.5 %") };
        assert!(open.contains("takes up to 1.0"), "{open}");
        assert_eq!(compare(&saved(&[1.0]), &saved(&[9.0])).gate(0.05), Gate::Unknown("too few repeats: run 3 more".to_owned()));
    }
}
