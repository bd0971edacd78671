//! The observer of radix select's twin that records the steps.

use std::sync::Arc;

use super::{RadixSelectBaseline, RadixSelectStep};
use crate::Result;
use crate::algorithms::kernel::BufferCounts;
use crate::algorithms::kernel::recorder::record;
use crate::engines::cuda::trace::PassTrace;
use crate::engines::lockstep::{self, Key};
use crate::engines::select::radix_select::Digits;
use crate::engines::select::{PassObserver, RADIX_SELECT, multi_pass};
use crate::from_gpu::check_trace;
use crate::knn::Problem;
use crate::recording::{Parameters, Recording};
use crate::state::Shape;
use crate::step::Step;

/// Runs radix select's twin on one query and records its steps. Also runs the kernel's twin, for its counts.
/// There is one bucket per lane, so a digit has log2(`width`) bits, and passes continue where the engine
/// would sort the remaining points. `data` describes the source of the points.
///
/// # Errors
/// `LessonError` for widths other than 4, 8, 16 and 32, and if k is too large.
pub fn record_digits(problem: Arc<Problem>, query: usize, width: u32, data: &str) -> Result<Recording> {
    Shape::check(width, problem.k())?;
    let shape = Shape::for_problem(&problem, width);
    let distances = lockstep::distances_to(&problem, query, 0..problem.n());
    let bits = width.ilog2();
    let mut recorder = Recorder::new(shape);
    let [passes, _, reads, ..] = multi_pass::observe::<Digits>(&distances, problem.k(), bits, &mut recorder);
    recorder.finish();
    let parameters = Parameters::new(&RADIX_SELECT, shape, &problem, query, data);
    let buffer = BufferCounts::count(&record(Arc::clone(&problem), query, width, None, data)?);
    let baseline = RadixSelectBaseline { distances, reads, passes, buffer };
    Ok(Recording::new(parameters, problem, query, recorder.steps).with_baseline(baseline))
}

/// Records the steps of a selection that it observes.
pub(crate) struct Recorder {
    pub steps: Vec<Step>,
}

impl Recorder {
    /// One bucket per lane: a digit has log2(W) bits.
    pub fn new(shape: Shape) -> Self {
        Self { steps: vec![RadixSelectStep::Digits { bits: shape.width.ilog2() }.into()] }
    }

    /// After the selection, the gathered keys are sorted.
    pub fn finish(&mut self) {
        self.steps.extend([RadixSelectStep::Sorted.into(), Step::Finished]);
    }
}

impl PassObserver for Recorder {
    fn counted(&mut self, counters: &[usize]) {
        let counts: Vec<u32> = counters.iter().map(|&count| count as u32).collect();
        let sums = counts.iter().scan(0, |sum, count| {
            // Only a corrupt trace has more keys than points.
            *sum = u32::saturating_add(*sum, *count);
            Some(*sum)
        });
        let sums = sums.collect();
        self.steps
            .extend([RadixSelectStep::Counted { counts }.into(), RadixSelectStep::Summed { sums }.into()]);
    }

    fn found(&mut self, bucket: usize, below: usize, size: usize) {
        self.steps.push(
            RadixSelectStep::Bucket { digit: bucket as u32, below: below as u32, inside: size as u32 }.into(),
        );
    }

    fn narrowed(&mut self) {
        self.steps.push(RadixSelectStep::Narrowed.into());
    }

    fn taken(&mut self, found: &[Key]) {
        self.steps.push(RadixSelectStep::Gathered { keys: found.to_vec() }.into());
    }
}

// Radix select on a GPU: its trace as steps.

/// Decodes the GPU's steps and checks them against the twin's, and its answer against its own steps.
pub(crate) fn compare(trace: &PassTrace, twin: &Recording) -> Result<Vec<Step>> {
    let mut recorder = Recorder::new(twin.shape());
    let decoded = trace.replay(&mut recorder);
    if decoded.is_ok() {
        // The trace ends with the gathered keys; the answer is their sort.
        recorder.finish();
    }
    check_trace(decoded, recorder.steps, &trace.neighbours, twin)
}
