//! A job's predictions and the engine chosen by them: among the engines about as fast as the fastest, the one
//! that reports most.

use serde::Serialize;

use super::{Planner, StageTimes};
use crate::knn::{Descriptor, DeviceInfo, EngineError, EngineId, Group, Metric, ProblemParameters, Shape};
use crate::run::{EngineChoice, QuerySpec, RunRecord, RunSpec};
use crate::text;

/// What a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A measured run: warm-ups, timed repeats and a counted pass.
    Measure,
    /// A single pass, for a user who is waiting.
    Answer,
}

/// A search whose time is to be predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub shape: Shape,
    pub metric: Metric,
    pub purpose: Purpose,
    /// The number of timed passes, including warm-ups.
    pub timed: u32,
    /// Whether the profiled build is run as well.
    pub profile: bool,
}

impl Job {
    /// The job of a spec over n points with `columns` columns; `queries` is the number of queries in its
    /// query file, if it has one.
    pub fn new(spec: &RunSpec, purpose: Purpose, n: usize, columns: usize, queries: Option<usize>) -> Self {
        let q = match &spec.queries {
            QuerySpec::All => n,
            QuerySpec::Count(count) => usize::try_from(*count).unwrap_or(usize::MAX).min(n),
            QuerySpec::Rows(rows) => rows.len(),
            QuerySpec::At(_) => 1,
            QuerySpec::File { .. } => queries.unwrap_or(1),
        };
        let shape = Shape { n, q, d: spec.metric.dims(columns), k: ProblemParameters::from(spec).found_k() };
        Self {
            shape,
            metric: spec.metric,
            purpose,
            timed: spec.warmup.saturating_add(spec.repeats),
            profile: spec.profile,
        }
    }

    /// The sizes of the problem that a run answered.
    pub fn shape_of(record: &RunRecord) -> Shape {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let summary = &record.summary;
        Shape {
            n: size(summary.n),
            q: size(summary.q),
            d: size(summary.d),
            // More than the spec's k if the neighbours are to be ranked by the file's values.
            k: ProblemParameters { k: record.neighbors.k, ..ProblemParameters::from(&record.spec) }.found_k(),
        }
    }

    /// The number of passes over the queries that an engine makes, including the counted and profiled ones.
    fn passes(&self, engine: &Descriptor) -> f64 {
        match self.purpose {
            Purpose::Answer => 1.0,
            Purpose::Measure => {
                f64::from(self.timed) + f64::from(u8::from(engine.counts()) * (1 + u8::from(self.profile)))
            }
        }
    }

    fn leeway(&self) -> Leeway {
        match self.purpose {
            Purpose::Answer => Leeway::ANSWER,
            Purpose::Measure => Leeway::MEASURE,
        }
    }

    fn detail(&self, engine: &Descriptor) -> u8 {
        u8::from(engine.counts())
            + u8::from(engine.convergence.is_some())
            + u8::from(self.profile && !engine.phases.is_empty())
    }
}

/// The prediction for one engine.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    pub engine: EngineId,
    /// Whether the engine has already loaded the points, so that setup takes no time.
    pub resident: bool,
    /// Setup, and one pass over the queries; `None` if the problem exceeds the engine's limits.
    #[serde(flatten)]
    pub forecast: Option<StageTimes>,
    /// Predicted milliseconds of the whole job; `None` if there is no forecast.
    pub total_ms: Option<f64>,
    /// Why the engine cannot run here or cannot take the problem; `None` if it can.
    pub why_not: Option<String>,
    #[serde(skip)]
    detail: u8,
    /// Milliseconds of setup that do not count; see [`Self::after_waiting`].
    #[serde(skip)]
    waited_ms: f64,
}

