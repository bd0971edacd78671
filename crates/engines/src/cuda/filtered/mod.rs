//! The tensor-core filtered search: alternates `cuda/filtered/filter.cuh` and `cuda/filtered/survivors.cuh`
//! over chunks of the points.
//!
//! The filter uses each query's `max_distance` from the start of the chunk, so chunks start small and double:
//! the bound is then never much too loose. `docs/filter.md` describes the arithmetic and proves that no
//! neighbour is lost.

mod frame;
mod probe;

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DriverError, LaunchConfig,
    PinnedHostSlice,
};

use frame::frame;
pub use probe::{check_loss, worst_loss};

use super::device::driver::error_text;
use super::device::kernels::KernelCache;
use super::device::memory::{Addresses, SearchBuffers, blocks, launch};
use super::device::units::{Unit, build_name};
use super::direct::Variant;
use super::interface::TallyOut;
use super::interface::filtered::{
    FILTER_FORMS, FILTER_THREADS, FILTER_TILE, FILTER_TILES_TOGETHER, Filter, FilterForms, ROUND_ENTRY,
    Rounding, SURVIVOR_WARPS, SurvivorSearch, SurvivorState, filter_entry, survivors_entry,
};
use crate::cuda::DriverResult;
use crate::knn::{DeviceId, KernelBuild, Problem};

/// Queries and points per filter tile.
const TILE: usize = FILTER_TILE as usize;
/// The most queries that share a pass over the points: a multiple of the filter's tile.
const MAX_ROWS: usize = 1 << 14;
/// Queries that fill the device, given that there are many points.
pub const FIRST_QUERIES: usize = 2048;
/// Queries that cost no more than a single one: a whole tile.
pub const QUERY_UNIT: usize = TILE;
/// Upper limit on the bytes of a chunk's survivor bits.
const SURVIVOR_BYTES: usize = 512 << 20;
/// Size of the first chunk, which is not filtered, in multiples of the capacity.
const FIRST_CHUNKS: usize = 8;
/// From this point on, the host checks how many points survived.
const MIN_CHECKED_POINTS: usize = 1 << 13;
/// Points farther from the centre than this multiple of the usual distance bypass the filter; they are few.
const FARTHEST: f64 = 16.0;

/// Whether the filter is worth its setup cost, given that its first chunk is not filtered. A single query
/// takes as long as a whole tile, which is still much faster than one warp scanning all points.
///
/// # Errors
/// One sentence saying why not.
pub fn check_worthwhile(problem: &Problem, compute_capability: (i32, i32)) -> Result<(), String> {
    if compute_capability < (8, 0) {
        return Err("needs a GPU of compute capability 8.0 or later".to_owned());
    }
    // Up to 3 dimensions the direct kernel is as fast; beyond 2^16 the margin does not hold.
    if !(4..1 << 16).contains(&problem.dims()) {
        return Err(format!("supports 4 to 65535 dimensions, not {}", problem.dims()));
    }
    let least = least_points(problem.k(), problem.dims());
    if problem.n() < least {
        return Err(format!("with k = {}, needs at least {least} points, not {}", problem.k(), problem.n()));
    }
    Ok(())
}

/// Number of points above which the first, unfiltered chunk is a small part of the work.
pub fn least_points(k: usize, dims: usize) -> usize {
    64 * Variant::new(k, dims).capacity as usize
}

/// The number of points that are searched before the filter has a bound.
pub fn first_chunk(k: usize, dims: usize) -> usize {
    FIRST_CHUNKS * Variant::new(k, dims).capacity as usize
}

/// Chunks start at multiples of this many points: the filter tiles whose survivor bits are stored together.
const CHUNK: usize = (FILTER_TILE * FILTER_TILES_TOGETHER) as usize;

/// The chunks of n points: the first has `first` points, each later one doubles the number covered, up to
/// `most` per chunk. All start at multiples of [`CHUNK`].
fn chunks(n: usize, first: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= n {
            return None;
        }
        let size = if start == 0 { first } else { start }.next_multiple_of(CHUNK).min(most);
        // A small remainder is merged into the last chunk.
        let end = if n - start <= (size + size / 4).min(most) { n } else { start + size };
        Some(std::mem::replace(&mut start, end)..end)
    })
}

/// Whether too many pairs of points `from..to` and `queries` queries survived: more than a sixteenth, and far
/// more than in random order, where a point is a candidate if it is among the `reach` nearest so far.
fn too_many_survivors(
    survivors: u64,
    pairs: u64,
    queries: usize,
    reach: usize,
    from: usize,
    to: usize,
) -> bool {
    let expected = reach as f64 * (to as f64 / from as f64).ln() * queries as f64;
    survivors > pairs / 16 && survivors as f64 > 8.0 * expected
}

