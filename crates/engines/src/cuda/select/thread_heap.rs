//! The launches of `thread-heap`: a block of one warp for 32 queries.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::DeviceSelector;
use super::interface::{Selection, thread_heap_entry};
use crate::cuda::Cuda;
use crate::cuda::device::units::{Unit, build_name};
use crate::knn::{Build, EngineError, Parameters, Shape};
use crate::select::{THREAD_HEAP, thread_heap};

/// Lanes of a warp, and queries of a block.
const WARP: u32 = 32;

struct ThreadHeap {
    k: usize,
    parameters: Parameters,
    in_shared: bool,
    /// k keys of each row of a tile, where they are in device memory.
    heaps: Option<CudaSlice<u64>>,
    kernels: [CudaFunction; 2],
}

/// Loads `thread-heap`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_thread_heap(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let (in_shared, parameters) = thread_heap::resolved(shape.k, parameters);
    let unit = Unit::new("select/thread_heap", 0, 0);
    let place = if in_shared { "shared" } else { "device" };
    let mut kernel = |build: Build| {
        let kernel = cuda.kernels.function(unit.of_build(build), &thread_heap_entry(place, build_name(build)));
        kernel.map_err(|why| EngineError::Unavailable { engine: THREAD_HEAP.id, why })
    };
    let kernels = [kernel(Build::Timed)?, kernel(Build::Counted)?];
    Ok(Box::new(ThreadHeap { k: shape.k, parameters, in_shared, heaps: None, kernels }))
}

impl DeviceSelector for ThreadHeap {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn row_bytes(&self) -> usize {
        if self.in_shared { 0 } else { size_of::<u64>() * self.k }
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> Result<(), DriverError> {
        if !self.in_shared {
            // SAFETY: uninitialised memory, written before it is read.
            self.heaps = Some(unsafe { stream.alloc(self.k * rows) }?);
        }
        Ok(())
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        let selection = Selection { heaps: self.heaps.as_mut().map_or(0, |heaps| heaps.device_ptr_mut(stream).0), ..selection };
        let shared_mem_bytes = if self.in_shared { size_of::<u64>() as u32 * WARP * selection.k } else { 0 };
        let config = LaunchConfig { grid_dim: (selection.query_count.div_ceil(WARP), 1, 1), block_dim: (WARP, 1, 1), shared_mem_bytes };
        let kernel = &self.kernels[usize::from(build == Build::Counted)];
        // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says, and to heaps
        // of as many rows as a tile has.
        unsafe { stream.launch_builder(kernel).arg(&selection).launch(config) }.map(drop)
    }
}
