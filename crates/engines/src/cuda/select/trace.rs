//! The launches that record, instead of count, how one query's neighbours are selected from its row of
//! distances.

use cudarc::driver::{CudaFunction, DevicePtrMut, PushKernelArg};

use super::matrix::{DistanceKernel, Matrix};
use super::passes::{MULTI_PASS, SORT_UNIT, words};
use super::search::selection;
use crate::Result;
use crate::cuda::Cuda;
use crate::cuda::device::memory::{SearchBuffers, blocks, launch};
use crate::cuda::device::units::{BuildSet, Unit};
use crate::cuda::interface::select::{
    MultiPass, PASS_THREADS, ROW_THREADS, SELECT_WARPS, SORT_FOUND_ENTRY, Selection, radix_select_entry,
    warp_select_entry,
};
use crate::knn::{EngineError, EngineId, KernelBuild, Neighbors, Problem};
use crate::select::{RADIX_SELECT, WARP_SELECT, warp_select};

const WARP: u32 = 32;

/// Selects one query's neighbours with the traced build of warp select. Returns the recorded words and the
/// answers; only that query's answer is valid. The buffer initially holds `room` words. NVRTC compiles the
/// kernel on demand.
///
/// # Errors
/// [`EngineError::Unavailable`] if the kernel cannot be compiled, [`EngineError::Memory`],
/// [`EngineError::HostMemory`], [`EngineError::Device`].
pub fn trace_warp_select(
    cuda: &mut Cuda,
    problem: &Problem,
    query: usize,
    room: usize,
) -> Result<(Vec<u32>, Neighbors)> {
    let capacity = warp_select::capacity(problem.k()) as u32;
    let unit = Unit::new("select/warp_select", capacity, 0);
    let kernel = traced(cuda, WARP_SELECT.id, unit, &warp_select_entry(capacity, "traced"))?;
    let mut row = Row::new(cuda, WARP_SELECT.id, problem, query, 0)?;
    let selection = row.selection(cuda);
    let config = blocks(1, SELECT_WARPS * WARP);
    let words = cuda.record(problem, room, |trace| {
        // SAFETY: these are the kernel's parameters; their pointers are to buffers with the sizes that they
        // state.
        unsafe { cuda.stream.launch_builder(&kernel).arg(&selection).arg(&trace).launch(config) }.map(drop)
    })?;
    Ok((words, row.download(cuda)?))
}

/// The same with the traced build of radix select, in two stages and with one bucket per lane; the result is
/// then sorted.
///
/// # Errors
/// See [`trace_warp_select`].
pub fn trace_radix_select(
    cuda: &mut Cuda,
    problem: &Problem,
    query: usize,
    room: usize,
) -> Result<(Vec<u32>, Neighbors)> {
    let kernel = traced(cuda, RADIX_SELECT.id, Unit::new(MULTI_PASS, 0, 0), &radix_select_entry("traced"))?;
    let sort = Unit::new(SORT_UNIT, 0, 0).for_build(KernelBuild::Timed);
    let sort_found = cuda.kernel(RADIX_SELECT.id, sort, SORT_FOUND_ENTRY)?;
    let words = words(&problem.shape(), false);
    let mut row = Row::new(cuda, RADIX_SELECT.id, problem, query, 4 * words)?;
    // Zeroed, as in any search.
    let auxiliary = cuda.stream.alloc_zeros::<u32>(words);
    let mut auxiliary = auxiliary.map_err(|error| cuda.failed(error))?;
    let passes = MultiPass {
        selection: row.selection(cuda),
        auxiliary: auxiliary.device_ptr_mut(&cuda.stream).0,
        auxiliary_words: words as u64,
        stages: 2,
        bits: WARP.ilog2(),
    };
    let traced = cuda.record(problem, room, |trace| {
        // SAFETY: these are the kernel's parameters; their pointers are to buffers with the sizes that they
        // state.
        unsafe {
            cuda.stream.launch_builder(&kernel).arg(&passes).arg(&trace).launch(blocks(1, PASS_THREADS))
        }
        .map(drop)
    })?;
    // SAFETY: as above.
    let sorted = unsafe { launch(&cuda.stream, &sort_found, blocks(1, ROW_THREADS), &passes) };
    sorted.map_err(|error| cuda.failed(error))?;
    Ok((traced, row.download(cuda)?))
}

fn traced(cuda: &mut Cuda, engine: EngineId, unit: Unit, name: &str) -> Result<CudaFunction> {
    cuda.kernel(engine, Unit { builds: BuildSet::Traced, ..unit }, name)
}

/// The distances of one query, computed as in any search, and their memory.
struct Row {
    memory: SearchBuffers,
    matrix: Matrix,
    query: usize,
}

impl Row {
    /// Uploads the problem and computes the distances; the selection will reserve another `extra` bytes.
    fn new(cuda: &mut Cuda, engine: EngineId, problem: &Problem, query: usize, extra: usize) -> Result<Self> {
        let matrix = Matrix::new(cuda, DistanceKernel::Registers, problem.n(), 1, extra, 0);
        let mut matrix = matrix.map_err(|why| EngineError::Unavailable { engine, why })?;
        let memory = SearchBuffers::with_rows(cuda, problem, (matrix.bytes() + extra) as u64)?;
        let mut make = || {
            matrix.reserve(&cuda.stream)?;
            matrix.fill(&cuda.stream, &memory, query, 1).map(drop)
        };
        make().map_err(|error| cuda.failed(error))?;
        Ok(Self { memory, matrix, query })
    }

    fn selection(&mut self, cuda: &Cuda) -> Selection {
        let tile = self.matrix.tile(&cuda.stream, &self.memory, self.query, 1);
        let selection = selection(&cuda.stream, &mut self.memory, self.query, 1);
        Selection { distances: tile.distances, pitch: tile.pitch, ..selection }
    }

    fn download(&self, cuda: &mut Cuda) -> Result<Neighbors> {
        let mut neighbors = Neighbors::default();
        self.memory.download(cuda, &mut neighbors).map_err(|error| cuda.failed(error))?;
        Ok(neighbors)
    }
}
