//! Predicted times: of the run that is set up, by the chosen engine and by all others, and of one query.

use std::sync::Arc;

use super::draft::Draft;
use super::session::Session;
use crate::app::features::engine_comparison::state::TimeLimit;
use crate::cloud::PointCloud;
use crate::engines::registry;
use crate::knn::{Descriptor, DeviceId};
use crate::run::planner::{Candidate, Job, Plan, Planner, Purpose, engines};
use crate::run::{EngineChoice, QuerySpec, RunSpec};

/// The plan of a valid draft over the loaded cloud: for all its queries if they are to be measured, otherwise
/// for one. `None` until the available engines are known.
pub fn plan_of(draft: &Draft, session: &Session, planner: &Planner, purpose: Purpose) -> Option<Plan> {
    let mut spec = draft.to_spec().ok()?;
    if purpose == Purpose::Answer {
        spec.queries = QuerySpec::Rows(vec![0]);
    }
    let job = job_of(&spec, session, purpose)?;
    let candidates: Option<_> =
        engines(&spec).map(|engine| candidate(engine, spec.device, &job, session, planner)).collect();
    Some(Plan::new(&spec.engine, &job, candidates?))
}

/// The job of a spec on the loaded cloud; `None` if the spec is for other data.
fn job_of(spec: &RunSpec, session: &Session, purpose: Purpose) -> Option<Job> {
    // The number of queries in a file is unknown until it is read.
    let known = |cloud: &&Arc<PointCloud>| {
        *cloud.source() == spec.data && !matches!(spec.queries, QuerySpec::File { .. })
    };
    let cloud = session.cloud.as_ref().filter(known)?;
    Some(Job::new(spec, purpose, cloud.len(), cloud.dims(), None))
}

/// The prediction for an engine; `None` until it is known whether the engine can run.
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

/// A draft's job, with a prediction for every engine; `None` until the available engines are known, or
/// without a cloud.
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

/// The engines that a comparison runs: those available and predicted to be fast enough.
pub fn comparable(candidates: &[Candidate], time_limit: TimeLimit) -> impl Iterator<Item = &Candidate> {
    candidates.iter().filter(move |candidate| candidate.why_not.is_none() && !time_limit.excludes(candidate))
}
