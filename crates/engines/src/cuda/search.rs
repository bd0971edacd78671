//! The search of the engine `cuda`: launches and their counters.

use std::ops::Range;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::{CudaSlice, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::Cuda;
use super::device::memory::Memory;
use super::device::points::Form;
use super::device::units::Unit;
use super::direct::{self, Layout, Policy, Variant};
use super::filtered::{self, FilterKernels, Filtered};
use super::interface::{ConvergenceEntry, Counters, TallyOut, WarpSpan};
use crate::knn::{
    self, Answer, Build, CONVERGENCE_ENTRIES, EngineError, MAX_COUNTED_CHUNK, Neighbors, Parameters, Problem, Profile, Search, SetupPhase,
    warp as rules,
};

/// Bytes per query written by a profiled launch, including those of a counted one.
const TALLY_BYTES: u64 =
    (size_of::<Counters>() + CONVERGENCE_ENTRIES * size_of::<ConvergenceEntry>() + rules::PHASES.len() * 8 + size_of::<WarpSpan>()) as u64;

/// The parameters that make up a policy, in its order.
const POLICY: [&str; 7] = ["warps", "queries", "window", "batch", "slots", "tile", "blocks"];

/// Output buffers of counted and profiled launches: one entry per query of a launch.
struct Tally {
    counters: CudaSlice<Counters>,
    convergence: CudaSlice<ConvergenceEntry>,
    cycles: Option<CudaSlice<u64>>,
    spans: Option<CudaSlice<WarpSpan>>,
}

impl Cuda {
    /// The policy that the parameters ask for; `None` if it is the table's, whose kernel may be embedded.
    fn policy(&mut self, unit: Unit, variant: Variant, parameters: &Parameters) -> Result<Option<Policy>, EngineError> {
        let asked = POLICY.map(|name| parameters.number(name));
        if asked == [None; 7] {
            return Ok(None);
        }
        let unavailable = |why| EngineError::Unavailable { engine: super::DIRECT.id, why };
        let tuned = self.kernels.search(unit, Build::Timed).map_err(unavailable)?.cut.policy;
        let mut numbers = tuned.numbers();
        for (number, asked) in numbers.iter_mut().zip(asked) {
            *number = asked.unwrap_or(*number);
        }
        let mut policy = Policy::from_numbers(numbers);
        if variant.dims == 0 && parameters.number("batch").is_none() {
            policy.batch = policy.window * GROUP;
        }
        policy.check(variant).map_err(|why| EngineError::Parameter { engine: super::DIRECT.id, why })?;
        Ok((policy != tuned).then_some(policy))
    }
}

/// Points per group: one for each lane of a warp.
const GROUP: u32 = 32;

/// A problem loaded into device memory.
pub struct CudaSearch<'a> {
    cuda: &'a mut Cuda,
    unit: Unit,
    policy: Policy,
    memory: Memory,
    /// The point layout of the direct kernel; the filtered search reads rows.
    layout: Layout,
    filtered: Option<Filtered>,
    /// Why the filter, the engine's first choice, is not in use.
    note: Option<String>,
    setup_ms: Vec<(SetupPhase, f64)>,
    profile: bool,
    tally: Option<Tally>,
    /// Queries and build of the last launch.
    last: (Range<usize>, Build),
}

