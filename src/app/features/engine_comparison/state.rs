//! One problem answered by several engines, to compare their times and answers.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use strum::VariantArray;

use crate::engines::registry;
use crate::knn::{DeviceId, EngineId};
use crate::run::planner::{Candidate, StageTimes};
use crate::run::{EngineChoice, RunRecord, RunSpec, stats};
use crate::text;

/// Limit on an engine's predicted time in a comparison of all; each can still be run alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray)]
pub enum TimeLimit {
    TenSeconds,
    #[default]
    Minute,
    TenMinutes,
    Any,
}

impl TimeLimit {
    pub fn ms(self) -> f64 {
        match self {
            Self::TenSeconds => 10_000.0,
            Self::Minute => 60_000.0,
            Self::TenMinutes => 600_000.0,
            Self::Any => f64::INFINITY,
        }
    }

    /// `up to 1 min each`.
    pub fn text(self) -> &'static str {
        match self {
            Self::TenSeconds => "up to 10 s each",
            Self::Minute => "up to 1 min each",
            Self::TenMinutes => "up to 10 min each",
            Self::Any => "no time limit",
        }
    }

    /// Whether an available engine is skipped.
    pub fn excludes(self, candidate: &Candidate) -> bool {
        candidate.why_not.is_none() && candidate.total_ms.is_some_and(|ms| ms > self.ms())
    }
}

/// The engines to run in turn, and their answers.
#[derive(Clone, Debug, Default)]
pub struct EngineComparison {
    /// The problem; its engine is ignored.
    question: Option<RunSpec>,
    waiting: VecDeque<EngineId>,
    /// The running engine, with its spec.
    asked: Option<(EngineId, RunSpec)>,
    began: Option<Instant>,
    /// Predictions from before the runs, because each run corrects later predictions.
    predicted: HashMap<EngineId, StageTimes>,
    answers: HashMap<EngineId, Arc<RunRecord>>,
    failures: HashMap<EngineId, String>,
    /// Number of queries that an engine answered differently from the first one.
    differing: HashMap<EngineId, usize>,
    /// The engine that answered first.
    first: Option<EngineId>,
    pub page: Option<EngineId>,
    /// Index of the source file shown for the engine `page`.
    pub source: Option<usize>,
    /// Limit for a comparison of all engines.
    pub time_limit: TimeLimit,
}

impl EngineComparison {
    /// Queues engines with their predictions; earlier answers to the same problem are kept.
    pub fn begin(
        &mut self,
        question: RunSpec,
        engines: impl IntoIterator<Item = (EngineId, Option<StageTimes>)>,
    ) {
        if !self.is_of(&question) {
            self.forget();
            self.question = Some(question);
        }
        let (engines, forecasts): (VecDeque<_>, Vec<_>) = engines.into_iter().unzip();
        self.predicted.extend(
            engines.iter().zip(forecasts).filter_map(|(engine, forecast)| Some((*engine, forecast?))),
        );
        self.waiting = engines;
        self.asked = None;
    }

    /// The next run, on the chosen device if the engine supports it.
    pub fn next(&mut self) -> Option<RunSpec> {
        self.asked = None;
        let (question, engine) = (self.question.as_ref()?, self.waiting.pop_front()?);
        let runs_on = |device: &DeviceId| {
            registry::find(engine).is_some_and(|known| known.runs_on.contains(&device.kind()))
        };
        let spec = RunSpec {
            engine: EngineChoice::named(engine),
            device: question.device.filter(runs_on),
            ..question.clone()
        };
        self.failures.remove(&engine);
        self.asked = Some((engine, spec.clone()));
        self.began = Some(Instant::now());
        Some(spec)
    }

    /// Stores a run if it belongs to the comparison; returns whether it does.
    pub fn take(&mut self, record: &Arc<RunRecord>) -> bool {
        let Some((engine, _)) = self.asked.take_if(|(_, spec)| *spec == record.spec) else { return false };
        self.answers.insert(engine, Arc::clone(record));
        let first = *self.first.get_or_insert(engine);
        let compared = if engine == first { self.answers.keys().copied().collect() } else { vec![engine] };
        for other in compared {
            let queries = different_queries(&self.answers[&other], &self.answers[&first]);
            self.differing.insert(other, queries);
        }
        true
    }

    /// Records that the running engine failed; returns false if none was running.
    pub fn fail(&mut self, why: &str) -> bool {
        let Some((engine, _)) = self.asked.take() else { return false };
        self.failures.insert(engine, why.to_owned());
        true
    }

