//! The launch that writes down what a search does, in the place of counting it.

use cudarc::driver::{DevicePtr, DevicePtrMut, LaunchConfig, PushKernelArg};

use super::interface::{TRAVERSE_WARPS, Traversal, traverse_entry};
use super::search::{BvhSearch, unit};
use crate::cuda::device::units::{Builds, Unit};
use crate::index::BVH;
use crate::knn::{EngineError, Problem};

impl BvhSearch<'_> {
    /// Searches for one query of the problem with the traced kernel, and returns the words that it wrote; `room` of them have room at
    /// first. NVRTC compiles it on demand.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] if the kernel cannot be compiled, [`EngineError::Memory`], [`EngineError::HostMemory`],
    /// [`EngineError::Device`].
    pub fn trace(&mut self, problem: &Problem, query: usize, room: usize) -> Result<Vec<u32>, EngineError> {
        let unit = Unit { builds: Builds::Traced, ..unit(problem) };
        let kernel = self.cuda.kernels.function(unit, &traverse_entry(unit.capacity, unit.dims, "traced"));
        let kernel = kernel.map_err(|why| EngineError::Unavailable { engine: BVH.id, why })?;
        let cuda = &*self.cuda;
        let (stream, memory) = (&cuda.stream, &mut self.memory);
        let search = Traversal {
            tree: self.tree.arguments(stream),
            queries: memory.queries.device_ptr(stream).0,
            order: 0,
            frame: self.tree.device_frame(stream),
            in_leaves: 0,
            k: memory.k as u32,
            first_query: query as u32,
            query_count: 1,
            indices: memory.indices.device_ptr_mut(stream).0,
            squared_distances: memory.squared_distances.device_ptr_mut(stream).0,
            visits: 0,
        };
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32 * TRAVERSE_WARPS, 1, 1), shared_mem_bytes: 0 };
        cuda.record(problem, room, |trace| {
            // SAFETY: these are the kernel's parameters; their pointers are to buffers that are as long as they say.
            unsafe { stream.launch_builder(&kernel).arg(&search).arg(&trace).launch(config) }.map(drop)
        })
    }
}
