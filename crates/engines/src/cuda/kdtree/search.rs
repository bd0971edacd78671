//! The launches that search the tree.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::interface::{SEARCH_THREADS, Search as Arguments, Visits, kdtree_entry};
use crate::cuda::Cuda;
use crate::cuda::device::memory::Memory;
use crate::cuda::device::points::{DevicePoints, Form};
use crate::cuda::device::units::{Unit, build_name};
use crate::host_memory;
use crate::kdtree_threads::{KDTREE_THREADS, MEASURES, Tree};
use crate::knn::{Answer, Build, EngineError, MAX_COUNTED_CHUNK, Neighbors, Problem, Search, SetupPhase};

/// Entries of the heaps of one launch: half a gigabyte.
const MOST_ENTRIES: usize = 1 << 26;

/// Threads of a multiprocessor that hide most of the latency of memory.
const RESIDENT_THREADS: usize = 512;

/// The positions of the points that are on the device as [`Form::Nodes`].
struct Positions(CudaSlice<u32>);

/// A problem loaded into device memory.
pub struct KdTreeSearch<'a> {
    cuda: &'a mut Cuda,
    memory: Memory,
    positions: Arc<Positions>,
    kernels: [(Build, CudaFunction); 2],
    heaps: CudaSlice<u64>,
    /// Queries that one launch answers.
    slice: usize,
    visits: Option<CudaSlice<Visits>>,
    setup_ms: Vec<(SetupPhase, f64)>,
    /// Queries and build of the last search.
    last: (Range<usize>, Build),
}

impl<'a> KdTreeSearch<'a> {
    /// Builds the tree, reserves memory and uploads both.
    ///
    /// # Errors
    /// [`EngineError::Memory`] before anything is reserved, [`EngineError::HostMemory`], [`EngineError::Device`].
    pub fn new(cuda: &'a mut Cuda, problem: &Problem) -> Result<Self, EngineError> {
        let (n, d, k, q) = (problem.n(), problem.dims(), problem.k(), problem.q());
        let unavailable = |why| EngineError::Unavailable { engine: KDTREE_THREADS.id, why };
        let dims = if d == 2 || d == 3 { d as u32 } else { 0 };
        let unit = Unit::new(super::SEARCH, 0, dims);
        let mut kernel = |build| {
            let function = cuda.kernels.function(unit.of_build(build), &kdtree_entry(dims, build_name(build)));
            function.map(|function| (build, function)).map_err(unavailable)
        };
        let kernels = [kernel(Build::Timed)?, kernel(Build::Counted)?];

        let slice = (MOST_ENTRIES / k).max(1).min(q);
        let searching = (8 * slice * k + q.min(MAX_COUNTED_CHUNK) * size_of::<Visits>()) as u64;
        // Positions are of use only beside their points, which another engine may have taken off the device.
        let points = problem.cache().get(cuda.device_id, |points: &DevicePoints| points.serve(Form::Nodes, n * d));
        let there = problem.cache().get(cuda.device_id, |_: &Positions| points.is_some());
        if there.is_none() {
            problem.cache().remove::<Positions>(cuda.device_id);
        }
        drop(points);
        let mut memory = Memory::reserve(cuda, problem, Form::Nodes, n * d, searching + if there.is_some() { 0 } else { 4 * n as u64 })?;
        let mut setup_ms = Vec::new();
        let (tree, there) = match there.filter(|_| memory.resident) {
            Some(positions) => (None, Some(positions)),
            None => {
                host_memory::check(problem, Tree::bytes(n, d))?;
                let start = Instant::now();
                let tree = Tree::new(problem);
                setup_ms.push((SetupPhase::BuildIndex, start.elapsed().as_secs_f64() * 1e3));
                (Some(tree), None)
            }
        };
        let mut positions = there;
        let upload = |cuda: &mut Cuda, points: &mut CudaSlice<f32>| {
            let Some(tree) = &tree else { return Ok(()) };
            cuda.stream.memcpy_htod(&tree.coordinates, points)?;
            positions = Some(Arc::new(Positions(cuda.stream.clone_htod(&tree.positions)?)));
            Ok(())
        };
        memory.upload(cuda, problem, upload).map_err(|error| cuda.failed(error))?;
        setup_ms.insert(0, (SetupPhase::Upload, memory.upload_ms));
        let positions = match (positions, &tree) {
            (Some(positions), _) => positions,
            // Points that another search left there, in the same order.
            (None, Some(tree)) => Arc::new(Positions(cuda.stream.clone_htod(&tree.positions).map_err(|error| cuda.failed(error))?)),
            (None, None) => unreachable!("without positions a tree is built"),
        };
        problem.cache().insert(cuda.device_id, Arc::clone(&positions));
        // SAFETY: uninitialised memory, written before it is read.
        let heaps = unsafe { cuda.stream.alloc(slice * k) }.map_err(|error| cuda.failed(error))?;
        Ok(Self { cuda, memory, positions, kernels, heaps, slice, visits: None, setup_ms, last: (0..0, Build::Timed) })
    }

