//! A query's way through the tree: the nearest child first, and none that cannot hold a neighbour.
//!
//! Twin of `cuda/index/traverse.cuh`.

use multiversion::multiversion;

use super::boxes::{WARP, lane_keys};
use super::nearest::{Nearest, lanes_before};
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
    /// Points that were taken into the candidate buffer.
    pub candidates: u32,
    /// Points whose distance was computed.
    pub accessed: u32,
    /// Leaves whose points were looked at.
    pub leaves: u32,
    /// Nodes whose children were looked at, the root among them.
    pub nodes: u32,
    /// Children, nodes and leaves, that were left out.
    pub left_out: u32,
}

/// Searches the tree for each of the queries, given by their codes and their rows in `queries`, and hands its
/// state to `done` when it has found the neighbours of one. No namesake: a warp has one query there.
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
    nearest: &mut Nearest<O>,
    done: &mut dyn FnMut(usize, &Nearest<O>, Visits),
) {
    for (at, &(code, row)) in rows.iter().enumerate() {
        let query = &queries[row as usize * dims..][..dims];
        // A known number of axes lets the compiler unroll the loops over them.
        let visits = match *query {
            [x, y] => descend(tree, &[x, y], code, nearest),
            [x, y, z] => descend(tree, &[x, y, z], code, nearest),
            _ => descend(tree, query, code, nearest),
        };
        done(at, nearest, visits);
    }
}

/// Searches the tree for one query of a problem, whose observer is notified of each step. No namesake: as
/// above.
pub fn watch<O: Observer>(tree: &Tree, problem: &Problem, query: usize, observer: O) -> (Nearest<O>, Visits) {
    let (row, mut nearest) = (problem.query(query), Nearest::new(problem.k(), observer));
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
/// The leaf where the query's code would be comes first, whose points bound the search. Then depth first: of
/// a node's children the one of the smallest key comes next, as long as that is below the k-th neighbour's.
/// As soon as it is not, the others are left out together, and the search goes on in the node above.
#[inline(always)]
pub fn descend<O: Observer>(tree: &Tree, query: &[f32], code: u64, nearest: &mut Nearest<O>) -> Visits {
    nearest.restart();
    let mut visits = Visits::default();
    let own = leaf_of(tree, code);
    nearest.observer.own_leaf(own);
    visit_leaf(tree, own, query, nearest, &mut visits);
    // Of each height the node on the way down.
    let mut nodes = [Node { waiting: [(PADDING, 0); WARP], count: 0, unvisited: 0 }; HEIGHTS];
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
    nearest.finish(visits.accessed);
    (visits.merges, visits.candidates) =
        (nearest.warp.tally.counters.merges, nearest.warp.tally.counters.candidates);
    visits
}

/// A node's children that may hold neighbours and were not visited yet, the nearest last.
///
/// There a lane holds each child's key, and a reduction finds the smallest, each time anew. Here those that
/// are left out at once, most of them, need not be looked at again; what is visited, and in which order, is
/// the same.
#[derive(Clone, Copy)]
struct Node {
    /// Keys and lanes, in descending order.
    waiting: [(Key, u32); WARP],
    count: usize,
    /// The lanes of all that were not visited yet.
    unvisited: u32,
}

impl Node {
    /// Looks at the children of a node, a group of boxes of a height, except for the leaf that was visited at
    /// first.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the state of a search, which is in registers")]
    fn enter<O: Observer>(
        &mut self,
        tree: &Tree,
        height: usize,
        group: usize,
        query: &[f32],
        own: usize,
        nearest: &mut Nearest<O>,
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

    /// The lane of the nearest child, if it may hold a neighbour; all others are left out if it may not. No
    /// namesake: `warp::reduce_min` there.
    #[inline(always)]
    fn next<O: Observer>(&mut self, nearest: &mut Nearest<O>, visits: &mut Visits) -> Option<usize> {
        match self.waiting[..self.count].last() {
            Some(&(key, lane)) if key < nearest.last => {
                self.count -= 1;
                self.unvisited &= !(1 << lane);
                nearest.observer.chosen(lane as usize, key);
                Some(lane as usize)
            }
            _ => {
                visits.left_out += self.unvisited.count_ones();
                nearest.observer.left_out(self.unvisited);
                None
            }
        }
    }
}

/// The leaf where a code would be: the last that does not begin behind it.
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
    nearest: &mut Nearest<O>,
    visits: &mut Visits,
) {
    visits.leaves += 1;
    visits.accessed += tree.in_leaf(leaf);
    let (rows, positions) = tree.leaf(leaf);
    let [distances] = squared_distances(rows, [query]);
    nearest.filter_keys(leaf, &lane_keys(&distances, positions), visits.accessed);
}
