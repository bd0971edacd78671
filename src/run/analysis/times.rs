//! What a run's times say: the part that each limit of the device explains, where the time goes, and the time
//! for more points.
//!
//! Shares of limits are lower bounds. They count the instructions of distances, and the bytes of points,
//! queries and answers once; other work is not counted.

use crate::knn::cost::out_of_cache;
use crate::knn::peaks::distance_instructions;
use crate::knn::{Method, Peaks, Shape, Stage};
use crate::run::planner::{Job, Planner, about};
use crate::run::{Phase, QuerySpec, RunRecord};
use crate::text;

/// A resource that may bound a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Instruction issue; only FP32 instructions are counted.
    Issue,
    /// Reading points and queries and writing answers, each once.
    Memory,
    /// Launching a kernel for each chunk of queries.
    Launches,
    /// Keeping the k best, from the cycles of a profile.
    Merging,
}

impl Limit {
    /// The limit's name at the start of a phrase.
    fn name(self) -> &'static str {
        match self {
            Self::Issue => "FP32",
            Self::Memory => "memory",
            Self::Launches => "launches",
            Self::Merging => "merging",
        }
    }
}

/// The share of the time from which a limit bounds the search. Below it, most of the time is spent on
/// latency, other instructions and divergence.
const BOUND_SHARE: f64 = 0.5;

/// A search compared with the limits of its device.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    pub peaks: Peaks,
    /// Median seconds of a repeat's search.
    seconds: f64,
    /// Distances of all queries; `None` if the engine does not count them.
    distances: Option<f64>,
    /// FP32 instructions per distance.
    instructions: f64,
    /// Bytes of points, queries and answers.
    bytes: f64,
    /// The share of the search's time for each known limit, largest first.
    shares: Vec<(Limit, f64)>,
}

impl Roofline {
    /// Compares a run with the peaks that were measured with it. `None` without peaks, or if the run was
    /// faster than the peaks allow, which means that they belong to another device.
    pub fn of_run(record: &RunRecord) -> Option<Self> {
        Self::new(record, record.peaks.as_ref().filter(|peaks| peaks.are_sensible())?)
            .filter(Self::is_possible)
    }

    /// Compares a run with a device's peaks; `None` if its engine is unknown, or nothing was timed.
    pub fn new(record: &RunRecord, peaks: &Peaks) -> Option<Self> {
        let engine = record.descriptor()?;
        let seconds = record.summary.search_ms_median / 1e3;
        if seconds <= 0.0 {
            return None;
        }
        let [n, q, d] = [record.summary.n, record.summary.q, record.summary.d].map(|size| size as f64);
        let method: Option<Method> = record.method.as_ref().and_then(|method| method.parse().ok());
        let parameters = method.map(|method| method.parameters).unwrap_or_default();
        let distances =
            (engine.distances)(record.summary.n as usize, &parameters, &record.measured).map(|each| each * q);
        let instructions = distance_instructions(record.summary.d as usize);
        // An index skips points, and queries may share the points they read. The points of one query are a
        // lower bound.
        let read = if engine.is_exhaustive {
            n
        } else {
            distances.map_or(0.0, |distances| (distances / q.max(1.0)).min(n))
        };
        // Points that stay in a cache between repeats are not read from memory.
        let bytes = 4.0 * d * (read * out_of_cache(4.0 * d * n) + q) + 8.0 * record.spec.k as f64 * q;

        let arithmetic = distances.map(|distances| distances * instructions / peaks.fp32_per_second);
        let memory = peaks.bytes_per_second.map(|peak| bytes / peak);
        let launches = peaks.launch_ms.map(|each| launches(record) * each / 1e3);
        let of_time = [(Limit::Issue, arithmetic), (Limit::Memory, memory), (Limit::Launches, launches)];
        let mut shares: Vec<(Limit, f64)> =
            of_time.into_iter().filter_map(|(limit, least)| Some((limit, least? / seconds))).collect();
        shares.extend(merging(record).map(|share| (Limit::Merging, share)));
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        Some(Self { peaks: *peaks, seconds, distances, instructions, bytes, shares })
    }

