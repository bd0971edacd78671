//! The observer of the twin that records the steps.

use std::sync::Arc;

use crate::Result;
use crate::engines::cuda::Cuda;
use crate::engines::cuda::trace::{Event, Trace, elements, groups_in_batch, lanes};
use crate::engines::lockstep::{
    self, Fault, Key, Lanes, ObservedSearch, Observer, PADDING, index_of, key_of,
};
use crate::error::LessonError;
use crate::fault::Consequences;
use crate::from_gpu::{self, StepChecker, WARP, check_answer};
use crate::knn::Problem;
use crate::knn::network::Layer;
use crate::memory;
use crate::recording::{Parameters, Recording};
use crate::state::Shape;
use crate::step::{AppendedCandidate, ElementSet, SlotAssignment, SortPass, Step};

/// Runs the twin on one query with a warp of `width` lanes and records its steps. `batch` is the number of
/// groups staged at a time, `None` for the default of a run; `data` describes the source of the points.
///
/// # Errors
/// [`LessonError`] for widths other than 4, 8, 16 and 32, and if k is too large.
pub fn record(
    problem: Arc<Problem>,
    query: usize,
    width: u32,
    batch: Option<usize>,
    data: &str,
) -> Result<Recording> {
    record_with_fault(None, problem, query, width, batch, data)
}

/// Records the twin with an injected fault, and the fault's effect.
///
/// # Errors
/// The same as those of [`record`].
pub fn record_faulty(
    fault: Fault,
    problem: Arc<Problem>,
    query: usize,
    width: u32,
    batch: Option<usize>,
    data: &str,
) -> Result<Recording> {
    let sound = record(problem.clone(), query, width, batch, data)?;
    let faulty = record_with_fault(Some(fault), problem, query, width, batch, data)?;
    let consequences = Consequences::compare(&faulty, &sound);
    Ok(faulty.with_consequences(consequences))
}

fn record_with_fault(
    fault: Option<Fault>,
    problem: Arc<Problem>,
    query: usize,
    width: u32,
    batch: Option<usize>,
    data: &str,
) -> Result<Recording> {
    Shape::check(width, problem.k())?;
    match width {
        4 => record_width::<4>(fault, problem, query, batch, data),
        8 => record_width::<8>(fault, problem, query, batch, data),
        16 => record_width::<16>(fault, problem, query, batch, data),
        _ => record_width::<32>(fault, problem, query, batch, data),
    }
}

fn record_width<const W: usize>(
    fault: Option<Fault>,
    problem: Arc<Problem>,
    query: usize,
    batch: Option<usize>,
    data: &str,
) -> Result<Recording> {
    let shape = Shape::for_problem(&problem, W as u32);
    let recorder = Recorder::<W>::new(shape.registers as usize, fault);
    let ObservedSearch { observer, .. } = lockstep::observe::<W, _>(&problem, query, batch, recorder);
    let parameters =
        Parameters { fault, ..Parameters::new(&lockstep::LOCKSTEP, shape, &problem, query, data) };
    Ok(Recording::new(parameters, problem, query, observer.steps.finish()?))
}

/// Recorded steps, limited by free memory: in the worst order, every few points cause a merge.
#[derive(Default)]
pub(crate) struct StepLog {
    steps: Vec<Step>,
    short: Option<memory::InsufficientMemory>,
}

impl StepLog {
    /// Steps between two memory checks, and the most memory they need, keyframes included.
    const BLOCK: usize = 1 << 14;
    const BYTES_PER_BLOCK: u64 = 16 << 20;

    pub fn push(&mut self, step: Step) {
        if self.short.is_some() {
            return;
        }
        if self.steps.len().is_multiple_of(Self::BLOCK) {
            // A vector that grows is copied into one of twice the size.
            let copy = 2 * size_of::<Step>() * self.steps.len();
            self.short = memory::check(copy as u64 + Self::BYTES_PER_BLOCK).err();
        }
        self.steps.push(step);
    }

    /// # Errors
    /// [`LessonError::Memory`] if steps are missing.
    pub fn finish(self) -> Result<Vec<Step>> {
        self.short.map_or(Ok(self.steps), |short| Err(short.into()))
    }
}

/// Runs the twin with a buffer of one slot, so that each candidate is merged at once: the candidates'
/// positions, ascending.
pub(crate) fn candidates_without_buffer(problem: &Problem, query: usize) -> Vec<u32> {
    lockstep::observe::<32, _>(problem, query, None, UnbufferedCandidates(Vec::new())).observer.0
}

struct UnbufferedCandidates(Vec<u32>);

impl Observer<32> for UnbufferedCandidates {
    fn slots(&self, _: u32) -> u32 {
        1
    }

    fn slot(&mut self, _: u32, _: u32, key: Option<Key>) {
        self.0.extend(key.map(index_of));
    }
}

