//! The cost model of the selectors. They exist for comparison; `auto` picks one only if no other engine can
//! answer.

use crate::knn::{Cost, DeviceKind, Shape, theory};

/// The most distances in a matrix in a GPU's memory.
const MATRIX: f64 = (1 << 30) as f64;

/// Adds search work at a device's rate: that of a GPU, or of one CPU thread, because the work is divided
/// among threads.
fn search(cost: Cost, device: DeviceKind, name: &'static str, work: f64, [gpu, thread]: [f64; 2]) -> Cost {
    match device {
        DeviceKind::Gpu => cost.search(name, work, gpu),
        DeviceKind::Cpu => cost.search(name, work / rayon::current_num_threads() as f64, thread),
    }
}

/// Comparators needed to sort K keys, up to a factor.
fn sorting(capacity: usize) -> f64 {
    capacity as f64 * (capacity as f64).log2().powi(2)
}

fn pairs(shape: &Shape) -> f64 {
    shape.n as f64 * shape.q as f64
}

/// Cost of loading and searching: the matrix is written and read, and each merge sorts K keys.
pub fn bits(shape: &Shape, device: DeviceKind) -> Cost {
    let capacity = super::bits::capacity(shape.k);
    let merges = theory::expected_merges(shape.n, shape.k, capacity) * shape.q as f64;
    search(distances(shape, device), device, "merges", merges * sorting(capacity), [2e-10, 1.5e-6])
}

/// Queues in lanes merge more often, 32 or more keys at a time.
pub fn warp_select(shape: &Shape, device: DeviceKind) -> Cost {
    let (capacity, queries) = (super::warp_select::capacity(shape.k) as f64, shape.q as f64);
    let merges = capacity / 16.0 * (1.0 + (shape.n as f64 / capacity).max(1.0).ln()) * queries;
    search(bits(shape, device), device, "queues", merges * capacity, [1e-9, 4e-6])
}

/// A queue of levels inserts candidates one by one.
pub fn merge_queue(shape: &Shape, device: DeviceKind) -> Cost {
    search(bits(shape, device), device, "queues", inserts(shape), [1e-7, 5e-4])
}

/// Heaps: a warp waits for each lane that inserts.
pub fn thread_heap(shape: &Shape, device: DeviceKind) -> Cost {
    let steps = inserts(shape) * (1.0 + shape.k as f64).log2();
    let cost = search(bits(shape, device), device, "heaps", steps, [5e-7, 1e-5]);
    match device {
        // A thread reads the distances of its row one after the other; all rows that fit into the matrix run
        // at the same time.
        DeviceKind::Gpu => cost.search("rows", shape.n as f64 * (pairs(shape) / MATRIX).max(1.0), 9e-5),
        DeviceKind::Cpu => cost,
    }
}

/// Estimates the insertions over all queries: in random order, the i-th distance is among the k smallest so
/// far with probability k / i.
fn inserts(shape: &Shape) -> f64 {
    theory::expected_candidates(shape.n, shape.k, 0) * shape.q as f64
}

/// All distances pass through a network.
pub fn partial_bitonic(shape: &Shape, device: DeviceKind) -> Cost {
    let size = super::partial_bitonic::capacity(shape.k).ilog2();
    let layers = f64::from(size * (size + 1) / 2 + size + 1);
    search(bits(shape, device), device, "layers", pairs(shape) * layers / 2.0, [6e-10, 4e-6])
}

/// All distances pass through merges.
pub fn merge_path(shape: &Shape, device: DeviceKind) -> Cost {
    let capacity = super::merge_path::capacity(shape.k);
    let run = super::merge_path::threads(capacity) * super::merge_path::KEYS;
    // A thread first sorts its own keys, in about the time of two merges.
    let levels = f64::from((run / super::merge_path::KEYS).ilog2() + 2) + capacity as f64 / run as f64;
    search(bits(shape, device), device, "outputs", pairs(shape) * levels, [4e-9, 1e-5])
}

/// Like `bits`; each merge reads and writes the list.
pub fn bits_global(shape: &Shape, device: DeviceKind) -> Cost {
    let merges = theory::expected_merges(shape.n, shape.k, super::bits_global::SLOTS) * shape.q as f64;
    search(bits(shape, device), device, "kept", merges * super::bits_global::KEPT as f64, [2e-9, 2e-5])
}

/// Cost of loading and searching without a matrix: every distance is computed, and each candidate's again.
pub fn bits_fused(shape: &Shape, device: DeviceKind) -> Cost {
    let (n, q, d) = (shape.n as f64, shape.q as f64, shape.d as f64);
    let capacity = super::bits_fused::capacity(shape.k);
    // All queries of a warp merge when the first of them needs to.
    let merges = 2.0 * theory::expected_merges(shape.n, shape.k, capacity) * q;
    let cost = match device {
        // A few blocks leave most of the GPU idle.
        DeviceKind::Gpu => loading(shape).search("distances", n * q.max(4096.0) * (2.0 + d), 9e-11),
        DeviceKind::Cpu => distances(shape, device),
    };
    search(cost, device, "merges", merges * sorting(capacity), [2e-10, 1.5e-6])
}

fn loading(shape: &Shape) -> Cost {
    let bytes = shape.n as f64 * shape.d as f64 * 4.0;
    Cost::default().setup("allocation", 1.0, 1.0).setup("upload", bytes, 1.5e-7).search("launch", 1.0, 0.02)
}

/// The cost of the distances, which every selector needs first.
fn distances(shape: &Shape, device: DeviceKind) -> Cost {
    let (n, d) = (shape.n as f64, shape.d as f64);
    let (cost, work) = match device {
        DeviceKind::Gpu => (loading(shape), 1.0 + d / 32.0),
        DeviceKind::Cpu => {
            (Cost::default().setup("groups", n * d, 5e-6).search("launch", 1.0, 0.02), 1.0 + d * 0.1)
        }
    };
    search(cost, device, "distances", pairs(shape) * work, [2.2e-9, 1.2e-6])
}

/// All rows are sorted completely.
pub fn sort(shape: &Shape, device: DeviceKind) -> Cost {
    search(distances(shape, device), device, "sort", pairs(shape), [3e-8, 1.2e-5])
}

/// Passes over all rows, and a sort of the nearest.
fn multi_pass(shape: &Shape, device: DeviceKind, passes: f64) -> Cost {
    let nearest = shape.k.min(shape.n) as f64 * shape.q as f64;
    let cost = search(distances(shape, device), device, "passes", passes * pairs(shape), [2e-9, 2e-6]);
    search(cost, device, "sort", nearest, [3e-8, 1.2e-5])
}

/// A sample divides the row evenly, so two passes read all of it; finding a distance's bucket takes a search.
pub fn sample_select(shape: &Shape, device: DeviceKind) -> Cost {
    multi_pass(shape, device, if device == DeviceKind::Gpu { 2.0 } else { 3.0 })
}

/// The first digit leaves a large part of the row.
pub fn radix_select(shape: &Shape, device: DeviceKind) -> Cost {
    multi_pass(shape, device, 2.5)
}
