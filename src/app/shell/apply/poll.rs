//! What happens in each frame before anything is drawn: events of the worker, of loads and of threads.

use crate::app::features::table::FEATURES;
use std::sync::Arc;

use crate::app::context::app::{App, FIRST_QUERIES};
use crate::app::features::datasets::state::PartsDialog;
use crate::app::features::errors::{of_cloud, of_run};
use crate::app::features::opening::apply::Loading;
use crate::app::features::unusable::state::UnusableDialog;
use crate::app::jobs::loader::{Loaded, Opened};
use crate::app::jobs::table::Slot;
use crate::app::jobs::task::{Outcome, Stopped};
use crate::app::model::{
    About, Activity, Ended, Endings, EngineStatus, FileColumns, FileState, Picked, Pictures, SpaceView, Then, TimelineView, data_file,
};
use crate::app::shell::tasks::{Asks, COLUMNS, DERIVE, PROBE, Runs};
use crate::cloud::formats::FormatError;
use crate::cloud::{CloudError, PointCloud, Source};
use crate::engines::registry;
use crate::knn::{Descriptor, DeviceId, EngineId};
use crate::run::analysis::Derived;
use crate::run::{Event, QuerySpec, RunError, RunRecord, RunSpec, usual};
use crate::text;
use std::path::Path;

impl App {
    /// Takes in what was done in the background, and has done what is wanted now.
    pub(in crate::app) fn poll(&mut self) {
        while let Some(said) = self.jobs.next() {
            said(self);
        }
        for feature in FEATURES {
            (feature.update)(self);
        }
        let (named, later) = self.jobs.activity(&self.session);
        if let Some(later) = later {
            // Anew in each frame: a window keeps only the nearest time that it was asked for, and forgets the rest.
            self.handles.ctx.request_repaint_after(later);
        }
        self.session.activity = named.map_or(Activity::Idle, |(_, activity)| activity);
    }

    /// Has the threads heard that live as long as the window.
    pub(in crate::app) fn hear_threads(&mut self) {
        self.jobs.insert(Slot::Run, Runs(Arc::clone(&self.handles.worker)));
        self.jobs.insert(Slot::Ask, Asks(Arc::clone(&self.handles.asker)));
    }

    /// Has a look at what can run here.
    pub(in crate::app) fn probe_engines(&mut self) {
        for engine in registry::ENGINES {
            self.jobs.start(&PROBE, engine.id, move |_| {
                let on = |device_id| {
                    let device = engine.open_on(device_id).map(|engine| engine.device()).map_err(|error| error.to_string());
                    EngineStatus { id: engine.id, device_id, device: Some(device) }
                };
                registry::devices(engine).into_iter().map(on).collect()
            });
        }
        let unknown = |engine: &&'static Descriptor| EngineStatus { id: engine.id, device_id: registry::default_device(engine), device: None };
        self.session.engines = registry::ENGINES.iter().map(unknown).collect();
    }

    pub(in crate::app) fn engine_probed(&mut self, id: EngineId, found: Outcome<Vec<EngineStatus>>) {
        let broken = |stopped: Stopped| {
            let device_id = registry::find(id).map_or(DeviceId::Cpu, registry::default_device);
            vec![EngineStatus { id, device_id, device: Some(Err(stopped.to_string())) }]
        };
        found.unwrap_or_else(broken).into_iter().for_each(|status| self.session.note_engine(status));
    }

    /// What came of a task; where it was not done, of which nothing else tells, it is said.
    pub(in crate::app) fn done<T>(&mut self, task: &str, outcome: Outcome<T>) -> Option<T> {
        outcome.map_err(|stopped| self.session.log.error(About::Other, format!("{task}: {stopped}"))).ok()
    }

