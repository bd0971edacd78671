//! A query's way through the tree: the nearest child first, and none that cannot hold a neighbour.
//!
//! Twin of `cuda/index/traverse.cuh`.

use multiversion::multiversion;

use super::boxes::WARP;
use super::tree::{HEIGHTS, Tree};
use crate::engines::lockstep::candidate_buffer::Warp;
use crate::engines::lockstep::distance::squared_distances;
use crate::engines::lockstep::{Key, Lanes, PADDING, key_of};

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

/// Searches the tree for each of the queries, given by their codes and their rows in `queries`, and hands the warp to `done` when it has found
/// the neighbours of one. No namesake: a warp has one query there.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
pub fn traverse_each(tree: &Tree, queries: &[f32], dims: usize, rows: &[(u64, u32)], warp: &mut Warp<WARP>, done: &mut dyn FnMut(usize, &Warp<WARP>, Visits)) {
    for (at, &(code, row)) in rows.iter().enumerate() {
        let query = &queries[row as usize * dims..][..dims];
        // A known number of axes lets the compiler unroll the loops over them.
        let visits = match *query {
            [x, y] => traverse(tree, &[x, y], code, warp),
            [x, y, z] => traverse(tree, &[x, y, z], code, warp),
            _ => traverse(tree, query, code, warp),
        };
        done(at, warp, visits);
    }
}

/// Searches the tree for one query; the warp ends with its neighbours.
///
/// The leaf where the query's code would be comes first, whose points bound the search. Then depth first: of a node's children, which a lane each holds, the one of the smallest key comes next, as long as that is below
/// the k-th neighbour's. As soon as it is not, the others are left out together, and the search goes on in the node above.
#[inline(always)]
fn traverse(tree: &Tree, query: &[f32], code: u64, warp: &mut Warp<WARP>) -> Visits {
    warp.start();
    let mut visits = Visits::default();
    // What is still to be visited of the nodes above this one: a key a child.
    let mut above = [[PADDING; WARP]; HEIGHTS];
    let (mut height, mut group) = (tree.top(), 0);
    let own = leaf_of(tree, code);
    visit_leaf(tree, own, query, warp, &mut visits);
    let mut children = enter(tree, height, group, query, own, &mut visits);
    loop {
        let (lane, nearest) = minimum(&children);
        if nearest >= warp.last {
            visits.left_out += children.iter().filter(|&&key| key != PADDING).count() as u32;
            if height == tree.top() {
                break;
            }
            height += 1;
            group /= WARP;
            children = above[height];
            continue;
        }
        children[lane] = PADDING;
        let child = group * WARP + lane;
        if height == 0 {
            visit_leaf(tree, child, query, warp, &mut visits);
        } else {
            above[height] = children;
            (height, group) = (height - 1, child);
            children = enter(tree, height, group, query, own, &mut visits);
        }
    }
    warp.finish(visits.accessed);
    (visits.merges, visits.candidates) = (warp.tally.counters.merges, warp.tally.counters.candidates);
    visits
}

/// The leaf where a code would be: the last that does not begin behind it.
#[inline(always)]
fn leaf_of(tree: &Tree, code: u64) -> usize {
    let mut group = 0;
    for height in (0..=tree.top()).rev() {
        let begun = tree.boxes(height).first_codes(group).iter().filter(|&&first| first <= code).count();
        group = group * WARP + begun.max(1) - 1;
    }
    group
}

/// Looks at the children of a node, a group of boxes of a height, except for the leaf that was visited at first.
#[inline(always)]
fn enter(tree: &Tree, height: usize, group: usize, query: &[f32], own: usize, visits: &mut Visits) -> Lanes<Key, WARP> {
    visits.nodes += 1;
    let mut keys = tree.boxes(height).keys(group, query);
    if height == 0 && group == own / WARP {
        keys[own % WARP] = PADDING;
    }
    keys
}

/// Filters the points of a leaf.
#[inline(always)]
fn visit_leaf(tree: &Tree, leaf: usize, query: &[f32], warp: &mut Warp<WARP>, visits: &mut Visits) {
    visits.leaves += 1;
    visits.accessed += tree.in_leaf(leaf);
    let (rows, positions) = tree.leaf(leaf);
    let [distances] = squared_distances(rows, [query]);
    warp.filter_keys(&std::array::from_fn(|lane| key_of(distances[lane], positions[lane])), visits.accessed);
}

/// The smallest key and its lane. No two children have the same, as no two hold the same point.
#[inline(always)]
fn minimum(keys: &Lanes<Key, WARP>) -> (usize, Key) {
    let least = keys.iter().copied().fold(PADDING, Key::min);
    let lanes = (0..WARP).fold(0u32, |mask, lane| mask | u32::from(keys[lane] == least) << lane);
    (lanes.trailing_zeros() as usize % WARP, least)
}
