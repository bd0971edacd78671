//! What a warp executes in a step of threads with a query each.

use super::HeapStep;
use super::state::lanes_in;
use crate::algorithms::OwnStep;
use crate::state::State;
use crate::step::Step;
use crate::work::{Instruction, Issued, Kind, full, once, row};

const HEAP: &str = "kdtree/heap.cuh";
const THREADS: &str = "select/thread_heap.cuh";

/// Threads with a query each compute their distances as the kernel does; the engine `thread-heap` reads them from a matrix.
pub(crate) const OWN_DISTANCES: &[Instruction] = &[row(Kind::Distance, THREADS, "float distance = tile[lane][point];", |_, state| full(1, state))];

pub(crate) const BRANCHED: &[Instruction] = &[
    row(Kind::Comparison, THREADS, "if (distance < bound) {", |_, state| full(1, state)),
    // After those that insert, if there are any.
    row(Kind::Barrier, THREADS, "            __syncwarp();", |_, state| full(1, state)),
];

/// The lanes of a round of sinking, those of them whose entry has a second child, and those whose key moved.
fn sinking(step: &Step, before: &State) -> [u32; 3] {
    let (Step::Own(OwnStep::Heap(HeapStep::Sank { lanes, moved })), Some(heaps)) = (step, before.heaps()) else { return [0; 3] };
    let two = lanes_in(*lanes).filter(|&lane| heaps.has_second_child(heaps.holes[lane as usize])).count();
    [lanes.count_ones(), two as u32, moved.len() as u32]
}

pub(crate) const SANK: &[Instruction] = &[
    row(Kind::Read, HEAP, "Key larger = at(child);", |step, state| once(sinking(step, state)[0])),
    row(Kind::Read, HEAP, "if (child + 1 < end && at(child + 1) > larger) {", |step, state| once(sinking(step, state)[1])),
    row(Kind::Comparison, HEAP, "if (child + 1 < end && at(child + 1) > larger) {", |step, state| once(sinking(step, state)[1])),
    row(Kind::Comparison, HEAP, "if (larger <= key) {", |step, state| once(sinking(step, state)[0])),
    row(Kind::Write, HEAP, "at(hole) = larger;", |step, state| once(sinking(step, state)[2])),
];

pub(crate) const REJOINED: &[Instruction] = &[
    row(Kind::Write, HEAP, "at(hole) = key;", |step, _| {
        if let Some(HeapStep::Rejoined { lanes }) = step.heap() { once(lanes.count_ones()) } else { Issued::default() }
    }),
    row(Kind::Read, HEAP, "root = at(0);", |step, _| {
        if let Some(HeapStep::Rejoined { lanes }) = step.heap() { once(lanes.count_ones()) } else { Issued::default() }
    }),
];

pub(crate) const EXTRACTED: &[Instruction] = &[
    row(Kind::Read, HEAP, "Key last = at(end - 1);", |_, state| full(1, state)),
    row(Kind::Read, HEAP, "at(end - 1) = at(0);", |_, state| full(1, state)),
    row(Kind::Write, HEAP, "at(end - 1) = at(0);", |_, state| full(1, state)),
    // Where the key that sinks from there ends.
    row(Kind::Write, HEAP, "at(hole) = key;", |_, state| full(1, state)),
];

/// The instructions of a step.
pub(crate) fn rows(step: &HeapStep) -> &'static [Instruction] {
    match step {
        HeapStep::Heaps { .. } => &[],
        HeapStep::OwnDistances { .. } => OWN_DISTANCES,
        HeapStep::Branched { .. } => BRANCHED,
        HeapStep::Sank { .. } => SANK,
        HeapStep::Rejoined { .. } => REJOINED,
        HeapStep::Extracted { .. } => EXTRACTED,
    }
}
