//! Records a search of the tree step by step with the boxes it encounters, and counts what another order of
//! visiting would cost. No twin: a GPU's search of the same tree takes the same steps.

use super::boxes::{Boxes, WARP};
use super::nearest::NearestWarp;
use super::observer::{NoTrace, Observer};
use super::traverse::{Visits, observe, visit_leaf};
use super::tree::Tree;
use crate::knn::Problem;
use crate::knn::walk::{AXES, Bounds, Event, Region, RegionKind, Step, Totals, Walk};
use crate::lockstep::{Key, Lanes, PADDING, distance_of, index_of};

/// Bytes per leaf of a walk that visits every leaf: the rows of its points, its step, its box, and its share
/// of the nodes; doubled, as lists grow by doubling.
pub const LEAF_BYTES: u64 =
    2 * (WARP * size_of::<u32>() + 2 * size_of::<Step>() + 2 * size_of::<Region>()) as u64;

/// Records the search for a query of a problem of at most [`AXES`] dimensions.
pub fn walk(tree: &Tree, problem: &Problem, query: usize) -> Walk {
    let recorder = Recorder {
        tree,
        problem,
        query: problem.query(query),
        walk: Walk { k: problem.k(), ..Walk::default() },
        totals: Totals::default(),
        last: PADDING,
        below: Vec::new(),
        next: None,
    };
    observe(tree, problem, query, recorder).0.observer.walk
}

struct Recorder<'a> {
    tree: &'a Tree,
    problem: &'a Problem,
    query: &'a [f32],
    walk: Walk,
    totals: Totals,
    last: Key,
    /// For each node on the path, the regions of its children, by lane.
    below: Vec<[Option<usize>; WARP]>,
    next: Option<usize>,
}

impl Recorder<'_> {
    fn step(&self) -> u32 {
        self.walk.steps.len() as u32
    }

    /// Records a region found in this step. It counts as pruned until it is settled.
    fn add_region(&mut self, kind: RegionKind, bounds: Bounds, bound: f32) -> usize {
        let step = self.step();
        let region = Region { kind, bounds, bound, seen_at: step, settled_at: step, visited: false };
        self.walk.regions.push(region);
        self.walk.regions.len() - 1
    }

    fn settle(&mut self, region: usize, visited: bool) {
        let step = self.step();
        (self.walk.regions[region].settled_at, self.walk.regions[region].visited) = (step, visited);
    }

    /// Records a step in which the k-th neighbour has not changed so far.
    fn push(&mut self, event: Event) {
        let last = distance_of(self.last);
        self.walk.steps.push(Step { event, before: last, after: last, totals: self.totals });
    }

    /// The root's box, which the tree does not store because it is never compared with a query.
    fn root(&mut self, height: usize) -> usize {
        let mut boxes = Boxes::empty(1, self.query.len());
        for (axis, &[low, high]) in self.problem.extents().iter().enumerate() {
            (boxes.groups_mut().0[axis].0[0], boxes.groups_mut().0[self.query.len() + axis].0[0]) =
                (low, high);
        }
        let bound = distance_of(boxes.keys(0, self.query)[0]);
        self.add_region(RegionKind::Node { height: height as u32 + 1, number: 0 }, bounds(&boxes, 0), bound)
    }
}