    /// Whether the search was no faster than the device allows, within measurement error.
    pub fn is_possible(&self) -> bool {
        self.shares.iter().all(|(_, share)| *share < 1.05)
    }

    /// FP32 instructions per byte of points, queries and answers: the x coordinate on the roofline.
    pub fn intensity(&self) -> Option<f64> {
        Some(self.distances? * self.instructions / self.bytes)
    }

    /// FP32 instructions per second.
    pub fn achieved(&self) -> Option<f64> {
        Some(self.distances? * self.instructions / self.seconds)
    }

    /// The maximum FP32 instructions per second at an intensity, limited by memory and by the FP32 peak.
    pub fn roof(&self, intensity: f64) -> f64 {
        self.peaks
            .bytes_per_second
            .map_or(f64::INFINITY, |bytes| bytes * intensity)
            .min(self.peaks.fp32_per_second)
    }

    /// The share of the search's time that a limit explains, if known.
    pub fn share(&self, limit: Limit) -> Option<f64> {
        self.shares.iter().find(|(known, _)| *known == limit).map(|(_, share)| *share)
    }

    /// The limit that bounds the search; `None` if no known limit explains half of its time.
    pub fn bound(&self) -> Option<Limit> {
        self.shares.first().filter(|(_, share)| *share >= BOUND_SHARE).map(|(limit, _)| *limit)
    }

    /// What bounds the search, with the evidence.
    pub fn sentence(&self) -> String {
        let rate = self.distances.map(|distances| {
            let (rate, most) = (distances / self.seconds, self.peaks.fp32_per_second / self.instructions);
            format!("{} at FP32 peak: ", text::rate_with_max(rate, most))
        });
        let bound = match self.bound() {
            Some(Limit::Issue) => "bound by instruction issue",
            Some(Limit::Memory) => "bound by memory",
            Some(Limit::Launches) => "bound by launches",
            Some(Limit::Merging) => "bound by merging",
            None if self.distances.is_some() && self.peaks.bytes_per_second.is_some() => {
                "neither arithmetic nor memory is the bottleneck"
            }
            None => "no measured limit is the bottleneck",
        };
        let rate = rate.unwrap_or_default();
        let bound = if rate.is_empty() { text::sentence_case(bound) } else { bound.to_owned() };
        let share = |&(limit, share): &(Limit, f64)| {
            let of = if limit == Limit::Merging { " of the cycles" } else { "" };
            format!("{} {}{of}", limit.name(), percent(share))
        };
        let shares: Vec<String> = self.shares.iter().map(share).collect();
        let shares = match &shares[..] {
            [] => String::new(),
            [_, _, ..] if self.shares[0].1 < 0.01 => " (each under 1 % of peak)".to_owned(),
            _ => format!(" ({})", shares.join(", ")),
        };
        format!("{rate}{bound}{shares}.")
    }
}

/// Formats a share as a percentage, or as `under 1 %`.
fn percent(share: f64) -> String {
    if share < 0.01 { "under 1 %".to_owned() } else { format!("{:.0} %", share * 100.0) }
}

/// Chunks of a repeat's queries, each at least one launch.
fn launches(record: &RunRecord) -> f64 {
    let chunks = record
        .samples
        .iter()
        .filter(|sample| sample.phase == Phase::Search)
        .map(|sample| sample.chunk.saturating_add(1))
        .max();
    f64::from(chunks.unwrap_or(1))
}

/// The share of the warps' cycles spent on keeping the k best, if profiled.
fn merging(record: &RunRecord) -> Option<f64> {
    let (profile, phases) = (record.profile.as_ref()?, record.descriptor()?.phases);
    let merges: Vec<bool> = profile
        .phases
        .iter()
        .map(|name| phases.iter().any(|phase| phase.merges && phase.name == name))
        .collect();
    if merges.is_empty() || !merges.contains(&true) {
        return None;
    }
    let (mut of_merging, mut all) = (0.0, 0.0);
    for cycles in profile.cycles.chunks_exact(merges.len()) {
        for (&cycles, &merges) in cycles.iter().zip(&merges) {
            all += cycles as f64;
            of_merging += if merges { cycles as f64 } else { 0.0 };
        }
    }
    (all > 0.0).then(|| of_merging / all)
}

