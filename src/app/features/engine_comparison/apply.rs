//! Compares engines by running them one after another.

use std::sync::Arc;

use super::state::EnginesAction;
use crate::app::context::app::{App, Feature};
use crate::app::model::{candidates, comparable};
use crate::app::prelude::*;
use crate::knn::EngineId;
use crate::run::RunRecord;
use crate::run::planner::{Candidate, Planner};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Engines(action) => app.engines_action(action),
            Action::Command(Command::CompareEngines) => app.engines_action(EnginesAction::Start),
            other => return Some(other),
        }
        None
    },
    leave_cloud: |app, _| app.session.engine_comparison.forget(),
    ..Feature::NONE
};

impl App {
    fn engines_action(&mut self, action: EnginesAction) {
        match action {
            EnginesAction::Start => {
                self.show(PaneKind::Engines);
                self.start_engine_comparison(None);
            }
            EnginesAction::One(engine) => self.start_engine_comparison(Some(engine)),
            EnginesAction::SetTimeLimit(time_limit) => self.session.engine_comparison.time_limit = time_limit,
            EnginesAction::Stop => {
                self.session.engine_comparison.stop();
                self.handles.worker.cancel();
            }
            EnginesAction::Page(engine) => {
                (self.session.engine_comparison.page, self.session.engine_comparison.source) = (engine, None)
            }
            EnginesAction::Source(at) => self.session.engine_comparison.source = at,
            EnginesAction::Show(engine) => {
                let listed = self
                    .session
                    .engine_comparison
                    .answer(engine)
                    .and_then(|record| self.session.runs.of_record(record))
                    .map(|listed| listed.id);
                match listed {
                    Some(id) => {
                        self.show_listed_run(id);
                        // Show the other panes.
                        self.state.maximised = false;
                    }
                    None => self.session.log.warn(
                        Subject::Run,
                        format!("the run of {engine} is no longer in the list of runs: run it again"),
                    ),
                }
            }
        }
    }

    /// Runs one engine, or all that are available.
    fn start_engine_comparison(&mut self, only: Option<EngineId>) {
        let known = candidates(&self.state.draft, &self.session, &Planner::shared());
        let Some((spec, _, candidates)) = known else {
            let why = "cannot compare engines: load a cloud and choose its rows as queries, or wait until \
                       engines are detected";
            return self.session.log.error(Subject::Run, why);
        };
        let time_limit = self.session.engine_comparison.time_limit;
        let mut engines: Vec<&Candidate> = match only {
            Some(engine) => candidates.iter().filter(|candidate| candidate.engine == engine).collect(),
            None => comparable(&candidates, time_limit).collect(),
        };
        if engines.is_empty() {
            let why = format!(
                "no engine can run this search within the limit ({}); choose a longer time or run one engine",
                time_limit.text()
            );
            return self.session.log.error(Subject::Run, why);
        }
        // Fastest first, so that a user who stops early has seen most answers.
        engines.sort_by(|a, b| {
            a.total_ms.unwrap_or(f64::INFINITY).total_cmp(&b.total_ms.unwrap_or(f64::INFINITY))
        });
        if only.is_none() {
            // Earlier answers must not mix with new ones.
            self.session.engine_comparison.forget();
        }
        self.asked_to_run = true;
        self.session
            .engine_comparison
            .begin(spec, engines.into_iter().map(|candidate| (candidate.engine, candidate.forecast)));
        self.run_next_engine();
    }

    fn run_next_engine(&mut self) {
        let Some(spec) = self.session.engine_comparison.next() else { return };
        match self.session.cloud.clone() {
            Some(cloud) => self.run_on(&cloud, spec),
            None => self.session.engine_comparison.stop(),
        }
    }

    /// Handles a finished run, if it belongs to the comparison.
    pub(in crate::app) fn engine_answered(&mut self, record: &Arc<RunRecord>) {
        if self.session.engine_comparison.take(record) {
            self.run_next_engine();
        }
    }

    /// Handles a failed run, if it belongs to the comparison: the others continue unless it was cancelled.
    pub(in crate::app) fn engine_failed(&mut self, why: Option<&str>) {
        match why {
            None => self.session.engine_comparison.stop(),
            Some(why) => {
                if self.session.engine_comparison.fail(why) {
                    self.run_next_engine();
                }
            }
        }
    }
}
