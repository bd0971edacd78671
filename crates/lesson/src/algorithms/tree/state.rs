//! The position of the tree search, and the boxes that it visited and pruned.
//!
//! A box is named by its height, 0 around leaves, and its number: the children of box i of height h are boxes
//! 32·i to 32·i + 31 of height h − 1, and those of height 0 are leaves. `docs/index.md` describes the tree.

use serde::{Deserialize, Serialize};

use super::describe::describe;
use crate::algorithms::{AlgorithmState, AlgorithmStep, PhaseStart, SpecificState};
use crate::cursor::Level;
use crate::engines::index::WARP;
use crate::engines::lockstep::{Key, PADDING};
use crate::state::{Shape, Stage, State, lanes_in};
use crate::step::{Step, keys};

/// The path from the root to the current node, and the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descent {
    /// The leaf in which the query's code would be.
    pub own: u32,
    /// The unfinished nodes on the path, starting with the root.
    pub path: Vec<Node>,
    /// Number of nodes whose children were compared with the query.
    pub nodes: u32,
    /// The current leaf.
    pub leaf: Option<Leaf>,
    /// The node that was done with the last step.
    pub done: Option<Node>,
    /// Leaves in the order in which they were visited.
    pub visited: Vec<u32>,
    /// Pruned boxes, as height and number, in order.
    pub pruned: Vec<(u32, u32)>,
}

/// A node whose children are compared with the query, one per lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Height of the children's boxes.
    pub height: u32,
    /// Lane L's box is `group` · 32 + L.
    pub group: u32,
    /// The children's keys, [`PADDING`] where there is none; empty until they are computed.
    pub keys: Vec<Key>,
    /// Mask of the lanes whose children were neither visited nor pruned.
    pub waiting: u32,
    /// The lane whose child is being visited, or was last.
    pub chosen: Option<u32>,
}

/// A leaf whose points are evaluated, one per lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its place on the curve.
    pub number: u32,
    /// The points' keys, [`PADDING`] where there is none.
    pub keys: Vec<Key>,
}

impl Node {
    /// The box of a lane, as height and number.
    pub fn child(&self, lane: u32) -> (u32, u32) {
        (self.height, self.group * WARP as u32 + lane)
    }

    /// The waiting child with the smallest key: its lane and key.
    pub fn nearest(&self) -> Option<(u32, Key)> {
        let waiting = (0u32..).zip(&self.keys).filter(|(lane, _)| self.waiting >> lane & 1 == 1);
        waiting.map(|(lane, &key)| (lane, key)).min_by_key(|&(_, key)| key)
    }

    /// Mask of the waiting children whose keys are below `last`.
    pub fn below(&self, last: Key) -> u32 {
        lanes_where(&self.keys, |key| key < last) & self.waiting
    }
}

impl AlgorithmState for Descent {
    fn describe(&self, step: &Step, after: &State) -> Option<String> {
        describe(step, after, self)
    }
}

impl Descent {
    /// Before the first leaf is visited.
    pub fn new(own: u32) -> Self {
        Self {
            own,
            path: Vec::new(),
            nodes: 0,
            leaf: None,
            done: None,
            visited: Vec::new(),
            pruned: Vec::new(),
        }
    }

    /// The current node, or that of the last step.
    pub fn node(&self) -> Option<&Node> {
        self.done.as_ref().or(self.path.last())
    }

