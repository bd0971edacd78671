//! The kernel's search on a GPU: its trace as steps.

use super::recorder;
use crate::engines::cuda::Cuda;
use crate::engines::cuda::trace::{Event, Trace, elements, groups_in_batch, lanes};
use crate::engines::lockstep::key_of;
use crate::from_gpu::{self, Compared, WARP, answers};
use crate::knn::network::Layer;
use crate::recording::{LessonError, Recording};
use crate::step::{Elements, Pass, Placed, Slot, Step};

/// The GPU's recording of the kernel's search.
pub fn record(twin: &Recording, cuda: &mut Cuda) -> Result<Recording, LessonError> {
    let (problem, query) = (twin.problem(), twin.query());
    let groups = groups_in_batch(problem.dims(), batch_of(twin));
    let again = if first_batch(twin) == (groups * WARP as usize).min(problem.n()) {
        None
    } else {
        Some(recorder::record(problem.clone(), query, WARP, Some(groups), &twin.parameters.data)?)
    };
    let twin = again.as_ref().unwrap_or(twin);
    let trace = cuda.trace(problem, query, groups)?;
    let steps = compare(&trace, twin)?;
    Ok(from_gpu::recording(twin, (steps, trace.device)))
}

/// Number of points in the first batch.
fn first_batch(recording: &Recording) -> usize {
    let end = recording.steps().iter().find_map(|step| if let Step::Batch { end, .. } = step { Some(*end as usize) } else { None });
    end.unwrap_or(recording.problem().n())
}

/// Number of groups per batch; `None` if one batch holds all points, since any size that is large enough will do and the
/// default is already compiled.
pub(crate) fn batch_of(recording: &Recording) -> Option<usize> {
    let points = first_batch(recording);
    (points < recording.problem().n()).then(|| points / recording.shape().width as usize)
}

/// Decodes the GPU's steps and checks them against the twin's, and its answer against its own steps.
pub(crate) fn compare(trace: &Trace, twin: &Recording) -> Result<Vec<Step>, LessonError> {
    let steps = read(trace, twin)?;
    answers(&steps, &trace.neighbours, twin)?;
    Ok(steps)
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
