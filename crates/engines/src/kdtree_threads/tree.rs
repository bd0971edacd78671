//! A left-balanced k-d tree: every level is full except the last, which is filled from the left. Node i has
//! the children 2i + 1 and 2i + 2, so no pointers are needed (Bentley 1975; Wald 2022, §2). The host builds
//! it for both devices.

use crate::knn::Problem;

/// A side with fewer points than this is arranged by the current thread.
const WORTH_SHARING: usize = 4096;

/// The tree over a problem's points, in level order.
#[derive(Debug)]
pub struct Tree {
    pub dims: usize,
    /// Each node's point; n × d, row-major.
    pub coordinates: Vec<f32>,
    /// Each node's position in processing order.
    pub positions: Vec<u32>,
}

impl Tree {
    /// Bytes needed to build and hold a tree.
    pub fn bytes(n: usize, dims: usize) -> u64 {
        4 * n as u64 * (dims as u64 + 2)
    }

    /// Splits the points at medians, starting with the first axis. Equal coordinates are ordered by position.
    pub fn new(problem: &Problem) -> Self {
        let (n, dims, points) = (problem.n(), problem.dims(), problem.points());
        let mut order: Vec<u32> = (0..n as u32).collect();
        arrange(points, dims, &mut order, 0);
        let mut positions = vec![0; n];
        place(&order, 0, &mut positions);
        let mut coordinates = Vec::with_capacity(n * dims);
        for &position in &positions {
            coordinates.extend_from_slice(&points[position as usize * dims..][..dims]);
        }
        Self { dims, coordinates, positions }
    }
}

/// Number of nodes in the root's left subtree; n ≥ 1.
fn left_of(n: usize) -> usize {
    if n == 1 {
        return 0;
    }
    // Nodes of a subtree in a full last level, and nodes in the last level of this tree.
    let half = 1 << (n.ilog2() - 1);
    let last = n + 1 - 2 * half;
    half - 1 + last.min(half)
}

/// Sorts positions into in-order traversal order.
fn arrange(points: &[f32], dims: usize, order: &mut [u32], level: usize) {
    if order.len() < 2 {
        return;
    }
    let coordinate = |position: u32| points[position as usize * dims + level % dims];
    let root = left_of(order.len());
    let (left, _, right) =
        order.select_nth_unstable_by(root, |&a, &b| coordinate(a).total_cmp(&coordinate(b)).then(a.cmp(&b)));
    let side = |side: &mut [u32]| arrange(points, dims, side, level + 1);
    if root >= WORTH_SHARING {
        rayon::join(|| side(left), || side(right));
    } else {
        side(left);
        side(right);
    }
}

/// Writes positions, given in in-order, to the nodes of the subtree at `node`.
fn place(order: &[u32], node: usize, positions: &mut [u32]) {
    if order.is_empty() {
        return;
    }
    let root = left_of(order.len());
    positions[node] = order[root];
    place(&order[..root], 2 * node + 1, positions);
    place(&order[root + 1..], 2 * node + 2, positions);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cloud::{self, Order, Source};
    use crate::knn::{Metric, ProblemParameters, Queries};
    use crate::progress::NoProgress;

    #[test]
    fn last_level_is_filled_from_the_left() {
        for n in 1..200 {
            let (mut left, mut right) = (0, 0);
            for node in 1..n {
                let mut side = node;
                while side > 2 {
                    side = (side - 1) / 2;
                }
                *(if side == 1 { &mut left } else { &mut right }) += 1;
            }
            assert_eq!((left_of(n), n - 1 - left_of(n)), (left, right), "{n} nodes");
        }
    }

    /// Coordinates left of a node are not greater along its axis, those on the right not less; every point
    /// occurs once.
    #[test]
    fn nodes_partition_their_subtrees() {
        for spec in
            ["uniform:n=1000,d=3", "duplicates:n=5000,d=2,distinct=3", "grid:n=9001,d=2", "uniform:n=1,d=2"]
        {
            let cloud = Arc::new(
                cloud::load(&Source::Generate { spec: spec.to_owned(), seed: 1 }, false, &NoProgress)
                    .unwrap(),
            );
            let setup = ProblemParameters {
                k: 1,
                metric: Metric::L2,
                order: Order::Shuffled,
                seed: 0,
                exclude_self: false,
                drop_zero_rows: false,
            };
            let problem = Problem::new(&cloud, &Queries::Rows(vec![0]), setup).unwrap();
            let tree = Tree::new(&problem);
            let (n, dims) = (problem.n(), problem.dims());
            let mut there = tree.positions.clone();
            there.sort_unstable();
            assert!(there.iter().copied().eq(0..n as u32), "{spec}");
            for node in 0..n {
                assert_eq!(
                    tree.coordinates[node * dims..][..dims],
                    problem.points()[tree.positions[node] as usize * dims..][..dims]
                );
                let mut below = node;
                while below > 0 {
                    let (above, is_right) = ((below - 1) / 2, below % 2 == 0);
                    let axis = (above + 1).ilog2() as usize % dims;
                    let [own, plane] = [node, above].map(|node| tree.coordinates[node * dims + axis]);
                    assert!(
                        if is_right { own >= plane } else { own <= plane },
                        "{spec}: node {node} under {above}"
                    );
                    below = above;
                }
            }
        }
    }
}
