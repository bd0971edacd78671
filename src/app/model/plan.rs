//! What the run that is set up should take, by the engine that is chosen and by all others, and one query that is answered at once.

use super::{draft::Draft, session::Session};
use crate::app::features::contest::state::Longest;
use crate::{
    engines::registry,
    run::{
        EngineChoice, QuerySpec, RunSpec,
        planner::{Candidate, Job, Plan, Planner, Purpose, engines},
    },
};

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

/// Those that a comparison of all runs: what can answer, and not too late.
pub fn comparable(candidates: &[Candidate], longest: Longest) -> impl Iterator<Item = &Candidate> {
    candidates.iter().filter(move |candidate| candidate.why_not.is_none() && !longest.leaves_out(candidate))
}
