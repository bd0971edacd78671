//! The search behind the tensor-core filter: `cuda/mma_filter.cuh` and `cuda/select.cuh`, in turn, over chunks of the
//! points.
//!
//! The filter takes every query's `max_distance` as it was when the chunk began, so chunks begin small and double: the
//! bound is then never much too loose. What it computes, and why it never loses a neighbour, is in `docs/filter.md`.

use std::ops::Range;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, LaunchConfig, PinnedHostSlice, PushKernelArg,
};

use super::driver::say;
use super::kernels::{Kernels, Unit, build_name};
use super::policy::Variant;
use super::search::{Device, TallyOut};
use crate::knn::{Build, Problem};

/// Points that a chunk begins at a multiple of: two tiles of the filter, whose bits lie together.
const CHUNK: usize = 256;
/// Queries that pass over the points together, at most: a multiple of the filter's tile.
const MOST_ROWS: usize = 1 << 14;
/// Most bytes of the bits of a chunk.
const SURVIVOR_BYTES: usize = 512 << 20;
/// Rows of the points that say where the centre is, and how far from it they lie.
const SAMPLE: usize = 1024;

/// Whether the filter is worth its preparation. A tile of it costs nearly the same for one query as for all it has
/// place for, and its first chunk is not filtered at all.
pub fn pays(problem: &Problem, compute_capability: (i32, i32)) -> bool {
    let capacity = Variant::new(problem.k(), problem.dims()).capacity as usize;
    // Up to 3 dimensions the direct kernel is as fast; beyond 2^16 the margin could not hold.
    let dims = 4..1 << 16;
    compute_capability >= (8, 0) && dims.contains(&problem.dims()) && problem.n() >= 64 * capacity && problem.q() >= 16
}

/// `Rounding` of `cuda/mma_filter.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Rounding {
    rows: CUdeviceptr,
    centre: CUdeviceptr,
    scale: f64,
    epsilon: f64,
    factor: f32,
    count: u32,
    d: u32,
    padded_d: u32,
    rounded: CUdeviceptr,
    bounds: CUdeviceptr,
    errors: CUdeviceptr,
    largest_errors: CUdeviceptr,
}

/// `Filter` of `cuda/mma_filter.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct FilterArguments {
    points: CUdeviceptr,
    point_bounds: CUdeviceptr,
    largest_errors: CUdeviceptr,
    queries: CUdeviceptr,
    query_bounds: CUdeviceptr,
    radii: CUdeviceptr,
    padded_d: u32,
    first_tile: u32,
    tiles: u32,
    tiles_a_block: u32,
    survivors: CUdeviceptr,
    query_rows: u32,
}

/// `Select` of `cuda/select.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct SelectArguments {
    points: CUdeviceptr,
    queries: CUdeviceptr,
    n: u32,
    d: u32,
    k: u32,
    first_query: u32,
    last_query: u32,
    first_point: u32,
    last_point: u32,
    survivors: CUdeviceptr,
    query_rows: u32,
    keys: CUdeviceptr,
    buffers: CUdeviceptr,
    warps: CUdeviceptr,
    radii: CUdeviceptr,
    errors: CUdeviceptr,
    scale: f64,
    epsilon: f64,
    computed: CUdeviceptr,
    indices: CUdeviceptr,
    squared_distances: CUdeviceptr,
    tally: TallyOut,
}

// The device code asserts the same of its own.
const _: () = assert!(size_of::<Rounding>() == 80 && std::mem::offset_of!(Rounding, rounded) == 48);
const _: () = assert!(size_of::<FilterArguments>() == 80 && std::mem::offset_of!(FilterArguments, survivors) == 64);
const _: () = assert!(size_of::<SelectArguments>() == 176);
const _: () = assert!(std::mem::offset_of!(SelectArguments, survivors) == 48 && std::mem::offset_of!(SelectArguments, tally) == 144);

// SAFETY: the device's structs, member for member.
unsafe impl DeviceRepr for Rounding {}
unsafe impl DeviceRepr for FilterArguments {}
unsafe impl DeviceRepr for SelectArguments {}

/// How the filter's kernels are cut to size for a number of dimensions: `FilterCut` of `cuda/filter.cu`.
struct Cut {
    name: &'static str,
    tile: usize,
    threads: u32,
    padded_d: usize,
    shared_bytes: u32,
}

