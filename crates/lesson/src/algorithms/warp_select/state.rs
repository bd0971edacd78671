//! The queues of warp select's lanes.
//!
//! Elements are striped across the warp: element i is register i / W of lane i mod W, in the lanes' queues
//! and in the warp's.

use serde::{Deserialize, Serialize};

use super::describe::describe;
use crate::algorithms::{AlgorithmState, AlgorithmStep, PhaseStart, SpecificState};
use crate::cursor::Level;
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::recording::Marks;
use crate::state::{Shape, Stage, State};
use crate::step::{AppendedCandidate, ElementSet, Step};

/// The lanes' queues; the warp's queue is the state's `registers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Lanes of the warp, W.
    pub width: u32,
    /// W·Q keys by element. Each lane's queue descends, except in a merge, where all may form one ascending
    /// list.
    pub keys: Vec<Key>,
    /// Whether the queues form one list.
    pub is_list: bool,
    /// The lanes that inserted their key of this group; `None` before the comparison.
    pub inserted: Option<u32>,
    /// The lanes that break the invariant; `None` before the check.
    pub broken: Option<u32>,
    /// Keys that completed merges brought into the warp's queue.
    pub keys_merged: u32,
    /// Keys of the merge in progress; they are added to `keys_merged` when it is done.
    pub keys_merging: u32,
}

/// The lane and register of an element.
pub fn striped_position(width: u32, element: u32) -> (u32, u32) {
    (element % width, element / width)
}

/// The element of the lanes' list that is compared with an element of the warp's queue of `capacity` keys.
pub fn mirrored_element(capacity: u32, element: u32) -> u32 {
    capacity - 1 - element
}

/// The order of keys in words. Equal keys, such as padding, neither rise nor fall.
pub fn order_words(keys: &[Key]) -> &'static str {
    let mut ways: Vec<bool> =
        keys.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| pair[0] < pair[1]).collect();
    ways.dedup();
    match ways[..] {
        [] | [true] => "ascending",
        [false] => "descending",
        [true, false] => "ascending, then descending",
        [false, true] => "descending, then ascending",
        _ => "in no order",
    }
}

impl AlgorithmState for Queues {
    fn apply_shared(&mut self, step: &Step) {
        match step {
            Step::Group { .. } => (self.inserted, self.broken) = (None, None),
            Step::MaxDistance { .. } => {
                self.broken = None;
                self.keys_merged += std::mem::take(&mut self.keys_merging);
            }
            _ => {}
        }
    }

    fn describe(&self, step: &Step, after: &State) -> Option<String> {
        describe(step, after, self)
    }
}

impl Queues {
    /// Queues of `length` keys per lane, all padding.
    pub fn new(shape: Shape, length: u32) -> Self {
        let keys = vec![PADDING; (shape.width * length) as usize];
        Self {
            width: shape.width,
            keys,
            is_list: false,
            inserted: None,
            broken: None,
            keys_merged: 0,
            keys_merging: 0,
        }
    }

    /// Keys of a lane's queue, Q.
    pub fn length(&self) -> u32 {
        self.keys.len() as u32 / self.width
    }

    /// The largest key of a lane's queue, unless the queues form a list.
    pub fn first(&self, lane: u32) -> Key {
        self.keys[lane as usize]
    }

    /// Applies a step. `warp` is the warp's queue, K keys.
    ///
    /// # Panics If the step names lanes, slots or elements that do not exist.
    pub fn apply(&mut self, step: &WarpSelectStep, warp: &mut [Key]) {
        let width = self.width as usize;
        match step {
            WarpSelectStep::Queues { .. } => {}
            WarpSelectStep::Inserted { placed } => {
                self.inserted = Some(placed.iter().fold(0, |lanes, key| lanes | 1 << key.lane));
                for key in placed {
                    let lane = key.lane as usize;
                    // The largest drops out, and the keys above the new one move up.
                    for place in 0..key.slot as usize {
                        self.keys[place * width + lane] = self.keys[(place + 1) * width + lane];
                    }
                    self.keys[key.slot as usize * width + lane] = key.key;
                }
            }
            WarpSelectStep::Checked { broken } => self.broken = Some(*broken),
            WarpSelectStep::Drained => (self.inserted, self.broken) = (None, None),
            WarpSelectStep::QueuesSorted => {
                self.keys.sort_unstable();
                self.is_list = true;
            }
            WarpSelectStep::Exchanged { taken } => {
                for element in taken.iter() {
                    let met = mirrored_element(warp.len() as u32, element);
                    std::mem::swap(&mut warp[element as usize], &mut self.keys[met as usize]);
                }
                self.keys_merging = taken.count();
            }
            WarpSelectStep::WarpQueueSorted => warp.sort_unstable(),
            WarpSelectStep::QueuesDescend => {
                for lane in 0..width {
                    let mut keys: Vec<Key> = self.keys.iter().skip(lane).step_by(width).copied().collect();
                    keys.sort_unstable_by(|a, b| b.cmp(a));
                    self.keys
                        .iter_mut()
                        .skip(lane)
                        .step_by(width)
                        .zip(keys)
                        .for_each(|(place, key)| *place = key);
                }
                self.is_list = false;
            }
        }
    }
}

