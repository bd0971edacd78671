//! The launches of `sort`: all rows together, a block each, or one after the other by the index's radix sort, on all multiprocessors.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg, result};

use super::DeviceSelector;
use super::interface::{MultiPass, ROW_THREADS, Selection, sort_query_entry, sort_rows_entry};
use crate::cuda::Cuda;
use crate::cuda::device::units::{Unit, build_name};
use crate::cuda::index::{Pass, SORT_BITS, SORT_ITEMS, SORT_PASSES, SORT_THREADS};
use crate::knn::{Build, EngineError, NONE, Parameters, Shape};
use crate::select::{SORT, sort};

/// The unit of the sort of rows, and of what the multi-pass selectors have found.
pub const UNIT: &str = "select/sort";

/// The index's sort has fewer keys: a flag and a number share a word.
const MOST_OF_QUERY: usize = 1 << 30;

/// Keys of a tile, and digits, of the index's sort.
const TILE: usize = (SORT_THREADS * SORT_ITEMS) as usize;
const DIGITS: usize = 1 << SORT_BITS;

/// The kernels that sort a row on all multiprocessors, and their memory.
struct ByQuery {
    tally: CudaFunction,
    sweep: CudaFunction,
    n: usize,
    /// For each pass the keys of each digit, then for each the next tile's number, then for each what its tiles publish.
    zeroed: Option<CudaSlice<u32>>,
}

struct Sort {
    parameters: Parameters,
    /// Words of a row that is sorted: its distances and positions, twice.
    words: usize,
    auxiliary: Option<CudaSlice<u32>>,
    /// Timed and counted.
    kernels: [CudaFunction; 2],
    /// The counted build sorts all rows together.
    by_query: Option<ByQuery>,
}

/// Loads `sort`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_sort(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let unit = Unit::new(UNIT, 0, 0);
    let mut kernel =
        |build: Build, name: &str| cuda.kernels.function(unit.of_build(build), name).map_err(|why| EngineError::Unavailable { engine: SORT.id, why });
    let kernels = [Build::Timed, Build::Counted].map(|build| kernel(build, &sort_rows_entry(build_name(build))));
    let [timed, counted] = kernels;
    let mut parameters = sort::resolved(parameters);
    let by_query = if parameters.get("by") == Some("query") && shape.n < MOST_OF_QUERY {
        let mut step = |name: &str| kernel(Build::Timed, &sort_query_entry(name));
        Some(ByQuery { tally: step("tally")?, sweep: step("sweep")?, n: shape.n, zeroed: None })
    } else {
        parameters.set("by", "segmented");
        None
    };
    let words = 4 * shape.n.next_multiple_of(4);
    Ok(Box::new(Sort { parameters, words, auxiliary: None, kernels: [timed?, counted?], by_query }))
}

impl ByQuery {
    fn tiles(&self) -> usize {
        self.n.div_ceil(TILE)
    }

    /// Words that have to be zero before a row is sorted.
    fn zeros(&self) -> usize {
        SORT_PASSES as usize * (DIGITS + 1 + DIGITS * self.tiles())
    }

    /// Sorts a row of the matrix by way of `words`; the k nearest become row `row` of the answer.
    fn sort(&mut self, stream: &Arc<CudaStream>, selection: &Selection, row: u32, words: CUdeviceptr) -> Result<(), DriverError> {
        let passes = SORT_PASSES as usize;
        let bytes = 4 * self.zeros();
        let zeroed = self.zeroed.as_mut().expect("it is reserved with the search").device_ptr_mut(stream).0;
        let word = |at: usize| zeroed + 4 * at as u64;
        let quarter = |at: usize| words + (4 * at * self.n.next_multiple_of(4)) as u64;
        let config = |blocks: usize| LaunchConfig { grid_dim: (blocks as u32, 1, 1), block_dim: (SORT_THREADS, 1, 1), shared_mem_bytes: 0 };
        let distances = selection.distances + 4 * selection.pitch * u64::from(row);
        let pass = |number: usize| Pass {
            keys: if number == 0 { distances } else { quarter(2 - number % 2 * 2) },
            order: if number == 0 { 0 } else { quarter(3 - number % 2 * 2) },
            sorted_keys: quarter(number % 2 * 2),
            sorted_order: quarter(number % 2 * 2 + 1),
            counts: word(DIGITS * number),
            tiles: word(passes * (DIGITS + 1) + number * DIGITS * self.tiles()),
            turn: word(passes * DIGITS + number),
            count: self.n as u32,
            shift: number as u32 * SORT_BITS,
        };
        // SAFETY: the buffer has as many bytes.
        unsafe { result::memset_d8_async(zeroed, 0, bytes, stream.cu_stream()) }?;
        // SAFETY: the argument is the kernels' parameter; its pointers are to this search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(&self.tally).arg(&pass(0)).launch(config(self.tiles())) }?;
        for number in 0..passes {
            // SAFETY: as above.
            unsafe { stream.launch_builder(&self.sweep).arg(&pass(number)).launch(config(self.tiles())) }?;
        }
        let (k, kept) = (selection.k as usize, self.n.min(selection.k as usize));
        let at = 4 * (u64::from(selection.first_query) + u64::from(row)) * k as u64;
        let padding = f32::INFINITY.to_bits();
        let last = pass(passes - 1);
        for (to, from, fill) in [(selection.squared_distances, last.sorted_keys, padding), (selection.indices, last.sorted_order, NONE)] {
            // SAFETY: the answer has k words for each row, the buffers have n.
            unsafe {
                result::memcpy_dtod_async(to + at, from, 4 * kept, stream.cu_stream())?;
                if kept < k {
                    memset_words(stream, to + at + 4 * kept as u64, fill, k - kept)?;
                }
            }
        }
        Ok(())
    }
}

/// Sets words of device memory.
///
/// # Safety
/// They are of a buffer that lives as long as the stream's work.
unsafe fn memset_words(stream: &Arc<CudaStream>, address: CUdeviceptr, value: u32, count: usize) -> Result<(), DriverError> {
    // SAFETY: as the caller holds.
    unsafe { cudarc::driver::sys::cuMemsetD32Async(address, value, count, stream.cu_stream()) }.result()
}

impl DeviceSelector for Sort {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn row_bytes(&self) -> usize {
        // One row after the other needs it once; but the counted build sorts all together.
        4 * self.words + self.by_query.as_ref().map_or(0, |by_query| 4 * by_query.zeros())
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> Result<(), DriverError> {
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            self.auxiliary = Some(stream.alloc(rows * self.words)?);
            if let Some(by_query) = &mut self.by_query {
                by_query.zeroed = Some(stream.alloc(by_query.zeros())?);
            }
        }
        Ok(())
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        let auxiliary = self.auxiliary.as_mut().expect("it is reserved with the search").device_ptr_mut(stream).0;
        if let Some(by_query) = self.by_query.as_mut().filter(|_| build == Build::Timed) {
            return (0..selection.query_count).try_for_each(|row| by_query.sort(stream, &selection, row, auxiliary));
        }
        let passes = MultiPass { of: selection, auxiliary, auxiliary_words: self.words as u64, ..MultiPass::default() };
        let config = LaunchConfig { grid_dim: (selection.query_count, 1, 1), block_dim: (ROW_THREADS, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(&self.kernels[usize::from(build == Build::Counted)]).arg(&passes).launch(config) }.map(drop)
    }
}