    pub fn stop(&mut self) {
        self.waiting.clear();
        self.asked = None;
    }

    /// Drops all answers, because another cloud is shown.
    pub fn forget(&mut self) {
        *self = Self { page: self.page, source: self.source, time_limit: self.time_limit, ..Self::default() };
    }

    /// The running engine, and the number of engines still queued.
    pub fn under_way(&self) -> Option<(EngineId, usize)> {
        self.asked.as_ref().map(|(engine, _)| (*engine, self.waiting.len()))
    }

    /// Whether the answers are for this problem and device, with any engine.
    pub fn is_of(&self, spec: &RunSpec) -> bool {
        let plain = |spec: &RunSpec| RunSpec { engine: EngineChoice::Auto, ..spec.clone() };
        self.question.as_ref().is_some_and(|question| plain(question) == plain(spec))
    }

    pub fn answer(&self, engine: EngineId) -> Option<&Arc<RunRecord>> {
        self.answers.get(&engine)
    }

    /// How long the current engine has been running.
    pub fn elapsed(&self) -> Option<Duration> {
        self.began.filter(|_| self.asked.is_some()).map(|began| began.elapsed())
    }

    pub fn is_waiting(&self, engine: EngineId) -> bool {
        self.waiting.contains(&engine)
    }

    /// The prediction for an engine from before its run.
    pub fn predicted(&self, engine: EngineId) -> Option<StageTimes> {
        self.predicted.get(&engine).copied()
    }

    pub fn failure(&self, engine: EngineId) -> Option<&str> {
        self.failures.get(&engine).map(String::as_str)
    }

    /// Number of queries that an engine answered differently from the first one; `None` before it answered.
    pub fn differing(&self, engine: EngineId) -> Option<usize> {
        self.differing.get(&engine).copied()
    }

    /// All answers, fastest search first.
    pub fn answers(&self) -> Vec<&Arc<RunRecord>> {
        let mut answers: Vec<_> = self.answers.values().collect();
        answers.sort_by(|a, b| a.summary.search_ms_median.total_cmp(&b.summary.search_ms_median));
        answers
    }

    /// Whether all answers are equal, in a sentence; `None` for fewer than two.
    pub fn verdict(&self) -> Option<String> {
        let (answers, first) = (self.answers(), self.first?);
        if answers.len() < 2 {
            return None;
        }
        let differs = |answer: &&Arc<RunRecord>| {
            Some((answer.engine, *self.differing.get(&answer.engine)?)).filter(|(_, queries)| *queries > 0)
        };
        let others: Vec<String> = answers
            .iter()
            .filter_map(differs)
            .map(|(engine, queries)| {
                format!("{engine} in {}", text::count(queries as u64, "query", "queries"))
            })
            .collect();
        Some(if others.is_empty() {
            format!("All {} engines gave the same neighbours, bit for bit.", answers.len())
        } else {
            format!("Different neighbours from {first}: {}.", others.join(", "))
        })
    }
}

/// Number of queries whose neighbours or distances differ in any bit.
fn different_queries(a: &RunRecord, b: &RunRecord) -> usize {
    let (a, b) = (&a.neighbors, &b.neighbors);
    if (a.queries(), a.indices.len()) != (b.queries(), b.indices.len()) || a.queries() == 0 {
        return a.queries().max(b.queries());
    }
    let k = a.indices.len() / a.queries();
    let same = |query: usize| {
        let row = query * k..(query + 1) * k;
        let bits = |distances: &[f32]| {
            distances[row.clone()].iter().map(|distance| distance.to_bits()).collect::<Vec<_>>()
        };
        a.indices[row.clone()] == b.indices[row.clone()]
            && bits(&a.squared_distances) == bits(&b.squared_distances)
    };
    (0..a.queries()).filter(|&query| k > 0 && !same(query)).count()
}

/// Standard deviation of the repeats' search times in milliseconds; `None` for one repeat.
pub fn deviation(record: &RunRecord) -> Option<f64> {
    let repeats = stats::search_ms(&record.samples);
    stats::mean_and_deviation(&repeats).filter(|_| repeats.len() > 1).map(|[_, deviation]| deviation)
}

