//! The device memory of a problem and its answer.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DriverError};

use super::points::{DevicePoints, Form};
use super::timer::Timer;
use crate::cuda::Cuda;
use crate::knn::{EngineError, Neighbors, Problem, answer_bytes};

/// Bytes left for the driver: kernels and per-launch allocations.
const RESERVE: u64 = 64 << 20;

/// Device buffers that every search keeps: q queries for k neighbours each among n points in d dimensions.
pub struct Memory {
    pub n: usize,
    pub d: usize,
    pub k: usize,
    pub q: usize,
    /// The points in the layout of this search; shared with other searches through the cache.
    pub points: Arc<DevicePoints>,
    /// Whether the points were already on the device.
    pub resident: bool,
    /// q × d, row-major.
    pub queries: CudaSlice<f32>,
    /// q × k, row-major.
    pub indices: CudaSlice<u32>,
    /// q × k, row-major.
    pub squared_distances: CudaSlice<f32>,
    /// Milliseconds of the upload; excludes points that were already there.
    pub upload_ms: f64,
    /// Times the work submitted to the stream.
    pub timer: Timer,
}

impl Memory {
    /// Reserves memory for a problem and its answer, including `floats` for the points unless they are already there in this
    /// form. `extra` is the number of bytes that the search will reserve in addition.
    ///
    /// # Errors
    /// [`EngineError::Memory`] before anything is reserved, [`EngineError::Device`].
    pub fn reserve(cuda: &Cuda, problem: &Problem, form: Form, floats: usize, extra: u64) -> Result<Self, EngineError> {
        let (n, d, k, q) = (problem.n(), problem.dims(), problem.k(), problem.q());
        let there = problem.cache().get(cuda.device_id, |points: &DevicePoints| points.serve(form, floats));
        if there.is_none() {
            // Points cached in another form: their memory may be needed.
            problem.cache().remove::<DevicePoints>(cuda.device_id);
        }
        let without_answers = RESERVE + 4 * (if there.is_some() { 0 } else { floats } + q * d) as u64 + extra;
        let needed = without_answers.saturating_add(answer_bytes(q, k));
        // The previous search's memory is freed in stream order.
        cuda.stream.synchronize().map_err(|error| cuda.failed(error))?;
        let (free, _) = cuda.context.mem_get_info().map_err(|error| cuda.failed(error))?;
        if needed > free as u64 {
            return Err(EngineError::Memory { needed: needed.div_ceil(1 << 20), free: free as u64 >> 20, device: cuda.device.name.clone() });
        }
        let stream = &cuda.stream;
        let reserve = || -> Result<Self, DriverError> {
            let resident = there.is_some();
            let points = match there {
                Some(points) => points,
                None => Arc::new(DevicePoints { form, floats: stream.alloc_zeros(floats)? }),
            };
            Ok(Self {
                n,
                d,
                k,
                q,
                points,
                resident,
                queries: stream.alloc_zeros(q * d)?,
                indices: stream.alloc_zeros(q * k)?,
                squared_distances: stream.alloc_zeros(q * k)?,
                upload_ms: 0.0,
                timer: Timer::new(&cuda.context)?,
            })
        };
        reserve().map_err(|error| cuda.failed(error))
    }

    /// Uploads the problem. `points` uploads the points in the wanted form; it is called only if they are not there yet.
    pub fn upload(
        &mut self,
        cuda: &mut Cuda,
        problem: &Problem,
        points: impl FnOnce(&mut Cuda, &mut CudaSlice<f32>) -> Result<(), DriverError>,
    ) -> Result<(), DriverError> {
        let stream = cuda.stream.clone();
        self.timer.start(&stream)?;
        if let (false, Some(fresh)) = (self.resident, Arc::get_mut(&mut self.points)) {
            points(cuda, &mut fresh.floats)?;
        }
        stream.memcpy_htod(problem.queries(), &mut self.queries)?;
        self.upload_ms = self.timer.stop(&stream)?;
        if !self.resident {
            problem.cache().insert(cuda.device_id, Arc::clone(&self.points));
        }
        Ok(())
    }

    /// Switches this search to points in another form; other searches keep theirs.
    pub fn rearrange(&mut self, form: Form, floats: CudaSlice<f32>) {
        self.points = Arc::new(DevicePoints { form, floats });
    }

    /// Copies out the neighbours of all queries and returns the elapsed milliseconds.
    pub fn download(&self, stream: &Arc<CudaStream>, neighbors: &mut Neighbors) -> Result<f64, DriverError> {
        neighbors.k = self.k;
        neighbors.indices.resize(self.q * self.k, 0);
        neighbors.squared_distances.resize(self.q * self.k, 0.0);
        self.timer.start(stream)?;
        stream.memcpy_dtoh(&self.indices, &mut neighbors.indices)?;
        stream.memcpy_dtoh(&self.squared_distances, &mut neighbors.squared_distances)?;
        self.timer.stop(stream)
    }
}
