//! The cost model of `bvh`, for uniform points. Rates are for one core of a 2023 server and for an NVIDIA
//! H200.

use super::packet::{WORTH_PACKING, are_neighbours, packet_length};
use crate::knn::cost::out_of_cache;
use crate::knn::{Cost, DeviceKind, Shape, theory};

const LEAF: f64 = super::boxes::WARP as f64;

/// Cost of building and of searching on a kind of device.
pub fn cost(shape: &Shape, kind: DeviceKind) -> Cost {
    match kind {
        DeviceKind::Cpu => on_cpu(shape),
        DeviceKind::Gpu => on_gpu(shape),
    }
}

/// Queries that fill a GPU; beyond them, time grows with their number.
const FILLING: f64 = 8000.0;

/// Time of a search by packets relative to one by single queries.
const PACKED: f64 = 0.5;

/// The fraction of the work left when a GPU searches neighbouring queries together.
fn share(shape: &Shape) -> f64 {
    let packed = packet_length(shape.k, shape.d).is_some()
        && shape.q >= WORTH_PACKING
        && are_neighbours(shape.q, shape.n);
    if packed { PACKED } else { 1.0 }
}

fn on_gpu(shape: &Shape) -> Cost {
    let (n, q, d) = (shape.n.max(1) as f64, shape.q as f64, shape.d.max(1) as f64);
    let (leaves, merges, capacity) = (leaves(shape), merges(shape), theory::capacity(shape.k) as f64);
    let each = q.max(FILLING) * share(shape);
    Cost::default()
        .setup("allocation", 1.0, 0.3)
        .setup("upload", n * d * 4.0, 1.5e-7)
        .setup("build", n * (d + 1.0), 4e-8)
        .search("launch", 1.0, 0.03)
        .search("leaves", each * leaves * (10.0 + 2.0 * d), 7e-9)
        .search("merges", each * merges * capacity * capacity.log2().powi(2), 3.7e-10)
}

/// The search is divided among the threads.
fn on_cpu(shape: &Shape) -> Cost {
    let (n, q, d) = (shape.n.max(1) as f64, shape.q as f64, shape.d.max(1) as f64);
    let threads = q.clamp(1.0, rayon::current_num_threads() as f64);
    let each = q / threads;
    let leaves = leaves(shape);
    let (merges, capacity) = (merges(shape), theory::capacity(shape.k) as f64);
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

/// Estimates the merges of a search: the buffer fills with nearby points at first and with nearer ones later,
/// and the final merge is one more.
fn merges(shape: &Shape) -> f64 {
    2.0 + (leaves(shape) * LEAF / theory::capacity(shape.k) as f64).max(1.0).ln()
}

/// Estimates the leaves that a search visits: cubes of 32 points that touch a ball around the k nearest, and
/// those visited before the ball is known.
fn leaves(shape: &Shape) -> f64 {
    let (n, d, k) = (shape.n.max(1) as f64, shape.d.max(1) as f64, shape.k as f64);
    let side = 1.0 + (k / LEAF).powf(1.0 / d) * (1.0 + 1.0 / d);
    // The points are split along at most log2(leaves) axes.
    let axes = d.min((n / LEAF).max(1.0).log2());
    (2.0 * side.powf(axes)).min(n / LEAF).max(1.0)
}
