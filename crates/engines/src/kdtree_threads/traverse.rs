//! Traverses the tree for a query without a stack: the node that the traversal came from determines the next
//! one (Wald 2022, "A Stack-Free Traversal Algorithm for Left-Balanced k-d Trees", arXiv 2210.12859).
//!
//! Twin of `cuda/kdtree/traverse.cuh`.

use multiversion::multiversion;

use super::heap::Heap;
use super::tree::Tree;
use crate::lockstep::{distance_of, key_of};

/// What one query visited.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Visits {
    /// Points whose distance was computed.
    pub distance_evals: u32,
    /// Points that entered the heap.
    pub candidates: u32,
    /// Steps from node to node, including steps back up.
    pub steps: u32,
}

/// The axis along which a node splits: the root along the first, each level along the next.
#[inline(always)]
fn axis_of(node: usize, dims: usize) -> usize {
    (node + 1).ilog2() as usize % dims
}

/// Visits the nodes that may hold a neighbour: the query's side first, then the other side unless the
/// splitting plane is farther than the k-th neighbour.
#[inline(always)]
fn traverse(tree: &Tree, query: &[f32], heap: &mut Heap) -> Visits {
    let (n, dims) = (tree.positions.len(), query.len());
    let mut visits = Visits::default();
    let (mut node, mut before) = (0, 0);
    let mut down = true;
    loop {
        visits.steps += 1;
        let point = &tree.coordinates[node * dims..][..dims];
        if down {
            let mut sum = 0.0f32;
            for (p, q) in point.iter().zip(query) {
                let difference = p - q;
                sum = difference.mul_add(difference, sum);
            }
            visits.distance_evals += 1;
            let key = key_of(sum, tree.positions[node]);
            if key < heap.root() {
                visits.candidates += 1;
                heap.replace(key);
            }
        }
        let axis = axis_of(node, dims);
        let (plane, own) = (point[axis], query[axis]);
        let right = usize::from(own > plane);
        let (near, far) = (2 * node + 1 + right, 2 * node + 2 - right);
        // `<=`: a point behind a plane at the k-th distance may still win the tie by its position.
        let both = far < n && (plane - own) * (plane - own) <= distance_of(heap.root());
        if down && near < n {
            (before, node) = (node, near);
        } else if both && (down || before == near) {
            (before, node, down) = (node, far, true);
        } else if node == 0 {
            return visits;
        } else {
            (before, node, down) = (node, (node - 1) / 2, false);
        }
    }
}

/// Searches the tree for each query; calls `done` with its neighbours when they are found.
#[multiversion(targets("x86_64+avx+fma", "aarch64+neon"))]
pub fn answer(tree: &Tree, queries: &[f32], heap: &mut Heap, done: &mut dyn FnMut(&Heap, Visits)) {
    for query in queries.chunks_exact(tree.dims) {
        heap.restart();
        let visits = traverse(tree, query, heap);
        heap.sort();
        done(heap, visits);
    }
}
