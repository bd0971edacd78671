//! A search for its neighbours alone: all of them, as `analyse` and `recall` need it, or batch by batch, as
//! `knn` writes them.

use std::time::Instant;

use anyhow::Context;

use super::bar::Bar;
use super::job::Job;
use super::output;
use crate::export::text;
use crate::knn::{Descriptor, DeviceId};
use crate::run::planner::{Plan, Purpose};
use crate::run::{Batch, Batches, EngineChoice, Engines, Phase, QueryBatches, RunRecord, RunSpec};

/// An answer predicted to take longer is announced before it begins.
const WORTH_A_NOTE_MS: f64 = 1000.0;

/// Answers a job once, and says beforehand about how long that takes where it is long.
///
/// # Errors
/// Those of the search.
pub fn answer(engines: &mut Engines, job: &Job) -> anyhow::Result<RunRecord> {
    let job = placed(engines, job);
    let plan = plan(engines, &job)?;
    let record = engines.answer_planned(
        &job.spec,
        Some(&plan),
        &job.cloud,
        job.query_cloud.as_ref(),
        &mut Bar::new("").stage(),
    )?;
    note_fallback(&record);
    Ok(record)
}

/// How long a GPU driver takes to start, in milliseconds (bench/README.md, "One answer from a shell").
const GPU_START_MS: f64 = 400.0;

/// The job as it is answered once. `auto` stays on the processor where that is predicted to finish before a
/// GPU driver has started; the driver is then not loaded.
pub fn placed(engines: &mut Engines, job: &Job) -> Job {
    let mut job = job.clone();
    if job.spec.engine == EngineChoice::Auto && job.spec.device.is_none() {
        let on_cpu = RunSpec { device: Some(DeviceId::Cpu), warmup: 0, repeats: 1, ..job.spec.clone() };
        // Measuring the engines first would cost more than it saves.
        let plan = engines.plan(&on_cpu, Purpose::Ask, &job.cloud, job.query_cloud.as_ref());
        if plan.total_ms().is_some_and(|ms| ms < GPU_START_MS) {
            job.spec.device = Some(DeviceId::Cpu);
        }
    }
    job
}

/// How a job was answered.
pub struct Answered {
    pub engine: String,
    pub device: String,
    /// Whether an index was built.
    pub index: bool,
    /// From the loaded cloud to the last neighbour found, with the index where one is built.
    pub seconds: f64,
}

impl Answered {
    pub fn of(record: &RunRecord, seconds: f64) -> Self {
        let index = record.samples.iter().any(|sample| sample.phase == Phase::BuildIndex);
        Self { engine: record.engine.to_string(), device: record.device.name.clone(), index, seconds }
    }
}

