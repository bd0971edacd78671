//! The launches that write down how one query's neighbours are selected from its row of distances, in the place of counting it.

use cudarc::driver::{CudaFunction, DevicePtr, DevicePtrMut, LaunchConfig, PushKernelArg};

use super::interface::{SELECT_WARPS, Selection, warp_select_entry};
use super::matrix::{Kernel, Matrix};
use crate::engines::cuda::Cuda;
use crate::engines::cuda::device::memory::Memory;
use crate::engines::cuda::device::points::{self, Form};
use crate::engines::cuda::device::units::{Builds, Unit};
use crate::engines::select::{WARP_SELECT, warp_select};
use crate::knn::{EngineError, EngineId, Neighbors, Problem};

/// Lanes of a warp.
const WARP: u32 = 32;

/// Selects one query's neighbours with the traced build of warp select: the words that it wrote, and the answers, of which that query's is there;
/// `room` of the words have room at first. NVRTC compiles it on demand.
///
/// # Errors
/// [`EngineError::Unavailable`] if the kernel cannot be compiled, [`EngineError::Memory`], [`EngineError::HostMemory`], [`EngineError::Device`].
pub fn trace_warp_select(cuda: &mut Cuda, problem: &Problem, query: usize, room: usize) -> Result<(Vec<u32>, Neighbors), EngineError> {
    let capacity = warp_select::capacity(problem.k()) as u32;
    let kernel = traced(cuda, WARP_SELECT.id, Unit::new("select/warp_select", capacity, 0), &warp_select_entry(capacity, "traced"))?;
    let mut row = Row::new(cuda, WARP_SELECT.id, problem, query, 0)?;
    let selection = row.selection(cuda);
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (SELECT_WARPS * WARP, 1, 1), shared_mem_bytes: 0 };
    let words = cuda.record(problem, room, |trace| {
        // SAFETY: these are the kernel's parameters; their pointers are to buffers that are as long as they say.
        unsafe { cuda.stream.launch_builder(&kernel).arg(&selection).arg(&trace).launch(config) }.map(drop)
    })?;
    Ok((words, row.download(cuda)?))
}

/// The traced build of a unit's kernel.
fn traced(cuda: &mut Cuda, engine: EngineId, unit: Unit, name: &str) -> Result<CudaFunction, EngineError> {
    let kernel = cuda.kernels.function(Unit { builds: Builds::Traced, ..unit }, name);
    kernel.map_err(|why| EngineError::Unavailable { engine, why })
}

/// The distances of one query, made as for any search, and the memory around them.
struct Row {
    memory: Memory,
    matrix: Matrix,
    query: usize,
}

impl Row {
    /// Uploads the problem and makes the distances; the selection will reserve `extra` bytes more.
    fn new(cuda: &mut Cuda, engine: EngineId, problem: &Problem, query: usize, extra: usize) -> Result<Self, EngineError> {
        let (n, d) = (problem.n(), problem.dims());
        let matrix = Matrix::new(cuda, Kernel::Registers, n, 1, extra);
        let mut matrix = matrix.map_err(|why| EngineError::Unavailable { engine, why })?;
        let mut memory = Memory::reserve(cuda, problem, Form::Rows, points::row_floats(n, d, 1), (matrix.bytes() + extra) as u64)?;
        let stream = cuda.stream.clone();
        let mut make = || {
            memory.upload(cuda, problem, |cuda, floats| points::upload_rows(&cuda.stream, problem.points(), floats))?;
            matrix.reserve(&stream)?;
            matrix.fill(&stream, &memory, query, 1).map(drop)
        };
        make().map_err(|error| cuda.failed(error))?;
        Ok(Self { memory, matrix, query })
    }

    /// What the selector is told.
    fn selection(&mut self, cuda: &Cuda) -> Selection {
        let (stream, memory) = (&cuda.stream, &mut self.memory);
        let tile = self.matrix.tile(stream, memory, self.query, 1);
        Selection {
            distances: tile.distances,
            pitch: tile.pitch,
            queries: memory.queries.device_ptr(stream).0,
            q: memory.q as u32,
            d: memory.d as u32,
            n: memory.n as u32,
            k: memory.k as u32,
            first_query: self.query as u32,
            query_count: 1,
            indices: memory.indices.device_ptr_mut(stream).0,
            squared_distances: memory.squared_distances.device_ptr_mut(stream).0,
            ..Selection::default()
        }
    }

    /// The answers.
    fn download(&self, cuda: &Cuda) -> Result<Neighbors, EngineError> {
        let mut neighbors = Neighbors::default();
        self.memory.download(&cuda.stream, &mut neighbors).map_err(|error| cuda.failed(error))?;
        Ok(neighbors)
    }
}
