//! Explains why a row is, or is not, among the neighbours.

use std::sync::Arc;

use super::state::{self, Why};
use crate::app::context::app::{App, Feature};
use crate::app::features::errors::of_run;
use crate::app::jobs::table::{Kind, Slot};
use crate::app::jobs::task::Outcome;
use crate::app::model::NOTICED;
use crate::app::prelude::*;
use crate::run::RunError;
use crate::run::analysis::{self, Standing};

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
        app.session.why = Why::default();
    },
    ..Feature::NONE
};

/// The row's standing in an answer; `None` if it was excluded from the search.
pub static WHY: Kind<App, Answered, Result<Option<Standing>, RunError>> = Kind {
    noticed: NOTICED,
    purpose: |_, fraction| Some(Activity::Preparing { what: "Comparing a row".to_owned(), fraction }),
    ..Kind::new(Slot::Why, "why", App::why_told)
};

impl App {
    /// Starts the explanation for the typed row.
    fn ask_why(&mut self) {
        let Some(of) = self.session.answered.clone() else { return };
        let names =
            self.session.row_names.as_deref().filter(|names| Arc::ptr_eq(&names.cloud, &of.record.cloud));
        let row = match state::row_of(&self.session.why.typed, &of.record.cloud, names) {
            Ok(row) => row,
            Err(sentence) => {
                self.session.why.told = Some(state::Told { of, said: Err(sentence) });
                return;
            }
        };
        let (Answered { record, query }, resident) = (of.clone(), self.handles.worker.resident().clone());
        self.jobs
            .start(&WHY, of, move |progress| analysis::standing(&record, query, row, &resident, progress));
    }

    /// Turns the result into sentences, unless the answer has been replaced.
    fn why_told(&mut self, of: Answered, standing: Outcome<Result<Option<Standing>, RunError>>) {
        let Some(standing) = self.done("why", standing) else { return };
        let said = match standing {
            Ok(Some(standing)) => Ok(state::sentences(&standing, &of)),
            Ok(None) => Err("That row was left out of the search.".to_owned()),
            Err(why) => Err(of_run(&why)),
        };
        self.session.why.told = Some(state::Told { of, said });
    }
}
