//! The summary of the answer in words, cached between frames.

use std::sync::{Arc, Weak};

use super::picking::state::RowColumns;
use crate::app::model::{AnswerSummary, Roles};
use crate::app::prelude::*;
use crate::run::RunRecord;

/// A cached summary and its inputs.
#[derive(Clone)]
struct CachedSummary {
    /// Weak, so that a replaced record is freed, while its address cannot be reused.
    record: Weak<RunRecord>,
    query: usize,
    picked: Option<PickedPoint>,
    table: Option<Arc<RowColumns>>,
    roles: Roles,
    summary: Arc<AnswerSummary>,
}

/// The summary of the answer, recomputed when the answer or its known columns change.
pub fn answer_summary(ui: &Ui, session: &Session, answered: &QueryAnswer) -> Arc<AnswerSummary> {
    let table = session.listed_columns();
    // The second view has the answer of another cloud beside the first.
    let id = Id::unique(("summary", Arc::as_ptr(&answered.record.cloud).addr()));
    let known = ui.data(|data| data.get_temp::<CachedSummary>(id)).filter(|cached| {
        let same_file = match (&cached.table, table) {
            (Some(known), Some(table)) => Arc::ptr_eq(known, &table.found),
            (known, table) => known.is_none() && table.is_none(),
        };
        std::ptr::eq(cached.record.as_ptr(), Arc::as_ptr(&answered.record))
            && cached.query == answered.query
            && cached.picked == session.picked
            && cached.roles == session.roles
            && same_file
    });
    if let Some(cached) = known {
        return cached.summary;
    }
    let summary = Arc::new(AnswerSummary::new(answered, session.picked, table, &session.roles));
    let cached = CachedSummary {
        record: Arc::downgrade(&answered.record),
        query: answered.query,
        picked: session.picked,
        table: table.map(|table| Arc::clone(&table.found)),
        roles: session.roles.clone(),
        summary: Arc::clone(&summary),
    };
    ui.data_mut(|data| data.insert_temp(id, cached));
    summary
}
