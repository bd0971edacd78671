//! The steps that threads with a query each have besides those of [`Step`](crate::Step).

use serde::{Deserialize, Serialize};

use super::describe::describe;
use super::instructions;
use super::state::{Heaps, lanes_in};
use crate::algorithms::{AlgorithmStep, OwnState};
use crate::cursor::Level;
use crate::engines::lockstep::distance_of;
use crate::recording::Marks;
use crate::state::{Shape, Stage, State};
use crate::step::{Slot, distances};
use crate::work::Instruction;

/// A step of threads with a query each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum HeapStep {
    /// Every lane has a heap of k keys, the largest at its root, entry 0; entries 2e + 1 and 2e + 2 are the children
    /// of entry e. There is nothing in them yet.
    Heaps {
        /// The queries of lanes 1 to W−1: these points. Lane 0's is the one that is asked for.
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
    /// The lanes compared their distance with their own root. Where it is smaller it took the root's place; the other
    /// lanes wait until these have inserted, if there are any.
    Branched {
        /// Mask of the lanes that insert.
        lanes: u32,
    },
    /// A round of sinking. A lane's key changed places with the larger of its entry's children, if that is larger
    /// than the key.
    Sank {
        /// Mask of the lanes that took part: their keys were not in their place yet, and had children.
        lanes: u32,
        /// The entries that keys sank to, lanes ascending. The keys of the other lanes that took part are in their place.
        moved: Vec<Slot>,
    },
    /// The lanes that inserted read their root again, and all lanes go on together.
    Rejoined {
        /// Mask of the lanes that inserted.
        lanes: u32,
    },
    /// All points are seen, and the heaps are sorted. Each lane's root, its largest key, changed places with the last
    /// of its first `end` entries, whose key sinks among those before it.
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
        let Some(OwnState::Heap(heaps)) = &mut state.own else { return };
        heaps.apply(self);
        if matches!(self, Self::Rejoined { lanes } if lanes & 1 == 1) {
            let keys = &mut state.registers[..state.shape.k as usize];
            keys.copy_from_slice(heaps.of(0));
            keys.sort_unstable();
            state.max_distance = distance_of(heaps.root(0));
        }
    }

    fn cost(&self, shape: Shape) -> u64 {
        match self {
            Self::Heaps { .. } => u64::from(shape.width * shape.k),
            Self::Sank { moved, .. } => moved.len() as u64,
            Self::OwnDistances { .. } | Self::Branched { .. } | Self::Extracted { .. } => u64::from(shape.width),
            // Lane 0's keys are copied, and sorted.
            Self::Rejoined { lanes } if lanes & 1 == 1 => 4 * u64::from(shape.k),
            Self::Rejoined { .. } => 1,
        }
    }

    fn describe(&self, after: &State) -> Option<String> {
        describe(self, after)
    }

    fn level(&self) -> Level {
        match self {
            Self::Heaps { .. } => Level::Search,
            // An insertion in lane 0 may move its k-th, as a merge does; insertions in other lanes alone are a stage.
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
                marks.distances.extend(lanes_in(*lanes).filter_map(|lane| heaps.distances.get(lane as usize)));
            }
            Self::Rejoined { lanes } if lanes & 1 == 1 => marks.merge(distance_of(heaps.root(0)) != before.max_distance),
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
        instructions::rows(self)
    }
}
