//! Code shared by all engines on a GPU: [`GpuSearch`] searches a problem in device memory with an engine's
//! [`SearchKernels`], and [`open`] combines a device and a function that loads problems into an engine.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut};

use super::Cuda;
use super::device::memory::{SearchBuffers, read};
use super::device::units::{Unit, build_name};
use crate::Result;
use crate::cuda::DriverResult;
use crate::knn::{
    Answer, Descriptor, DeviceId, DeviceInfo, Engine, EngineId, KernelBuild, Measure, Neighbors, Parameters,
    PreparedSearch, Problem, SetupPhase,
};

/// A range of queries to answer.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    pub queries: &'a Range<usize>,
    pub build: KernelBuild,
    /// Counters are written from this address on, unless it is 0.
    pub counts: CUdeviceptr,
}

/// The launches of an engine for a range of queries.
pub trait SearchKernels: Send {
    /// The measures of a query, in the order in which the counted build writes its numbers.
    fn measures(&self) -> &'static [Measure] {
        &[]
    }

    /// Numbers that the counted build writes per query; those without a measure come last.
    fn counts(&self) -> usize {
        self.measures().len()
    }

    /// The address of the numbers of query `number` of a range, given the address `counts` of the first
    /// query's; 0 if they are not written.
    fn counts_at(&self, number: usize, counts: CUdeviceptr) -> CUdeviceptr {
        if counts == 0 { 0 } else { counts + (4 * self.counts() * number) as u64 }
    }

    /// The build that runs if `asked` is requested.
    fn build(&self, asked: KernelBuild) -> KernelBuild {
        if asked == KernelBuild::Timed { KernelBuild::Timed } else { KernelBuild::Counted }
    }

    /// Answers a range of queries; returns the elapsed milliseconds.
    ///
    /// # Errors
    /// Those of the driver.
    fn run(&mut self, cuda: &mut Cuda, memory: &mut SearchBuffers, chunk: Chunk<'_>) -> DriverResult<f64>;

    /// Appends what the last launch, of `queries` queries in a build other than `Timed`, wrote besides the
    /// counters.
    ///
    /// # Errors
    /// Those of the driver.
    fn collect(
        &self,
        _stream: &Arc<CudaStream>,
        _queries: usize,
        _build: KernelBuild,
        _answer: &mut Answer,
    ) -> DriverResult {
        Ok(())
    }

    /// See [`PreparedSearch::parameters`].
    fn parameters(&self) -> Parameters {
        Parameters::default()
    }

    /// See [`PreparedSearch::note`].
    fn note(&self) -> Option<String> {
        None
    }

    /// See [`PreparedSearch::first_chunk`].
    fn first_chunk(&self, cuda: &Cuda, memory: &SearchBuffers) -> usize;

    /// See [`PreparedSearch::chunk_unit`].
    fn chunk_unit(&self, _cuda: &Cuda, _memory: &SearchBuffers) -> usize {
        1
    }

    /// See [`PreparedSearch::chunk_ms`].
    fn chunk_ms(&self) -> f64 {
        50.0
    }

    /// See [`PreparedSearch::first_work`]. Even an index may compute all distances, if the points are equally
    /// far from the query.
    fn first_work(&self, _memory: &SearchBuffers) -> u64 {
        200_000_000_000
    }
}

/// A problem in device memory with the kernels that search it.
pub struct GpuSearch<'a, K> {
    pub cuda: &'a mut Cuda,
    pub memory: SearchBuffers,
    pub kernels: K,
    built_ms: Option<f64>,
    pub resident: bool,
    counts: Option<CudaSlice<u32>>,
    last: (Range<usize>, KernelBuild),
}

impl<'a, K: SearchKernels> GpuSearch<'a, K> {
    /// A search of an uploaded problem. `built_ms`: the time to build an index; `None` if it was cached.
    pub fn new(cuda: &'a mut Cuda, memory: SearchBuffers, built_ms: Option<f64>, kernels: K) -> Self {
        let resident = memory.resident && built_ms.is_none();
        Self { cuda, memory, kernels, built_ms, resident, counts: None, last: (0..0, KernelBuild::Timed) }
    }

    fn launch(&mut self, queries: &Range<usize>, build: KernelBuild) -> DriverResult<f64> {
        let stream = self.cuda.stream.clone();
        let numbers = if build == KernelBuild::Timed { 0 } else { self.kernels.counts() * queries.len() };
        if self.counts.as_ref().map_or(0, CudaSlice::len) < numbers {
            // Free the old buffer first.
            self.counts = None;
            self.counts = Some(stream.alloc_zeros(numbers)?);
        }
        // The buffer of an earlier launch may be too small for this one.
        let counts =
            self.counts.as_mut().filter(|_| numbers > 0).map_or(0, |counts| counts.device_ptr_mut(&stream).0);
        self.kernels.run(self.cuda, &mut self.memory, Chunk { queries, build, counts })
    }

