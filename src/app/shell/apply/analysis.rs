//! What the neighbours of all rows say of them is worked out.

use std::sync::Arc;

use crate::app::features::analysis::{Asked, LabelColumn, label_column, work};
use crate::app::jobs::task::Outcome;
use crate::app::model::{About, Analysed, AnalysisAction};
use crate::app::shell::app::App;
use crate::app::shell::tasks::ANALYSE;
use crate::cloud::Source;
use crate::run::{EngineChoice, QuerySpec};
use crate::text;

impl App {
    pub(in crate::app::shell) fn analysis_action(&mut self, action: AnalysisAction) {
        match action {
            AnalysisAction::Set(view) => self.state.analysis = view,
            AnalysisAction::Start => self.analyse(),
        }
    }

    /// Of the cloud that is shown, with the k and the metric on the left, by the engine that should be fastest.
    fn analyse(&mut self) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let asked = self.question(&cloud, QuerySpec::All).and_then(|mut spec| {
            (spec.exclude_self, spec.engine, spec.device) = (true, EngineChoice::Auto, None);
            let view = &self.state.analysis;
            let labels = match cloud.source() {
                Source::File { path, .. } => label_column(view, &self.session).map(|(key, title)| LabelColumn { path: path.clone(), key, title }),
                Source::Generate { .. } | Source::Coordinates(_) => None,
            };
            Ok(Asked { spec, labels, eps: view.eps()?, cloud })
        });
        match asked {
            Err(why) => self.session.log.error(About::Analysis, why),
            Ok(asked) => {
                let resident = self.handles.worker.resident().clone();
                self.jobs.start(&ANALYSE, (), move |progress| work(&asked, &resident, progress));
            }
        }
    }

    pub(in crate::app::shell) fn analysed(&mut self, (): (), outcome: Outcome<Result<Option<Analysed>, String>>) {
        match self.done("analysis", outcome) {
            None => {}
            Some(Ok(None)) => self.session.log.info("cancelled"),
            Some(Err(why)) => self.session.log.error(About::Analysis, format!("cannot analyse: {why}")),
            Some(Ok(Some(analysed))) => {
                let (rows, k) = (analysed.record.query_rows.len() as u64, analysed.record.spec.k);
                let said = format!("{} analysed by the {k} nearest of each, by {}", text::count(rows, "row", "rows"), analysed.record.engine);
                self.session.log.done(About::Analysis, said);
                self.session.analysed = Some(Arc::new(analysed));
            }
        }
    }
}
