use proptest::prelude::*;

use super::plan::{EngineEstimate, Leeway, best_offer};
use super::rates::{Rates, StageTimes, Trial};
use super::*;
use crate::engines::registry;
use crate::knn::{Cost, EngineId, Metric, Stage};
use crate::run::{EngineChoice, RunSpec};

const CUDA: EngineId = EngineId::new("cuda");
const SPLIT: EngineId = EngineId::new("cuda-split");
const LOCKSTEP: EngineId = EngineId::new("lockstep");
const KDTREE: EngineId = EngineId::new("kdtree");

fn shape(q: usize, n: usize, d: usize, k: usize) -> Shape {
    Shape { n, q, d, k }
}

fn job(shape: Shape, purpose: Purpose) -> Job {
    Job { shape, metric: Metric::L2, purpose, timed: 6, profile: false }
}

/// A plan at the built-in rates. `there` are the engines that can run; those in `resident` have already
/// loaded the points.
fn plan(job: &Job, there: &[EngineId], resident: &[EngineId], choice: &EngineChoice) -> Plan {
    let candidates = registry::ENGINES.iter().map(|engine| {
        let device = if there.contains(&engine.id) {
            Ok(None)
        } else {
            Err(format!("the {} engine cannot run here: a test", engine.id))
        };
        Candidate::new(&Planner::default(), engine, job, device, resident.contains(&engine.id))
    });
    Plan::new(choice, job, candidates.collect())
}

fn auto(shape: Shape, purpose: Purpose, there: &[EngineId]) -> EngineId {
    plan(&job(shape, purpose), there, &[], &EngineChoice::Auto).chosen.expect("one can")
}

const ALL: [EngineId; 4] = [CUDA, SPLIT, LOCKSTEP, KDTREE];
const ON_CPU: [EngineId; 2] = [LOCKSTEP, KDTREE];

#[test]
fn one_query_over_many_points_uses_the_split_engine() {
    let one = shape(1, 16_800_000, 2, 32);
    assert_eq!(auto(one, Purpose::Measure, &ALL), SPLIT);
    assert_eq!(auto(one, Purpose::Answer, &ALL), SPLIT, "the points being uploaded first");
    assert_eq!(
        plan(&job(one, Purpose::Answer), &ALL, &ALL[..2], &EngineChoice::Auto).chosen,
        Some(SPLIT),
        "and being there"
    );
    assert_eq!(auto(shape(1, 100_000, 2, 32), Purpose::Measure, &ALL), CUDA, "at once, and it counts");
    let (small, large) =
        (job(shape(1, 100_000, 2, 32), Purpose::Answer), job(shape(1, 4_000_000, 2, 32), Purpose::Answer));
    let resident = |job| plan(job, &ALL, &ALL[..2], &EngineChoice::Auto).chosen;
    assert_eq!(
        (resident(&small), resident(&large)),
        (Some(CUDA), Some(SPLIT)),
        "who waits for less than a millisecond loses nothing"
    );
}

#[test]
fn many_queries_over_many_points_use_the_tree() {
    assert_eq!(auto(shape(1_000_000, 1_000_000, 3, 32), Purpose::Measure, &ON_CPU), KDTREE);
    assert_eq!(auto(shape(1_000, 5_000, 2, 32), Purpose::Answer, &[LOCKSTEP]), LOCKSTEP);
    assert_eq!(
        auto(shape(500, 20_000, 96, 32), Purpose::Measure, &ON_CPU),
        LOCKSTEP,
        "a tree of so many dimensions looks at all points"
    );
    assert_eq!(
        auto(shape(500, 20_000, 960, 32), Purpose::Measure, &ON_CPU),
        LOCKSTEP,
        "the tree takes 128 dimensions"
    );
}

#[test]
fn engines_without_resident_points_are_avoided_for_live_queries() {
    let one = job(shape(1, 10_000_000, 2, 32), Purpose::Answer);
    assert_eq!(
        plan(&one, &ON_CPU, &[LOCKSTEP], &EngineChoice::Auto).chosen,
        Some(LOCKSTEP),
        "a tree takes seconds to build"
    );
}

#[test]
fn profiled_runs_use_engines_that_support_profiling() {
    let job = Job { profile: true, ..job(shape(100, 1_000, 2, 32), Purpose::Measure) };
    assert_eq!(plan(&job, &ALL, &[], &EngineChoice::Auto).chosen, Some(CUDA));
    assert_eq!(plan(&job, &ON_CPU, &[], &EngineChoice::Auto).chosen, Some(LOCKSTEP));
}

