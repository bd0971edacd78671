//! The heaps of a warp's threads, and which lanes are active.

use serde::{Deserialize, Serialize};

use super::describe::describe;
use crate::algorithms::{AlgorithmState, AlgorithmStep, SpecificState, SpecificStep};
use crate::cursor::Level;
use crate::engines::lockstep::{Key, PADDING, distance_of, key_of};
use crate::recording::Marks;
use crate::state::{Shape, Stage, State, lanes_in};
use crate::step::{SlotAssignment, Step, distances};
use crate::work::{Instruction, IssueCounts, Kind, all_lanes, instruction, once};

/// The heaps of all lanes. A sinking key is stored at its current entry; the kernel holds it in a register
/// until it stops.
#[derive(Clone, Debug, PartialEq)]
pub struct Heaps {
    /// Lanes of the warp, W, and queries.
    pub width: u32,
    /// Keys of a heap, k.
    pub k: u32,
    /// The queries of lanes 1 to W−1, as points. Lane 0's is the recorded one.
    pub others: Vec<u32>,
    /// W·k keys: entry e of lane L is `keys[L·k + e]`.
    pub keys: Vec<Key>,
    /// The entries of each lane that form a heap: k until heaps are sorted.
    pub end: u32,
    /// The current point of all lanes; `None` before the first, and while heaps are sorted.
    pub point: Option<u32>,
    /// The squared distance of that point to each lane's query.
    pub distances: Vec<f32>,
    /// The lanes whose distance is below their root; `None` before the comparison.
    pub inserting: Option<u32>,
    /// The active lanes of the last step; the others waited.
    pub active: u32,
    /// The entry of each lane's sinking key, or of the last one.
    pub holes: Vec<u32>,
    /// Rounds of sinking since the last branch.
    pub rounds: u32,
    /// Points that some lane inserted.
    pub stops: u32,
}

impl AlgorithmState for Heaps {
    fn apply_shared(&mut self, _step: &Step) {
        self.active = 0;
    }

    fn describe(&self, step: &Step, after: &State) -> Option<String> {
        describe(step, after, self)
    }
}

impl Heaps {
    /// Empty heaps.
    pub fn new(shape: Shape, others: Vec<u32>) -> Self {
        Self {
            width: shape.width,
            k: shape.k,
            others,
            keys: vec![PADDING; (shape.width * shape.k) as usize],
            end: shape.k,
            point: None,
            distances: Vec::new(),
            inserting: None,
            active: 0,
            holes: vec![0; shape.width as usize],
            rounds: 0,
            stops: 0,
        }
    }

    /// All lanes of the warp.
    pub fn all(&self) -> u32 {
        u32::MAX >> (32 - self.width)
    }

    /// The keys of a lane's heap, by entry.
    pub fn lane_keys(&self, lane: u32) -> &[Key] {
        &self.keys[(lane * self.k) as usize..][..self.k as usize]
    }

    /// The largest key of a lane's heap: its k-th.
    pub fn root(&self, lane: u32) -> Key {
        self.keys[(lane * self.k) as usize]
    }

    /// Whether a lane's entry has a second child in the heap.
    pub fn has_second_child(&self, entry: u32) -> bool {
        2 * entry + 2 < self.end
    }

    /// Applies a step.
    ///
    /// # Panics
    /// If the step names lanes or entries that do not exist.
    pub fn apply(&mut self, step: &HeapStep) {
        self.active = self.active_in(step);
        let first = |lane: u32| (lane * self.k) as usize;
        match step {
            HeapStep::OwnDistances { point, distances } => {
                self.point = Some(*point);
                self.distances.clone_from(distances);
                self.inserting = None;
            }
            HeapStep::Branched { lanes } => {
                self.inserting = Some(*lanes);
                self.stops += u32::from(*lanes != 0);
                self.rounds = 0;
                for lane in lanes_in(*lanes) {
                    self.keys[first(lane)] =
                        key_of(self.distances[lane as usize], self.point.unwrap_or_default());
                    self.holes[lane as usize] = 0;
                }
            }
            HeapStep::Sank { moved, .. } => {
                for sunk in moved {
                    let hole = &mut self.holes[sunk.lane as usize];
                    self.keys.swap(first(sunk.lane) + *hole as usize, first(sunk.lane) + sunk.slot as usize);
                    *hole = sunk.slot;
                }
                self.rounds += 1;
            }
            HeapStep::Extracted { end } => {
                for lane in 0..self.width {
                    self.keys.swap(first(lane), first(lane) + *end as usize - 1);
                }
                self.holes.fill(0);
                (self.end, self.point, self.inserting, self.rounds) = (end - 1, None, None, 0);
            }
            HeapStep::Heaps { .. } | HeapStep::Rejoined { .. } => {}
        }
    }

