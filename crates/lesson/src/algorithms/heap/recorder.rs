//! The observer of per-thread heaps that records the steps.

use std::sync::Arc;

use super::HeapBaseline;
use crate::Result;
use crate::algorithms::heap::HeapStep;
use crate::engines::lockstep::{distances_from, distances_to};
use crate::engines::select::{HeapObserver, THREAD_HEAP, thread_heap};
use crate::knn::Problem;
use crate::recording::{Parameters, Recording};
use crate::state::Shape;
use crate::step::{SlotAssignment, Step};

/// Runs a warp of `width` threads, each with its own query and heap, and records its steps. Lane 0's query is
/// the problem's; the others are points, spread evenly over the processing order. `data` describes the source
/// of the points.
///
/// # Errors
/// `LessonError` for widths other than 4, 8, 16 and 32, and if k is too large.
pub fn record_heaps(problem: Arc<Problem>, query: usize, width: u32, data: &str) -> Result<Recording> {
    Shape::check(width, problem.k())?;
    Ok(record_lanes(problem, query, width, data))
}

/// The same for any number of lanes up to 32; one lane is a scalar thread.
pub(crate) fn record_lanes(problem: Arc<Problem>, query: usize, width: u32, data: &str) -> Recording {
    let (n, k, dims) = (problem.n(), problem.k(), problem.dims());
    let shape = Shape::for_problem(&problem, width);
    // The middles of equal parts: never the middle point, which is often lane 0's query.
    let others: Vec<u32> = (1..u64::from(width))
        .map(|lane| ((2 * lane - 1) * n as u64 / (2 * u64::from(width))) as u32)
        .collect();
    let place = |&point: &u32| &problem.points()[point as usize * dims..][..dims];
    let mut rows = vec![distances_to(&problem, query, 0..n)];
    rows.extend(others.iter().map(|point| distances_from(&problem, place(point), 0..n)));
    let mut recorder = Recorder { steps: vec![HeapStep::Heaps { others }.into()] };
    thread_heap::observe(&rows, k, &mut recorder);
    recorder.steps.push(Step::Finished);
    let parameters = Parameters::new(&THREAD_HEAP, shape, &problem, query, data);
    Recording::new(parameters, problem, query, recorder.steps).with_baseline(HeapBaseline)
}

struct Recorder {
    steps: Vec<Step>,
}

impl HeapObserver for Recorder {
    fn read(&mut self, point: u32, distances: &[f32]) {
        self.steps.push(HeapStep::OwnDistances { point, distances: distances.to_vec() }.into());
    }

    fn branched(&mut self, lanes: u32) {
        self.steps.push(HeapStep::Branched { lanes }.into());
    }

    fn sank(&mut self, lanes: u32, to: &[(u32, u32)]) {
        self.steps.push(
            HeapStep::Sank {
                lanes,
                moved: to.iter().map(|&(lane, slot)| SlotAssignment { lane, slot }).collect(),
            }
            .into(),
        );
    }

    fn rejoined(&mut self, lanes: u32) {
        self.steps.push(HeapStep::Rejoined { lanes }.into());
    }

    fn extracted(&mut self, end: u32) {
        self.steps.push(HeapStep::Extracted { end }.into());
    }
}
