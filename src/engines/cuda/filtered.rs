//! The search behind the tensor-core filter: `cuda/mma_filter.cuh` and `cuda/select.cuh`, in turn, over chunks of the
//! points.
//!
//! The filter takes every query's `max_distance` as it was when the chunk began, so chunks begin small and double: the
//! bound is then never much too loose. What it computes, and why it never loses a neighbour, is in `docs/filter.md`.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, LaunchConfig, PinnedHostSlice, PushKernelArg,
};

use super::driver::say;
use super::kernels::{Kernels, Unit, build_name};
use super::memory::Memory;
use super::policy::Variant;
use super::search::TallyOut;
use crate::knn::{Build, Problem};

/// Points that a chunk begins at a multiple of: two tiles of the filter, whose bits lie together.
const CHUNK: usize = 256;
/// Queries that pass over the points together, at most: a multiple of the filter's tile.
const MOST_ROWS: usize = 1 << 14;
/// Queries that fill the device, as the points are many.
pub const FIRST_QUERIES: usize = 2048;
/// Queries that take no longer than one: a tile.
pub const QUERY_UNIT: usize = 128;
/// Most bytes of the bits of a chunk.
const SURVIVOR_BYTES: usize = 512 << 20;
/// The first chunk, which is not filtered, in capacities.
const FIRST_CHUNKS: usize = 8;
/// From this point on the host asks what survived.
const WORTH_ASKING: usize = 1 << 13;
/// Points so many times farther from the centre than most are not filtered: there are few of them.
const FARTHEST: f64 = 16.0;
/// Rows of the points that say where the centre is, and how far from it they lie.
const SAMPLE: usize = 1024;

/// Whether the filter is worth its preparation: its first chunk is not filtered at all. It answers one query as fast as
/// a tile of them, which is still much faster than one warp that goes through all points.
pub fn pays(problem: &Problem, compute_capability: (i32, i32)) -> bool {
    let capacity = Variant::new(problem.k(), problem.dims()).capacity as usize;
    // Up to 3 dimensions the direct kernel is as fast; beyond 2^16 the margin could not hold.
    let dims = 4..1 << 16;
    compute_capability >= (8, 0) && dims.contains(&problem.dims()) && problem.n() >= 64 * capacity
}

/// `Rounding` of `cuda/mma_filter.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Rounding {
    rows: CUdeviceptr,
    centre: CUdeviceptr,
    scale: f64,
    epsilon: f64,
    largest_norm: f64,
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
const _: () = assert!(size_of::<Rounding>() == 88 && std::mem::offset_of!(Rounding, rounded) == 56);
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
            17..=32 => ("filter_32_resident", 1),
            33..=Self::RESIDENT => ("filter_64_resident", 2),
            _ => ("filter_64_streaming", 3),
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
    /// Recorded when `seen` is written. Waited for awake: the wait is short, and sleeping would cost as much again.
    copied: CudaEvent,
}