/// The filter kernel for a number of dimensions, and its launch parameters.
struct FilterVariant {
    name: String,
    padded_d: usize,
    shared_bytes: u32,
}

impl FilterVariant {
    /// Up to this many dimensions, queries stay in shared memory.
    const RESIDENT: usize = 128;

    /// Picks the form from the module's `FILTER_FORMS`.
    fn new(forms: &FilterForms, d: usize) -> Self {
        let (form, kind) = match d {
            ..=16 => (forms.forms[0], "resident"),
            17..=32 => (forms.forms[1], "resident"),
            33..=Self::RESIDENT => (forms.forms[2], "resident"),
            _ => (forms.forms[3], "streaming"),
        };
        let slabs = d.div_ceil(form.slab as usize);
        Self {
            name: filter_entry(form.slab, kind),
            padded_d: slabs * form.slab as usize,
            shared_bytes: form.fixed + form.a_slab * slabs as u32,
        }
    }
}

/// Rows in the filter's format: whole tiles, rounded to BF16.
struct RoundedRows {
    rows: CudaSlice<u16>,
    bounds: CudaSlice<f32>,
    /// Rounding errors: per row for queries, the maximum per tile for points.
    errors: CudaSlice<f32>,
}

/// State carried from chunk to chunk, for the queries of one pass.
struct Scratch {
    survivors: CudaSlice<u32>,
    keys: CudaSlice<u64>,
    buffers: CudaSlice<u64>,
    warps: CudaSlice<u64>,
    radii: CudaSlice<f32>,
    computed: CudaSlice<u64>,
    /// Host copy of `computed` after the last chunk.
    seen: PinnedHostSlice<u64>,
    /// Recorded after `seen` is written. The host spins on it: the wait is short, and sleeping would double
    /// it.
    copied: CudaEvent,
}

/// The kernels of a problem, all loaded up front so that none is loaded during a search.
pub struct FilterKernels {
    variant: FilterVariant,
    round: CudaFunction,
    filter: CudaFunction,
    /// One selection kernel per build.
    selects: Vec<(KernelBuild, CudaFunction)>,
}

impl FilterKernels {
    /// Loads the kernels, compiling those that are not embedded.
    ///
    /// # Errors
    /// One sentence saying why they are unavailable.
    pub fn load(kernels: &mut KernelCache, problem: &Problem, profile: bool) -> Result<Self, String> {
        let capacity = Variant::new(problem.k(), problem.dims()).capacity;
        let (filters, selects) =
            (Unit::new("filtered/filter", 0, 0), Unit::new("filtered/survivors", capacity, 0));
        let variant = FilterVariant::new(&kernels.constant(filters, FILTER_FORMS)?, problem.dims());
        let filter = kernels.function(filters, &variant.name)?;
        filter
            .set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, variant.shared_bytes as i32)
            .map_err(error_text)?;
        let round = kernels.function(filters, ROUND_ENTRY)?;
        let builds = KernelBuild::all(profile);
        kernels.compile_ahead(&[selects], builds);
        let select = |&build| {
            Ok((
                build,
                kernels.function(selects.for_build(build), &survivors_entry(capacity, build_name(build)))?,
            ))
        };
        let selects = builds.iter().map(select).collect::<Result<_, String>>()?;
        Ok(Self { variant, round, filter, selects })
    }
}

/// Points in the filter's format, cached with the problem's points.
struct FilterPoints {
    rounded: RoundedRows,
    /// Subtracted from every row before rounding.
    centre: CudaSlice<f32>,
    scale: f64,
}

/// Queries that the scratch memory has room for: those that share a pass over the points, rounded up to whole
/// tiles.
fn scratch_rows(q: usize) -> usize {
    q.min(MAX_ROWS).next_multiple_of(TILE)
}

/// A problem prepared for the filter.
pub struct FilterSearch {
    stream: Arc<CudaStream>,
    kernels: FilterKernels,
    multiprocessors: u32,
    capacity: usize,
    n: usize,
    k: usize,
    epsilon: f64,
    points: Arc<FilterPoints>,
    queries: RoundedRows,
    scratch: Scratch,
}

