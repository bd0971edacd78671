//! A tile of the matrix of squared distances: all distances of some queries.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, LaunchConfig};

use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::{self, SearchBuffers};
use crate::cuda::device::units::Unit;
use crate::cuda::interface::select::{
    DISTANCE_THREADS, Distances, NAIVE_POINTS, REGISTER_SIDE, TILE_SIDE, distances_entry,
};

/// The most bytes of a tile.
pub(super) const MAX_BYTES: usize = 4 << 30;

/// Maximum number of blocks along a grid's second axis.
const MAX_BLOCKS: usize = 65_535;

/// Rows of a tile are padded to a multiple of this, so that they can be read as vectors of four floats.
const VECTOR: usize = 4;

/// How the distances are computed, by the rule that all engines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistanceKernel {
    Naive,
    Tiles,
    Registers,
}

impl DistanceKernel {
    /// The kernel for a parameter's value.
    pub fn named(word: &str) -> Self {
        match word {
            "naive" => Self::Naive,
            "tiles" => Self::Tiles,
            _ => Self::Registers,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Tiles => "tiles",
            Self::Registers => "registers",
        }
    }

    /// The grid for the distances of `queries` queries to `points` points.
    fn grid(self, points: u32, queries: u32) -> (u32, u32, u32) {
        match self {
            Self::Naive => (points.div_ceil(NAIVE_POINTS), queries, 1),
            Self::Tiles => (points.div_ceil(TILE_SIDE), queries.div_ceil(TILE_SIDE), 1),
            Self::Registers => (points.div_ceil(REGISTER_SIDE) * queries.div_ceil(REGISTER_SIDE), 1, 1),
        }
    }
}

/// The tile, and the kernel that fills it.
pub struct Matrix {
    kernel: DistanceKernel,
    function: CudaFunction,
    /// Floats per row, with padding.
    pub pitch: usize,
    /// Rows of the tile.
    pub rows: usize,
    distances: Option<CudaSlice<f32>>,
}

impl Matrix {
    /// A tile for n points and q queries, where each row needs another `row_bytes`. Both use at most half of
    /// the free memory after subtracting `others`: the bytes of points, queries and answers, which are
    /// reserved later.
    ///
    /// # Errors
    /// Why the kernel is unavailable.
    pub fn new(
        cuda: &mut Cuda,
        kernel: DistanceKernel,
        n: usize,
        q: usize,
        row_bytes: usize,
        others: usize,
    ) -> Result<Self, String> {
        let function =
            cuda.kernels.function(Unit::new(super::DISTANCES, 0, 0), &distances_entry(kernel.word()))?;
        let free = (cuda.free().unwrap_or(0) as usize).saturating_sub(others);
        let pitch = n.next_multiple_of(VECTOR);
        let rows = (MAX_BYTES / (4 * pitch))
            .min(free / 2 / (4 * pitch + row_bytes))
            .clamp(1, q.clamp(1, MAX_BLOCKS));
        Ok(Self { kernel, function, pitch, rows, distances: None })
    }

    /// Bytes of the tile.
    pub fn bytes(&self) -> usize {
        4 * self.pitch * self.rows
    }

    /// Reserves the tile.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn reserve(&mut self, stream: &Arc<CudaStream>) -> DriverResult {
        // SAFETY: uninitialised memory, written before it is read.
        self.distances = Some(unsafe { stream.alloc(self.pitch * self.rows) }?);
        Ok(())
    }

    /// The first rows of the tile, as a kernel argument.
    pub fn tile(
        &mut self,
        stream: &Arc<CudaStream>,
        memory: &SearchBuffers,
        first_query: usize,
        count: usize,
    ) -> Distances {
        Distances {
            points: memory.points.floats.device_ptr(stream).0,
            queries: memory.queries.device_ptr(stream).0,
            n: memory.n as u32,
            d: memory.d as u32,
            first_query: first_query as u32,
            query_count: count as u32,
            distances: self
                .distances
                .as_mut()
                .expect("the tile is reserved with the search")
                .device_ptr_mut(stream)
                .0,
            pitch: self.pitch as u64,
            ..Distances::default()
        }
    }

    /// Queues the kernel that fills the first rows of the tile; returns the tile's address.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn fill(
        &mut self,
        stream: &Arc<CudaStream>,
        memory: &SearchBuffers,
        first_query: usize,
        count: usize,
    ) -> DriverResult<u64> {
        let tile = self.tile(stream, memory, first_query, count);
        launch(stream, &self.function, &tile, self.kernel)?;
        Ok(tile.distances)
    }
}

/// Queues a kernel that fills a tile with the launch parameters of `like`.
///
/// # Errors
/// Those of the driver.
pub fn launch(
    stream: &Arc<CudaStream>,
    function: &CudaFunction,
    tile: &Distances,
    like: DistanceKernel,
) -> DriverResult {
    let grid_dim = like.grid(tile.pitch as u32, tile.query_count);
    let config = LaunchConfig { grid_dim, block_dim: (DISTANCE_THREADS, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the argument is the kernel's parameter; its pointers are to buffers of a search with the sizes
    // that it states.
    unsafe { memory::launch(stream, function, config, tile) }
}
