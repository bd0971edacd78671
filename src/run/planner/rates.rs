//! The rates of one engine on one device, and the calibration that measures them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::cloud::{self, Source};
use crate::knn::{Cost, Engine, EngineError, KernelBuild, Parameters, Shape, Stage};
use crate::progress::NoProgress;
use crate::run::{LoadedSpec, QuerySpec, RunSpec, build_problem, stats};

/// The largest factor between a scale and 1, in either direction.
const MAX_SCALE: f64 = 1000.0;

/// The largest factor of a correction, in either direction.
const MAX_CORRECTION: f64 = 8.0;

/// The weight of a new run, from 0 to 1, in the correction for its size.
const BUCKET_WEIGHT: f64 = 0.5;

/// The weight of a new run, from 0 to 1, in the engine's overall correction.
const ENGINE_WEIGHT: f64 = 0.1;

/// Shorter times, in milliseconds, are mostly noise and correct nothing.
const MIN_MS: f64 = 1.0;

/// The weight that pulls a term's scale towards the common scale, relative to trials that consist of this
/// term only. Without it, a term with a small share of every trial would absorb the remaining error.
const PRIOR: f64 = 0.15;

/// The times of a problem, predicted or measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTimes {
    /// Milliseconds of the upload or of building an index.
    pub setup_ms: f64,
    /// Milliseconds of one pass over all queries.
    pub search_ms: f64,
}

impl StageTimes {
    fn ms(&self, stage: Stage) -> f64 {
        match stage {
            Stage::Setup => self.setup_ms,
            Stage::Search => self.search_ms,
        }
    }
}

/// A problem's declared cost and its measured times.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The declared cost, at the built-in rates.
    pub cost: Cost,
    pub took: StageTimes,
}

/// Factors by which an engine's declared costs are multiplied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Whether the engine was calibrated here, rather than only corrected by runs.
    pub calibrated: bool,
    /// The factor of each term, by its name; 1 if absent.
    scales: BTreeMap<String, f64>,
    /// Natural logarithms of a further factor per stage: one per size of problem, and one for sizes without a
    /// run.
    corrections: BTreeMap<String, f64>,
}

impl Rates {
    /// Predicts the times of a problem.
    pub fn forecast(&self, cost: &Cost, shape: &Shape) -> StageTimes {
        let of = |stage| cost.ms(stage, |term| self.scale(term)) * self.correction(stage, shape).exp();
        StageTimes { setup_ms: of(Stage::Setup), search_ms: of(Stage::Search) }
    }

    /// The predicted time of a stage, without corrections by runs.
    pub fn declared_ms(&self, stage: Stage, cost: &Cost) -> f64 {
        cost.ms(stage, |term| self.scale(term))
    }

    /// Fits the scales of terms to trials. Each round changes a term's scale by the mean of the trials'
    /// remaining errors (as logarithms), weighted by the term's share of each trial. A term with little share
    /// in any of them keeps the average scale.
    pub fn fit(&mut self, trials: &[Trial]) {
        for stage in [Stage::Setup, Stage::Search] {
            let trials: Vec<&Trial> = trials
                .iter()
                .filter(|trial| sensible(trial.took.ms(stage)) && sensible(trial.cost.ms(stage, |_| 1.0)))
                .collect();
            if trials.is_empty() {
                continue;
            }
            let error = |rates: &Self, trial: &Trial| {
                (trial.took.ms(stage) / trial.cost.ms(stage, |term| rates.scale(term))).ln()
            };
            // Scale all terms alike first, so that those with a small share in all trials follow the others.
            self.corrections.retain(|key, _| !key.starts_with(prefix(stage)));
            let together = trials.iter().map(|trial| error(self, trial)).sum::<f64>() / trials.len() as f64;
            let names: BTreeSet<&str> =
                trials.iter().flat_map(|trial| trial.cost.terms(stage)).map(|term| term.name).collect();
            for name in &names {
                self.rescale(name, together);
            }
            for _ in 0..40 {
                let errors: Vec<f64> = trials.iter().map(|trial| error(self, trial)).collect();
                let moves: Vec<(&str, f64)> = names
                    .iter()
                    .map(|&name| {
                        let (mut sum, mut weight) = (PRIOR * (together - self.scale(name).ln()), PRIOR);
                        for (trial, error) in trials.iter().zip(&errors) {
                            let all = trial.cost.ms(stage, |term| self.scale(term));
                            let own: f64 = trial
                                .cost
                                .terms(stage)
                                .filter(|term| term.name == name)
                                .map(|term| term.ms * self.scale(name))
                                .sum();
                            sum += own / all * error;
                            weight += own / all;
                        }
                        (name, sum / weight)
                    })
                    .collect();
                for (name, by) in moves {
                    self.rescale(name, by);
                }
            }
        }
    }

    /// Learns from a run: its size's correction moves towards the run's error, and the engine's overall
    /// correction by less.
    pub fn correct(&mut self, cost: &Cost, shape: &Shape, took: StageTimes) {
        for stage in [Stage::Setup, Stage::Search] {
            let (took, declared) = (took.ms(stage), cost.ms(stage, |term| self.scale(term)));
            if took < MIN_MS || !sensible(took) || !sensible(declared) {
                continue;
            }
            let error = (took / declared).ln().clamp(-MAX_CORRECTION.ln(), MAX_CORRECTION.ln());
            for (key, start, weight) in [
                (bucket(stage, shape), self.correction(stage, shape), BUCKET_WEIGHT),
                (prefix(stage).to_owned(), 0.0, ENGINE_WEIGHT),
            ] {
                let old = self.corrections.get(&key).copied().unwrap_or(start);
                self.corrections.insert(key, old + weight * (error - old));
            }
        }
    }