struct Recorder<const W: usize> {
    /// The injected fault.
    fault: Option<Fault>,
    steps: StepLog,
    /// End of the current batch.
    end: u32,
    registers: usize,
    /// The registers after the last step, by element.
    keys: Vec<Key>,
    /// The registers just observed, by element.
    now: Vec<Key>,
    pass: SortPass,
    max_distance: f32,
    slots: Vec<SlotAssignment>,
    placed: Vec<AppendedCandidate>,
}

impl<const W: usize> Recorder<W> {
    fn new(registers: usize, fault: Option<Fault>) -> Self {
        let keys = vec![PADDING; W * registers];
        let now = keys.clone();
        let (steps, slots, placed) = (StepLog::default(), Vec::new(), Vec::new());
        Self {
            fault,
            steps,
            end: 0,
            registers,
            keys,
            now,
            pass: SortPass::Sort,
            max_distance: f32::INFINITY,
            slots,
            placed,
        }
    }

    /// Stores the observed registers by element.
    fn observe(&mut self, registers: &[Lanes<Key, W>]) {
        for (register, keys) in registers.iter().enumerate() {
            for (lane, &key) in keys.iter().enumerate() {
                self.now[lane * self.registers + register] = key;
            }
        }
    }

    /// The elements that have changed, among those for which `counts` holds.
    fn changed(&self, counts: impl Fn(u32) -> bool) -> ElementSet {
        let pairs = self.now.iter().zip(&self.keys).enumerate();
        pairs.filter(|(i, (now, before))| now != before && counts(*i as u32)).map(|(i, _)| i as u32).collect()
    }

    fn step(&mut self, step: Step) {
        self.steps.push(step);
        std::mem::swap(&mut self.keys, &mut self.now);
    }
}

impl<const W: usize> Observer<W> for Recorder<W> {
    fn fault(&self) -> Option<Fault> {
        self.fault
    }

    fn batch(&mut self, first: u32, end: u32) {
        self.end = end;
        self.steps.push(Step::Batch { first, end });
    }

    fn group(&mut self, base: u32, distances: &Lanes<f32, W>, candidates: u32) {
        if base >= self.end {
            return;
        }
        let distances = if candidates == 0 { Vec::new() } else { distances.to_vec() };
        self.steps.push(Step::Group { base, distances });
        self.steps.push(Step::Ballot { mask: candidates });
    }

    fn slot(&mut self, lane: u32, slot: u32, key: Option<Key>) {
        self.slots.push(SlotAssignment { lane, slot });
        self.placed.extend(key.map(|key| AppendedCandidate { lane, slot, key }));
    }

    fn appended(&mut self) {
        // With exact capacity: recordings contain many of them.
        self.steps.push(Step::Positions { slots: self.slots.as_slice().to_vec() });
        self.steps.push(Step::Appended { placed: self.placed.as_slice().to_vec() });
        self.slots.clear();
        self.placed.clear();
    }

    fn filtered_again(&mut self, rest: u32, mask: u32) {
        self.steps.push(Step::FilteredAgain { rest, mask });
    }

    fn full(&mut self) {
        self.steps.push(Step::BufferFull);
    }

    fn padded(&mut self, first: u32) {
        self.steps.push(Step::Padded { first });
    }

    fn swapped(&mut self, registers: &[Lanes<Key, W>]) {
        self.observe(registers);
        self.pass = SortPass::Sort;
        self.step(Step::Swap);
    }

    fn layer(&mut self, size: usize, stride: usize, keys: &[Lanes<Key, W>]) {
        self.observe(keys);
        let layer = Layer { size: size as u32, stride: stride as u32 };
        let swapped = self.changed(|element| element & layer.stride == 0);
        let shuffle = layer.lane_stride(self.registers as u32);
        self.step(Step::Layer { pass: self.pass, layer, shuffle, swapped });
    }

    fn minimum(&mut self, keys: &[Lanes<Key, W>]) {
        self.observe(keys);
        let taken = self.changed(|_| true);
        self.pass = SortPass::Resort;
        self.step(Step::Minimum { taken });
    }

    fn merged(&mut self, points_seen: u32, max_distance: f32) {
        let before = std::mem::replace(&mut self.max_distance, max_distance);
        self.steps.push(Step::MaxDistance { points_seen, before, max_distance });
    }

    fn finished(&mut self) {
        self.steps.push(Step::Finished);
    }
}

impl Shape {
    /// Checks whether a warp can be recorded with these parameters.
    ///
    /// # Errors
    /// [`LessonError::Width`] unless the width is 4, 8, 16 or 32, [`LessonError::K`] above 32 neighbours per
    /// lane.
    pub fn check(width: u32, k: usize) -> Result<()> {
        if ![4, 8, 16, 32].contains(&width) {
            return Err(LessonError::Width { width });
        }
        let most = width as usize * 32;
        if k > most { Err(LessonError::K { k, width, most }) } else { Ok(()) }
    }
}

