//! The same search on a GPU: the trace of its kernel is decoded into steps, and each is compared with the
//! twin's.

use super::recording::{Parameters, Recording};
use super::state::{Shape, State};
use super::step::Step;
use crate::Result;
use crate::engines::cuda::Cuda;
use crate::engines::cuda::trace::TraceError;
use crate::engines::lockstep::{distance_of, index_of};
use crate::error::LessonError;

/// Number of lanes of a GPU's warp.
pub(crate) const WARP: u32 = 32;

/// Characters of a step shown around the first difference.
const SHOWN: usize = 60;

impl Shape {
    /// Rejects widths that a GPU cannot record.
    ///
    /// # Errors
    /// [`LessonError::GpuWidth`] unless the width is 32.
    pub fn check_gpu(width: u32) -> Result<()> {
        if width == WARP { Ok(()) } else { Err(LessonError::GpuWidth { width }) }
    }
}

/// Repeats a recorded search on a GPU and returns the GPU's recording, whose steps equal the twin's to the
/// bit. If the GPU cannot stage as many points at a time as the twin, its batches are smaller.
///
/// # Errors
/// [`LessonError::GpuWidth`], [`LessonError::Engine`]; and if the GPU behaved differently,
/// [`LessonError::Trace`], [`LessonError::HalfSwap`], [`LessonError::StepDiffers`] or
/// [`LessonError::WrongAnswer`].
pub fn record_on_gpu(twin: &Recording, cuda: &mut Cuda) -> Result<Recording> {
    Shape::check_gpu(twin.shape().width)?;
    twin.algorithm().record_on_gpu(twin, cuda)
}

/// The GPU's recording of the twin's search.
pub(crate) fn recording(twin: &Recording, (steps, recorded_on): (Vec<Step>, String)) -> Recording {
    let parameters = Parameters { recorded_on, ..twin.parameters.clone() };
    Recording::new(parameters, twin.problem().clone(), twin.query(), steps)
        .with_baseline(twin.baseline().clone())
}

/// Checks a GPU's steps against the twin's, and its answer against its steps.
pub(crate) fn check_trace(
    decoded: Result<(), TraceError>,
    steps: Vec<Step>,
    neighbours: &[(u32, f32)],
    twin: &Recording,
) -> Result<Vec<Step>> {
    // If the trace cannot be decoded, the first differing step says more.
    let mut checker = StepChecker::default();
    checker.check(&steps, twin)?;
    decoded?;
    checker.check_end(twin)?;
    check_answer(&steps, neighbours, twin)?;
    Ok(steps)
}

/// Checks the GPU's returned neighbours against the result of its steps.
pub(crate) fn check_answer(steps: &[Step], neighbours: &[(u32, f32)], twin: &Recording) -> Result<()> {
    let mut end = State::new(twin.shape());
    for step in steps {
        end.apply(step);
    }
    let expected = end
        .registers
        .iter()
        .take(twin.shape().k as usize)
        .map(|&key| (index_of(key), distance_of(key).to_bits()));
    let found = neighbours.iter().map(|&(position, distance)| (position, distance.to_bits()));
    if expected.clone().eq(found.clone()) {
        return Ok(());
    }
    Err(LessonError::WrongAnswer {
        rank: expected.zip(found).take_while(|(expected, found)| expected == found).count(),
    })
}

/// Number of steps equal to the twin's so far.
#[derive(Default)]
pub(crate) struct StepChecker(usize);

impl StepChecker {
    /// Compares the new steps.
    pub(crate) fn check(&mut self, steps: &[Step], twin: &Recording) -> Result<()> {
        while let Some(step) = steps.get(self.0) {
            let expected = twin.steps().get(self.0);
            self.0 += 1;
            if !expected.is_some_and(|expected| same(step, expected)) {
                return Err(differs(self.0, Some(step), expected));
            }
        }
        Ok(())
    }

    /// Whether the twin has no further steps.
    pub(crate) fn check_end(&self, twin: &Recording) -> Result<()> {
        match twin.steps().get(self.0) {
            Some(step) => Err(differs(self.0 + 1, None, Some(step))),
            None => Ok(()),
        }
    }
}

/// Whether two steps are equal to the bit.
fn same(a: &Step, b: &Step) -> bool {
    let bits = |distances: &[f32]| distances.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>();
    match (a, b) {
        (Step::Group { base: a, distances: of_a }, Step::Group { base: b, distances: of_b }) => {
            a == b && bits(of_a) == bits(of_b)
        }
        // In other steps distances are part of keys, which compare as integers, or derive from keys.
        _ => a == b,
    }
}

/// The error for differing steps, with an excerpt of both around the first difference.
fn differs(number: usize, gpu: Option<&Step>, twin: Option<&Step>) -> LessonError {
    let text = |step: Option<&Step>| match step {
        Some(step) => serde_json::to_string(step).unwrap_or_else(|why| why.to_string()),
        None => "ended".to_owned(),
    };
    let (gpu, twin) = (text(gpu), text(twin));
    let same = gpu.bytes().zip(twin.bytes()).take_while(|(a, b)| a == b).count();
    let about = |text: &str| {
        if text.len() <= 2 * SHOWN {
            return text.to_owned();
        }
        // Steps are formatted in ASCII.
        let from = same.saturating_sub(SHOWN).min(text.len() - SHOWN);
        let to = (from + 2 * SHOWN).min(text.len());
        format!(
            "{}{}{}",
            if from > 0 { "\u{2026}" } else { "" },
            &text[from..to],
            if to < text.len() { "\u{2026}" } else { "" }
        )
    };
    LessonError::StepDiffers { step: number, gpu: about(&gpu), twin: about(&twin) }
}
