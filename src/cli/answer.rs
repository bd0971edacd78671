//! Searches that only need neighbours: all at once for `analyse` and `recall`, or batch by batch for `knn`.

use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

use anyhow::{Context, anyhow};

use super::bar::Bar;
use super::job::Job;
use super::output;
use crate::export::text;
use crate::knn::{Descriptor, DeviceId};
use crate::run::planner::{Plan, Purpose};
use crate::run::{
    AnswerBatch, Arithmetic, BatchResult, BatchSearch, EngineChoice, EnginePool, LoadedSpec, Phase,
    QueryBatches, RunError, RunRecord, RunSpec, TileStats, TiledAnswer, TiledSearch,
};

/// Answers predicted to take longer are announced before they begin.
const WORTH_A_NOTE_MS: f64 = 1000.0;

/// Answers a job once. If it is predicted to take long, a note says so first.
///
/// # Errors
/// Errors of the search.
pub fn answer(engines: &mut EnginePool, job: &Job, arithmetic: Arithmetic) -> anyhow::Result<BatchResult> {
    let job = with_device(engines, job);
    let plan = plan(engines, &job)?;
    let batches = QueryBatches::new(engines, job.loaded(), arithmetic)?;
    let all = 0..batches.queries();
    let answered = engines.answer_batch(&batches, all, Some(&plan), &mut Bar::new("").stage())?;
    note_fallback(&answered.record);
    Ok(answered)
}

/// Search threads per thread that converts and writes answers. More of these hardly speed up a file system.
const THREADS_PER_WRITER: usize = 4;

/// How long a GPU driver takes to start, in milliseconds (bench/README.md, "One answer from a shell").
const GPU_START_MS: f64 = 400.0;

/// The job with its device chosen. `auto` stays on the CPU if that is predicted to finish before a GPU driver
/// has started; then the driver is not loaded.
pub fn with_device(engines: &mut EnginePool, job: &Job) -> Job {
    let mut job = job.clone();
    if job.spec.engine == EngineChoice::Auto && job.spec.device.is_none() {
        let on_cpu = RunSpec { device: Some(DeviceId::Cpu), warmup: 0, repeats: 1, ..job.spec.clone() };
        // Measuring the engines first would cost more than it saves.
        let plan = engines.plan(LoadedSpec { spec: &on_cpu, ..job.loaded() }, Purpose::Answer);
        if plan.total_ms().is_some_and(|ms| ms < GPU_START_MS) {
            job.spec.device = Some(DeviceId::Cpu);
        }
    }
    job
}

/// How a job was answered.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct AnswerStats {
    /// Number of points searched.
    pub points: u64,
    pub engine: String,
    pub device: String,
    /// The devices that computed the f64 distances, joined by `and`; `None` if distances are not refined.
    pub distances_on: Option<String>,
    /// Whether an index was built.
    pub index: bool,
    /// The tiles, if the points were searched in some.
    pub tiles: Option<TileStats>,
    /// The number of processes, if there were several.
    pub ranks: Option<usize>,
    /// From the loaded cloud to the last neighbour, including building an index.
    pub seconds: f64,
}

impl AnswerStats {
    pub fn new(record: &RunRecord, distances_on: Option<String>, seconds: f64) -> Self {
        let index = record.samples.iter().any(|sample| sample.phase == Phase::BuildIndex);
        let (engine, device) = (record.engine.to_string(), record.device.name.clone());
        let points = record.summary.n;
        Self { points, engine, device, distances_on, index, tiles: None, ranks: None, seconds }
    }

    /// Adds those of another process, which worked at the same time.
    pub fn add(&mut self, other: Self) {
        let both =
            |own: &mut String, other| *own = joined(Some(own.clone()), Some(other)).unwrap_or_default();
        both(&mut self.engine, other.engine);
        both(&mut self.device, other.device);
        self.distances_on = joined(self.distances_on.take(), other.distances_on);
        self.index |= other.index;
        if let (Some(tiles), Some(other)) = (&mut self.tiles, other.tiles) {
            tiles.query_blocks += other.query_blocks;
            tiles.tiles_read += other.tiles_read;
        }
        self.seconds = self.seconds.max(other.seconds);
    }
}

/// Receives the batches of an answer, in order.
pub type Take<'a> = dyn FnMut(AnswerBatch<'_>) -> anyhow::Result<()> + Send + 'a;

