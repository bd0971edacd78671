//! The cost model of `bvh` on the CPU. Rates are for one core of a 2023 server and uniform points.

use crate::knn::cost::out_of_cache;
use crate::knn::{Cost, Shape, theory};

/// Points in a leaf.
const LEAF: f64 = super::boxes::WARP as f64;

/// Cost of building and of searching; searching is divided among the threads.
pub fn cost(shape: &Shape) -> Cost {
    let (n, q, d) = (shape.n.max(1) as f64, shape.q as f64, shape.d.max(1) as f64);
    let threads = q.clamp(1.0, rayon::current_num_threads() as f64);
    let each = q / threads;
    let leaves = leaves(shape);
    let capacity = theory::capacity(shape.k) as f64;
    // The buffer fills with what is near at first and is nearer later; what is left over is one more merge.
    let merges = 2.0 + (leaves * LEAF / capacity).max(1.0).ln();
    let far = out_of_cache(n * d * 4.0);
    Cost::default()
        .setup("allocation", 1.0, 0.05)
        .setup("build", n * n.log2(), 2.5e-6)
        .setup("build, coordinates", n * d, 4e-6)
        .search("launch", 1.0, 0.05)
        .search("leaves", each * leaves * (2.0 + d), 1.3e-5)
        .search("leaves, out of cache", each * leaves * (2.0 + d) * far, 1e-5)
        .search("merges", each * merges * capacity * capacity.log2().powi(2), 3e-7)
}

/// Estimates the leaves that a search visits: cubes of 32 points that touch a ball around the k nearest, and what is visited before
/// the ball is known.
pub fn leaves(shape: &Shape) -> f64 {
    let (n, d, k) = (shape.n.max(1) as f64, shape.d.max(1) as f64, shape.k as f64);
    let side = 1.0 + (k / LEAF).powf(1.0 / d) * (1.0 + 1.0 / d);
    // Leaves cannot be cut along more axes than halve their number.
    let axes = d.min((n / LEAF).max(1.0).log2());
    (2.0 * side.powf(axes)).min(n / LEAF).max(1.0)
}
