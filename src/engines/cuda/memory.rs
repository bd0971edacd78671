//! A problem in device memory, and its answer.
//!
//! All work goes to one stream, so that its order needs no events; events are there to be timed.

use std::sync::Arc;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DriverError};

use super::Cuda;
use crate::knn::{EngineError, Neighbors, Problem};

/// Left to the driver: kernels, and what each launch takes for itself, in bytes.
const RESERVE: u64 = 64 << 20;

/// What every search keeps on the device.
pub struct Memory {
    /// Data points.
    pub n: usize,
    /// Dimensions.
    pub d: usize,
    /// Neighbours asked for.
    pub k: usize,
    /// Queries.
    pub q: usize,
    /// n × d, row-major, in processing order; then what they were padded with.
    pub points: CudaSlice<f32>,
    /// q × d, row-major.
    pub queries: CudaSlice<f32>,
    /// q × k.
    pub indices: CudaSlice<u32>,
    /// q × k.
    pub squared_distances: CudaSlice<f32>,
    /// How long the upload took.
    pub upload_ms: f64,
    before: CudaEvent,
    after: CudaEvent,
}

impl Memory {
    /// Reserves memory and uploads the problem, its points padded with infinities to `padded`. `extra` is how many bytes
    /// the search will reserve besides.
    ///
    /// # Errors
    /// [`EngineError::Memory`] before anything is reserved, [`EngineError::Device`].
    pub fn upload(cuda: &Cuda, problem: &Problem, padded: usize, extra: u64) -> Result<Self, EngineError> {
        let (n, d, k, q) = (problem.n(), problem.dims(), problem.k(), problem.q());
        let needed = RESERVE + 4 * (padded * d + q * d) as u64 + 8 * (q * k) as u64 + extra;
        // Memory of the search before is given back in the stream's order.
        cuda.stream.synchronize().map_err(|error| cuda.failed(error))?;
        let (free, _) = cuda.context.mem_get_info().map_err(|error| cuda.failed(error))?;
        if needed > free as u64 {
            return Err(EngineError::Memory { needed: needed.div_ceil(1 << 20), free: free as u64 >> 20, device: cuda.device.name.clone() });
        }
        let stream = &cuda.stream;
        // Blocking events let the thread sleep instead of spinning while the GPU works.
        let event = || cuda.context.new_event(Some(CUevent_flags::CU_EVENT_BLOCKING_SYNC));
        let upload = || -> Result<Self, DriverError> {
            let (before, after) = (event()?, event()?);
            // Reserved first: the first reservation of a process takes the driver milliseconds.
            let mut points = stream.alloc_zeros::<f32>(padded * d)?;
            let mut queries = stream.alloc_zeros::<f32>(q * d)?;
            before.record(stream)?;
            stream.memcpy_htod(problem.points(), &mut points.slice_mut(..n * d))?;
            if padded > n {
                stream.memcpy_htod(&vec![f32::INFINITY; (padded - n) * d], &mut points.slice_mut(n * d..))?;
            }
            stream.memcpy_htod(problem.queries(), &mut queries)?;
            after.record(stream)?;
            let indices = stream.alloc_zeros::<u32>(q * k)?;
            let squared_distances = stream.alloc_zeros::<f32>(q * k)?;
            stream.synchronize()?;
            let upload_ms = f64::from(before.elapsed_ms(&after)?);
            Ok(Self { n, d, k, q, points, queries, indices, squared_distances, upload_ms, before, after })
        };
        upload().map_err(|error| cuda.failed(error))
    }

    /// Begins to time what goes to the stream.
    pub fn start(&self, stream: &CudaStream) -> Result<(), DriverError> {
        self.before.record(stream)
    }

    /// Waits until the stream is through, and returns the milliseconds since [`Memory::start`].
    pub fn stop(&self, stream: &CudaStream) -> Result<f64, DriverError> {
        self.after.record(stream)?;
        stream.synchronize()?;
        Ok(f64::from(self.before.elapsed_ms(&self.after)?))
    }

    /// Writes the neighbours of all queries, and returns the milliseconds that took.
    pub fn download(&self, stream: &Arc<CudaStream>, neighbors: &mut Neighbors) -> Result<f64, DriverError> {
        neighbors.k = self.k;
        neighbors.indices.resize(self.q * self.k, 0);
        neighbors.squared_distances.resize(self.q * self.k, 0.0);
        self.start(stream)?;
        stream.memcpy_dtoh(&self.indices, &mut neighbors.indices)?;
        stream.memcpy_dtoh(&self.squared_distances, &mut neighbors.squared_distances)?;
        self.stop(stream)
    }
}
