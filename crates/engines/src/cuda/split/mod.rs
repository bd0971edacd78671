//! Few queries on an NVIDIA GPU: the engine `cuda-split`.
//!
//! The points are split over the whole GPU, so that one query keeps it as busy as thousands do. A sample of
//! the points bounds each query's k-th distance. Points within the bound are collected, and the k nearest of
//! them are selected (described in `cuda/split/split.cuh`). The neighbours are bit-identical to every other
//! engine's. No warp owns a query and merges, so there are no counters.
//!
//! | file | holds |
//! |---|---|
//! | `plan.rs` | how a problem is partitioned |
//! | `search.rs` | device memory and launches |

mod plan;
mod search;

use super::device::units::Unit;
use super::search::open;
use crate::knn::{Buffer, Cost, Descriptor, DeviceKind, EngineId, MemorySpace, Shape, code};

/// The registry's row for `cuda-split`.
pub static SPLIT: Descriptor = Descriptor {
    about: "For few queries on an NVIDIA GPU: splits the points over the whole GPU; counts no merges.",
    source: "cuda/split/",
    code: code!["cuda/split/split.cuh", "cuda/split/window.cuh"],
    document: "docs/kernel.md",
    runs_on: &[DeviceKind::Gpu],
    buffers: &[
        Buffer::new(MemorySpace::Memory, "points, split over the GPU", "all queries", Shape::points),
        Buffer::new(MemorySpace::Memory, "points within the bound, in any order", "a query", |shape| {
            2 * shape.k
        }),
    ],
    cost: |shape, _| cost(shape),
    ..Descriptor::new(EngineId::new("cuda-split"), |device| {
        open(&SPLIT, device, unit(2), |cuda, problem, _| Ok(Box::new(search::load(cuda, problem)?)))
    })
};

/// The unit for 2 or 3 dimensions, or 0 for any other number.
fn unit(dims: u32) -> Unit {
    Unit::new("split/split", 0, dims)
}

/// Below this number of queries, reading the points from memory dominates.
const FILLING: f64 = 6.0;

/// Cost of loading and searching, fitted to measurements on an NVIDIA H200.
fn cost(shape: &Shape) -> Cost {
    let (n, q, d, k) = (shape.n as f64, shape.q as f64, shape.d as f64, shape.k as f64);
    let cost = Cost::default()
        .setup("allocation", 1.0, 0.04)
        .setup("upload", n * d * 4.0, 1.5e-7)
        .search("launch", 1.0, 0.018)
        .search("queries", q * (111.0 + k), 4.5e-7);
    let pairs = n * q.max(FILLING);
    // Kernels for any d except 2 and 3 read the points one dimension at a time.
    if shape.d < 4 {
        cost.search("distances", pairs * d, 1.25e-10)
    } else {
        cost.search("distances, any d", pairs * (12.0 + d), 1.5e-10)
    }
}
