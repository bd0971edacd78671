//! Moves, queries and answers of the live query.

use std::sync::Arc;
use std::time::Instant;

use super::state::{DragSnapshot, LiveAction, LiveQueryState, SnapTarget};
use crate::app::context::app::{App, Feature};
use crate::app::features::errors::{cloud_error, run_error};
use crate::app::features::picking::is_small;
use crate::app::jobs::table::{Applied, CancelMethod, Job, TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::{Draft, EngineStatus, FailureReason, Field, Level, QueryKind, SHOWN_AFTER, Scene};
use crate::app::prelude::*;
use crate::cloud::{PointCloud, query_point};
use crate::engines::registry;
use crate::progress::NoProgress;
use crate::run::analysis::TheoryCurve;
use crate::run::{
    EngineChoice, LiveQuery, LiveQueryWorker, QuerySpec, Reply, RunError, RunRecord, RunSpec, planner,
};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Live(action) => app.live_action(action),
            Action::PickRow(row) => app.pick_row(row),
            Action::PickQuery(query) => app.pick_query(query),
            Action::Command(Command::NextQuery) => app.step_query(1),
            Action::Command(Command::PreviousQuery) => app.step_query(-1),
            other => return Some(other),
        }
        None
    },
    update: |app| {
        app.drop_lost_snap();
        let live = &app.session.live;
        if live.is_waiting() && !live.is_slow() {
            // Requested in every frame, because egui keeps only the earliest requested time.
            app.handles.ctx.request_repaint_after(SHOWN_AFTER);
        }
    },
    leave_cloud: |app, _| {
        app.jobs.stop(&SNAP);
        app.forget_live();
    },
    draft_changed: App::question_changed,
    give_up: App::cancel_ask,
    ..Feature::NONE
};

impl App {
    pub(in crate::app) fn live_action(&mut self, action: LiveAction) {
        let held = self.session.live.is_held();
        match action {
            LiveAction::Grab => self.grab(),
            // After Escape the query no longer follows the pointer.
            LiveAction::To(at) if held => {
                if let Err(why) = self.move_to(&at) {
                    self.session.log.error_once(Subject::Query, &why);
                }
            }
            LiveAction::Snap(target) if held => self.snap(target),
            LiveAction::To(_) | LiveAction::Snap(_) => {}
            LiveAction::Release => {
                if !self.release_after_search() {
                    self.session.live.before = None;
                    self.start_theory();
                }
            }
            LiveAction::Back => self.restore_before_drag(),
            LiveAction::Type(fields) => {
                (self.session.live.typed, self.session.live.wrong) = (Some(fields), None)
            }
            LiveAction::Apply => self.apply_typed(),
        }
    }

    fn grab(&mut self) {
        // A new drag begins where the query is, so a pending snap is dropped.
        self.jobs.stop(&SNAP);
        let session = &mut self.session;
        session.live.before = Some(DragSnapshot {
            picked: session.picked,
            place: session.live.place.clone(),
            answered: session.answered.clone(),
            theory: session.theory.clone(),
            rank: session.rank,
        });
        session.live.choose(true);
        (session.live.known, session.live.typed, session.live.wrong) = (true, None, None);
    }

    fn restore_before_drag(&mut self) {
        let session = &mut self.session;
        let Some(before) = session.live.before.take() else { return };
        session.live.ignore_earlier_replies();
        session.live.place = before.place;
        (session.picked, session.rank) = (before.picked, before.rank);
        (session.answered, session.theory, session.theory_lags) = (before.answered, before.theory, false);
        self.handles.theory_wanted = None;
        if self.session.theory.is_none()
            && let Some(QueryAnswer { record, query }) = self.session.answered.clone()
        {
            self.answer(record, query);
        }
    }

    /// Moves the query to coordinates and searches.
    fn move_to(&mut self, at: &[f64]) -> Result<(), String> {
        let Some(cloud) = &self.session.cloud else { return Ok(()) };
        let place = query_point::cloud(at, cloud).map_err(|error| cloud_error(&error))?;
        self.set_query_point(Some(Arc::new(place)));
        Ok(())
    }

    /// Sets the query's point and searches.
    pub(in crate::app) fn set_query_point(&mut self, place: Option<Arc<PointCloud>>) {
        self.session.live.place = place;
        self.session.live.chosen = true;
        (self.session.picked, self.session.rank) = (Some(PickedPoint::Coordinates), None);
        self.ask();
    }

