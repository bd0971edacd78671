//! Times single live queries over prepared points, and runs of the same query, which prepare the points
//! first:
//!
//! ```text
//! cargo bench --no-default-features --bench ask -- \
//!     [--n LIST] [--d LIST] [--engines LIST] [--asks COUNT] [--out FILE]
//! ```
//!
//! All times are host time, and include building the problem, the search and the answer's record. Each
//! position is queried once. The last answer must equal the run's, bit for bit.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use warpscope::cloud::{self, Order, PointCloud, Source};
use warpscope::engines::registry;
use warpscope::knn::EngineId;
use warpscope::progress::NoProgress;
use warpscope::run::{EngineChoice, EnginePool, LoadedSpec, QuerySpec, RunSpec, stats};
use warpscope::text;

/// Runs after each engine's live queries.
const RUNS: usize = 3;

struct Options {
    n: Vec<u64>,
    d: Vec<usize>,
    engines: Vec<EngineId>,
    asks: usize,
    k: usize,
    out: Option<String>,
}

fn list<T>(text: &str, one: impl Fn(&str) -> Option<T>) -> Vec<T> {
    text.split(',').map(|part| one(part.trim()).unwrap_or_else(|| panic!("invalid value `{part}`"))).collect()
}

fn options() -> Options {
    let engine = |name: &str| registry::ENGINES.iter().map(|engine| engine.id).find(|id| id.as_str() == name);
    let mut options = Options {
        n: vec![100_000, 1_000_000, 10_000_000],
        d: vec![2, 3],
        engines: registry::ENGINES.iter().map(|engine| engine.id).collect(),
        asks: 300,
        k: 32,
        out: None,
    };
    // Cargo adds --bench.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("{word} needs a value"));
        match word.as_str() {
            "--n" => options.n = list(&value, |text| text.parse::<f64>().ok().map(|n| n as u64)),
            "--d" => options.d = list(&value, |text| text.parse().ok()),
            "--engines" => options.engines = list(&value, engine),
            "--asks" => options.asks = value.parse().expect("a number"),
            "--k" => options.k = value.parse().expect("a number"),
            "--out" => options.out = Some(value),
            _ => panic!("unknown option {word}"),
        }
    }
    options
}

fn main() {
    let options = options();
    println!(
        "k = {}, uniform points, shuffled; {} asks, the points being there, and {RUNS} runs that take them \
         in",
        options.k, options.asks
    );
    println!(
        "{:>12} {:>3} {:<10} {:>10} {:>10} {:>10} {:>10} {:>9}",
        "n", "d", "engine", "first", "median", "95 %", "run", "run ÷ ask"
    );
    let mut samples = "n,d,k,engine,what,ms\n".to_owned();
    for &d in &options.d {
        for &n in &options.n {
            let source = Source::Generate { spec: format!("uniform:n={n},d={d}"), seed: 1 };
            let cloud =
                Arc::new(cloud::load(&source, false, &NoProgress).unwrap_or_else(|error| panic!("{error}")));
            for &kind in &options.engines {
                row(&options, &cloud, kind, &mut samples);
            }
        }
    }
    if let Some(path) = options.out {
        std::fs::write(&path, samples).unwrap_or_else(|error| panic!("cannot write: {error}: {path}"));
    }
}

fn row(options: &Options, cloud: &Arc<PointCloud>, kind: EngineId, samples: &mut String) {
    let (n, d, k) = (cloud.len(), cloud.dims(), options.k);
    let mut engines = EnginePool::default();
    if let Err(error) = engines.named(kind, None) {
        println!("{:>12} {d:>3} {:<10} {error}", text::thousands(n as u64), kind);
        return;
    }
    let mut state = 1u64;
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut spec = || RunSpec {
        engine: EngineChoice::named(kind),
        order: Order::Shuffled,
        ..RunSpec::new(cloud.source().clone(), QuerySpec::At((0..d).map(|_| unit()).collect()), k)
    };
    let mut note = |what: &str, ms: f64| {
        writeln!(samples, "{n},{d},{k},{kind},{what},{ms}").expect("writing to a string")
    };
    let since = |began: Instant| began.elapsed().as_secs_f64() * 1e3;

    let began = Instant::now();
    if let Err(error) = engines.answer_live(&spec(), cloud) {
        println!("{:>12} {d:>3} {:<10} {error}", text::thousands(n as u64), kind);
        return;
    }
    let first = since(began);
    note("first", first);
    let mut asks = Vec::with_capacity(options.asks);
    let mut last = None;
    for _ in 0..options.asks {
        let spec = spec();
        let began = Instant::now();
        let record = engines.answer_live(&spec, cloud).unwrap_or_else(|error| panic!("{kind}: {error}"));
        asks.push(since(began));
        assert!(record.resident, "points must be prepared");
        last = Some((spec, record));
    }
    let (spec, asked) = last.expect("at least one ask");
    let runs: Vec<f64> = (0..RUNS)
        .map(|_| {
            engines.resident().release();
            let began = Instant::now();
            let run = engines
                .execute(LoadedSpec::new(&spec, cloud, None), &mut |_, _| true)
                .unwrap_or_else(|error| panic!("{kind}: {error}"));
            let took = since(began);
            assert_eq!(
                (&run.neighbors, &run.measured),
                (&asked.neighbors, &asked.measured),
                "{kind}: a live query differs from the run"
            );
            took
        })
        .collect();
    asks.iter().for_each(|&ms| note("ask", ms));
    runs.iter().for_each(|&ms| note("run", ms));
    let (median, run) = (stats::median(&asks), stats::median(&runs));
    println!(
        "{:>12} {d:>3} {:<10} {:>10} {:>10} {:>10} {:>10} {:>8.0}×",
        text::thousands(n as u64),
        kind,
        text::time(first),
        text::time(median),
        text::time(stats::quantile(&asks, 0.95)),
        text::time(run),
        run / median
    );
}
