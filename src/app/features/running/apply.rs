//! Submits runs to the worker, and handles its events.

use std::sync::Arc;

use crate::app::context::app::{App, Feature};
use crate::app::features::errors::run_error;
use crate::app::features::lesson::apply::RECORD;
use crate::app::features::live::apply::LiveQueryEvents;
use crate::app::features::opening::apply::{LOAD, OPEN};
use crate::app::jobs::table::{Applied, CancelMethod, Job, TaskKind, TaskPurpose};
use crate::app::jobs::task::{Outcome, StopReason};
use crate::app::model::{CurrentJob, EngineStatus, PostLoadAction, TimelineView, absolute};
use crate::app::prelude::*;
use crate::cloud::{PointCloud, Source};
use crate::engines::registry;
use crate::knn::{Descriptor, DeviceId, EngineId};
use crate::run::analysis::RunAnalysis;
use crate::run::{self, Event, QuerySpec, RunError, RunRecord, RunSpec, Worker};
use crate::text;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Command(Command::Run) => {
                app.asked_to_run = true;
                // A run replaces the comparison.
                app.session.engine_comparison.stop();
                app.state.switch_to(Workspace::Measure);
                app.run();
            }
            other => return Some(other),
        }
        None
    },
    ..Feature::NONE
};

/// Histograms, bands and timeline of a run.
pub static DERIVE: TaskKind<App, Arc<RunRecord>, RunAnalysis> =
    TaskKind::new(TaskPurpose::Derive, "derive", App::derived);

/// Whether an engine can run, on each of its devices.
pub static PROBE: TaskKind<App, EngineId, Vec<EngineStatus>> =
    TaskKind { concurrent: true, ..TaskKind::new(TaskPurpose::Probe, "probe", App::engine_probed) };

/// The worker as a source of events.
pub struct RunEvents(pub Arc<Worker>);

impl Job<App> for RunEvents {
    fn next(&mut self) -> Option<(Applied<App>, bool)> {
        let event = self.0.try_recv()?;
        Some((Box::new(move |app| app.event(event)), false))
    }

    fn purpose(&self, session: &Session) -> Option<Activity> {
        session
            .running
            .as_ref()
            .map(|running| Activity::Running { stage: running.stage.clone(), fraction: running.fraction })
    }

    fn cancel(&self) -> CancelMethod<App> {
        CancelMethod::By(|app| {
            // The current run may be finished by now, and the next engine must not start.
            app.session.engine_comparison.stop();
            app.handles.worker.cancel();
        })
    }
}

impl App {
    /// Runs the problem in the left panel, after loading what it needs.
    pub(in crate::app) fn run(&mut self) {
        self.restore_columns();
        match self.state.draft.to_spec() {
            Err(errors) => {
                for error in errors {
                    self.session.log.error(Subject::Run, error.sentence);
                }
            }
            Ok(spec) => match self.session.cloud.clone().filter(|cloud| is_of(cloud, &spec)) {
                None => self.load(spec.data.clone(), PostLoadAction::Run(spec)),
                Some(cloud) => self.run_on(&cloud, RunSpec { data: cloud.source().clone(), ..spec }),
            },
        }
    }

    /// Runs a spec on its loaded cloud, after loading its queries.
    pub(in crate::app) fn run_on(&mut self, cloud: &Arc<PointCloud>, spec: RunSpec) {
        if let QuerySpec::File { path, columns } = &spec.queries {
            let source = Source::File { path: path.clone(), columns: columns.clone() };
            return self.load(source, PostLoadAction::RunQueries(spec));
        }
        self.submit(spec, Arc::clone(cloud), None);
    }

    /// Submits a job to the worker, which drops the one it is running.
    pub(in crate::app) fn submit(
        &mut self,
        spec: RunSpec,
        cloud: Arc<PointCloud>,
        query_cloud: Option<Arc<PointCloud>>,
    ) {
        self.session.endings.run = None;
        self.handles.last_job += 1;
        let id = self.handles.last_job;
        // How the last run ended is no longer relevant.
        self.session.log.remove_note("cancelled");
        self.session.running = Some(CurrentJob { id, stage: "starting".to_owned(), fraction: 0.0 });
        self.handles.worker.submit(run::Job { id, spec, cloud, query_cloud });
    }

