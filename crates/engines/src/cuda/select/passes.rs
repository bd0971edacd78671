//! The launches of the selectors that read a row several times. `radix-select` and `sample-select` use one
//! block per row, and then sort each row's result. `sort` sorts all rows together, with one block each, or
//! one row after the other by the index's radix sort, on all multiprocessors.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, result};

use super::{DeviceSelector, Loaded};
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::{blocks, launch};
use crate::cuda::device::units::Unit;
use crate::cuda::interface::index::{Pass, SORT_BITS, SORT_ITEMS, SORT_PASSES, SORT_THREADS};
use crate::cuda::interface::select::{
    MultiPass, PASS_THREADS, ROW_THREADS, SORT_FOUND_ENTRY, Selection, radix_select_entry,
    sample_select_entry, sort_query_entry, sort_rows_entry,
};
use crate::cuda::search::BuildKernels;
use crate::knn::{EngineId, KernelBuild, NONE, Parameters, Shape};
use crate::select::{RADIX_SELECT, SAMPLE_SELECT, SORT, radix_select, sample_select, sort};

/// The unit of the selectors of several passes.
pub(super) const MULTI_PASS: &str = "select/multi_pass";

struct MultiPassSelector {
    parameters: Parameters,
    /// A pass divides into 2^bits buckets.
    bits: u32,
    /// Words of auxiliary memory per row.
    words: usize,
    auxiliary: Option<CudaSlice<u32>>,
    kernels: BuildKernels,
    sort_found: CudaFunction,
}

/// Loads `radix-select`.
///
/// # Errors
/// [`EngineError::Unavailable`](crate::knn::EngineError::Unavailable).
pub fn load_radix_select(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    load(cuda, shape, RADIX_SELECT.id, radix_select::resolved(parameters), radix_select_entry)
}

/// Loads `sample-select`.
///
/// # Errors
/// [`EngineError::Unavailable`](crate::knn::EngineError::Unavailable).
pub fn load_sample_select(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    load(cuda, shape, SAMPLE_SELECT.id, sample_select::resolved(parameters), sample_select_entry)
}

