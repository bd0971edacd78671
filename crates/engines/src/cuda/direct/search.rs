//! The search of the engine `cuda`, by the direct kernel or behind the tensor-core filter: launches and their
//! counters.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut, LaunchConfig};

use super::{GROUP_ROWS_ENTRY, Layout, Policy, Variant, arguments};
use crate::Result;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::{PointLayout, SearchBuffers, launch, read, upload_rows};
use crate::cuda::device::units::Unit;
use crate::cuda::filtered::{self, FilterKernels, FilterSearch};
use crate::cuda::interface::{ConvergenceEntry, Counters, TallyOut, WarpSpan};
use crate::cuda::search::{Chunk, GpuSearch, SearchKernels};
use crate::cuda::{Cuda, DIRECT};
use crate::knn::{
    self, Answer, CONVERGENCE_ENTRIES, Cost, EngineError, KernelBuild, MAX_COUNTED_CHUNK, Parameters,
    Problem, Profile, Shape, theory, warp as rules,
};

/// Bytes per query written by a profiled launch, including the bytes of a counted launch.
const TALLY_BYTES: u64 = (size_of::<Counters>()
    + CONVERGENCE_ENTRIES * size_of::<ConvergenceEntry>()
    + rules::PHASES.len() * 8
    + size_of::<WarpSpan>()) as u64;

/// The parameters that make up a policy, in its order.
const POLICY: [&str; 7] = ["warps", "queries", "window", "batch", "slots", "tile", "blocks"];

/// Output buffers of counted and profiled launches: one entry per query of a launch.
struct CounterBuffers {
    counters: CudaSlice<Counters>,
    convergence: CudaSlice<ConvergenceEntry>,
    cycles: Option<CudaSlice<u64>>,
    spans: Option<CudaSlice<WarpSpan>>,
}

impl Cuda {
    /// The policy that the parameters specify; `None` if it is the table's, whose kernel may be embedded.
    fn policy(&mut self, unit: Unit, variant: Variant, parameters: &Parameters) -> Result<Option<Policy>> {
        let asked = POLICY.map(|name| parameters.number(name));
        if asked == [None; 7] {
            return Ok(None);
        }
        let unavailable = |why| EngineError::Unavailable { engine: DIRECT.id, why };
        let tuned = self.kernels.search(unit, KernelBuild::Timed).map_err(unavailable)?.config.policy;
        let mut numbers = tuned.to_array();
        for (number, asked) in numbers.iter_mut().zip(asked) {
            *number = asked.unwrap_or(*number);
        }
        let mut policy = Policy::from_array(numbers);
        if variant.dims == 0 && parameters.number("batch").is_none() {
            policy.batch = policy.window * GROUP;
        }
        policy.check(variant).map_err(|why| EngineError::Parameter { engine: DIRECT.id, why })?;
        Ok((policy != tuned).then_some(policy))
    }
}

/// Points per group: one per lane of a warp.
const GROUP: u32 = 32;

/// The kernels of a problem, and the output buffers of counted and profiled launches.
pub struct DirectKernels {
    unit: Unit,
    policy: Policy,
    /// The point layout of the direct kernel; the filtered search reads rows.
    layout: Layout,
    filtered: Option<FilterSearch>,
    /// Why the filter, the engine's first choice, is not used.
    note: Option<String>,
    profile: bool,
    tally: Option<CounterBuffers>,
}

/// Reserves memory for a problem and uploads it.
///
/// # Errors
/// [`EngineError::Parameter`] if parameters are inconsistent or do not suit the problem or the device;
/// [`EngineError::Memory`] before anything is reserved, [`EngineError::Device`].
pub fn load<'a>(
    cuda: &'a mut Cuda,
    problem: &Problem,
    parameters: &Parameters,
    profile: bool,
) -> Result<GpuSearch<'a, DirectKernels>> {
    let refused = |why: String| EngineError::Parameter { engine: DIRECT.id, why };
    let of_direct = POLICY.into_iter().chain(["exact-d"]).find(|name| parameters.get(name).is_some());
    let capability = cuda.context.compute_capability().unwrap_or_default();
    let behind_filter = match (parameters.get("kernel"), of_direct) {
        (Some("filter"), Some(name)) => {
            return Err(refused(format!("{name} applies only to kernel=direct")));
        }
        (Some("filter"), None) => {
            filtered::check_worthwhile(problem, capability)
                .map_err(|why| refused(format!("kernel = filter: {why}")))?;
            true
        }
        (Some(_), _) | (None, Some(_)) => false,
        (None, None) => filtered::check_worthwhile(problem, capability).is_ok(),
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
    let search = build(cuda, problem, profile, unit, behind_filter)?;
    match &search.kernels.note {
        // A user who requests the filter does not want to measure something else.
        Some(why) if parameters.get("kernel") == Some("filter") => {
            Err(EngineError::Unavailable { engine: DIRECT.id, why: format!("kernel = filter: {why}") })
        }
        _ => Ok(search),
    }
}