/// How a job's answers are delivered.
#[derive(Clone, Copy)]
pub struct Delivery<'a> {
    /// As a single batch, in radius searches.
    pub at_once: bool,
    /// With a query's own row first among equals.
    pub own_first: bool,
    /// While the next batch is searched. Its progress bar would mix with printed batches.
    pub behind: bool,
    /// Called when a search behind the delivery fails, which may wait for other processes.
    pub failed: &'a dyn Fn(&anyhow::Error),
}

/// Answers a job batch by batch; `since` is when it began.
///
/// # Errors
/// Errors of the search and of `take`, whichever came first.
pub fn in_batches(
    engines: &mut EnginePool,
    (job, batches): (&Job, &BatchSearch),
    since: Instant,
    delivery: Delivery<'_>,
    take: &mut Take<'_>,
) -> anyhow::Result<AnswerStats> {
    let on_cpu = |engine: &Descriptor, index, seconds| AnswerStats {
        points: job.cloud.len() as u64,
        engine: engine.id.to_string(),
        device: "CPU".to_owned(),
        distances_on: None,
        index,
        tiles: None,
        ranks: None,
        seconds,
    };
    match batches {
        BatchSearch::Nearest(batches) => {
            let plan = plan(engines, job)?;
            nearest(engines, (batches, &plan), since, delivery, take)
        }
        BatchSearch::Tiled(tiled) => in_tiles(engines, (job, tiled), since, delivery, take),
        BatchSearch::Within(all) => {
            all.for_each((delivery.at_once, delivery.own_first), &Bar::new("searching"), take)?;
            // Only tree engines search within a radius.
            Ok(on_cpu(all.engine, true, since.elapsed().as_secs_f64()))
        }
        BatchSearch::LargestProduct(largest) => {
            let mut seconds = 0.0;
            largest.for_each(&Bar::new("searching"), |batch| {
                seconds = since.elapsed().as_secs_f64();
                take(batch)
            })?;
            Ok(on_cpu(largest.engine, false, seconds))
        }
    }
}

/// The nearest, batch by batch.
fn nearest(
    engines: &mut EnginePool,
    (batches, plan): (&QueryBatches, &Plan),
    since: Instant,
    Delivery { own_first, behind, failed, .. }: Delivery<'_>,
    take: &mut Take<'_>,
) -> anyhow::Result<AnswerStats> {
    let mut take = |(first, BatchResult { mut record, distances, .. }): (usize, BatchResult)| {
        if own_first {
            record.neighbors.put_own_first(&record.query_rows);
        }
        let batch = AnswerBatch::of_run(&record, 0..record.neighbors.queries(), first);
        take(batch.with_distances(distances.as_deref()))
    };
    if !behind || batches.ranges().nth(1).is_none() {
        return search_each(engines, (batches, plan), since, &|| true, &mut take);
    }
    let first_error = OnceLock::new();
    let answered = thread::scope(|scope| {
        // Without a buffer, at most one batch waits while another is taken.
        let (sender, receiver) = crossbeam_channel::bounded(0);
        let first_error = &first_error;
        let taking = move || receiver.iter().try_for_each(take).map_err(|why| first_error.set(why));
        // A separate pool: in a shared one, writing tasks would delay the search for the next batch.
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(rayon::current_num_threads().div_ceil(THREADS_PER_WRITER));
        let thread = thread::Builder::new().name("warpscope-answers".to_owned());
        let spawned = (pool.build().context("cannot spawn threads")).and_then(|pool| {
            let taking = move || pool.install(taking);
            thread.spawn_scoped(scope, taking).map_err(|why| anyhow!("cannot spawn a thread: {why}"))
        });
        let go_on = || first_error.get().is_none();
        let mut send = |batch| sender.send(batch).map_err(|_| RunError::Cancelled.into());
        spawned
            .and_then(|_| search_each(engines, (batches, plan), since, &go_on, &mut send))
            .map_err(|why| {
                if first_error.get().is_none() {
                    failed(&why);
                }
                first_error.set(why)
            })
            .ok()
    });
    match first_error.into_inner() {
        Some(why) => Err(why),
        None => answered.context("the search did not finish"),
    }
}

