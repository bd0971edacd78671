//! The observer that records the steps of a tree search, from the twin or from a GPU's trace.

use std::sync::Arc;

use super::state::lanes_where;
use super::{TreeBaseline, TreeStep};
use crate::Result;
use crate::engines::cuda::trace::TreeTrace;
use crate::engines::index::{self, BVH, Observer, Tree, WARP, visits_in_order};
use crate::engines::lockstep::{self, Key, Lanes, PADDING, distance_of};
use crate::error::LessonError;
use crate::from_gpu::check_trace;
use crate::knn::Problem;
use crate::recording::{Parameters, Recording};
use crate::state::{Shape, lanes_in};
use crate::step::{AppendedCandidate, SlotAssignment, Step};

/// Builds the tree over a problem's points, runs the twin on one query, and records its steps. `data`
/// describes the source of the points. Also runs curve order and brute force, for their counts.
///
/// # Errors
/// [`LessonError::TreeWidth`] unless the width is 32, [`LessonError::K`] if k is too large.
pub fn record_tree(problem: Arc<Problem>, query: usize, width: u32, data: &str) -> Result<Recording> {
    Shape::check_tree(width)?;
    Shape::check(width, problem.k())?;
    let tree = Tree::new(&problem);
    let shape = Shape::for_problem(&problem, width);
    let (nearest, visits) = index::observe(&tree, &problem, query, Recorder::new(shape.capacity()));
    let curve_order = visits_in_order(&tree, &problem, query);
    let brute = lockstep::observe::<WARP, _>(&problem, query, None, ()).counters;
    let parameters = Parameters::new(&BVH, shape, &problem, query, data);
    Ok(Recording::new(parameters, problem, query, nearest.observer.steps).with_baseline(TreeBaseline {
        tree,
        visits,
        curve_order,
        brute,
    }))
}

/// Records the steps of a search that it observes.
pub(crate) struct Recorder {
    pub steps: Vec<Step>,
    /// Slots of the buffer, and the number in use.
    capacity: u32,
    buffered: u32,
    points_seen: u32,
    max_distance: f32,
    /// The keys of the current leaf.
    keys: Vec<Key>,
    /// Its candidates that have no slot yet.
    candidates: u32,
}

impl Recorder {
    /// `capacity` is the number of slots of the buffer, K.
    pub fn new(capacity: u32) -> Self {
        Self {
            steps: Vec::new(),
            capacity,
            buffered: 0,
            points_seen: 0,
            max_distance: f32::INFINITY,
            keys: vec![PADDING; WARP],
            candidates: 0,
        }
    }
}

impl Observer for Recorder {
    fn own_leaf(&mut self, leaf: usize) {
        self.steps.push(TreeStep::OwnLeaf { leaf: leaf as u32 }.into());
    }

    fn entered(&mut self, height: usize, group: usize, keys: &Lanes<Key, WARP>) {
        self.steps.push(TreeStep::Node { height: height as u32, group: group as u32 }.into());
        self.steps.push(TreeStep::Boxes { keys: keys.to_vec() }.into());
    }

    fn chosen(&mut self, lane: usize, _key: Key) {
        self.steps.push(TreeStep::Child { lane: lane as u32 }.into());
    }

    fn pruned(&mut self, lanes: u32) {
        self.steps.push(TreeStep::Pruned { lanes }.into());
    }

    fn visited(&mut self, leaf: usize, keys: &Lanes<Key, WARP>, candidates: u32) {
        self.keys = keys.to_vec();
        self.candidates = candidates;
        self.points_seen += lanes_where(keys, |key| key != PADDING).count_ones();
        self.steps.push(TreeStep::Leaf { leaf: leaf as u32, keys: keys.to_vec() }.into());
        self.steps.push(Step::Ballot { mask: candidates });
    }

    fn appended(&mut self, lanes: u32) {
        let slots: Vec<SlotAssignment> = lanes_in(self.candidates)
            .zip(self.buffered..)
            .map(|(lane, slot)| SlotAssignment { lane, slot })
            .collect();
        let wrote = slots.iter().filter(|slot| lanes >> slot.lane & 1 == 1);
        let placed: Vec<AppendedCandidate> = wrote
            .map(|slot| AppendedCandidate {
                lane: slot.lane,
                slot: slot.slot,
                key: self.keys[slot.lane as usize],
            })
            .collect();
        self.buffered += placed.len() as u32;
        self.steps.push(Step::Positions { slots });
        self.steps.push(Step::Appended { placed });
    }

    fn merged(&mut self, last: Key) {
        self.steps.push(if self.buffered == self.capacity {
            Step::BufferFull
        } else {
            Step::Padded { first: self.buffered }
        });
        let before = std::mem::replace(&mut self.max_distance, distance_of(last));
        self.steps.push(TreeStep::Merged.into());
        self.steps.push(Step::MaxDistance {
            points_seen: self.points_seen,
            before,
            max_distance: self.max_distance,
        });
        self.buffered = 0;
    }

    fn filtered_again(&mut self, rest: u32, candidates: u32) {
        self.candidates = candidates;
        self.steps.push(Step::FilteredAgain { rest, mask: candidates });
    }

    fn finished(&mut self) {
        self.steps.push(Step::Finished);
    }
}

impl Shape {
    /// Rejects widths that a tree search does not support.
    ///
    /// # Errors
    /// [`LessonError::TreeWidth`] unless the width is 32.
    pub fn check_tree(width: u32) -> Result<()> {
        if width as usize == WARP { Ok(()) } else { Err(LessonError::TreeWidth { width }) }
    }
}

// The tree search on a GPU: its trace as steps.

/// Decodes the GPU's steps and checks them against the twin's, and its answer against its own steps.
pub(crate) fn compare(trace: &TreeTrace, twin: &Recording) -> Result<Vec<Step>> {
    let mut recorder = Recorder::new(twin.shape().capacity());
    let decoded = trace.replay(&mut recorder);
    check_trace(decoded, recorder.steps, &trace.neighbours, twin)
}
