//! The cost model of `gemm-heap`. Rates are for one core of a 2023 server.

use crate::knn::{Cost, Shape};

/// Cost of moving the points to their centre, and of searching, which is divided among the threads.
pub fn cost(shape: &Shape) -> Cost {
    let (n, q, d, k) = (shape.n as f64, shape.q as f64, shape.d as f64, shape.k as f64);
    let threads = q.clamp(1.0, rayon::current_num_threads() as f64);
    let pairs = n * q / threads;
    // What is among the k nearest of the points so far.
    let inserts = k * (1.0 + (n / k).max(1.0).ln()) * q / threads;
    Cost::default()
        .setup("allocation", 1.0, 0.02)
        .setup("centre", n * d, 2e-6)
        .search("launch", 1.0, 0.05)
        .search("product", pairs * d, 3e-8)
        .search("limits", pairs, 4e-7)
        .search("heaps", inserts * (d + 4.0 * (k + 1.0).log2()), 3e-6)
}
