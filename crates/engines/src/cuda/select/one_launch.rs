//! The selectors with one launch per tile, each a row of the tables of `crate::select`.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut, LaunchConfig, result};

use super::{DeviceSelector, Loaded, Source};
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::{blocks, launch};
use crate::cuda::device::units::Unit;
use crate::cuda::direct::{GROUP_ROWS_ENTRY, Layout, Policy};
use crate::cuda::interface::select::{
    COUNTS, FUSED_FEW, FUSED_GROUPS, FUSED_NARROW, FUSED_QUERIES, FUSED_TILE, FUSED_WARPS, GLOBAL_KEPT,
    GLOBAL_THREADS, PARTIAL_FEW_THREADS, PARTIAL_THREADS, PATH_FEW_THREADS, PATH_THREADS, QUEUE_WARPS,
    SELECT_WARPS, Selection, bits_fused_entry, bits_global_entry, block_select_entry, merge_path_entry,
    merge_queue_entry, partial_bitonic_entry, thread_heap_entry, warp_select_entry,
};
use crate::cuda::search::BuildKernels;
use crate::knn::{EngineId, KernelBuild, Parameters, Shape};
use crate::select::partial_bitonic::Storage;
use crate::select::{
    BITS_FUSED, BITS_GLOBAL, BLOCK_SELECT, MERGE_PATH, MERGE_QUEUE, PARTIAL_BITONIC, THREAD_HEAP,
    WARP_SELECT, bits, bits_fused, bits_global, merge_path, merge_queue, partial_bitonic, thread_heap,
    warp_select,
};

const WARP: u32 = 32;

/// Bytes of shared memory that every GPU gives a block by default.
const SHARED_BYTES: u32 = 48 << 10;

/// A selector with a single kernel, whose parameter is the selection.
struct SingleKernelSelector {
    parameters: Parameters,
    kernels: BuildKernels,
    /// Rows per block.
    rows: u32,
    threads: u32,
    /// Dynamic shared memory per block.
    shared_bytes: u32,
    /// Whether several threads add to the counts of a row, which must then start at zero.
    adds: bool,
    /// Keys in device memory per row of a tile.
    keys: usize,
    memory: Option<CudaSlice<u64>>,
    /// Sets the fields of a selection that are specific to this selector, given the address of the keys in
    /// device memory.
    complete: Box<dyn Fn(Selection, CUdeviceptr) -> Selection + Send>,
}

impl SingleKernelSelector {
    /// A selector with one row per block of `threads` threads.
    fn new(parameters: Parameters, kernels: BuildKernels, threads: u32) -> Self {
        let complete = Box::new(|selection, _| selection);
        Self {
            parameters,
            kernels,
            rows: 1,
            threads,
            shared_bytes: 0,
            adds: false,
            keys: 0,
            memory: None,
            complete,
        }
    }
}

