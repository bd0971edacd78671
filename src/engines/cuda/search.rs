//! A problem on the device: memory, launches, event timing.
//!
//! All work goes to one stream, so that its order needs no events; events are there to be timed.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::{CUdeviceptr, CUevent_flags};
use cudarc::driver::{CudaEvent, CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, LaunchConfig, PushKernelArg, ValidAsZeroBits};

use super::Cuda;
use super::filtered::{self, Filtered};
use super::kernels::Unit;
use super::points::Layout;
use super::policy::{Policy, Variant};
use crate::knn::{
    Answer, Build, CONVERGENCE_ENTRIES, Counters, EngineError, EngineKind, MAX_COUNTED_CHUNK, Neighbors, Problem, Profile, Search, WarpPhase,
    WarpSpan,
};

/// What the counted build writes per query, in bytes; with the profiled build's.
const TALLY_BYTES: u64 =
    (size_of::<Counters>() + CONVERGENCE_ENTRIES * size_of::<ConvergenceEntry>() + WarpPhase::ALL.len() * 8 + size_of::<WarpSpan>()) as u64;

/// Left to the driver: kernels, and what each launch takes for itself, in bytes.
const RESERVE: u64 = 64 << 20;

/// `cuda/counters.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct ConvergenceEntry {
    points_seen: u32,
    max_distance: f32,
}

// SAFETY: plain numbers in the device's layout, for which all bits zero are a value.
unsafe impl DeviceRepr for ConvergenceEntry {}
unsafe impl ValidAsZeroBits for ConvergenceEntry {}
unsafe impl DeviceRepr for Counters {}
unsafe impl ValidAsZeroBits for Counters {}
unsafe impl DeviceRepr for WarpSpan {}
unsafe impl ValidAsZeroBits for WarpSpan {}

/// `TallyOut` of `cuda/counters.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TallyOut {
    counters: CUdeviceptr,
    convergence: CUdeviceptr,
    cycles: CUdeviceptr,
    spans: CUdeviceptr,
}

impl TallyOut {
    /// The entries from one query on.
    pub fn from(self, query: usize) -> Self {
        let after = |pointer: CUdeviceptr, bytes: usize| if pointer == 0 { 0 } else { pointer + (query * bytes) as u64 };
        Self {
            counters: after(self.counters, size_of::<Counters>()),
            convergence: after(self.convergence, CONVERGENCE_ENTRIES * size_of::<ConvergenceEntry>()),
            cycles: after(self.cycles, WarpPhase::ALL.len() * size_of::<u64>()),
            spans: after(self.spans, size_of::<WarpSpan>()),
        }
    }
}

/// Where a problem lies on the device, and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    pub points: CUdeviceptr,
    pub queries: CUdeviceptr,
    pub indices: CUdeviceptr,
    pub squared_distances: CUdeviceptr,
}

/// `Search` of `cuda/warp_knn.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Arguments {
    points: CUdeviceptr,
    queries: CUdeviceptr,
    n: u32,
    d: u32,
    k: u32,
    first_query: u32,
    last_query: u32,
    indices: CUdeviceptr,
    squared_distances: CUdeviceptr,
    tally: TallyOut,
}

// `cuda/warp_knn.cuh` asserts the same of its own.
const _: () = assert!(size_of::<Arguments>() == 88 && std::mem::offset_of!(Arguments, indices) == 40 && std::mem::offset_of!(Arguments, tally) == 56);
const _: () = assert!(size_of::<Counters>() == 12 && size_of::<ConvergenceEntry>() == 8 && size_of::<WarpSpan>() == 24);

// SAFETY: the device's struct, member for member.
unsafe impl DeviceRepr for Arguments {}

/// What counted and profiled launches write: entries of one launch's queries.
struct Tally {
    counters: CudaSlice<Counters>,
    convergence: CudaSlice<ConvergenceEntry>,
    cycles: Option<CudaSlice<u64>>,
    spans: Option<CudaSlice<WarpSpan>>,
}

/// The points in device memory, as the search wants them.
enum Points {
    /// In the order of the direct kernel.
    Direct(CudaSlice<f32>),
    /// Row-major, and prepared for the tensor-core filter.
    Filtered(CudaSlice<f32>, Box<Filtered>),
}

