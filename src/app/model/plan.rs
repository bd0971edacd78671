//! What the run that is set up should take.

use crate::app::model::draft::Draft;
use crate::app::model::session::Session;
use crate::run::QuerySpec;
use crate::run::planner::{Candidate, Job, Plan, Planner, Purpose, engines};

/// The plan of a draft that can be run over the cloud that is loaded, once it is known what can run here.
pub fn plan_of(draft: &Draft, session: &Session, planner: &Planner) -> Option<Plan> {
    let spec = draft.to_spec().ok()?;
    let cloud = session.cloud.as_ref().filter(|cloud| *cloud.source() == spec.data)?;
    if matches!(spec.queries, QuerySpec::File { .. }) {
        // How many there are is known when the file is read.
        return None;
    }
    let job = Job::of(&spec, Purpose::Measure, cloud.len(), cloud.dims(), None);
    let mut candidates = Vec::new();
    for engine in engines(&spec) {
        let status = session.engine(engine.id, spec.device)?;
        let device = status.device.as_ref()?.as_ref().map(Some).map_err(Clone::clone);
        candidates.push(Candidate::new(planner, engine, &job, device, false));
    }
    Some(Plan::new(&spec.engine, &job, candidates))
}