/// Like [`load`], with a given unit of the direct kernel, which must match the problem's k and d.
///
/// # Errors
/// Those of [`load`], and [`EngineError::Unavailable`] if the kernel cannot be loaded.
pub fn load_unit<'a>(
    cuda: &'a mut Cuda,
    problem: &Problem,
    unit: Unit,
) -> Result<GpuSearch<'a, DirectKernels>> {
    build(cuda, problem, false, unit, false)
}

fn build<'a>(
    cuda: &'a mut Cuda,
    problem: &Problem,
    profile: bool,
    unit: Unit,
    behind_filter: bool,
) -> Result<GpuSearch<'a, DirectKernels>> {
    let unavailable = |why| EngineError::Unavailable { engine: DIRECT.id, why };
    // Load now, so that no timed launch includes it.
    let builds = KernelBuild::all(profile);
    cuda.kernels.compile_ahead(&[unit], builds);
    for &build in builds {
        cuda.kernels.search(unit, build).map_err(unavailable)?;
    }
    if unit.dims == 0 {
        cuda.kernel(DIRECT.id, unit.for_build(KernelBuild::Timed), GROUP_ROWS_ENTRY)?;
    }
    let policy = cuda.kernels.search(unit, KernelBuild::Timed).map_err(unavailable)?.config.policy;
    let layout = Layout::new(problem.n(), problem.dims(), unit, policy);
    let mut direct = DirectKernels { unit, policy, layout, filtered: None, note: None, profile, tally: None };
    let tally = TALLY_BYTES * problem.q().min(MAX_COUNTED_CHUNK) as u64;
    if behind_filter {
        let rows = problem.n() * problem.dims();
        // Includes memory for the direct kernel's layout, in case the search falls back to it.
        let extra = tally + FilterSearch::bytes(problem) + 4 * layout.floats() as u64;
        match SearchBuffers::reserve(cuda, problem, PointLayout::Rows, rows, extra) {
            Ok(memory) => return load_filtered(cuda, problem, direct, memory),
            Err(EngineError::Memory { .. } | EngineError::MemoryRefused { .. }) => {
                direct.note = Some("the filter does not fit into the GPU's memory".to_owned());
            }
            Err(error) => return Err(error),
        }
    }
    let memory = layout.load(cuda, problem, tally)?;
    Ok(GpuSearch::new(cuda, memory, None, direct))
}

/// Uploads the points as rows and prepares the filter. If its kernels are unavailable, rearranges the rows
/// instead.
fn load_filtered<'a>(
    cuda: &'a mut Cuda,
    problem: &Problem,
    mut direct: DirectKernels,
    mut memory: SearchBuffers,
) -> Result<GpuSearch<'a, DirectKernels>> {
    let (stream, device) = (cuda.stream.clone(), cuda.device_id);
    // Load, and if necessary compile, before the clock starts.
    let cannot = |why| format!("the filter is unavailable ({why})");
    let kernels = FilterKernels::load(&mut cuda.kernels, problem, direct.profile)
        .and_then(|kernels| Ok((kernels, cuda.tensor_core_loss()?)))
        .map_err(cannot)
        .and_then(|(kernels, loss)| filtered::check_loss(loss).map(|()| kernels));
    memory.upload(cuda, problem, |cuda, points| upload_rows(cuda, problem.points(), points))?;
    let prepare = || -> DriverResult<f64> {
        memory.timer.start(&stream)?;
        match kernels
            .and_then(|kernels| FilterSearch::new(kernels, &stream, device, problem, &memory).map_err(cannot))
        {
            Ok(filtered) => direct.filtered = Some(filtered),
            Err(why) => direct.without_filter(why, cuda, &mut memory)?,
        }
        memory.timer.stop(&stream)
    };
    let prepared = prepare();
    let prepare_ms = prepared.map_err(|error| cuda.failed(error))?;
    let mut search = GpuSearch::new(cuda, memory, Some(prepare_ms), direct);
    // Queries are prepared for every problem.
    search.resident = search.memory.resident;
    Ok(search)
}

