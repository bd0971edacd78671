//! The launches of `warp-select` and `block-select`.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg, result};

use super::DeviceSelector;
use super::interface::{COUNTS, SELECT_WARPS, Selection, block_select_entry, warp_select_entry};
use crate::cuda::Cuda;
use crate::cuda::device::units::{Unit, build_name};
use crate::knn::{Build, EngineError, Parameters, Shape};
use crate::select::warp_select::{block_select_warps, capacity, default_queue, resolved};
use crate::select::{BLOCK_SELECT, WARP_SELECT};

/// Lanes of a warp.
const WARP: u32 = 32;

struct WarpSelect {
    parameters: Parameters,
    /// Whether the warps of a block share a query.
    is_block: bool,
    /// Of a block.
    warps: u32,
    shared_bytes: u32,
    kernels: [CudaFunction; 2],
}

/// Loads `warp-select`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_warp_select(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    load(cuda, shape, parameters, false)
}

/// Loads `block-select`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_block_select(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    load(cuda, shape, parameters, true)
}

fn load(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters, is_block: bool) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let engine = if is_block { BLOCK_SELECT.id } else { WARP_SELECT.id };
    let (queue, parameters) = resolved(shape.k, parameters);
    let capacity = capacity(shape.k) as u32;
    let option = (queue != default_queue(shape.k)).then_some(("WARPSCOPE_QUEUE", queue as u32));
    let unit = Unit { option, ..Unit::new("select/warp_select", capacity, 0) };
    let mut kernel = |build: Build| {
        let name = if is_block { block_select_entry(capacity, build_name(build)) } else { warp_select_entry(capacity, build_name(build)) };
        cuda.kernels.function(unit.of_build(build), &name).map_err(|why| EngineError::Unavailable { engine, why })
    };
    let kernels = [kernel(Build::Timed)?, kernel(Build::Counted)?];
    let warps = if is_block { block_select_warps(capacity as usize) as u32 } else { SELECT_WARPS };
    let shared_bytes = if is_block { 8 * capacity * warps / 2 } else { 0 };
    Ok(Box::new(WarpSelect { parameters, is_block, warps, shared_bytes, kernels }))
}

impl DeviceSelector for WarpSelect {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        let rows = selection.query_count;
        let blocks = if self.is_block { rows } else { rows.div_ceil(self.warps) };
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (self.warps * WARP, 1, 1), shared_mem_bytes: self.shared_bytes };
        if build == Build::Counted {
            // The warps of a block add to them.
            let bytes = 4 * (COUNTS * rows) as usize;
            // SAFETY: the buffer of counts has as many for each row of the selection.
            unsafe { result::memset_d8_async(selection.counts, 0, bytes, stream.cu_stream()) }?;
        }
        let kernel = &self.kernels[usize::from(build == Build::Counted)];
        // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(kernel).arg(&selection).launch(config) }.map(drop)
    }
}