/// Factor of the outlook's number of points.
const OUTLOOK_FACTOR: usize = 10;

/// Fraction of the proportional time below which the outlook gives a reason.
const SUBLINEAR_SHARE: f64 = 0.75;

/// Where the time of one answer goes: preparing the points, one search, and downloading the answer.
///
/// `None` for a run without a timed search.
pub fn where_time_goes(record: &RunRecord) -> Option<String> {
    let mut parts = measured_parts(record)?;
    let total: f64 = parts.iter().map(|(_, ms)| ms).sum();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let share = |&(name, ms): &(&str, f64)| {
        format!("{name} {} ({} %)", text::time(ms), text::digits(ms / total * 100.0, 2))
    };
    let listed: Vec<String> = parts.iter().filter(|(_, ms)| ms / total >= 0.01).map(share).collect();
    let queries = text::count(record.summary.q, "query takes", "queries take");
    Some(format!("{} {}: {}.", queries, text::time(total), listed.join(", ")))
}

/// The phases of one repeat with their milliseconds, from the search on.
fn measured_parts(record: &RunRecord) -> Option<Vec<(&'static str, f64)>> {
    let search = record.summary.search_ms_median;
    let of = |phase: Phase| {
        let repeats =
            record.samples.iter().filter(|sample| sample.phase == phase).map(|sample| sample.repeat).max()?
                + 1;
        let total: f64 = record
            .samples
            .iter()
            .filter(|sample| sample.phase == phase)
            .map(|sample| sample.duration_ms)
            .sum();
        Some(total / f64::from(repeats))
    };
    if search <= 0.0 {
        return None;
    }
    let mut parts = vec![("search", search)];
    for phase in [Phase::Upload, Phase::BuildIndex, Phase::Download] {
        parts.extend(of(phase).filter(|&ms| ms > 0.0).map(|ms| (phase.name(), ms)));
    }
    Some(parts)
}

