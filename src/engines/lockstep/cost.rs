//! The cost model of `lockstep`. Rates are for one core of a 2023 server.

use crate::knn::{Cost, Shape, theory};

/// Cost of loading and searching; searching is divided among the threads.
pub fn cost(shape: &Shape) -> Cost {
    let (n, q, d) = (shape.n as f64, shape.q as f64, shape.d as f64);
    let threads = q.clamp(1.0, rayon::current_num_threads() as f64);
    let capacity = theory::capacity(shape.k);
    let merges = theory::expected_merges(shape.n, shape.k, capacity) * q / threads;
    let slots = capacity as f64;
    // Two and three dimensions have their own loops; others stream the points past each block of queries.
    let few = shape.d == 2 || shape.d == 3;
    let (pair, stream) = if few { (d * 0.06, 0.1) } else { (0.1 + d * 0.024, 0.3) };
    Cost::default()
        .setup("upload", n * d, 5e-6)
        .search("distances", n * q / threads * pair, 1e-6)
        .search("stream", n * d * stream, 1e-6)
        .search("merges", merges * (1000.0 + slots * slots.log2().powf(1.6)), 5.8e-7)
        .search("launch", 1.0, 0.02)
}
