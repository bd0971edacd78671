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
//! `cost.rs`, the cost model for the planner, and `fault.rs`, mistakes for a lesson to make on purpose, have no twin.
//!
//! An [`Observer`] is notified of each step of a warp; [`watch`] is a search with an observer.
//!
//! A function is named like its counterpart in `cuda/`, or its documentation says "No namesake" and why:
//! `tests/device_code.rs` compares the files of this table.
//!
//! Neighbours, distances, counters and convergence are bit-identical to the kernel's.

pub(crate) mod bitonic;
pub(crate) mod candidate_buffer;
mod cost;
mod counters;
pub(crate) mod distance;
mod fault;
mod key;
mod lanes;
mod observer;
mod warp_knn;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use candidate_buffer::Warp;
use distance::GroupedPoints;
pub use fault::Fault;
pub use key::{Key, PADDING, distance_of, index_of, key_of};
pub use lanes::{Lanes, lanes_below};
pub use observer::Observer;
use rayon::prelude::*;
pub use warp_knn::groups_in_batch;

use super::host_memory;
use super::processor;
use super::threads::{self, Laps};
use crate::knn::{
    Answer, Build, CONVERGENCE_ENTRIES, Counters, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Limits, Metric,
    Neighbors, Parameters, Problem, Search, SetupPhase, WarpSpan, code, warp as rules,
};

/// The registry's row for `lockstep`.
pub static LOCKSTEP: Descriptor = Descriptor {
    id: EngineId::new("lockstep"),
    group: Group::Cpu,
    about: "The kernel's twin on the processor: the same steps, the same counters.",
    source: "warp-per-query kernel, docs/kernel.md",
    code: code![
        "crates/engines/src/lockstep/warp_knn.rs",
        "crates/engines/src/lockstep/candidate_buffer.rs",
        "crates/engines/src/lockstep/bitonic.rs"
    ],
    document: "docs/kernel.md",
    lesson: Some("search"),
    runs_on: &[DeviceKind::Cpu],
    keeps: &rules::KEEPS,
    limits: Limits { k: rules::MAX_K, d: usize::MAX, n: u32::MAX as usize, metrics: &Metric::ALL },
    measures: &rules::MEASURES,
    convergence: Some(rules::CONVERGENCE),
    active_threads: None,
    phases: &[],
    parameters: &[],
    is_exhaustive: true,
    distances: |n, _, _| Some(n as f64),
    twin_of: Some(EngineId::new("cuda")),
    cost: |shape, _| cost::cost(shape),
    traces: true,
    walk: None,
    within: None,
    inner_products: None,
    open: |_| Ok(Box::new(Lockstep::new())),
};

/// Warp width in runs.
const WARP: usize = 32;

/// Queries per batch in up to three dimensions: enough that streaming the points costs little compared with scanning
/// them, few enough that a thread that finishes early can help the others.
const BLOCK: usize = 32;

/// The same in more dimensions, where scanning 32 queries takes less time than streaming the points: the queries per thread in
/// the first chunk, and the most per batch.
const LARGE_BLOCK: Range<usize> = 96..192;

/// How many of `queries` share a batch; in more than three dimensions chosen to give threads equal shares.
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

/// The engine `lockstep`. It runs everywhere.
#[derive(Debug, Default)]
pub struct Lockstep;

impl Lockstep {
    pub fn new() -> Self {
        Self
    }
}

