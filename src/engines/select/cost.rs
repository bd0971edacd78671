//! The cost model of the selectors. They are for comparison: `auto` takes one only where nothing else can answer.

use crate::knn::{Cost, DeviceKind, Shape, theory};

/// Cost of loading and searching: the matrix is written and read, and each merge sorts K keys.
pub fn bits(shape: &Shape, device: DeviceKind) -> Cost {
    let (n, q, d) = (shape.n as f64, shape.q as f64, shape.d as f64);
    let capacity = super::bits::capacity(shape.k);
    let merges = theory::expected_merges(shape.n, shape.k, capacity) * q;
    let sort = capacity as f64 * (capacity as f64).log2().powi(2);
    match device {
        DeviceKind::Gpu => Cost::default()
            .setup("allocation", 1.0, 1.0)
            .setup("upload", n * d * 4.0, 1.5e-7)
            .search("launch", 1.0, 0.02)
            .search("distances", n * q * (1.0 + d / 32.0), 2.2e-9)
            .search("merges", merges * sort, 2e-10),
        DeviceKind::Cpu => {
            let threads = rayon::current_num_threads() as f64;
            Cost::default()
                .setup("groups", n * d, 5e-6)
                .search("launch", 1.0, 0.02)
                .search("distances", n * q * (1.0 + d * 0.1) / threads, 1.2e-6)
                .search("merges", merges * sort / threads, 1.5e-6)
        }
    }
}

/// The same of queues in lanes, which merge more often, 32 or more keys at a time.
pub fn warp_select(shape: &Shape, device: DeviceKind) -> Cost {
    let cost = bits(shape, device);
    let (capacity, queries) = (super::warp_select::capacity(shape.k) as f64, shape.q as f64);
    let merges = capacity / 16.0 * (1.0 + (shape.n as f64 / capacity).max(1.0).ln()) * queries;
    match device {
        DeviceKind::Gpu => cost.search("queues", merges * capacity, 1e-9),
        DeviceKind::Cpu => cost.search("queues", merges * capacity / rayon::current_num_threads() as f64, 4e-6),
    }
}

/// The cost of what every selector does first, with the distances.
fn distances(shape: &Shape, device: DeviceKind) -> Cost {
    let (n, q, d) = (shape.n as f64, shape.q as f64, shape.d as f64);
    match device {
        DeviceKind::Gpu => Cost::default().setup("allocation", 1.0, 1.0).setup("upload", n * d * 4.0, 1.5e-7).search("launch", 1.0, 0.02).search(
            "distances",
            n * q * (1.0 + d / 32.0),
            2.2e-9,
        ),
        DeviceKind::Cpu => Cost::default().setup("groups", n * d, 5e-6).search("launch", 1.0, 0.02).search(
            "distances",
            n * q * (1.0 + d * 0.1) / rayon::current_num_threads() as f64,
            1.2e-6,
        ),
    }
}

/// Keys of all rows are sorted.
pub fn sort(shape: &Shape, device: DeviceKind) -> Cost {
    let keys = shape.n as f64 * shape.q as f64;
    match device {
        DeviceKind::Gpu => distances(shape, device).search("sort", keys, 3e-8),
        DeviceKind::Cpu => distances(shape, device).search("sort", keys / rayon::current_num_threads() as f64, 1.2e-5),
    }
}

/// Passes over all rows, and a sort of the nearest.
fn multi_pass(shape: &Shape, device: DeviceKind, passes: f64) -> Cost {
    let (keys, nearest) = ((shape.n * shape.q) as f64, shape.k.min(shape.n) as f64 * shape.q as f64);
    match device {
        DeviceKind::Gpu => distances(shape, device).search("passes", passes * keys, 2e-9).search("sort", nearest, 3e-8),
        DeviceKind::Cpu => {
            let threads = rayon::current_num_threads() as f64;
            distances(shape, device).search("passes", passes * keys / threads, 2e-6).search("sort", nearest / threads, 1.2e-5)
        }
    }
}

/// A sample divides the row evenly, so that two passes read all of it; a distance's bucket is searched.
pub fn sample_select(shape: &Shape, device: DeviceKind) -> Cost {
    multi_pass(shape, device, if device == DeviceKind::Gpu { 2.0 } else { 3.0 })
}

/// The first digit leaves a good part of the row.
pub fn radix_select(shape: &Shape, device: DeviceKind) -> Cost {
    multi_pass(shape, device, 2.5)
}
