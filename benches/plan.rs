//! Measures the planner's predictions, and whether `auto` chooses the fastest engine: forty jobs on every
//! available engine.
//!
//! ```text
//! cargo bench --no-default-features --bench plan -- \
//!     [--random SEED] [--times FACTOR] [--limit MILLISECONDS] [--out FILE]
//! ```
//!
//! The built-in rates were fitted to the jobs below; `--random` draws forty other jobs for an independent
//! check. Each engine is calibrated first, as `run` does on an unknown device, and learns nothing from the
//! jobs. A job's time is preparing the points and one pass over the queries. Engines predicted to exceed the
//! limit are skipped. `--times` multiplies the number of queries, for devices that finish these jobs too
//! quickly.

use std::fmt::Write as _;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use warpscope::cloud::{self, Order, Source};
use warpscope::engines::registry;
use warpscope::knn::{DeviceInfo, Engine, EngineError, EngineId};
use warpscope::progress::NoProgress;
use warpscope::run::planner::{Candidate, Job, Plan, Planner, Purpose, StageTimes};
use warpscope::run::{EngineChoice, LoadedSpec, Phase, QuerySpec, RunSpec, execute};
use warpscope::text;

/// n, d, q, k.
const JOBS: [(usize, usize, u64, usize); 40] = [
    (1_000, 2, 1_000, 32),
    (10_000, 2, 10_000, 1),
    (10_000, 2, 10_000, 32),
    (10_000, 3, 5_000, 128),
    (33_000, 2, 1_000, 32),
    (33_000, 2, 33_000, 8),
    (50_000, 2, 20_000, 32),
    (50_000, 3, 2_000, 256),
    (100_000, 2, 1, 32),
    (100_000, 2, 1_000, 32),
    (100_000, 2, 2_000, 128),
    (100_000, 2, 500, 1_024),
    (100_000, 3, 2_000, 1),
    (100_000, 3, 3_000, 32),
    (100_000, 3, 20_000, 16),
    (200_000, 2, 5_000, 64),
    (300_000, 3, 500, 32),
    (500_000, 2, 1, 32),
    (500_000, 2, 1_000, 32),
    (500_000, 3, 10_000, 10),
    (1_000_000, 2, 1, 128),
    (1_000_000, 2, 200, 32),
    (1_000_000, 3, 100, 1_024),
    (20_000, 4, 2_000, 32),
    (100_000, 4, 500, 32),
    (100_000, 4, 5_000, 8),
    (50_000, 6, 1_000, 32),
    (100_000, 6, 300, 128),
    (20_000, 8, 1_000, 32),
    (100_000, 8, 500, 32),
    (200_000, 8, 100, 8),
    (50_000, 12, 500, 32),
    (20_000, 16, 500, 32),
    (100_000, 16, 100, 100),
    (50_000, 24, 200, 32),
    (20_000, 32, 300, 10),
    (20_000, 64, 300, 32),
    (10_000, 128, 300, 32),
    (10_000, 384, 200, 32),
    (5_000, 960, 200, 100),
];

/// Random jobs of a few seconds at most; n and q are log-uniform.
fn random(seed: u64) -> Vec<(usize, usize, u64, usize)> {
    const DIMS: [usize; 16] = [2, 2, 2, 3, 3, 3, 4, 5, 7, 10, 14, 20, 40, 100, 300, 768];
    const NEIGHBORS: [usize; 8] = [1, 5, 10, 32, 50, 100, 256, 1_000];
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut below = |most: usize| random.next_u64() as usize % most;
    let jobs = (0..40).map(|_| {
        let (d, k) = (DIMS[below(DIMS.len())], NEIGHBORS[below(NEIGHBORS.len())]);
        let mut between = |least: f64, most: f64| {
            (least * (most / least).powf(below(1 << 20) as f64 / f64::from(1 << 20))) as usize
        };
        let n = between(2e3, (2e7 / d as f64).min(2e6));
        (n, d, between(1.0, n as f64) as u64, k)
    });
    jobs.collect()
}

struct OpenEngine {
    engine: Box<dyn Engine>,
    device: DeviceInfo,
}

fn main() {
    let (mut times, mut limit, mut out, mut jobs) = (1, 800.0, None, JOBS.to_vec());
    // Cargo adds --bench.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("{word} needs a value"));
        match word.as_str() {
            "--random" => jobs = random(value.parse().expect("a whole number")),
            "--times" => times = value.parse().expect("a whole number"),
            "--limit" => limit = value.parse().expect("milliseconds"),
            "--out" => out = Some(value),
            _ => panic!("unknown option {word}"),
        }
    }
    let planner = Planner::default();
    let mut engines: Vec<OpenEngine> =
        registry::ENGINES.iter().filter_map(|descriptor| open(&planner, descriptor.id)).collect();
    println!(
        "{:>9} {:>4} {:>9} {:>5} {:<10} {:>10} {:>10} {:>9}",
        "n", "d", "q", "k", "engine", "predicted", "measured", "measured ÷"
    );
    let mut tally = Tally {
        table: "n,d,q,k,engine,predicted_setup_ms,setup_ms,predicted_search_ms,search_ms,auto,fastest\n"
            .to_owned(),
        ..Tally::default()
    };
    for (n, d, q, k) in jobs {
        job(
            &planner,
            &mut engines,
            &format!("uniform:n={n},d={d}"),
            (q * times).min(n as u64),
            k,
            limit,
            &mut tally,
        );
    }
    println!("{tally}");
    if let Some(path) = out {
        std::fs::write(&path, tally.table).unwrap_or_else(|error| panic!("cannot write: {error}: {path}"));
    }
}

