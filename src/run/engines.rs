//! The engines of a thread, kept open between runs.
//!
//! This file is longer than others: opening engines, planning and running share the fields of [`EnginePool`],
//! and a third of it are tests that need all three together.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::analysis::Roofline;
use super::batches::{BatchResult, QueryBatches};
use super::execute::{Passes, continue_if, execute_resident, now_unix, search};
use super::live_query::{answer_live, device_of};
use super::planner::{self, Candidate, Job, Plan, Planner, Purpose};
use super::{EngineChoice, ResidentPoints, RunError, RunRecord, RunSpec, Stage};
use crate::cloud::PointCloud;
use crate::engines::{peaks, registry};
use crate::knn::{
    Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Peaks, Points, Problem,
    ProblemParameters, check_answers,
};
use crate::run::LoadedSpec;

/// An engine on a device.
pub(super) type EngineKey = (EngineId, DeviceId);

/// Time before plans retry an engine that could not be opened.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// Shorter jobs are not worth calibrating the engines first.
const WORTH_CALIBRATING_MS: f64 = 1000.0;

/// Opens an engine; [`registry::open`] except in tests.
type Open = Box<dyn FnMut(EngineId, Option<DeviceId>) -> Result<Box<dyn Engine>, EngineError> + Send>;

/// Measures a device's peaks; [`peaks::measure`] except in tests.
type Measure = fn(DeviceId, &mut dyn FnMut() -> bool) -> Result<Option<Peaks>, EngineError>;

/// Opens engines on first use and keeps them open, as creating a CUDA context takes longer than most runs.
/// Also keeps the points of the last problem, with the data that engines prepared from them.
pub struct EnginePool {
    open: Open,
    opened: Vec<Box<dyn Engine>>,
    /// Those for points that do not fit their GPU.
    streamed: Vec<Box<dyn Engine>>,
    /// The device of each opened engine, cached for live queries, which do not need values that change from
    /// run to run.
    devices: Vec<(EngineKey, DeviceInfo)>,
    /// Engines that could not be opened, with time and reason.
    missing: Vec<(EngineKey, Instant, String)>,
    resident: ResidentPoints,
    planner: Planner,
    /// `None` leaves peaks unmeasured.
    measure: Option<Measure>,
}

impl Default for EnginePool {
    fn default() -> Self {
        Self {
            planner: Planner::shared(),
            measure: Some(peaks::measure),
            ..Self::with(Box::new(registry::open))
        }
    }
}

impl EnginePool {
    /// Opens engines with `open`, and uses a separate planner.
    pub(crate) fn with(open: Open) -> Self {
        Self {
            open,
            opened: Vec::new(),
            streamed: Vec::new(),
            devices: Vec::new(),
            missing: Vec::new(),
            resident: ResidentPoints::default(),
            planner: Planner::default(),
            measure: None,
        }
    }

    /// Uses points shared with other threads' engines.
    pub fn sharing(self, resident: ResidentPoints) -> Self {
        Self { resident, ..self }
    }

    /// The points of the last problem.
    pub fn resident(&self) -> &ResidentPoints {
        &self.resident
    }

    /// An engine by name, on a device or on its default one.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], with what is missing and how to get it.
    pub fn named(&mut self, id: EngineId, device: Option<DeviceId>) -> Result<&mut dyn Engine, EngineError> {
        self.close_lost();
        opened(&mut self.opened, id, device, &mut self.open)
    }

    /// Runs `work` on an engine. If its driver fails, the engine is closed and reopened on next use; if the
    /// device is lost, all engines on it are closed. If memory is short, prepared data is released and `work`
    /// is retried; then the points are streamed through a GPU that they do not fit.
    ///
    /// # Errors
    /// Errors of [`EnginePool::named`] and of `work`.
    pub(super) fn with_engine<T>(
        &mut self,
        id: EngineId,
        device: Option<DeviceId>,
        mut work: impl FnMut(&mut dyn Engine) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let mut result = work(self.named(id, device)?);
        let short = matches!(&result, Err(RunError::Engine(error)) if error.is_short_of_memory());
        if short && self.resident.release_prepared() {
            result = work(self.named(id, device)?);
        }
        let exceeds_device = matches!(
            result,
            Err(RunError::Engine(EngineError::Memory { .. } | EngineError::MemoryRefused { .. }))
        );
        if exceeds_device && self.named(id, device)?.device_id().kind() == DeviceKind::Gpu {
            result = work(opened(&mut self.streamed, id, device, &mut registry::open_streamed)?);
        }
        if let Err(RunError::Engine(EngineError::Device { .. })) = result {
            for engines in [&mut self.opened, &mut self.streamed] {
                engines.retain(|engine| {
                    engine.id() != id || device.is_some_and(|device| engine.device_id() != device)
                });
            }
            self.resident.release_prepared();
        }
        self.close_lost();
        result
    }

