//! The launches of `bits`: one kernel where queries fill the GPU; three where rows are divided into parts.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::DeviceSelector;
use super::interface::{BITS_BOUND_ENTRY, BITS_FEW_THREADS, BITS_THREADS, BOUND_THREADS, Selection, bits_entry};
use crate::engines::cuda::Cuda;
use crate::engines::cuda::device::units::{Unit, build_name};
use crate::engines::select::bits::{ITEMS, capacity, items, resolved, sample_of, threads};
use crate::engines::select::{BITS, Sample};
use crate::knn::{Build, EngineError, Parameters, Shape};

/// The unit of the kernel that bounds a row.
const BOUND: &str = "select/bound";

/// Rows for each multiprocessor from which on they are not divided.
const FILLING: usize = 3;

/// Blocks of a multiprocessor where they are, so that the last ones leave little of it idle.
const BLOCKS: usize = 16;

/// Rows for each multiprocessor from which on blocks are narrow.
const MANY: usize = 24;

/// Batches of a part, at least.
const BATCHES: usize = 8;

/// The kernels of parts.
struct Divided {
    bound: CudaFunction,
    parts: CudaFunction,
    combine: CudaFunction,
    bounds: Option<CudaSlice<f32>>,
    counts: Option<CudaSlice<u32>>,
    kept: Option<CudaSlice<u64>>,
}

struct Bits {
    /// Of the timed search, and of the counted one, which divides no rows.
    samples: [Sample; 2],
    parameters: Parameters,
    capacity: usize,
    /// Of a block of the timed search, and of the counted one.
    threads: [u32; 2],
    parts: usize,
    /// Distances of a part.
    part: usize,
    timed: CudaFunction,
    counted: CudaFunction,
    divided: Option<Divided>,
}

/// Loads `bits`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_bits(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let (capacity, multiprocessors) = (capacity(shape.k), cuda.multiprocessors() as usize);
    let items = items(parameters);
    let option = (items != ITEMS).then_some(("WARPSCOPE_ITEMS", items as u32));
    let unit = Unit { option, ..Unit::new("select/bits", capacity as u32, 0) };
    let mut function = |unit: Unit, name: &str| {
        cuda.kernels.function(unit.of_build(Build::Timed), name).map_err(|why| EngineError::Unavailable { engine: BITS.id, why })
    };
    let entry = |name: &str| bits_entry(capacity, name);
    let threads = threads(capacity) as u32;
    debug_assert!(threads == if capacity <= 1024 { BITS_FEW_THREADS } else { BITS_THREADS }, "as the kernels are compiled");
    let most = shape.n.div_ceil(BATCHES * threads as usize * items).max(1);
    let wanted = || if shape.q >= FILLING * multiprocessors { 1 } else { (BLOCKS * multiprocessors).div_ceil(shape.q).clamp(1, most.min(1024)) };
    let parts = parameters.number("parts").map_or_else(wanted, |parts| parts as usize);
    let many = shape.q >= MANY * multiprocessors;
    let timed = function(unit, &entry(if many { build_name(Build::Timed) } else { "wide" }))?;
    let divided = if parts > 1 {
        let bound = function(Unit::new(BOUND, 0, 0), BITS_BOUND_ENTRY)?;
        let (parts, combine) = (function(unit, &entry("parts"))?, function(unit, &entry("combine"))?);
        Some(Divided { bound, parts, combine, bounds: None, counts: None, kept: None })
    } else {
        None
    };
    let counted = cuda.kernels.function(unit.of_build(Build::Counted), &entry(build_name(Build::Counted)));
    let counted = counted.map_err(|why| EngineError::Unavailable { engine: BITS.id, why })?;
    let sample = sample_of(shape, parameters, parts);
    let part = shape.n.div_ceil(parts).next_multiple_of(4);
    let samples = [sample, sample_of(shape, parameters, 1)];
    Ok(Box::new(Bits {
        samples,
        parameters: resolved(sample, parameters, parts),
        capacity,
        threads: [if many { threads } else { BITS_THREADS }, threads],
        parts,
        part,
        timed,
        counted,
        divided,
    }))
}

impl Bits {
    fn config(blocks: (u32, u32), threads: u32) -> LaunchConfig {
        LaunchConfig { grid_dim: (blocks.0, blocks.1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
    }
}

impl DeviceSelector for Bits {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn row_bytes(&self) -> usize {
        // A bound, and of each part a count and K keys.
        if self.divided.is_some() { 4 + self.parts * (4 + 8 * self.capacity) } else { 0 }
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> Result<(), DriverError> {
        let Some(divided) = &mut self.divided else { return Ok(()) };
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            divided.bounds = Some(stream.alloc(rows)?);
            divided.counts = Some(stream.alloc(rows * self.parts)?);
            divided.kept = Some(stream.alloc(rows * self.parts * self.capacity)?);
        }
        Ok(())
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError> {
        let sample = self.samples[usize::from(build != Build::Timed)];
        let selection = Selection {
            sampled: sample.rank as u32,
            minima: sample.minima as u32,
            group: sample.group as u32,
            parts: self.parts as u32,
            part: self.part as u32,
            by_ballot: u32::from(self.parameters.get("slots") == Some("ballot")),
            prefetch: u32::from(self.parameters.get("prefetch") == Some("on")),
            ..selection
        };
        let rows = selection.query_count;
        let Some(divided) = self.divided.as_mut().filter(|_| build == Build::Timed) else {
            let function = if build == Build::Timed { &self.timed } else { &self.counted };
            let config = Self::config((rows, 1), self.threads[usize::from(build != Build::Timed)]);
            // SAFETY: the argument is the kernel's parameter; its pointers are to the search's buffers, which are as long as it says.
            return unsafe { stream.launch_builder(function).arg(&selection).launch(config) }.map(drop);
        };
        let expect = "parts are reserved with the search";
        let selection = Selection {
            bounds: divided.bounds.as_mut().expect(expect).device_ptr_mut(stream).0,
            part_counts: divided.counts.as_mut().expect(expect).device_ptr_mut(stream).0,
            kept: divided.kept.as_mut().expect(expect).device_ptr_mut(stream).0,
            ..selection
        };
        let launches = [
            (&divided.bound, Self::config((rows, 1), BOUND_THREADS)),
            (&divided.parts, Self::config((self.parts as u32, rows), BITS_THREADS)),
            (&divided.combine, Self::config((rows, 1), BITS_THREADS)),
        ];
        for (function, config) in launches {
            // SAFETY: as above.
            unsafe { stream.launch_builder(function).arg(&selection).launch(config) }?;
        }
        Ok(())
    }
}
