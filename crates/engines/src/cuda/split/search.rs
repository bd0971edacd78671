//! Device memory and launches of `cuda-split`.
//!
//! Four kernels answer a chunk of queries, each launched while the preceding one runs. A repeated search is
//! recorded as a CUDA graph: for a single query the launches would take as long as the kernels.

use std::ffi::{c_uint, c_void};
use std::mem::zeroed;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
use cudarc::driver::sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
use cudarc::driver::sys::{
    self, CUgraphInstantiate_flags, CUlaunchAttribute, CUlaunchConfig, CUstreamCaptureMode,
};
use cudarc::driver::{CudaFunction, CudaGraph, CudaSlice, CudaStream, DevicePtrMut};

use super::plan::Plan;
use crate::Result;
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::{Addresses, SearchBuffers};
use crate::cuda::interface::split::{SPLIT_SELECT_THREADS, Split, split_entry};
use crate::cuda::search::{Chunk, GpuSearch, SearchKernels};
use crate::knn::Problem;

/// Buffers between stages, for the queries of one launch.
struct Scratch {
    minima: CudaSlice<u32>,
    bounds: CudaSlice<f32>,
    counts: CudaSlice<u32>,
    lists: CudaSlice<u64>,
}

impl Scratch {
    fn reserve(stream: &Arc<CudaStream>, plan: &Plan) -> DriverResult<Self> {
        let (chunk, groups, capacity) = (plan.chunk as usize, plan.groups() as usize, plan.capacity as usize);
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            Ok(Self {
                minima: stream.alloc((chunk * groups).max(1))?,
                bounds: stream.alloc(chunk)?,
                counts: stream.alloc(chunk)?,
                lists: stream.alloc(chunk * capacity)?,
            })
        }
    }
}

/// The four kernels and how to launch them.
struct Stages {
    sample: CudaFunction,
    bound: CudaFunction,
    collect: CudaFunction,
    select: CudaFunction,
    multiprocessors: u32,
    /// Whether the device supports launching a kernel before the preceding one ends (programmatic dependent
    /// launch).
    overlap: bool,
}

/// The partition of a problem, and the kernels that answer it.
pub struct SplitKernels {
    plan: Plan,
    /// Keeps alive the buffers that the arguments point to.
    _scratch: Scratch,
    /// Kernel arguments, without the queries of a launch.
    arguments: Split,
    stages: Stages,
    /// The queries of the last search and, after a repetition, its graph.
    last: (Range<usize>, Option<RecordedLaunches>),
}

/// The launches of a range as a graph.
struct RecordedLaunches(CudaGraph);

// SAFETY: the driver allows a graph to be launched and freed from any thread, one at a time, and `cudarc` binds
// the context to the calling thread first.
unsafe impl Send for RecordedLaunches {}

/// Reserves memory and uploads the problem.
///
/// # Errors
/// `EngineError::Memory` before anything is reserved, `EngineError::Device`.
pub fn load<'a>(cuda: &'a mut Cuda, problem: &Problem) -> Result<GpuSearch<'a, SplitKernels>> {
    let plan = Plan::new(problem.n(), problem.dims(), problem.k(), problem.q());
    let stages = Stages::load(cuda, &plan, problem.q())?;
    let mut memory = SearchBuffers::with_rows(cuda, problem, plan.scratch_bytes())?;
    let mut scratch = Scratch::reserve(&cuda.stream, &plan).map_err(|error| cuda.failed(error))?;
    let stream = &cuda.stream;
    let Addresses { points, queries, indices, squared_distances, n, d, k, .. } = memory.addresses(stream);
    let arguments = Split {
        points,
        queries,
        n,
        d,
        k,
        first_query: 0,
        query_count: 0,
        block_queries: 0,
        windows: plan.windows,
        window_groups: plan.window_groups,
        capacity: plan.capacity,
        spacing: plan.spacing,
        minima: scratch.minima.device_ptr_mut(stream).0,
        bounds: scratch.bounds.device_ptr_mut(stream).0,
        counts: scratch.counts.device_ptr_mut(stream).0,
        lists: scratch.lists.device_ptr_mut(stream).0,
        indices,
        squared_distances,
    };
    let kernels = SplitKernels { plan, _scratch: scratch, arguments, stages, last: (0..0, None) };
    Ok(GpuSearch::new(cuda, memory, None, kernels))
}

impl SplitKernels {
    /// Answers a range of queries. On return the launches are on the stream, or in the graph that is being
    /// recorded.
    fn launch(&self, stream: &CudaStream, queries: &Range<usize>) -> DriverResult {
        let chunk = self.plan.chunk as usize;
        for first in queries.clone().step_by(chunk) {
            let query_count = (queries.end - first).min(chunk) as u32;
            let arguments = Split { first_query: first as u32, query_count, ..self.arguments };
            // SAFETY: the pointers are to buffers of this search with the sizes that the arguments state.
            unsafe { self.stages.launch(stream, &self.plan, arguments) }?;
        }
        Ok(())
    }