#[derive(Clone, Debug)]
pub enum EnginesAction {
    /// Run all engines within the limit, whether or not they have answered.
    Start,
    /// Run one engine, again if necessary.
    One(EngineId),
    /// Set the limit on predicted times for [`Self::Start`].
    SetTimeLimit(TimeLimit),
    /// Cancel the current run and clear the queue.
    Stop,
    /// Show an engine's page, or none.
    Page(Option<EngineId>),
    /// Show a source file of that engine, or none.
    Source(Option<usize>),
    /// Show its run in all panes.
    Show(EngineId),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    fn answered_by(engine: &'static str, change: impl FnOnce(&mut RunRecord)) -> Arc<RunRecord> {
        let mut answer = RunRecord::clone(&record());
        answer.head.engine = EngineId::new(engine);
        answer.head.spec.engine = EngineChoice::named(answer.head.engine);
        change(&mut answer);
        Arc::new(answer)
    }

    fn ask(comparison: &mut EngineComparison, answers: &[Arc<RunRecord>]) {
        comparison.begin(record().spec.clone(), answers.iter().map(|answer| (answer.engine, None)));
        for answer in answers {
            assert_eq!(comparison.next().as_ref(), Some(&answer.spec));
            // The same engine with other parameters is a different request.
            let mut other = RunRecord::clone(answer);
            other.head.spec.engine = format!("{}:any=1", answer.engine).parse().unwrap_or(EngineChoice::Auto);
            assert!(!comparison.take(&Arc::new(other)) && comparison.take(answer), "{}", answer.engine);
        }
        assert!(comparison.next().is_none() && comparison.under_way().is_none());
    }

    #[test]
    fn answers_are_compared_with_the_first_engine() {
        let mut comparison = EngineComparison::default();
        ask(
            &mut comparison,
            &[
                answered_by("lockstep", |answer| answer.head.summary.search_ms_median = 2.0),
                answered_by("kdtree", |answer| answer.head.summary.search_ms_median = 1.0),
            ],
        );
        assert_eq!(
            comparison.verdict().as_deref(),
            Some("All 2 engines gave the same neighbours, bit for bit.")
        );
        assert_eq!(comparison.answers()[0].engine.as_str(), "kdtree", "fastest first");
        // One bit of one distance differs.
        let other = answered_by("bits", |answer| {
            let distance = &mut answer.neighbors.squared_distances[1];
            *distance = f32::from_bits(distance.to_bits() + 1);
        });
        ask(&mut comparison, &[other]);
        assert_eq!(
            comparison.verdict().as_deref(),
            Some("Different neighbours from lockstep: bits in 1 query.")
        );
        assert_eq!(
            ["lockstep", "bits", "bvh"].map(|name| comparison.differing(EngineId::new(name))),
            [Some(0), Some(1), None]
        );
    }

    #[test]
    fn failed_engines_do_not_stop_the_comparison() {
        let mut comparison = EngineComparison::default();
        ask(&mut comparison, &[answered_by("lockstep", |_| {})]);
        let engines = ["bits", "kdtree"].map(EngineId::new);
        let question = RunSpec { k: record().spec.k + 1, ..record().spec.clone() };
        comparison.begin(
            question,
            engines.map(|engine| (engine, Some(StageTimes { setup_ms: 0.0, search_ms: 2.0 }))),
        );
        assert_eq!(comparison.predicted(engines[0]).map(|forecast| forecast.search_ms), Some(2.0));
        assert!(comparison.is_waiting(engines[1]));
        assert!(comparison.answers().is_empty() && comparison.next().is_some());
        assert!(comparison.fail("there is no room"));
        assert_eq!(comparison.failure(engines[0]), Some("there is no room"));
        assert_eq!(comparison.next().map(|spec| spec.engine), Some(EngineChoice::named(engines[1])));
        // A run requested elsewhere does not belong here.
        assert!(!comparison.take(&answered_by("kdtree", |_| {})), "its k differs");
        comparison.stop();
        assert!(!comparison.fail("cancelled") && comparison.under_way().is_none());
        // Another device is another problem. An engine that does not run on the chosen device uses its own.
        let on = |device| RunSpec { device: Some(device), ..record().spec.clone() };
        comparison.begin(on(DeviceId::Gpu(0)), [(EngineId::new("kdtree"), None)]);
        assert!(
            !comparison.is_of(&on(DeviceId::Cpu))
                && comparison.next().is_some_and(|spec| spec.device.is_none())
        );
        comparison.forget();
        assert!(comparison.next().is_none() && comparison.answers().is_empty());
    }
}
