//! The heaps of a warp's threads with a query each, and who of them works.

use super::HeapStep;
use super::describe::describe_common;
use crate::algorithms::AlgorithmState;
use crate::engines::lockstep::{Key, PADDING, key_of};
use crate::state::{Shape, State};
use crate::step::Step;

/// The heaps of all lanes. A key that sinks is at the entry that it has come to; the kernel holds it in a register until it is in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Heaps {
    /// Lanes of the warp, W: so many queries.
    pub width: u32,
    /// Keys of a heap, k.
    pub k: u32,
    /// The queries of lanes 1 to W−1, as points. Lane 0's is the one that is asked for.
    pub others: Vec<u32>,
    /// W·k keys: entry e of lane L is `keys[L·k + e]`.
    pub keys: Vec<Key>,
    /// The first entries of each lane that are a heap: k until heaps are sorted.
    pub end: u32,
    /// The point that all lanes look at; `None` before the first, and when heaps are sorted.
    pub point: Option<u32>,
    /// The squared distance of that point to each lane's query.
    pub distances: Vec<f32>,
    /// The lanes whose distance is below their root; `None` until they have compared it.
    pub inserting: Option<u32>,
    /// The lanes that took part in the last step; the others waited.
    pub active: u32,
    /// The entry of each lane's key that sinks, or sank last.
    pub holes: Vec<u32>,
    /// Rounds of sinking since the last branch.
    pub rounds: u32,
    /// Points of which some lane inserted.
    pub stops: u32,
}

impl AlgorithmState for Heaps {
    fn follow(&mut self, _step: &Step) {
        self.active = 0;
    }

    fn describe(&self, step: &Step, after: &State) -> Option<String> {
        describe_common(step, after, self)
    }
}

impl Heaps {
    /// Heaps in which there is nothing yet.
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
    pub fn of(&self, lane: u32) -> &[Key] {
        &self.keys[(lane * self.k) as usize..][..self.k as usize]
    }

    /// The largest key of a lane's heap: its k-th.
    pub fn root(&self, lane: u32) -> Key {
        self.keys[(lane * self.k) as usize]
    }

    /// Whether a lane's entry has a second child among those that are a heap.
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
                    self.keys[first(lane)] = key_of(self.distances[lane as usize], self.point.unwrap_or_default());
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

    /// The lanes that take part in a step.
    pub fn active_in(&self, step: &HeapStep) -> u32 {
        match step {
            HeapStep::Sank { lanes, .. } | HeapStep::Rejoined { lanes } => *lanes,
            HeapStep::OwnDistances { .. } | HeapStep::Branched { .. } | HeapStep::Extracted { .. } => self.all(),
            HeapStep::Heaps { .. } => 0,
        }
    }
}

/// The lanes of a mask, ascending.
pub fn lanes_in(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}