// The kernel's search on a GPU: its trace as steps.

/// The GPU's recording of the kernel's search.
pub fn record_on_gpu(twin: &Recording, cuda: &mut Cuda) -> Result<Recording> {
    let (problem, query) = (twin.problem(), twin.query());
    let groups = groups_in_batch(problem.dims(), groups_per_batch(twin));
    let again = if first_batch(twin) == (groups * WARP as usize).min(problem.n()) {
        None
    } else {
        Some(record(problem.clone(), query, WARP, Some(groups), &twin.parameters.data)?)
    };
    let twin = again.as_ref().unwrap_or(twin);
    let trace = cuda.trace(problem, query, groups)?;
    let steps = compare(&trace, twin)?;
    Ok(from_gpu::recording(twin, (steps, trace.device)))
}

/// Number of points in the first batch.
fn first_batch(recording: &Recording) -> usize {
    let end = recording
        .steps()
        .iter()
        .find_map(|step| if let Step::Batch { end, .. } = step { Some(*end as usize) } else { None });
    end.unwrap_or(recording.problem().n())
}

/// Number of groups per batch; `None` if one batch holds all points: then any larger size works, and the
/// default is already compiled.
pub(crate) fn groups_per_batch(recording: &Recording) -> Option<usize> {
    let points = first_batch(recording);
    (points < recording.problem().n()).then(|| points / recording.shape().width as usize)
}

/// Decodes the GPU's steps and checks them against the twin's, and its answer against its own steps.
pub(crate) fn compare(trace: &Trace, twin: &Recording) -> Result<Vec<Step>> {
    let steps = read(trace, twin)?;
    check_answer(&steps, &trace.neighbours, twin)?;
    Ok(steps)
}

/// Decodes steps for as long as they equal the twin's.
fn read(trace: &Trace, twin: &Recording) -> Result<Vec<Step>> {
    let mut reader = TraceDecoder {
        registers: twin.shape().registers,
        pass: SortPass::Sort,
        max_distance: f32::INFINITY,
        steps: Vec::new(),
    };
    let mut checker = StepChecker::default();
    for event in trace.events() {
        reader.read_event(event?)?;
        checker.check(&reader.steps, twin)?;
    }
    checker.check_end(twin)?;
    Ok(reader.steps)
}

/// Decodes trace events into steps.
struct TraceDecoder {
    registers: u32,
    /// The sort that layers belong to: the first after a swap, the second after a minimum.
    pass: SortPass,
    /// The `max_distance` before the current merge.
    max_distance: f32,
    steps: Vec<Step>,
}

impl TraceDecoder {
    fn read_event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Batch { first, end } => self.steps.push(Step::Batch { first, end }),
            Event::Group { base, candidates, distances } => {
                let distances = distances.iter().map(|&bits| f32::from_bits(bits)).collect();
                self.steps.extend([Step::Group { base, distances }, Step::Ballot { mask: candidates }]);
            }
            Event::Appended { candidates, placed, slots, keys } => {
                let slots: Vec<SlotAssignment> =
                    lanes(candidates).zip(slots).map(|(lane, &slot)| SlotAssignment { lane, slot }).collect();
                let wrote = slots.iter().filter(|slot| placed >> slot.lane & 1 == 1);
                let key = |&[index, distance]: &[u32; 2]| key_of(f32::from_bits(distance), index);
                let placed = wrote
                    .zip(keys)
                    .map(|(slot, words)| AppendedCandidate {
                        lane: slot.lane,
                        slot: slot.slot,
                        key: key(words),
                    })
                    .collect();
                self.steps.extend([Step::Positions { slots }, Step::Appended { placed }]);
            }
            Event::FilteredAgain { rest, candidates } => {
                self.steps.push(Step::FilteredAgain { rest, mask: candidates })
            }
            Event::Full => self.steps.push(Step::BufferFull),
            Event::Padded { first } => self.steps.push(Step::Padded { first }),
            Event::Swapped => {
                self.pass = SortPass::Sort;
                self.steps.push(Step::Swap);
            }
            Event::Layer { size, stride, changed } => {
                let layer = Layer { size, stride };
                let swapped = self.swapped(layer, changed)?;
                self.steps.push(Step::Layer {
                    pass: self.pass,
                    layer,
                    shuffle: layer.lane_stride(self.registers),
                    swapped,
                });
            }
            Event::Minimum { changed } => {
                self.pass = SortPass::Resort;
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
    fn swapped(&self, layer: Layer, changed: &[u32]) -> Result<ElementSet> {
        let all: ElementSet = elements(changed).collect();
        match all.iter().find(|element| !all.contains(element ^ layer.stride)) {
            Some(element) => Err(LessonError::HalfSwap {
                step: self.steps.len() + 1,
                element,
                partner: element ^ layer.stride,
            }),
            None => Ok(all.iter().filter(|element| element & layer.stride == 0).collect()),
        }
    }
}
