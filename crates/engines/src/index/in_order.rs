//! A search that visits boxes as they lie on the curve, from its beginning, instead of the nearest first: what the order is worth.
//!
//! The neighbours are the same. No run uses it; a lesson counts what it visits.

use super::boxes::WARP;
use super::nearest::Nearest;
use super::observer::Unwatched;
use super::traverse::{Visits, visit_leaf};
use super::tree::Tree;
use crate::knn::Problem;

/// What a query visits if the children of a node are visited in the order of their lanes, each unless it cannot hold a neighbour.
pub fn visits_in_order(tree: &Tree, problem: &Problem, query: usize) -> Visits {
    let mut search = InOrder { tree, query: problem.query(query), nearest: Nearest::new(problem.k(), Unwatched), visits: Visits::default() };
    search.visit_children(tree.top(), 0);
    search.nearest.finish(search.visits.accessed);
    let counters = search.nearest.warp.tally.counters;
    Visits { merges: counters.merges, candidates: counters.candidates, ..search.visits }
}

struct InOrder<'a> {
    tree: &'a Tree,
    query: &'a [f32],
    nearest: Nearest,
    visits: Visits,
}

impl InOrder<'_> {
    /// Visits the children of a node, a group of boxes of a height.
    fn visit_children(&mut self, height: usize, group: usize) {
        self.visits.nodes += 1;
        let boxes = self.tree.boxes(height);
        let keys = boxes.keys(group, self.query);
        for (lane, &key) in keys.iter().enumerate().take(boxes.in_group(group) as usize) {
            let child = group * WARP + lane;
            if key >= self.nearest.last {
                self.visits.left_out += 1;
            } else if height == 0 {
                visit_leaf(self.tree, child, self.query, &mut self.nearest, &mut self.visits);
            } else {
                self.visit_children(height - 1, child);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cloud::{self, Order, Source};
    use crate::index::traverse::watch;
    use crate::knn::{Metric, Queries, Setup};
    use crate::progress::Silent;

    /// Before it comes to the query, a search along the curve takes much that is far away for a neighbour.
    #[test]
    fn the_nearest_first_visits_less() {
        let cloud = Arc::new(cloud::load(&Source::Generate { spec: "uniform:n=20000,d=2".to_owned(), seed: 1 }, false, &Silent).unwrap());
        let setup = Setup { k: 16, metric: Metric::L2, order: Order::File, seed: 0, exclude_self: false, drop_zero_rows: false };
        let problem = Problem::new(&cloud, &Queries::Rows((0..200).collect()), setup).unwrap();
        let tree = Tree::new(&problem);
        let (mut first, mut lie) = (0, 0);
        for query in 0..problem.q() {
            let other = visits_in_order(&tree, &problem, query);
            first += watch(&tree, &problem, query, Unwatched).1.leaves;
            lie += other.leaves;
            // Only the last leaf has fewer points.
            assert_eq!(other.accessed.div_ceil(WARP as u32), other.leaves);
        }
        assert!(first * 3 < lie, "{first} leaves, and {lie} as they lie");
    }
}
