//! The cost model of `kdtree`. Rates are for one core of a 2023 server and uniform points: real data usually
//! has a lower intrinsic dimension and is faster, which the planner learns from runs.

use std::f64::consts::PI;

use super::tree;
use crate::knn::cost::out_of_cache;
use crate::knn::{Cost, Shape};

/// Points per leaf that the estimate of visits assumes.
const LEAF: f64 = 32.0;

/// Coordinates that fit into the CPU's caches.
const CACHED: f64 = (1u32 << 18) as f64;

/// Cost of building and of searching. The search is divided among the threads.
pub fn cost(shape: &Shape) -> Cost {
    let (n, q, d, k) = (shape.n.max(1) as f64, shape.q as f64, shape.d.max(1) as f64, shape.k as f64);
    let threads = q.clamp(1.0, rayon::current_num_threads() as f64);
    // Coordinates per point in the tree, padding included.
    let held = tree::compiled_dims(shape.d) as f64;
    let depth = n.log2();
    let misses = (n * held / CACHED).log2().max(0.0);
    let each = q / threads;
    let far = out_of_cache(n * held * 4.0);
    let visited = visited(n, d, k);
    // In few dimensions a search visits the nearest points first. In many it visits them in no particular
    // order, so more enter the result and are replaced later.
    let kept = k * (1.0 + 0.5 * visited / n * (visited / k).max(1.0).ln());
    Cost::default()
        .setup("allocation", 1.0, 0.02)
        .setup("build", n * (depth * 7.4e-6 + held * 2.4e-6) * (1.0 - far), 1.0)
        .setup("build, out of cache", n * (depth * 8.5e-6 + held * 8.2e-6 + held.min(12.0) * 1e-5) * far, 1.0)
        .search("launch", 1.0, 0.05)
        .search("queries", each, 2e-4)
        .search("descent", each * depth, 2.5e-5)
        .search("cache misses", each * (k + depth) * misses, 2e-5)
        .search("nearest", each * kept * (k + 1.0).log2(), 1.2e-5)
        .search("visits", each * visited * held * (1.0 - far), 7e-7)
        .search("visits, out of cache", each * visited * (held + held.min(12.0)) * far, 1.1e-6)
}

/// Estimates how many points a search visits. The leaves that intersect a ball around k points lie in a cube
/// of (leaf^(1/d) + c·r)^d points, where r is the ball's radius in units of one point's share of space. For a
/// ball inscribed in the cube c would be 2. In measurements it falls as 1/d, since a ball fills less and less
/// of its cube.
fn visited(n: f64, d: f64, k: f64) -> f64 {
    let radius = (k.ln() - ln_unit_ball(d)) / d;
    let side = LEAF.powf(1.0 / d) + (10.0 / d).min(2.5) * radius.exp();
    // Drawing that many points at random draws some of them twice.
    n * (1.0 - (-(d * side.ln()).exp() / n).exp())
}

/// The natural logarithm of the volume of the unit ball in d dimensions, by the recurrence V(d) = V(d −
/// 2)·2π/d.
fn ln_unit_ball(d: f64) -> f64 {
    let (mut volume, mut dims) = if d % 2.0 == 0.0 { (0.0, 0.0) } else { (2f64.ln(), 1.0) };
    while dims < d {
        dims += 2.0;
        volume += (2.0 * PI / dims).ln();
    }
    volume
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_balls_have_the_known_volumes() {
        for (d, volume) in [(1.0, 2.0), (2.0, PI), (3.0, 4.0 / 3.0 * PI), (4.0, PI * PI / 2.0)] {
            assert!((ln_unit_ball(d).exp() - volume).abs() < 1e-12, "d = {d}");
        }
    }

    #[test]
    fn visited_points_grow_with_dimension_up_to_n() {
        let counts: Vec<f64> =
            [2.0, 3.0, 4.0, 8.0, 12.0, 16.0, 128.0].map(|d| visited(100_000.0, d, 32.0)).to_vec();
        assert!(
            counts.is_sorted() && counts[0] > 32.0 && counts[6] <= 100_000.0 && counts[6] > 99_000.0,
            "{counts:?}"
        );
    }
}