    /// What the worker says.
    pub(in crate::app) fn event(&mut self, event: Event) {
        // What an older job still says is of no interest.
        let current = self.session.running.as_ref().map(|running| running.id);
        match event {
            Event::Progress { id, stage, fraction } if Some(id) == current => {
                if let Some(running) = &mut self.session.running {
                    (running.stage, running.fraction) = (stage, fraction);
                }
            }
            Event::Finished { id, record } if Some(id) == current => {
                self.session.running = None;
                // Rows of another cloud mean nothing in the one on screen.
                if self.session.cloud.as_ref().is_some_and(|cloud| Arc::ptr_eq(cloud, &record.cloud)) {
                    self.finished(record);
                }
            }
            Event::Failed { id, error } if Some(id) == current => {
                self.session.running = None;
                let why = (!matches!(error, RunError::Cancelled)).then(|| of_run(&error));
                self.session.endings.run = Some(match &why {
                    None => self.cancelled(),
                    Some(why) => self.failed(About::Run, why.clone()),
                });
                self.contest_failed(why.as_deref());
            }
            Event::Progress { .. } | Event::Finished { .. } | Event::Failed { .. } => {}
        }
    }

    /// Says that something was cancelled.
    pub(in crate::app) fn cancelled(&mut self) -> Ended {
        self.session.log.info("cancelled");
        Ended::Cancelled
    }

    /// Says why something failed.
    pub(in crate::app) fn failed(&mut self, about: About, why: impl Into<String>) -> Ended {
        let why = why.into();
        self.session.log.error(about, why.clone());
        Ended::Failed(why)
    }

    /// A whole run is done.
    pub(in crate::app) fn finished(&mut self, record: Arc<RunRecord>) {
        let summary = &record.summary;
        let said = format!(
            "{}: {} × {}, d = {}, k = {}: search {} median of {}{}",
            record.engine,
            text::count(summary.q, "query", "queries"),
            text::count(summary.n, "point", "points"),
            record.cloud.dims(),
            record.spec.k,
            text::time(summary.search_ms_median),
            record.spec.repeats,
            summary.distances_per_second.map_or_else(String::new, |rate| format!(", {}", text::rate(rate))),
        );
        self.session.log.done(About::Run, said);
        self.session.log.settle_before(About::Data, record.started_unix);
        self.note_fallback(&record);
        self.keep_run(&record);
        self.show_run(Arc::clone(&record));
        self.contest_answered(&record);
    }

    /// Shows a run, over the cloud that is shown.
    pub(in crate::app) fn show_run(&mut self, record: Arc<RunRecord>) {
        let named = !matches!(record.spec.queries, QuerySpec::All | QuerySpec::Count(_));
        let asked = Arc::clone(&record);
        self.jobs.start(&DERIVE, Arc::clone(&record), move |_| Derived::of(&asked));
        self.session.record = Some(record);
        self.session.endings.run = None;
        self.session.derived = None;
        self.session.timeline = TimelineView::default();
        self.reselect();
        // The query stays the same when the user chose it, or it is a position.
        let chosen = self.session.live.chosen || self.session.picked == Some(Picked::Coordinates);
        let stays = match self.session.picked {
            Some(Picked::Row(row)) if let Some(query) = self.session.query_of_row(row) => Some(query),
            Some(Picked::Query(query)) if self.session.picked_point().is_some() => Some(query),
            Some(Picked::Coordinates) => None,
            // Unless the queries were given as rows, a position or a file: then one of those is shown.
            Some(Picked::Row(_)) if chosen && !named => None,
            _ => {
                self.pick_query(0);
                self.session.live.chosen = false;
                return;
            }
        };
        match stays {
            Some(query) => self.pick_query(query),
            None => self.ask_anew(),
        }
        self.session.live.chosen = chosen;
    }

    /// Shows a cloud that the user opened, and remembers its file.
    fn show_loaded_cloud(&mut self, cloud: Arc<PointCloud>, file: Option<FileState>, note: Option<String>) {
        self.session.loaded_file = file.map(|file| (cloud.fingerprint().clone(), file));
        if let Source::File { path, .. } = cloud.source() {
            self.state.remember(path);
        }
        self.session.runs.complete(&cloud);
        self.show_cloud(cloud);
        if let Some(note) = &note {
            self.session.log.info(note.clone());
        }
        self.session.note = note;
    }

