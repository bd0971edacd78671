//! The CPU twin of the kernel: the same algorithm, function for function, over arrays of 32 lanes.
//!
//! | here | there |
//! |---|---|
//! | `lanes.rs` | `cuda/warp/lanes.cuh` |
//! | `key.rs` | `cuda/key.cuh` |
//! | `bitonic.rs` | `cuda/warp/bitonic.cuh` |
//! | `candidate_buffer.rs` | `cuda/warp/candidate_buffer.cuh` |
//! | `distance.rs` | `cuda/distance.cuh` |
//! | `counters.rs` | `cuda/counters.cuh` |
//! | `observer.rs` | `cuda/observer.cuh` |
//! | `warp_knn.rs` | `cuda/direct/warp_knn.cuh` |
//!
//! The deliberate faults that an [`Observer`] can select, for lessons, exist only here.
//!
//! An [`Observer`] is notified of each step of a warp; [`observe`] runs a search with one.
//!
//! A function has the name of its counterpart in `cuda/`, or its documentation says "No CUDA counterpart" and
//! why. `tests/device_code.rs` compares the files of this table.
//!
//! Neighbours, distances, counters and convergence are bit-identical to the kernel's.

pub(crate) mod bitonic;
pub(crate) mod candidate_buffer;
mod counters;
pub(crate) mod distance;
mod key;
mod lanes;
mod observer;
mod warp_knn;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::vec::Drain;

use candidate_buffer::Warp;
use distance::GroupedPoints;
pub use key::{Key, PADDING, distance_of, index_of, key_of};
pub use lanes::{Lanes, lanes_below};
pub use observer::{Fault, Observer};
pub use warp_knn::groups_in_batch;

use super::cpu::{self, Chunk, CpuSearch, Searcher};
use super::host_memory;
use crate::Result;
use crate::knn::cost::out_of_cache;
use crate::knn::{
    Answer, CONVERGENCE_ENTRIES, Cost, Counters, Descriptor, DeviceKind, EngineId, Group, Problem, Shape,
    code, theory, warp as rules,
};

/// The registry's row for `lockstep`.
pub static LOCKSTEP: Descriptor = Descriptor {
    group: Group::Cpu,
    about: "The kernel's twin on the CPU: the same steps, the same counters.",
    source: "warp-per-query kernel, docs/kernel.md",
    code: code![
        "crates/engines/src/lockstep/warp_knn.rs",
        "crates/engines/src/lockstep/candidate_buffer.rs",
        "crates/engines/src/lockstep/bitonic.rs"
    ],
    document: "docs/kernel.md",
    lesson: Some("search"),
    runs_on: &[DeviceKind::Cpu],
    buffers: &rules::BUFFERS,
    measures: &rules::MEASURES,
    convergence: Some(rules::CONVERGENCE),
    twin_of: Some(EngineId::new("cuda")),
    cost: |shape, _| cost(shape),
    traces: true,
    ..Descriptor::new(EngineId::new("lockstep"), |_| {
        cpu::open(&LOCKSTEP, "CPU", Some(("instructions", instructions())), |problem, _| {
            let (points, setup) =
                cpu::grouped(problem, cpu::counts_bytes::<[u32; rules::MEASURES.len()]>(problem))?;
            Ok(Box::new(CpuSearch::new(problem, setup, Lockstep { points })))
        })
    })
};

const WARP: usize = 32;

/// Queries per block in up to three dimensions: enough that streaming the points costs little compared with
/// scanning them, few enough that a thread that finishes early can help the others.
const BLOCK: usize = 32;

/// The same in more dimensions, where scanning 32 queries takes less time than streaming the points: queries
/// per thread in the first chunk .. most queries per block.
const LARGE_BLOCK: Range<usize> = 96..192;

/// Queries per block if there are `queries` in all. In more than three dimensions this gives threads equal
/// shares.
fn block(queries: usize, dims: usize) -> usize {
    if dims <= 3 {
        return BLOCK;
    }
    let shares = queries.div_ceil(LARGE_BLOCK.end).next_multiple_of(rayon::current_num_threads());
    queries.div_ceil(shares).max(BLOCK)
}

/// Keys per lane for `k` neighbours in a warp of `width` lanes: a power of two.
pub fn registers_for(k: usize, width: usize) -> usize {
    k.div_ceil(width).next_power_of_two()
}

/// Upper bound on the bytes of a query's counters and convergence history.
fn tally_bytes(problem: &Problem) -> usize {
    let entries = CONVERGENCE_ENTRIES.min(problem.n() / problem.k() + 2);
    size_of::<counters::QueryStats>() + entries * size_of::<(u32, f32)>()
}

/// The best instruction set that the twin is compiled for and this CPU supports.
fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            "AVX-512"
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            "AVX2"
        } else {
            "no fused multiply-add in hardware: slow"
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        std::env::consts::ARCH
    }
}

/// The points in groups, which are streamed for each block of queries.
struct Lockstep {
    points: Arc<GroupedPoints<WARP>>,
}

impl Searcher for Lockstep {
    type Visits = counters::QueryStats;

    fn queries_per_thread(&self) -> usize {
        if self.points.dims() <= 3 { BLOCK } else { LARGE_BLOCK.start }
    }

