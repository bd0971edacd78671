//! What the run that is set up should take, and one query that is answered at once.

use crate::app::model::draft::Draft;
use crate::app::model::session::Session;
use crate::run::QuerySpec;
use crate::run::planner::{Candidate, Job, Plan, Planner, Purpose, engines};

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
