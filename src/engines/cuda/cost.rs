//! The cost model of `cuda`, fitted to kernel measurements on an NVIDIA H200.

use crate::knn::{Cost, Shape, theory};

/// Below this number of queries the kernel's time is constant: each warp scans all points, and the GPU is not full.
const FILLING: f64 = 2600.0;

/// The same for the filtered search.
const FILLING_FILTER: f64 = 1800.0;

/// Cost of loading and searching: the cheaper of the direct and the filtered search.
pub fn cost(shape: &Shape) -> Cost {
    let (n, q, d) = (shape.n as f64, shape.q as f64, shape.d as f64);
    let capacity = theory::capacity(shape.k);
    let merges = theory::expected_merges(shape.n, shape.k, capacity) * q;
    let slots = capacity as f64;
    let direct = n * q.max(FILLING) * d / 2.0 * 2.35e-10;
    let filtered = n * q.max(FILLING_FILTER) * (4.2e-10 + 4.6e-12 * d);
    let cost = Cost::default().setup("allocation", 1.0, 0.1).setup("upload", n * d * 4.0, 1.0 / 12e6).search("launch", 1.0, 0.02).search(
        "merges",
        merges * slots * slots.log2().powi(2),
        3.7e-10,
    );
    if shape.d < 4 || direct < filtered { cost.search("distances", direct, 1.0) } else { cost.search("filter", filtered, 1.0) }
}
