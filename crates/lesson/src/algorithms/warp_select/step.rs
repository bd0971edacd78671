//! The steps that warp select has besides those of [`Step`](crate::Step).

use serde::{Deserialize, Serialize};

use super::describe::describe;
use super::state::Queues;
use crate::algorithms::{AlgorithmStep, Begins, OwnState};
use crate::cursor::Level;
use crate::engines::lockstep::distance_of;
use crate::recording::Marks;
use crate::state::{Shape, Stage, State};
use crate::step::{Elements, Placed};

/// A step of warp select.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum WarpSelectStep {
    /// The queues of the lanes and of the warp, in which there is nothing yet. Element i of the lanes' queues is register i / W of
    /// lane i mod W, as is element i of the warp's.
    Queues {
        /// Keys of a lane's queue, Q.
        length: u32,
    },
    /// Each lane compared its distance with the largest key of its own queue, and took what is smaller for it.
    Inserted {
        /// One per lane that took its key; the slot is the place in its queue, 0 for the largest.
        placed: Vec<Placed>,
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
    /// Element i of the lanes' list met element K−1−i of the warp's queue; the warp kept the smaller, the lanes the larger.
    Exchanged {
        /// The elements of the warp's queue that came from the list.
        taken: Elements,
    },
    /// The warp's queue, which was bitonic, was sorted, by layers.
    WarpQueueSorted,
    /// Each lane sorted what is left in its queue, the largest first.
    QueuesDescend,
}

impl AlgorithmStep for WarpSelectStep {
    fn apply(&self, state: &mut State) {
        match self {
            Self::Queues { length } => state.own = Some(Queues::new(state.shape, *length).into()),
            Self::Inserted { placed } => {
                state.counts.groups_hit += u32::from(!placed.is_empty());
                state.counts.candidates += placed.len() as u32;
                state.decide();
                state.stage = Stage::Insert;
            }
            Self::Checked { broken: 0 } => state.stage = Stage::Filter,
            Self::Checked { .. } | Self::Drained => state.stage = Stage::Full,
            Self::QueuesSorted | Self::Exchanged { .. } | Self::WarpQueueSorted | Self::QueuesDescend => state.stage = Stage::Merge,
        }
        if let Some(OwnState::WarpSelect(queues)) = &mut state.own {
            queues.apply(self, &mut state.registers);
        }
    }

    fn cost(&self, shape: Shape) -> u64 {
        match self {
            Self::QueuesSorted | Self::QueuesDescend | Self::Exchanged { .. } | Self::WarpQueueSorted => 2 * u64::from(shape.capacity()),
            Self::Inserted { placed } => 4 * placed.len() as u64,
            Self::Queues { .. } | Self::Checked { .. } | Self::Drained => 1,
        }
    }

    fn describe(&self, after: &State) -> Option<String> {
        describe(self, after)
    }

    fn level(&self) -> Level {
        match self {
            Self::Queues { .. } => Level::Search,
            Self::Drained | Self::QueuesSorted | Self::Exchanged { .. } => Level::Stage,
            // Groups without candidates and invariants that hold belong to no stage.
            Self::Inserted { placed } if !placed.is_empty() => Level::Stage,
            Self::Checked { broken: 1.. } => Level::Stage,
            Self::Inserted { .. } | Self::Checked { .. } | Self::WarpQueueSorted | Self::QueuesDescend => Level::Layer,
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

    fn begins(&self) -> Option<Begins> {
        matches!(self, Self::Drained).then_some(Begins::Merge)
    }

    fn is_of_merge(&self) -> bool {
        !matches!(self, Self::Queues { .. } | Self::Inserted { .. } | Self::Checked { .. })
    }
}
