//! The cost model of `cuda`, fitted to measurements on an NVIDIA H200.

use super::filtered;
use crate::knn::{Cost, Shape, theory};

/// Below this number of queries the kernel's time is constant: each warp scans all points, and the GPU is not full.
const FILLING: f64 = 2600.0;

/// The same for the filtered search.
const FILLING_FILTER: f64 = 1800.0;

/// Cost of loading and searching, with the filter where the engine uses it.
pub fn cost(shape: &Shape) -> Cost {
    let (n, q, d, k) = (shape.n as f64, shape.q as f64, shape.d as f64, shape.k as f64);
    let capacity = theory::capacity(shape.k);
    let merges = theory::expected_merges(shape.n, shape.k, capacity);
    let slots = capacity as f64;
    let cost = Cost::default()
        .setup("allocation", 1.0, 0.04)
        .setup("upload", n * d * 4.0, 1.5e-7)
        .search("launch", 1.0, 0.02)
        .search("latency", merges * (slots / 32.0).sqrt(), 3.5e-3)
        .search("merges", q * merges * slots * slots.log2().powi(2), 3.7e-10);
    // Kernels for other than two or three dimensions read the coordinates of a point one by one.
    let direct = |points: f64, queries: f64| points * queries * d * if shape.d < 4 { 1.18e-10 } else { 4.5e-10 };
    if shape.d < 4 || shape.n < filtered::least_points(shape.k, shape.d) {
        return cost.search("distances", direct(n, q.max(FILLING)), 1.0);
    }
    let first = filtered::first_chunk(shape.k, shape.d) as f64;
    // Points that pass the filter are read again, each a row from anywhere in memory.
    let passing = q * k * (1.0 + (n / k).max(1.0).ln());
    cost.setup("filter, setup", 1.0, 1.6)
        .search("filter, launch", 1.0, 0.2)
        .search("filter, first chunk", direct(first.min(n), q), 1.0)
        .search("filter", n * q.max(FILLING_FILTER) * (4.2e-10 + 4.6e-12 * d), 1.0)
        .search("filter, passing", passing * (2.6e-7 + 1e-9 * d), 1.0)
}
