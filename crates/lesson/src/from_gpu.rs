//! The same search on a GPU: the trace of its kernel is decoded into steps, and each is compared with the twin's.

use super::recording::{Beside, LessonError, Parameters, Recording};
use super::state::{Shape, State};
use super::step::{Elements, Pass, Placed, Slot, Step};
use crate::algorithms::kernel::recorder::record;
use crate::algorithms::radix_select::recorder::Recorder as PassRecorder;
use crate::algorithms::tree::recorder::Recorder as TreeRecorder;
use crate::algorithms::warp_select::recorder::Recorder as QueueRecorder;
use crate::engines::cuda::Cuda;
use crate::engines::cuda::trace::{Event, PassTrace, QueueTrace, Trace, TraceError, TreeTrace, elements, groups_in_batch, lanes};
use crate::engines::lockstep::{distance_of, index_of, key_of};
use crate::knn::network::Layer;

/// Number of lanes of a GPU's warp.
const WARP: u32 = 32;

/// Characters of a step shown around the first difference.
const SHOWN: usize = 60;

impl Shape {
    /// Refuses parameters that no GPU can record.
    ///
    /// # Errors
    /// [`LessonError::GpuWidth`] unless the width is 32.
    pub fn check_gpu(width: u32) -> Result<(), LessonError> {
        if width == WARP { Ok(()) } else { Err(LessonError::GpuWidth { width }) }
    }
}

/// Repeats a recorded search on a GPU and returns the GPU's recording, whose steps equal the twin's to the bit. If the GPU
/// cannot stage as many points at a time as the twin, its batches are smaller.
///
/// # Errors
/// [`LessonError::GpuWidth`], [`LessonError::Engine`]; and if the GPU behaved differently, [`LessonError::Trace`],
/// [`LessonError::Torn`], [`LessonError::Differs`] or [`LessonError::Answers`].
pub fn record_on_gpu(twin: &Recording, cuda: &mut Cuda) -> Result<Recording, LessonError> {
    Shape::check_gpu(twin.shape().width)?;
    let (problem, query) = (twin.problem(), twin.query());
    let told = match twin.held_against() {
        Beside::Theory => None,
        Beside::Tree(_) => {
            let trace = cuda.trace_tree(problem, query)?;
            Some((compare_tree(&trace, twin)?, trace.device))
        }
        Beside::Queues(queued) => {
            let trace = cuda.trace_queues(problem, query)?;
            Some((compare_queues(&trace, twin, queued.length)?, trace.device))
        }
        Beside::Heaps => return Err(LessonError::TwinAlone),
        Beside::Digits(_) => {
            let trace = cuda.trace_passes(problem, query)?;
            Some((compare_passes(&trace, twin)?, trace.device))
        }
    };
    if let Some((steps, recorded_on)) = told {
        let parameters = Parameters { recorded_on, ..twin.parameters.clone() };
        return Ok(Recording::new(parameters, problem.clone(), query, steps).beside(twin.held_against().clone()));
    }
    let groups = groups_in_batch(problem.dims(), batch_of(twin));
    let again = if first_batch(twin) == (groups * WARP as usize).min(problem.n()) {
        None
    } else {
        Some(record(problem.clone(), query, WARP, Some(groups), &twin.parameters.data)?)
    };
    let twin = again.as_ref().unwrap_or(twin);
    let trace = cuda.trace(problem, query, groups)?;
    let steps = compare(&trace, twin)?;
    let parameters = Parameters { recorded_on: trace.device, ..twin.parameters.clone() };
    Ok(Recording::new(parameters, problem.clone(), query, steps))
}

/// Number of points in the first batch.
fn first_batch(recording: &Recording) -> usize {
    let end = recording.steps().iter().find_map(|step| if let Step::Batch { end, .. } = step { Some(*end as usize) } else { None });
    end.unwrap_or(recording.problem().n())
}

