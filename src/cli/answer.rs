//! A search for its neighbours alone, as `analyse` and `recall` need it.

use std::sync::Arc;

use super::bar::Bar;
use super::output;
use super::run::WORTH_A_NOTE_MS;
use crate::cloud::PointCloud;
use crate::run::{Engines, RunRecord, RunSpec};

/// Answers a spec once, and says beforehand about how long that takes where it is long.
///
/// # Errors
/// Those of the search.
pub fn answer(engines: &mut Engines, spec: &RunSpec, cloud: &Arc<PointCloud>, query_cloud: Option<&Arc<PointCloud>>) -> anyhow::Result<RunRecord> {
    let plan = engines.plan_answer(spec, cloud, query_cloud, &mut Bar::new("").stage())?;
    if let Some(sentence) = plan.sentence().filter(|_| plan.total_ms().is_some_and(|ms| ms > WORTH_A_NOTE_MS)) {
        output::note(&sentence);
    }
    let record = engines.answer_planned(spec, Some(&plan), cloud, query_cloud, &mut Bar::new("").stage())?;
    if let Some(why) = &record.fallback {
        output::note(&format!("{why}; {} runs instead", record.engine));
    }
    Ok(record)
}