// The steps of warp select besides those of [`Step`](crate::Step).

/// A step of warp select.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum WarpSelectStep {
    /// The empty queues of the lanes and of the warp. Element i of either is register i / W of lane i mod W.
    Queues {
        /// Keys of a lane's queue, Q.
        length: u32,
    },
    /// Each lane compared its distance with the largest key of its own queue, and replaced the key if the
    /// distance is smaller.
    Inserted {
        /// One per lane that inserted; the slot is the place in its queue, 0 for the largest.
        placed: Vec<AppendedCandidate>,
    },
    /// The lanes compared the largest keys of their queues with the k-th.
    Checked {
        /// Mask of the lanes whose largest key is below it: the invariant is broken, and a merge begins.
        broken: u32,
    },
    /// No points are left, and the last merge begins.
    Drained,
    /// The lanes' queues were sorted as one ascending list, by layers.
    QueuesSorted,
    /// Element i of the lanes' list was compared with element K−1−i of the warp's queue; the warp kept the
    /// smaller, the lanes the larger.
    Exchanged {
        /// The elements of the warp's queue that came from the list.
        taken: ElementSet,
    },
    /// The warp's queue, which was bitonic, was sorted, by layers.
    WarpQueueSorted,
    /// Each lane sorted its queue, the largest first.
    QueuesDescend,
}

impl AlgorithmStep for WarpSelectStep {
    fn apply(&self, state: &mut State) {
        match self {
            Self::Queues { length } => state.own = Some(Queues::new(state.shape, *length).into()),
            Self::Inserted { placed } => {
                state.counts.groups_hit += u32::from(!placed.is_empty());
                state.counts.candidates += placed.len() as u32;
                state.update_points_seen();
                state.stage = Stage::Insert;
            }
            Self::Checked { broken: 0 } => state.stage = Stage::Filter,
            Self::Checked { .. } | Self::Drained => state.stage = Stage::Full,
            Self::QueuesSorted | Self::Exchanged { .. } | Self::WarpQueueSorted | Self::QueuesDescend => {
                state.stage = Stage::Merge
            }
        }
        if let Some(SpecificState::WarpSelect(queues)) = &mut state.own {
            queues.apply(self, &mut state.registers);
        }
    }

    fn cost(&self, shape: Shape) -> u64 {
        match self {
            Self::QueuesSorted | Self::QueuesDescend | Self::Exchanged { .. } | Self::WarpQueueSorted => {
                2 * u64::from(shape.capacity())
            }
            Self::Inserted { placed } => 4 * placed.len() as u64,
            Self::Queues { .. } | Self::Checked { .. } | Self::Drained => 1,
        }
    }

    fn level(&self) -> Level {
        match self {
            Self::Queues { .. } => Level::Search,
            Self::Drained | Self::QueuesSorted | Self::Exchanged { .. } => Level::Stage,
            // Groups without candidates and invariants that hold belong to no stage.
            Self::Inserted { placed } if !placed.is_empty() => Level::Stage,
            Self::Checked { broken: 1.. } => Level::Stage,
            Self::Inserted { .. } | Self::Checked { .. } | Self::WarpQueueSorted | Self::QueuesDescend => {
                Level::Layer
            }
        }
    }

    fn mark(&self, _before: &State, marks: &mut Marks) {
        if let Self::Inserted { placed } = self
            && !placed.is_empty()
        {
            marks.hit();
            marks.distances.extend(placed.iter().map(|taken| distance_of(taken.key)));
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Inserted { placed } => size_of_val(&**placed),
            Self::Exchanged { taken } => taken.bytes(),
            _ => 0,
        }
    }

    fn begins(&self) -> Option<PhaseStart> {
        matches!(self, Self::Drained).then_some(PhaseStart::Merge)
    }

    fn is_in_merge(&self) -> bool {
        !matches!(self, Self::Queues { .. } | Self::Inserted { .. } | Self::Checked { .. })
    }
}
