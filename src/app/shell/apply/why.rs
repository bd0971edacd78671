//! Why a row is, or is not, among the neighbours is worked out.

use std::sync::Arc;

use crate::app::context::app::App;
use crate::app::features::errors::of_run;
use crate::app::jobs::task::Outcome;
use crate::app::model::{Answered, why};
use crate::app::shell::tasks::WHY;
use crate::run::analysis::Standing;
use crate::run::{RunError, analysis};

impl App {
    /// Has it worked out for the row that is typed.
    pub(in crate::app) fn ask_why(&mut self) {
        let Some(of) = self.session.answered.clone() else { return };
        let names = self.session.row_names.as_deref().filter(|names| Arc::ptr_eq(&names.cloud, &of.record.cloud));
        let row = match why::row_of(&self.session.why.typed, &of.record.cloud, names) {
            Ok(row) => row,
            Err(sentence) => {
                self.session.why.told = Some(why::Told { of, said: Err(sentence) });
                return;
            }
        };
        let (Answered { record, query }, resident) = (of.clone(), self.handles.worker.resident().clone());
        self.jobs.start(&WHY, of, move |progress| analysis::standing(&record, query, row, &resident, progress));
    }

    /// What was worked out becomes sentences; of an answer that is gone they are not shown.
    pub(in crate::app) fn why_told(&mut self, of: Answered, standing: Outcome<Result<Option<Standing>, RunError>>) {
        let Some(standing) = self.done("why", standing) else { return };
        let said = match standing {
            Ok(Some(standing)) => Ok(why::sentences(&standing, &of)),
            Ok(None) => Err("That row was left out of the search.".to_owned()),
            Err(why) => Err(of_run(&why)),
        };
        self.session.why.told = Some(why::Told { of, said });
    }
}