#[test]
fn a_named_engine_is_never_replaced() {
    for engine in ALL {
        let plan = plan(
            &job(shape(100_000, 100_000, 3, 32), Purpose::Measure),
            &ON_CPU,
            &[],
            &EngineChoice::named(engine),
        );
        assert_eq!((plan.chosen, plan.fallback), (Some(engine), None));
    }
}

#[test]
fn an_unavailable_first_choice_is_reported_as_fallback() {
    let plan_on_cpu = |shape| plan(&job(shape, Purpose::Measure), &ON_CPU, &[], &EngineChoice::Auto);
    let large = plan_on_cpu(shape(1_000_000, 1_000_000, 3, 32));
    assert_eq!(large.fallback.as_deref(), Some("the cuda engine cannot run here: a test"));
    assert_eq!(large.next_best(&[KDTREE]), Some(LOCKSTEP));
    assert_eq!(large.next_best(&ON_CPU), None);
    let sentence = large.sentence().unwrap();
    assert!(
        sentence.starts_with("estimate: ")
            && sentence.contains(" (kdtree), ")
            && sentence.ends_with(" (lockstep)"),
        "{sentence}"
    );
    let unavailable = plan(&job(shape(1, 10, 2, 1), Purpose::Answer), &[], &[], &EngineChoice::Auto);
    assert_eq!((unavailable.chosen, unavailable.sentence()), (None, None));
}

#[test]
fn built_in_rates_are_within_a_factor_of_two_on_an_h200() {
    let measured: [(EngineId, Shape, f64); 26] = [
        (CUDA, shape(65_536, 1 << 20, 2, 32), 16.6),
        (CUDA, shape(65_536, 1 << 20, 2, 128), 22.5),
        (CUDA, shape(65_536, 1 << 20, 2, 1024), 55.0),
        (CUDA, shape(4_096, 1 << 22, 2, 32), 4.15),
        (CUDA, shape(4_096, 1 << 22, 2, 128), 5.5),
        (CUDA, shape(4_096, 1 << 22, 2, 1024), 10.1),
        (CUDA, shape(65_536, 65_536, 2, 128), 3.55),
        (CUDA, shape(1, 16_777_216, 2, 32), 10.2),
        (CUDA, shape(1_000, 518_862, 3, 32), 0.66),
        (CUDA, shape(10_000, 1_000_000, 16, 32), 4.87),
        (CUDA, shape(10_000, 1_000_000, 128, 32), 9.99),
        (CUDA, shape(1_000, 1_000_000, 960, 128), 8.76),
        (SPLIT, shape(65_536, 1 << 20, 2, 32), 21.4),
        (SPLIT, shape(65_536, 1 << 20, 2, 1024), 48.8),
        (SPLIT, shape(4_096, 1 << 22, 2, 32), 4.38),
        (SPLIT, shape(4_096, 1 << 22, 2, 128), 4.97),
        (SPLIT, shape(4_096, 1 << 22, 2, 1024), 7.08),
        (SPLIT, shape(65_536, 65_536, 2, 128), 6.44),
        (SPLIT, shape(1, 16_777_216, 2, 32), 0.0446),
        (SPLIT, shape(1, 100_000, 2, 32), 0.0185),
        (SPLIT, shape(13_872, 57_356, 300, 5), 37.9),
        (SPLIT, shape(132_328, 1_111_896, 10, 32), 464.0),
        (SPLIT, shape(5_000, 5_000, 960, 100), 3.83),
        (CUDA, shape(252_448, 600_483, 7, 1_000), 643.0),
        (CUDA, shape(22_232, 59_166, 300, 1_000), 173.0),
        (CUDA, shape(408_184, 490_804, 20, 5), 108.0),
    ];
    for (engine, shape, ms) in measured {
        let predicted = Planner::default().forecast(registry::find(engine).unwrap(), None, &shape).search_ms;
        assert!((0.5..2.0).contains(&(predicted / ms)), "{engine} {shape:?}: {predicted} for {ms}");
    }
}

/// A cost model with two kinds of work.
fn cost(shape: &Shape) -> Cost {
    Cost::default().search("pairs", (shape.n * shape.q) as f64, 1e-6).search("queries", shape.q as f64, 1e-3)
}

