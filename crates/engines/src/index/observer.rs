//! Observers of a query's search of the tree, with which lessons and walks record it.
//!
//! Every method does nothing by default. Runs use [`NoTrace`], whose empty methods disappear by inlining.

use super::boxes::WARP;
use crate::lockstep::{Key, Lanes};

/// Notified of each step of a search, in order.
pub trait Observer {
    /// The query's code belongs in this leaf, which is visited first.
    #[inline(always)]
    fn own_leaf(&mut self, _leaf: usize) {}

    /// The search entered a node, the group of boxes `group` of a height. Every lane has its child's key, or
    /// [`PADDING`](crate::lockstep::PADDING) if it has no child or if the child is the leaf visited first.
    #[inline(always)]
    fn entered(&mut self, _height: usize, _group: usize, _keys: &Lanes<Key, WARP>) {}

    /// Among the node's unvisited children, this lane's has the smallest key, and it is below the k-th
    /// neighbour's. The search visits it next.
    #[inline(always)]
    fn chosen(&mut self, _lane: usize, _key: Key) {}

    /// No key of the node's unvisited children, whose lanes are set in the mask, is below the k-th
    /// neighbour's. The search returns to the parent.
    #[inline(always)]
    fn pruned(&mut self, _lanes: u32) {}

    /// A leaf was visited: the keys of its points, one per lane, and the ballot of those below the k-th
    /// neighbour's.
    #[inline(always)]
    fn visited(&mut self, _leaf: usize, _keys: &Lanes<Key, WARP>, _candidates: u32) {}

    /// These lanes appended their keys to the buffer, in lane order.
    #[inline(always)]
    fn appended(&mut self, _lanes: u32) {}

    /// The buffer was merged: `last` is the new key of the k-th neighbour.
    #[inline(always)]
    fn merged(&mut self, _last: Key) {}

    /// The lanes of `rest` had no slot and voted again after the merge.
    #[inline(always)]
    fn filtered_again(&mut self, _rest: u32, _candidates: u32) {}

    /// All nodes are finished, and the rest of the buffer is merged.
    #[inline(always)]
    fn finished(&mut self) {}
}

/// The observer of runs, which ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTrace;

impl Observer for NoTrace {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cloud::{self, Order, Source};
    use crate::index::traverse::{Visits, observe};
    use crate::index::tree::Tree;
    use crate::knn::{Metric, Problem, ProblemParameters, Queries};
    use crate::lockstep::PADDING;
    use crate::progress::NoProgress;

    /// Counts the events, and keeps the path of nodes.
    #[derive(Default)]
    struct Counter {
        visits: Visits,
        /// The unvisited lanes of each node on the path.
        waiting: Vec<u32>,
        last: Option<Key>,
        finished: u32,
    }

    fn real(keys: &Lanes<Key, WARP>) -> u32 {
        (0..WARP).fold(0, |lanes, lane| lanes | u32::from(keys[lane] != PADDING) << lane)
    }

    impl Observer for Counter {
        fn entered(&mut self, _height: usize, _group: usize, keys: &Lanes<Key, WARP>) {
            self.visits.nodes += 1;
            self.waiting.push(real(keys));
        }

        fn chosen(&mut self, lane: usize, key: Key) {
            assert!(
                self.last.is_none_or(|last| key < last),
                "only children that may hold a neighbour are visited"
            );
            let waiting = self.waiting.last_mut().expect("a child belongs to a node");
            assert_eq!(*waiting >> lane & 1, 1, "a child is visited once");
            *waiting &= !(1 << lane);
        }

        fn pruned(&mut self, lanes: u32) {
            assert_eq!(self.waiting.pop(), Some(lanes));
            self.visits.pruned += lanes.count_ones();
        }

        fn visited(&mut self, _leaf: usize, keys: &Lanes<Key, WARP>, candidates: u32) {
            self.visits.leaves += 1;
            self.visits.distance_evals += real(keys).count_ones();
            assert_eq!(candidates & !real(keys), 0);
        }

        fn appended(&mut self, lanes: u32) {
            self.visits.candidates += lanes.count_ones();
        }

        fn merged(&mut self, last: Key) {
            self.visits.merges += 1;
            assert!(self.last.replace(last).is_none_or(|before| last <= before));
        }

        fn finished(&mut self) {
            self.finished += 1;
        }
    }

    #[test]
    fn observer_events_match_the_counters() {
        for (spec, k) in [
            ("uniform:n=5000,d=2", 20),
            ("duplicates:n=3000,d=3", 40),
            ("uniform:n=7,d=1", 3),
            ("uniform:n=40000,d=3", 100),
        ] {
            let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
            let cloud = Arc::new(cloud::load(&source, false, &NoProgress).unwrap());
            let setup = ProblemParameters {
                k,
                metric: Metric::L2,
                order: Order::File,
                seed: 0,
                exclude_self: false,
                drop_zero_rows: false,
            };
            let problem = Problem::new(&cloud, &Queries::Rows(vec![cloud.len() as u32 / 3]), setup).unwrap();
            let (nearest, visits) = observe(&Tree::new(&problem), &problem, 0, Counter::default());
            let told = nearest.observer;
            assert_eq!((told.visits, told.finished, told.last), (visits, 1, Some(nearest.last)), "{spec}");
            assert!(told.waiting.is_empty());
        }
    }
}