    /// Closes engines whose device is lost, with their prepared data. Another thread's engines may have
    /// detected the failure.
    fn close_lost(&mut self) {
        for engines in [&mut self.opened, &mut self.streamed] {
            if engines.iter().any(|engine| engine.is_lost()) {
                self.resident.release_prepared();
                engines.retain(|engine| !engine.is_lost());
            }
        }
    }

    /// Turns a panic into an error.
    pub(super) fn catch_panics<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|panic| {
            // The engines may be in an inconsistent state, and dropping them may panic too.
            let _ = catch_unwind(AssertUnwindSafe(|| self.close()));
            Err(RunError::crashed(panic.as_ref()))
        })
    }

    /// Closes all engines; they are reopened on next use.
    pub fn close(&mut self) {
        self.opened.clear();
        self.streamed.clear();
        self.resident.release_prepared();
    }

    /// Runs a spec on its engine, as [`super::execute`] does. For [`EngineChoice::Auto`] the planner chooses,
    /// and the record's `fallback` says why its first choice was not used.
    pub fn execute(&mut self, loaded: LoadedSpec<'_>, stage: &mut Stage<'_>) -> Result<RunRecord, RunError> {
        let plan = match loaded.spec.engine {
            EngineChoice::Auto => Some(self.plan_measured(loaded, stage)?),
            EngineChoice::Named(_) => None,
        };
        self.execute_planned(loaded, plan.as_ref(), stage)
    }

    /// As [`EnginePool::execute`], with the spec's plan, which only [`EngineChoice::Auto`] needs.
    pub fn execute_planned(
        &mut self,
        loaded: LoadedSpec<'_>,
        plan: Option<&Plan>,
        stage: &mut Stage<'_>,
    ) -> Result<RunRecord, RunError> {
        self.run_planned(loaded, plan, Passes::All, stage)
    }

    /// Answers a spec once: a single pass of the timed build, in chunks, ignoring the spec's warm-ups and
    /// repeats. [`EngineChoice::Auto`] uses the engine predicted to be fastest for that.
    ///
    /// # Errors
    /// As [`EnginePool::execute`].
    pub fn answer(&mut self, loaded: LoadedSpec<'_>, stage: &mut Stage<'_>) -> Result<RunRecord, RunError> {
        let plan = match loaded.spec.engine {
            EngineChoice::Auto => Some(self.plan_answer(loaded, stage)?),
            EngineChoice::Named(_) => None,
        };
        self.answer_planned(loaded, plan.as_ref(), stage)
    }

    /// The plan of [`EnginePool::answer`].
    ///
    /// # Errors
    /// [`RunError::Cancelled`].
    pub fn plan_answer(&mut self, loaded: LoadedSpec<'_>, stage: &mut Stage<'_>) -> Result<Plan, RunError> {
        self.plan_calibrated(LoadedSpec { spec: &single_pass(loaded.spec), ..loaded }, Purpose::Answer, stage)
    }

    /// As [`EnginePool::answer`], with the spec's plan, which only [`EngineChoice::Auto`] needs.
    ///
    /// # Errors
    /// As [`EnginePool::execute`].
    pub fn answer_planned(
        &mut self,
        loaded: LoadedSpec<'_>,
        plan: Option<&Plan>,
        stage: &mut Stage<'_>,
    ) -> Result<RunRecord, RunError> {
        self.run_planned(LoadedSpec { spec: &single_pass(loaded.spec), ..loaded }, plan, Passes::Timed, stage)
    }

    /// Answers a range of the queries of a problem, as [`EnginePool::answer_planned`] answers all. The record
    /// has the neighbours and times of these queries, with the spec of all. [`EngineChoice::Auto`] may use
    /// different engines for different batches, as their answers are identical.
    ///
    /// # Errors
    /// As [`EnginePool::execute`].
    ///
    /// # Panics
    /// If the range exceeds the queries.
    pub fn answer_batch(
        &mut self,
        batches: &QueryBatches,
        queries: Range<usize>,
        plan: Option<&Plan>,
        stage: &mut Stage<'_>,
    ) -> Result<BatchResult, RunError> {
        batches.check_memory(queries.len())?;
        let (done, all) = (queries.start as f32, batches.queries() as f32);
        let count = queries.len() as f32;
        // Ranking follows the search; its share of the time is an estimate.
        let searching = if batches.is_refined() { 0.7 } else { 1.0 };
        let mut stage = |label: &str, share: f32| stage(label, (done + share * count) / all);
        let batch = batches.problem(queries);
        let since = (now_unix(), Instant::now());
        let mut record = self.with_chosen_engine(batches.spec(), plan, |engine| {
            search((batches.loaded(), &batch), Passes::Timed, since, engine, &mut |label, share| {
                stage(label, share * searching)
            })
        })?;
        // Queries of other batches were not dropped.
        record.head.dropped_queries -= (batches.queries() - batch.q()) as u64;
        let record = self.learn_from(record);
        batches.refine(&batch, record, &mut |share| {
            stage("ranking by the file's values", searching + share * (1.0 - searching))
        })
    }

    /// Answers a problem over a tile of points, as [`EnginePool::answer_planned`]. Engines prepare the points
    /// once as long as they are the same.
    pub(super) fn answer_tile(
        &mut self,
        tile: LoadedSpec<'_>,
        problem: &Problem,
        stage: &mut Stage<'_>,
    ) -> Result<RunRecord, RunError> {
        let (spec, points) = (tile.spec, problem.shared_points());
        let (shape, metric) = (problem.shape(), spec.metric);
        let job = Job { shape, metric, purpose: Purpose::Answer, timed: 1, profile: false };
        let plan = self.plan_job(spec, &job, Some(points));
        let since = (now_unix(), Instant::now());
        let record = self.with_chosen_engine(spec, Some(&plan), |engine| {
            search((tile, problem), Passes::Timed, since, engine, &mut |label, share| stage(label, share))
        })?;
        note_loaded(points, &record);
        Ok(self.learn_from(record))
    }

    fn run_planned(
        &mut self,
        loaded: LoadedSpec<'_>,
        plan: Option<&Plan>,
        passes: Passes,
        stage: &mut Stage<'_>,
    ) -> Result<RunRecord, RunError> {
        let resident = self.resident.clone();
        let record = self.with_chosen_engine(loaded.spec, plan, |engine| {
            execute_resident(&resident, passes, loaded, engine, stage)
        })?;
        let mut record = self.learn_from(record);
        if passes == Passes::All {
            record.head.peaks = self.peaks(&record, stage);
        }
        Ok(record)
    }

    /// Stores the predicted time in a record, and lets the planner learn from the actual time.
    fn learn_from(&mut self, mut record: RunRecord) -> RunRecord {
        let shape = Job::shape_of(&record);
        if let Some(engine) = record.descriptor() {
            record.head.predicted_ms =
                Some(self.planner.forecast(engine, Some(&record.device), &shape).search_ms);
            self.planner.learn(engine, &shape, &record);
        }
        record
    }

    /// The peaks of a run's device, measured once or now, after the run. If the run was faster than the known
    /// peaks, other programs used the device when they were measured, so they are measured again.
    fn peaks(&mut self, record: &RunRecord, stage: &mut Stage<'_>) -> Option<Peaks> {
        let known = self.planner.peaks(&record.device);
        let holds =
            |peaks: &Peaks| Roofline::new(record, peaks).is_none_or(|roofline| roofline.is_possible());
        if known.is_some_and(|peaks| holds(&peaks)) {
            return known;
        }
        let (measure, device) = (self.measure?, record.device.id?);
        // Errors are ignored: the run itself has succeeded.
        let measured = measure(device, &mut || stage("measuring the device", 1.0)).ok().flatten();
        if let Some(peaks) = measured {
            self.planner.store_peaks(&record.device, peaks);
        }
        // Returns the maximum over all measurements.
        self.planner.peaks(&record.device)
    }

    /// Answers one or few queries of a spec at once, without warm-ups, repeats or chunks. An engine with
    /// counters runs only its counted build, whose neighbours are identical. [`EngineChoice::Auto`] uses the
    /// planner's choice for one pass with resident points. An index is built once the time spent without one
    /// exceeds the time to build it.
    pub fn answer_live(&mut self, spec: &RunSpec, cloud: &Arc<PointCloud>) -> Result<RunRecord, RunError> {
        let resident = self.resident.clone();
        let plan = (spec.engine == EngineChoice::Auto)
            .then(|| self.plan(LoadedSpec::new(spec, cloud, None), Purpose::Answer));
        let mut devices = std::mem::take(&mut self.devices);
        let record = self.with_chosen_engine(spec, plan.as_ref(), |engine| {
            answer_live(&resident, spec, cloud, engine, &mut devices)
        });
        self.devices = devices;
        if let (Ok(record), Some(points)) =
            (&record, self.resident.peek(cloud, ProblemParameters::from(spec).arrangement()))
        {
            planner::add_waiting(&points, record.summary.search_ms_median);
        }
        record
    }

    /// Predicts a spec's time on each engine and chooses one. Engines are opened to see whether they can run.
    pub fn plan(&mut self, loaded: LoadedSpec<'_>, purpose: Purpose) -> Plan {
        let LoadedSpec { spec, cloud, .. } = loaded;
        let job = loaded.planner_job(purpose);
        let points = self.resident.peek(cloud, ProblemParameters::from(spec).arrangement());
        self.plan_job(spec, &job, points.as_ref())
    }

    /// The plan of a job over points that engines may have prepared.
    fn plan_job(&mut self, spec: &RunSpec, job: &Job, points: Option<&Arc<Points>>) -> Plan {
        let waited_ms = points
            .filter(|_| job.purpose == Purpose::Answer)
            .map_or(0.0, |points| planner::waited_ms(points));
        let mut candidates = Vec::new();
        for engine in planner::engines(spec) {
            let device = self.available_device(engine, spec.device);
            let on = spec.device.unwrap_or_else(|| registry::default_device(engine));
            let there = points.is_some_and(|points| planner::is_loaded(points, engine.id, on));
            let device = device.as_ref().map(Some).map_err(Clone::clone);
            candidates
                .push(Candidate::new(&self.planner, engine, job, device, there).after_waiting(waited_ms));
        }
        Plan::new(&spec.engine, job, candidates)
    }

    /// As [`EnginePool::plan`], for a measured run. If the run is long enough, engines that were never
    /// calibrated on their devices are calibrated first.
    ///
    /// # Errors
    /// [`RunError::Cancelled`], and errors of [`check_answers`], before anything is measured.
    pub fn plan_measured(&mut self, loaded: LoadedSpec<'_>, stage: &mut Stage<'_>) -> Result<Plan, RunError> {
        check_answers(&loaded.planner_job(Purpose::Measure).shape)?;
        self.plan_calibrated(loaded, Purpose::Measure, stage)
    }

    fn plan_calibrated(
        &mut self,
        loaded: LoadedSpec<'_>,
        purpose: Purpose,
        stage: &mut Stage<'_>,
    ) -> Result<Plan, RunError> {
        let on = loaded.spec.device;
        let plan = self.plan(loaded, purpose);
        if plan.total_ms().is_none_or(|ms| ms < WORTH_CALIBRATING_MS) {
            return Ok(plan);
        }
        let mut measured = false;
        for candidate in plan.engines.iter().filter(|candidate| candidate.why_not.is_none()) {
            let Some(engine) = registry::find(candidate.engine) else { continue };
            let Ok(device) = self.device_of(engine, on) else { continue };
            if self.planner.is_calibrated(engine, &device) {
                continue;
            }
            continue_if(stage("measuring the engines", 0.0))?;
            let planner = self.planner.clone();
            let mut goes_on = || stage("measuring the engines", 0.0);
            // The run will report errors of the engine.
            let calibrated = self
                .with_engine(engine.id, on, |engine| Ok(planner.calibrate(engine, &device, &mut goes_on)?));
            measured |= calibrated.is_ok();
            continue_if(stage("measuring the engines", 0.0))?;
        }
        Ok(if measured { self.plan(loaded, purpose) } else { plan })
    }

    /// An engine's device, or why it cannot run. A recent failure is remembered, as looking for a driver
    /// takes longer than answering a query.
    fn available_device(
        &mut self,
        engine: &Descriptor,
        device: Option<DeviceId>,
    ) -> Result<DeviceInfo, String> {
        let key = (engine.id, device.unwrap_or_else(|| registry::default_device(engine)));
        self.missing.retain(|(_, since, _)| since.elapsed() < RETRY_AFTER);
        if let Some((.., why)) = self.missing.iter().find(|(of, ..)| *of == key) {
            return Err(why.clone());
        }
        // Opening an engine loads its kernels, so only one is opened on a GPU; the others are when they run.
        let opened = self.devices.iter().find(|((_, on), _)| *on == key.1 && on.kind() == DeviceKind::Gpu);
        if let Some((_, device)) = opened {
            return Ok(device.clone());
        }
        self.device_of(engine, device).map_err(|error| {
            let why = error.to_string();
            self.missing.push((key, Instant::now(), why.clone()));
            why
        })
    }

    /// An engine's device; opens the engine if necessary.
    fn device_of(
        &mut self,
        engine: &Descriptor,
        device: Option<DeviceId>,
    ) -> Result<DeviceInfo, EngineError> {
        let mut devices = std::mem::take(&mut self.devices);
        let device = self.named(engine.id, device).map(|engine| device_of(engine, &mut devices));
        self.devices = devices;
        device
    }

    /// Runs on the chosen engine: the named one, or the plan's, or the next best if that refuses.
    fn with_chosen_engine(
        &mut self,
        spec: &RunSpec,
        plan: Option<&Plan>,
        mut run: impl FnMut(&mut dyn Engine) -> Result<RunRecord, RunError>,
    ) -> Result<RunRecord, RunError> {
        if let EngineChoice::Named(method) = &spec.engine {
            return self
                .with_engine(method.engine, spec.device, run)
                .inspect(|record| self.note_loaded(record));
        }
        let (mut fallback, mut refused, mut first) =
            (plan.and_then(|plan| plan.fallback.clone()), Vec::new(), None);
        while let Some(engine) = plan.and_then(|plan| plan.next_best(&refused)) {
            match self.with_engine(engine, spec.device, &mut run) {
                // Opening may succeed and loading still fail: there is a driver, but no kernels for this
                // device, or too little memory.
                Err(RunError::Engine(error)) if error.is_refusal() => {
                    fallback.get_or_insert_with(|| error.to_string());
                    refused.push(engine);
                    first.get_or_insert(error);
                }
                result => {
                    let mut record = result?;
                    record.head.fallback = fallback;
                    self.note_loaded(&record);
                    return Ok(record);
                }
            }
        }
        Err(RunError::Engine(first.unwrap_or_else(|| self.why_none_can_run(spec, plan))))
    }

    /// Why no engine could take a job.
    fn why_none_can_run(&mut self, spec: &RunSpec, plan: Option<&Plan>) -> EngineError {
        let mut why = None;
        for engine in planner::engines(spec) {
            let error = match self.named(engine.id, spec.device) {
                Err(error) => Some(error),
                Ok(_) => plan.and_then(|plan| engine.limits.check(engine.id, &plan.shape, spec.metric).err()),
            };
            why = why.or(error);
        }
        why.unwrap_or_else(|| EngineError::Unavailable {
            engine: EngineId::new("auto"),
            why: "no engine runs on this device".to_owned(),
        })
    }

    /// Notes which engine has the points loaded, for the next plan.
    fn note_loaded(&self, record: &RunRecord) {
        let Some(points) =
            self.resident.peek(&record.cloud, ProblemParameters::from(&record.spec).arrangement())
        else {
            return;
        };
        note_loaded(&points, record);
    }
}