#[test]
fn calibration_fits_a_rate_per_cost_term() {
    let truth = |shape: &Shape| cost(shape).ms(Stage::Search, |term| if term == "pairs" { 3.0 } else { 0.2 });
    let shapes = [
        shape(1_000, 10, 2, 1),
        shape(100, 100_000, 2, 1),
        shape(10_000, 1_000, 2, 1),
        shape(50, 3_000, 2, 1),
    ];
    let trials: Vec<Trial> = shapes
        .iter()
        .map(|shape| Trial { cost: cost(shape), took: StageTimes { setup_ms: 0.0, search_ms: truth(shape) } })
        .collect();
    let mut rates = Rates::default();
    rates.fit(&trials);
    for shape in shapes {
        let ratio = rates.forecast(&cost(&shape), &shape).search_ms / truth(&shape);
        // The prior pulls both terms slightly towards their common scale.
        assert!((0.7..1.4).contains(&ratio), "{shape:?}: {ratio}");
    }
    let before = rates.clone();
    rates.fit(&[]);
    assert_eq!(rates, before);
    rates.fit(&[Trial { cost: cost(&shapes[0]), took: StageTimes { setup_ms: 0.0, search_ms: f64::NAN } }]);
    assert_eq!(rates, before, "a failed clock changes nothing");
}

#[test]
fn corrections_affect_similar_sizes_most() {
    let (small, large) = (shape(100, 50_000, 2, 1), shape(100_000, 50_000, 2, 1));
    let mut rates = Rates::default();
    let first = rates.forecast(&cost(&small), &small).search_ms;
    for _ in 0..12 {
        rates.correct(&cost(&small), &small, StageTimes { setup_ms: 0.0, search_ms: 3.0 * first });
    }
    assert!((rates.forecast(&cost(&small), &small).search_ms / first - 3.0).abs() < 0.05, "it converges");
    let other = rates.forecast(&cost(&large), &large).search_ms / cost(&large).ms(Stage::Search, |_| 1.0);
    assert!((1.5..3.0).contains(&other), "{other}");
    for _ in 0..100 {
        rates.correct(&cost(&small), &small, StageTimes { setup_ms: 0.0, search_ms: 1e9 * first });
    }
    assert!(
        rates.forecast(&cost(&small), &small).search_ms <= 8.01 * first && rates.are_sensible(),
        "it is bounded"
    );
    let before = rates.clone();
    rates.correct(&cost(&small), &small, StageTimes { setup_ms: 0.0, search_ms: 0.5 });
    assert_eq!(rates, before, "what is over at once is mostly noise");
}

#[test]
fn learned_rates_are_saved_and_damaged_files_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sub/planner.json");
    let (engine, shape) = (registry::find(KDTREE).unwrap(), shape(1_000, 10_000, 2, 32));
    let device = DeviceInfo {
        id: None,
        name: "a test".to_owned(),
        details: vec![("threads".to_owned(), "2".to_owned())],
    };
    let first = Planner::at(file.clone());
    first.change(|learned| {
        let rates = learned.rates.entry(key(engine, &device)).or_default();
        rates.fit(&[Trial {
            cost: (engine.cost)(&shape, engine.runs_on[0]),
            took: StageTimes { setup_ms: 1.0, search_ms: 1e4 },
        }]);
        rates.calibrated = true;
    });
    let learned = first.forecast(engine, Some(&device), &shape);
    assert!(learned.search_ms > 1e3);
    let again = Planner::at(file.clone());
    assert_eq!(again.forecast(engine, Some(&device), &shape), learned);
    assert!(again.is_calibrated(engine, &device));
    let default = Planner::default().forecast(engine, None, &shape);
    let whole = std::fs::read_to_string(&file).unwrap();
    let insane = whole.replacen("1000.0", "-1e300", 1);
    for broken in [
        "",
        "{",
        "[1, 2]",
        &whole[..whole.len() / 2],
        &whole.replace(env!("CARGO_PKG_VERSION"), "0.0.0-other"),
        "\u{0}\u{1}",
        &insane,
    ] {
        std::fs::write(&file, broken).unwrap();
        let read = Planner::at(file.clone()).forecast(engine, Some(&device), &shape);
        assert!(broken == whole || read == default, "{broken}");
    }
    // With a folder at the file's path, nothing is read or written, and nothing fails.
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let deaf = Planner::at(file);
    deaf.change(|learned| learned.rates.entry("x".to_owned()).or_default().calibrated = true);
    assert_eq!(deaf.forecast(engine, None, &shape), default);
}