/// Answers a job batch by batch. It began at `since`; `how` says whether all neighbours come at once, where
/// engines list all, and whether a query's own row is first among those that are as near.
///
/// # Errors
/// Those of the search, and of `take`.
pub fn in_batches(
    engines: &mut Engines,
    (job, batches): (&Job, &Batches),
    since: Instant,
    how @ (_, own_first): (bool, bool),
    take: &mut dyn FnMut(Batch<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Answered> {
    let on_cpu = |engine: &Descriptor, index, seconds| Answered {
        engine: engine.id.to_string(),
        device: "CPU".to_owned(),
        index,
        seconds,
    };
    match batches {
        Batches::Nearest(parts) => nearest(engines, (job, parts), since, own_first, take),
        Batches::Within(all) => {
            all.each(how, &Bar::new("searching"), take)?;
            // No other engines list what is within a radius.
            Ok(on_cpu(all.engine, true, since.elapsed().as_secs_f64()))
        }
        Batches::LargestProduct(largest) => {
            let mut seconds = 0.0;
            largest.each(&Bar::new("searching"), |batch| {
                seconds = since.elapsed().as_secs_f64();
                take(batch)
            })?;
            Ok(on_cpu(largest.engine, false, seconds))
        }
    }
}

/// The nearest, batch by batch.
fn nearest(
    engines: &mut Engines,
    (job, parts): (&Job, &QueryBatches),
    since: Instant,
    own_first: bool,
    take: &mut dyn FnMut(Batch<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Answered> {
    let plan = plan(engines, job)?;
    let mut seconds = since.elapsed().as_secs_f64();
    let (began, mut answered): (_, Option<Answered>) = (Instant::now(), None);
    for range in parts.ranges() {
        let start = Instant::now();
        // The bar is gone when its batch is printed.
        let mut record =
            engines.answer_part(parts, range.clone(), Some(&plan), &mut Bar::since(began).stage())?;
        seconds += start.elapsed().as_secs_f64();
        if range.start == 0 {
            note_fallback(&record);
        }
        if own_first {
            record.neighbors.put_own_first(&record.query_rows);
        }
        take(Batch::of_run(&record, 0..range.len(), range.start))?;
        // Later batches find the index of the first.
        let index = answered.is_some_and(|before| before.index);
        let last = Answered::of(&record, seconds);
        answered = Some(Answered { index: index || last.index, ..last });
    }
    // A problem has a query or more.
    answered.context("there was nothing to answer")
}

/// What takes a job, said where that is long.
///
/// # Errors
/// [`RunError::Cancelled`](crate::run::RunError::Cancelled).
pub fn plan(engines: &mut Engines, job: &Job) -> anyhow::Result<Plan> {
    let plan =
        engines.plan_answer(&job.spec, &job.cloud, job.query_cloud.as_ref(), &mut Bar::new("").stage())?;
    if let Some(sentence) = plan.sentence().filter(|_| plan.total_ms().is_some_and(|ms| ms > WORTH_A_NOTE_MS))
    {
        output::note(&sentence);
    }
    Ok(plan)
}

/// What it means that more neighbours were asked for than there are points.
pub fn empty_ranks(spec: &RunSpec, n: u64) -> Option<String> {
    // The queries are rows of the cloud then.
    let (found, points) = if spec.exclude_self { (n.saturating_sub(1), "other point") } else { (n, "point") };
    let k = text::thousands(spec.k as u64);
    let points = text::count(found, points, &format!("{points}s"));
    (spec.k as u64 > found).then(|| {
        format!("k = {k} is more than the {points}: ranks from {} on are empty", text::thousands(found))
    })
}

/// Says in a few words why another engine runs than the rule prefers.
pub fn note_fallback(record: &RunRecord) {
    if let Some(why) = &record.fallback {
        output::note(&fallback(why, record.engine.as_str()));
    }
}

/// What is missing on a machine without a GPU is the same each time: what to install `devices` says.
fn fallback(why: &str, engine: &str) -> String {
    match why.split_once(CANNOT_RUN) {
        Some((_, missing)) => {
            let missing = missing.split(['(', ';']).next().unwrap_or(missing).trim_end();
            format!("{missing}: {engine} runs instead (see `warpscope devices`)")
        }
        None => format!("{why}; {engine} runs instead"),
    }
}

/// How [`EngineError::Unavailable`](crate::knn::EngineError::Unavailable) begins, behind the engine.
const CANNOT_RUN: &str = " engine cannot run here: ";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::{EngineError, EngineId};

    #[test]
    fn what_a_machine_lacks_is_told_in_a_few_words() {
        let missing = "no driver was found (libcuda.so.1); a GPU needs driver R580".to_owned();
        let unavailable = EngineError::Unavailable { engine: EngineId::new("cuda"), why: missing };
        assert_eq!(
            fallback(&unavailable.to_string(), "kdtree"),
            "no driver was found: kdtree runs instead (see `warpscope devices`)"
        );
        let memory = "too large: 9 MiB are needed (7 MiB are free)";
        assert_eq!(fallback(memory, "kdtree"), format!("{memory}; kdtree runs instead"));
    }
}
