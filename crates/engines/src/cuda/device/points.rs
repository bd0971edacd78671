//! Points on the device and the upload of their rows.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DriverError};

/// Rows are padded to a multiple of this, the largest batch, so that the kernels for every k can read them.
const MOST_BATCH: usize = 4096;

/// The memory layout of the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Row-major, padded with infinity.
    Rows,
    /// Row-major, in the order of the nodes of a k-d tree.
    Nodes,
    /// Window by window, in the streaming order of a kernel with this window and tile.
    Windows {
        /// Groups in a window.
        window: u32,
        /// Dimensions in a tile.
        tile: u32,
    },
}

/// Points on the device; they stay there as long as [`Problem::cache`](crate::knn::Problem::cache) holds them.
pub struct DevicePoints {
    pub form: Form,
    /// The coordinates, including the padding of the last batch.
    pub floats: CudaSlice<f32>,
}

impl DevicePoints {
    /// Whether these points suit a search; the buffer may be larger than it needs.
    pub fn serve(&self, form: Form, floats: usize) -> bool {
        self.form == form && self.floats.len() >= floats
    }
}

/// Floats that n rows of d dimensions occupy, including the padding for kernels that stream rows: they read whole batches, and
/// `batch` need not divide [`MOST_BATCH`].
pub fn row_floats(n: usize, d: usize, batch: usize) -> usize {
    // For other d, no kernel streams whole rows.
    if d == 2 || d == 3 { n.next_multiple_of(batch).max(n.next_multiple_of(MOST_BATCH)) * d } else { n * d }
}

/// Uploads rows and appends infinity as padding.
pub fn upload_rows(stream: &Arc<CudaStream>, rows: &[f32], points: &mut CudaSlice<f32>) -> Result<(), DriverError> {
    stream.memcpy_htod(rows, &mut points.slice_mut(..rows.len()))?;
    let padding = vec![f32::INFINITY; points.len() - rows.len()];
    if padding.is_empty() { Ok(()) } else { stream.memcpy_htod(&padding, &mut points.slice_mut(rows.len()..)) }
}