/// A problem prepared for the filter.
pub struct Filtered {
    stream: Arc<CudaStream>,
    cut: Cut,
    filter: CudaFunction,
    /// A build each, those that may be asked for.
    selects: Vec<(Build, CudaFunction)>,
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
        let padded_d = problem.dims().next_multiple_of(64) as u64;
        let capacity = u64::from(Variant::new(problem.k(), problem.dims()).capacity);
        let rows = q.min(MOST_ROWS as u64);
        (n + q) * (2 * padded_d + 8) + (rows * n / 8).min(SURVIVOR_BYTES as u64) + rows * (16 * capacity + 16)
    }

    /// Rounds the problem, whose rows are on the device already. Nothing is launched later that was not loaded here.
    ///
    /// # Errors
    /// One sentence, where kernels or memory cannot be had.
    pub fn new(kernels: &mut Kernels, stream: &Arc<CudaStream>, problem: &Problem, memory: &Memory, profile: bool) -> Result<Self, String> {
        let (n, d, k, q) = (problem.n(), problem.dims(), problem.k(), problem.q());
        let capacity = Variant::new(k, d).capacity;
        let (filters, selects) = (Unit::new("filter", 0, 0), Unit::new("select", capacity, 0));
        let cut = Cut::new(&kernels.numbers(filters, "filter_cut")?, d).ok_or("the filter's module does not say how it is cut")?;
        let filter = kernels.function(filters, cut.name)?;
        filter.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, cut.shared_bytes as i32).map_err(say)?;
        let round = kernels.function(filters, "filter_round")?;
        let builds = if profile { &[Build::Timed, Build::Counted, Build::Profiled][..] } else { &[Build::Timed, Build::Counted] };
        kernels.compile_ahead(&[selects], builds);
        let select_warps =
            *kernels.numbers(selects.of_build(Build::Timed), "select_warps")?.first().ok_or("the selection's module does not say how it is cut")?;
        let select = |&build| Ok((build, kernels.function(selects.of_build(build), &format!("select_k{capacity}_{}", build_name(build)))?));
        let selects = builds.iter().map(select).collect::<Result<_, String>>()?;

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
            let rounded = |source: &CudaSlice<f32>, count: usize, tiles: usize, queries: bool| -> Result<Rounded, DriverError> {
                let rows = tiles * cut.tile;
                let mut rounded = Rounded {
                    rows: stream.alloc_zeros(rows * cut.padded_d)?,
                    bounds: stream.alloc_zeros(rows)?,
                    errors: stream.alloc_zeros(if queries { rows } else { tiles })?,
                };
                let errors = rounded.errors.device_ptr_mut(stream).0;
                let arguments = Rounding {
                    rows: source.device_ptr(stream).0,
                    centre: centre.device_ptr(stream).0,
                    scale,
                    epsilon,
                    // A point far out would make its whole tile coarse; a query is coarse for itself alone.
                    largest_norm: if queries { 2f64.powi(80) } else { FARTHEST.powi(2) * d as f64 },
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
            let points = rounded(&memory.points, n, point_tiles, false)?;
            let queries = rounded(&memory.queries, q, query_tiles, true)?;
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
        Ok(Self {
            stream: Arc::clone(stream),
            cut,
            filter,
            selects,
            select_warps,
            multiprocessors,
            capacity,
            n,
            d,
            k,
            scale,
            epsilon,
            points,
            queries,
            scratch,
        })
    }

    /// Answers the queries of a range, whose entries of the tally begin at `tally`; false, and nothing answered, where the
    /// filter lets so much through that the direct kernel is faster.
    pub fn search(&mut self, memory: &mut Memory, queries: &Range<usize>, build: Build, tally: TallyOut) -> Result<bool, DriverError> {
        for start in queries.clone().step_by(MOST_ROWS) {
            let part = start..queries.end.min(start + MOST_ROWS);
            if !self.pass(memory, &part, build, tally.from(start - queries.start))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One pass over the points.
    fn pass(&mut self, memory: &mut Memory, queries: &Range<usize>, build: Build, tally: TallyOut) -> Result<bool, DriverError> {
        let rows = queries.len().next_multiple_of(self.cut.tile);
        let most = (self.scratch.survivors.len() * 32 / rows / CHUNK).max(1) * CHUNK;
        self.stream.memset_zeros(&mut self.scratch.computed)?;
        let (mut computed, mut from) = (0, 0);
        for chunk in chunks(self.n, FIRST_CHUNKS * self.capacity, most) {
            if chunk.start > 0 {
                self.launch_filter(queries, &chunk)?;
            }
            // Asked while the filter runs, so that the device does not wait; not of the first chunks, which are over sooner
            // than the answer is here.
            if chunk.start >= WORTH_ASKING {
                self.scratch.copied.synchronize()?;
                let now = self.scratch.seen.as_slice()?[0];
                let (pairs, survivors) = ((chunk.start - from) as u64 * queries.len() as u64, now - computed);
                if from > 0 && too_many(survivors, pairs, queries.len(), self.k + self.capacity, from, chunk.start) {
                    return Ok(false);
                }
                (computed, from) = (now, chunk.start);
            }
            self.launch_select(memory, queries, &chunk, build, tally)?;
            if chunk.end >= WORTH_ASKING {
                self.stream.memcpy_dtoh(&self.scratch.computed, &mut self.scratch.seen)?;
                self.scratch.copied.record(&self.stream)?;
            }
        }
        Ok(true)
    }

    fn launch_filter(&mut self, queries: &Range<usize>, chunk: &Range<usize>) -> Result<(), DriverError> {
        let stream = &self.stream;
        let tile = self.cut.tile;
        let (query_tiles, tiles) = (queries.len().div_ceil(tile), chunk.len().div_ceil(tile));
        // A block keeps its queries for several tiles of points, as long as there are blocks enough: two a
        // multiprocessor run at a time.
        let tiles_a_block = (query_tiles * tiles).div_ceil(8 * self.multiprocessors as usize).clamp(1, 64);
        let first = queries.start as u64;
        let arguments = FilterArguments {
            points: self.points.rows.device_ptr(stream).0,
            point_bounds: self.points.bounds.device_ptr(stream).0,
            largest_errors: self.points.errors.device_ptr(stream).0,
            queries: self.queries.rows.device_ptr(stream).0 + first * self.cut.padded_d as u64 * 2,
            query_bounds: self.queries.bounds.device_ptr(stream).0 + first * 4,
            radii: self.scratch.radii.device_ptr(stream).0,
            padded_d: self.cut.padded_d as u32,
            first_tile: (chunk.start / tile) as u32,
            tiles: tiles as u32,
            tiles_a_block: tiles_a_block as u32,
            survivors: self.scratch.survivors.device_ptr_mut(stream).0,
            query_rows: (query_tiles * tile) as u32,
        };
        let config = LaunchConfig {
            grid_dim: (query_tiles as u32, tiles.div_ceil(tiles_a_block) as u32, 1),
            block_dim: (self.cut.threads, 1, 1),
            shared_mem_bytes: self.cut.shared_bytes,
        };
        // SAFETY: `FilterArguments` is the kernel's parameter; its pointers are to memory of this search, as long as it says.
        unsafe { stream.launch_builder(&self.filter).arg(&arguments).launch(config) }?;
        Ok(())
    }

    fn launch_select(
        &mut self,
        memory: &mut Memory,
        queries: &Range<usize>,
        chunk: &Range<usize>,
        build: Build,
        tally: TallyOut,
    ) -> Result<(), DriverError> {
        let (stream, scratch) = (&self.stream, &mut self.scratch);
        let arguments = SelectArguments {
            points: memory.points.device_ptr(stream).0,
            queries: memory.queries.device_ptr(stream).0,
            n: self.n as u32,
            d: self.d as u32,
            k: self.k as u32,
            first_query: queries.start as u32,
            last_query: queries.end as u32,
            first_point: chunk.start as u32,
            last_point: chunk.end as u32,
            survivors: if chunk.start > 0 { scratch.survivors.device_ptr(stream).0 } else { 0 },
            query_rows: queries.len().next_multiple_of(self.cut.tile) as u32,
            keys: scratch.keys.device_ptr_mut(stream).0,
            buffers: scratch.buffers.device_ptr_mut(stream).0,
            warps: scratch.warps.device_ptr_mut(stream).0,
            radii: scratch.radii.device_ptr_mut(stream).0,
            errors: self.queries.errors.device_ptr(stream).0,
            scale: self.scale,
            epsilon: self.epsilon,
            computed: scratch.computed.device_ptr_mut(stream).0,
            indices: memory.indices.device_ptr_mut(stream).0,
            squared_distances: memory.squared_distances.device_ptr_mut(stream).0,
            tally,
        };
        let (_, select) = self.selects.iter().find(|(of, _)| *of == build).expect("a build that the search was loaded for");
        let config = LaunchConfig {
            grid_dim: ((queries.len() as u32).div_ceil(self.select_warps), 1, 1),
            block_dim: (self.select_warps * 32, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: as above.
        unsafe { stream.launch_builder(select).arg(&arguments).launch(config) }?;
        Ok(())
    }
}

/// The chunks of n points: the first has `first`, each other as many as all before it, but `most` at most. All begin at
/// multiples of [`CHUNK`].
fn chunks(n: usize, first: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= n {
            return None;
        }
        let size = if start == 0 { first } else { start }.next_multiple_of(CHUNK).min(most);
        // A small remainder goes with the last.
        let end = if n - start <= (size + size / 4).min(most) { n } else { start + size };
        Some(std::mem::replace(&mut start, end)..end)
    })
}

/// Whether too many of the pairs of points `from..to` with `queries` queries survived: more than a sixteenth, although
/// randomly ordered points, each of which is a candidate if it is among the `reach` nearest so far, give far fewer.
fn too_many(survivors: u64, pairs: u64, queries: usize, reach: usize, from: usize, to: usize) -> bool {
    let expected = reach as f64 * (to as f64 / from as f64).ln() * queries as f64;
    survivors > pairs / 16 && survivors as f64 > 8.0 * expected
}

/// Where rows are measured from, so that their norms are small, and the power of two that makes those of most about one an
/// axis. Both are taken from a sample, as a median and a ninth decile, which a few far rows do not move: they may be any,
/// only the filter's sharpness hangs on them.
fn frame(rows: &[f32], d: usize) -> (Vec<f32>, f64) {
    let n = rows.len() / d;
    let sample: Vec<&[f32]> = rows.chunks_exact(d).step_by(n.div_ceil(SAMPLE)).collect();
    let mut column = vec![0f32; sample.len()];
    let centre: Vec<f32> = (0..d)
        .map(|axis| {
            column.iter_mut().zip(&sample).for_each(|(value, row)| *value = row[axis]);
            *quantile(&mut column, 0.5)
        })
        .collect();
    let norm = |row: &[f32]| row.iter().zip(&centre).map(|(&value, &centre)| (f64::from(value) - f64::from(centre)).powi(2)).sum::<f64>().sqrt();
    let mut norms: Vec<f64> = sample.iter().map(|row| norm(row)).collect();
    let most = match *quantile(&mut norms, 0.9) {
        0.0 => norms.iter().copied().fold(0.0, f64::max),
        norm => norm,
    } / (d as f64).sqrt();
    let scale = if most > 0.0 { 2f64.powi(-most.log2().round() as i32) } else { 1.0 };
    (centre, scale)
}

/// The value below which a share of the values lies.
fn quantile<T: PartialOrd>(values: &mut [T], share: f64) -> &T {
    let place = (values.len() as f64 * share) as usize;
    values.select_nth_unstable_by(place, |a, b| a.partial_cmp(b).expect("values are finite")).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_points_and_double() {
        for (n, first, most) in [(1, 256, 1 << 20), (1_000_003, 256, 1 << 20), (300_000, 8192, 16_384), (257, 256, 256), (1_000_000, 1024, 262_144)] {
            let all: Vec<_> = chunks(n, first, most).collect();
            assert_eq!((all[0].start, all[all.len() - 1].end), (0, n));
            for pair in all.windows(2) {
                assert_eq!(pair[0].end, pair[1].start);
                assert!(pair[1].start % CHUNK == 0 && pair[1].len() <= most, "{pair:?}");
                assert!(pair[1].len() <= pair[1].start + pair[1].start / 4, "{pair:?}: the bound would be too loose");
            }
        }
        assert_eq!(chunks(1_000_000, 256, usize::MAX / 2).count(), 13);
    }

    #[test]
    fn few_survivors_are_not_too_many() {
        // A random order: half of 64 candidates in 256 points is much, and as it should be.
        assert!(!too_many(40 * 100, 256 * 100, 100, 64, 256, 512));
        // Every point survives.
        assert!(too_many(8192 * 100, 8192 * 100, 100, 64, 8192, 16_384));
        // Many more than a random order gives, but so few that computing them costs little.
        assert!(!too_many(100_000, 100 * 100_000, 100, 64, 100_000, 200_000));
    }

    #[test]
    fn the_frame_is_of_most_rows() {
        let mut rows: Vec<f32> = (0..3000).map(|i| 1e4 + (i % 7) as f32 * 2f32.powi(-6)).collect();
        let (centre, scale) = frame(&rows, 3);
        assert!(centre.iter().all(|&value| (value - 1e4).abs() < 0.1), "{centre:?}");
        assert!((8.0..=64.0).contains(&scale), "{scale}");
        // One row far away moves nothing.
        rows[..3].fill(1e18);
        assert_eq!(frame(&rows, 3), (centre, scale));
        assert_eq!(frame(&[2.5; 40], 4), (vec![2.5; 4], 1.0));
    }

    #[test]
    fn cuts_pad_dimensions_to_whole_slabs() {
        let numbers = [128, 256, 16, 1000, 10, 32, 2000, 20, 64, 2500, 30, 64, 3000, 0];
        let cut = |d| Cut::new(&numbers, d).map(|cut| (cut.name, cut.padded_d, cut.shared_bytes)).unwrap();
        assert_eq!(cut(4), ("filter_16_resident", 16, 1010));
        assert_eq!(cut(17), ("filter_32_resident", 32, 2020));
        assert_eq!(cut(65), ("filter_64_resident", 128, 2560));
        assert_eq!(cut(129), ("filter_64_streaming", 192, 3000));
        assert!(Cut::new(&numbers[..5], 20).is_none());
    }

    /// The margin of docs/filter.md by brute force: a point whose distance by the rule is just below `max_distance` must
    /// survive even a tensor core that loses all that it is granted, and one much farther must not.
    #[test]
    fn the_margin_holds_and_is_sharp() {
        use rand_chacha::ChaCha8Rng;
        use rand_core::{Rng, SeedableRng};
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut unit = move || (rng.next_u32() >> 8) as f32 / 8_388_608.0 - 1.0;
        let (mut pairs, mut kept) = (0, 0);
        for d in [4usize, 16, 33, 128, 960] {
            for (scale, offset, nearness) in
                [(1.0, 0.0, 1.0), (1.0, 100.0, 1e-3), (1e-3, 1e4, 1.0), (1e15, 0.0, 1e-2), (1e-15, 0.0, 1.0), (1.0, 1e3, 1e-6), (1.0, 0.5, 1e-7)]
            {
                for _ in 0..100 {
                    let query: Vec<f32> = (0..d).map(|_| unit() * scale + offset).collect();
                    let point: Vec<f32> = query.iter().map(|&value| value + unit() * scale * nearness).collect();
                    // The frame is of other rows: this pair may be far from its centre.
                    let others: Vec<f32> = (0..9 * d).map(|_| unit() * scale).collect();
                    let (centre, s) = frame(&others, d);
                    let padded = d.next_multiple_of(16) as f64;
                    let epsilon = (padded + 32.0) * 2f64.powi(-20);
                    let round = |row: &[f32]| -> (Vec<f64>, f64) {
                        let exact: Vec<f64> = row.iter().zip(&centre).map(|(&value, &centre)| (f64::from(value) - f64::from(centre)) * s).collect();
                        let rounded: Vec<f64> = exact.iter().map(|&value| bf16(value as f32)).collect();
                        let error = exact.iter().zip(&rounded).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        (rounded, error * (1.0 + 2f64.powi(-20)))
                    };
                    let ((x, e), (y, f)) = (round(&point), round(&query));
                    let norm = |row: &[f64]| row.iter().map(|value| value * value).sum::<f64>();
                    let by_the_rule = point.iter().zip(&query).fold(0f32, |acc, (&p, &q)| (p - q).mul_add(p - q, acc));
                    let survives = |max_distance: f32| {
                        let u = 2f64.powi(-24);
                        let r = ((f64::from(max_distance) + d as f64 * 2f64.powi(-149)) / (1.0 - (d as f64 + 4.0) * u)).sqrt() * s;
                        let reach = (1.0 + epsilon) * (r + f + 2f64.powi(-50)) + (1.0 + epsilon) * e;
                        let start = reach * reach - (1.0 - epsilon) * (norm(&x) + norm(&y));
                        let products: Vec<f64> = x.iter().zip(&y).map(|(x, y)| 2.0 * x * y).collect();
                        let most = start.abs() + products.iter().map(|product| product.abs()).sum::<f64>();
                        let lost = 1.25 * padded * 2f64.powi(-22) * most;
                        start + products.iter().sum::<f64>() - lost >= 0.0
                    };
                    assert!(survives(by_the_rule.next_up()), "d = {d}, scale {scale}, offset {offset}, nearness {nearness}");
                    if offset == 0.0 && nearness == 1.0 {
                        pairs += 1;
                        kept += u32::from(survives(by_the_rule * 0.9));
                    }
                }
            }
        }
        assert!(pairs == 1000 && kept == 0, "{kept} of {pairs} pairs survive that are a tenth too far");
    }

    /// The nearest BF16.
    fn bf16(value: f32) -> f64 {
        let bits = value.to_bits();
        f64::from(f32::from_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000))
    }
}