impl Cut {
    /// Queries stay in shared memory up to this many dimensions.
    const RESIDENT: usize = 128;

    fn new(numbers: &[u32], d: usize) -> Option<Self> {
        let &[tile, threads, ref forms @ ..] = numbers else { return None };
        let (name, form) = match d {
            ..=16 => ("filter_16_resident", 0),
            17..=Self::RESIDENT => ("filter_32_resident", 1),
            _ => ("filter_32_streaming", 2),
        };
        let &[slab, fixed, a_slab] = forms.get(3 * form..3 * form + 3)? else { return None };
        let slabs = d.div_ceil(slab as usize);
        Some(Self { name, tile: tile as usize, threads, padded_d: slabs * slab as usize, shared_bytes: fixed + a_slab * slabs as u32 })
    }
}

/// Rows as the filter takes them: whole tiles, rounded to BF16.
struct Rounded {
    rows: CudaSlice<u16>,
    bounds: CudaSlice<f32>,
    /// Of each row, for queries; the largest of each tile, for points.
    errors: CudaSlice<f32>,
}

/// What chunks leave to each other, for so many queries at a time.
struct Scratch {
    survivors: CudaSlice<u32>,
    keys: CudaSlice<u64>,
    buffers: CudaSlice<u64>,
    warps: CudaSlice<u64>,
    radii: CudaSlice<f32>,
    computed: CudaSlice<u64>,
    /// What `computed` was after the last chunk.
    seen: PinnedHostSlice<u64>,
    copied: CudaEvent,
}

/// A problem prepared for the filter.
pub struct Filtered {
    cut: Cut,
    filter: CudaFunction,
    selects: [CudaFunction; 3],
    select_warps: u32,
    multiprocessors: u32,
    capacity: usize,
    n: usize,
    d: usize,
    k: usize,
    scale: f64,
    epsilon: f64,
    points: Rounded,
    queries: Rounded,
    scratch: Scratch,
}

impl Filtered {
    /// Bytes of device memory that a problem takes beside its own.
    pub fn bytes(problem: &Problem) -> u64 {
        let (n, q) = (problem.n().next_multiple_of(CHUNK) as u64, problem.q() as u64 + 2 * CHUNK as u64);
        let padded_d = problem.dims().next_multiple_of(32) as u64;
        let capacity = u64::from(Variant::new(problem.k(), problem.dims()).capacity);
        let rows = q.min(MOST_ROWS as u64);
        (n + q) * (2 * padded_d + 8) + (rows * n / 8).min(SURVIVOR_BYTES as u64) + rows * (16 * capacity + 16)
    }

    /// Rounds the problem, whose rows are on the device already. Nothing is launched later that was not loaded here.
    ///
    /// # Errors
    /// One sentence, where kernels or memory cannot be had.
    pub fn new(kernels: &mut Kernels, stream: &std::sync::Arc<CudaStream>, problem: &Problem, device: &Device<'_>) -> Result<Self, String> {
        let (n, d, k, q) = (problem.n(), problem.dims(), problem.k(), problem.q());
        let capacity = Variant::new(k, d).capacity;
        let (filters, selects) = (Unit::new("filter", 0, 0), Unit::new("select", capacity, 0));
        let cut = Cut::new(&kernels.numbers(filters, "filter_cut")?, d).ok_or("the filter's module does not say how it is cut")?;
        let select_warps = *kernels.numbers(selects, "select_warps")?.first().ok_or("the selection's module does not say how it is cut")?;
        let filter = kernels.function(filters, cut.name)?;
        filter.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, cut.shared_bytes as i32).map_err(say)?;
        let round = kernels.function(filters, "filter_round")?;
        let mut select = |build| kernels.function(selects, &format!("select_k{capacity}_{}", build_name(build)));
        let selects = [select(Build::Timed)?, select(Build::Counted)?, select(Build::Profiled)?];

