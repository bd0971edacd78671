//! The state of a warp after a number of steps.

use crate::algorithms::SpecificState;
use crate::algorithms::warp_select::state::striped_position;
use serde::{Deserialize, Serialize};

use super::step::{SortPass, Step};
use super::work::{self, Work};
use crate::engines::lockstep::{Fault, Key, PADDING, distance_of, index_of, registers_for};
use crate::knn::Problem;

/// The sizes of a recorded search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Lanes of the warp, W.
    pub width: u32,
    /// Keys per lane, R.
    pub registers: u32,
    /// Number of neighbours, k.
    pub k: u32,
    /// Number of points, n.
    pub n: u32,
}

impl Shape {
    /// The sizes of a problem's search by a warp of `width` lanes.
    pub fn for_problem(problem: &Problem, width: u32) -> Self {
        let registers = registers_for(problem.k(), width as usize) as u32;
        Self { width, registers, k: problem.k() as u32, n: problem.n() as u32 }
    }

    /// K = W·R: the length of the intermediate result, and the number of slots in the buffer.
    pub fn capacity(self) -> u32 {
        self.width * self.registers
    }

    /// The lane and register that hold an element.
    pub fn lane_and_register(self, element: u32) -> (u32, u32) {
        (element / self.registers, element % self.registers)
    }

    /// The slot that an element is exchanged with by a swap.
    pub fn slot_of(self, element: u32) -> u32 {
        let (lane, register) = self.lane_and_register(element);
        register * self.width + lane
    }

    /// The slot whose key the minimum compares with element i: that of element K−1−i of the intermediate
    /// result.
    pub fn mirror_of(self, element: u32) -> u32 {
        self.slot_of(self.capacity() - 1 - element)
    }
}

/// The lanes of a mask, ascending.
pub fn lanes_in(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

/// The current stage of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Before the first step.
    #[default]
    Start,
    /// A batch has been loaded.
    LoadBatch,
    /// Of a tree: boxes are compared with the query.
    Descend,
    /// Distances are computed and ballots held.
    Filter,
    /// Candidates are appended to the buffer.
    Insert,
    /// The buffer is full or padded.
    Full,
    /// Buffer and registers have been swapped; the buffer is being sorted.
    Sort,
    /// The smaller keys have been taken, and are being sorted again.
    Merge,
    /// The answer is complete.
    Finished,
}

/// Counts of completed work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Decided points: each is in the result or the buffer, or cannot be a neighbour. The current group
    /// counts once none of its lanes waits for a slot. In the tree search, points whose distance was
    /// computed.
    pub points_seen: u32,
    /// Filtered groups; in the tree search, leaves.
    pub groups: u32,
    /// Groups with a candidate in their first ballot.
    pub groups_hit: u32,
    /// Candidates appended to the buffer; in warp select, inserted into a lane's queue; for per-thread heaps,
    /// keys inserted by all lanes.
    pub candidates: u32,
    /// Completed merges; in radix select, passes; for per-thread heaps, keys that lane 0 inserted.
    pub merges: u32,
    /// Comparators in all layers.
    pub compare_exchanges: u64,
    /// Warp-wide shuffles of one key per lane.
    pub shuffles: u64,
}

/// The complete state of a warp and its counters.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The sizes of the search.
    pub shape: Shape,
    /// The injected fault; it affects which keys a minimum compares.
    pub fault: Option<Fault>,
    /// K keys by element: the intermediate result, except between a swap and the end of its merge.
    pub registers: Vec<Key>,
    /// K keys by slot. Those from `buffered` on are leftovers to be overwritten; from a swap to the end of
    /// its merge the buffer holds the intermediate result.
    pub buffer: Vec<Key>,
    /// Number of slots in use.
    pub buffered: u32,
    /// Only points closer than this are candidates.
    pub max_distance: f32,
    /// The points in shared memory: first, and one past the last.
    pub batch: Option<(u32, u32)>,
    /// The first point of the current group.
    pub group: Option<u32>,
    /// Mask of the last ballot.
    pub ballot: u32,
    /// Its lanes that have no slot yet.
    pub waiting: u32,
    /// The current stage of the search.
    pub stage: Stage,
    /// Counts of completed work.
    pub counts: Counts,
    /// The part that only one algorithm has; `None` in the kernel's search, and before the first step of
    /// others.
    pub own: Option<SpecificState>,
    /// The executed instructions, if they are counted ([`mod@work`]).
    pub work: Work,
}

impl State {
    /// The state before the first step.
    pub fn new(shape: Shape) -> Self {
        let padding = vec![PADDING; shape.capacity() as usize];
        Self {
            shape,
            fault: None,
            registers: padding.clone(),
            buffer: padding,
            buffered: 0,
            max_distance: f32::INFINITY,
            batch: None,
            group: None,
            ballot: 0,
            waiting: 0,
            stage: Stage::Start,
            counts: Counts::default(),
            own: None,
            work: Work::default(),
        }
    }

