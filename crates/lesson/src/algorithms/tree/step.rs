//! The steps that a tree's search has besides those of [`Step`](crate::Step).

use serde::{Deserialize, Serialize};

use super::describe::describe;
use super::state::{Descent, lanes_of};
use crate::algorithms::{AlgorithmStep, Begins, OwnState};
use crate::cursor::Level;
use crate::engines::lockstep::{Key, PADDING};
use crate::state::{Shape, Stage, State};
use crate::step::keys;

/// A step of a tree's search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum TreeStep {
    /// The leaf in which the query's code would be was found. It is visited first.
    OwnLeaf {
        /// The leaf's number, its place on the curve.
        leaf: u32,
    },
    /// The search came to a node; every lane loaded the box of one of its children.
    Node {
        /// Height of the boxes, 0 around leaves.
        height: u32,
        /// Lane L's box is `group` · 32 + L of that height.
        group: u32,
    },
    /// Every lane clamped the query to its box, and computed the squared distance to that place.
    Boxes {
        /// One per lane, with the smallest position in the box; [`PADDING`] where there is no box, or that of the leaf that was visited first.
        #[serde(with = "keys")]
        keys: Vec<Key>,
    },
    /// Of the children that were not visited yet, this one has the smallest key, and it is below the k-th neighbour's.
    Child {
        /// The lane that holds it.
        lane: u32,
    },
    /// No key of the node's other children is below the k-th neighbour's. The search goes on in the node above.
    LeftOut {
        /// Mask of the lanes that hold them.
        lanes: u32,
    },
    /// Every lane has computed the squared distance of one point of a leaf.
    Leaf {
        /// The leaf's number.
        leaf: u32,
        /// One per lane, with the point; [`PADDING`] past the last point.
        #[serde(with = "keys")]
        keys: Vec<Key>,
    },
    /// The buffer was merged into the intermediate result, by the layers that other recordings show one by one.
    Merged,
}

impl AlgorithmStep for TreeStep {
    fn apply(&self, state: &mut State) {
        state.stage = Stage::Descend;
        match self {
            Self::OwnLeaf { leaf } => state.own = Some(Descent::new(*leaf).into()),
            Self::Node { .. } | Self::Boxes { .. } | Self::Child { .. } | Self::LeftOut { .. } => {}
            Self::Leaf { keys, .. } => {
                state.ballot = 0;
                state.counts.points_seen += lanes_of(keys, |key| key != PADDING).count_ones();
                state.counts.groups += 1;
                state.stage = Stage::Filter;
            }
            Self::Merged => {
                state.registers.append(&mut state.buffer);
                state.registers.sort_unstable();
                state.buffer = state.registers.split_off(state.shape.capacity() as usize);
                state.stage = Stage::Full;
            }
        }
        if let Some(OwnState::Tree(descent)) = &mut state.own {
            descent.apply(self);
        }
    }

    fn cost(&self, shape: Shape) -> u64 {
        match self {
            Self::Merged => 2 * u64::from(shape.capacity()),
            Self::Boxes { keys } | Self::Leaf { keys, .. } => keys.len() as u64,
            Self::OwnLeaf { .. } | Self::Node { .. } | Self::Child { .. } | Self::LeftOut { .. } => 1,
        }
    }

    fn describe(&self, after: &State) -> Option<String> {
        describe(self, after)
    }

    fn level(&self) -> Level {
        match self {
            Self::OwnLeaf { .. } => Level::Search,
            Self::Boxes { .. } | Self::LeftOut { .. } => Level::Stage,
            Self::Node { .. } | Self::Child { .. } | Self::Leaf { .. } => Level::Layer,
            Self::Merged => Level::Lane,
        }
    }

    fn bytes(&self) -> usize {
        if let Self::Boxes { keys } | Self::Leaf { keys, .. } = self { size_of_val(&**keys) } else { 0 }
    }

    fn begins(&self) -> Option<Begins> {
        matches!(self, Self::Leaf { .. }).then_some(Begins::Points)
    }

    fn is_of_merge(&self) -> bool {
        matches!(self, Self::Merged)
    }
}