impl<'a> CudaSearch<'a> {
    /// Reserves memory and uploads the problem.
    ///
    /// # Errors
    /// [`EngineError::Parameter`] for parameters that are inconsistent or do not suit the problem or the device;
    /// [`EngineError::Memory`] before anything is reserved, [`EngineError::Device`].
    pub fn new(cuda: &'a mut Cuda, problem: &Problem, parameters: &Parameters, profile: bool) -> Result<Self, EngineError> {
        let refused = |why: String| EngineError::Parameter { engine: super::DIRECT.id, why };
        let cut_to_size = POLICY.into_iter().chain(["exact-d"]).find(|name| parameters.get(name).is_some());
        let capability = cuda.context.compute_capability().unwrap_or_default();
        let behind_filter = match (parameters.get("kernel"), cut_to_size) {
            (Some("filter"), Some(name)) => return Err(refused(format!("{name} is a parameter of kernel=direct"))),
            (Some("filter"), None) => {
                filtered::pays(problem, capability).map_err(|why| refused(format!("kernel = filter: {why}")))?;
                true
            }
            (Some(_), _) | (None, Some(_)) => false,
            (None, None) => filtered::pays(problem, capability).is_ok(),
        };
        let variant = Variant::new(problem.k(), problem.dims());
        let unit = match parameters.get("exact-d") {
            // The direct kernel is only a fallback here and not worth compiling for this exact d.
            _ if behind_filter => variant.unit(),
            Some("yes") => Unit { exact_dims: problem.dims() as u32, ..variant.unit() },
            Some(_) => variant.unit(),
            None => cuda.kernels.unit_for(problem),
        };
        let unit = Unit { policy: cuda.policy(unit, variant, parameters)?, ..unit };
        let search = Self::build(cuda, problem, profile, unit, behind_filter)?;
        match &search.note {
            // Whoever asks for the filter by name does not want to measure something else.
            Some(why) if parameters.get("kernel") == Some("filter") => {
                Err(EngineError::Unavailable { engine: super::DIRECT.id, why: format!("kernel = filter: {why}") })
            }
            _ => Ok(search),
        }
    }

    /// Like [`Self::new`], with a given unit of the direct kernel, which must match the problem's k and d.
    ///
    /// # Errors
    /// Those of [`Self::new`], and [`EngineError::Unavailable`] if the kernel cannot be loaded.
    pub fn with_unit(cuda: &'a mut Cuda, problem: &Problem, profile: bool, unit: Unit) -> Result<Self, EngineError> {
        Self::build(cuda, problem, profile, unit, false)
    }

