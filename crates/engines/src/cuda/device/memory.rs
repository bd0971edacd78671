//! The device memory of a problem and its answer (points in some layout, queries, neighbours), and the timing
//! of work on a stream.
//!
//! A search submits all its work to one stream, which orders it; events are only used for timing.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys::{CUdeviceptr, CUevent_flags};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr,
    LaunchConfig, PushKernelArg,
};

use crate::Result;
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::knn::{EngineError, Neighbors, Problem, answer_bytes};

/// Rows are padded to a multiple of this, the largest batch, so that the kernels for every k can read them.
const MAX_BATCH: usize = 4096;

/// The memory layout of the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointLayout {
    /// Row-major, padded with infinity.
    Rows,
    /// Row-major, in the order of the nodes of a k-d tree.
    Nodes,
    /// Window by window, in the streaming order of a kernel with this window and tile.
    Windows {
        /// Groups per window.
        window: u32,
        /// Dimensions per tile.
        tile: u32,
    },
}

/// Points on the device, stored in [`Problem::cache`](crate::knn::Problem::cache).
pub struct DevicePoints {
    pub form: PointLayout,
    /// The coordinates, including the padding of the last batch.
    pub floats: CudaSlice<f32>,
}

impl DevicePoints {
    /// Whether these points suit a search; the buffer may be larger than necessary.
    pub fn fits(&self, form: PointLayout, floats: usize) -> bool {
        self.form == form && self.floats.len() >= floats
    }
}

/// Floats that n rows of d dimensions occupy, including the padding for kernels that stream rows: they read
/// whole batches, and `batch` need not divide [`MAX_BATCH`].
pub fn row_floats(n: usize, d: usize, batch: usize) -> usize {
    // For other d, no kernel streams whole rows.
    if d == 2 || d == 3 { n.next_multiple_of(batch).max(n.next_multiple_of(MAX_BATCH)) * d } else { n * d }
}

/// Uploads rows and appends infinity as padding.
pub fn upload_rows(cuda: &mut Cuda, rows: &[f32], points: &mut CudaSlice<f32>) -> DriverResult {
    let Cuda { pipe, stream, .. } = cuda;
    pipe.upload(stream, rows, points)?;
    let padding = vec![f32::INFINITY; points.len() - rows.len()];
    if padding.is_empty() {
        Ok(())
    } else {
        stream.memcpy_htod(&padding, &mut points.slice_mut(rows.len()..))
    }
}

/// Times work by the device's own clock, with a pair of events before and after it.
pub struct Timer {
    before: CudaEvent,
    after: CudaEvent,
}

impl Timer {
    /// Creates the events; they work with any stream of the context.
    pub fn new(context: &Arc<CudaContext>) -> DriverResult<Self> {
        // Blocking events let the thread sleep instead of spin while the GPU works.
        let event = || context.new_event(Some(CUevent_flags::CU_EVENT_BLOCKING_SYNC));
        Ok(Self { before: event()?, after: event()? })
    }

    /// Starts timing the work submitted from here on.
    pub fn start(&self, stream: &CudaStream) -> DriverResult {
        self.before.record(stream)
    }

    /// Waits for the stream to finish and returns the milliseconds since [`Timer::start`].
    pub fn stop(&self, stream: &CudaStream) -> DriverResult<f64> {
        self.after.record(stream)?;
        stream.synchronize()?;
        Ok(f64::from(self.before.elapsed_ms(&self.after)?))
    }
}

/// Bytes left for the driver: kernels and per-launch allocations.
pub const RESERVE: u64 = 64 << 20;

/// Device buffers that every search needs: q queries for k neighbours each among n points in d dimensions.
pub struct SearchBuffers {
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
    /// Milliseconds of the upload, excluding points that were already on the device.
    pub upload_ms: f64,
    /// Times the work on the stream.
    pub timer: Timer,
}

/// The addresses and sizes of [`SearchBuffers`].
#[derive(Clone, Copy)]
pub struct Addresses {
    pub points: CUdeviceptr,
    pub queries: CUdeviceptr,
    pub indices: CUdeviceptr,
    pub squared_distances: CUdeviceptr,
    pub n: u32,
    pub d: u32,
    pub k: u32,
    pub q: u32,
}

