//! The launches of `merge-queue`: a warp a query, as many in a block as shared memory has room for.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg};

use super::DeviceSelector;
use super::interface::{QUEUE_WARPS, Selection, merge_queue_entry};
use crate::cuda::Cuda;
use crate::cuda::device::units::{Unit, build_name};
use crate::knn::{Build, EngineError, Parameters, Shape};
use crate::select::{MERGE_QUEUE, merge_queue};

/// Lanes of a warp.
const WARP: u32 = 32;

/// Bytes of shared memory that every GPU gives a block unasked.
const SHARED_BYTES: u32 = 48 << 10;

struct MergeQueue {
    sizes: merge_queue::Sizes,
    parameters: Parameters,
    kernels: [CudaFunction; 2],
}

/// Loads `merge-queue`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_merge_queue(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let (sizes, parameters) = merge_queue::resolved(shape.k, parameters);
    let unit = Unit::new("select/merge_queue", 0, 0);
    let mut kernel = |build: Build| {
        let kernel = cuda.kernels.function(unit.of_build(build), &merge_queue_entry(build_name(build)));
        kernel.map_err(|why| EngineError::Unavailable { engine: MERGE_QUEUE.id, why })
    };
    let kernels = [kernel(Build::Timed)?, kernel(Build::Counted)?];
    Ok(Box::new(MergeQueue { sizes, parameters, kernels }))
}

impl DeviceSelector for MergeQueue {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        let merge_queue::Sizes { capacity, level, buffer, sorts } = self.sizes;
        let selection = Selection { capacity: capacity as u32, level: level as u32, buffer: buffer as u32, sorts: u32::from(sorts), ..selection };
        let of_warp = 8 * (selection.capacity + selection.buffer);
        let warps = (SHARED_BYTES / of_warp).clamp(1, QUEUE_WARPS);
        let blocks = selection.query_count.div_ceil(warps);
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (warps * WARP, 1, 1), shared_mem_bytes: warps * of_warp };
        let kernel = &self.kernels[usize::from(build == Build::Counted)];
        // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(kernel).arg(&selection).launch(config) }.map(drop)
    }
}
