//! The launches of `merge-path`.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg, result};

use super::DeviceSelector;
use super::interface::{COUNTS, PATH_FEW_THREADS, PATH_THREADS, Selection, merge_path_entry};
use crate::cuda::Cuda;
use crate::cuda::device::units::{Unit, build_name};
use crate::knn::{Build, EngineError, Parameters, Shape};
use crate::select::{
    MERGE_PATH,
    merge_path::{capacity, resolved, threads},
};

struct MergePath {
    parameters: Parameters,
    threads: u32,
    kernels: [CudaFunction; 2],
}

/// Loads `merge-path`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_merge_path(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let capacity = capacity(shape.k);
    let unit = Unit::new("select/merge_path", capacity as u32, 0);
    let mut kernel = |build: Build| {
        let function = cuda.kernels.function(unit.of_build(build), &merge_path_entry(capacity, build_name(build)));
        function.map_err(|why| EngineError::Unavailable { engine: MERGE_PATH.id, why })
    };
    let kernels = [kernel(Build::Timed)?, kernel(Build::Counted)?];
    let threads = threads(capacity) as u32;
    debug_assert!(threads == if capacity <= 1024 { PATH_FEW_THREADS } else { PATH_THREADS }, "as the kernels are compiled");
    Ok(Box::new(MergePath { parameters: resolved(parameters), threads, kernels }))
}

impl DeviceSelector for MergePath {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        let rows = selection.query_count;
        let config = LaunchConfig { grid_dim: (rows, 1, 1), block_dim: (self.threads, 1, 1), shared_mem_bytes: 0 };
        if build == Build::Counted {
            // The threads of a block add to them.
            let bytes = 4 * (COUNTS * rows) as usize;
            // SAFETY: the buffer of counts has as many for each row of the selection.
            unsafe { result::memset_d8_async(selection.counts, 0, bytes, stream.cu_stream()) }?;
        }
        let kernel = &self.kernels[usize::from(build == Build::Counted)];
        // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(kernel).arg(&selection).launch(config) }.map(drop)
    }
}