    /// Takes in a loaded cloud, or why there is none.
    pub(in crate::app) fn loaded(&mut self, loading: Loading, outcome: Outcome<(Loaded, Option<FileState>)>) {
        let Loading { job, then } = loading;
        let runs = !matches!(then, Then::Show | Then::Resume(_));
        let about = if matches!(then, Then::RunQueries(_)) { About::Run } else { About::Data };
        let (result, file) = match outcome {
            Ok((loaded, file)) => (Ok(loaded), file),
            Err(stopped) => (Err(stopped), None),
        };
        if let Ok(Err(error)) = &result
            && let Some(dialog) = UnusableDialog::new(&job.source, error, of_cloud(error), &then)
        {
            self.session.unusable = Some(dialog);
            return;
        }
        // A session still waits for its data when a load of them fails.
        let awaited = if let Then::Resume(saved) = &then { Some(saved.clone()) } else { None };
        let ended = match (result, then) {
            (Err(stopped), _) => self.failed(about, format!("cannot load: {stopped}: {}", job.source)),
            (Ok(Err(CloudError::Cancelled)), _) => self.cancelled(),
            (Ok(Err(CloudError::Format(FormatError::Ambiguous { parts, path }))), then) => {
                self.session.parts = PartsDialog::new(path, parts, then);
                return;
            }
            (Ok(Err(error)), _) => self.failed(about, of_cloud(&error)),
            (Ok(Ok(queries)), Then::RunQueries(spec)) => {
                if let Some(data) = job.data.clone() {
                    self.submit(spec, data, Some(queries.cloud));
                }
                return;
            }
            (Ok(Ok(Opened { cloud, left_out, declared, first, note })), Then::Show) => {
                let again = self.shows(&cloud);
                let before = again.then(|| (std::mem::take(&mut self.session.left_out), std::mem::take(&mut self.session.roles)));
                self.note_columns(&job.source);
                let other = self.session.cloud.as_ref().is_some_and(|shown| data_file(shown.source()) != data_file(cloud.source()));
                if other {
                    self.start_fresh();
                }
                self.show_loaded_cloud(Arc::clone(&cloud), file, note);
                self.take_roles(left_out, before);
                // The metric of a file that is loaded again stays as the user has it.
                if other || !again {
                    self.choose_metric(&cloud, declared);
                }
                return self.open_to_an_answer(first, again);
            }
            (Ok(Ok(Opened { cloud, note, .. })), Then::Resume(saved)) => {
                self.show_loaded_cloud(cloud, file, note);
                return self.resume_loaded(&saved);
            }
            (Ok(Ok(Opened { cloud, note, .. })), Then::Run(spec)) => {
                let nobody_said = matches!(spec.queries, QuerySpec::Count(count) if self.is_usual(count));
                self.show_loaded_cloud(Arc::clone(&cloud), file, note);
                // How many rows there are was not known.
                let queries = if nobody_said { QuerySpec::Count(usual_queries(&cloud)) } else { spec.queries };
                return self.run_on(&cloud, RunSpec { queries, ..spec });
            }
        };
        self.session.awaited = awaited;
        if runs {
            self.session.endings.run = Some(ended.clone());
        }
        self.load_failed(ended);
    }

    /// Whether nobody said that so many queries are to be drawn: it is what stands there by itself, of the cloud that is shown.
    fn is_usual(&self, count: u64) -> bool {
        // The first start's own number is the user's only in that it is not touched before its cloud is there.
        count == usual::QUERIES || self.session.cloud.as_ref().is_some_and(|cloud| [usual_queries(cloud), FIRST_QUERIES].contains(&count))
    }

    /// A cloud is there: what belonged to the one before it goes.
    pub(in crate::app) fn show_cloud(&mut self, cloud: Arc<PointCloud>) {
        let columns: Vec<&str> = cloud.axes().iter().map(|axis| axis.name.as_str()).take(6).collect();
        let more = if cloud.dims() > columns.len() { ", …" } else { "" };
        let dropped = match cloud.dropped() {
            0 => String::new(),
            rows => format!(", {} dropped", text::count(rows, "row", "rows")),
        };
        let said = format!(
            "{} of {} ({}{more}){dropped}: {}",
            text::count(cloud.len() as u64, "point", "points"),
            text::count(cloud.dims() as u64, "dimension", "dimensions"),
            columns.join(", "),
            cloud.source()
        );
        self.session.log.done(About::Data, said);
        for of_another in [About::Run, About::Query, About::Selection, About::Color, About::Projection, About::Analysis] {
            self.session.log.settle(of_another);
        }
        if self.state.draft.query_count.parse().is_ok_and(|count| self.is_usual(count)) {
            self.state.draft.query_count = usual_queries(&cloud).to_string();
        }
        (self.state.plane.window, self.state.plane.whole, self.state.plane.axes) = (None, false, fitting(&cloud));
        let view = SpaceView { axes: fitting(&cloud), ..SpaceView::default() };
        self.state.space = self.state.space.looking(&view);
        self.describe(&cloud);
        if self.session.running.take().is_some() {
            self.handles.worker.cancel();
        }
        for feature in FEATURES {
            (feature.cloud_changed)(self, &cloud);
        }
        self.handles.forget();
        let session = &mut self.session;
        (session.record, session.derived, session.theory) = (None, None, None);
        (session.picked, session.answered, session.rank) = (None, None, None);
        session.left_out = Vec::new();
        session.roles = self.state.roles_of(cloud.source()).map(|kept| kept.roles.clone()).unwrap_or_default();
        (session.columns_dialog, session.note) = (None, None);
        session.pictures_named = Pictures::named(cloud.axes());
        session.endings = Endings::default();
        session.cloud = Some(cloud);
        self.name_window();
        for feature in FEATURES {
            (feature.cloud_shown)(self);
        }
    }

