//! The short measurement of an engine on a device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::{EngineChoice, QuerySpec, RunSpec, build_problem};
use super::rates::{Forecast, Trial};
use crate::cloud::{self, Order, Source};
use crate::knn::{Build, Engine, EngineError, Metric, Parameters, Shape, Stage};
use crate::progress::Silent;

/// Small clouds of few and more dimensions, with few and many neighbours: n, d, k. Between them each kind of work matters once.
const TRIALS: [(usize, usize, usize); 5] = [(60_000, 2, 32), (20_000, 2, 512), (60_000, 3, 1), (15_000, 12, 32), (8_000, 48, 64)];

/// How long a pass should take at the built-in rates: more than launching it.
const PASS_MS: f64 = 3.0;

/// Passes, of which the fastest counts: others' work on the machine only adds.
const PASSES: usize = 8;

/// How many times longer than expected a pass is slow.
const SLOW: f64 = 4.0;

/// No further trial begins after this.
const LONGEST: Duration = Duration::from_millis(500);

/// Measures an engine as long as `go_on` says so. A trial that it refuses is left out.
///
/// # Errors
/// The engine's, but for refusals.
pub fn measure(engine: &mut dyn Engine, go_on: &mut dyn FnMut() -> bool) -> Result<Vec<Trial>, EngineError> {
    let began = Instant::now();
    let mut trials = Vec::new();
    for (n, d, k) in TRIALS {
        if began.elapsed() >= LONGEST || !go_on() {
            break;
        }
        match trial(engine, n, d, k) {
            Ok(found) => trials.extend(found),
            Err(error) if error.is_refusal() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(trials)
}

/// Nothing where the trial's own cloud cannot be had.
fn trial(engine: &mut dyn Engine, n: usize, d: usize, k: usize) -> Result<Option<Trial>, EngineError> {
    let cost = engine.descriptor().cost;
    let shape = |q| Shape { n, q, d, k };
    let q = std::iter::successors(Some(16), |q| Some(q * 2)).find(|&q| q * 2 > n || cost(&shape(q)).ms(Stage::Search, |_| 1.0) >= PASS_MS);
    let Some(q) = q else { return Ok(None) };
    let data = Source::Generate { spec: format!("uniform:n={n},d={d}"), seed: 1 };
    let spec = RunSpec {
        data,
        queries: QuerySpec::Count(q as u64),
        k,
        metric: Metric::L2,
        engine: EngineChoice::Auto,
        device: None,
        order: Order::File,
        exclude_self: false,
        seed: 1,
        warmup: 0,
        repeats: 1,
        drop_nonfinite: false,
        profile: false,
    };
    let Ok(cloud) = cloud::load(&spec.data, false, &Silent).map(Arc::new) else { return Ok(None) };
    let Ok(problem) = build_problem(&spec, &cloud, None) else { return Ok(None) };
    let mut search = engine.load(&problem, &Parameters::NONE, false)?;
    let setup_ms = search.setup_ms().iter().map(|(_, ms)| ms).sum();
    let mut search_ms = f64::INFINITY;
    for _ in 0..PASSES {
        search_ms = search_ms.min(search.search(0..q, Build::Timed)?);
        if search_ms > SLOW * PASS_MS {
            // So far from the built-in rates one pass says enough.
            break;
        }
    }
    Ok(Some(Trial { cost: cost(&shape(q)), took: Forecast { setup_ms, search_ms } }))
}