#[test]
fn calibration_gives_predictions_for_this_machine() {
    let planner = Planner::default();
    let mut engine = registry::open(LOCKSTEP, None).unwrap();
    let device = engine.device();
    planner.calibrate(engine.as_mut(), &device, &mut || true).unwrap();
    let descriptor = registry::find(LOCKSTEP).unwrap();
    assert!(planner.is_calibrated(descriptor, &device));
    let forecast = planner.forecast(descriptor, Some(&device), &shape(100, 100_000, 2, 32));
    assert!(forecast.search_ms.is_finite() && forecast.search_ms > 0.0 && forecast.setup_ms > 0.0);
    assert!(planner.lock().rates.values().all(Rates::are_sensible));
}

#[test]
fn times_are_rounded_to_two_digits() {
    let cases = [
        (0.0446, "45 µs"),
        (1.234, "1.2 ms"),
        (99.6, "100 ms"),
        (15_200.0, "15 s"),
        (301_000.0, "5 min"),
        (36e6, "10 h"),
        (994.0, "990 ms"),
    ];
    for (ms, text) in cases {
        assert_eq!(plan::about(ms), text);
    }
}

#[test]
fn job_sizes_come_from_the_spec() {
    let spec = RunSpec { exclude_self: true, k: 7, warmup: 2, repeats: 3, ..super::super::testing::spec() };
    let job = Job::new(&spec, Purpose::Measure, 500, 2, None);
    assert_eq!((job.shape, job.timed), (shape(500, 500, 2, 8), 5));
}

fn offers() -> impl Strategy<Value = Vec<EngineEstimate>> {
    let offer =
        (0.0f64..1e4, 0.01f64..1e4, 1u32..20, 0u8..3).prop_map(|(setup_ms, search_ms, passes, detail)| {
            let total_ms = setup_ms + f64::from(passes) * search_ms;
            EngineEstimate { setup_ms, search_ms, total_ms, detail }
        });
    prop::collection::vec(offer, 0..8)
}

proptest! {
    #[test]
    fn the_best_offer_follows_the_selection_rule(offers in offers(), asked: bool) {
        let leeway = if asked { Leeway::ANSWER } else { Leeway::MEASURE };
        let Some(at) = best_offer(&offers, leeway) else {
            prop_assert!(offers.is_empty());
            return Ok(());
        };
        let fastest = offers.iter().min_by(|a, b| a.total_ms.total_cmp(&b.total_ms)).unwrap();
        let taken = offers[at];
        prop_assert!(taken.is_close_to(fastest, leeway) && taken.detail >= fastest.detail);
        let (short, times) = if asked { (1.0, 1.0) } else { (5.0, 2.0) };
        prop_assert!(taken.search_ms < short || taken.search_ms <= times * fastest.search_ms);
        if taken.detail == 0 {
            prop_assert_eq!(taken.total_ms, fastest.total_ms, "picked for its speed");
        }
        prop_assert!(
            !offers.iter().any(|offer| offer.detail > taken.detail && offer.is_close_to(fastest, leeway)),
            "an engine that reports more is too slow"
        );
    }

    #[test]
    fn predictions_are_finite_and_nonnegative(
        q in 1usize..2_000_000,
        n in 1usize..50_000_000,
        d in 1usize..1000,
        k in 1usize..1024,
    ) {
        for engine in registry::ENGINES {
            let forecast = Planner::default().forecast(engine, None, &shape(q, n, d, k));
            prop_assert!(
                forecast.setup_ms.is_finite() && forecast.setup_ms >= 0.0,
                "{}: {forecast:?}",
                engine.id
            );
            prop_assert!(
                forecast.search_ms.is_finite() && forecast.search_ms > 0.0,
                "{}: {forecast:?}",
                engine.id
            );
        }
    }
}

/// A pipe in the place of the file used to block the start of the program.
#[cfg(unix)]
#[test]
fn a_pipe_at_the_rates_path_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("planner.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (done, wait) = crossbeam_channel::bounded(1);
    let _thread = crate::files::testing::beside(move || {
        done.send((read(&pipe), write(&pipe, &LearnedRates::default()).is_err()))
    });
    assert_eq!(wait.recv_timeout(std::time::Duration::from_secs(10)), Ok((LearnedRates::default(), true)));
}