        let (centre, scale) = frame(problem.points(), d);
        // docs/filter.md derives it.
        let epsilon = (cut.padded_d + 32) as f64 * 2f64.powi(-20);
        let capacity = capacity as usize;
        let prepare = || -> Result<_, DriverError> {
            let context = stream.context();
            let tiles = |rows: usize| rows.div_ceil(CHUNK) * (CHUNK / cut.tile);
            // A launch may begin at any query, and reads whole tiles.
            let (point_tiles, query_tiles) = (tiles(n), tiles(q) + 1);
            let centre = stream.clone_htod(&centre)?;
            let rounded = |source: CUdeviceptr, count: usize, tiles: usize, queries: bool| -> Result<Rounded, DriverError> {
                let rows = tiles * cut.tile;
                let mut rounded = Rounded {
                    rows: stream.alloc_zeros(rows * cut.padded_d)?,
                    bounds: stream.alloc_zeros(rows)?,
                    errors: stream.alloc_zeros(if queries { rows } else { tiles })?,
                };
                let errors = rounded.errors.device_ptr_mut(stream).0;
                let arguments = Rounding {
                    rows: source,
                    centre: centre.device_ptr(stream).0,
                    scale,
                    epsilon,
                    factor: if queries { 2.0 } else { 1.0 },
                    count: count as u32,
                    d: d as u32,
                    padded_d: cut.padded_d as u32,
                    rounded: rounded.rows.device_ptr_mut(stream).0,
                    bounds: rounded.bounds.device_ptr_mut(stream).0,
                    errors: if queries { errors } else { 0 },
                    largest_errors: if queries { 0 } else { errors },
                };
                let config = LaunchConfig { grid_dim: (tiles as u32, 1, 1), block_dim: (cut.threads, 1, 1), shared_mem_bytes: 0 };
                // SAFETY: `Rounding` is the kernel's parameter; its pointers are to as many rows as it says.
                unsafe { stream.launch_builder(&round).arg(&arguments).launch(config) }?;
                Ok(rounded)
            };
            let points = rounded(device.points, n, point_tiles, false)?;
            let queries = rounded(device.queries, q, query_tiles, true)?;
            let rows = q.min(MOST_ROWS).next_multiple_of(cut.tile);
            let scratch = Scratch {
                survivors: stream.alloc_zeros((rows * n.next_multiple_of(CHUNK) / 8).min(SURVIVOR_BYTES) / 4)?,
                keys: stream.alloc_zeros(rows * capacity)?,
                buffers: stream.alloc_zeros(rows * capacity)?,
                warps: stream.alloc_zeros(rows)?,
                radii: stream.alloc_zeros(rows)?,
                computed: stream.alloc_zeros(1)?,
                // SAFETY: written by the device before it is read.
                seen: unsafe { context.alloc_pinned(1) }?,
                copied: context.new_event(None)?,
            };
            let multiprocessors = context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
            stream.synchronize()?;
            Ok((points, queries, scratch, multiprocessors))
        };
        let (points, queries, scratch, multiprocessors) = prepare().map_err(say)?;
        Ok(Self { cut, filter, selects, select_warps, multiprocessors, capacity, n, d, k, scale, epsilon, points, queries, scratch })
    }

    /// Answers the queries of a range, whose entries of the tally begin at `tally`; false, and nothing answered, where the
    /// filter lets so much through that the direct kernel is faster.
    pub fn search(&mut self, stream: &CudaStream, device: &Device<'_>, queries: &Range<usize>, build: Build, tally: TallyOut) -> Result<bool, DriverError> {
        for start in queries.clone().step_by(MOST_ROWS) {
            let part = start..queries.end.min(start + MOST_ROWS);
            if !self.pass(stream, device, &part, build, tally.from(start - queries.start))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One pass over the points.
    fn pass(&mut self, stream: &CudaStream, device: &Device<'_>, queries: &Range<usize>, build: Build, tally: TallyOut) -> Result<bool, DriverError> {
        let rows = queries.len().next_multiple_of(self.cut.tile);
        let most = (self.scratch.survivors.len() * 32 / rows / CHUNK).max(1) * CHUNK;
        stream.memset_zeros(&mut self.scratch.computed)?;
        let mut before = 0;
        for chunk in chunks(self.n, 8 * self.capacity, most) {
            if chunk.start > 0 {
                self.launch_filter(stream, queries, &chunk)?;
                // While the filter runs: what the chunk before came to.
                self.scratch.copied.synchronize()?;
                let computed = self.scratch.seen.as_slice()?[0];
                let previous = before..computed;
                before = computed;
                if self.lets_too_much_through(queries.len(), chunk.start, previous.end - previous.start) {
                    return Ok(false);
                }
            }
            self.launch_select(stream, device, queries, &chunk, build, tally)?;
            stream.memcpy_dtoh(&self.scratch.computed, &mut self.scratch.seen)?;
            self.scratch.copied.record(stream)?;
        }
        Ok(true)
    }
}
