//! Which query is picked, what is asked of it, and what theory expects of its answer.

use std::sync::Arc;

use crate::app::context::app::App;
use crate::app::jobs::table::{Applied, Cancel, Kind, Row, Slot};
use crate::app::jobs::task::Outcome;
use crate::app::model::draft::Field;
use crate::app::model::{About, Activity, Answered, Draft, Picked, QueryKind, Session};
use crate::cloud::PointCloud;
use crate::engines::registry;
use crate::run::analysis::TheoryCurve;
use crate::run::{Asker, EngineChoice, QuerySpec, RunRecord, RunSpec, planner};

/// What theory expects of an answer.
pub static THEORY: Kind<App, Answered, TheoryCurve> = Kind::new(Slot::Theory, "theory", App::theory_done);

/// The asker, which answers the picked query at once, beside the worker.
pub struct Asks(pub Arc<Asker>);

impl Row<App> for Asks {
    fn next(&mut self) -> Option<(Applied<App>, bool)> {
        let reply = self.0.try_recv()?;
        Some((Box::new(move |app| app.reply(reply)), false))
    }

    fn purpose(&self, session: &Session) -> Option<Activity> {
        session.live.is_slow().then_some(Activity::Asking)
    }

    fn cancel(&self) -> Cancel<App> {
        Cancel::By(App::cancel_ask)
    }
}

impl App {
    /// A click on a point: picks it, and enters its row where rows are typed.
    pub(in crate::app) fn pick_row(&mut self, row: u32) {
        let Some(cloud) = self.session.cloud.as_ref().filter(|cloud| (row as usize) < cloud.len()) else { return };
        if self.state.draft.queries == QueryKind::Rows {
            self.state.draft.query_rows = cloud.record(row as usize).to_string();
        }
        self.pick(Picked::Row(row));
    }