/// Number of groups per batch; `None` if one batch holds all points, since any size that is large enough will do and the
/// default is already compiled.
pub(super) fn batch_of(recording: &Recording) -> Option<usize> {
    let points = first_batch(recording);
    (points < recording.problem().n()).then(|| points / recording.shape().width as usize)
}

/// Decodes the GPU's steps and checks them against the twin's, and its answer against its own steps.
pub(super) fn compare(trace: &Trace, twin: &Recording) -> Result<Vec<Step>, LessonError> {
    let steps = read(trace, twin)?;
    answers(&steps, &trace.neighbours, twin)?;
    Ok(steps)
}

/// The same of a tree's search.
pub(super) fn compare_tree(trace: &TreeTrace, twin: &Recording) -> Result<Vec<Step>, LessonError> {
    let mut recorder = TreeRecorder::new(twin.shape().capacity());
    let told = trace.tell(&mut recorder);
    compare_told(told, recorder.steps, &trace.neighbours, twin)
}

/// The same of warp select, with lanes' queues of `length` keys.
pub(super) fn compare_queues(trace: &QueueTrace, twin: &Recording, length: u32) -> Result<Vec<Step>, LessonError> {
    let mut recorder = QueueRecorder::new(twin.shape(), length as usize);
    let told = trace.tell(&mut recorder);
    compare_told(told, recorder.steps, &trace.neighbours, twin)
}

/// The same of a selection by digits.
pub(super) fn compare_passes(trace: &PassTrace, twin: &Recording) -> Result<Vec<Step>, LessonError> {
    let mut recorder = PassRecorder::new(twin.shape());
    let told = trace.tell(&mut recorder);
    if told.is_ok() {
        // The trace ends with what was taken; the answer is what a sort made of it.
        recorder.finish();
    }
    compare_told(told, recorder.steps, &trace.neighbours, twin)
}

/// The same of the steps that a recorder was told.
fn compare_told(told: Result<(), TraceError>, steps: Vec<Step>, neighbours: &[(u32, f32)], twin: &Recording) -> Result<Vec<Step>, LessonError> {
    // Where the words are no trace, the first step that differs says more.
    let mut compared = Compared::default();
    compared.with(&steps, twin)?;
    told?;
    compared.end(twin)?;
    answers(&steps, neighbours, twin)?;
    Ok(steps)
}

/// Checks the neighbours that the GPU wrote against those that its steps lead to.
fn answers(steps: &[Step], neighbours: &[(u32, f32)], twin: &Recording) -> Result<(), LessonError> {
    let mut end = State::new(twin.shape());
    for step in steps {
        end.apply(step);
    }
    let expected = end.registers.iter().take(twin.shape().k as usize).map(|&key| (index_of(key), distance_of(key).to_bits()));
    let found = neighbours.iter().map(|&(position, distance)| (position, distance.to_bits()));
    if expected.clone().eq(found.clone()) {
        return Ok(());
    }
    Err(LessonError::Answers { rank: expected.zip(found).take_while(|(expected, found)| expected == found).count() })
}

/// How many steps were found equal to the twin's.
#[derive(Default)]
struct Compared(usize);

impl Compared {
    /// Compares the steps that were not yet.
    fn with(&mut self, steps: &[Step], twin: &Recording) -> Result<(), LessonError> {
        while let Some(step) = steps.get(self.0) {
            let expected = twin.steps().get(self.0);
            self.0 += 1;
            if !expected.is_some_and(|expected| same(step, expected)) {
                return Err(differs(self.0, Some(step), expected));
            }
        }
        Ok(())
    }

    /// Whether the twin has no more.
    fn end(&self, twin: &Recording) -> Result<(), LessonError> {
        match twin.steps().get(self.0) {
            Some(step) => Err(differs(self.0 + 1, None, Some(step))),
            None => Ok(()),
        }
    }
}

