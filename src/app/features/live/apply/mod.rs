//! Where the live query changes: it moves, is asked for, and is answered.

pub mod query;
pub mod snap;

use std::sync::Arc;
use std::time::Instant;

use crate::app::context::app::App;
use crate::app::context::feature::Feature;
use crate::app::features::errors::{of_cloud, of_run};
use crate::app::features::live::apply::query::same_question;
use crate::app::features::live::apply::snap::SNAP;
use crate::app::features::live::state::{Before, Live, LiveAction};
use crate::app::model::{About, Action, Answered, Command, Draft, Ended, EngineStatus, Level, NOTICED, Picked};
use crate::cloud::{PointCloud, query_point};
use crate::run::{Ask, QuerySpec, Reply, RunError, RunRecord};

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
    update: App::drop_lost_snap,
    leave_cloud: |app, _| {
        app.jobs.stop(&SNAP);
        app.forget_live();
    },
    ..Feature::NONE
};

impl App {
    /// Carries out what panes ask of the live query.
    pub(in crate::app) fn live_action(&mut self, action: LiveAction) {
        let held = self.session.live.is_held();
        match action {
            LiveAction::Grab => self.grab(),
            // What is no longer held, after Escape, does not follow the pointer.
            LiveAction::To(at) if held => {
                if let Err(why) = self.move_to(&at) {
                    self.session.log.error_once(About::Query, &why);
                }
            }
            LiveAction::Snap(target) if held => self.snap(target),
            LiveAction::To(_) | LiveAction::Snap(_) => {}
            LiveAction::Release => {
                if !self.lets_go_later() {
                    self.session.live.before = None;
                    self.start_theory();
                }
            }
            LiveAction::Back => self.put_back(),
            LiveAction::Type(fields) => (self.session.live.typed, self.session.live.wrong) = (Some(fields), None),
            LiveAction::Apply => self.apply_typed(),
        }
    }

    fn grab(&mut self) {
        // Where it went is where it is taken hold of.
        self.jobs.stop(&SNAP);
        let session = &mut self.session;
        session.live.before = Some(Before {
            picked: session.picked,
            place: session.live.place.clone(),
            answered: session.answered.clone(),
            theory: session.theory.clone(),
            rank: session.rank,
        });
        session.live.choose(true);
        (session.live.known, session.live.typed, session.live.wrong) = (true, None, None);
    }

    fn put_back(&mut self) {
        let session = &mut self.session;
        let Some(before) = session.live.before.take() else { return };
        session.live.settle();
        session.live.place = before.place;
        (session.picked, session.rank) = (before.picked, before.rank);
        (session.answered, session.theory, session.theory_lags) = (before.answered, before.theory, false);
        self.handles.theory_wanted = None;
        if self.session.theory.is_none()
            && let Some(Answered { record, query }) = self.session.answered.clone()
        {
            self.answer(record, query);
        }
    }

    /// Makes a place the query, and asks.
    fn move_to(&mut self, at: &[f64]) -> Result<(), String> {
        let Some(cloud) = &self.session.cloud else { return Ok(()) };
        let place = query_point::cloud(at, cloud).map_err(|error| of_cloud(&error))?;
        self.put_at(Some(Arc::new(place)));
        Ok(())
    }

    /// Makes a place that is known the query, and asks.
    pub(in crate::app) fn put_at(&mut self, place: Option<Arc<PointCloud>>) {
        self.session.live.place = place;
        self.session.live.chosen = true;
        (self.session.picked, self.session.rank) = (Some(Picked::Coordinates), None);
        self.ask();
    }

    /// Reads the typed coordinates: the query goes there, or the first wrong one says why not.
    fn apply_typed(&mut self) {
        let Some(fields) = self.session.live.typed.clone() else { return };
        let mut at = Vec::with_capacity(fields.len());
        for (axis, text) in fields.iter().enumerate() {
            match text.trim().parse::<f64>() {
                Ok(value) if value.is_finite() => at.push(value),
                _ => {
                    let shown = text.trim();
                    let sentence =
                        if shown.is_empty() { "Type a number.".to_owned() } else { format!("“{shown}” is not a number such as 51.507.") };
                    self.session.live.wrong = Some((axis, sentence));
                    return;
                }
            }
        }
        self.forget_slow_answer();
        let live = &mut self.session.live;
        live.before = None;
        live.settle();
        live.choose(true);
        if let Err(why) = self.move_to(&at) {
            (self.session.live.typed, self.session.live.wrong) = (Some(fields), Some((0, why)));
        }
    }

    /// What was answered before stays in sight while the next answer is but a moment away.
    pub(in crate::app) fn forget_slow_answer(&mut self) {
        let session = &mut self.session;
        if session.cloud.as_ref().is_none_or(|cloud| !session.live.is_short(cloud)) {
            (session.answered, session.theory) = (None, None);
        }
    }

    /// A row or a query of a file of queries is picked: drops requests for the previous one.
    pub(in crate::app) fn settle_live(&mut self, chosen: bool) {
        let live = &mut self.session.live;
        live.settle();
        live.choose(false);
        self.session.endings.ask = None;
        let live = &mut self.session.live;
        (live.place, live.before, live.chosen) = (None, None, chosen);
    }

