//! A k-d tree searched by one thread per query, like the first k-d trees on GPUs. It shows what a warp loses
//! when its lanes diverge (Wang and Ino 2025, §6.5), and is the baseline for the other indexes, which give a
//! query a warp.
//!
//! This is the CPU's side. A function has the name of its counterpart in `cuda/kdtree/`, or its documentation
//! says "No CUDA counterpart" and why.
//!
//! | here | there |
//! |---|---|
//! | `heap.rs` | `cuda/kdtree/heap.cuh` |
//! | `traverse.rs` | `cuda/kdtree/traverse.cuh` |
//!
//! Host only, for both devices: `tree.rs`, the tree.
//!
//! **No neighbour is missed.** Let s be the coordinate of a node along its axis j, and p a point on the other
//! side of the node than the query q. Then |p_j − q_j| ≥ |s − q_j|. Rounding is monotone, so this also holds
//! for the differences in f32 and for their squares. All further terms of a squared distance are
//! non-negative, and fma is monotone in each argument. Hence the distance of p, as the problem defines it, is
//! at least the rounded square of s − q_j. A side is pruned only if that square is greater than the k-th
//! distance.

pub(super) mod heap;
mod traverse;
mod tree;

use std::sync::Arc;
use std::vec::Drain;

pub(super) use heap::Heap;
pub use traverse::Visits;
use traverse::answer;
pub use tree::Tree;

use crate::Result;
use crate::cpu::{self, Chunk, CpuSearch, Searcher};
use crate::cuda::open_kdtree;
use crate::knn::cost::out_of_cache;
use crate::knn::{
    Answer, Buffer, Cost, Descriptor, DeviceId, DeviceKind, EngineId, Group, Limits, Measure, Measurements,
    MemorySpace, Metric, Parameters, PreparedSearch, Problem, SetupPhase, Shape, code, warp as rules,
};

/// The most dimensions: with more, a k-d tree would visit every point anyway.
pub const MAX_DIMS: usize = 32;

/// The most points: the most that were published for such trees (Wang and Ino 2025, §6.2). A thread's
/// traversal cannot be interrupted. If all points are equally far from a query, it visits each of them, which
/// takes a GPU seconds at this size.
const MAX_POINTS: usize = 1 << 24;

/// The registry's row for `kdtree-threads`.
pub static KDTREE_THREADS: Descriptor = Descriptor {
    group: Group::Indexed,
    about: "A k-d tree searched by one thread per query: the baseline that shows the cost of divergence.",
    source: "Bentley 1975; Wald 2022 (arXiv 2210.12859), stack-free traversal",
    code: code![
        "cuda/kdtree/traverse.cuh",
        "cuda/kdtree/heap.cuh",
        "crates/engines/src/kdtree_threads/traverse.rs"
    ],
    document: "docs/index.md",
    buffers: &[
        Buffer::new(
            MemorySpace::Registers,
            "position in the tree, and the root of the heap",
            "a thread",
            |_| 2,
        ),
        Buffer::new(MemorySpace::Memory, "heap of the k nearest so far", "a thread", |shape| shape.k),
        Buffer::new(MemorySpace::Memory, "k-d tree of points", "all queries", Shape::points),
    ],
    limits: Limits { k: rules::MAX_K, d: MAX_DIMS, n: MAX_POINTS, metrics: &Metric::ALL },
    measures: &MEASURES,
    active_threads: Some(active_threads),
    is_exhaustive: false,
    distances: |_, _, measured| measured.mean("distance_evals"),
    cost,
    ..Descriptor::new(EngineId::new("kdtree-threads"), |device| match device {
        DeviceId::Cpu => cpu::open(&KDTREE_THREADS, "CPU, left-balanced k-d tree", None, load),
        DeviceId::Gpu(_) | DeviceId::Gpus(_) => open_kdtree(device),
    })
};

/// The columns of `counters.csv`, in the order of [`Visits`].
pub static MEASURES: [Measure; 3] = [
    Measure::new(
        "distance_evals",
        ["distance evaluation", "distance evaluations"],
        "Points whose distance was computed.",
    ),
    Measure::new(
        "candidates",
        ["candidate", "candidates"],
        "Points retained: closer than the k-th so far, and added to the heap.",
    ),
    Measure::new(
        "steps",
        ["step of the walk", "steps of the walk"],
        "Steps of the query's thread from node to node, including steps back up.",
    ),
];

/// Threads per warp. Consecutive queries share a warp.
const WARP: usize = 32;

