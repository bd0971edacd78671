//! The table of what the window has done in the background: a row for each kind of task, with what is asked of it, what comes
//! of it, the status line's word for it, how it is cancelled, and what takes in its result. A new kind is one row here.

use std::sync::Arc;

use crate::app::context::app::App;
use crate::app::features::lesson::apply::RECORD;
use crate::app::features::opening::apply::{LOAD, OPEN};
use crate::app::jobs::table::{Applied, Cancel, Kind, Row, Slot};
use crate::app::model::{Activity, EngineStatus, FileColumns, Session};
use crate::knn::EngineId;
use crate::run::analysis::Derived;
use crate::run::{Asker, RunRecord, Worker};

/// Histogram, band and timeline of a run.
pub static DERIVE: Kind<App, Arc<RunRecord>, Derived> = Kind::new(Slot::Derive, "derive", App::derived);

/// What columns the cloud's file has.
pub static COLUMNS: Kind<App, (), FileColumns> = Kind::new(Slot::Columns, "columns", App::columns_listed);

/// Whether an engine can run, on each of its devices.
pub static PROBE: Kind<App, EngineId, Vec<EngineStatus>> = Kind { several: true, ..Kind::new(Slot::Probe, "probe", App::engine_probed) };

/// The worker, which answers whole problems.
pub struct Runs(pub Arc<Worker>);

impl Row<App> for Runs {
    fn next(&mut self) -> Option<(Applied<App>, bool)> {
        let event = self.0.try_recv()?;
        Some((Box::new(move |app| app.event(event)), false))
    }

    fn purpose(&self, session: &Session) -> Option<Activity> {
        session.running.as_ref().map(|running| Activity::Running { stage: running.stage.clone(), fraction: running.fraction })
    }

    fn cancel(&self) -> Cancel<App> {
        Cancel::By(|app| {
            // What runs may be done by now: the next engine is not to begin.
            app.session.contest.stop();
            app.handles.worker.cancel();
        })
    }
}

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
    /// Whether a load, a run or the recording of a lesson goes on, or a query is asked.
    pub fn is_busy(&self) -> bool {
        self.session.running.is_some() || self.jobs.has(&LOAD) || self.jobs.has(&OPEN) || self.jobs.has(&RECORD) || self.session.live.is_waiting()
    }

    /// Whether what the window went on with at its start is there, or could not be had.
    pub(in crate::app) fn has_begun(&self) -> bool {
        !self.jobs.has(&LOAD) && !self.jobs.has(&OPEN) && !self.session.live.is_waiting()
    }

    /// How many background tasks are under way, also short ones; without runs and asks.
    pub fn tasks(&self) -> usize {
        self.jobs.tasks()
    }
}
