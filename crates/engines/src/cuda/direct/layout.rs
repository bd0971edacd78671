//! The memory layout in which the direct kernel streams its points, and the conversion to it.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg};

use super::{GROUP_ROWS_ENTRY, Policy};
use crate::cuda::Cuda;
use crate::cuda::device::kernels::Kernels;
use crate::cuda::device::points::{Form, row_floats, upload_rows};
use crate::cuda::device::units::Unit;
use crate::knn::Build;

/// Bytes uploaded at a time when the device rearranges the rows.
const UPLOAD: usize = 64 << 20;

/// The point layout of one kernel.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    n: usize,
    d: usize,
    unit: Unit,
    policy: Policy,
}

impl Layout {
    /// The layout for `n` points of `d` dimensions.
    pub fn new(n: usize, d: usize, unit: Unit, policy: Policy) -> Self {
        Self { n, d, unit, policy }
    }

    pub fn form(self) -> Form {
        if self.unit.dims == 0 { Form::Windows { window: self.policy.window, tile: self.policy.tile } } else { Form::Rows }
    }

    fn window(self) -> usize {
        self.policy.window as usize * 32
    }

    /// Dimensions per point in a window, padded to whole tiles.
    fn padded_dims(self) -> usize {
        self.d.next_multiple_of(self.policy.tile as usize)
    }

    /// Floats that the points occupy, including the padding of the last batch.
    pub fn floats(self) -> usize {
        if self.unit.dims == 0 {
            self.n.next_multiple_of(self.window()) * self.padded_dims()
        } else {
            row_floats(self.n, self.d, self.policy.batch as usize)
        }
    }

    /// Floats of scratch memory that the upload needs in addition.
    pub fn scratch_floats(self) -> usize {
        if self.unit.dims == 0 { self.chunk().min(self.n) * self.d } else { 0 }
    }

    /// Rows uploaded at a time: a whole number of windows.
    fn chunk(self) -> usize {
        (UPLOAD / (self.d * 4)).max(1).next_multiple_of(self.window())
    }

    /// Uploads the n × d row-major points and rearranges them, on the engine's stream. `scratch` has
    /// [`Self::scratch_floats`].
    pub fn upload(self, cuda: &mut Cuda, rows: &[f32], points: &mut CudaSlice<f32>, scratch: &mut CudaSlice<f32>) -> Result<(), DriverError> {
        let Self { d, unit, .. } = self;
        let stream = cuda.stream.clone();
        if unit.dims != 0 {
            return upload_rows(&stream, rows, points);
        }
        for (chunk, rows) in rows.chunks(self.chunk() * d).enumerate() {
            stream.memcpy_htod(rows, &mut scratch.slice_mut(..rows.len()))?;
            self.group(&mut cuda.kernels, &stream, scratch, chunk * self.chunk(), rows.len() / d, points)?;
        }
        Ok(())
    }

    /// The points in this layout, from rows that are already on the device; for any d but 2 and 3.
    pub fn arrange(self, kernels: &mut Kernels, stream: &Arc<CudaStream>, rows: &CudaSlice<f32>) -> Result<CudaSlice<f32>, DriverError> {
        assert!(self.unit.dims == 0);
        let mut points = stream.alloc_zeros(self.floats())?;
        self.group(kernels, stream, rows, 0, self.n, &mut points)?;
        Ok(points)
    }

    /// Rearranges `count` rows, starting at point `first`.
    fn group(
        self,
        kernels: &mut Kernels,
        stream: &Arc<CudaStream>,
        rows: &CudaSlice<f32>,
        first: usize,
        count: usize,
        points: &mut CudaSlice<f32>,
    ) -> Result<(), DriverError> {
        let group = kernels.function(self.unit.of_build(Build::Timed), GROUP_ROWS_ENTRY).expect("the search's module was loaded, and holds it");
        let (first, count, n, d, padded) = (first as u32, count as u32, self.n as u32, self.d as u32, self.padded_dims() as u32);
        let config = LaunchConfig { grid_dim: (4096, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
        let mut launch = stream.launch_builder(&group);
        launch.arg(rows).arg(points).arg(&first).arg(&count).arg(&n).arg(&d).arg(&padded);
        // SAFETY: the arguments match the kernel's parameters one by one; the buffers have the sizes that `Self` gives.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_for_whole_batches() {
        let policy = Policy { warps: 8, queries: 4, window: 8, batch: 1024, slots: 4, tile: 16, min_blocks: 0 };
        let rows = Layout::new(1025, 3, Unit::new("direct/warp_knn", 32, 3), policy);
        assert_eq!((rows.floats(), rows.scratch_floats()), (4096 * 3, 0));
        // A batch that does not divide the usual padding, as parameters may ask for.
        for (n, batch) in [(8192, 96), (8192, 3072), (1_048_576, 96), (5000, 16_384)] {
            let floats = Layout::new(n, 2, Unit::new("direct/warp_knn", 32, 2), Policy { window: 3, batch, ..policy }).floats();
            assert!(floats / 2 >= n.next_multiple_of(batch as usize), "n = {n}, batch = {batch}: {floats} floats");
        }
        let windows = Layout::new(257, 17, Unit::new("direct/warp_knn", 32, 0), policy);
        assert_eq!((windows.floats(), windows.scratch_floats()), (512 * 32, 257 * 17));
        assert_eq!(windows.chunk() % 256, 0);
    }
}