impl FilterSearch {
    /// Bytes of device memory needed in addition to the problem's own.
    pub fn bytes(problem: &Problem) -> u64 {
        let (n, q) = (problem.n().next_multiple_of(CHUNK) as u64, problem.q() as u64 + 2 * CHUNK as u64);
        let padded_d = problem.dims().next_multiple_of(64) as u64;
        let capacity = u64::from(Variant::new(problem.k(), problem.dims()).capacity);
        let rows = scratch_rows(problem.q()) as u64;
        (n + q) * (2 * padded_d + 8) + (rows * n / 8).min(SURVIVOR_BYTES as u64) + rows * (16 * capacity + 16)
    }

    /// Rounds the points and queries, which must already be on the device as rows.
    ///
    /// # Errors
    /// One sentence, if memory cannot be allocated.
    pub fn new(
        kernels: FilterKernels,
        stream: &Arc<CudaStream>,
        device: DeviceId,
        problem: &Problem,
        memory: &SearchBuffers,
    ) -> Result<Self, String> {
        let (n, d, k, q) = (problem.n(), problem.dims(), problem.k(), problem.q());
        let capacity = Variant::new(k, d).capacity;
        let (variant, round) = (&kernels.variant, &kernels.round);
        // Derived in docs/filter.md.
        let epsilon = (variant.padded_d + 32) as f64 * 2f64.powi(-20);
        let capacity = capacity as usize;
        let prepare = || -> DriverResult<_> {
            let context = stream.context();
            let tiles = |rows: usize| rows.div_ceil(CHUNK) * (CHUNK / TILE);
            // A launch may start at any query and reads whole tiles.
            let (point_tiles, query_tiles) = (tiles(n), tiles(q) + 1);
            type Floats = CudaSlice<f32>;
            let rounded =
                |source: &Floats, count: usize, tiles: usize, queries: bool, centre: &Floats, scale: f64| {
                    let rows = tiles * TILE;
                    let mut rounded = RoundedRows {
                        rows: stream.alloc_zeros(rows * variant.padded_d)?,
                        bounds: stream.alloc_zeros(rows)?,
                        errors: stream.alloc_zeros(if queries { rows } else { tiles })?,
                    };
                    let errors = rounded.errors.device_ptr_mut(stream).0;
                    let arguments = Rounding {
                        rows: source.device_ptr(stream).0,
                        centre: centre.device_ptr(stream).0,
                        scale,
                        epsilon,
                        // A distant point would loosen the bound of its whole tile; a query affects only
                        // itself.
                        largest_norm: if queries { 2f64.powi(80) } else { FARTHEST.powi(2) * d as f64 },
                        factor: if queries { 2.0 } else { 1.0 },
                        count: count as u32,
                        d: d as u32,
                        padded_d: variant.padded_d as u32,
                        rounded: rounded.rows.device_ptr_mut(stream).0,
                        bounds: rounded.bounds.device_ptr_mut(stream).0,
                        errors: if queries { errors } else { 0 },
                        largest_errors: if queries { 0 } else { errors },
                    };
                    // SAFETY: `Rounding` is the kernel's parameter; its pointers cover the number of rows
                    // that it states.
                    unsafe { launch(stream, round, blocks(tiles as u32, FILTER_THREADS), &arguments) }?;
                    Ok::<RoundedRows, DriverError>(rounded)
                };
            let points = match problem.cache().get(device, |_: &FilterPoints| true) {
                Some(points) => points,
                None => {
                    let (centre, scale) = frame(problem.points(), d);
                    let centre = stream.clone_htod(&centre)?;
                    let rounded = rounded(&memory.points.floats, n, point_tiles, false, &centre, scale)?;
                    // Other searches may read the result on their own streams.
                    stream.synchronize()?;
                    let points = Arc::new(FilterPoints { rounded, centre, scale });
                    problem.cache().insert(device, Arc::clone(&points));
                    points
                }
            };
            let queries = rounded(&memory.queries, q, query_tiles, true, &points.centre, points.scale)?;
            let rows = scratch_rows(q);
            let scratch = Scratch {
                survivors: stream
                    .alloc_zeros((rows * n.next_multiple_of(CHUNK) / 8).min(SURVIVOR_BYTES) / 4)?,
                keys: stream.alloc_zeros(rows * capacity)?,
                buffers: stream.alloc_zeros(rows * capacity)?,
                warps: stream.alloc_zeros(rows)?,
                radii: stream.alloc_zeros(rows)?,
                computed: stream.alloc_zeros(1)?,
                // SAFETY: the device writes it before it is read.
                seen: unsafe { context.alloc_pinned(1) }?,
                copied: context.new_event(None)?,
            };
            let multiprocessors = context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
            stream.synchronize()?;
            Ok((points, queries, scratch, multiprocessors))
        };
        let (points, queries, scratch, multiprocessors) = prepare().map_err(error_text)?;
        Ok(Self {
            stream: Arc::clone(stream),
            kernels,
            multiprocessors,
            capacity,
            n,
            k,
            epsilon,
            points,
            queries,
            scratch,
        })
    }

