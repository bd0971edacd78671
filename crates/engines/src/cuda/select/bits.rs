//! The launches of `bits`: one kernel if queries fill the GPU, three if rows are divided into parts.

use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, LaunchConfig};

use super::matrix::MAX_BYTES;
use super::{DeviceSelector, Loaded};
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::driver::error_text;
use crate::cuda::device::memory::{blocks, launch};
use crate::cuda::device::units::{Unit, build_name};
use crate::cuda::interface::select::{
    BITS_BOUND_ENTRY, BITS_FEWEST_THREADS, BOUND_THREADS, Selection, bits_entry,
};
use crate::knn::{EngineError, KernelBuild, Parameters, Shape};
use crate::select::bits::{ITEMS, capacity, items, new_sample, resolved, stages, threads};
use crate::select::{BITS, SamplePlan};

/// The unit of the kernel that bounds a row.
const BOUND: &str = "select/bound";

/// With at least this many rows per multiprocessor, rows are not divided.
const FILLING: usize = 3;

/// Threads per multiprocessor for divided rows, so that the last blocks leave little of it idle.
const THREADS: usize = 4096;

/// The most parts per row by default: one block merges their results.
const MAX_PARTS: usize = 512;

const BATCHES: usize = 8;

struct PartitionKernels {
    bound: CudaFunction,
    parts: CudaFunction,
    combine: CudaFunction,
    bounds: Option<CudaSlice<f32>>,
    counts: Option<CudaSlice<u32>>,
    kept: Option<CudaSlice<u64>>,
}

struct BitsSelector {
    /// For the timed search, and for the counted one, which does not divide rows.
    samples: [SamplePlan; 2],
    parameters: Parameters,
    capacity: usize,
    /// Threads per block.
    threads: u32,
    /// Size of a block's ring of batches.
    ring_bytes: u32,
    parts: usize,
    part: usize,
    timed: CudaFunction,
    counted: CudaFunction,
    divided: Option<PartitionKernels>,
}

/// Loads `bits`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_bits(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Loaded {
    let (capacity, multiprocessors) = (capacity(shape.k), cuda.multiprocessors() as usize);
    let (threads, items) = (threads(capacity), items(parameters));
    let batch = threads * items;
    // Older GPUs copy to registers and need no ring.
    let copies_ahead = cuda.context.compute_capability().is_ok_and(|(major, _)| major >= 8);
    let ring_bytes = if copies_ahead { 4 * (stages(threads) * batch) as u32 } else { 0 };
    let option = (items != ITEMS).then_some(("WARPSCOPE_ITEMS", items as u32));
    let unit = Unit { option, ..Unit::new("select/bits", capacity as u32, 0) };
    let mut kernel = |build: KernelBuild, name: &str| {
        let function = cuda.kernel(BITS.id, unit.for_build(build), &bits_entry(capacity, name))?;
        // More than 48 KiB of shared memory, static and dynamic, requires opting in.
        let opted =
            function.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, ring_bytes as i32);
        let opted =
            opted.map_err(|error| EngineError::Unavailable { engine: BITS.id, why: error_text(error) });
        opted.map(|()| function)
    };
    let most = shape.n.div_ceil(BATCHES * batch).max(1);
    let at_once = THREADS / threads * multiprocessors;
    // A launch handles one tile, which contains all queries only if they are few.
    let rows = shape.q.min(MAX_BYTES / (4 * shape.n)).max(1);
    let wanted = || {
        if rows >= FILLING * multiprocessors {
            1
        } else {
            at_once.div_ceil(rows).clamp(1, most.min(MAX_PARTS))
        }
    };
    let parts = parameters.number("parts").map_or_else(wanted, |parts| parts as usize);
    let [timed, counted] = [
        kernel(KernelBuild::Timed, build_name(KernelBuild::Timed))?,
        kernel(KernelBuild::Counted, build_name(KernelBuild::Counted))?,
    ];
    let divided = if parts > 1 {
        let (parts, combine) = (kernel(KernelBuild::Timed, "parts")?, kernel(KernelBuild::Timed, "combine")?);
        let bound =
            cuda.kernel(BITS.id, Unit::new(BOUND, 0, 0).for_build(KernelBuild::Timed), BITS_BOUND_ENTRY)?;
        Some(PartitionKernels { bound, parts, combine, bounds: None, counts: None, kept: None })
    } else {
        None
    };
    let sample = new_sample(shape, parameters, parts);
    // Narrow blocks read whole batches 6 % faster. Wide ones read parts with arbitrary starts 13 % faster,
    // for unknown reasons.
    let part = shape.n.div_ceil(parts).next_multiple_of(if threads == BITS_FEWEST_THREADS as usize {
        batch
    } else {
        4
    });
    let samples = [sample, new_sample(shape, parameters, 1)];
    Ok(Box::new(BitsSelector {
        samples,
        parameters: resolved(sample, parameters, parts),
        capacity,
        threads: threads as u32,
        ring_bytes,
        parts,
        part,
        timed,
        counted,
        divided,
    }))
}

impl BitsSelector {
    /// A launch of this kernel, or of a part of it, with the ring of batches.
    fn config(&self, (x, y): (u32, u32)) -> LaunchConfig {
        LaunchConfig {
            grid_dim: (x, y, 1),
            block_dim: (self.threads, 1, 1),
            shared_mem_bytes: self.ring_bytes,
        }
    }
}

impl DeviceSelector for BitsSelector {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn row_bytes(&self) -> usize {
        // A bound, and for each part a count and K keys.
        if self.divided.is_some() { 4 + self.parts * (4 + 8 * self.capacity) } else { 0 }
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> DriverResult {
        let Some(divided) = &mut self.divided else { return Ok(()) };
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            divided.bounds = Some(stream.alloc(rows)?);
            divided.counts = Some(stream.alloc(rows * self.parts)?);
            divided.kept = Some(stream.alloc(rows * self.parts * self.capacity)?);
        }
        Ok(())
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: KernelBuild) -> DriverResult {
        let sample = self.samples[usize::from(build != KernelBuild::Timed)];
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
        let (of_rows, of_parts) = (self.config((rows, 1)), self.config((self.parts as u32, rows)));
        let Some(divided) = self.divided.as_mut().filter(|_| build == KernelBuild::Timed) else {
            let function = if build == KernelBuild::Timed { &self.timed } else { &self.counted };
            // SAFETY: the argument is the kernel's parameter; its pointers are to buffers of the search with
            // the sizes that it states.
            return unsafe { launch(stream, function, of_rows, &selection) };
        };
        let expect = "parts are reserved with the search";
        let selection = Selection {
            bounds: divided.bounds.as_mut().expect(expect).device_ptr_mut(stream).0,
            part_counts: divided.counts.as_mut().expect(expect).device_ptr_mut(stream).0,
            kept: divided.kept.as_mut().expect(expect).device_ptr_mut(stream).0,
            ..selection
        };
        let launches = [
            (&divided.bound, blocks(rows, BOUND_THREADS)),
            (&divided.parts, of_parts),
            (&divided.combine, of_rows),
        ];
        for (function, config) in launches {
            // SAFETY: as above.
            unsafe { launch(stream, function, config, &selection) }?;
        }
        Ok(())
    }
}