/// A problem in device memory.
pub struct CudaSearch<'a> {
    cuda: &'a mut Cuda,
    unit: Unit,
    policy: Policy,
    n: usize,
    d: usize,
    k: usize,
    q: usize,
    profile: bool,
    layout: Layout,
    points: Points,
    /// How it is searched, or why not behind the filter.
    method: &'static str,
    queries: CudaSlice<f32>,
    indices: CudaSlice<u32>,
    squared_distances: CudaSlice<f32>,
    tally: Option<Tally>,
    /// What the last launch was.
    last: (Range<usize>, Build),
    setup_ms: Vec<(&'static str, f64)>,
    before: CudaEvent,
    after: CudaEvent,
}

impl<'a> CudaSearch<'a> {
    /// Reserves memory and uploads the problem.
    ///
    /// # Errors
    /// [`EngineError::Memory`] before anything is reserved, [`EngineError::Device`].
    pub fn new(cuda: &'a mut Cuda, problem: &Problem, profile: bool) -> Result<Self, EngineError> {
        if cuda.context.compute_capability().is_ok_and(|capability| filtered::pays(problem, capability)) {
            // The direct kernel is only to fall back on: not worth being compiled for this d alone.
            let unit = Variant::new(problem.k(), problem.dims()).unit();
            return Self::build(cuda, problem, profile, unit, true);
        }
        let unit = cuda.kernels.unit_for(problem.k(), problem.dims());
        Self::build(cuda, problem, profile, unit, false)
    }

    /// The same by the direct kernel, one of the caller's choice, which must be for the problem's k and d.
    ///
    /// # Errors
    /// As [`Self::new`]'s, and [`EngineError::Unavailable`] when the kernel cannot be had.
    pub fn with_unit(cuda: &'a mut Cuda, problem: &Problem, profile: bool, unit: Unit) -> Result<Self, EngineError> {
        Self::build(cuda, problem, profile, unit, false)
    }

    fn build(cuda: &'a mut Cuda, problem: &Problem, profile: bool, unit: Unit, behind_filter: bool) -> Result<Self, EngineError> {
        let (n, d, k, q) = (problem.n(), problem.dims(), problem.k(), problem.q());
        let unavailable = |why| EngineError::Unavailable { engine: EngineKind::Cuda, why };
        // Loaded now, so that no launch is timed with it.
        let mut policy = None;
        for build in [Build::Timed, Build::Counted, Build::Profiled] {
            policy = Some(cuda.kernels.search(unit, build).map_err(unavailable)?.cut.policy);
        }
        let policy = policy.expect("three builds");
        let layout = Layout::new(n, d, unit, policy);
        let needed = RESERVE
            + 4 * (layout.floats() + layout.scratch_floats() + q * d) as u64
            + 8 * (q * k) as u64
            + TALLY_BYTES * q.min(MAX_COUNTED_CHUNK) as u64;
        // Memory of the search before is given back in the stream's order.
        cuda.stream.synchronize().map_err(|error| cuda.failed(error))?;
        let (free, _) = cuda.context.mem_get_info().map_err(|error| cuda.failed(error))?;
        if needed > free as u64 {
            return Err(EngineError::Memory { needed: needed.div_ceil(1 << 20), free: free as u64 >> 20, device: cuda.device.name.clone() });
        }
        let mut method = if behind_filter { "the filter's copies do not fit the memory" } else { "direct kernel" };
        // With room for the order of the direct kernel, should it be needed after all.
        let behind_filter = behind_filter && needed + 4 * (n * d) as u64 + Filtered::bytes(problem) <= free as u64;
        let stream = cuda.stream.clone();
        // Blocking events let the thread sleep instead of spinning while the GPU works.
        let context = Arc::clone(&cuda.context);
        let event = || context.new_event(Some(CUevent_flags::CU_EVENT_BLOCKING_SYNC));
        let mut upload = || -> Result<_, DriverError> {
            let (before, after) = (event()?, event()?);
            // Reserved first: the first reservation of a process takes the driver milliseconds.
            let mut points = stream.alloc_zeros::<f32>(if behind_filter { n * d } else { layout.floats() })?;
            let mut scratch = stream.alloc_zeros::<f32>(if behind_filter { 1 } else { layout.scratch_floats().max(1) })?;
            let mut queries = stream.alloc_zeros::<f32>(q * d)?;
            before.record(&stream)?;
            if behind_filter {
                stream.memcpy_htod(problem.points(), &mut points)?;
            } else {
                layout.upload(cuda, problem.points(), &mut points, &mut scratch)?;
            }
            stream.memcpy_htod(problem.queries(), &mut queries)?;
            after.record(&stream)?;
            let indices = stream.alloc_zeros::<u32>(q * k)?;
            let squared_distances = stream.alloc_zeros::<f32>(q * k)?;
            stream.synchronize()?;
            Ok((f64::from(before.elapsed_ms(&after)?), points, queries, indices, squared_distances, before, after))
        };
        let (upload_ms, points, queries, indices, squared_distances, before, after) = upload().map_err(|error| cuda.failed(error))?;
        let mut setup_ms = vec![("upload", upload_ms)];
        let points = if behind_filter {
            let prepare = || -> Result<_, DriverError> {
                before.record(&stream)?;
                let filtered = Filtered::new(&mut cuda.kernels, &stream, problem, &points, &queries);
                after.record(&stream)?;
                stream.synchronize()?;
                setup_ms.push(("prepare filter", f64::from(before.elapsed_ms(&after)?)));
                match filtered {
                    Ok(filtered) => {
                        method = "tensor-core filter";
                        Ok(Points::Filtered(points, Box::new(filtered)))
                    }
                    Err(_) => {
                        method = "the filter's kernels cannot be had";
                        Ok(Points::Direct(layout.arrange(&mut cuda.kernels, &stream, &points)?))
                    }
                }
            };
            prepare().map_err(|error| cuda.failed(error))?
        } else {
            Points::Direct(points)
        };
        Ok(Self {
            cuda,
            unit,
            policy,
            n,
            d,
            k,
            q,
            profile,
            layout,
            points,
            method,
            queries,
            indices,
            squared_distances,
            tally: None,
            last: (0..0, Build::Timed),
            setup_ms,
            before,
            after,
        })
    }