    fn search(&mut self, chunk: Chunk<'_, counters::QueryStats>) {
        let (dims, k, points) = (chunk.problem.dims(), chunk.problem.k(), &*self.points);
        let block = block(chunk.queries.len(), dims);
        chunk.in_blocks(block, |queries, rows| {
            let mut warps = vec![Warp::<WARP>::new(k, registers_for(k, WARP), ()); queries.len() / dims];
            let stage = |groups| Cow::Borrowed(points.range(groups));
            warp_knn::warp_knn(
                points.n(),
                stage,
                queries,
                dims,
                warp_knn::groups_in_batch(WARP, dims),
                &mut warps,
            );
            for mut warp in warps {
                let tally = std::mem::take(&mut warp.tally);
                rows.put(warp.neighbours(), tally);
            }
            rows.share_time();
        });
    }

    fn history_bytes(&self, problem: &Problem) -> usize {
        tally_bytes(problem)
    }

    fn collect(&self, visits: Drain<'_, counters::QueryStats>, answer: &mut Answer) -> Result<()> {
        // Copied into vectors that grow by doubling.
        let entries: usize = visits.as_slice().iter().map(|tally| tally.history.len()).sum();
        let collected = answer.convergence.points_seen.len();
        if collected + entries > answer.convergence.points_seen.capacity() {
            host_memory::check_bytes((2 * (collected + entries) * size_of::<(u32, f32)>()) as u64)?;
        }
        answer.convergence.counted_by = rules::CONVERGENCE.to_owned();
        answer.measured.extend(&rules::MEASURES, visits.as_slice().iter().map(|tally| tally.counters.row()));
        visits.for_each(|tally| answer.convergence.push(tally.history));
        Ok(())
    }
}

/// Cost of loading and searching. The search is divided among the threads. Rates are for one core of a 2023
/// server.
fn cost(shape: &Shape) -> Cost {
    let (n, q, d) = (shape.n as f64, shape.q as f64, shape.d as f64);
    // A block of queries is one work item.
    let threads = shape.q.max(1).div_ceil(block(shape.q, shape.d)).min(rayon::current_num_threads()) as f64;
    let capacity = theory::capacity(shape.k);
    let merges = theory::expected_merges(shape.n, shape.k, capacity) * q / threads;
    let slots = capacity as f64;
    // Two and three dimensions have their own loops; others stream the points for each block of queries.
    let few = shape.d == 2 || shape.d == 3;
    // Streaming points from memory takes longer than computing their distances.
    let (pair, far_pair, stream) =
        if few { (d * 0.06, d * 0.06, 0.1) } else { (0.1 + d * 0.024, 0.18 + d * 0.044, 0.3) };
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

/// Searches one query again and records every merge, not only 64: its counters and (points seen,
/// max_distance).
pub fn replay(problem: &Problem, query: usize) -> (Counters, Vec<(u32, f32)>) {
    let ObservedSearch { counters, history, .. } = observe::<WARP, ()>(problem, query, None, ());
    (counters, history)
}

/// The result of an observed search.
#[derive(Clone, Debug)]
pub struct ObservedSearch<O> {
    /// The k nearest: position in processing order and squared distance, nearest first.
    pub neighbours: Vec<(u32, f32)>,
    pub counters: Counters,
    /// (points seen, max_distance) after every merge.
    pub history: Vec<(u32, f32)>,
    /// The observer, handed back.
    pub observer: O,
}

/// Searches one query with a warp of W lanes, in batches of `batch` groups (`None`: as in a run), and
/// notifies `observer` of each step.
///
/// # Panics
/// Unless k is at most 32·W and W is 4, 8, 16 or 32.
pub fn observe<const W: usize, O: Observer<W>>(
    problem: &Problem,
    query: usize,
    batch: Option<usize>,
    observer: O,
) -> ObservedSearch<O> {
    assert!([4, 8, 16, 32].contains(&W), "a warp of {W} lanes");
    let (n, dims) = (problem.n(), problem.dims());
    // Group one batch at a time: for a single query, grouping all points would only double their memory.
    let stage = |groups: Range<usize>| {
        Cow::Owned(distance::group(
            &problem.points()[groups.start * W * dims..(groups.end * W).min(n) * dims],
            dims,
        ))
    };
    let mut warp = Warp::new(problem.k(), registers_for(problem.k(), W), observer);
    warp.tally.whole = true;
    let batch = batch.unwrap_or_else(|| warp_knn::groups_in_batch(W, dims));
    warp_knn::warp_knn(n, stage, problem.query(query), dims, batch, std::slice::from_mut(&mut warp));
    let neighbours = warp.neighbours().collect();
    ObservedSearch {
        neighbours,
        counters: warp.tally.counters,
        history: warp.tally.history,
        observer: warp.observer,
    }
}

/// The squared distances from a range of points to a query, by the rule that all engines share.
pub fn distances_to(problem: &Problem, query: usize, points: Range<usize>) -> Vec<f32> {
    distances_from(problem, problem.query(query), points)
}

/// The same for any location, given by its coordinates.
pub fn distances_from(problem: &Problem, place: &[f32], points: Range<usize>) -> Vec<f32> {
    let dims = problem.dims();
    let mut found = Vec::with_capacity(points.len().next_multiple_of(WARP));
    // Groups a few at a time, as in `observe`.
    for rows in problem.points()[points.start * dims..points.end * dims].chunks(32 * WARP * dims) {
        distance::group::<WARP>(rows, dims)
            .chunks_exact(dims)
            .for_each(|group| found.extend(distance::squared_distances(group, [place])[0]));
    }
    found.truncate(points.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::NONE;

    #[test]
    fn padding_has_no_index_and_infinite_distance() {
        assert_eq!(index_of(PADDING), NONE);
        assert_eq!(distance_of(PADDING), f32::INFINITY);
        assert_eq!([1, 32, 33, 64, 65, 1000, 1024].map(|k| registers_for(k, 32)), [1, 1, 2, 2, 4, 32, 32]);
    }
}
