//! Searches that only need neighbours: all at once for `analyse` and `recall`, or batch by batch for `knn`.

use std::time::Instant;

use anyhow::Context;

use super::bar::Bar;
use super::job::Job;
use super::output;
use crate::export::text;
use crate::knn::{Descriptor, DeviceId};
use crate::run::planner::{Plan, Purpose};
use crate::run::{
    AnswerBatch, Arithmetic, BatchResult, BatchSearch, EngineChoice, EnginePool, LoadedSpec, Phase,
    QueryBatches, RunRecord, RunSpec, TileStats, TiledAnswer, TiledSearch,
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
pub struct AnswerStats {
    pub engine: String,
    pub device: String,
    /// The devices that computed the f64 distances, joined by `and`; `None` if distances are not refined.
    pub distances_on: Option<String>,
    /// Whether an index was built.
    pub index: bool,
    /// The tiles, if the points were searched in some.
    pub tiles: Option<TileStats>,
    /// From the loaded cloud to the last neighbour, including building an index.
    pub seconds: f64,
}

impl AnswerStats {
    pub fn new(record: &RunRecord, distances_on: Option<String>, seconds: f64) -> Self {
        let index = record.samples.iter().any(|sample| sample.phase == Phase::BuildIndex);
        let (engine, device) = (record.engine.to_string(), record.device.name.clone());
        Self { engine, device, distances_on, index, tiles: None, seconds }
    }
}

/// Answers a job batch by batch; `since` is when it began. The flags in `how` select a single batch for
/// radius searches, and put a query's own row first among equals.
///
/// # Errors
/// Errors of the search and of `take`.
pub fn in_batches(
    engines: &mut EnginePool,
    (job, batches): (&Job, &BatchSearch),
    since: Instant,
    how @ (_, own_first): (bool, bool),
    take: &mut dyn FnMut(AnswerBatch<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<AnswerStats> {
    let on_cpu = |engine: &Descriptor, index, seconds| AnswerStats {
        engine: engine.id.to_string(),
        device: "CPU".to_owned(),
        distances_on: None,
        index,
        tiles: None,
        seconds,
    };
    match batches {
        BatchSearch::Nearest(batches) => nearest(engines, (job, batches), since, own_first, take),
        BatchSearch::Tiled(tiled) => in_tiles(engines, (job, tiled), since, own_first, take),
        BatchSearch::Within(all) => {
            all.for_each(how, &Bar::new("searching"), take)?;
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
    (job, batches): (&Job, &QueryBatches),
    since: Instant,
    own_first: bool,
    take: &mut dyn FnMut(AnswerBatch<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<AnswerStats> {
    let plan = plan(engines, job)?;
    let mut seconds = since.elapsed().as_secs_f64();
    let (began, mut answered): (_, Option<AnswerStats>) = (Instant::now(), None);
    for range in batches.ranges() {
        let start = Instant::now();
        // The bar disappears before its batch is printed.
        let BatchResult { mut record, distances, distances_on } =
            engines.answer_batch(batches, range.clone(), Some(&plan), &mut Bar::since(began).stage())?;
        seconds += start.elapsed().as_secs_f64();
        if range.start == 0 {
            note_fallback(&record);
        }
        if own_first {
            record.neighbors.put_own_first(&record.query_rows);
        }
        let batch = AnswerBatch::of_run(&record, 0..range.len(), range.start);
        take(batch.with_distances(distances.as_deref()))?;
        // Later batches reuse the index of the first.
        let last = AnswerStats::new(&record, distances_on, seconds);
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

/// The nearest, over tiles of points.
fn in_tiles(
    engines: &mut EnginePool,
    (job, tiled): (&Job, &TiledSearch),
    since: Instant,
    own_first: bool,
    take: &mut dyn FnMut(AnswerBatch<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<AnswerStats> {
    // Measures the engines first, if the job is long enough.
    engines.plan_answer(job.loaded(), &mut Bar::new("").stage())?;
    let bar = Bar::new("");
    let TiledAnswer { engine, device, index, fallback: why, stats } =
        tiled.for_each(engines, own_first, &mut bar.stage(), take)?;
    drop(bar);
    if let Some(why) = why {
        output::note(&fallback(&why, engine.split(", ").next().unwrap_or_default()));
    }
    let distances_on = tiled.is_refined().then(|| "CPU".to_owned());
    let seconds = since.elapsed().as_secs_f64();
    Ok(AnswerStats {
        engine,
        device: device.unwrap_or_default(),
        distances_on,
        index,
        tiles: Some(stats),
        seconds,
    })
}

/// The devices of earlier batches and of the last one.
fn joined(before: Option<String>, last: Option<String>) -> Option<String> {
    match (before, last) {
        (Some(before), Some(last)) if !before.contains(&last) => Some(format!("{before} and {last}")),
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

/// Notes briefly why another engine runs than the preferred one.
pub fn note_fallback(record: &RunRecord) {
    if let Some(why) = &record.fallback {
        output::note(&fallback(why, record.engine.as_str()));
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
    use super::*;
    use crate::knn::{EngineError, EngineId};

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
