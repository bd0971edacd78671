//! The cost models of `step` and `step-exhaustive`, for uniform points. Rates are estimates for one core of a
//! 2023 server and for an NVIDIA H200, based on those of the other engines.

use super::engine::{EXHAUSTIVE_CLUSTERS, MAX_CLUSTERS, MAX_ITERATIONS, POINTS_IN_CLUSTER, SWITCH_DIMS};
use super::queue::{CANDIDATES, WARP};
use crate::knn::cost::out_of_cache;
use crate::knn::{Cost, DeviceKind, Shape};

const PLACES: f64 = CANDIDATES as f64;

/// Queries that fill a GPU; beyond them, time grows with their number. Fewer are distributed to up to 32
/// warps each.
const FILLING: f64 = 250.0;

/// The same for computing all distances: a block has 16 queries.
const FILLING_DISTANCES: f64 = 16.0;

struct QueryEstimate {
    /// Clusters whose bounds are computed and sorted.
    clusters: f64,
    /// Points whose distances are read.
    distance_evals: f64,
    merges: f64,
    capacity: f64,
}

impl QueryEstimate {
    /// Estimates the clusters that a query visits: cubes that touch a ball around the k nearest.
    fn new(shape: &Shape, clusters: f64) -> Self {
        let (n, d, k) = (shape.n.max(1) as f64, shape.d.max(1) as f64, shape.k as f64);
        let clusters = clusters.min(n);
        let inside = n / clusters;
        let side = 1.0 + (k / inside).powf(1.0 / d) * (1.0 + 1.0 / d);
        let visited = (2.0 * side.powf(d.min(clusters.log2().max(1.0)))).clamp(1.0, clusters);
        let distance_evals = visited * inside;
        let candidates = (k + PLACES) * (1.0 + (distance_evals / (k + PLACES)).max(1.0).ln());
        Self {
            clusters,
            distance_evals,
            merges: 1.0 + candidates / PLACES,
            capacity: k.max(PLACES).log2().ceil().exp2(),
        }
    }

    fn comparators(&self) -> f64 {
        self.merges * (PLACES * PLACES.log2().powi(2) / 2.0 + self.capacity * self.capacity.log2())
    }

    fn sorting(&self) -> f64 {
        self.clusters * self.clusters.log2().max(1.0).powi(2)
    }
}

/// Cost of `step`.
pub fn step(shape: &Shape, kind: DeviceKind) -> Cost {
    if shape.d >= SWITCH_DIMS {
        return exhaustive(shape, kind);
    }
    let (n, q, d) = (shape.n.max(1) as f64, shape.q as f64, shape.d.max(1) as f64);
    let query = QueryEstimate::new(shape, (n / POINTS_IN_CLUSTER as f64).ceil().min(MAX_CLUSTERS as f64));
    // Seeding reads every point once per cluster, and so does each iteration.
    let clustering = n * query.clusters * (1 + MAX_ITERATIONS) as f64;
    match kind {
        DeviceKind::Cpu => {
            let threads = rayon::current_num_threads() as f64;
            let each = q / q.clamp(1.0, threads);
            Cost::default()
                .setup("allocation", 1.0, 0.1)
                .setup("clustering", clustering * (2.0 + d) / threads, 2e-7)
                .setup("spheres", n * (1.0 + d) / threads, 1e-4)
                .search("launch", 1.0, 0.05)
                .search("bounds", each * query.clusters * (2.0 + d), 1e-6)
                .search("sorting", each * query.clusters * query.clusters.log2().max(1.0), 3e-6)
                .search("points", each * query.distance_evals * (2.0 + d), 5e-7)
                .search("merges", each * query.comparators(), 4e-7)
        }
        DeviceKind::Gpu => {
            let each = q.max(FILLING);
            Cost::default()
                .setup("allocation", 1.0, 1.0)
                .setup("upload", n * d * 8.0, 1.5e-7)
                .setup("clustering", clustering * (2.0 + d), 2e-10)
                .setup("clustering, launches", query.clusters + MAX_ITERATIONS as f64, 0.015)
                .setup("spheres", n * (1.0 + d) / rayon::current_num_threads() as f64, 1e-4)
                .search("launch", 1.0, 0.03)
                .search("bounds", each * query.clusters * (2.0 + d), 1.5e-10)
                .search("sorting", each * query.sorting(), 1.5e-10)
                .search("points", each * query.distance_evals * (2.0 + d), 1.5e-10)
                .search("merges", each * query.comparators(), 3.7e-10)
        }
    }
}

/// Cost of `step-exhaustive`.
pub fn exhaustive(shape: &Shape, kind: DeviceKind) -> Cost {
    let (n, q, d) = (shape.n.max(1) as f64, shape.q as f64, shape.d.max(1) as f64);
    // The minima show which clusters contain neighbours, in any number of dimensions.
    let query = QueryEstimate::new(
        &Shape { d: 1, ..*shape },
        (n / WARP as f64).ceil().min(EXHAUSTIVE_CLUSTERS as f64),
    );
    match kind {
        DeviceKind::Cpu => {
            let each = q / q.clamp(1.0, rayon::current_num_threads() as f64);
            let far = out_of_cache(n * d * 4.0);
            Cost::default()
                .setup("allocation", 1.0, 0.05)
                .setup("upload", n * d, 2e-6)
                .search("launch", 1.0, 0.05)
                .search("distances", each * n * (3.0 + d), 1.5e-7)
                .search("distances, out of cache", each * n * d * far, 3e-7)
                .search("sorting", each * query.clusters * query.clusters.log2().max(1.0), 3e-6)
                .search("merges", each * query.comparators(), 4e-7)
        }
        DeviceKind::Gpu => {
            let each = q.max(FILLING);
            Cost::default()
                .setup("allocation", 1.0, 1.0)
                .setup("upload", n * d * 4.0, 1.5e-7)
                .search("launch", 1.0, 0.05)
                // Mostly the time to write the distances and to read them twice.
                .search("distances", q.max(FILLING_DISTANCES) * n * (137.0 + d), 1.13e-10)
                .search("sorting", each * query.sorting(), 1.5e-10)
                .search("merges", each * query.comparators(), 3.7e-10)
        }
    }
}
