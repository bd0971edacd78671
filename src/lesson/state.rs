//! What a warp holds after some steps.

use serde::{Deserialize, Serialize};

use super::step::{Part, Step};
use crate::engines::lockstep::{Key, PADDING, distance_of};

/// The sizes of a recorded search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Lanes of the warp, W.
    pub width: u32,
    /// Keys a lane, R.
    pub registers: u32,
    /// Neighbours asked for.
    pub k: u32,
    /// Points.
    pub n: u32,
}

impl Shape {
    /// K = W·R: the length of the intermediate result, and the slots of the buffer.
    pub fn capacity(self) -> u32 {
        self.width * self.registers
    }

    /// The lane that holds an element, and in which register.
    pub fn place_of(self, element: u32) -> (u32, u32) {
        (element / self.registers, element % self.registers)
    }

    /// The slot that changes places with an element.
    pub fn slot_of(self, element: u32) -> u32 {
        let (lane, register) = self.place_of(element);
        register * self.width + lane
    }

    /// The slot whose key element i is compared with by the minimum: that of element K−1−i of the intermediate result.
    pub fn mirror_of(self, element: u32) -> u32 {
        self.slot_of(self.capacity() - 1 - element)
    }
}

/// What the search is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing yet.
    #[default]
    Start,
    /// A batch was loaded.
    LoadBatch,
    /// Distances and ballots.
    Filter,
    /// Candidates go into the buffer.
    Insert,
    /// The buffer is full, or was padded.
    Full,
    /// Buffer and registers changed places; the buffer is being sorted.
    Sort,
    /// The smaller halves are taken, and sorted again.
    Merge,
    /// There is an answer.
    Finished,
}

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Points whose distance is known.
    pub points_seen: u32,
    /// Groups filtered.
    pub groups: u32,
    /// Groups with a candidate in their first ballot.
    pub groups_hit: u32,
    /// Candidates appended.
    pub candidates: u32,
    /// Merges done.
    pub merges: u32,
    /// Comparators of all layers.
    pub compare_exchanges: u64,
    /// Shuffles of a key by the whole warp.
    pub shuffles: u64,
}

/// The warp, exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The sizes.
    pub shape: Shape,
    /// K keys by element: the intermediate result, except between a swap and the end of its merge.
    pub registers: Vec<Key>,
    /// K keys by slot. Those from `buffered` on are left over, and will be written over; from a swap to the end of its
    /// merge this is the intermediate result.
    pub buffer: Vec<Key>,
    /// Slots taken.
    pub buffered: u32,
    /// Only closer points are candidates.
    pub max_distance: f32,
    /// The points in shared memory: first, and the one after the last.
    pub batch: Option<(u32, u32)>,
    /// The first point of the current group.
    pub group: Option<u32>,
    /// The last ballot.
    pub ballot: u32,
    /// The lanes of it that have no slot yet.
    pub waiting: u32,
    /// What is being done.
    pub stage: Stage,
    /// What was done.
    pub counts: Counts,
}

impl State {
    /// Before the first step.
    pub fn new(shape: Shape) -> Self {
        let padding = vec![PADDING; shape.capacity() as usize];
        Self {
            shape,
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
        }
    }

    /// Does a step. What it costs is [`work`].
    ///
    /// # Panics
    /// If the step names lanes, slots or elements that are not there.
    pub fn apply(&mut self, step: &Step) {
        match step {
            Step::Batch { first, end } => {
                self.batch = Some((*first, *end));
                self.stage = Stage::LoadBatch;
            }
            Step::Group { base, .. } => {
                self.group = Some(*base);
                self.ballot = 0;
                self.counts.points_seen = base.saturating_add(self.shape.width).min(self.shape.n);
                self.counts.groups += 1;
                self.stage = Stage::Filter;
            }
            Step::Ballot { mask } => {
                (self.ballot, self.waiting) = (*mask, *mask);
                self.counts.groups_hit += u32::from(*mask != 0);
                self.stage = Stage::Filter;
            }
            Step::FilteredAgain { mask, .. } => {
                (self.ballot, self.waiting) = (*mask, *mask);
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
                self.stage = Stage::Insert;
            }
            Step::BufferFull => self.stage = Stage::Full,
            Step::Padded { first } => {
                self.buffer[*first as usize..].fill(PADDING);
                self.stage = Stage::Full;
            }
            Step::Swap => {
                for element in 0..self.shape.capacity() {
                    std::mem::swap(&mut self.registers[element as usize], &mut self.buffer[self.shape.slot_of(element) as usize]);
                }
                self.stage = Stage::Sort;
            }
            Step::Layer { part, layer, shuffle, swapped } => {
                for low in swapped.iter() {
                    self.registers.swap(low as usize, (low ^ layer.stride) as usize);
                }
                self.counts.compare_exchanges += u64::from(self.shape.capacity() / 2);
                self.counts.shuffles += if shuffle.is_some() { u64::from(self.shape.registers) } else { 0 };
                self.stage = if *part == Part::Sort { Stage::Sort } else { Stage::Merge };
            }
            Step::Minimum { taken } => {
                for element in taken.iter() {
                    self.registers[element as usize] = self.buffer[self.shape.mirror_of(element) as usize];
                }
                self.stage = Stage::Merge;
            }
            Step::MaxDistance { max_distance, .. } => {
                self.max_distance = *max_distance;
                self.buffered = 0;
                self.counts.merges += 1;
                self.stage = Stage::Filter;
            }
            Step::Finished => self.stage = Stage::Finished,
        }
    }

    /// The first k elements that are there: position and squared distance, nearest first. They are the answer so far
    /// unless a merge is under way.
    pub fn neighbours(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        let found = self.registers[..self.shape.k as usize].iter().take_while(|&&key| key != PADDING);
        found.map(|&key| (crate::engines::lockstep::index_of(key), distance_of(key)))
    }

    /// The invariant: the registers are sorted ascending.
    pub fn is_sorted(&self) -> bool {
        self.registers.is_sorted()
    }
}

/// What doing a step costs, in keys that may move: what keyframes are spaced by.
pub fn work(step: &Step, shape: Shape) -> u64 {
    match step {
        Step::Swap | Step::Layer { .. } | Step::Minimum { .. } | Step::Padded { .. } => u64::from(shape.capacity()),
        Step::Appended { placed } => placed.len() as u64,
        _ => 1,
    }
}