    /// Makes a row the query: answered from the shown run where that has it, otherwise searched at once.
    pub(in crate::app) fn pick(&mut self, picked: Picked) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let row = match picked {
            Picked::Row(row) if (row as usize) < cloud.len() => row,
            Picked::Query(query) => return self.pick_query(query),
            Picked::Row(_) | Picked::Coordinates => return,
        };
        let mut spec = match self.question(&cloud, QuerySpec::Rows(vec![cloud.record(row as usize)])) {
            Ok(spec) => spec,
            Err(sentence) => return self.session.log.error(About::Query, sentence),
        };
        self.settle_live(true);
        if self.session.picked != Some(picked) {
            (self.session.picked, self.session.rank) = (Some(picked), None);
            self.forget_slow_answer();
        }
        // A recording's own answers need no engine on this machine.
        if self.shows_recording()
            && let Some(record) = &self.session.record
        {
            spec.engine = record.spec.engine.clone();
        }
        let known = self.session.record.as_ref().filter(|record| same_question(&record.spec, &spec)).cloned();
        match (known, self.session.query_of_row(row)) {
            (Some(record), Some(query)) => self.answer(record, query),
            _ => self.ask(),
        }
    }

    pub(in crate::app) fn pick_query(&mut self, query: usize) {
        let Some(record) = self.session.record.clone().filter(|record| query < record.query_rows.len()) else { return };
        let picked = if record.query_cloud.is_some() { Picked::Query(query) } else { Picked::Row(record.query_rows[query]) };
        self.settle_live(true);
        if self.session.picked != Some(picked) {
            self.session.rank = None;
        }
        self.session.picked = Some(picked);
        self.answer(record, query);
    }

    /// Picks the next query of the run; where there is none, the next row of the file.
    pub(in crate::app) fn step_query(&mut self, by: isize) {
        let Some(record) = &self.session.record else {
            let Some(rows) = self.session.cloud.as_ref().map(|cloud| cloud.len() as isize) else { return };
            let next = match self.session.picked {
                Some(Picked::Row(row)) => (row as isize + by).rem_euclid(rows),
                _ => 0,
            };
            return self.pick_row(next as u32);
        };
        let of_record = self.session.answered.as_ref().filter(|answered| Arc::ptr_eq(&answered.record, record));
        let next = of_record.map_or(0, |answered| (answered.query as isize + by).rem_euclid(record.query_rows.len() as isize));
        self.pick_query(next as usize);
    }

    /// Shows a query's answer, and starts computing its theory curve.
    pub(in crate::app) fn answer(&mut self, record: Arc<RunRecord>, query: usize) {
        (self.session.theory, self.session.theory_lags) = (None, false);
        self.session.log.settle(About::Query);
        let answered = Answered { record, query };
        self.handles.theory_wanted = (answered.record.convergence.queries() > query).then(|| answered.clone());
        self.session.answered = Some(answered);
        self.focus_if_answered();
        self.start_theory();
    }

    /// Computes theory for the latest answer, one at a time: stepping through queries skips those in between.
    pub(in crate::app) fn start_theory(&mut self) {
        /// Most points for which theory is computed while the query is dragged: more would slow down the answers.
        const WHILE_DRAGGED: usize = 300_000;
        let points = self.session.cloud.as_ref().map_or(0, |cloud| cloud.len());
        if self.jobs.has(&THEORY) || (self.session.live.is_held() && points > WHILE_DRAGGED) {
            return;
        }
        let Some(answered) = self.handles.theory_wanted.take() else { return };
        let Answered { record, query } = answered.clone();
        let resident = self.handles.worker.resident().clone();
        self.jobs.start(&THEORY, answered, move |_| TheoryCurve::of(&record, query, &resident));
    }

    /// Takes in a theory curve, and starts the next one that is wanted.
    pub(in crate::app) fn theory_done(&mut self, Answered { record, query }: Answered, curve: Outcome<TheoryCurve>) {
        self.start_theory();
        let Some(curve) = self.done("theory", curve) else { return };
        let shown = self.session.answered.as_ref();
        if shown.is_some_and(|shown| Arc::ptr_eq(&shown.record, &record) && shown.query == query) {
            (self.session.theory, self.session.theory_lags) = (Some(curve), false);
        } else if self.session.theory_lags {
            // The query was dragged on: this curve is closer to its own than the one that is shown.
            self.session.theory = Some(curve);
        }
    }

    /// The problem in the left panel, with other queries, on the cloud that is shown.
    pub(in crate::app) fn question(&self, cloud: &PointCloud, queries: QuerySpec) -> Result<RunSpec, String> {
        let draft = Draft { queries: QueryKind::All, warmup: "0".to_owned(), repeats: "1".to_owned(), ..self.state.draft.clone() };
        let mut spec = match draft.to_spec() {
            Ok(spec) => spec,
            // The fields may name other data by now, but the click was on the cloud that is shown.
            Err(errors) => {
                let wrong = errors.iter().find(|error| !matches!(error.field, Field::Path | Field::Generator));
                match (wrong, &self.session.record) {
                    (Some(error), _) => return Err(format!("cannot answer: {}", error.sentence)),
                    (None, Some(last)) => last.spec.clone(),
                    (None, None) => return Err(format!("cannot answer: {}", errors[0].sentence)),
                }
            }
        };
        spec.data = cloud.source().clone();
        spec.queries = queries;
        (spec.warmup, spec.repeats) = (0, 1);
        // An engine that was chosen for other data, and cannot search this, keeps nobody from an answer.
        let shape = planner::Job::of(&spec, planner::Purpose::Ask, cloud.len(), cloud.dims(), Some(1)).shape;
        if let EngineChoice::Named(method) = &spec.engine
            && registry::find(method.engine).is_some_and(|engine| engine.limits.check(engine.id, &shape, spec.metric).is_err())
        {
            spec.engine = EngineChoice::Auto;
        }
        Ok(spec)
    }

    /// Whether a theory curve is computed or waits to be: an engine without convergence has none.
    pub fn is_computing_theory(&self) -> bool {
        self.jobs.has(&THEORY) || self.handles.theory_wanted.is_some()
    }
}

/// Whether two specs ask for the same problem on the same engine, whatever their queries and repeats.
pub(in crate::app) fn same_question(a: &RunSpec, b: &RunSpec) -> bool {
    let question = |spec: &RunSpec| {
        let engine = (spec.engine.clone(), spec.device);
        (spec.data.clone(), spec.k, spec.metric, engine, spec.order, spec.exclude_self, spec.seed, spec.drop_nonfinite)
    };
    question(a) == question(b)
}
