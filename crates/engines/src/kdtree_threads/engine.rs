//! The engine `kdtree-threads` on the CPU, and its row in the registry.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::cost;
use super::heap::Heap;
use super::traverse::{Visits, answer};
use super::tree::Tree;
use crate::blocks::{Kept, answer_in_blocks};
use crate::cuda::CudaKdTree;
use crate::knn::{
    Answer, Build, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Keeps, Limits, Measure, Measured, Metric,
    Neighbors, Parameters, Place, Problem, Search, SetupPhase, Shape, code, warp as rules,
};
use crate::{host_memory, processor};

/// More dimensions than this are of no use to a k-d tree: it would visit every point.
pub const MOST_DIMS: usize = 32;

/// The most points, as many as were published of such trees (Wang and Ino 2025, §6.2). A thread's walk is not interrupted: where all points are
/// equally far from a query it visits every one, which takes a GPU seconds for so many.
const MOST_POINTS: usize = 1 << 24;

/// The registry's row for `kdtree-threads`.
pub static KDTREE_THREADS: Descriptor = Descriptor {
    id: EngineId::new("kdtree-threads"),
    group: Group::Indexed,
    about: "A k-d tree searched by a thread a query: the baseline that shows what divergence costs a warp.",
    source: "Bentley 1975; Wald 2022 (arXiv 2210.12859), stack-free traversal",
    code: code!["cuda/kdtree/traverse.cuh", "cuda/kdtree/heap.cuh", "crates/engines/src/kdtree_threads/traverse.rs"],
    document: "docs/index.md",
    lesson: None,
    runs_on: &[DeviceKind::Gpu, DeviceKind::Cpu],
    keeps: &[
        Keeps::new(Place::Registers, "place in the tree, and the root of the heap", "a thread", |_| 2),
        Keeps::new(Place::Memory, "heap of the k nearest so far", "a thread", |shape| shape.k),
        Keeps::new(Place::Memory, "k-d tree of points", "all queries", Shape::points),
    ],
    limits: Limits { k: rules::MAX_K, d: MOST_DIMS, n: MOST_POINTS, metrics: &Metric::ALL },
    measures: &MEASURES,
    convergence: None,
    phases: &[],
    active_threads: Some(active_threads),
    parameters: &[],
    is_exhaustive: false,
    distances: |_, _, measured| measured.mean("accessed"),
    twin_of: None,
    cost: cost::cost,
    traces: false,
    walk: None,
    within: None,
    inner_products: None,
    open: |device| match device {
        DeviceId::Cpu => Ok(Box::new(KdTreeThreads)),
        DeviceId::Gpu(_) => Ok(Box::new(CudaKdTree::open_on(device)?)),
    },
};

/// The columns of `counters.csv`, in the order of [`Visits`].
pub static MEASURES: [Measure; 3] = {
    const fn measure(name: &'static str, unit: [&'static str; 2], help: &'static str) -> Measure {
        Measure { name, unit, help, theory: None, worst_case: None }
    }
    [
        measure("accessed", ["point accessed", "points accessed"], "Points whose distance was computed."),
        measure("candidates", ["candidate", "candidates"], "Points retained: closer than the k-th so far, and taken into the heap."),
        measure("steps", ["step of the walk", "steps of the walk"], "Steps of the query's thread from node to node, those back included."),
    ]
};

/// Threads of a warp, with a query each in the order in which they are given.
const WARP: usize = 32;

/// A warp takes as many steps as the longest way of its 32 queries; a lane whose query is finished is idle.
fn active_threads(measured: &Measured) -> Option<f64> {
    let steps = measured.column("steps")?;
    let own: u64 = steps.iter().map(|&steps| u64::from(steps)).sum();
    let warps: u64 = steps.chunks(WARP).map(|warp| u64::from(warp.iter().copied().max().unwrap_or(0))).sum();
    (warps > 0).then(|| own as f64 / warps as f64)
}

/// Queries per parallel work item.
const BLOCK: usize = 64;

/// The engine `kdtree-threads` on the CPU. It runs everywhere.
#[derive(Debug)]
pub struct KdTreeThreads;

impl Engine for KdTreeThreads {
    fn descriptor(&self) -> &'static Descriptor {
        &KDTREE_THREADS
    }

    fn device_id(&self) -> DeviceId {
        DeviceId::Cpu
    }

    fn device(&self) -> DeviceInfo {
        DeviceInfo { id: Some(self.device_id()), name: "CPU, left-balanced k-d tree".to_owned(), details: processor::details() }
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, _parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let there = problem.cache().get(DeviceId::Cpu, |_: &Tree| true);
        let tree = if there.is_some() { 0 } else { Tree::bytes(problem.n(), problem.dims()) };
        host_memory::check(problem, tree + (size_of::<Visits>() * problem.q()) as u64)?;
        let start = Instant::now();
        let (tree, built_ms) = match there {
            Some(tree) => (tree, None),
            None => {
                let tree = Arc::new(Tree::new(problem));
                problem.cache().insert(DeviceId::Cpu, Arc::clone(&tree));
                (tree, Some(start.elapsed().as_secs_f64() * 1e3))
            }
        };
        Ok(Box::new(Loaded { problem, tree, built_ms, found: Neighbors::unanswered(problem.q(), problem.k()), kept: Kept::default() }))
    }
}

/// A problem and the tree over its points.
struct Loaded<'a> {
    problem: &'a Problem,
    tree: Arc<Tree>,
    /// Milliseconds of the build; `None` if the tree was cached.
    built_ms: Option<f64>,
    found: Neighbors,
    /// Of the last search.
    kept: Kept<Visits>,
}

impl Search for Loaded<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.built_ms.map(|ms| (SetupPhase::BuildIndex, ms)).into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.built_ms.is_none()
    }

    fn first_chunk(&self) -> usize {
        (rayon::current_num_threads() * BLOCK).min(self.problem.q())
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        let start = Instant::now();
        let (k, tree) = (self.problem.k(), &self.tree);
        answer_in_blocks(self.problem, queries, BLOCK, build, &mut self.found, &mut self.kept, |queries, rows| {
            answer(tree, queries, &mut Heap::new(k), &mut |heap, visits| rows.put(heap.neighbours(), visits));
        });
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        let start = Instant::now();
        neighbors.clone_from(&self.found);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        self.kept.collect(&MEASURES, answer, bytemuck::cast);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_is_as_long_as_its_longest_query() {
        let of = |steps: &[u32]| active_threads(&Measured::new([("steps".to_owned(), steps.to_vec())])).unwrap();
        assert_eq!(of(&[7; 32]), 32.0);
        // One lane walks ten times as far as the others.
        let mut steps = [10; 32];
        steps[3] = 100;
        assert_eq!(of(&steps), 4.1);
        // A warp that is not full, beside one that is.
        let mut steps = vec![10; 33];
        assert_eq!(of(&steps), 16.5);
        steps.clear();
        assert_eq!(active_threads(&Measured::new([("steps".to_owned(), steps)])), None);
    }
}
