//! The cost model of `lockstep`. Rates are for one core of a 2023 server.

use crate::knn::cost::out_of_cache;
use crate::knn::{Cost, Shape, theory};

/// Cost of loading and searching; searching is divided among the threads.
pub fn cost(shape: &Shape) -> Cost {
    let (n, q, d) = (shape.n as f64, shape.q as f64, shape.d as f64);
    // A block of queries is one work item.
    let threads = shape.q.max(1).div_ceil(super::block(shape.q, shape.d)).min(rayon::current_num_threads()) as f64;
    let capacity = theory::capacity(shape.k);
    let merges = theory::expected_merges(shape.n, shape.k, capacity) * q / threads;
    let slots = capacity as f64;
    // Two and three dimensions have their own loops; others stream the points past each block of queries.
    let few = shape.d == 2 || shape.d == 3;
    // Streaming points from memory takes longer than computing their distances.
    let (pair, far_pair, stream) = if few { (d * 0.06, d * 0.06, 0.1) } else { (0.1 + d * 0.024, 0.18 + d * 0.044, 0.3) };
    let far = out_of_cache(n * d * 4.0);
    let pairs = n * q / threads;
    Cost::default()
        .setup("allocation", 1.0, 0.02)
        .setup("upload", n * d * (1.0 - far), 5e-6)
        .setup("upload, out of cache", n * d * far, 5e-6)
        .search("distances", pairs * pair * (1.0 - far), 1e-6)
        .search("distances, out of cache", pairs * far_pair * far, 1e-6)
        .search("stream", n * d * stream, 1e-6)
        .search("merges", merges * (1000.0 + slots * slots.log2().powf(1.6)), 5.8e-7)
        .search("launch", 1.0, 0.02)
}
