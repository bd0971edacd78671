//! The launches of `radix-select` and `sample-select`: a block a row, and then a sort of what each row found.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::DeviceSelector;
use super::interface::{MultiPass, PASS_THREADS, ROW_THREADS, SORT_FOUND_ENTRY, Selection, radix_select_entry, sample_select_entry};
use super::sort::UNIT as SORT;
use crate::cuda::Cuda;
use crate::cuda::device::units::{Unit, build_name};
use crate::knn::{Build, EngineError, EngineId, Parameters, Shape};
use crate::select::{RADIX_SELECT, SAMPLE_SELECT, radix_select, sample_select};

/// The unit of both.
pub(super) const UNIT: &str = "select/multi_pass";

struct Selector {
    parameters: Parameters,
    /// A pass divides into 2^bits.
    bits: u32,
    /// Words of auxiliary memory of a row.
    words: usize,
    auxiliary: Option<CudaSlice<u32>>,
    /// Timed and counted.
    kernels: [CudaFunction; 2],
    sort_found: CudaFunction,
}

/// Loads `radix-select`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_radix_select(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let (bits, parameters) = radix_select::resolved(parameters);
    load(cuda, shape, RADIX_SELECT.id, parameters, bits, |build| radix_select_entry(build_name(build)))
}

/// Loads `sample-select`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_sample_select(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let (bits, parameters) = sample_select::resolved(parameters);
    load(cuda, shape, SAMPLE_SELECT.id, parameters, bits, |build| sample_select_entry(build_name(build)))
}

fn load(
    cuda: &mut Cuda,
    shape: &Shape,
    engine: EngineId,
    parameters: Parameters,
    bits: u32,
    entry: fn(Build) -> String,
) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let mut kernel = |unit: Unit, name: &str| cuda.kernels.function(unit, name).map_err(|why| EngineError::Unavailable { engine, why });
    let unit = Unit::new(UNIT, 0, 0);
    let kernels = [kernel(unit.of_build(Build::Timed), &entry(Build::Timed))?, kernel(unit.of_build(Build::Counted), &entry(Build::Counted))?];
    let sort_found = kernel(Unit::new(SORT, 0, 0).of_build(Build::Timed), SORT_FOUND_ENTRY)?;
    let words = words(shape, parameters.get("stages") == Some("1"));
    Ok(Box::new(Selector { parameters, bits, words, auxiliary: None, kernels, sort_found }))
}

/// Words of auxiliary memory of a row: a pass goes on with half of the distances at most, the one after it with half of those, and with their
/// positions where these are moved; then those found are sorted by way of it.
pub(super) fn words(shape: &Shape, moves_positions: bool) -> usize {
    let narrowed = (shape.n / 2).next_multiple_of(4) + (shape.n / 4).next_multiple_of(4);
    let found = 2 * shape.k.min(shape.n);
    (if moves_positions { 2 * narrowed } else { narrowed }).max(found).next_multiple_of(4)
}

impl Selector {
    fn launch_one(
        &mut self,
        stream: &Arc<CudaStream>,
        selection: Selection,
        threads: u32,
        function: impl Fn(&Self) -> &CudaFunction,
    ) -> Result<(), DriverError> {
        let passes = MultiPass {
            of: selection,
            auxiliary: self.auxiliary.as_mut().expect("it is reserved with the search").device_ptr_mut(stream).0,
            auxiliary_words: self.words as u64,
            stages: if self.parameters.get("stages") == Some("1") { 1 } else { 2 },
            bits: self.bits,
        };
        let config = LaunchConfig { grid_dim: (selection.query_count, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(function(self)).arg(&passes).launch(config) }.map(drop)
    }

    fn sort(&mut self, stream: &Arc<CudaStream>, selection: Selection) -> Result<(), DriverError> {
        self.launch_one(stream, selection, ROW_THREADS, |this| &this.sort_found)
    }
}

impl DeviceSelector for Selector {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn row_bytes(&self) -> usize {
        4 * self.words
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> Result<(), DriverError> {
        // Distances are read four at a time: those behind the last are not looked at, but should be something.
        self.auxiliary = Some(stream.alloc_zeros(rows * self.words)?);
        Ok(())
    }

    fn leaves_out(&self) -> bool {
        self.parameters.get("sorted") == Some("0")
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        self.launch_one(stream, selection, PASS_THREADS, |this| &this.kernels[usize::from(build == Build::Counted)])?;
        if self.leaves_out() { Ok(()) } else { self.sort(stream, selection) }
    }

    fn finish(&mut self, stream: &Arc<CudaStream>, selection: Selection) -> Result<(), DriverError> {
        if self.leaves_out() { self.sort(stream, selection) } else { Ok(()) }
    }
}