impl Candidate {
    /// Predicts an engine's times. `device` is its device (`None`: use the built-in rates), or why it cannot
    /// run.
    pub fn new(
        planner: &Planner,
        engine: &Descriptor,
        job: &Job,
        device: Result<Option<&DeviceInfo>, String>,
        resident: bool,
    ) -> Self {
        let taken: Result<(), EngineError> = engine.limits.check(engine.id, &job.shape, job.metric);
        let forecast = taken
            .is_ok()
            .then(|| planner.forecast(engine, device.as_ref().ok().copied().flatten(), &job.shape));
        let setup = |forecast: &StageTimes| if resident { 0.0 } else { forecast.setup_ms };
        Self {
            engine: engine.id,
            resident,
            forecast,
            total_ms: forecast.map(|forecast| setup(&forecast) + job.passes(engine) * forecast.search_ms),
            why_not: device.err().or_else(|| taken.err().map(|error| error.to_string())),
            detail: job.detail(engine),
            waited_ms: 0.0,
        }
    }

    /// The prediction for a user who has waited `waited_ms` for single queries of these points: only the part
    /// of an engine's setup beyond that time counts. A first query is thus answered without an index that
    /// only later queries would use, and a user who keeps querying never waits more than twice as long as
    /// with the best engine from the start (the ski rental problem: Karlin, Manasse, Rudolph and Sleator
    /// 1988).
    pub fn after_waiting(self, waited_ms: f64) -> Self {
        Self { waited_ms, ..self }
    }

    /// Milliseconds of setup that count.
    fn setup_ms(&self) -> f64 {
        let forecast = self.forecast.filter(|_| !self.resident);
        forecast.map_or(0.0, |forecast| (forecast.setup_ms - self.waited_ms).max(0.0))
    }

    /// The input of the rule, whether or not the engine can run here; `None` without a forecast.
    fn offer(&self) -> Option<EngineEstimate> {
        let (forecast, setup_ms) = (self.forecast?, self.setup_ms());
        let counted = if self.resident { 0.0 } else { forecast.setup_ms };
        Some(EngineEstimate {
            setup_ms,
            search_ms: forecast.search_ms,
            total_ms: self.total_ms? - counted + setup_ms,
            detail: self.detail,
        })
    }
}

const AS_REQUESTED: &str = "as requested";

/// All predictions for a job, and the engine chosen.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    pub shape: Shape,
    /// One prediction for each engine that the spec allows, in the registry's order.
    pub engines: Vec<Candidate>,
    /// The engine that answers; `None` if none can.
    pub chosen: Option<EngineId>,
    /// Why it was chosen, as a clause for the user.
    pub reason: String,
    /// Why a preferred engine cannot answer; `None` if the preferred engine was chosen.
    pub fallback: Option<String>,
    #[serde(skip)]
    leeway: Leeway,
}

impl Plan {
    /// Chooses among candidates. A named engine is chosen regardless of its prediction.
    pub fn new(choice: &EngineChoice, job: &Job, engines: Vec<Candidate>) -> Self {
        let (shape, leeway) = (job.shape, job.leeway());
        if let EngineChoice::Named(method) = choice {
            return Self {
                shape,
                engines,
                chosen: Some(method.engine),
                reason: AS_REQUESTED.to_owned(),
                fallback: None,
                leeway,
            };
        }
        let refused: Vec<EngineId> =
            engines.iter().filter(|engine| engine.why_not.is_some()).map(|engine| engine.engine).collect();
        let mut missed = Vec::new();
        // Engines that the rule prefers to the first one that can answer.
        while let Some((engine, _)) =
            best(&engines, &missed, leeway).filter(|(engine, _)| refused.contains(engine))
        {
            missed.push(engine);
        }
        let fallback = engines
            .iter()
            .find(|engine| missed.contains(&engine.engine))
            .and_then(|engine| engine.why_not.clone());
        let (chosen, reason) = best(&engines, &refused, leeway)
            .map_or((None, "no engine supports this job".to_owned()), |(engine, why)| (Some(engine), why));
        Self { shape, engines, chosen, reason, fallback, leeway }
    }

