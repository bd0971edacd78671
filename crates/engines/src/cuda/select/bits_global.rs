//! The launches of `bits-global`.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::DeviceSelector;
use super::interface::{GLOBAL_KEPT, GLOBAL_THREADS, Selection, bits_global_entry};
use crate::cuda::Cuda;
use crate::cuda::device::units::{Unit, build_name};
use crate::knn::{Build, EngineError, Parameters, Shape};
use crate::select::bits::sample_of;
use crate::select::bits_global::resolved;
use crate::select::{BITS_GLOBAL, Sample};

struct BitsGlobal {
    sample: Sample,
    parameters: Parameters,
    kernels: [CudaFunction; 2],
    /// What is kept of each row of a tile.
    kept: Option<CudaSlice<u64>>,
}

/// Loads `bits-global`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_bits_global(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let unit = Unit::new("select/bits_global", 0, 0);
    let mut kernel = |build: Build| {
        let function = cuda.kernels.function(unit.of_build(build), &bits_global_entry(build_name(build)));
        function.map_err(|why| EngineError::Unavailable { engine: BITS_GLOBAL.id, why })
    };
    let kernels = [kernel(Build::Timed)?, kernel(Build::Counted)?];
    let sample = sample_of(shape, parameters, 1);
    Ok(Box::new(BitsGlobal { sample, parameters: resolved(sample, parameters), kernels, kept: None }))
}

impl DeviceSelector for BitsGlobal {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn row_bytes(&self) -> usize {
        8 * GLOBAL_KEPT as usize
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> Result<(), DriverError> {
        // SAFETY: uninitialised memory, written before it is read.
        self.kept = Some(unsafe { stream.alloc(rows * GLOBAL_KEPT as usize) }?);
        Ok(())
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        let selection = Selection {
            sampled: self.sample.rank as u32,
            minima: self.sample.minima as u32,
            group: self.sample.group as u32,
            kept: self.kept.as_mut().expect("it is reserved with the search").device_ptr_mut(stream).0,
            ..selection
        };
        let kernel = &self.kernels[usize::from(build == Build::Counted)];
        let config = LaunchConfig { grid_dim: (selection.query_count, 1, 1), block_dim: (GLOBAL_THREADS, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(kernel).arg(&selection).launch(config) }.map(drop)
    }
}
