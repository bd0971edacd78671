//! A job's predictions, with the choice.

use serde::Serialize;

use super::choice::{self, Leeway, Offer};
use super::{Forecast, Planner};
use crate::knn::{Descriptor, DeviceInfo, EngineError, EngineId, Metric, Setup, Shape};
use crate::run::{EngineChoice, QuerySpec, RunRecord, RunSpec};
use crate::text;

/// What the answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A measured run: warm-ups, repeats, and once more to count.
    Measure,
    /// One pass for somebody who waits.
    Ask,
}

/// What is to be predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub shape: Shape,
    /// How distance is measured.
    pub metric: Metric,
    /// What it is for.
    pub purpose: Purpose,
    /// Timed passes, warm-ups among them.
    pub timed: u32,
    /// Whether the profiled build runs too.
    pub profile: bool,
}

impl Job {
    /// A spec's, over a cloud of so many points and dimensions; `queries` are those of its query file.
    pub fn of(spec: &RunSpec, purpose: Purpose, n: usize, d: usize, queries: Option<usize>) -> Self {
        let q = match &spec.queries {
            QuerySpec::All => n,
            QuerySpec::Count(count) => usize::try_from(*count).unwrap_or(usize::MAX).min(n),
            QuerySpec::Rows(rows) => rows.len(),
            QuerySpec::At(_) => 1,
            QuerySpec::File { .. } => queries.unwrap_or(1),
        };
        let shape = Shape { n, q, d, k: Setup::from(spec).found_k() };
        Self { shape, metric: spec.metric, purpose, timed: spec.warmup.saturating_add(spec.repeats), profile: spec.profile }
    }

    /// The sizes of a problem that was answered.
    pub fn shape_of(record: &RunRecord) -> Shape {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let summary = &record.summary;
        Shape { n: size(summary.n), q: size(summary.q), d: size(summary.d), k: Setup::from(&record.spec).found_k() }
    }

    /// Passes over the queries that an engine makes.
    fn passes(&self, engine: &Descriptor) -> f64 {
        match self.purpose {
            Purpose::Ask => 1.0,
            Purpose::Measure => f64::from(self.timed) + f64::from(u8::from(engine.counts()) * (1 + u8::from(self.profile))),
        }
    }

    fn leeway(&self) -> Leeway {
        match self.purpose {
            Purpose::Ask => Leeway::ASK,
            Purpose::Measure => Leeway::MEASURE,
        }
    }

    fn tells(&self, engine: &Descriptor) -> u8 {
        u8::from(engine.counts()) + u8::from(self.profile && !engine.phases.is_empty())
    }
}

/// The prediction for one engine.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    pub engine: EngineId,
    /// Whether the points are there already, so that nothing is set up.
    pub resident: bool,
    /// Taking the points in, and one pass over the queries; nothing where its limits do not allow the problem.
    #[serde(flatten)]
    pub forecast: Option<Forecast>,
    /// All of the job.
    pub total_ms: Option<f64>,
    /// Why it does not take the problem, or cannot run here.
    pub why_not: Option<String>,
    #[serde(skip)]
    tells: u8,
}

impl Candidate {
    /// What is predicted of an engine, of which `device` says what it runs on or why it cannot.
    pub fn new(planner: &Planner, engine: &Descriptor, job: &Job, device: Result<Option<&DeviceInfo>, String>, resident: bool) -> Self {
        let taken: Result<(), EngineError> = engine.limits.check(engine.id, &job.shape, job.metric);
        let forecast = taken.is_ok().then(|| planner.forecast(engine, device.as_ref().ok().copied().flatten(), &job.shape));
        let setup = |forecast: &Forecast| if resident { 0.0 } else { forecast.setup_ms };
        Self {
            engine: engine.id,
            resident,
            forecast,
            total_ms: forecast.map(|forecast| setup(&forecast) + job.passes(engine) * forecast.search_ms),
            why_not: device.err().or_else(|| taken.err().map(|error| error.to_string())),
            tells: job.tells(engine),
        }
    }

    /// What it would offer if it can run.
    fn offer(&self) -> Option<Offer> {
        let forecast = self.forecast?;
        let setup_ms = if self.resident { 0.0 } else { forecast.setup_ms };
        Some(Offer { setup_ms, search_ms: forecast.search_ms, total_ms: self.total_ms?, tells: self.tells })
    }
}

const ASKED_FOR: &str = "it was asked for";

/// All predictions for a job, and what is taken.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    pub shape: Shape,
    /// In the registry's order.
    pub engines: Vec<Candidate>,
    /// What answers, if anything can.
    pub chosen: Option<EngineId>,
    /// Why it was chosen, in words for the user.
    pub reason: String,
    /// Why that is not what would be taken if everything could run here.
    pub fallback: Option<String>,
    #[serde(skip)]
    leeway: Leeway,
}

