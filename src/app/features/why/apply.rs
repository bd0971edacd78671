//! Explains why a row is, or is not, among the neighbours.

use std::sync::Arc;

use super::state::{self, Explanation, WhyState};
use crate::app::context::app::{App, Feature};
use crate::app::features::errors::run_error;
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::SHOWN_AFTER;
use crate::app::prelude::*;
use crate::run::RunError;
use crate::run::analysis::{self, RowRank};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::TypeWhy(typed) => app.session.why.typed = typed,
            Action::AskWhy => app.ask_why(),
            other => return Some(other),
        }
        None
    },
    leave_cloud: |app, _| {
        app.jobs.stop(&WHY);
        app.session.why = WhyState::default();
    },
    ..Feature::NONE
};

/// The row's standing in an answer; `None` if it was excluded from the search.
pub static WHY: TaskKind<App, QueryAnswer, Result<Option<RowRank>, RunError>> = TaskKind {
    shown_after: SHOWN_AFTER,
    purpose: |_, fraction| Some(Activity::Preparing { what: "Ranking a row".to_owned(), fraction }),
    ..TaskKind::new(TaskPurpose::Why, "why", App::explain)
};

impl App {
    /// Starts the explanation for the typed row.
    fn ask_why(&mut self) {
        let Some(answered) = self.session.answered.clone() else { return };
        let cloud = &answered.record.cloud;
        let names = self.session.row_names.as_deref().filter(|names| Arc::ptr_eq(&names.cloud, cloud));
        let row = match state::row_of(&self.session.why.typed, cloud, names) {
            Ok(row) => row,
            Err(sentence) => {
                self.session.why.explanation = Some(Explanation { answered, sentences: Err(sentence) });
                return;
            }
        };
        let QueryAnswer { record, query } = answered.clone();
        let resident = self.handles.worker.resident().clone();
        self.jobs.start(&WHY, answered, move |progress| {
            analysis::rank_row(&record, query, row, &resident, progress)
        });
    }

    /// Turns the result into sentences, unless the answer has been replaced.
    fn explain(&mut self, answered: QueryAnswer, standing: Outcome<Result<Option<RowRank>, RunError>>) {
        let Some(standing) = self.done("why", standing) else { return };
        let sentences = match standing {
            Ok(Some(standing)) => Ok(state::sentences(&standing, &answered)),
            Ok(None) => Err("This row was excluded from the search.".to_owned()),
            Err(why) => Err(run_error(&why)),
        };
        self.session.why.explanation = Some(Explanation { answered, sentences });
    }
}