impl DirectKernels {
    /// Falls back to the direct kernel, for which the points are rearranged.
    fn without_filter(&mut self, why: String, cuda: &mut Cuda, memory: &mut SearchBuffers) -> DriverResult {
        // Do everything that can fail first, so that the points and the search never disagree about the
        // layout.
        let points = self.layout.arrange(&mut cuda.kernels, &cuda.stream, &memory.points.floats)?;
        memory.rearrange(self.layout.form(), points);
        (self.filtered, self.note) = (None, Some(why));
        Ok(())
    }

    fn tally(&mut self, stream: &Arc<CudaStream>, count: usize) -> DriverResult<TallyOut> {
        if self.tally.as_ref().is_none_or(|tally| tally.counters.len() < count) {
            // Free the old buffers first.
            self.tally = None;
            self.tally = Some(CounterBuffers {
                counters: stream.alloc_zeros(count)?,
                convergence: stream.alloc_zeros(count * CONVERGENCE_ENTRIES)?,
                cycles: if self.profile {
                    Some(stream.alloc_zeros(count * rules::PHASES.len())?)
                } else {
                    None
                },
                spans: if self.profile { Some(stream.alloc_zeros(count)?) } else { None },
            });
        }
        let Some(tally) = &mut self.tally else { return Ok(TallyOut::default()) };
        Ok(TallyOut {
            counters: tally.counters.device_ptr_mut(stream).0,
            convergence: tally.convergence.device_ptr_mut(stream).0,
            cycles: tally.cycles.as_mut().map_or(0, |cycles| cycles.device_ptr_mut(stream).0),
            spans: tally.spans.as_mut().map_or(0, |spans| spans.device_ptr_mut(stream).0),
        })
    }
}

impl SearchKernels for DirectKernels {
    fn build(&self, asked: KernelBuild) -> KernelBuild {
        if asked == KernelBuild::Profiled && !self.profile { KernelBuild::Counted } else { asked }
    }

    fn run(&mut self, cuda: &mut Cuda, memory: &mut SearchBuffers, chunk: Chunk<'_>) -> DriverResult<f64> {
        let Chunk { queries, build, .. } = chunk;
        let stream = cuda.stream.clone();
        let kernel = cuda.kernels.search(self.unit, build).expect("loaded with the problem");
        let tally = if build == KernelBuild::Timed {
            TallyOut::default()
        } else {
            self.tally(&stream, queries.len())?
        };
        memory.timer.start(&stream)?;
        if let Some(filtered) = &mut self.filtered {
            if filtered.search(memory, queries, build, tally)? {
                return memory.timer.stop(&stream);
            }
            self.without_filter("too many points passed the filter".to_owned(), cuda, memory)?;
        }
        let config = LaunchConfig {
            grid_dim: ((queries.len() as u32).div_ceil(self.policy.queries_per_block()), 1, 1),
            block_dim: (self.policy.threads(), 1, 1),
            shared_mem_bytes: kernel.config.shared_bytes,
        };
        // SAFETY: these are the kernel's arguments; their pointers are to buffers of this search with the
        // sizes that they state.
        unsafe { launch(&stream, &kernel.function, config, &arguments(memory, &stream, queries, tally)) }?;
        memory.timer.stop(&stream)
    }

