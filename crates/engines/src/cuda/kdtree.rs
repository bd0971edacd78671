//! The engine `kdtree-threads` on an NVIDIA GPU: the tree of [`crate::kdtree_threads`], built on the host and
//! searched on the device.

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};

use super::Cuda;
use super::device::memory::{Addresses, DevicePoints, PointLayout, SearchBuffers, blocks, launch};
use super::device::units::Unit;
use super::interface::kdtree::{SEARCH_THREADS, Search as Arguments, kdtree_entry};
use super::search::{self, BuildKernels, Chunk, GpuSearch, SearchKernels};
use crate::Result;
use crate::cuda::DriverResult;
use crate::host_memory;
use crate::kdtree_threads::{KDTREE_THREADS, MEASURES, Tree};
use crate::knn::{DeviceId, Engine, MAX_COUNTED_CHUNK, Measure, Problem};

const SEARCH: &str = "kdtree/search";

/// Heap entries per launch: half a gigabyte.
const MAX_ENTRIES: usize = 1 << 26;

/// Threads per multiprocessor that hide most of the memory latency.
const RESIDENT_THREADS: usize = 512;

/// Opens a given GPU for the engine.
///
/// # Errors
/// `EngineError::Unavailable`, which says what is missing and how to get it.
pub fn open_kdtree(device: DeviceId) -> Result<Box<dyn Engine>> {
    let unit = Unit::new(SEARCH, 0, 2);
    search::open(&KDTREE_THREADS, device, unit, |cuda, problem, _| Ok(Box::new(load(cuda, problem)?)))
}

/// The positions of the points that are on the device as [`PointLayout::Nodes`].
struct Positions(CudaSlice<u32>);

struct KdTree {
    positions: Arc<Positions>,
    search: BuildKernels,
    heaps: CudaSlice<u64>,
    /// Queries per launch.
    slice: usize,
}

fn load<'a>(cuda: &'a mut Cuda, problem: &Problem) -> Result<GpuSearch<'a, KdTree>> {
    let (n, d, k, q) = (problem.n(), problem.dims(), problem.k(), problem.q());
    let dims = if d == 2 || d == 3 { d as u32 } else { 0 };
    let unit = Unit::new(SEARCH, 0, dims);
    let search = BuildKernels::load(cuda, KDTREE_THREADS.id, unit, |build| kdtree_entry(dims, build))?;
    let slice = (MAX_ENTRIES / k).max(1).min(q);
    let searching = (8 * slice * k + q.min(MAX_COUNTED_CHUNK) * 4 * MEASURES.len()) as u64;
    // Positions are only valid together with their points, which another engine may have evicted from the
    // device.
    let points =
        problem.cache().get(cuda.device_id, |points: &DevicePoints| points.fits(PointLayout::Nodes, n * d));
    let there = problem.cache().get(cuda.device_id, |_: &Positions| points.is_some());
    if there.is_none() {
        problem.cache().remove::<Positions>(cuda.device_id);
    }
    drop(points);
    let extra = searching + if there.is_some() { 0 } else { 4 * n as u64 };
    let mut memory = SearchBuffers::reserve(cuda, problem, PointLayout::Nodes, n * d, extra)?;
    let (tree, mut positions, built_ms) = match there.filter(|_| memory.resident) {
        Some(positions) => (None, Some(positions), None),
        None => {
            host_memory::check(problem, Tree::bytes(n, d))?;
            let start = Instant::now();
            let tree = Tree::new(problem);
            (Some(tree), None, Some(start.elapsed().as_secs_f64() * 1e3))
        }
    };
    memory.upload(cuda, problem, |cuda, points| {
        let Some(tree) = &tree else { return Ok(()) };
        cuda.stream.memcpy_htod(&tree.coordinates, points)?;
        positions = Some(Arc::new(Positions(cuda.stream.clone_htod(&tree.positions)?)));
        Ok(())
    })?;
    let positions = match (positions, &tree) {
        (Some(positions), _) => positions,
        // Another search left the points on the device, in the same order.
        (None, Some(tree)) => {
            Arc::new(Positions(cuda.stream.clone_htod(&tree.positions).map_err(|error| cuda.failed(error))?))
        }
        (None, None) => unreachable!("without positions a tree is built"),
    };
    problem.cache().insert(cuda.device_id, Arc::clone(&positions));
    // SAFETY: uninitialised memory, written before it is read.
    let heaps = unsafe { cuda.stream.alloc(slice * k) }.map_err(|error| cuda.failed(error))?;
    Ok(GpuSearch::new(cuda, memory, built_ms, KdTree { positions, search, heaps, slice }))
}

impl SearchKernels for KdTree {
    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn run(&mut self, cuda: &mut Cuda, memory: &mut SearchBuffers, chunk: Chunk<'_>) -> DriverResult<f64> {
        let Chunk { queries, build, counts } = chunk;
        let stream = &cuda.stream;
        memory.timer.start(stream)?;
        for first in queries.clone().step_by(self.slice) {
            let Addresses { points, queries: rows, indices, squared_distances, n, d, k, .. } =
                memory.addresses(stream);
            let query_count = self.slice.min(queries.end - first) as u32;
            let visits = self.counts_at(first - queries.start, counts);
            let arguments = Arguments {
                coordinates: points,
                positions: self.positions.0.device_ptr(stream).0,
                queries: rows,
                heaps: self.heaps.device_ptr_mut(stream).0,
                n,
                d,
                k,
                first_query: first as u32,
                query_count,
                indices,
                squared_distances,
                visits,
            };
            let config = blocks(query_count.div_ceil(SEARCH_THREADS), SEARCH_THREADS);
            // SAFETY: the arguments are the kernel's parameter; their pointers are to buffers of this search
            // with the sizes that they state.
            unsafe { launch(stream, self.search.for_build(build), config, &arguments) }?;
        }
        memory.timer.stop(stream)
    }

    fn first_chunk(&self, cuda: &Cuda, memory: &SearchBuffers) -> usize {
        self.chunk_unit(cuda, memory)
    }

    fn chunk_unit(&self, cuda: &Cuda, _memory: &SearchBuffers) -> usize {
        // A search is a chain of dependent loads: a launch takes as long as one of its threads, so fewer
        // queries would not be much faster.
        (cuda.multiprocessors() as usize * RESIDENT_THREADS).min(self.slice)
    }

    fn first_work(&self, _memory: &SearchBuffers) -> u64 {
        2_000_000_000
    }
}