    /// The same predictions, with the named engine chosen if `choice` names one.
    pub fn on(self, choice: &EngineChoice) -> Self {
        match choice {
            EngineChoice::Auto => self,
            EngineChoice::Named(method) => {
                match self.candidate(method.engine).and_then(|engine| engine.why_not.clone()) {
                    Some(why) => Self { chosen: None, reason: why, fallback: None, ..self },
                    None => Self {
                        chosen: Some(method.engine),
                        reason: AS_REQUESTED.to_owned(),
                        fallback: None,
                        ..self
                    },
                }
            }
        }
    }

    /// The engine that `auto` falls back to once `refused` turned out unable to take the job; `None` if no
    /// other can.
    pub fn next_best(&self, refused: &[EngineId]) -> Option<EngineId> {
        let cannot =
            self.engines.iter().filter(|engine| engine.why_not.is_some()).map(|engine| engine.engine);
        let all: Vec<EngineId> = cannot.chain(refused.iter().copied()).collect();
        best(&self.engines, &all, self.leeway).map(|(engine, _)| engine)
    }

    /// The prediction for an engine.
    pub fn candidate(&self, engine: EngineId) -> Option<&Candidate> {
        self.engines.iter().find(|candidate| candidate.engine == engine)
    }

    /// Predicted milliseconds of the job on the chosen engine.
    pub fn total_ms(&self) -> Option<f64> {
        self.candidate(self.chosen?)?.total_ms
    }

    /// The time of the chosen engine: `about 15 s on kdtree`.
    pub fn short(&self) -> Option<String> {
        let chosen = self.candidate(self.chosen?).filter(|chosen| chosen.why_not.is_none())?;
        Some(format!("about {} on {}", about(chosen.total_ms?), chosen.engine))
    }

    /// The times of the chosen engine and of the others that can answer, fastest first:
    /// `estimate: 15 s (kdtree), 5 min (lockstep)`.
    pub fn sentence(&self) -> Option<String> {
        let chosen = self.candidate(self.chosen?).filter(|chosen| chosen.why_not.is_none())?;
        let mut others: Vec<&Candidate> = self
            .engines
            .iter()
            .filter(|other| {
                other.engine != chosen.engine && other.why_not.is_none() && other.total_ms.is_some()
            })
            .collect();
        others.sort_by(|a, b| a.total_ms.unwrap_or(0.0).total_cmp(&b.total_ms.unwrap_or(0.0)));
        let slower = others.first().is_some_and(|fastest| fastest.total_ms < chosen.total_ms);
        let reason = if slower && self.reason != AS_REQUESTED { ", with more detail" } else { "" };
        let others: String = others
            .iter()
            .filter_map(|other| Some(format!(", {} ({})", about(other.total_ms?), other.engine)))
            .collect();
        Some(format!("estimate: {} ({}{reason}){others}", about(chosen.total_ms?), chosen.engine))
    }
}

/// The engine that the rule picks from those not in `excluded`, and why.
fn best(engines: &[Candidate], excluded: &[EngineId], leeway: Leeway) -> Option<(EngineId, String)> {
    let left = engines.iter().filter(|engine| !excluded.contains(&engine.engine));
    let (ids, offers): (Vec<EngineId>, Vec<EngineEstimate>) =
        left.filter_map(|engine| Some((engine.engine, engine.offer()?))).unzip();
    best_offer(&offers, leeway).map(|at| (ids[at], reason(&offers, at, leeway)))
}

fn reason(offers: &[EngineEstimate], at: usize, leeway: Leeway) -> String {
    let fastest = offers.iter().map(|offer| offer.total_ms).fold(f64::INFINITY, f64::min);
    if offers[at].total_ms <= fastest {
        "predicted to be fastest".to_owned()
    } else if offers[at].search_ms < leeway.short_ms {
        format!("reports more, and a search takes less than {} ms", leeway.short_ms)
    } else {
        format!("reports more, in at most {} times the time of the fastest", leeway.times)
    }
}