fn load(
    cuda: &mut Cuda,
    shape: &Shape,
    engine: EngineId,
    (bits, parameters): (u32, Parameters),
    entry: impl Fn(&'static str) -> String,
) -> Loaded {
    let kernels = BuildKernels::load(cuda, engine, Unit::new(MULTI_PASS, 0, 0), entry)?;
    let sort_found =
        cuda.kernel(engine, Unit::new(SORT_UNIT, 0, 0).for_build(KernelBuild::Timed), SORT_FOUND_ENTRY)?;
    let words = words(shape, parameters.get("stages") == Some("1"));
    Ok(Box::new(MultiPassSelector { parameters, bits, words, auxiliary: None, kernels, sort_found }))
}

/// Words of auxiliary memory per row: a pass keeps at most half of the distances, the next one half of those,
/// with their positions if these are moved. The final sort reuses the memory.
pub(super) fn words(shape: &Shape, moves_positions: bool) -> usize {
    let narrowed = (shape.n / 2).next_multiple_of(4) + (shape.n / 4).next_multiple_of(4);
    let found = 2 * shape.k.min(shape.n);
    (if moves_positions { 2 * narrowed } else { narrowed }).max(found).next_multiple_of(4)
}

impl MultiPassSelector {
    /// Queues one of the kernels, with one block of `threads` threads per row.
    fn launch_one(
        &mut self,
        stream: &Arc<CudaStream>,
        selection: Selection,
        threads: u32,
        function: impl Fn(&Self) -> &CudaFunction,
    ) -> DriverResult {
        let passes = MultiPass {
            selection,
            auxiliary: self
                .auxiliary
                .as_mut()
                .expect("it is reserved with the search")
                .device_ptr_mut(stream)
                .0,
            auxiliary_words: self.words as u64,
            stages: if self.parameters.get("stages") == Some("1") { 1 } else { 2 },
            bits: self.bits,
        };
        // SAFETY: the argument is the kernel's parameter; its pointers are to buffers of the search with the
        // sizes that it states.
        unsafe { launch(stream, function(self), blocks(selection.query_count, threads), &passes) }
    }

    fn sort(&mut self, stream: &Arc<CudaStream>, selection: Selection) -> DriverResult {
        self.launch_one(stream, selection, ROW_THREADS, |this| &this.sort_found)
    }
}

impl DeviceSelector for MultiPassSelector {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn row_bytes(&self) -> usize {
        4 * self.words
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> DriverResult {
        // Distances are read in vectors of four; those after the last are ignored but must be initialised.
        self.auxiliary = Some(stream.alloc_zeros(rows * self.words)?);
        Ok(())
    }

    fn finishes_untimed(&self) -> bool {
        self.parameters.get("sorted") == Some("0")
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: KernelBuild) -> DriverResult {
        self.launch_one(stream, selection, PASS_THREADS, |this| this.kernels.for_build(build))?;
        if self.finishes_untimed() { Ok(()) } else { self.sort(stream, selection) }
    }

    fn finish(&mut self, stream: &Arc<CudaStream>, selection: Selection) -> DriverResult {
        if self.finishes_untimed() { self.sort(stream, selection) } else { Ok(()) }
    }
}

/// The unit of the sort of rows, and of the results of the multi-pass selectors.
pub(super) const SORT_UNIT: &str = "select/sort";

/// The index's sort supports fewer keys than this, because a flag and a count share a word.
const MAX_ROW_KEYS: usize = 1 << 30;

/// Keys per tile, and digits, of the index's sort.
const TILE: usize = (SORT_THREADS * SORT_ITEMS) as usize;
const DIGITS: usize = 1 << SORT_BITS;

/// The kernels that sort a row on all multiprocessors, and their memory.
struct RowSorter {
    tally: CudaFunction,
    sweep: CudaFunction,
    n: usize,
    /// Three parts, each with an entry per pass: the counts of each digit, the next tile's number, and the
    /// words that the tiles publish.
    zeroed: Option<CudaSlice<u32>>,
}

struct SortSelector {
    parameters: Parameters,
    /// Words per row that is sorted: its distances and positions, twice.
    words: usize,
    auxiliary: Option<CudaSlice<u32>>,
    kernels: BuildKernels,
    /// For the timed build; the counted build sorts all rows together.
    by_query: Option<RowSorter>,
}

/// Loads `sort`.
///
/// # Errors
/// [`EngineError::Unavailable`](crate::knn::EngineError::Unavailable).
pub fn load_sort(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let unit = Unit::new(SORT_UNIT, 0, 0);
    let kernels = BuildKernels::load(cuda, SORT.id, unit, sort_rows_entry)?;
    let mut parameters = sort::resolved(parameters);
    let by_query = if parameters.get("by") == Some("query") && shape.n < MAX_ROW_KEYS {
        let mut step =
            |name: &str| cuda.kernel(SORT.id, unit.for_build(KernelBuild::Timed), &sort_query_entry(name));
        Some(RowSorter { tally: step("tally")?, sweep: step("sweep")?, n: shape.n, zeroed: None })
    } else {
        parameters.set("by", "segmented");
        None
    };
    let words = 4 * shape.n.next_multiple_of(4);
    Ok(Box::new(SortSelector { parameters, words, auxiliary: None, kernels, by_query }))
}

impl RowSorter {
    fn tiles(&self) -> usize {
        self.n.div_ceil(TILE)
    }

    /// Words that must be zero before a row is sorted.
    fn zeros(&self) -> usize {
        SORT_PASSES as usize * (DIGITS + 1 + DIGITS * self.tiles())
    }

    /// Sorts a row of the matrix, using `words` as buffers; the k nearest become row `row` of the answer.
    fn sort(
        &mut self,
        stream: &Arc<CudaStream>,
        selection: &Selection,
        row: u32,
        words: CUdeviceptr,
    ) -> DriverResult {
        let passes = SORT_PASSES as usize;
        let bytes = 4 * self.zeros();
        let zeroed = self.zeroed.as_mut().expect("it is reserved with the search").device_ptr_mut(stream).0;
        let word = |at: usize| zeroed + 4 * at as u64;
        let quarter = |at: usize| words + (4 * at * self.n.next_multiple_of(4)) as u64;
        let config = blocks(self.tiles() as u32, SORT_THREADS);
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
        // SAFETY: the buffer has this many bytes.
        unsafe { result::memset_d8_async(zeroed, 0, bytes, stream.cu_stream()) }?;
        // SAFETY: the argument is the kernels' parameter; its pointers are to buffers of this search with the
        // sizes that it states.
        unsafe { launch(stream, &self.tally, config, &pass(0)) }?;
        for number in 0..passes {
            // SAFETY: as above.
            unsafe { launch(stream, &self.sweep, config, &pass(number)) }?;
        }
        let (k, kept) = (selection.k as usize, self.n.min(selection.k as usize));
        let at = 4 * (u64::from(selection.first_query) + u64::from(row)) * k as u64;
        let padding = f32::INFINITY.to_bits();
        let last = pass(passes - 1);
        for (to, from, fill) in [
            (selection.squared_distances, last.sorted_keys, padding),
            (selection.indices, last.sorted_order, NONE),
        ] {
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

/// Fills words of device memory.
///
/// # Safety
/// They must be in a buffer that lives as long as the stream's work.
unsafe fn memset_words(
    stream: &Arc<CudaStream>,
    address: CUdeviceptr,
    value: u32,
    count: usize,
) -> DriverResult {
    // SAFETY: guaranteed by the caller.
    unsafe { cudarc::driver::sys::cuMemsetD32Async(address, value, count, stream.cu_stream()) }.result()
}

impl DeviceSelector for SortSelector {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn row_bytes(&self) -> usize {
        // Sorting row by row needs the memory once, but the counted build sorts all rows together.
        4 * self.words + self.by_query.as_ref().map_or(0, |by_query| 4 * by_query.zeros())
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> DriverResult {
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            self.auxiliary = Some(stream.alloc(rows * self.words)?);
            if let Some(by_query) = &mut self.by_query {
                by_query.zeroed = Some(stream.alloc(by_query.zeros())?);
            }
        }
        Ok(())
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: KernelBuild) -> DriverResult {
        let auxiliary =
            self.auxiliary.as_mut().expect("it is reserved with the search").device_ptr_mut(stream).0;
        if let Some(by_query) = self.by_query.as_mut().filter(|_| build == KernelBuild::Timed) {
            return (0..selection.query_count)
                .try_for_each(|row| by_query.sort(stream, &selection, row, auxiliary));
        }
        let passes =
            MultiPass { selection, auxiliary, auxiliary_words: self.words as u64, ..MultiPass::default() };
        let config = blocks(selection.query_count, ROW_THREADS);
        // SAFETY: the argument is the kernel's parameter; its pointers are to buffers of the search with the
        // sizes that it states.
        unsafe { launch(stream, self.kernels.for_build(build), config, &passes) }
    }
}
