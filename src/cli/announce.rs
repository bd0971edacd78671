//! What is said of a measured run before it begins.

use crate::engines::registry;
use crate::run::RunSpec;
use crate::run::planner::Plan;

/// A run that is predicted to take longer, in milliseconds, is announced.
pub const LONG_MS: f64 = 2000.0;

/// Passes that a run is shortened to: a warm-up and what has a median.
const SHORT: [u32; 2] = [1, 3];

/// `21 passes (10 warm-ups, 10 timed, 1 counted), about 40 s on kdtree; 5 min on lockstep; --warmup 1 --repeats 3 shortens it`, where that is
/// long. Of an engine that counts nothing, no pass is counted.
pub fn of_run(spec: &RunSpec, plan: &Plan) -> Option<String> {
    let sentence = plan.sentence().filter(|_| plan.total_ms().is_some_and(|ms| ms > LONG_MS))?;
    let counts = plan.chosen.and_then(registry::find).is_some_and(|engine| engine.counts());
    let kinds = [
        (spec.warmup, if spec.warmup == 1 { "warm-up" } else { "warm-ups" }),
        (spec.repeats, "timed"),
        (u32::from(counts), "counted"),
        (u32::from(counts && spec.profile), "profiled"),
    ];
    let passes: u64 = kinds.iter().map(|(passes, _)| u64::from(*passes)).sum();
    let listed: Vec<String> = kinds.iter().filter(|(passes, _)| *passes > 0).map(|(passes, kind)| format!("{passes} {kind}")).collect();
    let [warmup, repeats] = SHORT;
    let shorter =
        if spec.warmup > warmup || spec.repeats > repeats { format!("; --warmup {warmup} --repeats {repeats} shortens it") } else { String::new() };
    Some(format!("{} ({}), {sentence}{shorter}", crate::text::count(passes, "pass", "passes"), listed.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::Source;
    use crate::knn::{DeviceInfo, EngineId};
    use crate::run::planner::{Candidate, Job, Planner, Purpose};
    use crate::run::{EngineChoice, QuerySpec};

    fn said(spec: &RunSpec, n: usize) -> Option<String> {
        let job = Job::of(spec, Purpose::Measure, n, 2, None);
        let engines = spec.engine.engines().map(|engine| Candidate::new(&Planner::default(), engine, &job, Ok(None::<&DeviceInfo>), false)).collect();
        of_run(spec, &Plan::new(&spec.engine, &job, engines))
    }

    #[test]
    fn a_long_run_says_its_passes_and_how_to_shorten_it() {
        let source = Source::Generate { spec: "uniform".to_owned(), seed: 0 };
        let engine = |name: &'static str| EngineChoice::named(EngineId::new(name));
        let spec = RunSpec { engine: engine("lockstep"), warmup: 10, repeats: 10, ..RunSpec::new(source, QuerySpec::Count(10_000), 32) };
        let long = said(&spec, 10_000_000).expect("it is long");
        assert!(
            long.starts_with("21 passes (10 warm-ups, 10 timed, 1 counted), about ") && long.ends_with("; --warmup 1 --repeats 3 shortens it"),
            "{long}"
        );
        assert_eq!(said(&spec, 100), None, "it is over before it is read");
        let uncounted = said(&RunSpec { engine: engine("kdtree"), warmup: 1, repeats: 3, ..spec.clone() }, 100_000_000).expect("it is long");
        assert!(uncounted.starts_with("4 passes (1 warm-up, 3 timed), about ") && !uncounted.contains("shortens"), "{uncounted}");
        let profiled = said(&RunSpec { profile: true, ..spec }, 10_000_000).expect("it is long");
        assert!(profiled.starts_with("22 passes (10 warm-ups, 10 timed, 1 counted, 1 profiled), "), "{profiled}");
    }
}