impl DeviceSelector for SingleKernelSelector {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn row_bytes(&self) -> usize {
        size_of::<u64>() * self.keys
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> DriverResult {
        if self.keys > 0 {
            // SAFETY: uninitialised memory, written before it is read.
            self.memory = Some(unsafe { stream.alloc(self.keys * rows) }?);
        }
        Ok(())
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: KernelBuild) -> DriverResult {
        let keys = self.memory.as_mut().map_or(0, |keys| keys.device_ptr_mut(stream).0);
        let selection = (self.complete)(selection, keys);
        if self.adds && build == KernelBuild::Counted {
            let bytes = 4 * (COUNTS * selection.query_count) as usize;
            // SAFETY: the buffer of counts has this many for each row of the selection.
            unsafe { result::memset_d8_async(selection.counts, 0, bytes, stream.cu_stream()) }?;
        }
        let blocks = blocks(selection.query_count.div_ceil(self.rows), self.threads);
        let config = LaunchConfig { shared_mem_bytes: self.shared_bytes, ..blocks };
        // SAFETY: the argument is the kernel's parameter; its pointers are to buffers of the search with the
        // sizes that it states, and to keys for every row of a tile.
        unsafe { launch(stream, self.kernels.for_build(build), config, &selection) }
    }
}

/// Loads `bits-global`.
///
/// # Errors
/// [`EngineError::Unavailable`](crate::knn::EngineError::Unavailable), like the functions below.
pub fn load_bits_global(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let kernels =
        BuildKernels::load(cuda, BITS_GLOBAL.id, Unit::new("select/bits_global", 0, 0), bits_global_entry)?;
    let sample = bits::new_sample(shape, parameters, 1);
    Ok(Box::new(SingleKernelSelector {
        keys: GLOBAL_KEPT as usize,
        complete: Box::new(move |selection, kept| Selection {
            sampled: sample.rank as u32,
            minima: sample.minima as u32,
            group: sample.group as u32,
            kept,
            ..selection
        }),
        ..SingleKernelSelector::new(bits_global::resolved(sample, parameters), kernels, GLOBAL_THREADS)
    }))
}

/// Loads `merge-path`.
pub fn load_merge_path(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let capacity = merge_path::capacity(shape.k);
    let unit = Unit::new("select/merge_path", capacity as u32, 0);
    let kernels = BuildKernels::load(cuda, MERGE_PATH.id, unit, |build| merge_path_entry(capacity, build))?;
    let threads = merge_path::threads(capacity) as u32;
    let compiled = if capacity <= 1024 { PATH_FEW_THREADS } else { PATH_THREADS };
    debug_assert!(threads == compiled, "as the kernels are compiled");
    Ok(Box::new(SingleKernelSelector {
        adds: true,
        ..SingleKernelSelector::new(merge_path::resolved(parameters), kernels, threads)
    }))
}

/// Loads `merge-queue`: one warp per query, and as many warps per block as shared memory allows.
pub fn load_merge_queue(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let (sizes, parameters) = merge_queue::resolved(shape.k, parameters);
    let unit = Unit::new("select/merge_queue", 0, 0);
    let kernels = BuildKernels::load(cuda, MERGE_QUEUE.id, unit, merge_queue_entry)?;
    let merge_queue::Sizes { capacity, level, buffer, sorts } = sizes;
    let [capacity, level, buffer] = [capacity, level, buffer].map(|keys| keys as u32);
    let of_warp = 8 * (capacity + buffer);
    let warps = (SHARED_BYTES / of_warp).clamp(1, QUEUE_WARPS);
    Ok(Box::new(SingleKernelSelector {
        rows: warps,
        shared_bytes: warps * of_warp,
        complete: Box::new(move |selection, _| Selection {
            capacity,
            level,
            buffer,
            sorts: u32::from(sorts),
            ..selection
        }),
        ..SingleKernelSelector::new(parameters, kernels, warps * WARP)
    }))
}

/// Loads `partial-bitonic`.
pub fn load_partial_bitonic(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let (storage, parameters) = partial_bitonic::resolved(parameters);
    let capacity = partial_bitonic::capacity(shape.k);
    let option = (storage != Storage::Registers).then_some(("WARPSCOPE_STORAGE", storage as u32));
    let unit = Unit { option, ..Unit::new("select/partial_bitonic", capacity as u32, 0) };
    let kernels =
        BuildKernels::load(cuda, PARTIAL_BITONIC.id, unit, |build| partial_bitonic_entry(capacity, build))?;
    let threads = partial_bitonic::threads(capacity, storage) as u32;
    let in_memory = if capacity <= 512 { PARTIAL_FEW_THREADS } else { PARTIAL_THREADS };
    debug_assert!(storage == Storage::Registers || threads == in_memory, "as the kernels are compiled");
    Ok(Box::new(SingleKernelSelector {
        adds: true,
        ..SingleKernelSelector::new(parameters, kernels, threads)
    }))
}

/// Loads `thread-heap`: a block of one warp for 32 queries.
pub fn load_thread_heap(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let (in_shared, parameters) = thread_heap::resolved(shape.k, parameters);
    let place = if in_shared { "shared" } else { "device" };
    let unit = Unit::new("select/thread_heap", 0, 0);
    let kernels = BuildKernels::load(cuda, THREAD_HEAP.id, unit, |build| thread_heap_entry(place, build))?;
    Ok(Box::new(SingleKernelSelector {
        rows: WARP,
        shared_bytes: if in_shared { size_of::<u64>() as u32 * WARP * shape.k as u32 } else { 0 },
        keys: if in_shared { 0 } else { shape.k },
        complete: Box::new(|selection, heaps| Selection { heaps, ..selection }),
        ..SingleKernelSelector::new(parameters, kernels, WARP)
    }))
}

/// Loads `warp-select`.
pub fn load_warp_select(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let capacity = warp_select::capacity(shape.k) as u32;
    let selector = queues(cuda, WARP_SELECT.id, shape, parameters, SELECT_WARPS, |build| {
        warp_select_entry(capacity, build)
    })?;
    Ok(Box::new(SingleKernelSelector { rows: SELECT_WARPS, ..selector }))
}

/// Loads `block-select`, where the warps of a block share a query.
pub fn load_block_select(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let capacity = warp_select::capacity(shape.k);
    let warps = warp_select::block_select_warps(capacity) as u32;
    let selector =
        queues(cuda, BLOCK_SELECT.id, shape, parameters, warps, |build| block_select_entry(capacity, build))?;
    Ok(Box::new(SingleKernelSelector { shared_bytes: 8 * capacity as u32 * warps / 2, ..selector }))
}

/// A selector by queues of lanes, with `warps` warps per block.
fn queues(
    cuda: &mut Cuda,
    engine: EngineId,
    shape: &Shape,
    parameters: &Parameters,
    warps: u32,
    entry: impl Fn(&'static str) -> String,
) -> Result<SingleKernelSelector, crate::knn::EngineError> {
    let (queue, parameters) = warp_select::resolved(shape.k, parameters);
    let option = (queue != warp_select::default_queue(shape.k)).then_some(("WARPSCOPE_QUEUE", queue as u32));
    let capacity = warp_select::capacity(shape.k) as u32;
    let unit = Unit { option, ..Unit::new("select/warp_select", capacity, 0) };
    let kernels = BuildKernels::load(cuda, engine, unit, entry)?;
    // The warps of a block add to the counts.
    Ok(SingleKernelSelector { adds: true, ..SingleKernelSelector::new(parameters, kernels, warps * WARP) })
}

/// `bits-fused`, which has no matrix.
struct BitsFused {
    layout: Layout,
    warps: u32,
    kernels: BuildKernels,
}

/// Loads `bits-fused`.
pub fn load_bits_fused(cuda: &mut Cuda, shape: &Shape, _parameters: &Parameters) -> Loaded {
    let capacity = bits_fused::capacity(shape.k) as u32;
    let unit = Unit::new("select/bits_fused", capacity, 0);
    let kernels = BuildKernels::load(cuda, BITS_FUSED.id, unit, |build| bits_fused_entry(capacity, build))?;
    // The layout uses this kernel to transpose the points into windows.
    cuda.kernel(BITS_FUSED.id, unit.for_build(KernelBuild::Timed), GROUP_ROWS_ENTRY)?;
    let warps = if capacity <= FUSED_FEW { FUSED_WARPS } else { FUSED_WARPS / 2 };
    let tile = if capacity <= FUSED_NARROW { FUSED_TILE } else { FUSED_TILE / 2 };
    // The layout only uses the window and the tile of this policy.
    let (window, batch) = (FUSED_GROUPS, FUSED_GROUPS * WARP);
    let policy = Policy { warps, queries: FUSED_QUERIES, window, batch, slots: 1, tile, min_blocks: 0 };
    Ok(Box::new(BitsFused { layout: Layout::new(shape.n, shape.d, unit, policy), warps, kernels }))
}

impl DeviceSelector for BitsFused {
    fn parameters(&self) -> Parameters {
        Parameters::default()
    }

    fn source(&self) -> Source {
        Source::OnTheFly { layout: self.layout, queries: (self.warps * FUSED_QUERIES) as usize }
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: KernelBuild) -> DriverResult {
        // Warps begin at a multiple of their queries, so that the counters do not depend on the range.
        let queries = selection.query_count + selection.first_query % FUSED_QUERIES;
        let config = blocks(queries.div_ceil(self.warps * FUSED_QUERIES), self.warps * WARP);
        // SAFETY: the argument is the kernel's parameter; its pointers are to buffers of the search with the
        // sizes that it states.
        unsafe { launch(stream, self.kernels.for_build(build), config, &selection) }
    }
}
