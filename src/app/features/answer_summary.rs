//! The summary of the answer in words, cached between frames.

use std::sync::{Arc, Weak};

use super::picking::state::RowColumns;
use crate::app::model::{AnswerSummary, Roles};
use crate::app::prelude::*;
use crate::run::RunRecord;

/// A cached summary and its inputs.
#[derive(Clone)]
struct Told {
    /// Weak, so that a replaced record is freed, while its address cannot be reused.
    record: Weak<RunRecord>,
    query: usize,
    picked: Option<Picked>,
    beside: Option<Arc<RowColumns>>,
    roles: Roles,
    summary: Arc<AnswerSummary>,
}

/// The summary of the answer, recomputed when the answer or its known columns change.
pub fn answer_summary(ui: &Ui, session: &Session, answered: &Answered) -> Arc<AnswerSummary> {
    let beside = session.listed_beside();
    let id = Id::unique("summary");
    let known = ui.data(|data| data.get_temp::<Told>(id)).filter(|told| {
        let same_file = match (&told.beside, beside) {
            (Some(known), Some(beside)) => Arc::ptr_eq(known, &beside.found),
            (known, beside) => known.is_none() && beside.is_none(),
        };
        std::ptr::eq(told.record.as_ptr(), Arc::as_ptr(&answered.record))
            && told.query == answered.query
            && told.picked == session.picked
            && told.roles == session.roles
            && same_file
    });
    if let Some(told) = known {
        return told.summary;
    }
    let summary = Arc::new(AnswerSummary::of(answered, session.picked, beside, &session.roles));
    let told = Told {
        record: Arc::downgrade(&answered.record),
        query: answered.query,
        picked: session.picked,
        beside: beside.map(|beside| Arc::clone(&beside.found)),
        roles: session.roles.clone(),
        summary: Arc::clone(&summary),
    };
    ui.data_mut(|data| data.insert_temp(id, told));
    summary
}
