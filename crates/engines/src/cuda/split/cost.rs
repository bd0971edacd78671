//! The cost model of `cuda-split`, fitted to measurements on an NVIDIA H200.

use crate::knn::{Cost, Shape};

/// Below this number of queries, reading the points from memory dominates.
const FILLING: f64 = 6.0;

/// Cost of loading and searching.
pub fn cost(shape: &Shape) -> Cost {
    let (n, q, d, k) = (shape.n as f64, shape.q as f64, shape.d as f64, shape.k as f64);
    let cost = Cost::default().setup("allocation", 1.0, 0.04).setup("upload", n * d * 4.0, 1.5e-7).search("launch", 1.0, 0.018).search(
        "queries",
        q * (111.0 + k),
        4.5e-7,
    );
    let pairs = n * q.max(FILLING);
    // Kernels for other than two or three dimensions read the points one dimension at a time.
    if shape.d < 4 { cost.search("distances", pairs * d, 1.25e-10) } else { cost.search("distances, any d", pairs * (12.0 + d), 1.5e-10) }
}