    /// Applies the typed coordinates, or reports the first invalid one.
    fn apply_typed(&mut self) {
        let Some(fields) = self.session.live.typed.clone() else { return };
        let mut at = Vec::with_capacity(fields.len());
        for (axis, text) in fields.iter().enumerate() {
            match text.trim().parse::<f64>() {
                Ok(value) if value.is_finite() => at.push(value),
                _ => {
                    let shown = text.trim();
                    let sentence = if shown.is_empty() {
                        "Type a number.".to_owned()
                    } else {
                        format!("“{shown}” is not a number such as 51.507.")
                    };
                    self.session.live.wrong = Some((axis, sentence));
                    return;
                }
            }
        }
        self.forget_slow_answer();
        let live = &mut self.session.live;
        live.before = None;
        live.ignore_earlier_replies();
        live.choose(true);
        if let Err(why) = self.move_to(&at) {
            (self.session.live.typed, self.session.live.wrong) = (Some(fields), Some((0, why)));
        }
    }

    /// Drops the previous answer, unless the next is expected within a moment.
    pub(in crate::app) fn forget_slow_answer(&mut self) {
        let session = &mut self.session;
        if session.cloud.as_ref().is_none_or(|cloud| !session.live.is_short(cloud)) {
            (session.answered, session.theory) = (None, None);
        }
    }

    /// Drops requests for the previous query, because a row or a query of a file was picked.
    pub(in crate::app) fn settle_live(&mut self, chosen: bool) {
        let live = &mut self.session.live;
        live.ignore_earlier_replies();
        live.choose(false);
        self.session.endings.ask = None;
        let live = &mut self.session.live;
        (live.place, live.before, live.chosen) = (None, None, chosen);
    }

    /// Clears the query.
    pub(in crate::app) fn clear_query(&mut self) {
        self.settle_live(false);
        (self.session.picked, self.session.rank) = (None, None);
        (self.session.answered, self.session.theory, self.session.theory_lags) = (None, None, false);
        (self.handles.theory_wanted, self.handles.focus_when_answered) = (None, false);
    }

    /// Resets the live query for another cloud.
    fn forget_live(&mut self) {
        let old = std::mem::take(&mut self.session.live);
        self.session.live =
            LiveQueryState { asked: old.asked, known: old.known, ..LiveQueryState::default() };
        self.session.live.ignore_earlier_replies();
        self.handles.live_queries.release();
    }

    /// Queries again after the fields in the left panel changed.
    fn question_changed(&mut self, before: &Draft) {
        self.metric_changed(before.metric);
        let question = |draft: &Draft| (draft.k.clone(), draft.metric, draft.order, draft.exclude_self);
        if question(before) != question(&self.state.draft) {
            // A slow answer to the previous question must not be taken for this one's.
            self.forget_slow_answer();
            self.ask_if_changed();
        }
    }

    /// Queries again if the fields describe a different problem than the answer's.
    pub(in crate::app) fn ask_if_changed(&mut self) {
        let (Some(picked), Some(cloud)) = (self.session.picked, self.session.cloud.clone()) else { return };
        // Invalid fields show their own errors.
        let Ok(spec) = self.question(&cloud, QuerySpec::All) else { return };
        if self.session.answered.as_ref().is_some_and(|answered| same_question(&answered.record.spec, &spec))
        {
            self.session.live.ignore_earlier_replies();
            return;
        }
        let known = self.session.record.clone().filter(|record| same_question(&record.spec, &spec));
        match (picked, known) {
            (PickedPoint::Row(row), Some(record)) if let Some(query) = self.session.query_of_row(row) => {
                self.session.live.ignore_earlier_replies();
                self.answer(record, query);
            }
            (PickedPoint::Query(query), Some(record)) if query < record.query_rows.len() => {
                self.session.live.ignore_earlier_replies();
                self.answer(record, query);
            }
            _ => self.ask(),
        }
    }