    /// There is no query any more.
    pub(in crate::app) fn pick_nothing(&mut self) {
        self.settle_live(false);
        (self.session.picked, self.session.rank) = (None, None);
        (self.session.answered, self.session.theory, self.session.theory_lags) = (None, None, false);
        (self.handles.theory_wanted, self.handles.focus_when_answered) = (None, false);
    }

    /// Another cloud is shown.
    fn forget_live(&mut self) {
        let old = std::mem::take(&mut self.session.live);
        self.session.live = Live { asked: old.asked, known: old.known, ..Live::default() };
        self.session.live.settle();
        self.handles.asker.release();
    }

    /// The fields on the left changed: where answers come fast, the picked query is asked anew.
    pub(in crate::app) fn question_changed(&mut self, before: &Draft) {
        self.metric_changed(before.metric);
        let question = |draft: &Draft| (draft.k.clone(), draft.metric, draft.order, draft.exclude_self);
        let Some(cloud) = self.session.cloud.clone() else { return };
        if question(before) != question(&self.state.draft) && self.session.live.is_short(&cloud) {
            self.ask_anew();
        }
    }

    /// Asks for the picked query where its answer is to another question than the one on the left.
    pub(in crate::app) fn ask_anew(&mut self) {
        let (Some(picked), Some(cloud)) = (self.session.picked, self.session.cloud.clone()) else { return };
        // What is wrong with a field stands under it.
        let Ok(spec) = self.question(&cloud, QuerySpec::All) else { return };
        if self.session.answered.as_ref().is_some_and(|answered| same_question(&answered.record.spec, &spec)) {
            self.session.live.settle();
            return;
        }
        let known = self.session.record.clone().filter(|record| same_question(&record.spec, &spec));
        match (picked, known) {
            (Picked::Row(row), Some(record)) if let Some(query) = self.session.query_of_row(row) => {
                self.session.live.settle();
                self.answer(record, query);
            }
            (Picked::Query(query), Some(record)) if query < record.query_rows.len() => {
                self.session.live.settle();
                self.answer(record, query);
            }
            _ => self.ask(),
        }
    }

    /// Asks the question on the left of what is picked.
    pub(in crate::app) fn ask(&mut self) {
        let (Some(cloud), Some(picked)) = (self.session.cloud.clone(), self.session.picked) else { return };
        let queries = match (picked, self.session.picked_point()) {
            (Picked::Row(row), _) => QuerySpec::Rows(vec![cloud.record(row as usize)]),
            (Picked::Query(_) | Picked::Coordinates, Some((of, row))) => QuerySpec::At((0..of.dims()).map(|axis| of.coordinate(row, axis)).collect()),
            (Picked::Query(_) | Picked::Coordinates, None) => return,
        };
        let mut spec = match self.question(&cloud, queries) {
            Ok(spec) => spec,
            Err(sentence) => {
                self.session.endings.ask = Some(self.failed(About::Query, sentence));
                return;
            }
        };
        self.session.endings.ask = None;
        self.answer_here(&mut spec);
        let live = &mut self.session.live;
        live.asked += 1;
        if live.replied + 1 == live.asked {
            live.since = Some(Instant::now());
        }
        self.handles.asker.ask(Ask { id: live.asked, spec, cloud });
        self.handles.ctx.request_repaint_after(NOTICED);
    }

    /// Takes in what the asker says.
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
                    live.took = Some(took);
                }
                if self.session.cloud.as_ref().is_some_and(|cloud| Arc::ptr_eq(cloud, &record.cloud)) {
                    self.replied(record);
                }
            }
            Err(RunError::Cancelled) => {}
            Err(error) => {
                // Nothing wrong is left in sight.
                let sentence = of_run(&error);
                (self.session.answered, self.session.theory) = (None, None);
                self.session.log.error_once(About::Query, &sentence);
                self.session.endings.ask = Some(Ended::Failed(sentence));
            }
        }
    }

    /// Gives up on the pending request: what is shown is not its answer.
    pub(in crate::app) fn cancel_ask(&mut self) {
        if !self.session.live.is_waiting() {
            return;
        }
        self.handles.asker.withdraw();
        self.session.live.settle();
        (self.session.answered, self.session.theory, self.session.theory_lags) = (None, None, false);
        self.session.endings.ask = Some(self.cancelled());
    }

    fn replied(&mut self, record: Arc<RunRecord>) {
        self.note_fallback(&record);
        let lags = self.session.theory.take();
        self.answer(record, 0);
        // The curve before stays until the next is worked out, and says so: lines that come and go would flicker.
        if self.session.theory.is_none() && self.is_computing_theory() {
            (self.session.theory_lags, self.session.theory) = (lags.is_some(), lags);
        }
    }

    /// Says once why `auto` did not take the engine that it would have taken.
    pub(in crate::app) fn note_fallback(&mut self, record: &RunRecord) {
        let Some(fallback) = &record.fallback else { return };
        if self.session.log.entries().iter().any(|entry| entry.text == *fallback) {
            return;
        }
        let named = self.session.gpu().is_some_and(EngineStatus::is_there);
        if named {
            // The status line names a device that did not answer.
            self.session.log.warn(About::Run, fallback.clone());
        } else {
            // That nothing is there is no news for as long as the window is open: the status line has a label for it.
            self.session.log.list(Level::Info, fallback.clone());
        }
    }
}
