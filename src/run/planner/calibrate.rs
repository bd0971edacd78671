//! Calibration: a short measurement of an engine on a device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::{QuerySpec, RunSpec, build_problem, stats};
use super::rates::{Forecast, Trial};
use crate::cloud::{self, Source};
use crate::knn::{Build, Engine, EngineError, Parameters, Shape, Stage};
use crate::progress::Silent;

/// n, d and k of the trials: within and beyond the caches, in few and in more dimensions, with few and many neighbours. Each kind
/// of work takes a large share of at least one of them.
const TRIALS: [(usize, usize, usize); 7] =
    [(60_000, 2, 32), (1_000_000, 2, 32), (20_000, 2, 512), (60_000, 3, 1), (40_000, 6, 16), (15_000, 12, 32), (10_000, 100, 32)];

/// Milliseconds that a pass should take at the built-in rates: well above the cost of launching it.
const PASS_MS: f64 = 4.0;

/// Passes per trial; their median is used.
const PASSES: usize = 5;

/// Setups per trial; their median is used, since the first includes one-time initialisation.
const SETUPS: usize = 3;

/// A pass or setup longer than this multiple of [`PASS_MS`] is slow and not repeated.
const SLOW: f64 = 4.0;

/// No trial starts later than this after the first.
const LONGEST: Duration = Duration::from_millis(1000);

/// Runs the trials on an engine, stopping early once `go_on` returns false. Trials that the engine refuses are skipped.
///
/// # Errors
/// The engine's, except refusals ([`EngineError::is_refusal`]).
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

/// Runs one trial; `None` if its problem cannot be built.
fn trial(engine: &mut dyn Engine, n: usize, d: usize, k: usize) -> Result<Option<Trial>, EngineError> {
    let (declared, kind) = (engine.descriptor().cost, engine.device_id().kind());
    let cost = |shape: &Shape| declared(shape, kind);
    let shape = |q| Shape { n, q, d, k };
    let q = std::iter::successors(Some(16), |q| Some(q * 2)).find(|&q| q * 2 > n || cost(&shape(q)).ms(Stage::Search, |_| 1.0) >= PASS_MS);
    let Some(q) = q else { return Ok(None) };
    let data = Source::Generate { spec: format!("uniform:n={n},d={d}"), seed: 1 };
    let spec = RunSpec { seed: 1, ..RunSpec::new(data, QuerySpec::Count(q as u64), k) };
    let Ok(cloud) = cloud::load(&spec.data, false, &Silent).map(Arc::new) else { return Ok(None) };
    let (mut setups, mut taken_in) = (Vec::with_capacity(SETUPS), None);
    for _ in 0..SETUPS {
        // A new problem, so that nothing is on the device yet.
        let Ok(problem) = build_problem(&spec, &cloud, None) else { return Ok(None) };
        let search = engine.load(&problem, &Parameters::NONE, false)?;
        setups.push(search.setup_ms().iter().map(|(_, ms)| ms).sum::<f64>());
        drop(search);
        taken_in = Some(problem);
        if setups[0] > SLOW * PASS_MS {
            break;
        }
    }
    let Some(problem) = taken_in else { return Ok(None) };
    let mut search = engine.load(&problem, &Parameters::NONE, false)?;
    let mut passes = Vec::with_capacity(PASSES);
    for _ in 0..PASSES {
        passes.push(search.search(0..q, Build::Timed)?);
        if passes[0] > SLOW * PASS_MS {
            // This far from the built-in rates, one pass is accurate enough.
            break;
        }
    }
    Ok(Some(Trial { cost: cost(&shape(q)), took: Forecast { setup_ms: stats::median(&setups), search_ms: stats::median(&passes) } }))
}