impl Engine for Lockstep {
    fn descriptor(&self) -> &'static Descriptor {
        &LOCKSTEP
    }

    fn device_id(&self) -> DeviceId {
        DeviceId::Cpu
    }

    fn device(&self) -> DeviceInfo {
        let mut details = processor::details();
        details.push(("instructions".to_owned(), instructions().to_owned()));
        DeviceInfo { id: Some(self.device_id()), name: "CPU".to_owned(), details }
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, _parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let there = problem.cache().get(self.device_id(), |_: &GroupedPoints<WARP>| true);
        let of_points = if there.is_some() { 0 } else { size_of_val(problem.points()) as u64 };
        host_memory::check(problem, of_points)?;
        let start = Instant::now();
        let resident = there.is_some();
        let points = there.unwrap_or_else(|| {
            let points = Arc::new(GroupedPoints::new(problem.points(), problem.dims()));
            problem.cache().insert(DeviceId::Cpu, Arc::clone(&points));
            points
        });
        Ok(Box::new(LockstepSearch {
            problem,
            points,
            upload_ms: (!resident).then(|| start.elapsed().as_secs_f64() * 1e3),
            neighbors: Neighbors::unanswered(problem.q(), problem.k()),
            tallies: Vec::new(),
            spans: Vec::new(),
        }))
    }
}

/// Bytes of a query's counters and convergence history at most.
fn tally_bytes(problem: &Problem) -> usize {
    let entries = CONVERGENCE_ENTRIES.min(problem.n() / problem.k() + 2);
    size_of::<counters::Tally>() + entries * size_of::<(u32, f32)>()
}

/// The best instruction set that the twin is compiled for and this processor supports.
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

struct LockstepSearch<'a> {
    problem: &'a Problem,
    points: Arc<GroupedPoints<WARP>>,
    /// Milliseconds of the upload; `None` if the points were cached.
    upload_ms: Option<f64>,
    neighbors: Neighbors,
    /// One per query of the last search.
    tallies: Vec<counters::Tally>,
    /// The same, in the profiled build.
    spans: Vec<WarpSpan>,
}

impl Search for LockstepSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.upload_ms.map(|ms| (SetupPhase::Upload, ms)).into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.upload_ms.is_none()
    }

    fn first_chunk(&self) -> usize {
        rayon::current_num_threads() * if self.problem.dims() <= 3 { BLOCK } else { LARGE_BLOCK.start }
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        let counted = build != Build::Timed;
        if counted {
            host_memory::check_bytes((queries.len() * tally_bytes(self.problem)) as u64)?;
        }
        let start = Instant::now();
        let (dims, k, points) = (self.problem.dims(), self.problem.k(), &*self.points);
        let range = queries.start * k..queries.end * k;
        let coordinates = &self.problem.queries()[queries.start * dims..queries.end * dims];
        let block = block(queries.len(), dims);
        let (indices, distances) = (&mut self.neighbors.indices[range.clone()], &mut self.neighbors.squared_distances[range]);
        let search = |((queries, indices), distances): ((&[f32], &mut [u32]), &mut [f32])| {
            let mut laps = (build == Build::Profiled).then(Laps::start);
            let mut warps = vec![Warp::<WARP>::new(k, registers_for(k, WARP), ()); queries.len() / dims];
            let stage = |groups| Cow::Borrowed(points.range(groups));
            warp_knn::warp_knn(points.n(), stage, queries, dims, warp_knn::groups_in_batch(WARP, dims), &mut warps);
            for ((warp, indices), distances) in warps.iter().zip(indices.chunks_exact_mut(k)).zip(distances.chunks_exact_mut(k)) {
                for ((neighbour, index), distance) in warp.neighbours().zip(indices).zip(distances) {
                    (*index, *distance) = neighbour;
                }
            }
            // The queries of a block share the points, and their time.
            let span = laps.as_mut().map(Laps::lap);
            warps.into_iter().filter(move |_| counted).map(move |warp| (warp.tally, span))
        };
        let answered: Vec<(counters::Tally, Option<WarpSpan>)> = if queries.len() == 1 {
            // A single work item runs on this thread: the pool may be busy with another run.
            search(((coordinates, indices), distances)).collect()
        } else {
            let blocks = coordinates.par_chunks(block * dims).zip(indices.par_chunks_mut(block * k)).zip(distances.par_chunks_mut(block * k));
            blocks.flat_map_iter(search).collect()
        };
        self.spans = answered.iter().filter_map(|(_, span)| *span).collect();
        self.tallies = answered.into_iter().map(|(tally, _)| tally).collect();
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        let start = Instant::now();
        neighbors.clone_from(&self.neighbors);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        // Copied, into vectors that double.
        let entries: usize = self.tallies.iter().map(|tally| tally.history.len()).sum();
        let collected = answer.convergence.points_seen.len();
        host_memory::check_bytes((2 * (collected + entries) * size_of::<(u32, f32)>()) as u64)?;
        answer.convergence.counted_by = rules::CONVERGENCE.to_owned();
        answer.measured.extend(&rules::MEASURES, self.tallies.iter().map(|tally| tally.counters.row()));
        for tally in self.tallies.drain(..) {
            answer.convergence.push(tally.history);
        }
        threads::collect(&mut self.spans, answer);
        Ok(())
    }
}