    /// Records the launches of a range as a graph; `None` if there was nothing to record.
    fn record(&self, stream: &Arc<CudaStream>, queries: &Range<usize>) -> DriverResult<Option<CudaGraph>> {
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let launched = self.launch(stream, queries);
        // End the capture even after an error: a stream that is still capturing is unusable.
        let graph = stream.end_capture(CUgraphInstantiate_flags(0));
        launched.and(graph)
    }
}

impl Stages {
    fn load(cuda: &mut Cuda, plan: &Plan, q: usize) -> Result<Self> {
        // A single query has its own kernels, because its registers suffice for more loads in flight.
        let rows_of = if plan.dims == 0 && q == 1 { "_one" } else { "" };
        let mut stage =
            |name: &str| cuda.kernel(super::SPLIT.id, super::unit(plan.dims), &split_entry(name, plan.dims));
        let (sample, bound) = (stage(&format!("sample{rows_of}"))?, stage("bound")?);
        let (collect, select) = (stage(&format!("collect{rows_of}"))?, stage("select")?);
        let compiled_for = sample.ptx_version();
        Ok(Self {
            sample,
            bound,
            collect,
            select,
            multiprocessors: cuda.multiprocessors(),
            // The compilation target matters too: PTX for an older GPU cannot express the wait (split.cuh).
            overlap: cuda
                .context
                .attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
                .is_ok_and(|major| major >= 9)
                && compiled_for.is_ok_and(|arch| arch >= 90),
        })
    }

    /// Launches all stages for a chunk of queries.
    ///
    /// # Safety
    /// The arguments' pointers must be to buffers with the sizes that the arguments state.
    unsafe fn launch(&self, stream: &CudaStream, plan: &Plan, arguments: Split) -> DriverResult {
        let queries = arguments.query_count;
        let sample = plan.sample_shape(queries, self.multiprocessors);
        let collect = plan.collect_shape(queries, self.multiprocessors);
        // The first kernel has no predecessor.
        let mut overlap = false;
        let mut launch = |function, grid, threads, block_queries| {
            let before = std::mem::replace(&mut overlap, self.overlap);
            // SAFETY: guaranteed by the caller.
            unsafe { launch(stream, function, grid, threads, before, Split { block_queries, ..arguments }) }
        };
        if plan.windows > 0 {
            launch(&self.sample, sample.grid, sample.threads, sample.block_queries)?;
        }
        launch(&self.bound, (queries, 1), SPLIT_SELECT_THREADS, 1)?;
        launch(&self.collect, collect.grid, collect.threads, collect.block_queries)?;
        launch(&self.select, (queries, 1), SPLIT_SELECT_THREADS, 1)
    }
}

/// Launches a kernel, with `overlap` before the preceding one ends. `cudarc`'s own launches do not support
/// attributes.
///
/// # Safety
/// The arguments' pointers must be to buffers with the sizes that the arguments state.
unsafe fn launch(
    stream: &CudaStream,
    function: &CudaFunction,
    grid: (u32, u32),
    threads: u32,
    overlap: bool,
    mut arguments: Split,
) -> DriverResult {
    // SAFETY: plain numbers, for which all-zero bits are valid.
    let mut attribute: CUlaunchAttribute = unsafe { zeroed() };
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    let config = CUlaunchConfig {
        gridDimX: grid.0,
        gridDimY: grid.1,
        gridDimZ: 1,
        blockDimX: threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream.cu_stream(),
        attrs: &mut attribute,
        numAttrs: c_uint::from(overlap),
    };
    let mut parameters = [(&raw mut arguments).cast::<c_void>()];
    stream.context().bind_to_thread()?;
    // SAFETY: the kernel has one parameter, of this type; the driver has copied it by the time this returns.
    unsafe {
        sys::cuLaunchKernelEx(&config, function.cu_function(), parameters.as_mut_ptr(), std::ptr::null_mut())
    }
    .result()
}

impl SearchKernels for SplitKernels {
    fn run(&mut self, cuda: &mut Cuda, memory: &mut SearchBuffers, chunk: Chunk<'_>) -> DriverResult<f64> {
        let queries = chunk.queries;
        let stream = &cuda.stream;
        if self.last.0 != *queries {
            self.last = (queries.clone(), None);
        } else if self.last.1.is_none() {
            self.last.1 = self.record(stream, queries)?.map(RecordedLaunches);
        }
        memory.timer.start(stream)?;
        match &self.last.1 {
            Some(RecordedLaunches(graph)) => graph.launch()?,
            None => self.launch(stream, queries)?,
        }
        memory.timer.stop(stream)
    }

    fn first_chunk(&self, _cuda: &Cuda, _memory: &SearchBuffers) -> usize {
        // One query already fills the device, but many share each read of the points.
        1024
    }
}
