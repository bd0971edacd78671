//! A query's way through an index, step by step, for whoever shows it.
//!
//! An engine that leaves points out records it ([`Descriptor::walk`](super::Descriptor::walk)): which parts
//! of space its search met, in which order it looked into them, which it left out, and what it knew at each
//! step. Distances are squared, by the rule of every engine.

use std::ops::Range;

/// The axes of a place: as many as can be shown. Those that a cloud does not have are 0.
pub const AXES: usize = 3;

/// A place in the coordinates of the problem's points.
pub type Place = [f32; AXES];

/// What holds all points of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// All whose coordinates are between those of two corners.
    Box { low: Place, high: Place },
    /// All that are no farther from the centre than the radius.
    Sphere { center: Place, radius: f32 },
}

/// Which part of the index a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It holds others: of a height above the leaves, from 1, by its number among those of its height.
    Node { height: u32, number: u32 },
    /// It holds points.
    Leaf { number: u32 },
    /// It holds points that k-means brought together.
    Cluster { number: u32 },
}

/// A part of space that a search met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    pub part: Part,
    pub bounds: Bounds,
    /// No point in it has a smaller squared distance to the query.
    pub bound: f32,
    /// The step that met it, by its number from 0.
    pub met: u32,
    /// The step that looked into it or left it out; not before [`Self::met`].
    pub settled: u32,
    /// Whether it was looked into.
    pub visited: bool,
}

/// What a region is at a step of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was seen, and what becomes of it is open.
    Waiting,
    Visited,
    LeftOut,
}

impl Region {
    /// What it is after a step; `None` before it was met.
    pub fn fate(&self, step: usize) -> Option<Fate> {
        match step {
            step if step < self.met as usize => None,
            step if step < self.settled as usize => Some(Fate::Waiting),
            _ if self.visited => Some(Fate::Visited),
            _ => Some(Fate::LeftOut),
        }
    }
}

/// What a search has done up to a step; the names are those of the measures that count the same, but that
/// clusters count as leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub merges: u32,
    pub candidates: u32,
    pub accessed: u32,
    pub leaves: u32,
    pub nodes: u32,
    pub left_out: u32,
}

/// What happened in a step. Regions are given by their places in [`Walk::regions`].
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// All clusters were sorted by their bounds: they are the regions, in this order.
    Sorted,
    /// A node's children were compared with the query; so many of them were near enough to hold a neighbour.
    Opened { region: usize, children: u32, near: u32 },
    /// A leaf's points were compared with the query, or some of a cluster's.
    Visited {
        region: usize,
        /// Its points, places in [`Walk::rows`].
        points: Range<usize>,
        /// Of its points, by bit, those that were nearer than the k-th neighbour when it was entered.
        near: u32,
        /// Of these, those that were taken: a merge on the way may have brought the k-th neighbour nearer.
        taken: u32,
    },
    /// A node's other children, or all other clusters, so many, were left out together; the nearest of them
    /// is the region.
    LeftOut { region: usize, count: u32 },
    /// Nothing is left to be looked at, and what was in the candidate buffer is merged.
    Finished,
}

/// A step of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub event: Event,
    /// The squared distance of the k-th neighbour before the step; infinite while fewer are known.
    pub before: f32,
    /// The same after it.
    pub after: f32,
    /// All that was done up to the end of the step.
    pub totals: Totals,
}

/// One query's search, from its first step to its last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walk {
    /// Neighbours that were looked for, the query's own row among them where it is left out of the answer.
    pub k: usize,
    /// All regions that were met, in this order.
    pub regions: Vec<Region>,
    /// Rows of the cloud in the leaves that were visited, leaf by leaf.
    pub rows: Vec<u32>,
    pub steps: Vec<Step>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_waiting_until_it_is_settled() {
        let bounds = Bounds::Sphere { center: [0.0; AXES], radius: 1.0 };
        let region = |visited| Region {
            part: Part::Leaf { number: 3 },
            bounds,
            bound: 0.0,
            met: 2,
            settled: 4,
            visited,
        };
        let fates = |visited| [1, 2, 3, 4, 9].map(|step| region(visited).fate(step));
        assert_eq!(
            fates(true),
            [None, Some(Fate::Waiting), Some(Fate::Waiting), Some(Fate::Visited), Some(Fate::Visited)]
        );
        assert_eq!(fates(false)[3..], [Some(Fate::LeftOut); 2]);
    }
}