/// Searches batch by batch while `go_on` is true. Passes each to `take` with the number of its first query.
fn search_each(
    engines: &mut EnginePool,
    (batches, plan): (&QueryBatches, &Plan),
    since: Instant,
    go_on: &dyn Fn() -> bool,
    take: &mut dyn FnMut((usize, BatchResult)) -> anyhow::Result<()>,
) -> anyhow::Result<AnswerStats> {
    let mut seconds = since.elapsed().as_secs_f64();
    let (began, mut answered): (_, Option<AnswerStats>) = (Instant::now(), None);
    let (mut next, mut is_long) = (0, false);
    while let Some(range) = batches.batch_from(next, is_long) {
        next = range.end;
        let (start, first) = (Instant::now(), range.start);
        let mut batch = {
            // The bar disappears before its batch is printed.
            let bar = Bar::since(began);
            let mut stage = bar.stage();
            let mut stage = |label: &str, share| stage(label, share) && go_on();
            engines.answer_batch(batches, range, Some(plan), &mut stage)?
        };
        seconds += start.elapsed().as_secs_f64();
        if first == 0 {
            note_fallback(&batch.record);
        }
        // Later batches reuse the index of the first.
        let last = AnswerStats::new(&batch.record, batch.distances_on.take(), seconds);
        // The first batch prepares the points in any case.
        is_long = answered.is_some() && !batch.record.resident;
        take((first, batch))?;
        answered = Some(match answered {
            Some(before) => AnswerStats {
                index: before.index || last.index,
                distances_on: joined(before.distances_on, last.distances_on),
                ..last
            },
            None => last,
        });
    }
    // A problem has at least one query.
    answered.context("there are no queries")
}

/// The nearest, or all within a radius, over tiles of points.
fn in_tiles(
    engines: &mut EnginePool,
    (job, tiled): (&Job, &TiledSearch),
    since: Instant,
    Delivery { at_once, own_first, .. }: Delivery<'_>,
    take: &mut Take<'_>,
) -> anyhow::Result<AnswerStats> {
    let TiledAnswer { engine, device, index, fallback: why, stats } = if let Some(radius) = tiled.radius {
        tiled.for_each_within(radius, (at_once, own_first), &mut Bar::new("").stage(), take)?
    } else {
        // Measures the engines first, if the job is long enough.
        engines.plan_answer(job.loaded(), &mut Bar::new("").stage())?;
        tiled.for_each(engines, own_first, &mut Bar::new("").stage(), take)?
    };
    if let Some(why) = why {
        output::note(&fallback(&why, engine.split(", ").next().unwrap_or_default()));
    }
    let distances_on = tiled.is_refined().then(|| "CPU".to_owned());
    let seconds = since.elapsed().as_secs_f64();
    Ok(AnswerStats {
        points: job.cloud.len() as u64,
        engine,
        device: device.unwrap_or_default(),
        distances_on,
        index,
        tiles: Some(stats),
        ranks: None,
        seconds,
    })
}

/// The names of earlier batches or other processes, and the last one if it is new.
fn joined(before: Option<String>, last: Option<String>) -> Option<String> {
    match (before, last) {
        (Some(before), Some(last)) if !before.split(" and ").any(|known| known == last) => {
            Some(format!("{before} and {last}"))
        }
        (before, last) => before.or(last),
    }
}

/// Plans a job, and notes its predicted time if that is long.
///
/// # Errors
/// [`RunError::Cancelled`](crate::run::RunError::Cancelled).
pub fn plan(engines: &mut EnginePool, job: &Job) -> anyhow::Result<Plan> {
    let plan = engines.plan_answer(job.loaded(), &mut Bar::new("").stage())?;
    if let Some(sentence) = plan.sentence().filter(|_| plan.total_ms().is_some_and(|ms| ms > WORTH_A_NOTE_MS))
    {
        output::note(&sentence);
    }
    Ok(plan)
}

/// A note if k exceeds the number of points.
pub fn empty_ranks(spec: &RunSpec, n: u64) -> Option<String> {
    // With `exclude_self`, the queries are rows of the cloud.
    let (found, points) = if spec.exclude_self { (n.saturating_sub(1), "other point") } else { (n, "point") };
    let k = text::thousands(spec.k as u64);
    let points = text::count(found, points, &format!("{points}s"));
    (spec.k as u64 > found)
        .then(|| format!("k = {k} exceeds the {points}: ranks from {} on are empty", text::thousands(found)))
}

/// Prints why the preferred engine was not used, briefly, and the note of the engine that was.
pub fn note_fallback(record: &RunRecord) {
    if let Some(why) = &record.fallback {
        output::note(&fallback(why, record.engine.as_str()));
    }
    if let Some(note) = &record.note {
        output::note(note);
    }
}

/// Shortens the reason; `warpscope devices` says what to install.
fn fallback(why: &str, engine: &str) -> String {
    match why.split_once(CANNOT_RUN) {
        Some((_, missing)) => {
            let missing = missing.split(['(', ';']).next().unwrap_or(missing).trim_end();
            format!("{missing}; using {engine} instead (see `warpscope devices`)")
        }
        None => format!("{why}; using {engine} instead"),
    }
}