    /// Room for what `count` queries write.
    fn reserve_tally(&mut self, count: usize) -> Result<(), DriverError> {
        if self.tally.as_ref().is_none_or(|tally| tally.counters.len() < count) {
            // The old memory goes back first.
            self.tally = None;
            let stream = &self.cuda.stream;
            self.tally = Some(Tally {
                counters: stream.alloc_zeros(count)?,
                convergence: stream.alloc_zeros(count * CONVERGENCE_ENTRIES)?,
                cycles: if self.profile { Some(stream.alloc_zeros(count * WarpPhase::ALL.len())?) } else { None },
                spans: if self.profile { Some(stream.alloc_zeros(count)?) } else { None },
            });
        }
        Ok(())
    }

    fn launch(&mut self, queries: &Range<usize>, build: Build) -> Result<f64, DriverError> {
        let kernel = self.cuda.kernels.search(self.unit, build).expect("loaded with the problem");
        if build != Build::Timed {
            self.reserve_tally(queries.len())?;
        }
        let stream = self.cuda.stream.clone();
        let stream = &stream;
        let mut tally = TallyOut::default();
        if let (Some(out), true) = (&mut self.tally, build != Build::Timed) {
            tally.counters = out.counters.device_ptr_mut(stream).0;
            tally.convergence = out.convergence.device_ptr_mut(stream).0;
            tally.cycles = out.cycles.as_mut().map_or(0, |cycles| cycles.device_ptr_mut(stream).0);
            tally.spans = out.spans.as_mut().map_or(0, |spans| spans.device_ptr_mut(stream).0);
        }
        let queries_at = self.queries.device_ptr(stream).0;
        let (indices, squared_distances) = (self.indices.device_ptr_mut(stream).0, self.squared_distances.device_ptr_mut(stream).0);
        self.before.record(stream)?;
        if let Points::Filtered(rows, filtered) = &mut self.points {
            let device = Device { points: rows.device_ptr(stream).0, queries: queries_at, indices, squared_distances };
            if filtered.search(device, queries, build, tally)? {
                return self.elapsed();
            }
            let arranged = self.layout.arrange(&mut self.cuda.kernels, stream, rows)?;
            self.points = Points::Direct(arranged);
            self.method = "direct kernel, as the filter let too much through";
        }
        let Points::Direct(points) = &self.points else { unreachable!("made direct just now") };
        let arguments = Arguments {
            points: points.device_ptr(stream).0,
            queries: queries_at,
            n: self.n as u32,
            d: self.d as u32,
            k: self.k as u32,
            first_query: queries.start as u32,
            last_query: queries.end as u32,
            indices,
            squared_distances,
            tally,
        };
        let config = LaunchConfig {
            grid_dim: ((queries.len() as u32).div_ceil(self.policy.queries_per_block()), 1, 1),
            block_dim: (self.policy.threads(), 1, 1),
            shared_mem_bytes: kernel.cut.shared_bytes,
        };
        // SAFETY: `Arguments` is the kernel's parameter; its pointers are to memory of this search, as long as it says.
        unsafe { stream.launch_builder(&kernel.function).arg(&arguments).launch(config) }?;
        self.elapsed()
    }

