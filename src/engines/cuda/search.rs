//! The search: launches and what they count.

use std::ops::Range;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::{CudaSlice, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::Cuda;
use super::device::memory::Memory;
use super::device::points::Form;
use super::device::units::Unit;
use super::direct::{self, Layout, Policy, Variant};
use super::filtered::{self, FilterKernels, Filtered};
use super::interface::{ConvergenceEntry, TallyOut};
use crate::knn::{
    Answer, Build, CONVERGENCE_ENTRIES, Counters, EngineError, EngineKind, MAX_COUNTED_CHUNK, Neighbors, Problem, Profile, Search, WarpPhase,
    WarpSpan,
};

/// What the counted build writes per query, in bytes; with the profiled build's.
const TALLY_BYTES: u64 =
    (size_of::<Counters>() + CONVERGENCE_ENTRIES * size_of::<ConvergenceEntry>() + WarpPhase::ALL.len() * 8 + size_of::<WarpSpan>()) as u64;

/// What counted and profiled launches write: entries of one launch's queries.
struct Tally {
    counters: CudaSlice<Counters>,
    convergence: CudaSlice<ConvergenceEntry>,
    cycles: Option<CudaSlice<u64>>,
    spans: Option<CudaSlice<WarpSpan>>,
}

/// A problem in device memory.
pub struct CudaSearch<'a> {
    cuda: &'a mut Cuda,
    unit: Unit,
    policy: Policy,
    memory: Memory,
    /// The order of the points that the direct kernel wants; behind the filter they are row-major.
    layout: Layout,
    filtered: Option<Filtered>,
    /// How the problem is searched, or why not behind the filter.
    method: String,
    setup_ms: Vec<(&'static str, f64)>,
    profile: bool,
    tally: Option<Tally>,
    /// What the last launch was.
    last: (Range<usize>, Build),
}

impl<'a> CudaSearch<'a> {
    /// Reserves memory and uploads the problem.
    ///
    /// # Errors
    /// [`EngineError::Memory`] before anything is reserved, [`EngineError::Device`].
    pub fn new(cuda: &'a mut Cuda, problem: &Problem, profile: bool) -> Result<Self, EngineError> {
        if cuda.context.compute_capability().is_ok_and(|capability| filtered::pays(problem, capability)) {
            // The direct kernel is only to fall back on: not worth being compiled for this d alone.
            return Self::build(cuda, problem, profile, Variant::new(problem.k(), problem.dims()).unit(), true);
        }
        let unit = cuda.kernels.unit_for(problem);
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
        let unavailable = |why| EngineError::Unavailable { engine: EngineKind::Cuda, why };
        // Loaded now, so that no launch is timed with it.
        let builds = if profile { &[Build::Timed, Build::Counted, Build::Profiled][..] } else { &[Build::Timed, Build::Counted] };
        cuda.kernels.compile_ahead(&[unit], builds);
        for &build in builds {
            cuda.kernels.search(unit, build).map_err(unavailable)?;
        }
        if unit.dims == 0 {
            cuda.kernels.function(unit.of_build(Build::Timed), direct::GROUP_ROWS_ENTRY).map_err(unavailable)?;
        }
        let policy = cuda.kernels.search(unit, Build::Timed).map_err(unavailable)?.cut.policy;
        let layout = Layout::new(problem.n(), problem.dims(), unit, policy);
        let tally = TALLY_BYTES * problem.q().min(MAX_COUNTED_CHUNK) as u64;
        let mut method = "direct kernel".to_owned();
        if behind_filter {
            let rows = problem.n() * problem.dims();
            // With room for the other order, should it be needed after all.
            match Memory::reserve(cuda, problem, Form::Rows, rows, tally + Filtered::bytes(problem) + 4 * layout.floats() as u64) {
                Ok(memory) => return Self::load_filtered(cuda, problem, profile, unit, policy, layout, memory),
                Err(EngineError::Memory { .. }) => method = "direct kernel, as the filter's copies do not fit the memory".to_owned(),
                Err(error) => return Err(error),
            }
        }
        let mut memory = Memory::reserve(cuda, problem, layout.form(), layout.floats(), tally + 4 * layout.scratch_floats() as u64)?;
        let mut upload = || -> Result<(), DriverError> {
            memory.upload(cuda, problem, |cuda, points| {
                let mut scratch = cuda.stream.alloc_zeros::<f32>(layout.scratch_floats().max(1))?;
                layout.upload(cuda, problem.points(), points, &mut scratch)
            })
        };
        upload().map_err(|error| cuda.failed(error))?;
        let setup_ms = vec![("upload", memory.upload_ms)];
        Ok(Self { cuda, unit, policy, memory, layout, filtered: None, method, setup_ms, profile, tally: None, last: (0..0, Build::Timed) })
    }

    /// Uploads the points as rows and prepares the filter; where its kernels cannot be had, brings the rows into order.
    fn load_filtered(
        cuda: &'a mut Cuda,
        problem: &Problem,
        profile: bool,
        unit: Unit,
        policy: Policy,
        layout: Layout,
        mut memory: Memory,
    ) -> Result<Self, EngineError> {
        let stream = cuda.stream.clone();
        // Loaded, and perhaps compiled, before the clock starts.
        let cannot = |why| format!("the filter's cannot be had ({why})");
        let kernels = FilterKernels::load(&mut cuda.kernels, problem, profile).and_then(|kernels| Ok((kernels, cuda.tensor_core_loss()?)));
        let kernels = kernels.map_err(cannot).and_then(|(kernels, loss)| filtered::safe(loss).map(|()| kernels));
        let load = || -> Result<_, DriverError> {
            memory.upload(cuda, problem, |cuda, points| cuda.stream.memcpy_htod(problem.points(), points))?;
            memory.timer.start(&stream)?;
            let filtered = kernels.and_then(|kernels| Filtered::new(kernels, &stream, problem, &memory).map_err(cannot));
            if filtered.is_err() {
                let points = layout.arrange(&mut cuda.kernels, &stream, &memory.points.floats)?;
                memory.rearrange(layout.form(), points);
            }
            Ok((filtered, memory.timer.stop(&stream)?))
        };
        let (filtered, prepare_ms) = load().map_err(|error| cuda.failed(error))?;
        let (filtered, method) = match filtered {
            Ok(filtered) => (Some(filtered), "tensor-core filter".to_owned()),
            Err(why) => (None, format!("direct kernel, as {why}")),
        };
        let setup_ms = vec![("upload", memory.upload_ms), ("build index", prepare_ms)];
        Ok(Self { cuda, unit, policy, memory, layout, filtered, method, setup_ms, profile, tally: None, last: (0..0, Build::Timed) })
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
        let stream = &self.cuda.stream.clone();
        let mut tally = TallyOut::default();
        if let (Some(out), true) = (&mut self.tally, build != Build::Timed) {
            tally.counters = out.counters.device_ptr_mut(stream).0;
            tally.convergence = out.convergence.device_ptr_mut(stream).0;
            tally.cycles = out.cycles.as_mut().map_or(0, |cycles| cycles.device_ptr_mut(stream).0);
            tally.spans = out.spans.as_mut().map_or(0, |spans| spans.device_ptr_mut(stream).0);
        }
        let memory = &mut self.memory;
        memory.timer.start(stream)?;
        if let Some(filtered) = &mut self.filtered {
            if filtered.search(memory, queries, build, tally)? {
                return memory.timer.stop(stream);
            }
            // First what can fail: the points must not be of one order and the search of the other.
            let points = self.layout.arrange(&mut self.cuda.kernels, stream, &memory.points.floats)?;
            memory.rearrange(self.layout.form(), points);
            self.filtered = None;
            self.method = "direct kernel, as the filter let too much through".to_owned();
        }
        let arguments = direct::arguments(memory, stream, queries, tally);
        let config = LaunchConfig {
            grid_dim: ((queries.len() as u32).div_ceil(self.policy.queries_per_block()), 1, 1),
            block_dim: (self.policy.threads(), 1, 1),
            shared_mem_bytes: kernel.cut.shared_bytes,
        };
        // SAFETY: `arguments` are the kernel's parameter; its pointers are to memory of this search, as long as it says.
        unsafe { stream.launch_builder(&kernel.function).arg(&arguments).launch(config) }?;
        memory.timer.stop(stream)
    }
}

impl Search for CudaSearch<'_> {
    fn setup_ms(&self) -> Vec<(&'static str, f64)> {
        self.setup_ms.clone()
    }

    fn resident(&self) -> bool {
        self.memory.resident
    }

    fn method(&self) -> Option<String> {
        let how = if self.filtered.is_some() { String::new() } else { format!(": {}", self.policy) };
        Some(format!("{}{how}", self.method))
    }

    fn first_chunk(&self) -> usize {
        if self.filtered.is_some() {
            return filtered::FIRST_QUERIES;
        }
        // Four blocks of warps for every multiprocessor.
        let multiprocessors = self.cuda.context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap_or(1) as usize;
        4 * multiprocessors * self.policy.queries_per_block() as usize
    }

    fn chunk_unit(&self) -> usize {
        if self.filtered.is_some() {
            return filtered::QUERY_UNIT;
        }
        self.policy.queries_per_block() as usize
    }

    fn first_work(&self) -> u64 {
        200_000_000_000
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        debug_assert!(queries.start < queries.end && queries.end <= self.memory.q);
        let build = if build == Build::Profiled && !self.profile { Build::Counted } else { build };
        let ms = self.launch(&queries, build).map_err(|error| self.cuda.failed(error))?;
        self.last = (queries, build);
        Ok(ms)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        self.memory.download(&self.cuda.stream, neighbors).map_err(|error| self.cuda.failed(error))
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