/// Text of [`EngineError::Unavailable`](crate::knn::EngineError::Unavailable) after the engine's name.
const CANNOT_RUN: &str = " engine cannot run here: ";

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::knn::{EngineError, EngineId};
    use crate::run::testing::{Script, engines, spec, squares};
    use crate::run::{BatchAnswers, QuerySpec};

    /// Answers ten queries in batches of three. Returns the batches for which `takes` succeeded, and the name
    /// of the engine or the error.
    fn deliver(
        behind: bool,
        script: &Script,
        takes: impl Fn(usize) -> anyhow::Result<()> + Sync,
    ) -> (Vec<(usize, Vec<u32>)>, String) {
        let mut engines = engines({
            let script = script.clone();
            move |_| Ok(script.clone())
        });
        let engine = EngineChoice::named(EngineId::new("lockstep"));
        let spec = RunSpec { queries: QuerySpec::Count(10), k: 2, engine, ..spec() };
        let cloud = squares(50);
        let loaded = LoadedSpec::new(&spec, &cloud, None);
        let plan = engines.plan_answer(loaded, &mut |_, _| true).unwrap();
        let batches = QueryBatches::new(&engines, loaded, Arithmetic::F32).unwrap().with_limit(3);
        let (mut taken, failures) = (Vec::new(), AtomicUsize::new(0));
        let failed = |_: &anyhow::Error| _ = failures.fetch_add(1, Relaxed);
        let delivery = Delivery { at_once: false, own_first: true, behind, failed: &failed };
        let ended = nearest(&mut engines, (&batches, &plan), Instant::now(), delivery, &mut |batch| {
            takes(batch.first)?;
            let BatchAnswers::Nearest { rows, .. } = batch.found else { anyhow::bail!("another goal") };
            taken.push((batch.first, rows.to_vec()));
            Ok(())
        });
        let ended = ended.map_or_else(|why| why.to_string(), |stats| stats.engine);
        assert_eq!(failures.load(Relaxed), usize::from(behind && ended.contains("memory access")));
        (taken, ended)
    }

    #[test]
    fn the_next_batch_is_searched_while_one_is_taken() {
        let in_turn = deliver(false, &Script::default(), |_| Ok(()));
        assert_eq!(in_turn.0.iter().map(|(first, _)| *first).collect::<Vec<_>>(), [0, 3, 6, 9]);
        assert_eq!(in_turn.1, "lockstep");
        let script = Script::default();
        let behind = deliver(true, &script, |first| {
            let (began, searched) = (Instant::now(), || *script.loads.lock().unwrap());
            // The last batch is the fourth.
            while searched() < (first / 3 + 2).min(4) && began.elapsed().as_secs() < 60 {
                thread::yield_now();
            }
            // At most one batch waits, while another is searched.
            let ahead = searched() - first / 3;
            anyhow::ensure!((1..=2).contains(&ahead) && (ahead == 2 || first == 9), "{ahead} from {first}");
            Ok(())
        });
        assert_eq!(behind, in_turn);
    }

    #[test]
    fn the_first_error_ends_search_and_delivery() {
        for behind in [false, true] {
            for fails in [0, 3, 6, 9] {
                let (taken, why) = deliver(behind, &Script::default(), |first| {
                    anyhow::ensure!(first < fails, "the disk is full");
                    Ok(())
                });
                assert_eq!((taken.len(), why.as_str()), (fails / 3, "the disk is full"), "behind: {behind}");
            }
            let script = Script::default();
            let (taken, why) = deliver(behind, &script, |_| {
                script.loses_device.store(true, std::sync::atomic::Ordering::Relaxed);
                Ok(())
            });
            // A batch may have been searched already.
            assert!((1..=2).contains(&taken.len()) && why.contains("an illegal memory access"), "{why}");
        }
    }

    #[test]
    fn fallback_reasons_are_brief() {
        let missing = "no driver was found (libcuda.so.1); a GPU needs driver R580".to_owned();
        let unavailable = EngineError::Unavailable { engine: EngineId::new("cuda"), why: missing };
        assert_eq!(
            fallback(&unavailable.to_string(), "kdtree"),
            "no driver was found; using kdtree instead (see `warpscope devices`)"
        );
        let memory = "too large: 9 MiB are needed (7 MiB are free)";
        assert_eq!(fallback(memory, "kdtree"), format!("{memory}; using kdtree instead"));
    }
}
