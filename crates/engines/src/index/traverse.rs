//! A query's search of the tree: nearest child first, pruning children that cannot contain a neighbour.
//!
//! Twin of `cuda/index/traverse.cuh`.

use multiversion::multiversion;

use super::boxes::{WARP, lane_keys};
use super::nearest::{NearestWarp, lanes_before};
use super::observer::Observer;
use super::tree::{HEIGHTS, Tree};
use crate::knn::Problem;
use crate::lockstep::distance::squared_distances;
use crate::lockstep::{Key, PADDING};

/// What one query visited.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Visits {
    /// Merges of the candidate buffer.
    pub merges: u32,
    /// Points that were added to the candidate buffer.
    pub candidates: u32,
    /// Points whose distance was computed.
    pub distance_evals: u32,
    /// Leaves whose points were compared with the query.
    pub leaves: u32,
    /// Nodes whose children were compared with the query, including the root.
    pub nodes: u32,
    /// Pruned children, nodes and leaves.
    pub pruned: u32,
}

/// Searches the tree for each query, given by its code and its row in `queries`; calls `done` with the state
/// when its neighbours are found. No CUDA counterpart: a warp has one query.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
pub fn traverse_each<O: Observer>(
    tree: &Tree,
    queries: &[f32],
    dims: usize,
    rows: &[(u64, u32)],
    nearest: &mut NearestWarp<O>,
    done: &mut dyn FnMut(usize, &NearestWarp<O>, Visits),
) {
    for (at, &(code, row)) in rows.iter().enumerate() {
        let query = &queries[row as usize * dims..][..dims];
        // With a known number of axes the compiler unrolls the loops over them.
        let visits = match *query {
            [x, y] => descend(tree, &[x, y], code, nearest),
            [x, y, z] => descend(tree, &[x, y, z], code, nearest),
            _ => descend(tree, query, code, nearest),
        };
        done(at, nearest, visits);
    }
}

/// Searches the tree for one query of a problem and notifies an observer of each step. No CUDA counterpart:
/// the traced build does this in CUDA.
pub fn observe<O: Observer>(
    tree: &Tree,
    problem: &Problem,
    query: usize,
    observer: O,
) -> (NearestWarp<O>, Visits) {
    let (row, mut nearest) = (problem.query(query), NearestWarp::new(problem.k(), observer));
    let mut visited = Visits::default();
    traverse_each(
        tree,
        row,
        problem.dims(),
        &[(tree.frame.code(row), 0)],
        &mut nearest,
        &mut |_, _, visits| visited = visits,
    );
    (nearest, visited)
}

/// Searches the tree for one query; the warp ends with its neighbours.
///
/// The leaf to which the query's code belongs comes first: its points bound the search. Then the search is
/// depth first. Of a node's children the one with the smallest key comes next, as long as that key is below
/// the k-th neighbour's. Otherwise all remaining children are pruned together, and the search returns to the
/// parent.
#[inline(always)]
pub fn descend<O: Observer>(tree: &Tree, query: &[f32], code: u64, nearest: &mut NearestWarp<O>) -> Visits {
    nearest.restart();
    let mut visits = Visits::default();
    let own = leaf_of(tree, code);
    nearest.observer.own_leaf(own);
    visit_leaf(tree, own, query, nearest, &mut visits);
    // The node of each height on the path.
    let mut nodes = [PendingChildren { waiting: [(PADDING, 0); WARP], count: 0, unvisited: 0 }; HEIGHTS];
    let (mut height, mut group) = (tree.top(), 0);
    nodes[height].enter(tree, height, group, query, own, nearest, &mut visits);
    loop {
        let Some(lane) = nodes[height].next(nearest, &mut visits) else {
            if height == tree.top() {
                break;
            }
            height += 1;
            group /= WARP;
            continue;
        };
        let child = group * WARP + lane;
        if height == 0 {
            visit_leaf(tree, child, query, nearest, &mut visits);
        } else {
            (height, group) = (height - 1, child);
            nodes[height].enter(tree, height, group, query, own, nearest, &mut visits);
        }
    }
    nearest.finish(visits.distance_evals);
    (visits.merges, visits.candidates) =
        (nearest.warp.tally.counters.merges, nearest.warp.tally.counters.candidates);
    visits
}

/// A node's unvisited children that may contain neighbours, the nearest last.
///
/// On the device each lane holds a child's key, and a reduction finds the smallest anew each time. Here the
/// children that are pruned at once, most of them, are not compared again. The children visited and their
/// order are the same.
#[derive(Clone, Copy)]
struct PendingChildren {
    /// Keys and lanes, in descending order of the keys.
    waiting: [(Key, u32); WARP],
    count: usize,
    unvisited: u32,
}

impl PendingChildren {
    /// Compares the children of a node, a group of boxes of a height, with the query, except for the leaf
    /// visited first.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the state of a search, which is in registers")]
    fn enter<O: Observer>(
        &mut self,
        tree: &Tree,
        height: usize,
        group: usize,
        query: &[f32],
        own: usize,
        nearest: &mut NearestWarp<O>,
        visits: &mut Visits,
    ) {
        visits.nodes += 1;
        let boxes = tree.boxes(height);
        let mut keys = boxes.keys(group, query);
        self.unvisited = u32::MAX >> (WARP as u32 - boxes.in_group(group));
        if height == 0 && group == own / WARP {
            keys[own % WARP] = PADDING;
            self.unvisited &= !(1 << (own % WARP));
        }
        nearest.observer.entered(height, group, &keys);
        let mut near = lanes_before(&keys, nearest.last);
        self.count = 0;
        while near != 0 {
            let lane = near.trailing_zeros();
            near &= near - 1;
            let key = keys[lane as usize];
            let mut at = self.count;
            while at > 0 && self.waiting[at - 1].0 < key {
                self.waiting[at] = self.waiting[at - 1];
                at -= 1;
            }
            self.waiting[at] = (key, lane);
            self.count += 1;
        }
    }

    /// The lane of the nearest child, if it may contain a neighbour; otherwise prunes all others. No
    /// CUDA counterpart: `warp::reduce_min`.
    #[inline(always)]
    fn next<O: Observer>(&mut self, nearest: &mut NearestWarp<O>, visits: &mut Visits) -> Option<usize> {
        match self.waiting[..self.count].last() {
            Some(&(key, lane)) if key < nearest.last => {
                self.count -= 1;
                self.unvisited &= !(1 << lane);
                nearest.observer.chosen(lane as usize, key);
                Some(lane as usize)
            }
            _ => {
                visits.pruned += self.unvisited.count_ones();
                nearest.observer.pruned(self.unvisited);
                None
            }
        }
    }
}

/// The leaf to which a code belongs: the last one whose first code is not greater.
#[inline(always)]
pub fn leaf_of(tree: &Tree, code: u64) -> usize {
    let mut group = 0;
    for height in (0..=tree.top()).rev() {
        let mut begun = 0;
        for &first in tree.boxes(height).first_codes(group) {
            begun += usize::from(first <= code);
        }
        group = group * WARP + begun.max(1) - 1;
    }
    group
}

/// Filters the points of a leaf.
#[inline(always)]
pub fn visit_leaf<O: Observer>(
    tree: &Tree,
    leaf: usize,
    query: &[f32],
    nearest: &mut NearestWarp<O>,
    visits: &mut Visits,
) {
    visits.leaves += 1;
    visits.distance_evals += tree.in_leaf(leaf);
    let (rows, positions) = tree.leaf(leaf);
    let [distances] = squared_distances(rows, [query]);
    nearest.filter_keys(leaf, &lane_keys(&distances, positions), visits.distance_evals);
}