/// Decodes steps for as long as they equal the twin's.
fn read(trace: &Trace, twin: &Recording) -> Result<Vec<Step>, LessonError> {
    let mut reader = Reader { registers: twin.shape().registers, pass: Pass::Sort, max_distance: f32::INFINITY, steps: Vec::new() };
    let mut compared = Compared::default();
    for event in trace.events() {
        reader.take(event?)?;
        compared.with(&reader.steps, twin)?;
    }
    compared.end(twin)?;
    Ok(reader.steps)
}

/// Whether two steps are equal to the bit.
fn same(a: &Step, b: &Step) -> bool {
    let bits = |distances: &[f32]| distances.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>();
    match (a, b) {
        (Step::Group { base: a, distances: of_a }, Step::Group { base: b, distances: of_b }) => a == b && bits(of_a) == bits(of_b),
        // In other steps distances are part of keys, which compare as integers, or derive from keys.
        _ => a == b,
    }
}

/// Decodes trace events into steps.
struct Reader {
    registers: u32,
    /// The sort that layers belong to: the first after a swap, the second after a minimum.
    pass: Pass,
    /// The `max_distance` before the current merge.
    max_distance: f32,
    steps: Vec<Step>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Result<(), LessonError> {
        match event {
            Event::Batch { first, end } => self.steps.push(Step::Batch { first, end }),
            Event::Group { base, candidates, distances } => {
                let distances = distances.iter().map(|&bits| f32::from_bits(bits)).collect();
                self.steps.extend([Step::Group { base, distances }, Step::Ballot { mask: candidates }]);
            }
            Event::Appended { candidates, placed, slots, keys } => {
                let slots: Vec<Slot> = lanes(candidates).zip(slots).map(|(lane, &slot)| Slot { lane, slot }).collect();
                let wrote = slots.iter().filter(|slot| placed >> slot.lane & 1 == 1);
                let key = |&[index, distance]: &[u32; 2]| key_of(f32::from_bits(distance), index);
                let placed = wrote.zip(keys).map(|(slot, words)| Placed { lane: slot.lane, slot: slot.slot, key: key(words) }).collect();
                self.steps.extend([Step::Positions { slots }, Step::Appended { placed }]);
            }
            Event::FilteredAgain { rest, candidates } => self.steps.push(Step::FilteredAgain { rest, mask: candidates }),
            Event::Full => self.steps.push(Step::BufferFull),
            Event::Padded { first } => self.steps.push(Step::Padded { first }),
            Event::Swapped => {
                self.pass = Pass::Sort;
                self.steps.push(Step::Swap);
            }
            Event::Layer { size, stride, changed } => {
                let layer = Layer { size, stride };
                let swapped = self.swapped(layer, changed)?;
                self.steps.push(Step::Layer { pass: self.pass, layer, shuffle: layer.lane_stride(self.registers), swapped });
            }
            Event::Minimum { changed } => {
                self.pass = Pass::Resort;
                self.steps.push(Step::Minimum { taken: elements(changed).collect() });
            }
            Event::Merged { points_seen, max_distance } => {
                let before = std::mem::replace(&mut self.max_distance, max_distance);
                self.steps.push(Step::MaxDistance { points_seen, before, max_distance });
            }
            Event::Finished => self.steps.push(Step::Finished),
        }
        Ok(())
    }

    /// The comparators that exchanged their elements, as their lower elements. Either both elements of a
    /// pair changed, or neither.
    fn swapped(&self, layer: Layer, changed: &[u32]) -> Result<Elements, LessonError> {
        let all: Elements = elements(changed).collect();
        match all.iter().find(|element| !all.contains(element ^ layer.stride)) {
            Some(element) => Err(LessonError::Torn { step: self.steps.len() + 1, element, partner: element ^ layer.stride }),
            None => Ok(all.iter().filter(|element| element & layer.stride == 0).collect()),
        }
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
        format!("{}{}{}", if from > 0 { "\u{2026}" } else { "" }, &text[from..to], if to < text.len() { "\u{2026}" } else { "" })
    };
    LessonError::Differs { step: number, gpu: about(&gpu), twin: about(&twin) }
}