    /// Searches the neighbours of the picked point.
    pub(in crate::app) fn ask(&mut self) {
        let (Some(cloud), Some(picked)) = (self.session.cloud.clone(), self.session.picked) else { return };
        let queries = match (picked, self.session.picked_point()) {
            (PickedPoint::Row(row), _) => QuerySpec::Rows(vec![cloud.record(row as usize)]),
            (PickedPoint::Query(_) | PickedPoint::Coordinates, Some((of, row))) => {
                QuerySpec::At((0..of.dims()).map(|axis| of.coordinate(row, axis)).collect())
            }
            (PickedPoint::Query(_) | PickedPoint::Coordinates, None) => return,
        };
        let mut spec = match self.question(&cloud, queries) {
            Ok(spec) => spec,
            Err(sentence) => {
                self.session.endings.ask = Some(self.failed(Subject::Query, sentence));
                return;
            }
        };
        self.session.endings.ask = None;
        // A larger k finds no more, but takes memory for each; the left panel says so.
        spec.k = spec.k.min(cloud.len());
        self.answer_here(&mut spec);
        let live = &mut self.session.live;
        live.asked += 1;
        if live.replied + 1 == live.asked {
            live.since = Some(Instant::now());
        }
        self.handles.live_queries.submit(LiveQuery { id: live.asked, spec, cloud });
    }

    /// Handles a reply of the live query worker.
    pub(in crate::app) fn reply(&mut self, Reply { id, result, took }: Reply) {
        let live = &mut self.session.live;
        live.replied = live.replied.max(id);
        live.since = live.is_waiting().then(Instant::now);
        if id < live.wanted {
            return;
        }
        match result {
            Ok(record) => {
                if record.resident {
                    live.took = Some((took, record.spec.k));
                }
                if self.session.has_cloud(&record.cloud) {
                    self.replied(record);
                }
            }
            Err(RunError::Cancelled) => {}
            Err(error) => {
                // An answer to another problem must not stay.
                let sentence = run_error(&error);
                (self.session.answered, self.session.theory) = (None, None);
                self.session.log.error_once(Subject::Query, &sentence);
                self.session.endings.ask = Some(FailureReason::Failed(sentence));
            }
        }
    }

    fn cancel_ask(&mut self) {
        if !self.session.live.is_waiting() {
            return;
        }
        self.handles.live_queries.withdraw();
        self.session.live.ignore_earlier_replies();
        (self.session.answered, self.session.theory, self.session.theory_lags) = (None, None, false);
        self.session.endings.ask = Some(self.cancelled());
    }

    fn replied(&mut self, record: Arc<RunRecord>) {
        self.note_fallback(&record);
        let lags = self.session.theory.take();
        self.answer(record, 0);
        // The previous curve stays, marked as outdated, until the next is computed, to avoid flicker.
        if self.session.theory.is_none() && self.is_computing_theory() {
            (self.session.theory_lags, self.session.theory) = (lags.is_some(), lags);
        }
    }

    /// Logs once why `auto` did not use its preferred engine.
    pub(in crate::app) fn note_fallback(&mut self, record: &RunRecord) {
        let Some(fallback) = &record.fallback else { return };
        if self.session.log.entries().iter().any(|entry| entry.text == *fallback) {
            return;
        }
        let named = self.session.gpu().is_some_and(EngineStatus::is_available);
        if named {
            // The status line names a device that failed.
            self.session.log.warn(Subject::Run, fallback.clone());
        } else {
            // A missing device is not news: the status line has a label for it.
            self.session.log.list(Level::Info, fallback.clone());
        }
    }
}

// The picked query, its requests, and its expected convergence.

/// The expected convergence of an answer.
pub static THEORY: TaskKind<App, QueryAnswer, TheoryCurve> =
    TaskKind::new(TaskPurpose::Theory, "theory", App::theory_done);

/// The live query worker as a source of events.
pub struct LiveQueryEvents(pub Arc<LiveQueryWorker>);

impl Job<App> for LiveQueryEvents {
    fn next(&mut self) -> Option<(Applied<App>, bool)> {
        let reply = self.0.try_recv()?;
        Some((Box::new(move |app| app.reply(reply)), false))
    }

    fn purpose(&self, session: &Session) -> Option<Activity> {
        session.live.is_slow().then_some(Activity::Asking)
    }

    fn cancel(&self) -> CancelMethod<App> {
        CancelMethod::By(App::cancel_ask)
    }
}

impl App {
    /// Picks a clicked row, and enters it if query rows are typed.
    pub(in crate::app) fn pick_row(&mut self, row: u32) {
        let Some(cloud) = self.session.cloud.as_ref().filter(|cloud| (row as usize) < cloud.len()) else {
            return;
        };
        if self.state.draft.queries == QueryKind::Rows {
            self.state.draft.query_rows = cloud.record(row as usize).to_string();
        }
        self.pick(PickedPoint::Row(row));
    }

