//! What the run that is set up should take, by the engine that is chosen and by all others, and one query
//! that is answered at once.

use std::sync::Arc;

use super::draft::Draft;
use super::session::Session;
use crate::app::features::contest::state::Longest;
use crate::cloud::PointCloud;
use crate::engines::registry;
use crate::knn::{Descriptor, DeviceId};
use crate::run::planner::{Candidate, Job, Plan, Planner, Purpose, engines};
use crate::run::{EngineChoice, QuerySpec, RunSpec};

/// The plan of a draft that can be run over the cloud that is loaded, once it is known what can run here: of
/// all its queries where it is to be measured, else of one.
pub fn plan_of(draft: &Draft, session: &Session, planner: &Planner, purpose: Purpose) -> Option<Plan> {
    let mut spec = draft.to_spec().ok()?;
    if purpose == Purpose::Ask {
        spec.queries = QuerySpec::Rows(vec![0]);
    }
    let job = job_of(&spec, session, purpose)?;
    let candidates: Option<_> =
        engines(&spec).map(|engine| candidate(engine, spec.device, &job, session, planner)).collect();
    Some(Plan::new(&spec.engine, &job, candidates?))
}

/// What a spec asks of the cloud that is loaded; `None` where that is another one.
fn job_of(spec: &RunSpec, session: &Session, purpose: Purpose) -> Option<Job> {
    // How many queries a file has is known when it is read.
    let known = |cloud: &&Arc<PointCloud>| {
        *cloud.source() == spec.data && !matches!(spec.queries, QuerySpec::File { .. })
    };
    let cloud = session.cloud.as_ref().filter(known)?;
    Some(Job::of(spec, purpose, cloud.len(), cloud.dims(), None))
}

/// An engine's prediction; `None` while it is not known whether it can run.
fn candidate(
    engine: &Descriptor,
    device: Option<DeviceId>,
    job: &Job,
    session: &Session,
    planner: &Planner,
) -> Option<Candidate> {
    let device = session.engine(engine.id, device)?.device.as_ref()?.as_ref().map(Some).map_err(Clone::clone);
    Some(Candidate::new(planner, engine, job, device, false))
}

/// A draft's job, and a prediction for every engine; `None` while it is not known what can run, or no cloud
/// is loaded.
pub fn candidates(
    draft: &Draft,
    session: &Session,
    planner: &Planner,
) -> Option<(RunSpec, Job, Vec<Candidate>)> {
    let spec = RunSpec { engine: EngineChoice::Auto, ..draft.to_spec().ok()? };
    let job = job_of(&spec, session, Purpose::Measure)?;
    let of = |engine: &&Descriptor| {
        let device = spec.device.filter(|device| engine.runs_on.contains(&device.kind()));
        candidate(engine, device, &job, session, planner)
    };
    let all = registry::ENGINES.iter().map(of).collect::<Option<_>>()?;
    Some((spec, job, all))
}

/// Those that a comparison of all runs: what can answer, and not too late.
pub fn comparable(candidates: &[Candidate], longest: Longest) -> impl Iterator<Item = &Candidate> {
    candidates.iter().filter(move |candidate| candidate.why_not.is_none() && !longest.leaves_out(candidate))
}