/// The predicted time for ten times the points: the measured search, and the index if one was built, scaled
/// by the planner's model of the engine.
///
/// `None` if the engine is unknown or does not support so many points, or if the prediction is below what was
/// measured, and so cannot be right.
pub fn outlook(record: &RunRecord, planner: &Planner) -> Option<String> {
    let engine = record.descriptor()?;
    let shape = Job::shape_of(record);
    // If every row is a query, the number of queries grows as well.
    let all = matches!(record.spec.queries, QuerySpec::All);
    let more = Shape {
        n: shape.n.checked_mul(OUTLOOK_FACTOR)?,
        q: shape.q.checked_mul(if all { OUTLOOK_FACTOR } else { 1 })?,
        ..shape
    };
    if more.n > engine.limits.n {
        return None;
    }
    let grown = |stage, ms: f64| {
        let ms = ms * planner.growth(engine, Some(&record.device), stage, &shape, &more);
        Some(ms).filter(|ms| ms.is_finite() && *ms > 0.0)
    };
    let search = grown(Stage::Search, record.summary.search_ms_median)?;
    let built: f64 = record
        .samples
        .iter()
        .filter(|sample| sample.phase == Phase::BuildIndex)
        .map(|sample| sample.duration_ms)
        .sum();
    let index = grown(Stage::Setup, built);
    let measured: f64 = measured_parts(record)?.iter().map(|(_, ms)| ms).sum();
    if search < record.summary.search_ms_median || search + index.unwrap_or(0.0) < measured {
        return None;
    }
    let index = index.map_or_else(String::new, |ms| format!(", plus {} for the index", about(ms)));
    // An exhaustive search may still grow less than tenfold: merges hardly grow with the points, and launches
    // not at all.
    let is_less = search < SUBLINEAR_SHARE * OUTLOOK_FACTOR as f64 * record.summary.search_ms_median;
    let why = match (is_less, engine.is_exhaustive) {
        (false, _) => "",
        (true, true) => " (less than tenfold: part of the work is constant)",
        (true, false) => " (less than tenfold: the index prunes most points)",
    };
    Some(format!(
        "With ten times the points{}: {}{index}{why}.",
        if all { ", all as queries" } else { "" },
        about(search)
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::knn::{EngineId, Measurements, Profile, warp};
    use crate::run::testing::records::record;
    use crate::run::testing::{spec, squares};
    use crate::run::{EnginePool, LoadedSpec, RunSpec, Sample};

    const PEAKS: Peaks =
        Peaks { fp32_per_second: 28e12, bytes_per_second: Some(4e12), launch_ms: Some(0.003) };

    /// A run of `cuda` in three dimensions: a million points, all of them queries.
    fn run(search_ms: f64) -> RunRecord {
        let mut record = RunRecord::clone(&record());
        record.head.engine = EngineId::new("cuda");
        record.head.method = None;
        record.head.spec.k = 32;
        record.profile = None;
        let summary = &mut record.head.summary;
        (summary.n, summary.q, summary.d, summary.search_ms_median) = (1_000_000, 1_000_000, 3, search_ms);
        record.samples =
            vec![Sample { phase: Phase::Search, repeat: 0, chunk: 9, start_ms: 0.0, duration_ms: search_ms }];
        record
    }

    fn bottleneck(record: &RunRecord) -> String {
        Roofline::new(record, &PEAKS).unwrap().sentence()
    }

    #[test]
    fn the_bottleneck_has_the_largest_share_of_time() {
        let mut run = run(400.0);
        assert_eq!(
            bottleneck(&run),
            "2.50 of 4.00 Tdist/s at FP32 peak: bound by instruction issue (FP32 62 %, \
             memory under 1 %, launches under 1 %)."
        );
        run.head.summary.search_ms_median = 1000.0;
        assert!(
            bottleneck(&run).contains("neither arithmetic nor memory is the bottleneck (FP32 25 %, "),
            "{}",
            bottleneck(&run)
        );
        // One query: most of the time is spent on the ten launches.
        (run.head.summary.q, run.head.summary.search_ms_median) = (1, 0.04);
        assert!(
            bottleneck(&run).contains("bound by launches (launches 75 %, memory 5 %, FP32 under 1 %)"),
            "{}",
            bottleneck(&run)
        );
        // A hundred times the points, too many for a cache, and one launch.
        (run.head.summary.n, run.head.summary.search_ms_median, run.samples[0].chunk) = (100_000_000, 0.4, 0);
        assert!(
            bottleneck(&run).contains("bound by memory (memory 75 %, FP32 6 %, launches under 1 %)"),
            "{}",
            bottleneck(&run)
        );
    }

    #[test]
    fn profiles_report_merging_as_a_bottleneck() {
        let mut run = run(1000.0);
        let cycles = vec![10, 20, 20, 30, 15, 5];
        run.profile = Some(Profile { cycles, ..Profile::new(&warp::PHASES) });
        assert!(
            bottleneck(&run).contains("bound by merging (merging 65 % of the cycles, FP32 25 %"),
            "{}",
            bottleneck(&run)
        );
        run.profile = Some(Profile::default());
        assert!(!bottleneck(&run).contains("merging"));
    }

    #[test]
    fn filters_and_uncounted_runs_have_no_fp32_rate() {
        let mut run = run(2.0);
        run.samples[0].chunk = 0;
        run.head.method = Some("cuda:kernel=filter".to_owned());
        run.head.summary.q = 10_000;
        let roofline = Roofline::new(&run, &PEAKS).unwrap();
        assert_eq!((roofline.intensity(), roofline.achieved()), (None, None));
        assert!(
            roofline.sentence().starts_with("No measured limit is the bottleneck ("),
            "{}",
            roofline.sentence()
        );

        run.head.engine = EngineId::new("bvh");
        run.measured = Measurements::default();
        assert_eq!(Roofline::new(&run, &PEAKS).unwrap().achieved(), None);
        run.measured = Measurements::new([("distance_evals".to_owned(), vec![300, 500])]);
        let achieved = Roofline::new(&run, &PEAKS).unwrap().achieved().unwrap();
        assert!((achieved - 400.0 * 10_000.0 * 7.0 / 2e-3).abs() < 1.0, "{achieved}");
    }

    #[test]
    fn the_roof_is_memory_bound_then_compute_bound() {
        let roofline = Roofline::new(&run(400.0), &PEAKS).unwrap();
        assert_eq!([0.5, 7.0, 60.0].map(|intensity| roofline.roof(intensity)), [2e12, 28e12, 28e12]);
        // Points and queries take 12 bytes each, and 32 neighbours take 8 bytes each.
        let bytes = 1e6 * (12.0 * out_of_cache(12e6) + 12.0 + 256.0);
        assert!((roofline.intensity().unwrap() - 7e12 / bytes).abs() < 1e-6);
        assert!(roofline.is_possible() && !Roofline::new(&run(200.0), &PEAKS).unwrap().is_possible());
        assert_eq!(Roofline::new(&run(0.0), &PEAKS), None);
    }

    #[test]
    fn unknown_engines_have_no_roofline() {
        let mut run = run(400.0);
        run.head.engine = EngineId::new("unheard-of");
        assert_eq!(Roofline::new(&Arc::new(run), &PEAKS), None);
    }

    #[test]
    fn time_shares_add_up_to_the_total() {
        let mut record = RunRecord::clone(&record());
        let sample =
            |phase, repeat, duration_ms| Sample { phase, repeat, chunk: 0, start_ms: 0.0, duration_ms };
        record.samples = vec![
            sample(Phase::BuildIndex, 0, 30.0),
            sample(Phase::Search, 0, 60.0),
            sample(Phase::Search, 1, 60.0),
        ];
        record.samples.extend([sample(Phase::Download, 0, 10.0), sample(Phase::Download, 1, 10.0)]);
        record.head.summary.search_ms_median = 60.0;
        record.head.summary.q = 1200;
        assert_eq!(
            where_time_goes(&record).as_deref(),
            Some(
                "1,200 queries take 100 ms: search 60.0 ms (60 %), build index 30.0 ms (30 %), download \
                 10.0 ms (10 %)."
            )
        );
        record.head.summary.search_ms_median = 0.0;
        assert_eq!(where_time_goes(&record), None);
    }

    #[test]
    fn predicted_time_grows_with_the_number_of_points() {
        let spec = RunSpec { queries: QuerySpec::Count(50), ..spec() };
        let mut record = EnginePool::default()
            .execute(LoadedSpec::new(&spec, &squares(300), None), &mut |_, _| true)
            .unwrap();
        record.head.summary.search_ms_median = 10.0;
        let planner = Planner::default();
        let engine = record.descriptor().expect("a known engine");
        let shape = Job::shape_of(&record);
        let factor = planner.growth(
            engine,
            Some(&record.device),
            Stage::Search,
            &shape,
            &Shape { n: 10 * shape.n, ..shape },
        );
        assert!((1.0..=12.0).contains(&factor), "{factor}");
        let why = if factor < SUBLINEAR_SHARE * 10.0 {
            " (less than tenfold: part of the work is constant)"
        } else {
            ""
        };
        let expected = format!("With ten times the points: {}{why}.", about(10.0 * factor));
        assert_eq!(outlook(&record, &planner), Some(expected.clone()));
        // Learning from a run of this size must not change the outlook for the larger one.
        record.head.summary.search_ms_median = 1000.0;
        planner.learn(engine, &shape, &record);
        record.head.summary.search_ms_median = 10.0;
        assert_eq!(outlook(&record, &planner), Some(expected.clone()));
        // The time to build an index grows as well.
        record.samples.push(Sample {
            phase: Phase::BuildIndex,
            repeat: 0,
            chunk: 0,
            start_ms: 0.0,
            duration_ms: 5.0,
        });
        let said = outlook(&record, &planner).expect("an outlook");
        assert!(said.contains(", plus ") && said.contains(" for the index"), "{said}");
        // A prediction below the measured time would contradict it.
        let mut slow = record.clone();
        slow.samples.push(Sample {
            phase: Phase::Download,
            repeat: 0,
            chunk: 0,
            start_ms: 0.0,
            duration_ms: 1e6,
        });
        assert_eq!(outlook(&slow, &planner), None);
        // If all rows are queries, there are ten times as many.
        record.head.spec.queries = QuerySpec::All;
        let said = outlook(&record, &planner).expect("an outlook");
        assert!(said.starts_with("With ten times the points, all as queries: "), "{said}");
    }
}
