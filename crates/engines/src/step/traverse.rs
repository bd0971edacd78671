//! A query's traversal of the clusters, in the order of their bounds, until no further one can contain a
//! neighbour (STEP §4.1, Algorithm 5).
//!
//! Twin of `cuda/step/traverse.cuh`.

use multiversion::multiversion;

use super::clusters::Clusters;
use super::queue::{QueryState, WARP};
use super::walk::{FilteredGroup, Observer};
use crate::index::lane_keys;
use crate::knn::Problem;
use crate::lockstep::distance::squared_distances;
use crate::lockstep::{Key, Lanes, distance_of, index_of, key_of};

/// What one query visited.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Visits {
    /// Merges of the candidate queue.
    pub merges: u32,
    /// Points that were added to the candidate queue.
    pub candidates: u32,
    /// Points whose distances were read.
    pub distance_evals: u32,
    /// Visited clusters.
    pub clusters: u32,
    /// Pruned clusters.
    pub pruned: u32,
    /// Filtered groups of 32 points, or fewer at the end of a cluster.
    pub groups: u32,
}

/// Where a traversal finds the points of a cluster. An entry of the order is a cluster's bound and identifies
/// the cluster.
pub trait ClusterSource {
    /// The first group of an entry's cluster.
    fn first_group(&self, entry: Key) -> usize;
    /// The end of its groups, exclusive.
    fn end_group(&self, entry: Key) -> usize;
    /// A lower bound on the keys of an entry's cluster that have not been found yet. It ascends with the
    /// entries.
    fn least(&self, entry: Key) -> Key;
    /// The smallest position in a group. It ascends within a cluster.
    fn first_position(&self, group: usize) -> u32;
    /// The keys of a group's points, and their number.
    fn keys(&self, entry: Key, group: usize) -> (Lanes<Key, WARP>, u32);
}

/// Visits the clusters of sorted entries; the queue ends with the neighbours.
///
/// If a cluster cannot contain a neighbour, no later one can. A cluster's points are ordered by position, and
/// none is nearer than its bound. So the cluster is finished as soon as the pair of that bound and a group's
/// first position is not below the k-th neighbour. Therefore only slightly more than k equal points are
/// visited.
#[inline(always)]
pub fn traverse(
    source: &impl ClusterSource,
    order: &[Key],
    queue: &mut QueryState,
    observer: &mut impl Observer,
) -> Visits {
    let mut visits = Visits::default();
    observer.sorted(order);
    for &entry in order {
        if source.least(entry) >= queue.last {
            break;
        }
        visits.clusters += 1;
        observer.cluster();
        for group in source.first_group(entry)..source.end_group(entry) {
            if key_of(distance_of(entry), source.first_position(group)) >= queue.last {
                break;
            }
            let (keys, points) = source.keys(entry, group);
            visits.distance_evals += points;
            visits.groups += 1;
            let of = FilteredGroup { keys: &keys, before: queue.last, free: queue.free() };
            queue.filter_keys(&keys);
            observer.filtered(group, of, queue);
        }
    }
    queue.finish();
    visits.pruned = order.len() as u32 - visits.clusters;
    (visits.merges, visits.candidates) = (queue.merges, queue.candidates);
    visits
}

/// Clusters whose distances to the query are computed when they are visited. An entry is a cluster's bound
/// and number.
struct IndexedClusters<'a> {
    clusters: &'a Clusters,
    query: &'a [f32],
}

impl ClusterSource for IndexedClusters<'_> {
    #[inline(always)]
    fn first_group(&self, entry: Key) -> usize {
        self.clusters.first_groups[index_of(entry) as usize] as usize
    }

    #[inline(always)]
    fn end_group(&self, entry: Key) -> usize {
        self.clusters.first_groups[index_of(entry) as usize + 1] as usize
    }

    #[inline(always)]
    fn least(&self, entry: Key) -> Key {
        key_of(distance_of(entry), self.first_position(self.first_group(entry)))
    }

    #[inline(always)]
    fn first_position(&self, group: usize) -> u32 {
        self.clusters.positions[group][0]
    }

    #[inline(always)]
    fn keys(&self, _entry: Key, group: usize) -> (Lanes<Key, WARP>, u32) {
        let (dims, positions) = (self.clusters.dims, &self.clusters.positions[group]);
        let [distances] =
            squared_distances(&self.clusters.coordinates[group * dims..(group + 1) * dims], [self.query]);
        let mut points = 0;
        for &position in positions {
            points += u32::from(position != u32::MAX);
        }
        (lane_keys(&distances, positions), points)
    }
}

/// Searches the clusters for each query; calls `done` with the state when its neighbours are found. No
/// CUDA counterpart: a warp has one query.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
pub fn search_each(
    clusters: &Clusters,
    queries: &[f32],
    queue: &mut QueryState,
    done: &mut dyn FnMut(&QueryState, Visits),
) {
    let mut order = Vec::with_capacity(clusters.count().next_multiple_of(WARP));
    for query in queries.chunks_exact(clusters.dims) {
        order_clusters(clusters, query, &mut order);
        queue.restart();
        // With a known number of axes the compiler unrolls the loops over them.
        let visits = match *query {
            [x, y] => traverse(&IndexedClusters { clusters, query: &[x, y] }, &order, queue, &mut ()),
            [x, y, z] => traverse(&IndexedClusters { clusters, query: &[x, y, z] }, &order, queue, &mut ()),
            _ => traverse(&IndexedClusters { clusters, query }, &order, queue, &mut ()),
        };
        done(queue, visits);
    }
}

/// Searches the clusters for one query of a problem and notifies an observer of each step. No CUDA
/// counterpart: for walks on the host only.
pub fn observe<O: Observer>(
    clusters: &Clusters,
    problem: &Problem,
    query: usize,
    mut observer: O,
) -> (O, QueryState, Visits) {
    let (query, mut queue, mut order) = (problem.query(query), QueryState::new(problem.k()), Vec::new());
    order_clusters(clusters, query, &mut order);
    let visits = traverse(&IndexedClusters { clusters, query }, &order, &mut queue, &mut observer);
    (observer, queue, visits)
}

/// Sorts the clusters by their bounds, then by number (Algorithm 4, lines 3 to 8).
#[inline(always)]
fn order_clusters(clusters: &Clusters, query: &[f32], order: &mut Vec<Key>) {
    let norm = clusters.spheres.norm_of(query);
    order.clear();
    for group in 0..clusters.count().div_ceil(WARP) {
        order.extend_from_slice(&clusters.spheres.keys(group, query, norm));
    }
    order.truncate(clusters.count());
    order.sort_unstable();
}
