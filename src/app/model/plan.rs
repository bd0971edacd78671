//! What the run that is set up should take, by the engine that is chosen and by all others, and one query that is answered at once.

use strum::VariantArray;

use crate::app::model::draft::Draft;
use crate::app::model::session::Session;
use crate::engines::registry;
use crate::run::planner::{Candidate, Job, Plan, Planner, Purpose, engines};
use crate::run::{EngineChoice, QuerySpec, RunSpec};

/// The plan of a draft that can be run over the cloud that is loaded, once it is known what can run here: of all its queries where it is to be measured,
/// else of one.
pub fn plan_of(draft: &Draft, session: &Session, planner: &Planner, purpose: Purpose) -> Option<Plan> {
    let mut spec = draft.to_spec().ok()?;
    if purpose == Purpose::Ask {
        spec.queries = QuerySpec::Rows(vec![0]);
    }
    let cloud = session.cloud.as_ref().filter(|cloud| *cloud.source() == spec.data)?;
    if matches!(spec.queries, QuerySpec::File { .. }) {
        // How many there are is known when the file is read.
        return None;
    }
    let job = Job::of(&spec, purpose, cloud.len(), cloud.dims(), None);
    let mut candidates = Vec::new();
    for engine in engines(&spec) {
        let status = session.engine(engine.id, spec.device)?;
        let device = status.device.as_ref()?.as_ref().map(Some).map_err(Clone::clone);
        candidates.push(Candidate::new(planner, engine, &job, device, false));
    }
    Some(Plan::new(&spec.engine, &job, candidates))
}

/// A draft's job, and a prediction for every engine; `None` while it is not known what can run, or no cloud is loaded.
pub fn candidates(draft: &Draft, session: &Session, planner: &Planner) -> Option<(RunSpec, Job, Vec<Candidate>)> {
    let spec = RunSpec { engine: EngineChoice::Auto, ..draft.to_spec().ok()? };
    let cloud = session.cloud.as_ref().filter(|cloud| *cloud.source() == spec.data)?;
    if matches!(spec.queries, QuerySpec::File { .. }) {
        return None;
    }
    let job = Job::of(&spec, Purpose::Measure, cloud.len(), cloud.dims(), None);
    let mut all = Vec::new();
    for engine in registry::ENGINES {
        let device = spec.device.filter(|device| engine.runs_on.contains(&device.kind()));
        let status = session.engine(engine.id, device)?;
        let there = status.device.as_ref()?.as_ref().map(Some).map_err(Clone::clone);
        all.push(Candidate::new(planner, engine, &job, there, false));
    }
    Some((spec, job, all))
}

/// How long one engine may take, by its prediction, in a comparison of all; each can still be run by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray)]
pub enum Longest {
    TenSeconds,
    #[default]
    Minute,
    TenMinutes,
    Any,
}

impl Longest {
    pub fn ms(self) -> f64 {
        match self {
            Self::TenSeconds => 10_000.0,
            Self::Minute => 60_000.0,
            Self::TenMinutes => 600_000.0,
            Self::Any => f64::INFINITY,
        }
    }

    /// As it is chosen: `up to 1 min each`.
    pub fn text(self) -> &'static str {
        match self {
            Self::TenSeconds => "up to 10 s each",
            Self::Minute => "up to 1 min each",
            Self::TenMinutes => "up to 10 min each",
            Self::Any => "however long",
        }
    }

    /// Whether an engine that can answer is left out.
    pub fn leaves_out(self, candidate: &Candidate) -> bool {
        candidate.why_not.is_none() && candidate.total_ms.is_some_and(|ms| ms > self.ms())
    }
}

/// Those that a comparison of all runs: what can answer, and not too late.
pub fn comparable(candidates: &[Candidate], longest: Longest) -> impl Iterator<Item = &Candidate> {
    candidates.iter().filter(move |candidate| candidate.why_not.is_none() && !longest.leaves_out(candidate))
}
