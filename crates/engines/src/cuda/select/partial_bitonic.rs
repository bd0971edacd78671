//! The launches of `partial-bitonic`.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg, result};

use super::DeviceSelector;
use super::interface::{COUNTS, PARTIAL_FEW_THREADS, PARTIAL_THREADS, Selection, partial_bitonic_entry};
use crate::cuda::Cuda;
use crate::cuda::device::units::{Unit, build_name};
use crate::knn::{Build, EngineError, Parameters, Shape};
use crate::select::{
    PARTIAL_BITONIC,
    partial_bitonic::{Storage, capacity, resolved, threads},
};

struct PartialBitonic {
    parameters: Parameters,
    threads: u32,
    kernels: [CudaFunction; 2],
}

/// Loads `partial-bitonic`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_partial_bitonic(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let (storage, parameters) = resolved(parameters);
    let capacity = capacity(shape.k);
    let option = (storage != Storage::Registers).then_some(("WARPSCOPE_STORAGE", storage as u32));
    let unit = Unit { option, ..Unit::new("select/partial_bitonic", capacity as u32, 0) };
    let mut kernel = |build: Build| {
        let function = cuda.kernels.function(unit.of_build(build), &partial_bitonic_entry(capacity, build_name(build)));
        function.map_err(|why| EngineError::Unavailable { engine: PARTIAL_BITONIC.id, why })
    };
    let kernels = [kernel(Build::Timed)?, kernel(Build::Counted)?];
    let threads = threads(capacity, storage) as u32;
    let in_memory = if capacity <= 512 { PARTIAL_FEW_THREADS } else { PARTIAL_THREADS };
    debug_assert!(storage == Storage::Registers || threads == in_memory, "as the kernels are compiled");
    Ok(Box::new(PartialBitonic { parameters, threads, kernels }))
}

impl DeviceSelector for PartialBitonic {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        let rows = selection.query_count;
        let config = LaunchConfig { grid_dim: (rows, 1, 1), block_dim: (self.threads, 1, 1), shared_mem_bytes: 0 };
        if build == Build::Counted {
            // The teams of a block add to them.
            let bytes = 4 * (COUNTS * rows) as usize;
            // SAFETY: the buffer of counts has as many for each row of the selection.
            unsafe { result::memset_d8_async(selection.counts, 0, bytes, stream.cu_stream()) }?;
        }
        let kernel = &self.kernels[usize::from(build == Build::Counted)];
        // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(kernel).arg(&selection).launch(config) }.map(drop)
    }
}
