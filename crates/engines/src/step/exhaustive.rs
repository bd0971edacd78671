//! STEP without an index: all distances are computed, and clusters are bounded by their exact minima (STEP
//! §4.4, Algorithm 6).
//!
//! Twin of `cuda/step/exhaustive.cuh`. A cluster is a range of points in processing order. All have the same
//! size, a multiple of 32 (§6.5).

use multiversion::multiversion;

use super::queue::{QueryState, WARP};
use super::traverse::{ClusterSource, Visits, traverse};
use crate::index::lane_keys;
use crate::lockstep::distance::{GroupedPoints, squared_distances};
use crate::lockstep::{Key, Lanes, PADDING, index_of};

/// Groups of 32 points per cluster, for n points in at most `clusters` clusters. No CUDA counterpart: the
/// host passes it to the kernels.
pub fn groups_in_cluster(n: usize, clusters: usize) -> usize {
    n.div_ceil(clusters).div_ceil(WARP)
}

/// A query's distances to all points, group by group. An entry is the key of a cluster's nearest point.
struct StoredDistances<'a> {
    distances: &'a [Lanes<f32, WARP>],
    n: usize,
    groups_in_cluster: usize,
}

impl ClusterSource for StoredDistances<'_> {
    #[inline(always)]
    fn first_group(&self, entry: Key) -> usize {
        index_of(entry) as usize / (WARP * self.groups_in_cluster) * self.groups_in_cluster
    }

    #[inline(always)]
    fn end_group(&self, entry: Key) -> usize {
        (self.first_group(entry) + self.groups_in_cluster).min(self.distances.len())
    }

    /// The entry is the key of the nearest point; all others have greater keys.
    #[inline(always)]
    fn least(&self, entry: Key) -> Key {
        entry
    }

    #[inline(always)]
    fn first_position(&self, group: usize) -> u32 {
        (group * WARP) as u32
    }

    /// The nearest point is already among the neighbours.
    #[inline(always)]
    fn keys(&self, entry: Key, group: usize) -> (Lanes<Key, WARP>, u32) {
        let mut keys = group_keys(&self.distances[group], group, self.n);
        for key in &mut keys {
            *key = if *key == entry { PADDING } else { *key };
        }
        (keys, (self.n - group * WARP).min(WARP) as u32)
    }
}

/// The keys of a group's points; padding has [`PADDING`].
#[inline(always)]
fn group_keys(distances: &Lanes<f32, WARP>, group: usize, n: usize) -> Lanes<Key, WARP> {
    let mut positions = [u32::MAX; WARP];
    for (lane, position) in positions.iter_mut().enumerate() {
        let at = group * WARP + lane;
        *position = if at < n { at as u32 } else { u32::MAX };
    }
    lane_keys(distances, &positions)
}

/// Computes a query's distances to all points. Those to padding are infinite.
#[inline(always)]
fn store_distances(points: &GroupedPoints<WARP>, query: &[f32], distances: &mut Vec<Lanes<f32, WARP>>) {
    distances.clear();
    for group in 0..points.groups() {
        let [of_group] = squared_distances(points.range(group..group + 1), [query]);
        distances.push(of_group);
    }
}

#[inline(always)]
fn minima(distances: &[Lanes<f32, WARP>], n: usize, groups_in_cluster: usize, order: &mut Vec<Key>) {
    order.clear();
    let mut least = [PADDING; WARP];
    for (group, of_group) in distances.iter().enumerate() {
        let keys = group_keys(of_group, group, n);
        for lane in 0..WARP {
            least[lane] = if keys[lane] < least[lane] { keys[lane] } else { least[lane] };
        }
        if (group + 1) % groups_in_cluster == 0 || group + 1 == distances.len() {
            order.push(least.iter().copied().fold(PADDING, Key::min));
            least = [PADDING; WARP];
        }
    }
}

/// Answers each query from all distances; calls `done` with the state when its neighbours are found. No
/// CUDA counterpart: one kernel per step.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
pub fn exhaust_each(
    points: &GroupedPoints<WARP>,
    groups_in_cluster: usize,
    queries: &[f32],
    dims: usize,
    queue: &mut QueryState,
    done: &mut dyn FnMut(&QueryState, Visits),
) {
    let n = points.n();
    let mut distances = Vec::with_capacity(points.groups());
    let mut order = Vec::with_capacity(points.groups().div_ceil(groups_in_cluster));
    for query in queries.chunks_exact(dims) {
        match *query {
            [x, y] => store_distances(points, &[x, y], &mut distances),
            [x, y, z] => store_distances(points, &[x, y, z], &mut distances),
            _ => store_distances(points, query, &mut distances),
        }
        minima(&distances, n, groups_in_cluster, &mut order);
        order.sort_unstable();
        queue.restart();
        queue.begin_with(&order);
        let visits = traverse(
            &StoredDistances { distances: &distances, n, groups_in_cluster },
            &order,
            queue,
            &mut (),
        );
        done(queue, visits);
    }
}