    /// Applies a step.
    ///
    /// # Panics If the step refers to a node other than the current one.
    pub fn apply(&mut self, step: &TreeStep) {
        if matches!(step, TreeStep::Node { .. } | TreeStep::Child { .. } | TreeStep::Pruned { .. }) {
            self.done = None;
        }
        match step {
            TreeStep::Node { height, group } => {
                self.leaf = None;
                self.nodes += 1;
                self.path.push(Node {
                    height: *height,
                    group: *group,
                    keys: Vec::new(),
                    waiting: 0,
                    chosen: None,
                });
            }
            TreeStep::Boxes { keys } => {
                let node = self.current_node();
                node.waiting = lanes_where(keys, |key| key != PADDING);
                node.keys.clone_from(keys);
            }
            TreeStep::Child { lane } => {
                self.leaf = None;
                let node = self.current_node();
                node.waiting &= !(1 << lane);
                node.chosen = Some(*lane);
            }
            TreeStep::Pruned { lanes } => {
                self.leaf = None;
                let mut node = self.path.pop().expect("a node is left that was come to");
                self.pruned.extend(lanes_in(*lanes).map(|lane| node.child(lane)));
                node.chosen = None;
                self.done = Some(node);
            }
            TreeStep::Leaf { leaf, keys } => {
                self.visited.push(*leaf);
                self.leaf = Some(Leaf { number: *leaf, keys: keys.clone() });
            }
            TreeStep::OwnLeaf { .. } | TreeStep::Merged => {}
        }
    }

    fn current_node(&mut self) -> &mut Node {
        self.path.last_mut().expect("children are those of a node that was come to")
    }
}

/// Mask of the lanes whose keys satisfy a predicate.
pub fn lanes_where(keys: &[Key], is: impl Fn(Key) -> bool) -> u32 {
    (0..).zip(keys).fold(0, |lanes, (lane, &key)| lanes | u32::from(is(key)) << lane)
}

/// The number of leaves of the tree.
pub fn leaf_count(state: &State) -> u64 {
    u64::from(state.shape.n).div_ceil(WARP as u64)
}

// The steps of the tree search besides those of [`Step`](crate::Step).

/// A step of the tree search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum TreeStep {
    /// The leaf that would hold the query's code was found. It is visited first.
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
        /// One per lane, with the smallest position in the box; [`PADDING`] where there is no box, or that of
        /// the leaf that was visited first.
        #[serde(with = "keys")]
        keys: Vec<Key>,
    },
    /// This child has the smallest key of those not yet visited, and it is below the k-th neighbour's.
    Child {
        /// The lane that holds it.
        lane: u32,
    },
    /// No key of the node's remaining children is below the k-th neighbour's: they are pruned. The search
    /// continues in the node above. Schema 1 calls the step `left_out`.
    #[serde(alias = "left_out")]
    Pruned {
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
    /// The buffer was merged into the intermediate result, by the layers that other recordings show one by
    /// one.
    Merged,
}

impl AlgorithmStep for TreeStep {
    fn apply(&self, state: &mut State) {
        state.stage = Stage::Descend;
        match self {
            Self::OwnLeaf { leaf } => state.own = Some(Descent::new(*leaf).into()),
            Self::Node { .. } | Self::Boxes { .. } | Self::Child { .. } | Self::Pruned { .. } => {}
            Self::Leaf { keys, .. } => {
                state.ballot = 0;
                state.counts.points_seen += lanes_where(keys, |key| key != PADDING).count_ones();
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
        if let Some(SpecificState::Tree(descent)) = &mut state.own {
            descent.apply(self);
        }
    }

    fn cost(&self, shape: Shape) -> u64 {
        match self {
            Self::Merged => 2 * u64::from(shape.capacity()),
            Self::Boxes { keys } | Self::Leaf { keys, .. } => keys.len() as u64,
            Self::OwnLeaf { .. } | Self::Node { .. } | Self::Child { .. } | Self::Pruned { .. } => 1,
        }
    }

    fn level(&self) -> Level {
        match self {
            Self::OwnLeaf { .. } => Level::Search,
            Self::Boxes { .. } | Self::Pruned { .. } => Level::Stage,
            Self::Node { .. } | Self::Child { .. } | Self::Leaf { .. } => Level::Layer,
            Self::Merged => Level::Lane,
        }
    }

    fn bytes(&self) -> usize {
        if let Self::Boxes { keys } | Self::Leaf { keys, .. } = self { size_of_val(&**keys) } else { 0 }
    }

    fn begins(&self) -> Option<PhaseStart> {
        matches!(self, Self::Leaf { .. }).then_some(PhaseStart::Points)
    }

    fn is_in_merge(&self) -> bool {
        matches!(self, Self::Merged)
    }
}
