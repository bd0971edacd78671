//! A k-d tree on the CPU, for machines without a GPU, and as a check that shares no code with the kernels.
//!
//! [`kiddo`] finds the nearest points. Their distances are then recomputed by the rule of
//! [`crate::knn::Problem`], so the result is bit-identical to that of every other engine. [`tree`] proves
//! that no neighbour is missed.

mod cost;
mod tree;

use std::sync::Arc;

use super::cpu::{self, Chunk, CpuSearch, Searcher, Setup};
use crate::Result;
use crate::knn::{
    Buffer, Descriptor, DeviceKind, EngineId, Group, KernelBuild, Limits, MemorySpace, Metric, NONE, Problem,
    RadiusIndex, SetupPhase, Shape, code, warp as rules,
};
use tree::Tree;

/// The registry's row for `kdtree`.
pub static KDTREE: Descriptor = Descriptor {
    group: Group::Cpu,
    about: "A k-d tree on the CPU: fast in few dimensions; counts no merges.",
    source: "Bentley 1975, as the crate kiddo builds it",
    code: code!["crates/engines/src/kdtree/tree.rs", "crates/engines/src/kdtree/mod.rs"],
    runs_on: &[DeviceKind::Cpu],
    buffers: &[
        Buffer::new(MemorySpace::Memory, "k-d tree of points", "all queries", Shape::points),
        Buffer::new(MemorySpace::Memory, "k nearest so far", "a query", |shape| shape.k),
    ],
    limits: Limits { k: rules::MAX_K, d: tree::MAX_DIMS, n: u32::MAX as usize, metrics: &Metric::ALL },
    is_exhaustive: false,
    distances: |_, _, _| None,
    cost: |shape, _| cost::cost(shape),
    within: Some(open_within),
    ..Descriptor::new(EngineId::new("kdtree"), |_| {
        let in_hardware = crate::knn::distance::in_hardware();
        let multiply_add = ("fused multiply-add", if in_hardware { "hardware" } else { "software, slow" });
        cpu::open(&KDTREE, "CPU, k-d tree", Some(multiply_add), |problem, _| {
            let (tree, setup) = cached_index(problem)?;
            Ok(Box::new(CpuSearch::new(problem, setup, KdTree(tree))))
        })
    })
};

/// Queries per thread in the first chunk: enough to keep every thread busy, so that its time predicts that of
/// larger chunks.
const QUERIES_PER_THREAD: usize = 64;

/// Queries per work item: few, so that threads share them evenly.
const BLOCK: usize = 8;

/// The tree, cached with the points.
struct CachedTree(Box<dyn Tree>);

fn cached_index(problem: &Problem) -> Result<(Arc<CachedTree>, Setup)> {
    cpu::prepared(problem, SetupPhase::BuildIndex, tree::bytes(problem), 0, || {
        CachedTree(tree::build(problem))
    })
}

/// See [`Descriptor::within`].
fn open_within(problem: &Problem) -> Result<Box<dyn RadiusIndex + '_>> {
    // It has no list of k.
    KDTREE.limits.check(KDTREE.id, &Shape { k: 1, ..problem.shape() }, problem.metric())?;
    Ok(Box::new(TreeRadiusIndex { problem, tree: cached_index(problem)?.0 }))
}

/// The points of a problem and the tree over them.
struct TreeRadiusIndex<'a> {
    problem: &'a Problem,
    tree: Arc<CachedTree>,
}

impl RadiusIndex for TreeRadiusIndex<'_> {
    fn visit(&self, query: &[f32], limit: f32, found: &mut dyn FnMut(u32, f32)) {
        self.tree.0.within(self.problem, query, limit, found);
    }
}

struct KdTree(Arc<CachedTree>);

impl Searcher for KdTree {
    type Visits = ();

    fn queries_per_thread(&self) -> usize {
        QUERIES_PER_THREAD
    }

    fn search(&mut self, chunk: Chunk<'_, ()>) {
        let (problem, tree) = (chunk.problem, &self.0.0);
        // Every build records only neighbours.
        Chunk { build: KernelBuild::Timed, ..chunk }.in_blocks(BLOCK, |queries, rows| {
            for query in queries.chunks_exact(problem.dims()) {
                let nearest = tree.nearest(problem, query);
                let nearest = nearest.into_iter().map(|neighbour| neighbour.parts());
                let padding = std::iter::repeat((f32::INFINITY, NONE));
                rows.put(
                    nearest.chain(padding).map(|(squared_distance, position)| (position, squared_distance)),
                    (),
                );
            }
        });
    }
}