/// An engine on a device or on its default one; opened if it is not there.
fn opened<'a>(
    engines: &'a mut Vec<Box<dyn Engine>>,
    id: EngineId,
    device: Option<DeviceId>,
    open: &mut dyn FnMut(EngineId, Option<DeviceId>) -> Result<Box<dyn Engine>, EngineError>,
) -> Result<&'a mut dyn Engine, EngineError> {
    let wanted = device.or_else(|| registry::find(id).map(registry::default_device));
    let is_wanted =
        |engine: &dyn Engine| engine.id() == id && wanted.is_none_or(|device| engine.device_id() == device);
    let at = match engines.iter().position(|engine| is_wanted(engine.as_ref())) {
        Some(at) => at,
        None => {
            engines.push(open(id, device)?);
            engines.len() - 1
        }
    };
    Ok(engines[at].as_mut())
}

/// Notes which engine has prepared these points.
fn note_loaded(points: &Points, record: &RunRecord) {
    let Some(engine) = record.descriptor() else { return };
    planner::mark_loaded(
        points,
        engine.id,
        record.spec.device.unwrap_or_else(|| registry::default_device(engine)),
    );
}

/// A spec with a single timed repeat.
pub(super) fn single_pass(spec: &RunSpec) -> RunSpec {
    RunSpec { warmup: 0, repeats: 1, profile: false, ..spec.clone() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::super::QuerySpec;
    use super::super::testing::{self, Script, no_driver, spec, squares};
    use super::*;
    use crate::knn::{Group, KernelBuild};

    const CUDA: EngineId = EngineId::new("cuda");
    const LOCKSTEP: EngineId = EngineId::new("lockstep");

    /// Opens all engines except those in `broken`.
    fn engines(broken: Vec<EngineId>, script: Script) -> EnginePool {
        testing::engines(
            move |kind| if broken.contains(&kind) { Err(no_driver(kind)) } else { Ok(script.clone()) },
        )
    }

    fn run(engines: &mut EnginePool, engine: EngineChoice) -> Result<RunRecord, RunError> {
        engines.execute(LoadedSpec::new(&RunSpec { engine, ..spec() }, &squares(10), None), &mut |_, _| true)
    }

    /// The number of engines that `auto` considers unless k is out of range.
    fn usual() -> usize {
        registry::ENGINES.iter().filter(|engine| engine.group != Group::Selection).count()
    }

    #[test]
    fn auto_prefers_cuda() {
        let record = run(&mut engines(vec![], Script::default()), EngineChoice::Auto).unwrap();
        assert_eq!((record.engine, &record.fallback), (CUDA, &None));
    }

    #[test]
    fn answers_run_the_timed_build_once() {
        let script = Script::default();
        let calls = Arc::clone(&script.calls);
        let mut engines = engines(vec![], script);
        let answer = engines.answer(LoadedSpec::new(&spec(), &squares(10), None), &mut |_, _| true).unwrap();
        assert_eq!((answer.spec.warmup, answer.spec.repeats, answer.measured.is_empty()), (0, 1, true));
        let calls = std::mem::take(&mut *calls.lock().unwrap());
        assert!(calls.iter().all(|(build, _)| *build == KernelBuild::Timed));
        assert_eq!(calls.iter().map(|(_, queries)| queries.len()).sum::<usize>(), 10);
        assert_eq!(answer.neighbors, run(&mut engines, EngineChoice::Auto).unwrap().neighbors);
    }

    #[test]
    fn auto_reports_why_cuda_was_not_chosen() {
        let record = run(&mut engines(vec![CUDA], Script::default()), EngineChoice::Auto).unwrap();
        assert_eq!(record.engine, LOCKSTEP);
        assert_eq!(record.head.fallback.unwrap(), "the cuda engine cannot run here: there is no driver");
    }

    #[test]
    fn auto_falls_back_when_loading_fails() {
        let mut engines =
            testing::engines(|kind| Ok(Script { unavailable: kind == CUDA, ..Script::default() }));
        let record = run(&mut engines, EngineChoice::Auto).unwrap();
        assert_eq!(record.engine, LOCKSTEP);
        assert_eq!(record.head.fallback.unwrap(), "the cuda engine cannot run here: the test says so");
    }

    #[test]
    fn a_named_engine_has_no_fallback() {
        let error = run(&mut engines(vec![CUDA], Script::default()), EngineChoice::named(CUDA)).unwrap_err();
        assert_eq!(error.to_string(), "the cuda engine cannot run here: there is no driver");
    }

    #[test]
    fn engines_are_reopened_after_a_device_failure() {
        let opened = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        let mut engines = testing::engines(move |_| {
            // Only the engine that was opened first fails.
            let device_fails = count.fetch_add(1, Relaxed) == 0;
            Ok(Script { device_fails, ..Script::default() })
        });
        let error = run(&mut engines, EngineChoice::Auto).unwrap_err();
        assert_eq!(error.to_string(), "a test: an illegal memory access");
        let once = opened.load(Relaxed);
        assert_eq!(run(&mut engines, EngineChoice::Auto).unwrap().engine, CUDA);
        run(&mut engines, EngineChoice::Auto).unwrap();
        assert_eq!(opened.load(Relaxed), once + 1, "the broken one again");
    }

    #[test]
    fn a_lost_device_closes_all_engines_on_it() {
        let lost = Arc::new(AtomicBool::new(false));
        let fails = Arc::new(AtomicBool::new(false));
        let script =
            Script { loses_device: Arc::clone(&fails), lost: Arc::clone(&lost), ..Script::default() };
        let mut engines = testing::engines(move |engine| {
            let on_gpu = registry::find(engine)
                .is_some_and(|engine| registry::default_device(engine) != DeviceId::Cpu);
            match on_gpu && lost.load(Relaxed) {
                true => Err(EngineError::Unavailable { engine, why: "it failed before".to_owned() }),
                false => Ok(if on_gpu { script.clone() } else { Script::default() }),
            }
        });
        let of = |name| EngineChoice::named(EngineId::new(name));
        for name in ["cuda", "cuda-split", "lockstep"] {
            run(&mut engines, of(name)).unwrap();
        }
        fails.store(true, Relaxed);
        let error = run(&mut engines, of("cuda")).unwrap_err();
        assert!(
            error.to_string().ends_with("the GPU cannot be used again until Warpscope is restarted"),
            "{error}"
        );
        assert_eq!(engines.opened.iter().map(|engine| engine.id()).collect::<Vec<_>>(), [LOCKSTEP]);
        assert_eq!(
            run(&mut engines, of("cuda-split")).unwrap_err().to_string(),
            "the cuda-split engine cannot run here: it failed before"
        );
        let record = run(&mut engines, EngineChoice::Auto).unwrap();
        assert_eq!(
            (record.engine, record.head.fallback.as_deref()),
            (LOCKSTEP, Some("the cuda engine cannot run here: it failed before"))
        );
    }

    #[test]
    fn engines_stay_open() {
        let opened = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        let mut engines = testing::engines(move |_| {
            count.fetch_add(1, Relaxed);
            Ok(Script::default())
        });
        run(&mut engines, EngineChoice::Auto).unwrap();
        let once = opened.load(Relaxed);
        // On a GPU, one engine is opened for all.
        assert!((1..=usual()).contains(&once), "{once}");
        for _ in 0..3 {
            run(&mut engines, EngineChoice::Auto).unwrap();
        }
        assert_eq!(opened.load(Relaxed), once);
    }

    #[test]
    fn engines_that_reject_a_job_are_skipped() {
        let counts = |kind| registry::find(kind).is_some_and(Descriptor::counts);
        let mut engines =
            testing::engines(move |kind| Ok(Script { unavailable: counts(kind), ..Script::default() }));
        let record = run(&mut engines, EngineChoice::Auto).unwrap();
        assert!(!record.descriptor().unwrap().counts());
        assert_eq!(record.head.fallback.unwrap(), "the cuda engine cannot run here: the test says so");
        let mut engines = testing::engines(|_| Ok(Script { unavailable: true, ..Script::default() }));
        assert_eq!(
            run(&mut engines, EngineChoice::Auto).unwrap_err().to_string(),
            "the cuda engine cannot run here: the test says so"
        );
    }

    #[test]
    fn live_queries_build_an_index_once_it_pays_off() {
        let (mut engines, cloud) =
            (engines(vec![CUDA, EngineId::new("cuda-split")], Script::default()), squares(10));
        let row = |row| RunSpec {
            engine: EngineChoice::Auto,
            device: Some(DeviceId::Cpu),
            queries: QuerySpec::Rows(vec![row]),
            ..spec()
        };
        assert_eq!(
            engines.answer_live(&row(1), &cloud).unwrap().engine,
            LOCKSTEP,
            "few points are searched exhaustively"
        );
        // Plans for ten million points, although the cloud has only ten.
        let plan = |engines: &mut EnginePool, waited_ms: f64| {
            let points =
                engines.resident().peek(&cloud, ProblemParameters::from(&row(1)).arrangement()).unwrap();
            let shape = crate::knn::Shape { n: 10_000_000, q: 1, d: 2, k: 32 };
            let job = Job { shape, ..Job::new(&row(1), Purpose::Answer, 10, 2, None) };
            let of = |engine: &'static Descriptor| {
                let there = planner::is_loaded(&points, engine.id, DeviceId::Cpu);
                Candidate::new(&engines.planner, engine, &job, Ok(None), there).after_waiting(waited_ms)
            };
            Plan::new(&EngineChoice::Auto, &job, planner::engines(&row(1)).map(of).collect())
        };
        let once = plan(&mut engines, 0.0);
        let tree = registry::find(EngineId::new("bvh")).unwrap();
        let setup_ms = once.candidate(tree.id).unwrap().forecast.unwrap().setup_ms;
        assert_eq!(once.chosen, Some(LOCKSTEP));
        assert_eq!(plan(&mut engines, 0.5 * setup_ms).chosen, Some(LOCKSTEP));
        assert_eq!(
            plan(&mut engines, setup_ms).chosen,
            Some(tree.id),
            "the time waited equals the time to build the tree"
        );
        // After a run has built the tree, the first query uses it.
        engines
            .execute(
                LoadedSpec::new(&RunSpec { engine: EngineChoice::named(tree.id), ..row(1) }, &cloud, None),
                &mut |_, _| true,
            )
            .unwrap();
        assert_eq!(plan(&mut engines, 0.0).chosen, Some(tree.id));
    }

    #[test]
    fn only_live_queries_accumulate_waiting_time() {
        let (mut engines, cloud) = (engines(vec![CUDA], Script::default()), squares(10));
        let row = |row| RunSpec {
            engine: EngineChoice::named(LOCKSTEP),
            queries: QuerySpec::Rows(vec![row]),
            ..spec()
        };
        let waited = |engines: &EnginePool| {
            planner::waited_ms(
                &engines.resident().peek(&cloud, ProblemParameters::from(&row(1)).arrangement()).unwrap(),
            )
        };
        engines.execute(LoadedSpec::new(&row(1), &cloud, None), &mut |_, _| true).unwrap();
        assert_eq!(waited(&engines), 0.0);
        let took: f64 =
            (0..3).map(|at| engines.answer_live(&row(at), &cloud).unwrap().summary.search_ms_median).sum();
        assert!(took > 0.0 && (waited(&engines) - took).abs() < 1e-9);
        engines.resident().release_prepared();
        assert_eq!(waited(&engines), 0.0, "released along with the prepared data");
    }

    #[test]
    fn runs_record_a_prediction_and_leave_points_resident() {
        let (mut engines, cloud) = (engines(vec![CUDA], Script::default()), squares(10));
        let spec = RunSpec { engine: EngineChoice::named(LOCKSTEP), ..spec() };
        let there = |engines: &mut EnginePool| {
            engines
                .plan(LoadedSpec::new(&spec, &cloud, None), Purpose::Answer)
                .candidate(LOCKSTEP)
                .unwrap()
                .resident
        };
        assert!(!there(&mut engines));
        let record = engines.execute(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap();
        assert!(record.predicted_ms.is_some_and(|ms| ms > 0.0));
        assert!(there(&mut engines));
        engines.resident().release();
        assert!(!there(&mut engines));
    }
}
