//! What a run's times say, in sentences: where the time goes, and what more points would take.

use super::super::planner::{Job, Planner, about};
use super::super::{Phase, QuerySpec, RunRecord};
use crate::knn::{Shape, Stage};
use crate::text;

/// How many times the points the outlook is for.
const MORE: usize = 10;

/// The share of as many times the time below which it is said why.
const LESS: f64 = 0.75;

/// Where one answer's time goes: what was made of the points for it, one search, and its answer brought back.
///
/// `None` for a run without a timed search.
pub fn where_time_goes(record: &RunRecord) -> Option<String> {
    let search = record.summary.search_ms_median;
    let of = |phase: Phase| {
        let repeats = record.samples.iter().filter(|sample| sample.phase == phase).map(|sample| sample.repeat).max()? + 1;
        let total: f64 = record.samples.iter().filter(|sample| sample.phase == phase).map(|sample| sample.duration_ms).sum();
        Some(total / f64::from(repeats))
    };
    if search <= 0.0 {
        return None;
    }
    let mut parts = vec![("search", search)];
    for phase in [Phase::Upload, Phase::BuildIndex, Phase::Download] {
        parts.extend(of(phase).filter(|&ms| ms > 0.0).map(|ms| (phase.name(), ms)));
    }
    let total: f64 = parts.iter().map(|(_, ms)| ms).sum();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let share = |&(name, ms): &(&str, f64)| format!("{name} {} ({} %)", text::time(ms), text::digits(ms / total * 100.0, 2));
    let listed: Vec<String> = parts.iter().filter(|(_, ms)| ms / total >= 0.01).map(share).collect();
    let queries = text::count(record.summary.q, "query takes", "queries take");
    Some(format!("{} {}: {}.", queries, text::time(total), listed.join(", ")))
}

/// What ten times the points would take: the measured search, and the index if one was built, scaled as the planner expects of the engine.
///
/// `None` where the engine is not known here, or could not search so many.
pub fn outlook(record: &RunRecord, planner: &Planner) -> Option<String> {
    let engine = record.descriptor()?;
    let shape = Job::shape_of(record);
    // Where every row is a query, there are as many times the queries.
    let all = matches!(record.spec.queries, QuerySpec::All);
    let more = Shape { n: shape.n.checked_mul(MORE)?, q: shape.q.checked_mul(if all { MORE } else { 1 })?, ..shape };
    if more.n > engine.limits.n {
        return None;
    }
    let grown = |stage, ms: f64| {
        let ms = ms * planner.growth(engine, Some(&record.device), stage, &shape, &more);
        Some(ms).filter(|ms| ms.is_finite() && *ms > 0.0)
    };
    let search = grown(Stage::Search, record.summary.search_ms_median)?;
    let built: f64 = record.samples.iter().filter(|sample| sample.phase == Phase::BuildIndex).map(|sample| sample.duration_ms).sum();
    let index = grown(Stage::Setup, built).map_or_else(String::new, |ms| format!(", {} to build the index", about(ms)));
    // Every distance is computed, and still the time grows less: merges hardly grow with the points, and launches do not at all.
    let rarely = engine.is_exhaustive && !all && search < LESS * MORE as f64 * record.summary.search_ms_median;
    let why = if rarely { ", less than tenfold, as part of the work does not grow with the points" } else { "" };
    Some(format!("Ten times the points{}: {} to search{index}{why}.", if all { ", each a query" } else { "" }, about(search)))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::records::record;
    use super::super::super::testing::{spec, squares};
    use super::super::super::{Engines, RunSpec, Sample};
    use super::*;

    #[test]
    fn shares_add_up_to_one_answer() {
        let mut record = RunRecord::clone(&record());
        let sample = |phase, repeat, duration_ms| Sample { phase, repeat, chunk: 0, start_ms: 0.0, duration_ms };
        record.samples = vec![sample(Phase::BuildIndex, 0, 30.0), sample(Phase::Search, 0, 60.0), sample(Phase::Search, 1, 60.0)];
        record.samples.extend([sample(Phase::Download, 0, 10.0), sample(Phase::Download, 1, 10.0)]);
        record.head.summary.search_ms_median = 60.0;
        record.head.summary.q = 1200;
        assert_eq!(
            where_time_goes(&record).as_deref(),
            Some("1,200 queries take 100 ms: search 60.0 ms (60 %), build index 30.0 ms (30 %), download 10.0 ms (10 %).")
        );
        record.head.summary.search_ms_median = 0.0;
        assert_eq!(where_time_goes(&record), None);
    }

    #[test]
    fn more_points_take_longer() {
        let spec = RunSpec { queries: QuerySpec::Count(50), ..spec() };
        let mut record = Engines::default().execute(&spec, &squares(300), None, &mut |_, _| true).unwrap();
        record.head.summary.search_ms_median = 10.0;
        let planner = Planner::default();
        let engine = record.descriptor().expect("an engine of ours");
        let shape = Job::shape_of(&record);
        let factor = planner.growth(engine, Some(&record.device), Stage::Search, &shape, &Shape { n: 10 * shape.n, ..shape });
        assert!((1.0..=12.0).contains(&factor), "{factor}");
        let why = if factor < LESS * 10.0 { ", less than tenfold, as part of the work does not grow with the points" } else { "" };
        let expected = format!("Ten times the points: {} to search{why}.", about(10.0 * factor));
        assert_eq!(outlook(&record, &planner), Some(expected.clone()));
        // What a run of this very size taught says nothing of the other one.
        record.head.summary.search_ms_median = 1000.0;
        planner.learn(engine, &shape, &record);
        record.head.summary.search_ms_median = 10.0;
        assert_eq!(outlook(&record, &planner), Some(expected.clone()));
        // An index takes longer to build, too.
        record.samples.push(Sample { phase: Phase::BuildIndex, repeat: 0, chunk: 0, start_ms: 0.0, duration_ms: 5.0 });
        let said = outlook(&record, &planner).expect("it grows too");
        assert!(said.contains(" to search, ") && said.contains(" to build the index"), "{said}");
        // Where all rows are queries, there are ten times as many.
        record.head.spec.queries = QuerySpec::All;
        let said = outlook(&record, &planner).expect("it grows too");
        assert!(said.starts_with("Ten times the points, each a query: "), "{said}");
    }
}