    /// The active lanes of a step.
    pub fn active_in(&self, step: &HeapStep) -> u32 {
        match step {
            HeapStep::Sank { lanes, .. } | HeapStep::Rejoined { lanes } => *lanes,
            HeapStep::OwnDistances { .. } | HeapStep::Branched { .. } | HeapStep::Extracted { .. } => {
                self.all()
            }
            HeapStep::Heaps { .. } => 0,
        }
    }
}

// The steps of per-thread heaps besides those of [`Step`](crate::Step).

/// A step of per-thread heaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum HeapStep {
    /// Every lane has a heap of k keys, the largest at its root, entry 0; entries 2e + 1 and 2e + 2 are the
    /// children of entry e. They are empty.
    Heaps {
        /// The queries of lanes 1 to W−1, as points. Lane 0's is the recorded one.
        others: Vec<u32>,
    },
    /// Every lane has computed the squared distance of the same point to its own query.
    OwnDistances {
        /// The point.
        point: u32,
        /// One per lane.
        #[serde(with = "distances")]
        distances: Vec<f32>,
    },
    /// The lanes compared their distance with their own root. A smaller distance replaced the root; the other
    /// lanes wait until these lanes have inserted.
    Branched {
        /// Mask of the lanes that insert.
        lanes: u32,
    },
    /// A round of sinking. A lane's key swapped with the larger of its entry's children, if that is larger
    /// than the key.
    Sank {
        /// Mask of the active lanes: their keys had not stopped yet, and had children.
        lanes: u32,
        /// The entries that keys sank to, lanes ascending. The keys of the other active lanes have stopped.
        moved: Vec<SlotAssignment>,
    },
    /// The lanes that inserted reread their root, and all lanes reconverge.
    Rejoined {
        /// Mask of the lanes that inserted.
        lanes: u32,
    },
    /// All points are seen, and the heaps are being sorted. Each lane's root, its largest key, swapped with
    /// the last of its first `end` entries, whose key sinks among those before it.
    Extracted {
        /// Entries that were a heap until then.
        end: u32,
    },
}

impl AlgorithmStep for HeapStep {
    fn apply(&self, state: &mut State) {
        match self {
            Self::Heaps { others } => state.own = Some(Heaps::new(state.shape, others.clone()).into()),
            Self::OwnDistances { point, .. } => {
                state.counts.points_seen = point + 1;
                state.counts.groups += 1;
                state.stage = Stage::Filter;
            }
            Self::Branched { lanes } => {
                state.counts.groups_hit += u32::from(*lanes != 0);
                state.counts.candidates += lanes.count_ones();
                state.stage = if *lanes == 0 { Stage::Filter } else { Stage::Insert };
            }
            Self::Sank { .. } | Self::Extracted { .. } => state.stage = Stage::Insert,
            Self::Rejoined { lanes } => {
                state.counts.merges += lanes & 1;
                state.stage = Stage::Filter;
            }
        }
        let Some(SpecificState::Heap(heaps)) = &mut state.own else { return };
        heaps.apply(self);
        if matches!(self, Self::Rejoined { lanes } if lanes & 1 == 1) {
            let keys = &mut state.registers[..state.shape.k as usize];
            keys.copy_from_slice(heaps.lane_keys(0));
            keys.sort_unstable();
            state.max_distance = distance_of(heaps.root(0));
        }
    }

    fn cost(&self, shape: Shape) -> u64 {
        match self {
            Self::Heaps { .. } => u64::from(shape.width * shape.k),
            Self::Sank { moved, .. } => moved.len() as u64,
            Self::OwnDistances { .. } | Self::Branched { .. } | Self::Extracted { .. } => {
                u64::from(shape.width)
            }
            // A sorted copy of lane 0's keys.
            Self::Rejoined { lanes } if lanes & 1 == 1 => 4 * u64::from(shape.k),
            Self::Rejoined { .. } => 1,
        }
    }

    fn level(&self) -> Level {
        match self {
            Self::Heaps { .. } => Level::Search,
            // An insertion in lane 0 may move its k-th, as a merge does; insertions in other lanes alone are
            // a stage.
            Self::Rejoined { lanes } if lanes & 1 == 1 => Level::Merge,
            Self::Rejoined { .. } => Level::Stage,
            Self::Branched { lanes: 1.. } | Self::Sank { .. } | Self::Extracted { .. } => Level::Layer,
            Self::OwnDistances { .. } | Self::Branched { .. } => Level::Lane,
        }
    }