    fn collect(
        &self,
        stream: &Arc<CudaStream>,
        queries: usize,
        build: KernelBuild,
        answer: &mut Answer,
    ) -> DriverResult {
        let Some(tally) = &self.tally else { return Ok(()) };
        let counters = read(stream, &tally.counters.slice(..queries))?;
        let convergence = read(stream, &tally.convergence.slice(..queries * CONVERGENCE_ENTRIES))?;
        for (counters, entries) in counters.iter().zip(convergence.chunks_exact(CONVERGENCE_ENTRIES)) {
            let kept = (counters.merges as usize).min(CONVERGENCE_ENTRIES);
            answer
                .convergence
                .push(entries[..kept].iter().map(|entry| (entry.points_seen, entry.max_distance)));
        }
        answer.convergence.counted_by = rules::CONVERGENCE.to_owned();
        let rows = counters.into_iter().map(|counters| knn::Counters::from(counters).row());
        answer.measured.extend(&rules::MEASURES, rows);
        if let (Some(cycles), Some(spans), KernelBuild::Profiled) = (&tally.cycles, &tally.spans, build) {
            let profile = answer.profile.get_or_insert_with(|| Profile::new(&rules::PHASES));
            profile.cycles.extend(read(stream, &cycles.slice(..queries * rules::PHASES.len()))?);
            let spans = read(stream, &spans.slice(..queries))?;
            profile.spans.extend(spans.into_iter().map(knn::WarpSpan::from));
        }
        Ok(())
    }

    fn parameters(&self) -> Parameters {
        if self.filtered.is_some() {
            return Parameters::from_iter([("kernel", "filter")]);
        }
        let mut parameters = Parameters::from_iter([("kernel", "direct")]);
        for (name, value) in POLICY.into_iter().zip(self.policy.to_array()) {
            parameters.set(name, value.to_string());
        }
        parameters.set("exact-d", if self.unit.exact_dims == 0 { "no" } else { "yes" });
        parameters
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn first_chunk(&self, cuda: &Cuda, memory: &SearchBuffers) -> usize {
        if self.filtered.is_some() {
            return filtered::FIRST_QUERIES;
        }
        // Four blocks per multiprocessor.
        4 * self.chunk_unit(cuda, memory)
    }

    /// One block per multiprocessor: fewer take as long, because each scans all points.
    fn chunk_unit(&self, cuda: &Cuda, _memory: &SearchBuffers) -> usize {
        if self.filtered.is_some() {
            filtered::QUERY_UNIT
        } else {
            (cuda.multiprocessors() * self.policy.queries_per_block()) as usize
        }
    }
}

/// Below this number of queries the kernel's time is constant: each warp scans all points, and the GPU is not
/// full.
const FILLING: f64 = 2600.0;

/// The same for the filtered search.
const FILLING_FILTER: f64 = 1800.0;

/// Cost of loading and searching, with the filter if the engine uses it, fitted to measurements on an NVIDIA
/// H200.
pub fn cost(shape: &Shape) -> Cost {
    let (n, q, d, k) = (shape.n as f64, shape.q as f64, shape.d as f64, shape.k as f64);
    let capacity = theory::capacity(shape.k);
    let merges = theory::expected_merges(shape.n, shape.k, capacity);
    let slots = capacity as f64;
    let cost = Cost::default()
        .setup("allocation", 1.0, 0.04)
        .setup("upload", n * d * 4.0, 1.5e-7)
        .search("launch", 1.0, 0.02)
        .search("latency", merges * (slots / 32.0).sqrt(), 3.5e-3)
        .search("merges", q * merges * slots * slots.log2().powi(2), 3.7e-10);
    // Kernels for any d except 2 and 3 read the coordinates of a point one by one.
    let direct =
        |points: f64, queries: f64| points * queries * d * if shape.d < 4 { 1.18e-10 } else { 4.5e-10 };
    if shape.d < 4 || shape.n < filtered::least_points(shape.k, shape.d) {
        return cost.search("distances", direct(n, q.max(FILLING)), 1.0);
    }
    let first = filtered::first_chunk(shape.k, shape.d) as f64;
    // Points that pass the filter are read again, each from an arbitrary row in memory.
    let passing = q * k * (1.0 + (n / k).max(1.0).ln());
    cost.setup("filter, setup", 1.0, 1.6)
        .search("filter, launch", 1.0, 0.2)
        .search("filter, first chunk", direct(first.min(n), q), 1.0)
        .search("filter", n * q.max(FILLING_FILTER) * (4.2e-10 + 4.6e-12 * d), 1.0)
        .search("filter, passing", passing * (2.6e-7 + 1e-9 * d), 1.0)
}
