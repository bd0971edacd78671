//! Executes a [`RunSpec`] and returns its record.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::chunks::ChunkSizer;
use super::machine::{self, SchedulerStats};
use super::problem::{LoadedSpec, build_resident_problem, query_cloud_of};
use super::{
    Machine, Phase, QuerySpec, ResidentPoints, RunError, RunFile, RunRecord, RunSpec, SCHEMA_VERSION, Sample,
    Stage, Summary,
};
use crate::cloud::PointCloud;
use crate::knn::{
    Answer, Descriptor, DeviceId, DeviceInfo, Engine, KernelBuild, MAX_COUNTED_CHUNK, MAX_STREAM_SPANS,
    Method, Neighbors, Parameters, PreparedSearch, Problem,
};
use crate::version;

/// Runs a spec on an engine. `stage` receives the current step and the fraction done (0 to 1), and returns
/// whether to continue. It is called before every chunk of queries, about every 50 ms unless the engine sets
/// another pace.
///
/// The record's `fallback` is empty; the caller that chose the engine sets it.
pub fn execute(
    loaded: LoadedSpec<'_>,
    engine: &mut dyn Engine,
    stage: &mut Stage<'_>,
) -> Result<RunRecord, RunError> {
    execute_resident(&ResidentPoints::default(), Passes::All, loaded, engine, stage)
}

/// The passes over the queries in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    /// Warm-ups and timed repeats, then counted and profiled passes if the engine has such builds.
    All,
    /// Passes of the timed build only, for the neighbours.
    Timed,
}

/// As [`execute`], reusing the points of the previous run if they are the same.
pub(super) fn execute_resident(
    resident: &ResidentPoints,
    passes: Passes,
    loaded: LoadedSpec<'_>,
    engine: &mut dyn Engine,
    stage: &mut Stage<'_>,
) -> Result<RunRecord, RunError> {
    let (started_unix, began) = (now_unix(), Instant::now());
    if loaded.spec.repeats == 0 {
        return Err(RunError::NoRepeats);
    }
    continue_if(stage("preparing the problem", 0.0))?;
    let query_cloud = query_cloud_of(loaded)?;
    let loaded = LoadedSpec { query_cloud: query_cloud.as_ref(), ..loaded };
    let problem = build_resident_problem(resident, loaded)?;
    search((loaded, &problem), passes, (started_unix, began), engine, stage)
}