    /// Makes a row the query: answered from the shown run if it contains the row, otherwise searched at once.
    pub(in crate::app) fn pick(&mut self, picked: PickedPoint) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let row = match picked {
            PickedPoint::Row(row) if (row as usize) < cloud.len() => row,
            PickedPoint::Query(query) => return self.pick_query(query),
            PickedPoint::Row(_) | PickedPoint::Coordinates => return,
        };
        let mut spec = match self.question(&cloud, QuerySpec::Rows(vec![cloud.record(row as usize)])) {
            Ok(spec) => spec,
            Err(sentence) => return self.session.log.error(Subject::Query, sentence),
        };
        self.settle_live(true);
        if self.session.picked != Some(picked) {
            (self.session.picked, self.session.rank) = (Some(picked), None);
            self.forget_slow_answer();
        }
        // The answers of a recording may come from engines that are not available here.
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
        let Some(record) = self.session.record.clone().filter(|record| query < record.query_rows.len())
        else {
            return;
        };
        let picked = if record.query_cloud.is_some() {
            PickedPoint::Query(query)
        } else {
            PickedPoint::Row(record.query_rows[query])
        };
        self.settle_live(true);
        if self.session.picked != Some(picked) {
            self.session.rank = None;
        }
        self.session.picked = Some(picked);
        self.answer(record, query);
    }

    /// Picks the next selected row, or else the next query of the run, or the next row of the file.
    pub(in crate::app) fn step_query(&mut self, by: isize) {
        let selected = self.session.selection.rows();
        if !selected.is_empty() {
            let at = match self.session.picked {
                Some(PickedPoint::Row(row)) => selected.binary_search(&row).ok(),
                _ => None,
            };
            let next = at.map_or(0, |at| (at as isize + by).rem_euclid(selected.len() as isize));
            return self.pick_row(selected[next as usize]);
        }
        let Some(record) = &self.session.record else {
            let Some(rows) = self.session.cloud.as_ref().map(|cloud| cloud.len() as isize) else { return };
            let next = match self.session.picked {
                Some(PickedPoint::Row(row)) => (row as isize + by).rem_euclid(rows),
                _ => 0,
            };
            return self.pick_row(next as u32);
        };
        let of_record =
            self.session.answered.as_ref().filter(|answered| Arc::ptr_eq(&answered.record, record));
        let next = of_record.map_or(0, |answered| {
            (answered.query as isize + by).rem_euclid(record.query_rows.len() as isize)
        });
        self.pick_query(next as usize);
    }

    /// Shows a query's answer, and starts computing its theory curve.
    pub(in crate::app) fn answer(&mut self, record: Arc<RunRecord>, query: usize) {
        (self.session.theory, self.session.theory_lags) = (None, false);
        self.session.log.resolve(Subject::Query);
        let answered = QueryAnswer { record, query };
        self.handles.theory_wanted =
            (answered.record.convergence.queries() > query).then(|| answered.clone());
        self.session.answered = Some(answered);
        self.focus_if_answered();
        self.start_theory();
    }

    /// Computes theory for the latest answer, one at a time; queries stepped over are skipped.
    pub(in crate::app) fn start_theory(&mut self) {
        /// Maximum number of points for theory during a drag: more would slow down the answers.
        const MAX_POINTS_WHILE_DRAGGED: usize = 300_000;
        let points = self.session.cloud.as_ref().map_or(0, |cloud| cloud.len());
        if self.jobs.has(&THEORY) || (self.session.live.is_held() && points > MAX_POINTS_WHILE_DRAGGED) {
            return;
        }
        let Some(answered) = self.handles.theory_wanted.take() else { return };
        let QueryAnswer { record, query } = answered.clone();
        let resident = self.handles.worker.resident().clone();
        self.jobs.start(&THEORY, answered, move |_| TheoryCurve::new(&record, query, &resident));
    }

    /// Stores a theory curve, and starts the next one.
    pub(in crate::app) fn theory_done(&mut self, of: QueryAnswer, curve: Outcome<TheoryCurve>) {
        self.start_theory();
        let Some(curve) = self.done("theory", curve) else { return };
        if self.session.answered.as_ref() == Some(&of) {
            (self.session.theory, self.session.theory_lags) = (Some(curve), false);
        } else if self.session.theory_lags {
            // During a drag, this curve is closer to the current one than the curve shown.
            self.session.theory = Some(curve);
        }
    }

    /// The problem in the left panel, with other queries, on the shown cloud.
    pub(in crate::app) fn question(&self, cloud: &PointCloud, queries: QuerySpec) -> Result<RunSpec, String> {
        let draft = Draft {
            queries: QueryKind::All,
            warmup: "0".to_owned(),
            repeats: "1".to_owned(),
            ..self.state.draft.clone()
        };
        let mut spec = match draft.to_spec() {
            Ok(spec) => spec,
            // The data fields may name other data by now, but the click was on the shown cloud.
            Err(errors) => {
                let wrong =
                    errors.iter().find(|error| !matches!(error.field, Field::Path | Field::Generator));
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
        // If the chosen engine does not support these data, use `auto`.
        let shape =
            planner::Job::new(&spec, planner::Purpose::Answer, cloud.len(), cloud.dims(), Some(1)).shape;
        if let EngineChoice::Named(method) = &spec.engine
            && registry::find(method.engine)
                .is_some_and(|engine| engine.limits.check(engine.id, &shape, spec.metric).is_err())
        {
            spec.engine = EngineChoice::Auto;
        }
        Ok(spec)
    }

    /// Whether a theory curve is being computed or queued; engines without convergence have none.
    pub fn is_computing_theory(&self) -> bool {
        self.jobs.has(&THEORY) || self.handles.theory_wanted.is_some()
    }
}

/// Whether two specs differ only in queries and repeats.
pub(in crate::app) fn same_question(a: &RunSpec, b: &RunSpec) -> bool {
    let question = |spec: &RunSpec| {
        let engine = (spec.engine.clone(), spec.device);
        (
            spec.data.clone(),
            spec.k,
            spec.metric,
            engine,
            spec.order,
            spec.exclude_self,
            spec.seed,
            spec.drop_nonfinite,
        )
    };
    question(a) == question(b)
}

// Snapping moves the dragged query to a row: the one drawn nearest to the pointer, or the next in the
// direction of an arrow key. With many rows, a thread searches for the latest pointer position, one search at
// a time.

/// A running search for the row to snap to.
#[derive(Default)]
pub struct SnapTask {
    pub next: Option<SnapTarget>,
    /// Whether to end the drag once the row is found.
    pub releases: bool,
}

pub static SNAP: TaskKind<App, SnapTask, Option<u32>> =
    TaskKind::new(TaskPurpose::Snap, "snap", App::snap_found);

impl App {
    /// Moves the dragged query to a row.
    pub(in crate::app) fn snap(&mut self, target: SnapTarget) {
        let Some(scene) = self.session.scene() else { return };
        if let Some(snapping) = self.jobs.params_mut(&SNAP) {
            snapping.next = Some(target);
        } else if is_small(scene.data().len()) {
            let row = target.row(scene.data(), &NoProgress);
            self.snapped(row);
        } else {
            self.search_row(scene, target, false);
        }
    }

    fn search_row(&mut self, scene: Scene, target: SnapTarget, releases: bool) {
        self.jobs.start(&SNAP, SnapTask { next: None, releases }, move |progress| {
            target.row(scene.data(), progress)
        });
    }

    fn snapped(&mut self, row: Option<u32>) {
        let Some(picked) = row.map(PickedPoint::Row).filter(|picked| self.session.picked != Some(*picked))
        else {
            return;
        };
        (self.session.picked, self.session.rank) = (Some(picked), None);
        self.session.live.chosen = true;
        self.ask();
    }

    /// Defers the end of a drag until a running search ends; returns whether there is one.
    pub(in crate::app) fn release_after_search(&mut self) -> bool {
        self.jobs.params_mut(&SNAP).map(|snapping| snapping.releases = true).is_some()
    }

    /// Stops the search if the drag has ended.
    pub(in crate::app) fn drop_lost_snap(&mut self) {
        if !self.session.live.is_held() {
            self.jobs.stop(&SNAP);
        }
    }

    /// Handles the end of a search.
    pub(in crate::app) fn snap_found(
        &mut self,
        SnapTask { next, releases }: SnapTask,
        result: Outcome<Option<u32>>,
    ) {
        if !self.session.live.is_held() {
            // The drag was cancelled, or another query was picked.
            return;
        }
        match result {
            Ok(row) => self.snapped(row),
            Err(stopped) => {
                self.session.log.error(Subject::Query, format!("cannot move the query: {stopped}"))
            }
        }
        match (next, self.session.scene()) {
            (Some(target), Some(scene)) => self.search_row(scene, target, releases),
            _ if releases => self.live_action(LiveAction::Release),
            _ => {}
        }
    }
}