/// A predicted time with its unit, rounded to two digits, the precision of predictions.
pub fn about(ms: f64) -> String {
    let round = |value: f64| {
        let step = 10f64.powf((value.max(1e-9).log10().floor() - 1.0).max(-1.0));
        let rounded = (value / step).round() * step;
        if rounded < 10.0 {
            format!("{}", (rounded * 10.0).round() / 10.0)
        } else {
            text::thousands(rounded.round() as u64)
        }
    };
    match ms {
        ms if ms < 0.0995 => format!("{} µs", round(ms * 1e3)),
        ms if ms < 995.0 => format!("{} ms", round(ms)),
        ms if ms < 99_500.0 => format!("{} s", round(ms / 1e3)),
        ms if ms < 5_970_000.0 => format!("{} min", round(ms / 60e3)),
        ms => format!("{} h", round(ms / 3600e3)),
    }
}

/// The engines that a spec allows and that run on its kind of device. Selection kernels are for comparison;
/// `auto` uses them only for a k that no other engine supports.
pub fn engines(spec: &RunSpec) -> impl Iterator<Item = &'static Descriptor> + '_ {
    let (device, k) = (spec.device, ProblemParameters::from(spec).found_k());
    let is_usual = |engine: &Descriptor| engine.group != Group::Selection;
    let any = matches!(spec.engine, EngineChoice::Named(_))
        || !spec.engine.engines().any(|engine| is_usual(engine) && engine.limits.k >= k);
    let allowed = spec.engine.engines().filter(move |engine| any || is_usual(engine));
    allowed.filter(move |engine| device.is_none_or(|device| engine.runs_on.contains(&device.kind())))
}

/// How much slower than the fastest an engine that reports more may be. Either limit suffices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leeway {
    /// A pass shorter than this, in milliseconds, is fast enough regardless of the fastest.
    pub short_ms: f64,
    /// The largest ratio of its time to that of the fastest.
    pub times: f64,
}

impl Leeway {
    pub const MEASURE: Self = Self { short_ms: 5.0, times: 2.0 };

    /// The user is waiting, so only a difference too short to notice is allowed.
    pub const ANSWER: Self = Self { short_ms: INSTANT_MS, times: 1.0 };
}

/// Passes shorter than this, in milliseconds, appear equally fast: among engines that report equally much,
/// the first is picked.
pub const INSTANT_MS: f64 = 1.0;

/// What the rule knows about an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineEstimate {
    /// Milliseconds to load the points; 0 if the engine already has them.
    pub setup_ms: f64,
    /// Milliseconds of one pass over the queries.
    pub search_ms: f64,
    /// Milliseconds of the whole job.
    pub total_ms: f64,
    /// How much it reports besides neighbours and times: one each for counters, the convergence of
    /// `max_distance`, and a profile if requested.
    pub detail: u8,
}

impl EngineEstimate {
    /// Whether it may be picked instead of the fastest. Passes are compared separately from the total:
    /// loading the points takes most engines about equally long and happens once, while the user waits for
    /// every later pass.
    pub fn is_close_to(&self, fastest: &Self, leeway: Leeway) -> bool {
        let close = |ms: f64, to: f64| ms < leeway.short_ms || ms <= leeway.times * to;
        close(self.search_ms, fastest.search_ms) && close(self.setup_ms, fastest.total_ms)
    }
}

/// The index of the offer to pick: among those close to the fastest, the ones that report most; among these,
/// the fastest.
pub fn best_offer(offers: &[EngineEstimate], leeway: Leeway) -> Option<usize> {
    let fastest = offers.iter().min_by(|a, b| a.total_ms.total_cmp(&b.total_ms))?;
    let most =
        offers.iter().filter(|offer| offer.is_close_to(fastest, leeway)).map(|offer| offer.detail).max()?;
    if most == fastest.detail && most == 0 {
        return offers.iter().position(|offer| offer == fastest);
    }
    let key = |offer: &EngineEstimate| if offer.search_ms < INSTANT_MS { 0.0 } else { offer.total_ms };
    let taken = offers
        .iter()
        .enumerate()
        .filter(|(_, offer)| offer.detail == most && offer.is_close_to(fastest, leeway));
    taken.min_by(|(_, a), (_, b)| key(a).total_cmp(&key(b))).map(|(at, _)| at)
}
