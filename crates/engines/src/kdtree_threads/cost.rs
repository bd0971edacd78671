//! The cost model of `kdtree-threads`, for uniform points. Rates are estimates for one core of a 2023 server and for an NVIDIA H200.

use crate::knn::cost::out_of_cache;
use crate::knn::{Cost, DeviceKind, Shape};

/// Queries from which on a GPU's time grows with their number.
const FILLING: f64 = 50_000.0;

pub fn cost(shape: &Shape, kind: DeviceKind) -> Cost {
    let (n, q, d, k) = (shape.n.max(1) as f64, shape.q as f64, shape.d.max(1) as f64, shape.k as f64);
    let steps = 3.0 * visited(n, d, k);
    // Most of what is visited at first is taken, and leaves again.
    let sinking = (k + visited(n, d, k).sqrt()) * (k + 1.0).log2();
    match kind {
        DeviceKind::Cpu => {
            let each = q / q.clamp(1.0, rayon::current_num_threads() as f64);
            Cost::default()
                .setup("allocation", 1.0, 0.05)
                .setup("build", n * n.log2(), 1.2e-5)
                .search("launch", 1.0, 0.05)
                .search("steps", each * steps * (3.0 + d), 1.5e-6)
                .search("steps, out of cache", each * steps * (3.0 + d) * out_of_cache(n * d * 4.0), 3e-6)
                .search("heap", each * sinking, 3e-6)
        }
        DeviceKind::Gpu => {
            let each = q.max(FILLING);
            Cost::default()
                .setup("allocation", 1.0, 0.3)
                .setup("upload", n * (d + 1.0) * 4.0, 1.5e-7)
                .setup("build", n * n.log2(), 2e-6)
                .search("launch", 1.0, 0.03)
                .search("steps", each * steps * (3.0 + d), 5e-9)
                .search("heap", each * sinking, 2e-8)
        }
    }
}

/// Estimates the points that a search visits: those in a cube around the ball of the k nearest, and those on the way there.
fn visited(n: f64, d: f64, k: f64) -> f64 {
    (n.log2() + (2.0 + k.powf(1.0 / d) * (1.0 + 1.0 / d)).powf(d.min(n.log2()))).min(n)
}