    /// Applies a step. Its cost is [`step_cost()`].
    ///
    /// # Panics
    /// If the step names lanes, slots or elements that do not exist.
    pub fn apply(&mut self, step: &Step) {
        self.work += work::step_work(step, self);
        match step {
            Step::Batch { first, end } => {
                self.batch = Some((*first, *end));
                self.counts.points_seen = *first;
                self.stage = Stage::LoadBatch;
            }
            Step::Group { base, .. } => {
                self.group = Some(*base);
                self.ballot = 0;
                self.counts.points_seen = *base;
                self.counts.groups += 1;
                self.stage = Stage::Filter;
            }
            Step::Ballot { mask } => {
                (self.ballot, self.waiting) = (*mask, *mask);
                self.counts.groups_hit += u32::from(*mask != 0);
                self.update_points_seen();
                self.stage = Stage::Filter;
            }
            Step::FilteredAgain { mask, .. } => {
                (self.ballot, self.waiting) = (*mask, *mask);
                self.update_points_seen();
                self.stage = Stage::Filter;
            }
            Step::Positions { .. } => self.stage = Stage::Insert,
            Step::Appended { placed } => {
                for candidate in placed {
                    self.buffer[candidate.slot as usize] = candidate.key;
                    self.waiting &= !(1 << candidate.lane);
                }
                self.buffered += placed.len() as u32;
                self.counts.candidates += placed.len() as u32;
                // A merge covers the points up to the last appended one.
                match placed.last() {
                    Some(last)
                        if self.descent().is_none()
                            && (self.waiting != 0 || self.buffered == self.shape.capacity()) =>
                    {
                        self.counts.points_seen = index_of(last.key) + 1;
                    }
                    _ => self.update_points_seen(),
                }
                self.stage = Stage::Insert;
            }
            Step::BufferFull => self.stage = Stage::Full,
            Step::Padded { first } => {
                self.buffer[*first as usize..].fill(PADDING);
                self.update_points_seen();
                self.stage = Stage::Full;
            }
            Step::Swap => {
                for element in 0..self.shape.capacity() {
                    std::mem::swap(
                        &mut self.registers[element as usize],
                        &mut self.buffer[self.shape.slot_of(element) as usize],
                    );
                }
                self.stage = Stage::Sort;
            }
            Step::Layer { pass, layer, shuffle, swapped } => {
                for low in swapped.iter() {
                    self.registers.swap(low as usize, (low ^ layer.stride) as usize);
                }
                self.counts.compare_exchanges += u64::from(self.shape.capacity() / 2);
                self.counts.shuffles += if shuffle.is_some() { u64::from(self.shape.registers) } else { 0 };
                self.stage = if *pass == SortPass::Sort { Stage::Sort } else { Stage::Merge };
            }
            Step::Minimum { taken } => {
                for element in taken.iter() {
                    self.registers[element as usize] = self.buffer[self.merge_partner(element) as usize];
                }
                self.stage = Stage::Merge;
            }
            Step::MaxDistance { points_seen, max_distance, .. } => {
                self.max_distance = *max_distance;
                self.counts.points_seen = *points_seen;
                self.buffered = 0;
                self.counts.merges += 1;
                self.stage = Stage::Filter;
            }
            Step::Finished => {
                self.update_points_seen();
                self.stage = Stage::Finished;
            }
            Step::Own(step) => return step.get().apply(self),
        }
        if let Some(own) = &mut self.own {
            own.get_mut().apply_shared(step);
        }
    }

    /// Counts the current group as seen, unless lanes wait; a tree's points are counted by leaves.
    pub(crate) fn update_points_seen(&mut self) {
        if let Some(base) = self.group.filter(|_| self.waiting == 0) {
            self.counts.points_seen = base.saturating_add(self.shape.width).min(self.shape.n);
        }
    }

    /// The lane and register of an element. In warp select, elements are striped across the warp.
    pub fn lane_and_register_of(&self, element: u32) -> (u32, u32) {
        if self.queues().is_some() {
            striped_position(self.shape.width, element)
        } else {
            self.shape.lane_and_register(element)
        }
    }

    /// The slot whose key the minimum compares with an element.
    pub fn merge_partner(&self, element: u32) -> u32 {
        if self.fault == Some(Fault::NoMirror) {
            self.shape.slot_of(element)
        } else {
            self.shape.mirror_of(element)
        }
    }

    /// The key of the k-th element. Only points and boxes below it can still matter, unless a merge is in
    /// progress.
    pub fn last(&self) -> Key {
        self.registers[self.shape.k as usize - 1]
    }

    /// The first k elements without padding: position and squared distance, nearest first. Unless a merge is
    /// in progress, they are the answer so far.
    pub fn neighbours(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        let found = self.registers[..self.shape.k as usize].iter().take_while(|&&key| key != PADDING);
        found.map(|&key| (index_of(key), distance_of(key)))
    }

    /// The invariant: the registers are sorted ascending.
    pub fn is_sorted(&self) -> bool {
        self.registers.is_sorted()
    }
}

/// The cost of applying a step, in keys that may move; keyframes are spaced by it.
pub fn step_cost(step: &Step, shape: Shape) -> u64 {
    match step {
        Step::Swap | Step::Layer { .. } | Step::Minimum { .. } | Step::Padded { .. } => {
            u64::from(shape.capacity())
        }
        Step::Appended { placed } => placed.len() as u64,
        Step::Own(step) => step.get().cost(shape),
        _ => 1,
    }
}
