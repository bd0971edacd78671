//! Distances in f64 of given pairs of rows on an NVIDIA GPU. The kernels are in `cuda/exact/distances.cu`.

use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr, DevicePtrMut};

use super::device::memory::{RESERVE, blocks, launch};
use super::device::units::Unit;
use super::interface::exact::{LANES, Pairs, RowScales, THREADS, exact_entry};
use super::{Cuda, DIRECT};
use crate::Result;
use crate::cuda::DriverResult;
use crate::knn::exact_distances::{ExactDistances, StoredRows};
use crate::knn::{DeviceId, EngineError};

/// Uploads rows to a GPU. `pairs` is the maximum per call.
///
/// # Errors
/// [`EngineError::Unavailable`], [`EngineError::Memory`], [`EngineError::Device`].
pub fn open_exact(device: DeviceId, rows: StoredRows<'_>, pairs: usize) -> Result<Box<dyn ExactDistances>> {
    let unit = Unit::new("exact/distances", 0, 0);
    let mut cuda = Cuda::open_with(DIRECT.id, device, unit)?;
    let mut kernel = |name: &str| cuda.kernel(DIRECT.id, unit, &exact_entry(name));
    let [scale, distances] = [kernel("scales")?, kernel(if rows.normalise { "directions" } else { "l2" })?];
    let values = rows.points.len() + rows.queries.map_or(0, <[f32]>::len);
    let scales = if rows.normalise { 8 * (values / rows.dims) } else { 0 };
    let needed = RESERVE + (4 * values + scales) as u64 + 16 * pairs as u64;
    let free = cuda.free().map_err(|error| cuda.failed(error))?;
    if needed > free {
        let (needed, free) = (needed.div_ceil(1 << 20), free >> 20);
        return Err(EngineError::Memory { needed, free, device: cuda.device.name.clone() });
    }
    let scale = rows.normalise.then_some(&scale);
    let mut upload = |values: &[f32]| {
        DeviceRows::upload(&mut cuda, values, rows.dims, scale).map_err(|error| cuda.failed(error))
    };
    let (points, queries) = (upload(rows.points)?, rows.queries.map(upload).transpose()?);
    Ok(Box::new(GpuDistances { cuda, distances, points, queries, dims: rows.dims }))
}

/// Rows in device memory.
struct DeviceRows {
    values: CudaSlice<f32>,
    /// The factors that make them unit vectors, if these are compared.
    scales: Option<CudaSlice<f64>>,
}

impl DeviceRows {
    fn upload(
        cuda: &mut Cuda,
        rows: &[f32],
        dims: usize,
        scale: Option<&CudaFunction>,
    ) -> DriverResult<Self> {
        let Cuda { pipe, stream, .. } = cuda;
        // SAFETY: written by the upload.
        let mut values = unsafe { stream.alloc(rows.len()) }?;
        pipe.upload(stream, rows, &mut values)?;
        let Some(scale) = scale else { return Ok(Self { values, scales: None }) };
        let count = values.len() / dims;
        let mut scales = stream.alloc_zeros::<f64>(count)?;
        let work = RowScales {
            rows: values.device_ptr(stream).0,
            scales: scales.device_ptr_mut(stream).0,
            count: count as u32,
            d: dims as u32,
        };
        // SAFETY: `RowScales` is the kernel's parameter; its pointers are to these buffers.
        unsafe { launch(stream, scale, blocks(block_count(count), THREADS), &work) }?;
        Ok(Self { values, scales: Some(scales) })
    }
}

/// Blocks for this many groups of lanes.
fn block_count(count: usize) -> u32 {
    count.div_ceil((THREADS / LANES) as usize) as u32
}

struct GpuDistances {
    cuda: Cuda,
    distances: CudaFunction,
    points: DeviceRows,
    queries: Option<DeviceRows>,
    dims: usize,
}

impl GpuDistances {
    fn compute(&mut self, queries: &[u32], candidates: &[u32]) -> DriverResult<Vec<f64>> {
        let Cuda { pipe, stream, .. } = &mut self.cuda;
        let [query_rows, candidate_rows] = [stream.clone_htod(queries)?, stream.clone_htod(candidates)?];
        let mut squared = stream.alloc_zeros::<f64>(candidates.len())?;
        let query_side = self.queries.as_ref().unwrap_or(&self.points);
        let scales = |rows: &DeviceRows| rows.scales.as_ref().map_or(0, |scales| scales.device_ptr(stream).0);
        let work = Pairs {
            points: self.points.values.device_ptr(stream).0,
            queries: query_side.values.device_ptr(stream).0,
            point_scales: scales(&self.points),
            query_scales: scales(query_side),
            query_rows: query_rows.device_ptr(stream).0,
            candidates: candidate_rows.device_ptr(stream).0,
            squared_distances: squared.device_ptr_mut(stream).0,
            count: candidates.len() as u32,
            k: (candidates.len() / queries.len()) as u32,
            d: self.dims as u32,
        };
        // SAFETY: `Pairs` is the kernel's parameter; its pointers are to buffers of the sizes that it states.
        unsafe { launch(stream, &self.distances, blocks(block_count(candidates.len()), THREADS), &work) }?;
        let mut copy = vec![0.0; candidates.len()];
        pipe.download(stream, &squared, &mut copy)?;
        Ok(copy)
    }
}

impl ExactDistances for GpuDistances {
    fn squared(&mut self, queries: &[u32], candidates: &[u32]) -> Result<Vec<f64>> {
        self.compute(queries, candidates).map_err(|error| self.cuda.failed(error))
    }
}
