//! All rows within a distance of the picked query are selected.

use crate::app::context::app::App;
use crate::app::features::errors::of_run;
use crate::app::jobs::task::Outcome;
use crate::app::model::{About, Answered, How, SelectAction};
use crate::app::shell::tasks::{NEARBY, Rows};
use crate::run::analysis;
use crate::text;

impl App {
    /// Has them found for the distance that is typed.
    pub(in crate::app) fn select_nearby(&mut self) {
        let Some(of) = self.session.answered.clone() else { return };
        let radius = self.session.nearby.radius(of.record.spec.metric);
        self.session.nearby.wrong = radius.as_ref().err().cloned();
        let Ok(radius) = radius else { return };
        let (Answered { record, query }, resident) = (of.clone(), self.handles.worker.resident().clone());
        self.jobs.start(&NEARBY, (of, radius), move |progress| analysis::nearby(&record, query, radius, &resident, progress));
    }

    pub(in crate::app) fn nearby_found(&mut self, (of, radius): (Answered, f64), rows: Outcome<Rows>) {
        let unit = of.record.spec.metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
        let within = format!("{}{unit}", text::Exact(radius));
        match self.done("radius", rows) {
            None => {}
            Some(Err(why)) => self.session.log.error(About::Selection, of_run(&why)),
            Some(Ok(None)) => self.session.log.info("cancelled"),
            Some(Ok(Some(rows))) => {
                let found = text::count(rows.len() as u64, "row is", "rows are");
                self.session.log.info(format!("{found} within {within} of the query"));
                self.select(SelectAction::rows(rows, How::Replace, format!("within {within} of the query")));
            }
        }
    }
}
