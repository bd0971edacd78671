//! Compares engines by running them one after another.

use std::sync::Arc;

use super::state::ContestAction;
use crate::app::context::app::{App, Feature};
use crate::app::model::{candidates, comparable};
use crate::app::prelude::*;
use crate::knn::EngineId;
use crate::run::RunRecord;
use crate::run::planner::{Candidate, Planner};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Contest(action) => app.contest_action(action),
            Action::Command(Command::CompareEngines) => app.contest_action(ContestAction::Start),
            other => return Some(other),
        }
        None
    },
    leave_cloud: |app, _| app.session.contest.forget(),
    ..Feature::NONE
};

impl App {
    fn contest_action(&mut self, action: ContestAction) {
        match action {
            ContestAction::Start => {
                self.show(PaneKind::Engines);
                self.start_contest(None);
            }
            ContestAction::One(engine) => self.start_contest(Some(engine)),
            ContestAction::SetLongest(longest) => self.session.contest.longest = longest,
            ContestAction::Stop => {
                self.session.contest.stop();
                self.handles.worker.cancel();
            }
            ContestAction::Page(engine) => {
                (self.session.contest.page, self.session.contest.source) = (engine, None)
            }
            ContestAction::Source(at) => self.session.contest.source = at,
            ContestAction::Show(engine) => {
                let kept = self
                    .session
                    .contest
                    .answer(engine)
                    .and_then(|record| self.session.runs.of_record(record))
                    .map(|kept| kept.id);
                match kept {
                    Some(id) => {
                        self.show_kept(id);
                        // Show the other panes.
                        self.state.maximised = false;
                    }
                    None => self.session.log.warn(
                        About::Run,
                        format!("the run of {engine} is no longer in the list of runs: run it again"),
                    ),
                }
            }
        }
    }

    /// Runs one engine, or all that are available.
    fn start_contest(&mut self, only: Option<EngineId>) {
        let known = candidates(&self.state.draft, &self.session, &Planner::shared());
        let Some((spec, _, candidates)) = known else {
            let why = "engines are compared on a cloud that is loaded, with queries of its rows; load it \
                       first, or wait until the engines are known";
            return self.session.log.error(About::Run, why);
        };
        let longest = self.session.contest.longest;
        let mut engines: Vec<&Candidate> = match only {
            Some(engine) => candidates.iter().filter(|candidate| candidate.engine == engine).collect(),
            None => comparable(&candidates, longest).collect(),
        };
        if engines.is_empty() {
            let why = format!(
                "no engine can answer this question ({}); choose a longer time, or run one by itself",
                longest.text()
            );
            return self.session.log.error(About::Run, why);
        }
        // Fastest first, so that a user who stops early has seen most answers.
        engines.sort_by(|a, b| {
            a.total_ms.unwrap_or(f64::INFINITY).total_cmp(&b.total_ms.unwrap_or(f64::INFINITY))
        });
        if only.is_none() {
            // Earlier answers must not mix with new ones.
            self.session.contest.forget();
        }
        self.asked_to_run = true;
        self.session
            .contest
            .begin(spec, engines.into_iter().map(|candidate| (candidate.engine, candidate.forecast)));
        self.next_of_contest();
    }

    fn next_of_contest(&mut self) {
        let Some(spec) = self.session.contest.next() else { return };
        match self.session.cloud.clone() {
            Some(cloud) => self.run_on(&cloud, spec),
            None => self.session.contest.stop(),
        }
    }

    /// Handles a finished run, if it belongs to the comparison.
    pub(in crate::app) fn contest_answered(&mut self, record: &Arc<RunRecord>) {
        if self.session.contest.take(record) {
            self.next_of_contest();
        }
    }

    /// Handles a failed run, if it belongs to the comparison: the others continue unless it was cancelled.
    pub(in crate::app) fn contest_failed(&mut self, why: Option<&str>) {
        match why {
            None => self.session.contest.stop(),
            Some(why) => {
                if self.session.contest.fail(why) {
                    self.next_of_contest();
                }
            }
        }
    }
}