    /// Starts checking which engines can run here.
    pub(in crate::app) fn probe_engines(&mut self) {
        for engine in registry::ENGINES {
            self.jobs.start(&PROBE, engine.id, move |_| {
                let on = |device_id| {
                    let device = registry::open(engine.id, Some(device_id))
                        .map(|engine| engine.device())
                        .map_err(|error| error.to_string());
                    EngineStatus { id: engine.id, device_id, device: Some(device) }
                };
                registry::devices(engine).into_iter().map(on).collect()
            });
        }
        let unknown = |engine: &&'static Descriptor| EngineStatus {
            id: engine.id,
            device_id: registry::default_device(engine),
            device: None,
        };
        self.session.engines = registry::ENGINES.iter().map(unknown).collect();
    }

    fn engine_probed(&mut self, id: EngineId, found: Outcome<Vec<EngineStatus>>) {
        let broken = |stopped: StopReason| {
            let device_id = registry::find(id).map_or(DeviceId::Cpu, registry::default_device);
            vec![EngineStatus { id, device_id, device: Some(Err(stopped.to_string())) }]
        };
        found.unwrap_or_else(broken).into_iter().for_each(|status| self.session.set_engine_status(status));
    }

    fn event(&mut self, event: Event) {
        // Events of an older job are ignored.
        let current = self.session.running.as_ref().map(|running| running.id);
        match event {
            Event::Progress { id, stage, fraction } if Some(id) == current => {
                if let Some(running) = &mut self.session.running {
                    (running.stage, running.fraction) = (stage, fraction);
                }
            }
            Event::Finished { id, record } if Some(id) == current => {
                self.session.running = None;
                // The record's rows must be those of the shown cloud.
                if self.session.has_cloud(&record.cloud) {
                    self.finished(record);
                }
            }
            Event::Failed { id, error } if Some(id) == current => {
                self.session.running = None;
                let why = (!matches!(error, RunError::Cancelled)).then(|| run_error(&error));
                self.session.endings.run = Some(match &why {
                    None => self.cancelled(),
                    Some(why) => self.failed(Subject::Run, why.clone()),
                });
                self.engine_failed(why.as_deref());
            }
            Event::Progress { .. } | Event::Finished { .. } | Event::Failed { .. } => {}
        }
    }

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
        self.session.log.done(Subject::Run, said);
        self.session.log.resolve_before(Subject::Data, record.started_unix);
        self.note_fallback(&record);
        self.list_run(&record);
        self.show_run(Arc::clone(&record));
        self.engine_answered(&record);
    }

    pub(in crate::app) fn show_run(&mut self, record: Arc<RunRecord>) {
        let named = !matches!(record.spec.queries, QuerySpec::All | QuerySpec::Count(_));
        let asked = Arc::clone(&record);
        self.jobs.start(&DERIVE, Arc::clone(&record), move |_| RunAnalysis::new(&asked));
        self.session.record = Some(record);
        self.session.endings.run = None;
        self.session.derived = None;
        self.session.timeline = TimelineView::default();
        self.reselect();
        // The query stays if the user chose it or it is at arbitrary coordinates.
        let chosen = self.session.live.chosen || self.session.picked == Some(PickedPoint::Coordinates);
        let stays = match self.session.picked {
            Some(PickedPoint::Row(row)) if let Some(query) = self.session.query_of_row(row) => Some(query),
            Some(PickedPoint::Query(query)) if self.session.picked_point().is_some() => Some(query),
            Some(PickedPoint::Coordinates) => None,
            // If the user listed the queries as rows, coordinates or a file, one of them is shown instead.
            Some(PickedPoint::Row(_)) if chosen && !named => None,
            _ => {
                self.pick_query(0);
                self.session.live.chosen = false;
                return;
            }
        };
        match stays {
            Some(query) => self.pick_query(query),
            None => self.ask_if_changed(),
        }
        self.session.live.chosen = chosen;
    }

    /// Stores the derived histograms and timeline.
    fn derived(&mut self, record: Arc<RunRecord>, derived: Outcome<RunAnalysis>) {
        let Some(derived) = self.done("derive", derived) else { return };
        if self.session.has_record(&record) {
            self.session.derived = Some(Arc::new(derived));
        }
    }

    /// Registers the long-lived threads as sources of events.
    pub(in crate::app) fn register_threads(&mut self) {
        self.jobs.insert(TaskPurpose::Run, RunEvents(Arc::clone(&self.handles.worker)));
        self.jobs.insert(TaskPurpose::Ask, LiveQueryEvents(Arc::clone(&self.handles.live_queries)));
    }

    /// Whether a load, a run, a lesson's recording or a query is in progress.
    pub fn is_busy(&self) -> bool {
        self.session.running.is_some()
            || self.jobs.has(&LOAD)
            || self.jobs.has(&OPEN)
            || self.jobs.has(&RECORD)
            || self.session.live.is_waiting()
    }

    /// Whether the state restored at launch is shown, or failed to load.
    pub(in crate::app) fn has_begun(&self) -> bool {
        !self.jobs.has(&LOAD) && !self.jobs.has(&OPEN) && !self.session.live.is_waiting()
    }
}

fn is_of(cloud: &PointCloud, spec: &RunSpec) -> bool {
    // A recording may name its file relative to the folder it was made in.
    let whole = |source: &Source| match source {
        Source::File { path, columns } => Source::File { path: absolute(path), columns: columns.clone() },
        other => other.clone(),
    };
    // If nothing was dropped, the option makes no difference.
    whole(cloud.source()) == whole(&spec.data) && (spec.drop_nonfinite || cloud.dropped() == 0)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::app::testing::record;

    #[test]
    fn relative_and_absolute_paths_match() {
        let record = record();
        let table = crate::cloud::Table {
            columns: vec![crate::cloud::Column { name: "x".to_owned() }],
            values: vec![1.0, 2.0],
        };
        let file = |path: PathBuf| Source::File { path, columns: Default::default() };
        let cloud = PointCloud::from_table(table, file("a.csv".into()), None, false).expect("a cloud");
        let spec = |path: PathBuf| RunSpec { data: file(path), ..record.spec.clone() };
        let here = std::env::current_dir().expect("a folder");
        assert!(is_of(&cloud, &spec(here.join("a.csv"))) && is_of(&cloud, &spec("a.csv".into())));
        assert!(!is_of(&cloud, &spec(here.join("b").join("a.csv"))) && !is_of(&cloud, &record.spec));
    }
}