    /// Whether every number is within its limits; numbers from a file may not be.
    pub fn are_sensible(&self) -> bool {
        self.scales.values().all(|scale| (1.0 / MAX_SCALE..=MAX_SCALE).contains(scale))
            && self.corrections.values().all(|log| log.abs() <= MAX_CORRECTION.ln() * (1.0 + 1e-9))
    }

    fn scale(&self, term: &str) -> f64 {
        self.scales.get(term).copied().unwrap_or(1.0)
    }

    fn rescale(&mut self, term: &str, by: f64) {
        let scale = (self.scale(term) * by.exp()).clamp(1.0 / MAX_SCALE, MAX_SCALE);
        self.scales.insert(term.to_owned(), scale);
    }

    fn correction(&self, stage: Stage, shape: &Shape) -> f64 {
        self.corrections
            .get(&bucket(stage, shape))
            .or_else(|| self.corrections.get(prefix(stage)))
            .copied()
            .unwrap_or(0.0)
    }
}

fn prefix(stage: Stage) -> &'static str {
    match stage {
        Stage::Setup => "setup",
        Stage::Search => "search",
    }
}

/// The key shared by problems of similar size: n and q within a factor of four, d and k within two.
fn bucket(stage: Stage, shape: &Shape) -> String {
    let step = |value: usize, bits: u32| value.max(1).ilog2() / bits;
    let points = format!("{} n{} d{}", prefix(stage), step(shape.n, 2), step(shape.d, 1));
    match stage {
        Stage::Setup => points,
        Stage::Search => format!("{points} q{} k{}", step(shape.q, 2), step(shape.k.next_power_of_two(), 1)),
    }
}

fn sensible(ms: f64) -> bool {
    ms.is_finite() && ms > 0.0
}

/// n, d and k of the trials: within and beyond the caches, few and more dimensions, few and many neighbours.
/// Each kind of work has a large share in at least one of them.
const TRIALS: [(usize, usize, usize); 7] = [
    (60_000, 2, 32),
    (1_000_000, 2, 32),
    (20_000, 2, 512),
    (60_000, 3, 1),
    (40_000, 6, 16),
    (15_000, 12, 32),
    (10_000, 100, 32),
];

/// Target milliseconds of a pass at the built-in rates, well above the cost of a launch.
const PASS_MS: f64 = 4.0;

/// Passes per trial; their median is used.
const PASSES: usize = 5;

/// Setups per trial; their median is used, since the first includes one-time initialisation.
const SETUPS: usize = 3;

/// A pass or setup longer than this multiple of [`PASS_MS`] is slow and not repeated.
const SLOW: f64 = 4.0;

/// No trial starts later than this after the first.
const MAX_DURATION: Duration = Duration::from_millis(1000);

/// Runs the trials on an engine, stopping early once `go_on` returns false. Trials that the engine refuses
/// are skipped.
///
/// Errors of the engine, except refusals ([`EngineError::is_refusal`]).
pub fn measure(engine: &mut dyn Engine, go_on: &mut dyn FnMut() -> bool) -> Result<Vec<Trial>, EngineError> {
    let began = Instant::now();
    let mut trials = Vec::new();
    for (n, d, k) in TRIALS {
        if began.elapsed() >= MAX_DURATION || !go_on() {
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
    let q = std::iter::successors(Some(16), |q| Some(q * 2))
        .find(|&q| q * 2 > n || cost(&shape(q)).ms(Stage::Search, |_| 1.0) >= PASS_MS);
    let Some(q) = q else { return Ok(None) };
    let data = Source::Generate { spec: format!("uniform:n={n},d={d}"), seed: 1 };
    let spec = RunSpec { seed: 1, ..RunSpec::new(data, QuerySpec::Count(q as u64), k) };
    let Ok(cloud) = cloud::load(&spec.data, false, &NoProgress).map(Arc::new) else { return Ok(None) };
    let (mut setups, mut prepared) = (Vec::with_capacity(SETUPS), None);
    for _ in 0..SETUPS {
        // Each setup uses a new problem, so that nothing is on the device yet.
        let Ok(problem) = build_problem(LoadedSpec::new(&spec, &cloud, None)) else { return Ok(None) };
        let search = engine.load(&problem, &Parameters::NONE, false)?;
        setups.push(search.setup_ms().iter().map(|(_, ms)| ms).sum::<f64>());
        drop(search);
        prepared = Some(problem);
        if setups[0] > SLOW * PASS_MS {
            break;
        }
    }
    let Some(problem) = prepared else { return Ok(None) };
    let mut search = engine.load(&problem, &Parameters::NONE, false)?;
    let mut passes = Vec::with_capacity(PASSES);
    for _ in 0..PASSES {
        passes.push(search.search(0..q, KernelBuild::Timed)?);
        if passes[0] > SLOW * PASS_MS {
            // This far from the built-in rates, one pass is accurate enough.
            break;
        }
    }
    Ok(Some(Trial {
        cost: cost(&shape(q)),
        took: StageTimes { setup_ms: stats::median(&setups), search_ms: stats::median(&passes) },
    }))
}