/// The time to prepare the points and for one pass.
fn total(forecast: StageTimes) -> f64 {
    forecast.setup_ms + forecast.search_ms
}

/// Results of all jobs.
#[derive(Default)]
struct Tally {
    long: usize,
    long_within: usize,
    jobs: usize,
    best_taken: usize,
    /// For each job, the time of auto's choice relative to the fastest.
    over: Vec<f64>,
    /// All measurements as CSV.
    table: String,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let worst = self.over.iter().copied().fold(1.0, f64::max);
        write!(
            f,
            "{} of {} measurements of 100 ms and more within a factor of 2; auto took the fastest in {} of \
             {} jobs, and at worst {worst:.1} times as long",
            self.long_within, self.long, self.best_taken, self.jobs
        )
    }
}

fn open(planner: &Planner, id: EngineId) -> Option<OpenEngine> {
    let result: Result<Box<dyn Engine>, EngineError> = registry::open(id, None);
    match result {
        Ok(mut engine) => {
            let device = engine.device();
            let began = std::time::Instant::now();
            planner
                .calibrate(engine.as_mut(), &device, &mut || true)
                .unwrap_or_else(|error| panic!("{error}"));
            println!(
                "{id} on {}: measured in {}",
                device.name,
                text::time(began.elapsed().as_secs_f64() * 1e3)
            );
            Some(OpenEngine { engine, device })
        }
        Err(why) => {
            println!("{why}");
            None
        }
    }
}

fn job(
    planner: &Planner,
    engines: &mut [OpenEngine],
    spec: &str,
    q: u64,
    k: usize,
    limit: f64,
    tally: &mut Tally,
) {
    let data = Source::Generate { spec: spec.to_owned(), seed: 1 };
    let cloud = Arc::new(cloud::load(&data, false, &NoProgress).unwrap_or_else(|error| panic!("{error}")));
    let (n, d) = (cloud.len(), cloud.dims());
    let spec = |engine| RunSpec {
        engine,
        order: Order::Shuffled,
        ..RunSpec::new(data.clone(), QuerySpec::Count(q), k)
    };
    let job = Job::new(&spec(EngineChoice::Auto), Purpose::Answer, n, d, None);
    let candidates = engines.iter().map(|opened| {
        Candidate::new(planner, opened.engine.descriptor(), &job, Ok(Some(&opened.device)), false)
    });
    let plan = Plan::new(&EngineChoice::Auto, &job, candidates.collect());
    let mut rows = Vec::new();
    for opened in engines.iter_mut() {
        let id = opened.engine.id();
        let Some(predicted) = plan.candidate(id).and_then(|candidate| candidate.forecast) else { continue };
        if total(predicted) > limit {
            continue;
        }
        let record = execute(
            LoadedSpec::new(&spec(EngineChoice::named(id)), &cloud, None),
            opened.engine.as_mut(),
            &mut |_, _| true,
        );
        let record = record.unwrap_or_else(|error| panic!("{id}: {error}"));
        let of = |phases: &[Phase]| {
            record
                .samples
                .iter()
                .filter(|sample| phases.contains(&sample.phase))
                .map(|sample| sample.duration_ms)
                .sum()
        };
        let took =
            StageTimes { setup_ms: of(&[Phase::Upload, Phase::BuildIndex]), search_ms: of(&[Phase::Search]) };
        rows.push((id, predicted, took));
    }
    let Some(best) = rows.iter().min_by(|a, b| total(a.2).total_cmp(&total(b.2))).copied() else { return };
    for &(id, forecast, took) in &rows {
        let (auto, fastest) = (plan.chosen == Some(id), best.0 == id);
        let (predicted, measured) = (total(forecast), total(took));
        let ratio = measured / predicted;
        if measured >= 100.0 {
            tally.long += 1;
            tally.long_within += usize::from((0.5..=2.0).contains(&ratio));
        }
        if auto {
            tally.jobs += 1;
            tally.best_taken += usize::from(fastest);
            tally.over.push(measured / total(best.2));
        }
        let remark = match (auto, fastest) {
            (true, true) => "auto, fastest",
            (true, false) => "auto",
            (false, true) => "fastest",
            (false, false) => "",
        };
        writeln!(
            tally.table,
            "{n},{d},{q},{k},{id},{},{},{},{},{auto},{fastest}",
            forecast.setup_ms, took.setup_ms, forecast.search_ms, took.search_ms
        )
        .expect("writing to a string");
        let [n, q, k] = [n as u64, q, k as u64].map(text::thousands);
        println!(
            "{n:>9} {d:>4} {q:>9} {k:>5} {id:<10} {:>10} {:>10} {ratio:>9.2}  {remark}",
            text::time(predicted),
            text::time(measured)
        );
    }
}
