//! The engine `bvh` on the CPU, and its row in the registry.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::boxes::WARP;
use super::cost;
use super::traverse::{Visits, traverse_each};
use super::tree::{Tree, sorted};
use crate::engines::cuda::CudaBvh;
use crate::engines::lockstep::candidate_buffer::Warp;
use crate::engines::lockstep::registers_for;
use crate::engines::{host_memory, processor};
use crate::knn::{
    Answer, Build, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Limits, Measure, Metric, Neighbors,
    Parameters, Problem, Search, SetupPhase, warp as rules,
};

/// The registry's row for `bvh`.
pub static BVH: Descriptor = Descriptor {
    id: EngineId::new("bvh"),
    group: Group::Indexed,
    about: "A tree of boxes over points in Morton order: looks only where neighbours can be.",
    source: "docs/index.md",
    runs_on: &[DeviceKind::Gpu, DeviceKind::Cpu],
    limits: Limits { k: rules::MAX_K, d: 32, n: u32::MAX as usize, metrics: &[Metric::L2, Metric::Angular] },
    measures: &MEASURES,
    convergence: None,
    phases: &[],
    parameters: &[],
    is_exhaustive: false,
    twin_of: None,
    cost: cost::cost,
    traces: false,
    open: |device| match device {
        DeviceId::Cpu => Ok(Box::new(Bvh::new())),
        DeviceId::Gpu(_) => Ok(Box::new(CudaBvh::open_on(device)?)),
    },
};

/// The columns of `counters.csv`, in the order of [`Visits`].
pub static MEASURES: [Measure; 6] = {
    const fn measure(name: &'static str, unit: [&'static str; 2], help: &'static str) -> Measure {
        Measure { name, unit, help, theory: None, worst_case: None }
    }
    [
        measure("merges", ["merge", "merges"], "Merges of the candidate buffer into the intermediate result."),
        measure("candidates", ["candidate", "candidates"], "Points retained: closer than the k-th so far, and taken into the candidate buffer."),
        measure("accessed", ["point accessed", "points accessed"], "Points whose distance to the query was computed."),
        measure("leaves", ["leaf", "leaves"], "Leaves of 32 points that were visited."),
        measure("nodes", ["node", "nodes"], "Nodes whose children's boxes were compared with the query."),
        measure("left_out", ["child left out", "children left out"], "Nodes and leaves that were seen and left out, as no neighbour can be in them."),
    ]
};

/// Queries per parallel work item, neighbours on the curve.
const BLOCK: usize = 64;

/// The engine `bvh` on the CPU. It runs everywhere.
#[derive(Debug, Default)]
pub struct Bvh;

impl Bvh {
    pub fn new() -> Self {
        Self
    }
}

impl Engine for Bvh {
    fn descriptor(&self) -> &'static Descriptor {
        &BVH
    }

    fn device_id(&self) -> DeviceId {
        DeviceId::Cpu
    }

    fn device(&self) -> DeviceInfo {
        DeviceInfo { id: Some(self.device_id()), name: "CPU, tree of boxes".to_owned(), details: processor::details() }
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, _parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let there = problem.cache().get(self.device_id(), |_: &Tree| true);
        // Besides the tree: for each query a code, a row to write to, and what it visited.
        let queries = 128 * problem.q() as u64;
        host_memory::check(problem, queries + if there.is_some() { 0 } else { Tree::bytes(problem.n(), problem.dims()) })?;
        let start = Instant::now();
        let (tree, built_ms) = match there {
            Some(tree) => (tree, None),
            None => {
                let tree = Arc::new(Tree::new(problem));
                problem.cache().insert(DeviceId::Cpu, Arc::clone(&tree));
                (tree, Some(start.elapsed().as_secs_f64() * 1e3))
            }
        };
        Ok(Box::new(BvhSearch { problem, tree, built_ms, neighbors: Neighbors::unanswered(problem.q(), problem.k()), visits: Vec::new() }))
    }
}

/// A problem and the tree over its points.
struct BvhSearch<'a> {
    problem: &'a Problem,
    tree: Arc<Tree>,
    /// Milliseconds of the build; `None` if the tree was cached.
    built_ms: Option<f64>,
    neighbors: Neighbors,
    /// One per query of the last search.
    visits: Vec<Visits>,
}

/// Where a query's answer goes.
struct Row<'a> {
    indices: &'a mut [u32],
    squared_distances: &'a mut [f32],
    visits: &'a mut Visits,
}

impl Search for BvhSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.built_ms.map(|ms| (SetupPhase::BuildIndex, ms)).into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.built_ms.is_none()
    }

    fn first_chunk(&self) -> usize {
        (rayon::current_num_threads() * BLOCK).min(self.problem.q())
    }

    fn search(&mut self, queries: Range<usize>, _build: Build) -> Result<f64, EngineError> {
        let start = Instant::now();
        let (tree, dims, k) = (&*self.tree, self.problem.dims(), self.problem.k());
        let coordinates = &self.problem.queries()[queries.start * dims..queries.end * dims];
        let entries = queries.start * k..queries.end * k;
        self.visits.clear();
        self.visits.resize(queries.len(), Visits::default());
        let indices = self.neighbors.indices[entries.clone()].chunks_exact_mut(k);
        let distances = self.neighbors.squared_distances[entries].chunks_exact_mut(k);
        let rows = indices.zip(distances).zip(&mut self.visits);
        let mut rows: Vec<Option<Row<'_>>> =
            rows.map(|((indices, squared_distances), visits)| Some(Row { indices, squared_distances, visits })).collect();
        // Neighbours on the curve visit the same leaves, which are then in the cache.
        let order = sorted(&tree.frame, coordinates, dims);
        let mut rows: Vec<Row<'_>> = order.iter().map(|&(_, row)| rows[row as usize].take().expect("a query is searched once")).collect();

        let search = |(order, rows): (&[(u64, u32)], &mut [Row<'_>])| {
            let mut warp = Warp::<WARP>::new(k, registers_for(k, WARP), ());
            traverse_each(tree, coordinates, dims, order, &mut warp, &mut |at, warp, visits| {
                let row = &mut rows[at];
                *row.visits = visits;
                for ((neighbour, index), distance) in warp.neighbours().zip(&mut *row.indices).zip(&mut *row.squared_distances) {
                    (*index, *distance) = neighbour;
                }
            });
        };
        if queries.len() == 1 {
            // A single work item runs on this thread: the pool may be busy with another run.
            search((&order, &mut rows));
        } else {
            order.par_chunks(BLOCK).zip(rows.par_chunks_mut(BLOCK)).for_each(search);
        }
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        let start = Instant::now();
        neighbors.clone_from(&self.neighbors);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        answer.measured.extend(&MEASURES, self.visits.drain(..).map(bytemuck::cast));
        Ok(())
    }
}