/// Mean number of active lanes. A warp takes as many steps as the longest of its 32 queries; the lanes of
/// finished queries are idle.
fn active_threads(measured: &Measurements) -> Option<f64> {
    let steps = measured.column("steps")?;
    let own: u64 = steps.iter().map(|&steps| u64::from(steps)).sum();
    let warps: u64 = steps.chunks(WARP).map(|warp| u64::from(warp.iter().copied().max().unwrap_or(0))).sum();
    (warps > 0).then(|| own as f64 / warps as f64)
}

/// Queries per parallel work item.
const BLOCK: usize = 64;

/// Builds the tree, unless it is cached.
fn load<'a>(problem: &'a Problem, _parameters: &Parameters) -> Result<Box<dyn PreparedSearch + 'a>> {
    let bytes = Tree::bytes(problem.n(), problem.dims());
    let counts = cpu::counts_bytes::<Visits>(problem);
    let (tree, setup) = cpu::prepared(problem, SetupPhase::BuildIndex, bytes, counts, || Tree::new(problem))?;
    Ok(Box::new(CpuSearch::new(problem, setup, KdTreeThreads(tree))))
}

struct KdTreeThreads(Arc<Tree>);

impl Searcher for KdTreeThreads {
    type Visits = Visits;

    fn queries_per_thread(&self) -> usize {
        BLOCK
    }

    fn search(&mut self, chunk: Chunk<'_, Visits>) {
        let (k, tree) = (chunk.problem.k(), &self.0);
        chunk.in_blocks(BLOCK, |queries, rows| {
            answer(tree, queries, &mut Heap::new(k), &mut |heap, visits| rows.put(heap.neighbours(), visits));
        });
    }

    fn collect(&self, visits: Drain<'_, Visits>, answer: &mut Answer) -> Result<()> {
        answer.measured.extend(&MEASURES, visits.map(bytemuck::cast));
        Ok(())
    }
}

/// Queries that fill a GPU; beyond them, time grows with their number.
const FILLING: f64 = 50_000.0;

/// Cost estimate for uniform points. Rates are for one core of a 2023 server and for an NVIDIA H200.
fn cost(shape: &Shape, kind: DeviceKind) -> Cost {
    let (n, q, d, k) = (shape.n.max(1) as f64, shape.q as f64, shape.d.max(1) as f64, shape.k as f64);
    let steps = 3.0 * visited(n, d, k);
    // Most of the first visited points enter the heap and leave it again.
    let sinking = (k + visited(n, d, k).sqrt()) * (k + 1.0).log2();
    match kind {
        DeviceKind::Cpu => {
            let each = q / q.clamp(1.0, rayon::current_num_threads() as f64);
            Cost::default()
                .setup("allocation", 1.0, 0.05)
                .setup("build", n * n.log2(), 1.2e-5)
                .search("launch", 1.0, 0.05)
                .search("steps", each * steps * (3.0 + d), 1.5e-6)
                .search("steps, out of cache", each * steps * (3.0 + d) * out_of_cache(n * d * 4.0), 3e-6)
                .search("heap", each * sinking, 3e-6)
        }
        DeviceKind::Gpu => {
            let each = q.max(FILLING);
            Cost::default()
                .setup("allocation", 1.0, 0.3)
                .setup("upload", n * (d + 1.0) * 4.0, 1.5e-7)
                .setup("build", n * n.log2(), 2e-6)
                .search("launch", 1.0, 0.03)
                .search("steps", each * steps * (3.0 + d), 5e-9)
                .search("heap", each * sinking, 2e-8)
        }
    }
}

/// Estimates the points that a search visits: those in a cube around the ball of the k nearest, and those on
/// the path to it.
fn visited(n: f64, d: f64, k: f64) -> f64 {
    (n.log2() + (2.0 + k.powf(1.0 / d) * (1.0 + 1.0 / d)).powf(d.min(n.log2()))).min(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_query_determines_warp_time() {
        let of = |steps: &[u32]| {
            active_threads(&Measurements::new([("steps".to_owned(), steps.to_vec())])).unwrap()
        };
        assert_eq!(of(&[7; 32]), 32.0);
        // One lane takes ten times as many steps as the others.
        let mut steps = [10; 32];
        steps[3] = 100;
        assert_eq!(of(&steps), 4.1);
        // A full warp and a partial one.
        let mut steps = vec![10; 33];
        assert_eq!(of(&steps), 16.5);
        steps.clear();
        assert_eq!(active_threads(&Measurements::new([("steps".to_owned(), steps)])), None);
    }
}
