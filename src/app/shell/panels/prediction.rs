//! The predicted time and engine of a run or of one query, in words.

use std::sync::{Arc, Weak};

use crate::app::model::{Draft, plan_of};
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::run::RunRecord;
use crate::run::planner::{Planner, Purpose};

/// A cached plan text and its inputs: comparing them is cheaper than parsing many selected rows in each
/// frame.
#[derive(Clone)]
struct CachedPlan {
    draft: Draft,
    /// Weak, so that a replaced cloud is freed.
    cloud: Option<Weak<PointCloud>>,
    record: Option<Weak<RunRecord>>,
    engines: usize,
    text: Option<String>,
}

/// The predicted time and engine of the run or of one query; recomputed when the inputs change.
pub fn plan_text(ui: &Ui, draft: &Draft, session: &Session, purpose: Purpose) -> Option<String> {
    let id = Id::unique(if purpose == Purpose::Answer { "plan of a query" } else { "plan of the run" });
    let engines = session.engines.iter().filter(|status| status.device.is_some()).count();
    let known = ui.data(|data| data.get_temp::<Arc<CachedPlan>>(id)).filter(|planned| {
        // A new run corrects later predictions.
        let corrected = planned.record.as_ref().map(Weak::as_ptr) != session.record.as_ref().map(Arc::as_ptr);
        let same_cloud = planned.cloud.as_ref().map(Weak::as_ptr) == session.cloud.as_ref().map(Arc::as_ptr);
        !corrected && same_cloud && planned.engines == engines && planned.draft == *draft
    });
    if let Some(planned) = known {
        return planned.text.clone();
    }
    let plan = plan_of(draft, session, &Planner::shared(), purpose);
    let text = plan.and_then(|plan| if purpose == Purpose::Answer { plan.short() } else { plan.sentence() });
    let (cloud, record) =
        (session.cloud.as_ref().map(Arc::downgrade), session.record.as_ref().map(Arc::downgrade));
    let planned = CachedPlan { draft: draft.clone(), cloud, record, engines, text };
    let text = planned.text.clone();
    ui.data_mut(|data| data.insert_temp(id, Arc::new(planned)));
    text
}
