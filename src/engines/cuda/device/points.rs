//! Points on the device, and how their rows get there.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DriverError};

/// The batches that rows are filled up to, so that the kernels of every k find them as they want them.
const MOST_BATCH: usize = 4096;

/// In what order the numbers of the points lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Row by row, with infinity behind the last.
    Rows,
    /// Window by window, as a kernel of these groups a window and dimensions a tile streams them.
    Windows {
        /// Groups.
        window: u32,
        /// Dimensions.
        tile: u32,
    },
}

/// Points on the device, where they stay as long as [`Problem::cache`](crate::knn::Problem::cache) holds them.
pub struct DevicePoints {
    /// In what order.
    pub form: Form,
    /// With what fills up the last batch.
    pub floats: CudaSlice<f32>,
}

impl DevicePoints {
    /// Whether a search finds what it wants here: there may be more behind it.
    pub fn serve(&self, form: Form, floats: usize) -> bool {
        self.form == form && self.floats.len() >= floats
    }
}

/// What n rows of d dimensions take, in floats, with what fills up the last batch of the kernels that stream rows.
pub fn row_floats(n: usize, d: usize, batch: usize) -> usize {
    // Other kernels read rows of two or three dimensions only.
    if d == 2 || d == 3 { n.next_multiple_of(batch.max(MOST_BATCH)) * d } else { n * d }
}

/// Uploads rows, and infinity behind them.
pub fn upload_rows(stream: &Arc<CudaStream>, rows: &[f32], points: &mut CudaSlice<f32>) -> Result<(), DriverError> {
    stream.memcpy_htod(rows, &mut points.slice_mut(..rows.len()))?;
    let padding = vec![f32::INFINITY; points.len() - rows.len()];
    if padding.is_empty() { Ok(()) } else { stream.memcpy_htod(&padding, &mut points.slice_mut(rows.len()..)) }
}
