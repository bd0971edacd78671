//! Output before a search: passes and their expected time, the predictions of `--dry-run`, and the size of
//! the answers, which must fit.

use std::path::Path;

use super::output;
use crate::engines::registry;
use crate::export::{self, NeighborFormat, Size, text};
use crate::run::RunSpec;
use crate::run::planner::Plan;

/// Runs predicted to take longer, in milliseconds, are announced.
pub const LONG_MS: f64 = 2000.0;

/// A short run, as suggested: one warm-up, and enough repeats for a median.
const SHORT_RUN: [u32; 2] = [1, 3];

/// `21 passes (10 warm-ups, 10 timed, 1 counted), estimate: 40 s (kdtree), 5 min (lockstep); --warmup 1
/// --repeats 3 shortens it`, if the run is long. Engines without counters have no counted pass.
pub fn passes_of_run(spec: &RunSpec, plan: &Plan) -> Option<String> {
    let sentence = plan.sentence().filter(|_| plan.total_ms().is_some_and(|ms| ms > LONG_MS))?;
    let counts = plan.chosen.and_then(registry::find).is_some_and(|engine| engine.counts());
    let kinds = [
        (spec.warmup, if spec.warmup == 1 { "warm-up" } else { "warm-ups" }),
        (spec.repeats, "timed"),
        (u32::from(counts), "counted"),
        (u32::from(counts && spec.profile), "profiled"),
    ];
    let passes: u64 = kinds.iter().map(|(passes, _)| u64::from(*passes)).sum();
    let listed: Vec<String> = kinds
        .iter()
        .filter(|(passes, _)| *passes > 0)
        .map(|(passes, kind)| format!("{passes} {kind}"))
        .collect();
    let [warmup, repeats] = SHORT_RUN;
    let shorter = if spec.warmup > warmup || spec.repeats > repeats {
        format!("; shorten it with --warmup {warmup} --repeats {repeats}")
    } else {
        String::new()
    };
    Some(format!(
        "{} ({}), {sentence}{shorter}",
        crate::text::count(passes, "pass", "passes"),
        listed.join(", ")
    ))
}

/// The version of the layout of `--dry-run --json`.
const SCHEMA_VERSION: u32 = 1;

/// Prints the predictions as JSON or as a table, with a line that says what the total includes.
///
/// # Errors
/// No engine can answer; errors of printing.
pub fn forecast(plan: &Plan, total: &str, json: bool) -> anyhow::Result<()> {
    if json {
        output::print_json(&output::versioned(SCHEMA_VERSION, plan))?
    } else {
        output::print(&table(plan, total))?
    }
    anyhow::ensure!(plan.chosen.is_some(), "{}", plan.reason);
    Ok(())
}

fn table(plan: &Plan, total: &str) -> String {
    let time = |ms: Option<f64>| ms.map_or_else(String::new, text::time);
    let mut rows = vec![["engine", "setup", "search", "total", ""].map(str::to_owned).to_vec()];
    for engine in &plan.engines {
        // A forecast for other hardware says nothing about this machine.
        let here = engine.why_not.is_none();
        let forecast = engine.forecast.filter(|_| here);
        let setup = if engine.resident { Some(0.0) } else { forecast.map(|forecast| forecast.setup_ms) };
        let remark = match &engine.why_not {
            Some(why) => why.clone(),
            None if plan.chosen == Some(engine.engine) => format!("chosen: {}", plan.reason),
            None => String::new(),
        };
        rows.push(vec![
            engine.engine.to_string(),
            time(setup),
            time(forecast.map(|forecast| forecast.search_ms)),
            time(engine.total_ms.filter(|_| here)),
            remark,
        ]);
    }
    format!("{}\nTotal: {total}.\n", text::table(&rows, &[1, 2, 3]))
}

/// Answers of more bytes are announced.
const LARGE: u64 = 1 << 30;

/// Refuses neighbours of a cloud of n points that do not fit on the file's disk, and notes the size of large
/// files.
///
/// # Errors
/// As [`export::check_room`].
pub fn check_disk_space(path: &Path, size: Size, n: usize) -> anyhow::Result<()> {
    export::check_room(path, size)?;
    let format = NeighborFormat::from_path(path)?;
    let files: Vec<String> = format.files(path).iter().map(|file| file.display().to_string()).collect();
    note_size(size, format, n, |expected| format!("{expected} to {}", files.join(" and ")));
    Ok(())
}

/// Notes the size of large printed answers. They are printed as they are found, so they need not fit in
/// memory.
pub fn note_stdout_size(format: NeighborFormat, size: Size, n: usize) {
    note_size(size, format, n, |expected| format!("{expected} to standard output"));
}

/// Notes the size of large answers that are not written.
pub fn note_unsaved_size(size: Size, n: usize) {
    note_size(size, NeighborFormat::Bin, n, |expected| {
        format!("counted but not saved; save them with --out FILE.ibin ({expected})")
    });
}

fn note_size(size: Size, format: NeighborFormat, n: usize, how: impl FnOnce(&str) -> String) {
    let expected = size.expected(format, n);
    if expected.bytes > LARGE {
        let count = (size.q as u64).saturating_mul(size.k as u64);
        output::note(&format!(
            "answers {} neighbours, {}",
            text::thousands(count),
            how(&expected.to_string())
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::Source;
    use crate::knn::{DeviceInfo, EngineId};
    use crate::run::planner::{Candidate, Job, Planner, Purpose};
    use crate::run::{EngineChoice, QuerySpec};

    fn announcement(spec: &RunSpec, n: usize) -> Option<String> {
        let job = Job::new(spec, Purpose::Measure, n, 2, None);
        let engines = spec
            .engine
            .engines()
            .map(|engine| Candidate::new(&Planner::default(), engine, &job, Ok(None::<&DeviceInfo>), false))
            .collect();
        passes_of_run(spec, &Plan::new(&spec.engine, &job, engines))
    }

    #[test]
    fn long_runs_announce_passes_and_suggest_shorter_settings() {
        let source = Source::Generate { spec: "uniform".to_owned(), seed: 0 };
        let engine = |name: &'static str| EngineChoice::named(EngineId::new(name));
        let spec = RunSpec {
            engine: engine("lockstep"),
            warmup: 10,
            repeats: 10,
            ..RunSpec::new(source, QuerySpec::Count(10_000), 32)
        };
        let long = announcement(&spec, 10_000_000).expect("it is long");
        assert!(
            long.starts_with("21 passes (10 warm-ups, 10 timed, 1 counted), estimate: ")
                && long.ends_with("; shorten it with --warmup 1 --repeats 3"),
            "{long}"
        );
        assert_eq!(announcement(&spec, 100), None, "too short to announce");
        let uncounted = announcement(
            &RunSpec { engine: engine("kdtree"), warmup: 1, repeats: 3, ..spec.clone() },
            100_000_000,
        )
        .expect("it is long");
        assert!(
            uncounted.starts_with("4 passes (1 warm-up, 3 timed), estimate: ")
                && !uncounted.contains("shorten"),
            "{uncounted}"
        );
        let profiled = announcement(&RunSpec { profile: true, ..spec }, 10_000_000).expect("it is long");
        assert!(
            profiled.starts_with("22 passes (10 warm-ups, 10 timed, 1 counted, 1 profiled), "),
            "{profiled}"
        );
    }
}