    fn copy_counts(&self, answer: &mut Answer) -> DriverResult {
        let (queries, build) = (self.last.0.len(), self.last.1);
        if build == KernelBuild::Timed {
            return Ok(());
        }
        let (stream, each) = (&self.cuda.stream, self.kernels.counts());
        if let Some(counts) = &self.counts {
            let counts = read(stream, &counts.slice(..each * queries))?;
            answer.measured.extend_rows(self.kernels.measures(), counts.chunks_exact(each));
        }
        self.kernels.collect(stream, queries, build, answer)
    }
}

impl<K: SearchKernels> PreparedSearch for GpuSearch<'_, K> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        let built = self.built_ms.map(|ms| (SetupPhase::BuildIndex, ms));
        [(SetupPhase::Upload, self.memory.upload_ms)].into_iter().chain(built).collect()
    }

    fn resident(&self) -> bool {
        self.resident
    }

    fn parameters(&self) -> Parameters {
        self.kernels.parameters()
    }

    fn note(&self) -> Option<String> {
        self.kernels.note()
    }

    fn first_chunk(&self) -> usize {
        self.kernels.first_chunk(self.cuda, &self.memory)
    }

    fn chunk_unit(&self) -> usize {
        self.kernels.chunk_unit(self.cuda, &self.memory)
    }

    fn chunk_ms(&self) -> f64 {
        self.kernels.chunk_ms()
    }

    fn first_work(&self) -> u64 {
        self.kernels.first_work(&self.memory)
    }

    fn search(&mut self, queries: Range<usize>, build: KernelBuild) -> Result<f64> {
        debug_assert!(queries.start < queries.end && queries.end <= self.memory.q);
        let build = self.kernels.build(build);
        let ms = self.launch(&queries, build).map_err(|error| self.cuda.failed(error))?;
        self.last = (queries, build);
        Ok(ms)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64> {
        self.memory.download(self.cuda, neighbors).map_err(|error| self.cuda.failed(error))
    }

    fn download_range(
        &mut self,
        queries: Range<usize>,
        indices: &mut [u32],
        squared_distances: &mut [f32],
    ) -> Result<()> {
        let copied = self.memory.download_range(self.cuda, queries, indices, squared_distances);
        copied.map(drop).map_err(|error| self.cuda.failed(error))
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<()> {
        self.copy_counts(answer).map_err(|error| self.cuda.failed(error))
    }
}

/// The kernels of the timed and of the counted build.
pub struct BuildKernels([CudaFunction; 2]);

impl BuildKernels {
    /// Loads both; `entry` returns the kernel's name for a build's name.
    ///
    /// # Errors
    /// `EngineError::Unavailable`.
    pub fn load(
        cuda: &mut Cuda,
        engine: EngineId,
        unit: Unit,
        entry: impl Fn(&'static str) -> String,
    ) -> Result<Self> {
        let mut load = |build| cuda.kernel(engine, unit.for_build(build), &entry(build_name(build)));
        Ok(Self([load(KernelBuild::Timed)?, load(KernelBuild::Counted)?]))
    }

    pub fn for_build(&self, build: KernelBuild) -> &CudaFunction {
        &self.0[usize::from(build != KernelBuild::Timed)]
    }
}

/// An engine on a GPU. `load` implements [`Engine::prepare`].
struct GpuEngine<L> {
    cuda: Cuda,
    descriptor: &'static Descriptor,
    load: L,
}

/// Opens a given GPU for an engine; `unit` has the engine's smallest kernel.
///
/// # Errors
/// `EngineError::Unavailable`, which says what is missing and how to get it.
pub fn open<L>(
    descriptor: &'static Descriptor,
    device: DeviceId,
    unit: Unit,
    load: L,
) -> Result<Box<dyn Engine>>
where
    L: for<'a> Fn(&'a mut Cuda, &'a Problem, &Parameters) -> Result<Box<dyn PreparedSearch + 'a>>
        + Send
        + 'static,
{
    Ok(Box::new(GpuEngine { cuda: Cuda::open_with(descriptor.id, device, unit)?, descriptor, load }))
}

impl<L> Engine for GpuEngine<L>
where
    L: for<'a> Fn(&'a mut Cuda, &'a Problem, &Parameters) -> Result<Box<dyn PreparedSearch + 'a>> + Send,
{
    fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }

    fn device_id(&self) -> DeviceId {
        self.cuda.device_id
    }

    fn is_lost(&self) -> bool {
        self.cuda.is_lost()
    }

    fn device(&self) -> DeviceInfo {
        self.cuda.device()
    }

    fn prepare<'a>(
        &'a mut self,
        problem: &'a Problem,
        parameters: &Parameters,
        _profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>> {
        (self.load)(&mut self.cuda, problem, parameters)
    }
}