    fn build(cuda: &'a mut Cuda, problem: &Problem, profile: bool, unit: Unit, behind_filter: bool) -> Result<Self, EngineError> {
        let unavailable = |why| EngineError::Unavailable { engine: super::DIRECT.id, why };
        // Load now, so that no timed launch includes it.
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
        let mut note = None;
        if behind_filter {
            let rows = problem.n() * problem.dims();
            // Includes space for the direct kernel's layout, in case the search falls back to it.
            match Memory::reserve(cuda, problem, Form::Rows, rows, tally + Filtered::bytes(problem) + 4 * layout.floats() as u64) {
                Ok(memory) => return Self::load_filtered(cuda, problem, profile, unit, policy, layout, memory),
                Err(EngineError::Memory { .. } | EngineError::MemoryRefused { .. }) => {
                    note = Some("the filter's copies do not fit the memory".to_owned())
                }
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
        let setup_ms = vec![(SetupPhase::Upload, memory.upload_ms)];
        Ok(Self { cuda, unit, policy, memory, layout, filtered: None, note, setup_ms, profile, tally: None, last: (0..0, Build::Timed) })
    }

    /// Uploads the points as rows and prepares the filter; if its kernels are unavailable, rearranges the rows instead.
    fn load_filtered(
        cuda: &'a mut Cuda,
        problem: &Problem,
        profile: bool,
        unit: Unit,
        policy: Policy,
        layout: Layout,
        mut memory: Memory,
    ) -> Result<Self, EngineError> {
        let (stream, device) = (cuda.stream.clone(), cuda.device_id);
        // Load, and if necessary compile, before the clock starts.
        let cannot = |why| format!("the filter cannot be had ({why})");
        let kernels = FilterKernels::load(&mut cuda.kernels, problem, profile).and_then(|kernels| Ok((kernels, cuda.tensor_core_loss()?)));
        let kernels = kernels.map_err(cannot).and_then(|(kernels, loss)| filtered::safe(loss).map(|()| kernels));
        let load = || -> Result<_, DriverError> {
            memory.upload(cuda, problem, |cuda, points| cuda.stream.memcpy_htod(problem.points(), points))?;
            memory.timer.start(&stream)?;
            let filtered = kernels.and_then(|kernels| Filtered::new(kernels, &stream, device, problem, &memory).map_err(cannot));
            if filtered.is_err() {
                let points = layout.arrange(&mut cuda.kernels, &stream, &memory.points.floats)?;
                memory.rearrange(layout.form(), points);
            }
            Ok((filtered, memory.timer.stop(&stream)?))
        };
        let (filtered, prepare_ms) = load().map_err(|error| cuda.failed(error))?;
        let (filtered, note) = match filtered {
            Ok(filtered) => (Some(filtered), None),
            Err(why) => (None, Some(why)),
        };
        let setup_ms = vec![(SetupPhase::Upload, memory.upload_ms), (SetupPhase::BuildIndex, prepare_ms)];
        Ok(Self { cuda, unit, policy, memory, layout, filtered, note, setup_ms, profile, tally: None, last: (0..0, Build::Timed) })
    }

    /// Allocates output buffers for `count` queries.
    fn reserve_tally(&mut self, count: usize) -> Result<(), DriverError> {
        if self.tally.as_ref().is_none_or(|tally| tally.counters.len() < count) {
            // Free the old buffers first.
            self.tally = None;
            let stream = &self.cuda.stream;
            self.tally = Some(Tally {
                counters: stream.alloc_zeros(count)?,
                convergence: stream.alloc_zeros(count * CONVERGENCE_ENTRIES)?,
                cycles: if self.profile { Some(stream.alloc_zeros(count * rules::PHASES.len())?) } else { None },
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
            // Do whatever can fail first, so that the points and the search never disagree about the layout.
            let points = self.layout.arrange(&mut self.cuda.kernels, stream, &memory.points.floats)?;
            memory.rearrange(self.layout.form(), points);
            self.filtered = None;
            self.note = Some("the filter let too much through".to_owned());
        }
        let arguments = direct::arguments(memory, stream, queries, tally);
        let config = LaunchConfig {
            grid_dim: ((queries.len() as u32).div_ceil(self.policy.queries_per_block()), 1, 1),
            block_dim: (self.policy.threads(), 1, 1),
            shared_mem_bytes: kernel.cut.shared_bytes,
        };
        // SAFETY: `arguments` are the kernel's parameter; its pointers are to this search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(&kernel.function).arg(&arguments).launch(config) }?;
        memory.timer.stop(stream)
    }
}

impl Search for CudaSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.setup_ms.clone()
    }

    fn resident(&self) -> bool {
        self.memory.resident
    }

    fn parameters(&self) -> Parameters {
        if self.filtered.is_some() {
            return Parameters::from_iter([("kernel", "filter")]);
        }
        let mut parameters = Parameters::from_iter([("kernel", "direct")]);
        for (name, value) in POLICY.into_iter().zip(self.policy.numbers()) {
            parameters.set(name, value.to_string());
        }
        parameters.set("exact-d", if self.unit.exact_dims == 0 { "no" } else { "yes" });
        parameters
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn first_chunk(&self) -> usize {
        if self.filtered.is_some() {
            return filtered::FIRST_QUERIES;
        }
        // Four blocks per multiprocessor.
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
                    Some((stream.clone_dtoh(&cycles.slice(..count * rules::PHASES.len()))?, stream.clone_dtoh(&spans.slice(..count))?))
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
        answer.convergence.counted_by = rules::CONVERGENCE.to_owned();
        answer.measured.extend(&rules::MEASURES, counters.into_iter().map(|counters| knn::Counters::from(counters).row()));
        if let Some((cycles, spans)) = profile {
            let profile = answer.profile.get_or_insert_with(|| Profile::new(&rules::PHASES));
            profile.cycles.extend(cycles);
            profile.spans.extend(spans.into_iter().map(knn::WarpSpan::from));
        }
        Ok(())
    }
}
