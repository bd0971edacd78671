//! A query's path through an index, step by step, for display.
//!
//! Engines that prune points record it ([`Descriptor::walk`](super::Descriptor::walk)): the regions
//! encountered, the order of visits, the pruned regions, and the bound at each step. Distances are squared,
//! by the rule of all engines.

use std::ops::Range;

/// Number of coordinates of a position, the maximum that can be drawn. Missing dimensions are 0.
pub const AXES: usize = 3;

/// A position in the coordinates of the problem's points.
pub type Position = [f32; AXES];

/// A shape that contains all points of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// The points whose coordinates lie between two corners.
    Box { low: Position, high: Position },
    /// The points no farther from the centre than the radius.
    Sphere { center: Position, radius: f32 },
}

/// The kind of index element that a region belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    /// An inner node: its height above the leaves, from 1, and its number within that height.
    Node { height: u32, number: u32 },
    /// A leaf with points.
    Leaf { number: u32 },
    /// A k-means cluster of points.
    Cluster { number: u32 },
}

/// A region of space that a search encountered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    pub kind: RegionKind,
    pub bounds: Bounds,
    /// Lower bound on the squared distance from the query to any point in the region.
    pub bound: f32,
    /// The step that first encountered it, from 0.
    pub seen_at: u32,
    /// The step that visited or pruned it; never before [`Self::seen_at`].
    pub settled_at: u32,
    /// Whether it was visited rather than pruned.
    pub visited: bool,
}

/// State of a region at a step of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionState {
    /// Encountered, but not yet visited or pruned.
    Waiting,
    Visited,
    Pruned,
}

impl Region {
    /// Its state after a step; `None` before it was encountered.
    pub fn fate(&self, step: usize) -> Option<RegionState> {
        match step {
            step if step < self.seen_at as usize => None,
            step if step < self.settled_at as usize => Some(RegionState::Waiting),
            _ if self.visited => Some(RegionState::Visited),
            _ => Some(RegionState::Pruned),
        }
    }
}

/// What a search has done up to a step. Fields are named after the measures with the same counts; clusters
/// count as leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub merges: u32,
    pub candidates: u32,
    pub distance_evals: u32,
    pub leaves: u32,
    pub nodes: u32,
    pub pruned: u32,
}

/// What happened in a step. Regions are indices into [`Walk::regions`].
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// All clusters were sorted by their bounds. The regions are in this order.
    Sorted,
    /// A node's children were compared with the query; `near` of them may hold a neighbour.
    Opened { region: usize, children: u32, near: u32 },
    /// The points of a leaf, or some of a cluster, were compared with the query.
    Visited {
        region: usize,
        /// Its points, as a range of [`Walk::rows`].
        points: Range<usize>,
        /// Bit mask of the points nearer than the k-th neighbour at the start of the visit.
        near: u32,
        /// Bit mask of those that became candidates; a merge in between may have lowered the bound.
        taken: u32,
    },
    /// `count` regions were pruned together: a node's other children, or all remaining clusters. `region` is
    /// the nearest of them.
    Pruned { region: usize, count: u32 },
    /// No regions remain, and the candidate buffer is merged.
    Finished,
}

/// A step of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub event: Event,
    /// Squared distance of the k-th neighbour before the step; infinite while fewer are known.
    pub before: f32,
    /// The same after the step.
    pub after: f32,
    /// Cumulative totals at the end of the step.
    pub totals: Totals,
}

/// One query's search, from its first step to its last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walk {
    /// Neighbours searched for, including the query's own row if it is excluded from the answer.
    pub k: usize,
    /// All regions, in the order encountered.
    pub regions: Vec<Region>,
    /// Rows of the cloud in the visited leaves, leaf by leaf.
    pub rows: Vec<u32>,
    pub steps: Vec<Step>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_wait_until_they_are_settled() {
        let bounds = Bounds::Sphere { center: [0.0; AXES], radius: 1.0 };
        let region = |visited| Region {
            kind: RegionKind::Leaf { number: 3 },
            bounds,
            bound: 0.0,
            seen_at: 2,
            settled_at: 4,
            visited,
        };
        let fates = |visited| [1, 2, 3, 4, 9].map(|step| region(visited).fate(step));
        assert_eq!(
            fates(true),
            [
                None,
                Some(RegionState::Waiting),
                Some(RegionState::Waiting),
                Some(RegionState::Visited),
                Some(RegionState::Visited)
            ]
        );
        assert_eq!(fates(false)[3..], [Some(RegionState::Pruned); 2]);
    }
}