impl Plan {
    /// Chooses among candidates; a named engine is taken whatever is predicted.
    pub fn new(choice: &EngineChoice, job: &Job, engines: Vec<Candidate>) -> Self {
        let (shape, leeway) = (job.shape, job.leeway());
        if let EngineChoice::Named(method) = choice {
            return Self { shape, engines, chosen: Some(method.engine), reason: ASKED_FOR.to_owned(), fallback: None, leeway };
        }
        let refused: Vec<EngineId> = engines.iter().filter(|engine| engine.why_not.is_some()).map(|engine| engine.engine).collect();
        let mut missed = Vec::new();
        // Those that would have been taken before one that can.
        while let Some((engine, _)) = best(&engines, &missed, leeway).filter(|(engine, _)| refused.contains(engine)) {
            missed.push(engine);
        }
        let fallback = engines.iter().find(|engine| missed.contains(&engine.engine)).and_then(|engine| engine.why_not.clone());
        let (chosen, reason) =
            best(&engines, &refused, leeway).map_or((None, "no engine can take the job".to_owned()), |(engine, why)| (Some(engine), why));
        Self { shape, engines, chosen, reason, fallback, leeway }
    }

    /// The same predictions, where an engine was asked for.
    pub fn on(self, choice: &EngineChoice) -> Self {
        match choice {
            EngineChoice::Auto => self,
            EngineChoice::Named(method) => Self { chosen: Some(method.engine), reason: ASKED_FOR.to_owned(), fallback: None, ..self },
        }
    }

    /// What `auto` takes where these engines turned out not to take the job.
    pub fn without(&self, refused: &[EngineId]) -> Option<EngineId> {
        let cannot = self.engines.iter().filter(|engine| engine.why_not.is_some()).map(|engine| engine.engine);
        let all: Vec<EngineId> = cannot.chain(refused.iter().copied()).collect();
        best(&self.engines, &all, self.leeway).map(|(engine, _)| engine)
    }

    /// The prediction for an engine.
    pub fn of(&self, engine: EngineId) -> Option<&Candidate> {
        self.engines.iter().find(|candidate| candidate.engine == engine)
    }

    /// How long the job should take.
    pub fn total_ms(&self) -> Option<f64> {
        self.of(self.chosen?)?.total_ms
    }

    /// What is taken, and the others that can: `about 15 s on kdtree; 5 min on lockstep`.
    pub fn sentence(&self) -> Option<String> {
        let chosen = self.of(self.chosen?).filter(|chosen| chosen.why_not.is_none())?;
        let mut others: Vec<&Candidate> =
            self.engines.iter().filter(|other| other.engine != chosen.engine && other.why_not.is_none() && other.total_ms.is_some()).collect();
        others.sort_by(|a, b| a.total_ms.unwrap_or(0.0).total_cmp(&b.total_ms.unwrap_or(0.0)));
        let others: String = others.iter().filter_map(|other| Some(format!("; {} on {}", about(other.total_ms?), other.engine))).collect();
        Some(format!("about {} on {}{others}", about(chosen.total_ms?), chosen.engine))
    }
}

/// The engine that the rule takes of those not left out, and why.
fn best(engines: &[Candidate], left_out: &[EngineId], leeway: Leeway) -> Option<(EngineId, String)> {
    let left = engines.iter().filter(|engine| !left_out.contains(&engine.engine));
    let (ids, offers): (Vec<EngineId>, Vec<Offer>) = left.filter_map(|engine| Some((engine.engine, engine.offer()?))).unzip();
    choice::best(&offers, leeway).map(|at| (ids[at], reason(&offers, at, leeway)))
}

fn reason(offers: &[Offer], at: usize, leeway: Leeway) -> String {
    let fastest = offers.iter().map(|offer| offer.total_ms).fold(f64::INFINITY, f64::min);
    if offers[at].total_ms <= fastest {
        "it is predicted to be fastest".to_owned()
    } else if offers[at].search_ms < leeway.short_ms {
        format!("it tells most, in a search of less than {} ms", leeway.short_ms)
    } else {
        format!("it tells most, in at most {} times the time of the fastest", leeway.times)
    }
}

/// A predicted time, in two digits: nothing more is known.
pub fn about(ms: f64) -> String {
    let round = |value: f64| {
        let step = 10f64.powf((value.max(1e-9).log10().floor() - 1.0).max(-1.0));
        let rounded = (value / step).round() * step;
        if rounded < 10.0 { format!("{}", (rounded * 10.0).round() / 10.0) } else { text::thousands(rounded.round() as u64) }
    };
    match ms {
        ms if ms < 0.0995 => format!("{} µs", round(ms * 1e3)),
        ms if ms < 995.0 => format!("{} ms", round(ms)),
        ms if ms < 99_500.0 => format!("{} s", round(ms / 1e3)),
        ms if ms < 5_970_000.0 => format!("{} min", round(ms / 60e3)),
        ms => format!("{} h", round(ms / 3600e3)),
    }
}

/// The engines that a spec and its device allow.
pub fn engines(spec: &RunSpec) -> impl Iterator<Item = &'static Descriptor> + '_ {
    let device = spec.device;
    spec.engine.engines().filter(move |engine| device.is_none_or(|device| engine.runs_on.contains(&device.kind())))
}