/// Searches one query again, keeping every merge rather than 64: its counters and (points seen, max_distance).
pub fn replay(problem: &Problem, query: usize) -> (Counters, Vec<(u32, f32)>) {
    let Watched { counters, history, .. } = watch::<WARP, ()>(problem, query, None, ());
    (counters, history)
}

/// The result of a watched search.
#[derive(Clone, Debug)]
pub struct Watched<O> {
    /// The k nearest: position in processing order and squared distance, nearest first.
    pub neighbours: Vec<(u32, f32)>,
    pub counters: Counters,
    /// (points seen, max_distance) after every merge.
    pub history: Vec<(u32, f32)>,
    /// The observer, handed back.
    pub observer: O,
}

/// Searches one query with a warp of W lanes, in batches of `batch` groups (`None`: as in a run), and notifies
/// `observer` of each step.
///
/// # Panics
/// Unless k is at most 32·W and W is 4, 8, 16 or 32.
pub fn watch<const W: usize, O: Observer<W>>(problem: &Problem, query: usize, batch: Option<usize>, observer: O) -> Watched<O> {
    assert!([4, 8, 16, 32].contains(&W), "a warp of {W} lanes");
    let (n, dims) = (problem.n(), problem.dims());
    // A batch at a time: for one query, grouping all points would only double their memory.
    let stage = |groups: Range<usize>| Cow::Owned(distance::group(&problem.points()[groups.start * W * dims..(groups.end * W).min(n) * dims], dims));
    let mut warp = Warp::new(problem.k(), registers_for(problem.k(), W), observer);
    warp.tally.whole = true;
    let batch = batch.unwrap_or_else(|| warp_knn::groups_in_batch(W, dims));
    warp_knn::warp_knn(n, stage, problem.query(query), dims, batch, std::slice::from_mut(&mut warp));
    let neighbours = warp.neighbours().collect();
    Watched { neighbours, counters: warp.tally.counters, history: warp.tally.history, observer: warp.observer }
}

/// The squared distances of a range of points to a query, by the rule of every engine.
pub fn distances_to(problem: &Problem, query: usize, points: Range<usize>) -> Vec<f32> {
    distances_from(problem, problem.query(query), points)
}

/// The same to any place, by its coordinates.
pub fn distances_from(problem: &Problem, place: &[f32], points: Range<usize>) -> Vec<f32> {
    let dims = problem.dims();
    let mut found = Vec::with_capacity(points.len().next_multiple_of(WARP));
    // Some groups at a time, as in `watch`.
    for rows in problem.points()[points.start * dims..points.end * dims].chunks(32 * WARP * dims) {
        distance::group::<WARP>(rows, dims).chunks_exact(dims).for_each(|group| found.extend(distance::squared_distances(group, [place])[0]));
    }
    found.truncate(points.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::NONE;

    #[test]
    fn padding_is_nobody() {
        assert_eq!(index_of(PADDING), NONE);
        assert_eq!(distance_of(PADDING), f32::INFINITY);
        assert_eq!([1, 32, 33, 64, 65, 1000, 1024].map(|k| registers_for(k, 32)), [1, 1, 2, 2, 4, 32, 32]);
    }
}
