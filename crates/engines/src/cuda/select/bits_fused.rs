//! The launches of `bits-fused`, which has no matrix.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg};

use super::interface::{FUSED_FEW, FUSED_GROUPS, FUSED_NARROW, FUSED_QUERIES, FUSED_TILE, FUSED_WARPS, Selection, bits_fused_entry};
use super::{DeviceSelector, Source};
use crate::cuda::Cuda;
use crate::cuda::device::units::{Unit, build_name};
use crate::cuda::direct::{GROUP_ROWS_ENTRY, Layout, Policy};
use crate::knn::{Build, EngineError, Parameters, Shape};
use crate::select::{BITS_FUSED, bits_fused::capacity};

/// Lanes of a warp.
const WARP: u32 = 32;

struct BitsFused {
    layout: Layout,
    /// Of a block.
    warps: u32,
    kernels: [CudaFunction; 2],
}

/// Loads `bits-fused`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_bits_fused(cuda: &mut Cuda, shape: &Shape, _parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let capacity = capacity(shape.k) as u32;
    let unit = Unit::new("select/bits_fused", capacity, 0);
    let mut function = |build: Build, name: &str| {
        cuda.kernels.function(unit.of_build(build), name).map_err(|why| EngineError::Unavailable { engine: BITS_FUSED.id, why })
    };
    let mut kernel = |build: Build| function(build, &bits_fused_entry(capacity, build_name(build)));
    let kernels = [kernel(Build::Timed)?, kernel(Build::Counted)?];
    // The layout brings the points into windows by it.
    function(Build::Timed, GROUP_ROWS_ENTRY)?;
    let warps = if capacity <= FUSED_FEW { FUSED_WARPS } else { FUSED_WARPS / 2 };
    let tile = if capacity <= FUSED_NARROW { FUSED_TILE } else { FUSED_TILE / 2 };
    // Of these the layout needs the window and the tile.
    let policy = Policy { warps, queries: FUSED_QUERIES, window: FUSED_GROUPS, batch: FUSED_GROUPS * WARP, slots: 1, tile, min_blocks: 0 };
    Ok(Box::new(BitsFused { layout: Layout::new(shape.n, shape.d, unit, policy), warps, kernels }))
}

impl DeviceSelector for BitsFused {
    fn parameters(&self) -> Parameters {
        Parameters::default()
    }

    fn source(&self) -> Source {
        Source::OnTheFly { layout: self.layout, queries: (self.warps * FUSED_QUERIES) as usize }
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        // Warps begin at a multiple of their queries, so that what is counted does not depend on the range.
        let queries = selection.query_count + selection.first_query % FUSED_QUERIES;
        let kernel = &self.kernels[usize::from(build == Build::Counted)];
        let grid_dim = (queries.div_ceil(self.warps * FUSED_QUERIES), 1, 1);
        let config = LaunchConfig { grid_dim, block_dim: (self.warps * WARP, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(kernel).arg(&selection).launch(config) }.map(drop)
    }
}