    fn launch(&mut self, queries: &Range<usize>, build: Build) -> Result<f64, DriverError> {
        let stream = &self.cuda.stream.clone();
        if build == Build::Counted && self.visits.as_ref().is_none_or(|visits| visits.len() < queries.len()) {
            // Free the old one first.
            self.visits = None;
            self.visits = Some(stream.alloc_zeros(queries.len())?);
        }
        let memory = &mut self.memory;
        let (_, kernel) = self.kernels.iter().find(|(of, _)| *of == build).expect("both builds are loaded with the problem");
        memory.timer.start(stream)?;
        for first in queries.clone().step_by(self.slice) {
            let count = self.slice.min(queries.end - first);
            let counted = ((first - queries.start) * size_of::<Visits>()) as u64;
            let arguments = Arguments {
                coordinates: memory.points.floats.device_ptr(stream).0,
                positions: self.positions.0.device_ptr(stream).0,
                queries: memory.queries.device_ptr(stream).0,
                heaps: self.heaps.device_ptr_mut(stream).0,
                n: memory.n as u32,
                d: memory.d as u32,
                k: memory.k as u32,
                first_query: first as u32,
                query_count: count as u32,
                indices: memory.indices.device_ptr_mut(stream).0,
                squared_distances: memory.squared_distances.device_ptr_mut(stream).0,
                visits: self.visits.as_mut().map_or(0, |visits| visits.device_ptr_mut(stream).0 + counted),
            };
            let blocks = (count as u32).div_ceil(SEARCH_THREADS);
            let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (SEARCH_THREADS, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: the arguments are the kernel's parameter; their pointers are to this search's buffers, which are as long as they say.
            unsafe { stream.launch_builder(kernel).arg(&arguments).launch(config) }?;
        }
        memory.timer.stop(stream)
    }
}

impl Search for KdTreeSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.setup_ms.clone()
    }

    fn resident(&self) -> bool {
        self.memory.resident && self.setup_ms.len() == 1
    }

    fn first_chunk(&self) -> usize {
        self.chunk_unit()
    }

    fn chunk_unit(&self) -> usize {
        // A search is a chain of loads, each of which waits for the one before: a thread's time is a launch's, and fewer queries would not
        // come back much sooner.
        (self.cuda.multiprocessors() as usize * RESIDENT_THREADS).min(self.slice)
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        debug_assert!(queries.start < queries.end && queries.end <= self.memory.q);
        let build = if build == Build::Timed { build } else { Build::Counted };
        let ms = self.launch(&queries, build).map_err(|error| self.cuda.failed(error))?;
        self.last = (queries, build);
        Ok(ms)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        self.memory.download(&self.cuda.stream, neighbors).map_err(|error| self.cuda.failed(error))
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        let (queries, build) = self.last.clone();
        let (Some(visits), Build::Counted) = (&self.visits, build) else { return Ok(()) };
        let stream = &self.cuda.stream;
        let copy = || -> Result<_, DriverError> {
            let visits = stream.clone_dtoh(&visits.slice(..queries.len()))?;
            stream.synchronize()?;
            Ok(visits)
        };
        let visits = copy().map_err(|error| self.cuda.failed(error))?;
        answer.measured.extend(&MEASURES, visits.into_iter().map(bytemuck::cast));
        Ok(())
    }
}
