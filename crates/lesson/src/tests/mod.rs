mod asking;
mod buckets;
mod cursor;
pub(crate) mod dummy;
mod faults;
mod from_gpu;
mod heaps;
mod invariants;
mod lessons;
mod meter;
mod queues;
mod replay;
mod sentences;
mod steps;
mod tree;
mod words;

use std::sync::Arc;

use super::*;
use crate::cloud::{self, Order, Source};
use crate::knn::{Metric, Problem, ProblemParameters, Queries};
use crate::progress::NoProgress;

/// The problem of one row of a generated cloud.
fn problem(spec: &str, seed: u64, row: usize, k: usize) -> Arc<Problem> {
    let source = Source::Generate { spec: spec.to_owned(), seed };
    let cloud = Arc::new(cloud::load(&source, false, &NoProgress).unwrap());
    let row = row.min(cloud.len() - 1);
    let setup = ProblemParameters {
        k,
        metric: Metric::L2,
        order: Order::File,
        seed,
        exclude_self: false,
        drop_zero_rows: false,
    };
    Arc::new(Problem::new(&cloud, &Queries::Rows(vec![row as u32]), setup).unwrap())
}

fn recorded(spec: &str, row: usize, k: usize, width: u32) -> Recording {
    record(problem(spec, 1, row, k), 0, width, None, spec).unwrap()
}

/// The state after some steps, from the first on.
fn fresh(recording: &Recording, position: usize) -> State {
    let mut state = State::new(recording.shape());
    for step in &recording.steps()[..position] {
        state.apply(step);
    }
    state
}
