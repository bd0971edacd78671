//! A k-d tree on the CPU: for machines without a GPU, and as a check that shares no code with the kernels.
//!
//! [`kiddo`] finds the nearest points; their distances are then recomputed by the rule of [`crate::knn::Problem`], so that
//! the result is bit-identical to every other engine's. [`tree`] argues why no neighbour is missed.

mod cost;
mod sites;
mod tree;

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::processor;
use crate::knn::{
    Answer, Build, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Keeps, Limits, Metric, NONE, Neighbors,
    Parameters, Place, Problem, Search, SetupPhase, Shape, Within, code, warp as rules,
};
use tree::Tree;

/// The registry's row for `kdtree`.
pub static KDTREE: Descriptor = Descriptor {
    id: EngineId::new("kdtree"),
    group: Group::Cpu,
    about: "A k-d tree on the processor: fast in few dimensions; counts no merges.",
    source: "Bentley 1975, as the crate kiddo builds it",
    code: code!["crates/engines/src/kdtree/tree.rs", "crates/engines/src/kdtree/mod.rs"],
    document: "README.md",
    lesson: None,
    runs_on: &[DeviceKind::Cpu],
    keeps: &[
        Keeps::new(Place::Memory, "k-d tree of points", "all queries", Shape::points),
        Keeps::new(Place::Memory, "k nearest so far", "a query", |shape| shape.k),
    ],
    limits: Limits { k: rules::MAX_K, d: tree::LARGEST, n: u32::MAX as usize, metrics: &Metric::ALL },
    measures: &[],
    convergence: None,
    active_threads: None,
    phases: &[],
    parameters: &[],
    is_exhaustive: false,
    distances: |_, _, _| None,
    twin_of: None,
    cost: |shape, _| cost::cost(shape),
    traces: false,
    walk: None,
    within: Some(within_of),
    inner_products: None,
    open: |_| Ok(Box::new(KdTree::new())),
};

/// Queries per thread in the first chunk: enough to keep every thread busy, so that its time predicts that of larger chunks.
const QUERIES_PER_THREAD: usize = 64;

#[derive(Debug, Default)]
pub struct KdTree;

impl KdTree {
    pub fn new() -> Self {
        Self
    }
}

impl Engine for KdTree {
    fn descriptor(&self) -> &'static Descriptor {
        &KDTREE
    }

    fn device_id(&self) -> DeviceId {
        DeviceId::Cpu
    }

    fn device(&self) -> DeviceInfo {
        let mut details = processor::details();
        details.push(("fused multiply-add".to_owned(), if crate::knn::distance::in_hardware() { "hardware" } else { "software, slow" }.to_owned()));
        DeviceInfo { id: Some(self.device_id()), name: "CPU, k-d tree".to_owned(), details }
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, _parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let (tree, built_ms) = index_of(problem)?;
        Ok(Box::new(Loaded { problem, tree, built_ms, found: Neighbors::unanswered(problem.q(), problem.k()) }))
    }
}

/// The tree in the form cached with the points.
struct Index(Box<dyn Tree>);

/// The tree over a problem's points, which is kept with them, and the milliseconds of building it, unless it was there.
fn index_of(problem: &Problem) -> Result<(Arc<Index>, Option<f64>), EngineError> {
    let there = problem.cache().get(DeviceId::Cpu, |_: &Index| true);
    super::host_memory::check(problem, if there.is_some() { 0 } else { tree::bytes(problem) })?;
    if let Some(index) = there {
        return Ok((index, None));
    }
    let start = Instant::now();
    let tree = Arc::new(Index(tree::build(problem)));
    problem.cache().insert(DeviceId::Cpu, Arc::clone(&tree));
    Ok((tree, Some(start.elapsed().as_secs_f64() * 1e3)))
}

/// See [`Descriptor::within`].
fn within_of(problem: &Problem) -> Result<Box<dyn Within + '_>, EngineError> {
    KDTREE.limits.check(KDTREE.id, &problem.shape(), problem.metric())?;
    Ok(Box::new(WithinTree { problem, tree: index_of(problem)?.0 }))
}

/// A problem, for its points, and the tree over them.
struct WithinTree<'a> {
    problem: &'a Problem,
    tree: Arc<Index>,
}

impl Within for WithinTree<'_> {
    fn visit(&self, query: &[f32], limit: f32, found: &mut dyn FnMut(u32, f32)) {
        self.tree.0.within(self.problem, query, limit, found);
    }
}

/// A problem and the tree over its points.
struct Loaded<'a> {
    problem: &'a Problem,
    tree: Arc<Index>,
    /// Milliseconds of the build; `None` if the tree was cached.
    built_ms: Option<f64>,
    found: Neighbors,
}

impl Search for Loaded<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.built_ms.map(|ms| (SetupPhase::BuildIndex, ms)).into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.built_ms.is_none()
    }

    fn first_chunk(&self) -> usize {
        (rayon::current_num_threads() * QUERIES_PER_THREAD).min(self.problem.q())
    }

    fn search(&mut self, queries: Range<usize>, _build: Build) -> Result<f64, EngineError> {
        let start = Instant::now();
        let (problem, tree) = (self.problem, &self.tree.0);
        let k = problem.k();
        let entries = queries.start * k..queries.end * k;
        let (indices, squared_distances) = (&mut self.found.indices[entries.clone()], &mut self.found.squared_distances[entries]);
        let search = |((query, indices), squared_distances): ((usize, &mut [u32]), &mut [f32])| {
            let nearest = tree.nearest(problem, problem.query(query));
            for rank in 0..k {
                (squared_distances[rank], indices[rank]) = nearest.get(rank).map_or((f32::INFINITY, NONE), |neighbour| neighbour.parts());
            }
        };
        if queries.len() == 1 {
            // A single work item runs on this thread: the pool may be busy with another run.
            search(((queries.start, indices), squared_distances));
        } else {
            queries.into_par_iter().zip(indices.par_chunks_mut(k)).zip(squared_distances.par_chunks_mut(k)).for_each(search);
        }
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        let start = Instant::now();
        neighbors.clone_from(&self.found);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn collect(&mut self, _answer: &mut Answer) -> Result<(), EngineError> {
        Ok(())
    }
}