    fn mark(&self, before: &State, marks: &mut Marks) {
        let Some(heaps) = before.heaps() else { return };
        match self {
            Self::Branched { lanes } if *lanes != 0 => {
                marks.hit();
                marks
                    .distances
                    .extend(lanes_in(*lanes).filter_map(|lane| heaps.distances.get(lane as usize)));
            }
            Self::Rejoined { lanes } if lanes & 1 == 1 => {
                marks.merge(distance_of(heaps.root(0)) != before.max_distance)
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Heaps { others } => size_of_val(&**others),
            Self::OwnDistances { distances, .. } => size_of_val(&**distances),
            Self::Sank { moved, .. } => size_of_val(&**moved),
            _ => 0,
        }
    }

    fn instructions(&self) -> &'static [Instruction] {
        instructions(self)
    }
}

// The instructions of each step of per-thread heaps.

const HEAP: &str = "kdtree/heap.cuh";
const THREADS: &str = "select/thread_heap.cuh";

/// Threads compute their distances as the kernel does; the engine `thread-heap` reads them from a matrix.
pub(crate) const OWN_DISTANCES: &[Instruction] =
    &[instruction(Kind::Distance, THREADS, "float distance = tile[lane][point];", |_, state| {
        all_lanes(1, state)
    })];

pub(crate) const BRANCHED: &[Instruction] = &[
    instruction(Kind::Comparison, THREADS, "if (distance < bound) {", |_, state| all_lanes(1, state)),
    // After the lanes that insert, if any.
    instruction(Kind::Barrier, THREADS, "            __syncwarp();", |_, state| all_lanes(1, state)),
];

/// The active lanes of a round, those whose entry has a second child, and those whose key moved.
fn sinking(step: &Step, before: &State) -> [u32; 3] {
    let (Step::Own(SpecificStep::Heap(HeapStep::Sank { lanes, moved })), Some(heaps)) =
        (step, before.heaps())
    else {
        return [0; 3];
    };
    let two = lanes_in(*lanes).filter(|&lane| heaps.has_second_child(heaps.holes[lane as usize])).count();
    [lanes.count_ones(), two as u32, moved.len() as u32]
}

pub(crate) const SANK: &[Instruction] = &[
    instruction(Kind::Read, HEAP, "Key larger = at(child);", |step, state| once(sinking(step, state)[0])),
    instruction(Kind::Read, HEAP, "if (child + 1 < end && at(child + 1) > larger) {", |step, state| {
        once(sinking(step, state)[1])
    }),
    instruction(Kind::Comparison, HEAP, "if (child + 1 < end && at(child + 1) > larger) {", |step, state| {
        once(sinking(step, state)[1])
    }),
    instruction(Kind::Comparison, HEAP, "if (larger <= key) {", |step, state| once(sinking(step, state)[0])),
    instruction(Kind::Write, HEAP, "at(hole) = larger;", |step, state| once(sinking(step, state)[2])),
];

pub(crate) const REJOINED: &[Instruction] = &[
    instruction(Kind::Write, HEAP, "at(hole) = key;", |step, _| {
        if let Some(HeapStep::Rejoined { lanes }) = step.heap() {
            once(lanes.count_ones())
        } else {
            IssueCounts::default()
        }
    }),
    instruction(Kind::Read, HEAP, "root = at(0);", |step, _| {
        if let Some(HeapStep::Rejoined { lanes }) = step.heap() {
            once(lanes.count_ones())
        } else {
            IssueCounts::default()
        }
    }),
];

pub(crate) const EXTRACTED: &[Instruction] = &[
    instruction(Kind::Read, HEAP, "Key last = at(end - 1);", |_, state| all_lanes(1, state)),
    instruction(Kind::Read, HEAP, "at(end - 1) = at(0);", |_, state| all_lanes(1, state)),
    instruction(Kind::Write, HEAP, "at(end - 1) = at(0);", |_, state| all_lanes(1, state)),
    // The entry at which the sinking key stops.
    instruction(Kind::Write, HEAP, "at(hole) = key;", |_, state| all_lanes(1, state)),
];

/// The instructions of a step.
pub(crate) fn instructions(step: &HeapStep) -> &'static [Instruction] {
    match step {
        HeapStep::Heaps { .. } => &[],
        HeapStep::OwnDistances { .. } => OWN_DISTANCES,
        HeapStep::Branched { .. } => BRANCHED,
        HeapStep::Sank { .. } => SANK,
        HeapStep::Rejoined { .. } => REJOINED,
        HeapStep::Extracted { .. } => EXTRACTED,
    }
}