impl SearchBuffers {
    /// Reserves memory for a problem and its answer, including `floats` for the points unless they are
    /// already there in this form. `extra` is the number of bytes that the search will reserve in addition.
    ///
    /// # Errors
    /// [`EngineError::Memory`] before anything is reserved, [`EngineError::Device`].
    pub fn reserve(
        cuda: &Cuda,
        problem: &Problem,
        form: PointLayout,
        floats: usize,
        extra: u64,
    ) -> Result<Self> {
        let (n, d, k, q) = (problem.n(), problem.dims(), problem.k(), problem.q());
        let there = problem.cache().get(cuda.device_id, |points: &DevicePoints| points.fits(form, floats));
        if there.is_none() {
            // Points cached in another form: their memory may be needed.
            problem.cache().remove::<DevicePoints>(cuda.device_id);
        }
        let without_answers = RESERVE + 4 * (if there.is_some() { 0 } else { floats } + q * d) as u64 + extra;
        let needed = without_answers.saturating_add(answer_bytes(q, k));
        // The previous search's memory is freed in stream order.
        cuda.stream.synchronize().map_err(|error| cuda.failed(error))?;
        let free = cuda.free().map_err(|error| cuda.failed(error))?;
        if needed > free {
            return Err(EngineError::Memory {
                needed: needed.div_ceil(1 << 20),
                free: free >> 20,
                device: cuda.device.name.clone(),
            });
        }
        let stream = &cuda.stream;
        let reserve = || -> DriverResult<Self> {
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

    /// Reserves memory for a problem with row-major points, plus `extra` bytes for the search, and uploads
    /// it.
    ///
    /// # Errors
    /// Those of [`Self::reserve`].
    pub fn with_rows(cuda: &mut Cuda, problem: &Problem, extra: u64) -> Result<Self> {
        let mut memory = Self::reserve(
            cuda,
            problem,
            PointLayout::Rows,
            row_floats(problem.n(), problem.dims(), 1),
            extra,
        )?;
        memory.upload(cuda, problem, |cuda, points| upload_rows(cuda, problem.points(), points))?;
        Ok(memory)
    }

    /// Uploads the problem. `points` uploads the points in the form that the search needs; it is only called
    /// if they are not there yet.
    ///
    /// # Errors
    /// [`EngineError::Device`].
    pub fn upload(
        &mut self,
        cuda: &mut Cuda,
        problem: &Problem,
        points: impl FnOnce(&mut Cuda, &mut CudaSlice<f32>) -> DriverResult,
    ) -> Result<()> {
        let stream = cuda.stream.clone();
        let upload = || -> DriverResult<f64> {
            self.timer.start(&stream)?;
            if let (false, Some(fresh)) = (self.resident, Arc::get_mut(&mut self.points)) {
                points(cuda, &mut fresh.floats)?;
            }
            cuda.pipe.upload(&stream, problem.queries(), &mut self.queries)?;
            self.timer.stop(&stream)
        };
        let uploaded = upload();
        self.upload_ms = uploaded.map_err(|error| cuda.failed(error))?;
        if !self.resident {
            problem.cache().insert(cuda.device_id, Arc::clone(&self.points));
        }
        Ok(())
    }

    /// The buffers' addresses and sizes, as kernel arguments.
    pub fn addresses(&mut self, stream: &CudaStream) -> Addresses {
        Addresses {
            points: self.points.floats.device_ptr(stream).0,
            queries: self.queries.device_ptr(stream).0,
            indices: self.indices.device_ptr_mut(stream).0,
            squared_distances: self.squared_distances.device_ptr_mut(stream).0,
            n: self.n as u32,
            d: self.d as u32,
            k: self.k as u32,
            q: self.q as u32,
        }
    }

    /// Switches this search to points in another form; other searches keep theirs.
    pub fn rearrange(&mut self, form: PointLayout, floats: CudaSlice<f32>) {
        self.points = Arc::new(DevicePoints { form, floats });
    }

    /// Copies out the neighbours of all queries and returns the elapsed milliseconds.
    pub fn download(&self, cuda: &mut Cuda, neighbors: &mut Neighbors) -> DriverResult<f64> {
        if (neighbors.k, neighbors.indices.len()) != (self.k, self.q * self.k) {
            *neighbors = Neighbors::unanswered(self.q, self.k);
        }
        let Neighbors { indices, squared_distances, .. } = neighbors;
        self.download_range(cuda, 0..self.q, indices, squared_distances)
    }

    /// Copies out the neighbours of a range of queries and returns the elapsed milliseconds.
    pub fn download_range(
        &self,
        cuda: &mut Cuda,
        queries: Range<usize>,
        indices: &mut [u32],
        squared_distances: &mut [f32],
    ) -> DriverResult<f64> {
        let Cuda { pipe, stream, .. } = cuda;
        let range = queries.start * self.k..queries.end * self.k;
        self.timer.start(stream)?;
        pipe.download(stream, &self.indices.slice(range.clone()), indices)?;
        pipe.download(stream, &self.squared_distances.slice(range), squared_distances)?;
        self.timer.stop(stream)
    }
}

/// A launch of `count` blocks in a row, without dynamic shared memory.
pub fn blocks(count: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (count, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Queues a kernel with one parameter.
///
/// # Safety
/// `argument` must be the kernel's parameter, and its pointers must be to buffers with the sizes that it
/// states.
///
/// # Errors
/// Those of the driver.
pub unsafe fn launch<T: DeviceRepr>(
    stream: &Arc<CudaStream>,
    function: &CudaFunction,
    config: LaunchConfig,
    argument: &T,
) -> DriverResult {
    // SAFETY: guaranteed by the caller.
    unsafe { stream.launch_builder(function).arg(argument).launch(config) }.map(drop)
}

/// Copies a buffer to the host, and waits for it.
///
/// # Errors
/// Those of the driver.
pub fn read<T: DeviceRepr>(stream: &Arc<CudaStream>, buffer: &impl DevicePtr<T>) -> DriverResult<Vec<T>> {
    let copy = stream.clone_dtoh(buffer)?;
    stream.synchronize()?;
    Ok(copy)
}