    /// Answers a range of queries, whose entries in the tally start at `tally`. Returns false and answers
    /// nothing if so many points survive that the direct kernel is faster.
    pub fn search(
        &mut self,
        memory: &mut SearchBuffers,
        queries: &Range<usize>,
        build: KernelBuild,
        tally: TallyOut,
    ) -> DriverResult<bool> {
        for start in queries.clone().step_by(MAX_ROWS) {
            let part = start..queries.end.min(start + MAX_ROWS);
            if !self.pass(memory, &part, build, tally.from(start - queries.start))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One pass over the points for a range of queries; returns the same as [`Self::search`].
    fn pass(
        &mut self,
        memory: &mut SearchBuffers,
        queries: &Range<usize>,
        build: KernelBuild,
        tally: TallyOut,
    ) -> DriverResult<bool> {
        let rows = queries.len().next_multiple_of(TILE);
        let most = (self.scratch.survivors.len() * 32 / rows / CHUNK).max(1) * CHUNK;
        self.stream.memset_zeros(&mut self.scratch.computed)?;
        let (mut computed, mut from) = (0, 0);
        for chunk in chunks(self.n, FIRST_CHUNKS * self.capacity, most) {
            if chunk.start > 0 {
                self.launch_filter(queries, &chunk)?;
            }
            // Read while the filter runs, so that the device does not idle; skipped for the first chunks,
            // which finish before the answer arrives.
            if chunk.start >= MIN_CHECKED_POINTS {
                self.scratch.copied.synchronize()?;
                let now = self.scratch.seen.as_slice()?[0];
                let (pairs, survivors) = ((chunk.start - from) as u64 * queries.len() as u64, now - computed);
                if from > 0
                    && too_many_survivors(
                        survivors,
                        pairs,
                        queries.len(),
                        self.k + self.capacity,
                        from,
                        chunk.start,
                    )
                {
                    return Ok(false);
                }
                (computed, from) = (now, chunk.start);
            }
            self.launch_select(memory, queries, &chunk, build, tally)?;
            if chunk.end >= MIN_CHECKED_POINTS {
                self.stream.memcpy_dtoh(&self.scratch.computed, &mut self.scratch.seen)?;
                self.scratch.copied.record(&self.stream)?;
            }
        }
        Ok(true)
    }

    fn launch_filter(&mut self, queries: &Range<usize>, chunk: &Range<usize>) -> DriverResult {
        let stream = &self.stream;
        let (query_tiles, tiles) = (queries.len().div_ceil(TILE), chunk.len().div_ceil(TILE));
        // A block processes several tiles of points with the same queries, if there are enough blocks: two
        // run at a time on each multiprocessor.
        let tiles_a_block = (query_tiles * tiles).div_ceil(8 * self.multiprocessors as usize).clamp(1, 64);
        let first = queries.start as u64;
        let arguments = Filter {
            points: self.points.rounded.rows.device_ptr(stream).0,
            point_bounds: self.points.rounded.bounds.device_ptr(stream).0,
            largest_errors: self.points.rounded.errors.device_ptr(stream).0,
            queries: self.queries.rows.device_ptr(stream).0
                + first * self.kernels.variant.padded_d as u64 * 2,
            query_bounds: self.queries.bounds.device_ptr(stream).0 + first * 4,
            radii: self.scratch.radii.device_ptr(stream).0,
            padded_d: self.kernels.variant.padded_d as u32,
            first_tile: (chunk.start / TILE) as u32,
            tiles: tiles as u32,
            tiles_a_block: tiles_a_block as u32,
            survivors: self.scratch.survivors.device_ptr_mut(stream).0,
            query_rows: (query_tiles * TILE) as u32,
        };
        let config = LaunchConfig {
            grid_dim: (query_tiles as u32, tiles.div_ceil(tiles_a_block) as u32, 1),
            block_dim: (FILTER_THREADS, 1, 1),
            shared_mem_bytes: self.kernels.variant.shared_bytes,
        };
        // SAFETY: `Filter` is the kernel's parameter; its pointers are to buffers of this search with the
        // sizes that it states.
        unsafe { launch(stream, &self.kernels.filter, config, &arguments) }
    }

    fn launch_select(
        &mut self,
        memory: &mut SearchBuffers,
        queries: &Range<usize>,
        chunk: &Range<usize>,
        build: KernelBuild,
        tally: TallyOut,
    ) -> DriverResult {
        let (stream, scratch) = (&self.stream, &mut self.scratch);
        let Addresses { points, queries: rows, indices, squared_distances, n, d, k, .. } =
            memory.addresses(stream);
        let arguments = SurvivorSearch {
            points,
            queries: rows,
            n,
            d,
            k,
            first_query: queries.start as u32,
            last_query: queries.end as u32,
            first_point: chunk.start as u32,
            last_point: chunk.end as u32,
            survivors: if chunk.start > 0 { scratch.survivors.device_ptr(stream).0 } else { 0 },
            query_rows: queries.len().next_multiple_of(TILE) as u32,
            state: SurvivorState {
                keys: scratch.keys.device_ptr_mut(stream).0,
                buffers: scratch.buffers.device_ptr_mut(stream).0,
                warps: scratch.warps.device_ptr_mut(stream).0,
            },
            radii: scratch.radii.device_ptr_mut(stream).0,
            errors: self.queries.errors.device_ptr(stream).0,
            scale: self.points.scale,
            epsilon: self.epsilon,
            computed: scratch.computed.device_ptr_mut(stream).0,
            indices,
            squared_distances,
            tally,
        };
        let (_, select) = self
            .kernels
            .selects
            .iter()
            .find(|(of, _)| *of == build)
            .expect("a build that the search was loaded for");
        let config = blocks((queries.len() as u32).div_ceil(SURVIVOR_WARPS), SURVIVOR_WARPS * 32);
        // SAFETY: as for the filter above.
        unsafe { launch(stream, select, config, &arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::interface::filtered::FilterForm;

    #[test]
    fn scratch_rows_round_up_to_whole_tiles() {
        assert_eq!(
            [1, 127, 128, 129, MAX_ROWS, 1_000_000].map(scratch_rows),
            [128, 128, 128, 256, MAX_ROWS, MAX_ROWS]
        );
    }

    #[test]
    fn chunks_double_and_cover_all_points() {
        for (n, first, most) in [
            (1, 256, 1 << 20),
            (1_000_003, 256, 1 << 20),
            (300_000, 8192, 16_384),
            (257, 256, 256),
            (1_000_000, 1024, 262_144),
        ] {
            let all: Vec<_> = chunks(n, first, most).collect();
            assert_eq!((all[0].start, all[all.len() - 1].end), (0, n));
            for pair in all.windows(2) {
                assert_eq!(pair[0].end, pair[1].start);
                assert!(pair[1].start % CHUNK == 0 && pair[1].len() <= most, "{pair:?}");
                assert!(
                    pair[1].len() <= pair[1].start + pair[1].start / 4,
                    "{pair:?}: the bound would be too loose"
                );
            }
        }
        assert_eq!(chunks(1_000_000, 256, usize::MAX / 2).count(), 13);
    }

    #[test]
    fn expected_survivor_counts_are_accepted() {
        // Random order: half of 64 candidates in 256 points is a lot, but expected.
        assert!(!too_many_survivors(40 * 100, 256 * 100, 100, 64, 256, 512));
        // Every point survives.
        assert!(too_many_survivors(8192 * 100, 8192 * 100, 100, 64, 8192, 16_384));
        // Far more than in random order, but few enough to be cheap to compute.
        assert!(!too_many_survivors(100_000, 100 * 100_000, 100, 64, 100_000, 200_000));
    }

    #[test]
    fn variants_pad_dimensions_to_whole_slabs() {
        let form = |slab, fixed, a_slab| FilterForm { slab, fixed, a_slab };
        let forms = FilterForms {
            forms: [form(16, 1000, 10), form(32, 2000, 20), form(64, 2500, 30), form(64, 3000, 0)],
        };
        let variant = |d| {
            let FilterVariant { name, padded_d, shared_bytes } = FilterVariant::new(&forms, d);
            (name, padded_d, shared_bytes)
        };
        assert_eq!(variant(4), ("filter_16_resident".to_owned(), 16, 1010));
        assert_eq!(variant(17), ("filter_32_resident".to_owned(), 32, 2020));
        assert_eq!(variant(65), ("filter_64_resident".to_owned(), 128, 2560));
        assert_eq!(variant(129), ("filter_64_streaming".to_owned(), 192, 3000));
    }
}
