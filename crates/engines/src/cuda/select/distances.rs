//! The engine `distance-matrix`, which times only the filling of the matrix and uses `bits` for the answer;
//! and the expanded form of the distances, by a matrix product of cuBLAS or our own, with a count of its
//! errors.

use std::sync::Arc;

use cudarc::cublas::{CudaBlas, result, sys};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DriverError, LaunchConfig,
};

use super::matrix::{self, DistanceKernel, Matrix};
use super::{DeviceSelector, Loaded, MatrixPlan, TimingScope, load_bits};
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::{SearchBuffers, blocks, launch};
use crate::cuda::device::units::Unit;
use crate::cuda::interface::select::{
    Comparison, DISTANCE_THREADS, Distances, Norms, Selection, distances_entry,
};
use crate::knn::{EngineError, KernelBuild, Parameters, Shape};
use crate::select::DISTANCES_ALONE;
use crate::select::distances::{EXPANDED, EXPANDED_OWN, kernel_name, resolved};

struct DistancesOnly {
    selector: Box<dyn DeviceSelector>,
    parameters: Parameters,
    kernel: DistanceKernel,
    /// `None` once the search has taken it.
    expanded: Option<ExpandedKernels>,
    note: Option<String>,
}

/// Loads `distance-matrix`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_distances(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let selector = load_bits(cuda, shape, &Parameters::NONE)?;
    let (mut word, mut note, mut blas) = (kernel_name(parameters), None, None);
    if word == EXPANDED {
        match open_blas(&cuda.stream, shape.n) {
            Ok(opened) => blas = Some(opened),
            Err(why) => {
                word = EXPANDED_OWN;
                note = Some(format!("cuBLAS is unavailable ({why}); using our own kernel"));
            }
        }
    }
    let expanded =
        (word == EXPANDED || word == EXPANDED_OWN).then(|| ExpandedKernels::new(cuda, blas)).transpose();
    let expanded = expanded.map_err(|why| EngineError::Unavailable { engine: DISTANCES_ALONE.id, why })?;
    let (parameters, kernel) = (resolved(word), DistanceKernel::named(word));
    Ok(Box::new(DistancesOnly { selector, parameters, kernel, expanded, note }))
}

impl DeviceSelector for DistancesOnly {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn frame(&mut self) -> MatrixPlan {
        MatrixPlan {
            kernel: self.kernel,
            timed: TimingScope::Distances,
            expanded: self.expanded.take(),
            note: self.note.take(),
        }
    }

    fn row_bytes(&self) -> usize {
        self.selector.row_bytes()
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> DriverResult {
        self.selector.reserve(stream, rows)
    }

    fn launch(
        &mut self,
        stream: &Arc<CudaStream>,
        selection: Selection,
        _build: KernelBuild,
    ) -> DriverResult {
        // The selector's counters are not needed.
        self.selector.launch(stream, selection, KernelBuild::Timed)
    }
}

/// Upper bound on the bytes that cuBLAS allocates for itself.
const WORKSPACE: usize = 64 << 20;

const WARP: u32 = 32;

/// The kernels of the expanded form, and the memory that they need in addition to the tile.
pub struct ExpandedKernels {
    norms: CudaFunction,
    product: CudaFunction,
    complete: CudaFunction,
    wrong: CudaFunction,
    /// cuBLAS, if the timed build uses it.
    blas: Option<CudaBlas>,
    buffers: Option<Buffers>,
}

struct Buffers {
    /// Squared norms: one per column of the tile, and one per query.
    points: CudaSlice<f32>,
    queries: CudaSlice<f32>,
    /// rows × k: the result of the counted build with the expanded form.
    found: CudaSlice<u32>,
    distances: CudaSlice<f32>,
}

impl ExpandedKernels {
    /// Loads the kernels. With `blas`, the timed build multiplies with cuBLAS.
    ///
    /// # Errors
    /// Why a kernel is unavailable.
    fn new(cuda: &mut Cuda, blas: Option<CudaBlas>) -> Result<Self, String> {
        let mut function =
            |name: &str| cuda.kernels.function(Unit::new(super::DISTANCES, 0, 0), &distances_entry(name));
        let [norms, product, complete, wrong] =
            [function("norms")?, function("expanded")?, function("complete")?, function("wrong")?];
        Ok(Self { norms, product, complete, wrong, blas, buffers: None })
    }

    /// Bytes of device memory that it needs for a matrix, and for the counted build with k neighbours.
    pub fn bytes(&self, matrix: &Matrix, q: usize, k: usize) -> usize {
        4 * (matrix.pitch + q) + 8 * matrix.rows * k + if self.blas.is_some() { WORKSPACE } else { 0 }
    }

    /// Reserves that memory.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn reserve(&mut self, stream: &Arc<CudaStream>, matrix: &Matrix, q: usize, k: usize) -> DriverResult {
        // The padding of a row has norms too.
        let (points, queries) = (stream.alloc_zeros(matrix.pitch)?, stream.alloc_zeros(q)?);
        let entries = matrix.rows * k;
        // SAFETY: uninitialised memory, written before it is read.
        let (found, distances) = unsafe { (stream.alloc(entries)?, stream.alloc(entries)?) };
        self.buffers = Some(Buffers { points, queries, found, distances });
        Ok(())
    }