    /// Whether the same points are shown already.
    pub(in crate::app) fn shows(&self, cloud: &PointCloud) -> bool {
        self.session.cloud.as_ref().is_some_and(|shown| shown.fingerprint() == cloud.fingerprint())
    }

    /// The columns of a file are known, and so whether the one that colours is among them.
    pub(in crate::app) fn columns_listed(&mut self, (): (), columns: Outcome<FileColumns>) {
        let Some(columns) = self.done("columns", columns) else { return };
        if !self.session.cloud.as_ref().is_some_and(|cloud| columns.is_of(cloud)) {
            // Of a file that was shown before, they say nothing.
            return;
        }
        self.session.columns = Some(columns);
        self.check_color_column();
        self.show_file_colors();
    }

    /// Has all columns of the cloud's file listed, for the chooser.
    fn describe(&mut self, cloud: &PointCloud) {
        let Some(path) = cloud.file().map(Path::to_owned) else { return };
        if self.session.columns.as_ref().is_some_and(|known| known.is_of(cloud)) {
            return;
        }
        self.jobs.start(&COLUMNS, (), move |_| {
            // Where they cannot be listed, names are typed.
            let columns = crate::cloud::formats::describe(&path, &crate::progress::Silent).map(|info| info.columns).unwrap_or_default();
            FileColumns { path, columns }
        });
    }

    /// What is drawn of a run is worked out.
    pub(in crate::app) fn derived(&mut self, record: Arc<RunRecord>, derived: Outcome<Derived>) {
        let Some(derived) = self.done("derive", derived) else { return };
        if self.session.record.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &record)) {
            self.session.derived = Some(Arc::new(derived));
        }
    }
}

/// As many queries as are drawn where nobody says how many, as on the command line: all rows where there are fewer.
fn usual_queries(cloud: &PointCloud) -> u64 {
    (cloud.len() as u64).min(usual::QUERIES)
}

/// The axes that are shown first: the first ones, and of many those along which the points differ most.
fn fitting<const N: usize>(cloud: &PointCloud) -> [usize; N] {
    /// Rows that the choice looks at.
    const SEEN: usize = 4096;
    let dims = cloud.dims();
    if dims <= 3 {
        return std::array::from_fn(|axis| axis);
    }
    let rows: Vec<usize> = cloud.spread_rows(SEEN).collect();
    let variance = |axis: usize| {
        let values = rows.iter().map(|&row| f64::from(cloud.point(row)[axis]));
        let mean = values.clone().sum::<f64>() / rows.len() as f64;
        values.map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let mut axes: Vec<(f64, usize)> = (0..dims).map(|axis| (variance(axis), axis)).collect();
    axes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen: [usize; N] = std::array::from_fn(|at| axes[at].1);
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{cloud, stretched};

    #[test]
    fn the_first_axes_are_those_that_show_something() {
        assert_eq!(fitting::<2>(&cloud(10, 2, 1)), [0, 1]);
        assert_eq!(fitting::<2>(&stretched(50, [0.0, 2.0, 0.1, 5.0])), [1, 3]);
        assert_eq!(fitting::<3>(&stretched(50, [0.0, 2.0, 0.1, 5.0])), [1, 2, 3]);
    }
}