    /// Milliseconds since `before`, when all is done.
    fn elapsed(&self) -> Result<f64, DriverError> {
        self.after.record(&self.cuda.stream)?;
        self.cuda.stream.synchronize()?;
        Ok(f64::from(self.before.elapsed_ms(&self.after)?))
    }
}

impl Search for CudaSearch<'_> {
    fn setup_ms(&self) -> Vec<(&'static str, f64)> {
        self.setup_ms.clone()
    }

    fn method(&self) -> Option<&'static str> {
        Some(self.method)
    }

    fn first_chunk(&self) -> usize {
        if let Points::Filtered(..) = self.points {
            return filtered::FIRST_QUERIES;
        }
        // Four blocks of warps for every multiprocessor.
        let multiprocessors = self.cuda.context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap_or(1) as usize;
        4 * multiprocessors * self.policy.queries_per_block() as usize
    }

    fn chunk_unit(&self) -> usize {
        if let Points::Filtered(..) = self.points {
            return filtered::QUERY_UNIT;
        }
        self.policy.queries_per_block() as usize
    }

    fn first_work(&self) -> u64 {
        200_000_000_000
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        debug_assert!(queries.start < queries.end && queries.end <= self.q);
        let build = if build == Build::Profiled && !self.profile { Build::Counted } else { build };
        let ms = self.launch(&queries, build).map_err(|error| self.cuda.failed(error))?;
        self.last = (queries, build);
        Ok(ms)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        let stream = self.cuda.stream.clone();
        neighbors.k = self.k;
        neighbors.indices.resize(self.q * self.k, 0);
        neighbors.squared_distances.resize(self.q * self.k, 0.0);
        let mut copy = || -> Result<f64, DriverError> {
            self.before.record(&stream)?;
            stream.memcpy_dtoh(&self.indices, &mut neighbors.indices)?;
            stream.memcpy_dtoh(&self.squared_distances, &mut neighbors.squared_distances)?;
            self.after.record(&stream)?;
            stream.synchronize()?;
            Ok(f64::from(self.before.elapsed_ms(&self.after)?))
        };
        copy().map_err(|error| self.cuda.failed(error))
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        let (queries, build) = self.last.clone();
        let (Some(tally), true) = (&self.tally, build != Build::Timed) else { return Ok(()) };
        let (stream, count) = (&self.cuda.stream, queries.len());
        let copy = || -> Result<_, DriverError> {
            let counters = stream.clone_dtoh(&tally.counters.slice(..count))?;
            let convergence = stream.clone_dtoh(&tally.convergence.slice(..count * CONVERGENCE_ENTRIES))?;
            let profile = match (&tally.cycles, &tally.spans) {
                (Some(cycles), Some(spans)) if build == Build::Profiled => {
                    Some((stream.clone_dtoh(&cycles.slice(..count * WarpPhase::ALL.len()))?, stream.clone_dtoh(&spans.slice(..count))?))
                }
                _ => None,
            };
            stream.synchronize()?;
            Ok((counters, convergence, profile))
        };
        let (counters, convergence, profile) = copy().map_err(|error| self.cuda.failed(error))?;
        for (counters, entries) in counters.iter().zip(convergence.chunks_exact(CONVERGENCE_ENTRIES)) {
            let kept = (counters.merges as usize).min(CONVERGENCE_ENTRIES);
            answer.convergence.push(entries[..kept].iter().map(|entry| (entry.points_seen, entry.max_distance)));
        }
        answer.counters.extend(counters);
        if let Some((cycles, spans)) = profile {
            let profile = answer.profile.get_or_insert_with(Profile::default);
            profile.cycles.extend(cycles.as_chunks::<{ WarpPhase::ALL.len() }>().0);
            profile.spans.extend(spans);
        }
        Ok(())
    }
}