/// Searches a loaded spec's problem. The run's start is given in seconds since 1970 and as an instant.
pub(super) fn search(
    (loaded, problem): (LoadedSpec<'_>, &Problem),
    passes: Passes,
    (started_unix, began): (u64, Instant),
    engine: &mut dyn Engine,
    stage: &mut Stage<'_>,
) -> Result<RunRecord, RunError> {
    let spec = loaded.spec;
    continue_if(stage("loading the problem", 0.0))?;
    let mut machine = (passes == Passes::All).then(Machine::now);
    let descriptor = engine.descriptor();
    let on_cpu = engine.device_id() == DeviceId::Cpu;
    let loading_ms = ms_since(began);
    let search = engine.load(problem, spec.engine.parameters(), spec.profile)?;

    let counted = passes == Passes::All && descriptor.counts() && search.counts();
    let passes = u64::from(spec.warmup)
        + u64::from(spec.repeats)
        + u64::from(counted)
        + u64::from(counted && spec.profile);
    let mut run = ActiveSearch {
        search,
        began,
        q: problem.q(),
        done: 0,
        total: passes * problem.q() as u64,
        samples: Vec::new(),
        stage,
    };
    run.note_setup(loading_ms);
    let mut stream_spans = run.search.take_stream_spans(began);

    let scheduled = machine.as_ref().and_then(|_| SchedulerStats::now());
    let mut chunks = ChunkSizer::new(run.search.as_ref(), problem);
    for warmup in 0..spec.warmup {
        run.pass(
            &format!("warm-up {} of {}", warmup + 1, spec.warmup),
            KernelBuild::Timed,
            None,
            &mut chunks,
            |_| Ok(true),
        )?;
    }
    // The spans of warm-up passes are discarded.
    run.search.take_stream_spans(began);
    let mut neighbors = Neighbors::unanswered(problem.q(), problem.k());
    for repeat in 0..spec.repeats {
        let label = if spec.repeats == 1 {
            "searching".to_owned()
        } else {
            format!("repeat {} of {}", repeat + 1, spec.repeats)
        };
        run.pass(&label, KernelBuild::Timed, Some((Phase::Search, repeat)), &mut chunks, |_| Ok(true))?;
        run.download(&mut neighbors, repeat)?;
    }
    stream_spans.extend(run.search.take_stream_spans(began));
    stream_spans.truncate(MAX_STREAM_SPANS);
    // More threads than cores wait for each other, which is not other work on the machine.
    if let Some(machine) = &mut machine
        && on_cpu
        && machine.cores.is_some_and(|cores| rayon::current_num_threads() <= cores as usize)
    {
        machine.waited =
            scheduled.zip(SchedulerStats::now()).and_then(|(start, end)| end.waited_since(start));
    }
    let mut answer = Answer::default();
    if counted {
        let mut chunks = ChunkSizer::new(run.search.as_ref(), problem);
        run.pass("counting", KernelBuild::Counted, Some((Phase::Counted, 0)), &mut chunks, |search| {
            Ok(search.collect(&mut answer).map(|()| true)?)
        })?;
    }
    let mut profiled = Answer::default();
    if counted && spec.profile {
        let mut chunks = ChunkSizer::new(run.search.as_ref(), problem);
        run.pass("profiling", KernelBuild::Profiled, Some((Phase::Profiled, 0)), &mut chunks, |search| {
            search.collect(&mut profiled)?;
            // Stops early if the engine has no profile.
            Ok(profiled.profile.is_some())
        })?;
        if profiled.profile.is_none() {
            run.samples.retain(|sample| sample.phase != Phase::Profiled);
        }
    }
    let mut execution = Execution::new(descriptor, run.search.as_ref(), started_unix);
    let samples = run.finish()?;
    answer.stream_spans = stream_spans;
    answer.neighbors = neighbors;
    answer.profile = profiled.profile;
    execution.device = engine.device();
    execution.machine = machine.map(|machine| Machine { load_end: machine::load(), ..machine });
    Ok(record((loaded, problem), execution, answer, samples))
}

/// Seconds since 1970 UTC.
pub(super) fn now_unix() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// How and when a problem was answered.
pub(super) struct Execution {
    engine: &'static Descriptor,
    method: Option<String>,
    note: Option<String>,
    resident: bool,
    started_unix: u64,
    /// Load of the machine; `None` if it was not requested.
    pub machine: Option<Machine>,
    /// The device, queried after the search has returned the engine.
    pub device: DeviceInfo,
}

impl Execution {
    /// Taken at the end of a search, as its choices may have changed meanwhile.
    pub fn new(
        engine: &'static Descriptor,
        search: &(impl PreparedSearch + ?Sized),
        started_unix: u64,
    ) -> Self {
        let parameters = search.parameters();
        let method = (!parameters.is_empty()).then(|| Method { engine: engine.id, parameters }.to_string());
        Self {
            engine,
            method,
            note: search.note(),
            resident: search.resident(),
            started_unix,
            machine: None,
            device: DeviceInfo::default(),
        }
    }
}

/// Builds the record of an engine's answer.
pub(super) fn record(
    (loaded, problem): (LoadedSpec<'_>, &Problem),
    execution: Execution,
    answer: Answer,
    samples: Vec<Sample>,
) -> RunRecord {
    let LoadedSpec { spec, cloud, query_cloud } = loaded;
    let query_cloud = query_cloud.filter(|_| !problem.queries_are_rows()).cloned();
    let summary = Summary::new(execution.engine, problem, &samples, &answer);
    let head = RunFile {
        schema_version: SCHEMA_VERSION,
        warpscope_version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: version::commit().map(str::to_owned),
        started_unix: execution.started_unix,
        spec: spec.clone(),
        engine: execution.engine.id,
        fallback: None,
        predicted_ms: None,
        method: execution.method,
        note: execution.note,
        resident: execution.resident,
        device: execution.device,
        peaks: None,
        machine: execution.machine,
        fingerprint: cloud.fingerprint().clone(),
        query_fingerprint: query_cloud.as_ref().map(|cloud| cloud.fingerprint().clone()),
        axes: cloud.axes().to_vec(),
        dropped_rows: (cloud.dropped() + cloud.len() as u64).saturating_sub(summary.n),
        dropped_queries: requested_queries(spec, cloud, query_cloud.as_deref()).saturating_sub(summary.q),
        summary,
    };
    RunRecord {
        head,
        cloud: Arc::clone(cloud),
        query_cloud,
        query_rows: (0..problem.q()).map(|query| problem.query_row(query)).collect(),
        neighbors: problem.report(answer.neighbors),
        measured: answer.measured,
        convergence: answer.convergence,
        profile: answer.profile,
        samples,
        stream_spans: answer.stream_spans,
    }
}

/// The number of queries requested, including dropped ones.
fn requested_queries(spec: &RunSpec, cloud: &PointCloud, query_cloud: Option<&PointCloud>) -> u64 {
    match (query_cloud, &spec.queries) {
        (Some(queries), _) => queries.len() as u64 + queries.dropped(),
        (None, QuerySpec::Count(count)) => *count,
        (None, QuerySpec::At(_)) => 1,
        (None, QuerySpec::Rows(records)) => records.len() as u64,
        (None, _) => cloud.len() as u64,
    }
}

/// An engine's answer to a problem, searched once with the timed build and, if it has counters, once with the
/// counted build, whose neighbours are the second value.
pub(super) fn answer(
    problem: &Problem,
    engine: &mut dyn Engine,
    parameters: &Parameters,
    stage: &mut Stage<'_>,
) -> Result<(Answer, Option<Neighbors>), RunError> {
    continue_if(stage("loading the problem", 0.0))?;
    let counts = engine.descriptor().counts();
    let search = engine.load(problem, parameters, false)?;
    let counted = counts && search.counts();
    let total = (1 + u64::from(counted)) * problem.q() as u64;
    let mut run = ActiveSearch {
        search,
        began: Instant::now(),
        q: problem.q(),
        done: 0,
        total,
        samples: Vec::new(),
        stage,
    };
    let mut answer =
        Answer { neighbors: Neighbors::unanswered(problem.q(), problem.k()), ..Answer::default() };
    let mut chunks = ChunkSizer::new(run.search.as_ref(), problem);
    run.pass("searching", KernelBuild::Timed, None, &mut chunks, |_| Ok(true))?;
    run.download(&mut answer.neighbors, 0)?;
    if !counted {
        return Ok((answer, None));
    }
    let mut neighbors = Neighbors::unanswered(problem.q(), problem.k());
    run.pass("counting", KernelBuild::Counted, None, &mut chunks, |search| {
        Ok(search.collect(&mut answer).map(|()| true)?)
    })?;
    run.download(&mut neighbors, 0)?;
    Ok((answer, Some(neighbors)))
}

/// A loaded problem that is searched pass by pass.
struct ActiveSearch<'run, 'engine> {
    search: Box<dyn PreparedSearch + 'engine>,
    began: Instant,
    q: usize,
    /// Queries done, over all passes.
    done: u64,
    /// Queries of all passes.
    total: u64,
    samples: Vec<Sample>,
    stage: &'run mut Stage<'run>,
}

impl ActiveSearch<'_, '_> {
    /// Records the phases of loading, consecutively from `start_ms`.
    fn note_setup(&mut self, mut start_ms: f64) {
        for (phase, duration_ms) in self.search.setup_ms() {
            self.samples.push(Sample { phase: phase.into(), repeat: 0, chunk: 0, start_ms, duration_ms });
            start_ms += duration_ms;
        }
    }

    /// Makes one pass over all queries. `after` is called after each chunk and returns whether to continue.
    fn pass(
        &mut self,
        label: &str,
        build: KernelBuild,
        sample: Option<(Phase, u32)>,
        chunks: &mut ChunkSizer,
        mut after: impl FnMut(&mut dyn PreparedSearch) -> Result<bool, RunError>,
    ) -> Result<(), RunError> {
        let (mut end, mut chunk) = (0, 0);
        let most = if build == KernelBuild::Timed { usize::MAX } else { MAX_COUNTED_CHUNK };
        while let Some(range) = chunks.next(end, self.q, most) {
            continue_if((self.stage)(label, (self.done as f64 / self.total as f64) as f32))?;
            end = range.end;
            let (queries, start_ms) = (range.len(), ms_since(self.began));
            let duration_ms = self.search.search(range, build)?;
            // Use the host's waiting time: it determines how long a cancellation takes.
            chunks.record(queries, duration_ms.max(ms_since(self.began) - start_ms));
            if let Some((phase, repeat)) = sample {
                self.samples.push(Sample { phase, repeat, chunk, start_ms, duration_ms });
            }
            self.done += queries as u64;
            chunk += 1;
            if !after(self.search.as_mut())? {
                break;
            }
        }
        Ok(())
    }

    /// Releases the engine and returns the samples.
    fn finish(self) -> Result<Vec<Sample>, RunError> {
        continue_if((self.stage)("done", 1.0))?;
        Ok(self.samples)
    }

    fn download(&mut self, neighbors: &mut Neighbors, repeat: u32) -> Result<(), RunError> {
        let start_ms = ms_since(self.began);
        let duration_ms = self.search.download(neighbors)?;
        self.samples.push(Sample { phase: Phase::Download, repeat, chunk: 0, start_ms, duration_ms });
        Ok(())
    }
}

pub(super) fn continue_if(wanted: bool) -> Result<(), RunError> {
    if wanted { Ok(()) } else { Err(RunError::Cancelled) }
}

pub(super) fn ms_since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::testing::{
        BruteForceEngine, FIRST_CHUNK, Script, cloud, plain, queries_to, spec, squares,
    };
    use super::super::{EngineChoice, QuerySpec, stats};
    use super::*;
    use crate::cloud::Order;
    use crate::engines::kdtree::KDTREE;
    use crate::engines::several::open_parts;
    use crate::knn::{EngineId, GpuSet, ProblemError, StreamPhase};

    fn run(spec: &RunSpec, cloud: &Arc<PointCloud>) -> Result<RunRecord, RunError> {
        execute(LoadedSpec::new(spec, cloud, None), &mut plain(), &mut |_, _| true)
    }

    #[test]
    fn every_pass_covers_every_query_once() {
        let (mut engine, cloud) = (plain(), squares(300));
        let spec = RunSpec { profile: true, ..spec() };
        execute(LoadedSpec::new(&spec, &cloud, None), &mut engine, &mut |_, _| true).unwrap();
        let calls = engine.script.calls.lock().unwrap();
        assert_eq!(calls[0], (KernelBuild::Timed, 0..FIRST_CHUNK));
        let mut builds = Vec::new();
        let mut end = 300;
        for (build, range) in calls.iter() {
            if end == 300 {
                builds.push(*build);
                end = 0;
            }
            assert_eq!((range.start, builds.last()), (end, Some(build)));
            end = range.end;
        }
        assert_eq!(end, 300);
        assert_eq!(
            builds,
            [[KernelBuild::Timed; 5].as_slice(), &[KernelBuild::Counted, KernelBuild::Profiled]].concat()
        );
    }

    #[test]
    fn counting_builds_respect_their_maximum_chunk() {
        let (mut engine, cloud) = (plain(), cloud(1, vec![1.0; 4]));
        engine.script.idle = true;
        let queries = QuerySpec::Rows(vec![0; 4 * MAX_COUNTED_CHUNK]);
        execute(
            LoadedSpec::new(&RunSpec { queries, k: 1, profile: true, ..spec() }, &cloud, None),
            &mut engine,
            &mut |_, _| true,
        )
        .unwrap();
        let calls = engine.script.calls.lock().unwrap();
        let largest =
            |build| calls.iter().filter(|call| call.0 == build).map(|call| call.1.len()).max().unwrap();
        assert!(largest(KernelBuild::Timed) > MAX_COUNTED_CHUNK, "otherwise nothing is tested");
        assert!(
            largest(KernelBuild::Counted) <= MAX_COUNTED_CHUNK
                && largest(KernelBuild::Profiled) <= MAX_COUNTED_CHUNK
        );
    }

    #[test]
    fn stream_spans_are_those_of_the_repeats_on_every_device() {
        let gpus = DeviceId::Gpus(GpuSet::first(2).unwrap());
        let mut engine = open_parts(&KDTREE, gpus, vec![DeviceId::Cpu; 2]).unwrap();
        let cloud = squares(3000);
        let record =
            execute(LoadedSpec::new(&spec(), &cloud, None), engine.as_mut(), &mut |_, _| true).unwrap();
        let starts = |phase| {
            record.stream_spans.iter().filter(move |span| span.phase == phase).map(|span| span.start_ms)
        };
        let first = record.samples.iter().find(|sample| sample.phase == Phase::Search).unwrap();
        assert_eq!(starts(StreamPhase::Download).count(), 2 * spec().repeats as usize, "one for each part");
        assert!(starts(StreamPhase::Search).count() >= 2 * spec().repeats as usize);
        assert!(
            starts(StreamPhase::Search).all(|start| start >= first.start_ms - 1e-6),
            "warm-ups are not part of it"
        );
        assert!(starts(StreamPhase::Copy).all(|start| start < first.start_ms));
        assert_eq!(run(&spec(), &cloud).unwrap().stream_spans, [], "one device");
    }

    #[test]
    fn samples_cover_every_phase_and_add_up() {
        let record = run(&RunSpec { profile: true, ..spec() }, &squares(300)).unwrap();
        let phases = |phase| record.samples.iter().filter(move |sample| sample.phase == phase);
        assert_eq!(phases(Phase::Upload).map(|sample| sample.duration_ms).collect::<Vec<_>>(), [0.25]);
        assert_eq!(phases(Phase::BuildIndex).map(|sample| sample.duration_ms).collect::<Vec<_>>(), [0.5]);
        assert_eq!(phases(Phase::Download).map(|sample| sample.repeat).collect::<Vec<_>>(), [0, 1, 2]);
        for repeat in 0..3 {
            let chunks: Vec<u32> = phases(Phase::Search)
                .filter(|sample| sample.repeat == repeat)
                .map(|sample| sample.chunk)
                .collect();
            assert!(!chunks.is_empty());
            assert!(chunks.iter().enumerate().all(|(at, &chunk)| at as u32 == chunk));
        }
        assert!(phases(Phase::Counted).count() > 0 && phases(Phase::Profiled).count() > 0);
        assert!(record.samples.windows(2).all(|pair| pair[0].start_ms <= pair[1].start_ms));

        let times = stats::search_ms(&record.samples);
        let summary = &record.summary;
        assert_eq!((summary.n, summary.q, summary.d), (300, 300, 1));
        assert_eq!(summary.search_ms_median, stats::median(&times));
        assert!(
            summary.search_ms_min <= summary.search_ms_median
                && summary.search_ms_median <= summary.search_ms_max
        );
        assert!(
            (summary.distances_per_second.unwrap() * summary.search_ms_median / 1e3 - 300.0 * 300.0).abs()
                < 1.0
        );
        assert_eq!(["merges", "candidates"].map(|name| summary.measure(name).unwrap().mean), [2.0, 149.5]);
        assert_eq!(record.measured.queries(), 300);
        assert_eq!(record.convergence.queries(), 300);
        assert_eq!(record.profile.unwrap().spans.len(), 300);
    }

    #[test]
    fn engines_without_counters_run_only_the_timed_build() {
        let mut engine = plain();
        engine.kind = EngineId::new("kdtree");
        let spec = RunSpec { profile: true, engine: EngineChoice::named(EngineId::new("kdtree")), ..spec() };
        let record =
            execute(LoadedSpec::new(&spec, &squares(20), None), &mut engine, &mut |_, _| true).unwrap();
        assert!(engine.script.calls.lock().unwrap().iter().all(|(build, _)| *build == KernelBuild::Timed));
        assert_eq!(
            (record.measured.queries(), record.summary.measures.len(), record.summary.distances_per_second),
            (0, 0, None)
        );
        assert!(record.profile.is_none());
    }

    #[test]
    fn cancellation_takes_effect_after_the_current_chunk() {
        let (mut engine, cloud) = (plain(), squares(2000));
        engine.script.per_query = Duration::from_millis(1);
        let calls = Arc::clone(&engine.script.calls);
        let (began, mut searched) = (Instant::now(), None);
        let error = execute(LoadedSpec::new(&spec(), &cloud, None), &mut engine, &mut |_, _| {
            let go_on = began.elapsed() < Duration::from_millis(300);
            searched = (!go_on).then(|| calls.lock().unwrap().len());
            go_on
        });
        assert!(matches!(error, Err(RunError::Cancelled)));
        let calls = calls.lock().unwrap();
        assert_eq!(searched, Some(calls.len()));
        // Chunks aim at 50 ms. On a busy machine they are smaller, never larger.
        assert!(calls.len() > 3 && calls.iter().all(|(_, queries)| queries.len() <= 100), "{calls:?}");
    }

    #[test]
    fn unprofiled_runs_have_no_profile_sample() {
        for unprofiled in [true, false] {
            let mut engine =
                BruteForceEngine { script: Script { unprofiled, ..Script::default() }, ..plain() };
            let record = execute(
                LoadedSpec::new(&RunSpec { profile: true, ..spec() }, &squares(30), None),
                &mut engine,
                &mut |_, _| true,
            )
            .unwrap();
            let profiled = record.samples.iter().any(|sample| sample.phase == Phase::Profiled);
            assert_eq!((profiled, record.profile.is_some()), (!unprofiled, !unprofiled));
        }
    }

    #[test]
    fn progress_rises_from_zero_to_one() {
        let heard_of = |spec: RunSpec| {
            let mut heard = Vec::new();
            execute(LoadedSpec::new(&spec, &squares(50), None), &mut plain(), &mut |stage, fraction| {
                heard.push((stage.to_owned(), fraction));
                true
            })
            .unwrap();
            heard
        };
        let heard = heard_of(spec());
        assert!(heard.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        assert_eq!(heard.last().unwrap(), &("done".to_owned(), 1.0));
        for stage in ["loading the problem", "warm-up 2 of 2", "repeat 3 of 3", "counting"] {
            assert!(heard.iter().any(|(heard, _)| heard == stage), "{stage} is missing from {heard:?}");
        }
        // A single repeat is not numbered.
        let heard = heard_of(RunSpec { warmup: 0, repeats: 1, ..spec() });
        let has = |wanted: fn(&str) -> bool| heard.iter().any(|(heard, _)| wanted(heard));
        assert!(has(|heard| heard == "searching") && !has(|heard| heard.contains(" of ")), "{heard:?}");
    }

    #[test]
    fn neighbour_rows_do_not_depend_on_processing_order() {
        let cloud = squares(40);
        let file = run(&spec(), &cloud).unwrap();
        assert_eq!(file.neighbors.for_query(5), ([5, 4, 6].as_slice(), [0.0, 81.0, 121.0].as_slice()));
        assert_eq!(file.query_rows[5], 5);
        let shuffled = run(&RunSpec { order: Order::Shuffled, seed: 7, ..spec() }, &cloud).unwrap();
        assert_eq!(shuffled.neighbors, file.neighbors);
    }

    #[test]
    fn exclude_self_retains_duplicate_rows() {
        // Rows 0, 1 and 3 are equal; row 4 is far away.
        let cloud = cloud(1, vec![1.0, 1.0, 2.0, 1.0, 50.0]);
        for order in [Order::File, Order::Shuffled] {
            let record = run(&RunSpec { exclude_self: true, k: 2, order, ..spec() }, &cloud).unwrap();
            for (query, &row) in record.query_rows.iter().enumerate() {
                let (rows, squared_distances) = record.neighbors.for_query(query);
                assert!(!rows.contains(&row), "{order:?}: row {row} found itself: {rows:?}");
                let expected: &[f32] = match row {
                    2 => &[1.0, 1.0],
                    4 => &[2304.0, 2401.0],
                    _ => &[0.0, 0.0],
                };
                assert_eq!(squared_distances, expected);
            }
        }
        // More equal rows than k + 1: the query's own row is not among those found, so the last one is
        // removed.
        let equal = super::super::testing::cloud(1, vec![3.0; 6]);
        let record = run(&RunSpec { exclude_self: true, k: 2, ..spec() }, &equal).unwrap();
        assert_eq!(record.neighbors.for_query(5).0, [0, 1]);
        assert_eq!(record.neighbors.for_query(0).0, [1, 2]);
    }

    #[test]
    fn samples_follow_the_seed_and_rows_are_record_numbers() {
        // Records 1 and 3 are dropped.
        let cloud = cloud(1, vec![0.0, f64::NAN, 2.0, f64::INFINITY, 4.0, 5.0]);
        let queries = |queries, seed| run(&RunSpec { queries, seed, k: 1, ..spec() }, &cloud);
        let drawn = queries(QuerySpec::Count(2), 3).unwrap().query_rows;
        assert_eq!(drawn, crate::cloud::order::sample(4, 2, 3));
        assert_eq!(queries(QuerySpec::Rows(vec![5, 2]), 0).unwrap().query_rows, [3, 1]);

        let message = |asked: QuerySpec| queries(asked, 0).unwrap_err().to_string();
        assert_eq!(
            message(QuerySpec::Rows(vec![0, 3])),
            "query row 3: it was dropped because it has NaN or infinite values"
        );
        assert_eq!(message(QuerySpec::Rows(vec![6])), "query row 6: must be between 0 and 5");
        assert_eq!(
            message(QuerySpec::Count(5)),
            "cannot sample 5 queries: the cloud has only 4 rows; use `all` for every row"
        );
        assert_eq!(message(QuerySpec::Count(0)), "q = 0: there are no queries");
        assert_eq!(message(QuerySpec::Rows(Vec::new())), "q = 0: there are no queries");
    }

    #[test]
    fn a_query_file_forms_a_separate_cloud() {
        let data = squares(10);
        let queries = queries_to(&data, vec![8.0, 80.0]);
        let spec = RunSpec {
            queries: QuerySpec::File { path: "q.csv".into(), columns: Default::default() },
            k: 1,
            ..spec()
        };
        let record =
            execute(LoadedSpec::new(&spec, &data, Some(&queries)), &mut plain(), &mut |_, _| true).unwrap();
        assert_eq!(record.neighbors.indices, [3, 9]);
        assert_eq!(record.query_rows, [0, 1]);
        assert!(record.query_cloud.is_some());
        assert!(matches!(run(&spec, &data), Err(RunError::QueriesNotLoaded { .. })));
    }

    #[test]
    fn dropped_rows_and_queries_are_counted() {
        // Record 1 has a NaN, and records 2 and 5 have no direction.
        let cloud = cloud(2, vec![1.0, 0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 3.0, 0.0, 0.0]);
        let angular = RunSpec { metric: crate::knn::Metric::Angular, k: 1, drop_nonfinite: true, ..spec() };
        let record = run(&angular, &cloud).unwrap();
        assert_eq!((record.summary.n, record.dropped_rows, record.dropped_queries), (3, 3, 2));
        assert_eq!(record.query_rows, [0, 2, 3]);
        assert_eq!(record.neighbors.indices, [0, 2, 3]);
        let record =
            run(&RunSpec { queries: QuerySpec::Rows(vec![5, 0, 4]), ..angular.clone() }, &cloud).unwrap();
        assert_eq!((record.dropped_queries, record.query_rows), (1, vec![0, 3]));
        let refused = |rows: Vec<u64>| {
            run(&RunSpec { queries: QuerySpec::Rows(rows), ..angular.clone() }, &cloud)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(vec![2, 5]),
            "no queries left: all 2 queries are zero vectors, which have no direction under this metric; use \
             the l2 metric"
        );
        assert_eq!(
            refused(vec![5]),
            "no queries left: the only query is a zero vector, which has no direction under this metric; use \
             the l2 metric"
        );
        let record = run(&RunSpec { k: 1, ..spec() }, &cloud).unwrap();
        assert_eq!((record.dropped_rows, record.dropped_queries), (1, 0));
    }

    #[test]
    fn invalid_sizes_are_rejected_rather_than_clamped() {
        assert!(matches!(run(&RunSpec { repeats: 0, ..spec() }, &squares(5)), Err(RunError::NoRepeats)));
        assert!(matches!(
            run(&RunSpec { k: 0, ..spec() }, &squares(5)),
            Err(RunError::Problem(ProblemError::NoNeighbours))
        ));
        let record = run(&RunSpec { k: 8, ..spec() }, &squares(5)).unwrap();
        let (rows, squared_distances) = record.neighbors.for_query(0);
        assert_eq!(rows[4..], [4, crate::knn::NONE, crate::knn::NONE, crate::knn::NONE]);
        assert!(squared_distances[5..].iter().all(|distance| *distance == f32::INFINITY));
    }
}