impl Observer for Recorder<'_> {
    fn own_leaf(&mut self, leaf: usize) {
        let boxes = self.tree.boxes(0);
        let bound = distance_of(boxes.keys(leaf / WARP, self.query)[leaf % WARP]);
        let kind = RegionKind::Leaf { number: leaf as u32 };
        self.next = Some(self.add_region(kind, bounds(boxes, leaf), bound));
    }

    fn entered(&mut self, height: usize, group: usize, keys: &Lanes<Key, WARP>) {
        let region = self.next.take().unwrap_or_else(|| self.root(height));
        self.settle(region, true);
        let boxes = self.tree.boxes(height);
        let (mut below, mut near, mut children) = ([None; WARP], 0, 0);
        for (lane, &key) in keys.iter().enumerate().filter(|(_, key)| **key != PADDING) {
            let number = group * WARP + lane;
            let kind = match height {
                0 => RegionKind::Leaf { number: number as u32 },
                _ => RegionKind::Node { height: height as u32, number: number as u32 },
            };
            below[lane] = Some(self.add_region(kind, bounds(boxes, number), distance_of(key)));
            near += u32::from(key < self.last);
            children += 1;
        }
        self.below.push(below);
        self.totals.nodes += 1;
        self.push(Event::Opened { region, children, near });
    }

    fn chosen(&mut self, lane: usize, _key: Key) {
        self.next = self.below.last().and_then(|below| below[lane]);
    }

    fn pruned(&mut self, lanes: u32) {
        let below = self.below.pop().unwrap_or([None; WARP]);
        let mut nearest = None;
        for region in (0..WARP).filter(|lane| lanes >> lane & 1 == 1).filter_map(|lane| below[lane]) {
            self.settle(region, false);
            let bound = |region: usize| self.walk.regions[region].bound;
            nearest = nearest.filter(|&nearest| bound(nearest) <= bound(region)).or(Some(region));
        }
        if let Some(region) = nearest {
            self.totals.pruned += lanes.count_ones();
            self.push(Event::Pruned { region, count: lanes.count_ones() });
        }
    }

    fn visited(&mut self, _leaf: usize, keys: &Lanes<Key, WARP>, near: u32) {
        let Some(region) = self.next.take() else { return };
        self.settle(region, true);
        let first = self.walk.rows.len();
        self.walk
            .rows
            .extend(keys.iter().filter(|key| **key != PADDING).map(|&key| self.problem.row(index_of(key))));
        let points = first..self.walk.rows.len();
        self.totals.leaves += 1;
        self.totals.distance_evals += points.len() as u32;
        self.push(Event::Visited { region, points, near, taken: 0 });
    }

    fn appended(&mut self, lanes: u32) {
        self.totals.candidates += lanes.count_ones();
        let totals = self.totals;
        if let Some(Step { event: Event::Visited { taken, .. }, totals: so_far, .. }) =
            self.walk.steps.last_mut()
        {
            (*taken, *so_far) = (*taken | lanes, totals);
        }
    }

    fn merged(&mut self, last: Key) {
        self.totals.merges += 1;
        // After the root is finished, this is the final merge.
        if self.below.is_empty() && self.totals.nodes > 0 {
            self.push(Event::Finished);
        }
        if let Some(step) = self.walk.steps.last_mut() {
            (step.after, step.totals) = (distance_of(last), self.totals);
        }
        self.last = last;
    }

    fn finished(&mut self) {
        if self.walk.steps.last().is_none_or(|step| step.event != Event::Finished) {
            self.push(Event::Finished);
        }
    }
}

/// A box in the form that a walk stores.
fn bounds(boxes: &Boxes, number: usize) -> Bounds {
    let (lows, highs, _) = boxes.group(number / WARP);
    let (mut low, mut high) = ([0.0; AXES], [0.0; AXES]);
    for (axis, (of_low, of_high)) in lows.iter().zip(highs).enumerate().take(AXES) {
        (low[axis], high[axis]) = (of_low.0[number % WARP], of_high.0[number % WARP]);
    }
    Bounds::Box { low, high }
}

/// What a query would visit in the order of the curve instead of nearest first: a node's children in the
/// order of their lanes, except those that cannot contain a neighbour. The neighbours are the same. Only a
/// lesson uses this, to show how much work the order saves.
pub fn visits_in_order(tree: &Tree, problem: &Problem, query: usize) -> Visits {
    let mut search = CurveOrderSearch {
        tree,
        query: problem.query(query),
        nearest: NearestWarp::new(problem.k(), NoTrace),
        visits: Visits::default(),
    };
    search.visit_children(tree.top(), 0);
    search.nearest.finish(search.visits.distance_evals);
    let counters = search.nearest.warp.tally.counters;
    Visits { merges: counters.merges, candidates: counters.candidates, ..search.visits }
}

struct CurveOrderSearch<'a> {
    tree: &'a Tree,
    query: &'a [f32],
    nearest: NearestWarp,
    visits: Visits,
}

impl CurveOrderSearch<'_> {
    /// Visits the children of a node, a group of boxes of a height.
    fn visit_children(&mut self, height: usize, group: usize) {
        self.visits.nodes += 1;
        let boxes = self.tree.boxes(height);
        let keys = boxes.keys(group, self.query);
        for (lane, &key) in keys.iter().enumerate().take(boxes.in_group(group) as usize) {
            let child = group * WARP + lane;
            if key >= self.nearest.last {
                self.visits.pruned += 1;
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
    use crate::knn::{Metric, ProblemParameters, Queries};
    use crate::progress::NoProgress;

    /// Before it reaches the query, a search along the curve accepts many distant points.
    #[test]
    fn nearest_first_order_visits_fewer_leaves() {
        let cloud = Arc::new(
            cloud::load(
                &Source::Generate { spec: "uniform:n=20000,d=2".to_owned(), seed: 1 },
                false,
                &NoProgress,
            )
            .unwrap(),
        );
        let setup = ProblemParameters {
            k: 16,
            metric: Metric::L2,
            order: Order::File,
            seed: 0,
            exclude_self: false,
            drop_zero_rows: false,
        };
        let problem = Problem::new(&cloud, &Queries::Rows((0..200).collect()), setup).unwrap();
        let tree = Tree::new(&problem);
        let (mut first, mut lie) = (0, 0);
        for query in 0..problem.q() {
            let other = visits_in_order(&tree, &problem, query);
            first += observe(&tree, &problem, query, NoTrace).1.leaves;
            lie += other.leaves;
            // Only the last leaf has fewer points.
            assert_eq!(other.distance_evals.div_ceil(WARP as u32), other.leaves);
        }
        assert!(first * 3 < lie, "{first} leaves nearest first, {lie} in curve order");
    }
}