    fn buffers(&mut self) -> &mut Buffers {
        self.buffers.as_mut().expect("they are reserved with the search")
    }

    /// Queues the norms of all points and queries.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn fill_norms(&mut self, stream: &Arc<CudaStream>, memory: &SearchBuffers) -> DriverResult {
        let function = self.norms.clone();
        let buffers = self.buffers();
        let of = [
            (memory.points.floats.device_ptr(stream).0, memory.n, buffers.points.device_ptr_mut(stream).0),
            (memory.queries.device_ptr(stream).0, memory.q, buffers.queries.device_ptr_mut(stream).0),
        ];
        for (rows, count, norms) in of {
            let norms = Norms { rows, count: count as u32, d: memory.d as u32, norms };
            let config = blocks(norms.count.div_ceil(DISTANCE_THREADS), DISTANCE_THREADS);
            // SAFETY: the argument is the kernel's parameter; its pointers are to buffers of this search with
            // the sizes that it states.
            unsafe { launch(stream, &function, config, &norms) }?;
        }
        Ok(())
    }

    /// Queues the kernels that fill a tile by the expanded form.
    ///
    /// # Errors
    /// Those of the driver and of cuBLAS.
    pub fn fill(&mut self, stream: &Arc<CudaStream>, tile: &Distances, build: KernelBuild) -> DriverResult {
        let buffers = self.buffers();
        let (point_norms, query_norms) =
            (buffers.points.device_ptr(stream).0, buffers.queries.device_ptr(stream).0);
        let tile = Distances { point_norms, query_norms, ..*tile };
        // Errors are counted for a fixed order of summation, so without cuBLAS.
        let Some(blas) = self.blas.as_ref().filter(|_| build == KernelBuild::Timed) else {
            return matrix::launch(stream, &self.product, &tile, DistanceKernel::Registers);
        };
        multiply(blas, &tile)?;
        let grid_dim = (tile.n.div_ceil(4 * DISTANCE_THREADS), tile.query_count, 1);
        let config = LaunchConfig { grid_dim, ..blocks(1, DISTANCE_THREADS) };
        // SAFETY: as above.
        unsafe { launch(stream, &self.complete, config, &tile) }
    }

    /// Redirects a selection to the buffers for the expanded form's result.
    pub fn selection(&mut self, stream: &Arc<CudaStream>, selection: Selection) -> Selection {
        let buffers = self.buffers();
        let (indices, squared_distances) =
            (buffers.found.device_ptr_mut(stream).0, buffers.distances.device_ptr_mut(stream).0);
        Selection { indices, squared_distances, first_query: 0, counts: 0, ..selection }
    }

    /// Queues the count of points that the expanded form finds but that are not among the neighbours in
    /// `selection`.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn count_wrong(&mut self, stream: &Arc<CudaStream>, selection: &Selection) -> DriverResult {
        let comparison = Comparison {
            points: selection.points,
            queries: selection.queries,
            d: selection.d,
            k: selection.k,
            first_query: selection.first_query,
            query_count: selection.query_count,
            found: self.buffers().found.device_ptr(stream).0,
            indices: selection.indices,
            squared_distances: selection.squared_distances,
            counts: selection.counts,
        };
        let config = blocks(selection.query_count.div_ceil(DISTANCE_THREADS / WARP), DISTANCE_THREADS);
        // SAFETY: as above.
        unsafe { launch(stream, &self.wrong, config, &comparison) }
    }
}

/// Opens cuBLAS on a stream for n points; the error is a clause that says why it cannot be used.
fn open_blas(stream: &Arc<CudaStream>, n: usize) -> Result<CudaBlas, String> {
    if n.next_multiple_of(4) > i32::MAX as usize {
        return Err(format!("it supports at most {} points", i32::MAX));
    }
    // cudarc panics if the library is missing, so check first.
    // SAFETY: only locates and loads a library.
    if !unsafe { sys::is_culib_present() } {
        return Err("libcublas.so.13 was not found".to_owned());
    }
    CudaBlas::new(Arc::clone(stream)).map_err(|error| format!("it failed to start: {:?}", error.0))
}

/// Queues the products of all pairs of a tile, in FP32: row by row, or, from the view of cuBLAS, points ×
/// queriesᵀ column by column.
fn multiply(blas: &CudaBlas, tile: &Distances) -> DriverResult {
    use sys::cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
    let (n, queries, d, pitch) = (tile.n as i32, tile.query_count as i32, tile.d as i32, tile.pitch as i32);
    let first = tile.queries + 4 * u64::from(tile.first_query) * u64::from(tile.d);
    let (alpha, beta) = (1.0f32, 0.0f32);
    // SAFETY: the matrices are in buffers of this search with the sizes stated; the handle belongs to their
    // context.
    let done = unsafe {
        result::sgemm(
            *blas.handle(),
            CUBLAS_OP_T,
            CUBLAS_OP_N,
            n,
            queries,
            d,
            &raw const alpha,
            tile.points as *const f32,
            d,
            first as *const f32,
            d,
            &raw const beta,
            tile.distances as *mut f32,
            pitch,
        )
    };
    done.map_err(|error| {
        let no_memory = error.0 == sys::cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED;
        DriverError(if no_memory { CUresult::CUDA_ERROR_OUT_OF_MEMORY } else { CUresult::CUDA_ERROR_UNKNOWN })
    })
}
