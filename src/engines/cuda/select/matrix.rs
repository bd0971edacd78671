//! A tile of the matrix of squared distances: all distances of some queries.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::interface::{DISTANCE_THREADS, Distances, NAIVE_POINTS, REGISTER_SIDE, TILE_SIDE, distances_entry};
use crate::engines::cuda::Cuda;
use crate::engines::cuda::device::memory::Memory;
use crate::engines::cuda::device::units::Unit;

/// The most bytes of a tile.
const MOST_BYTES: usize = 4 << 30;

/// Maximum number of blocks along a grid's second axis.
const MOST_BLOCKS: usize = 65_535;

/// Rows of a tile are a multiple of as many floats, so that they are read four at a time.
const VECTOR: usize = 4;

/// How the distances are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Naive,
    Tiles,
    Registers,
}

/// The tile, and how it is filled.
pub struct Matrix {
    kernel: Kernel,
    function: CudaFunction,
    /// Floats from one row to the next.
    pub pitch: usize,
    /// Rows of the tile.
    pub rows: usize,
    distances: Option<CudaSlice<f32>>,
}

impl Matrix {
    /// A tile for so many points and queries, where each row needs `row_bytes` more; both take at most half of the free memory.
    ///
    /// # Errors
    /// Why the kernel is not there.
    pub fn new(cuda: &mut Cuda, how: &str, n: usize, q: usize, row_bytes: usize) -> Result<Self, String> {
        let kernel = match how {
            "naive" => Kernel::Naive,
            "tiles" => Kernel::Tiles,
            _ => Kernel::Registers,
        };
        let function = cuda.kernels.function(Unit::new(super::DISTANCES, 0, 0), &distances_entry(how))?;
        let free = cuda.context.mem_get_info().map_or(0, |(free, _)| free);
        let pitch = n.next_multiple_of(VECTOR);
        let rows = (MOST_BYTES / (4 * pitch)).min(free / 2 / (4 * pitch + row_bytes)).clamp(1, q.clamp(1, MOST_BLOCKS));
        Ok(Self { kernel, function, pitch, rows, distances: None })
    }

    /// Bytes of the tile.
    pub fn bytes(&self) -> usize {
        4 * self.pitch * self.rows
    }

    /// Reserves the tile.
    ///
    /// # Errors
    /// The driver's.
    pub fn reserve(&mut self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        // SAFETY: uninitialised memory, written before it is read.
        self.distances = Some(unsafe { stream.alloc(self.pitch * self.rows) }?);
        Ok(())
    }

    /// Queues the kernel that fills the first rows of the tile, and gives the tile's address.
    ///
    /// # Errors
    /// The driver's.
    pub fn fill(&mut self, stream: &Arc<CudaStream>, memory: &Memory, first_query: usize, count: usize) -> Result<u64, DriverError> {
        let distances = self.distances.as_mut().expect("the tile is reserved with the search").device_ptr_mut(stream).0;
        let tile = Distances {
            points: memory.points.floats.device_ptr(stream).0,
            queries: memory.queries.device_ptr(stream).0,
            n: memory.n as u32,
            d: memory.d as u32,
            first_query: first_query as u32,
            query_count: count as u32,
            distances,
            pitch: self.pitch as u64,
        };
        let [points, queries] = match self.kernel {
            Kernel::Naive => [NAIVE_POINTS, 1],
            Kernel::Tiles => [TILE_SIDE; 2],
            Kernel::Registers => [REGISTER_SIDE; 2],
        };
        let grid_dim = ((self.pitch as u32).div_ceil(points), (count as u32).div_ceil(queries), 1);
        let config = LaunchConfig { grid_dim, block_dim: (DISTANCE_THREADS, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the argument is the kernel's parameter; its pointers are to this search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(&self.function).arg(&tile).launch(config) }?;
        Ok(distances)
    }
}
