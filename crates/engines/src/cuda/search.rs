//! What all engines on a GPU share: [`GpuSearch`], a problem in device memory that is searched by an engine's
//! [`Kernels`], and [`open`], which makes an engine of a device and of what loads its problems.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, DriverError};

use super::Cuda;
use super::device::memory::{Memory, read};
use super::device::units::{Unit, build_name};
use crate::knn::{
    Answer, Build, Descriptor, DeviceId, DeviceInfo, Engine, EngineError, EngineId, Measure, Neighbors,
    Parameters, Problem, Search, SetupPhase,
};

/// What an engine launches for a range of queries.
pub trait Kernels {
    /// Measures of a query, in the order of the numbers that the counted build writes.
    fn measures(&self) -> &'static [Measure] {
        &[]
    }

    /// Numbers that the counted build writes for a query; those without a measure are the last.
    fn counts(&self) -> usize {
        self.measures().len()
    }

    /// Where the numbers of query `number` of a range are written, if those of its first are written to
    /// `counts`.
    fn counts_of(&self, number: usize, counts: CUdeviceptr) -> CUdeviceptr {
        if counts == 0 { 0 } else { counts + (4 * self.counts() * number) as u64 }
    }

    /// The build that runs where this one is asked for.
    fn build(&self, asked: Build) -> Build {
        if asked == Build::Timed { Build::Timed } else { Build::Counted }
    }

    /// Answers a range of queries; returns the milliseconds that it took. The numbers of the first of them
    /// are written to `counts`, 0 if none are.
    ///
    /// # Errors
    /// Those of the driver.
    fn run(
        &mut self,
        cuda: &mut Cuda,
        memory: &mut Memory,
        queries: &Range<usize>,
        build: Build,
        counts: CUdeviceptr,
    ) -> Result<f64, DriverError>;

    /// Appends what the last launch, of so many queries in a build other than `Timed`, wrote besides the
    /// counts.
    ///
    /// # Errors
    /// Those of the driver.
    fn collect(
        &self,
        _stream: &Arc<CudaStream>,
        _queries: usize,
        _build: Build,
        _answer: &mut Answer,
    ) -> Result<(), DriverError> {
        Ok(())
    }

    /// See [`Search::parameters`].
    fn parameters(&self) -> Parameters {
        Parameters::default()
    }

    /// See [`Search::note`].
    fn note(&self) -> Option<String> {
        None
    }

    /// See [`Search::first_chunk`].
    fn first_chunk(&self, cuda: &Cuda, memory: &Memory) -> usize;

    /// See [`Search::chunk_unit`].
    fn chunk_unit(&self, _cuda: &Cuda, _memory: &Memory) -> usize {
        1
    }

    /// See [`Search::chunk_ms`].
    fn chunk_ms(&self) -> f64 {
        50.0
    }

    /// See [`Search::first_work`]. Even an index may compute all distances, of points that are equally far
    /// from the query.
    fn first_work(&self, _memory: &Memory) -> u64 {
        200_000_000_000
    }
}

/// A problem loaded into device memory, and what searches it.
pub struct GpuSearch<'a, K> {
    pub cuda: &'a mut Cuda,
    pub memory: Memory,
    pub kernels: K,
    built_ms: Option<f64>,
    pub resident: bool,
    counts: Option<CudaSlice<u32>>,
    /// Queries and build of the last launch.
    last: (Range<usize>, Build),
}

impl<'a, K: Kernels> GpuSearch<'a, K> {
    /// A search of an uploaded problem; `built_ms`: how long an index was built, unless it was there.
    pub fn new(cuda: &'a mut Cuda, memory: Memory, built_ms: Option<f64>, kernels: K) -> Self {
        let resident = memory.resident && built_ms.is_none();
        Self { cuda, memory, kernels, built_ms, resident, counts: None, last: (0..0, Build::Timed) }
    }

    fn launch(&mut self, queries: &Range<usize>, build: Build) -> Result<f64, DriverError> {
        let stream = self.cuda.stream.clone();
        let numbers = if build == Build::Timed { 0 } else { self.kernels.counts() * queries.len() };
        if self.counts.as_ref().map_or(0, CudaSlice::len) < numbers {
            // Free the old ones first.
            self.counts = None;
            self.counts = Some(stream.alloc_zeros(numbers)?);
        }
        // Those of an earlier launch may be too few for this one.
        let counts =
            self.counts.as_mut().filter(|_| numbers > 0).map_or(0, |counts| counts.device_ptr_mut(&stream).0);
        self.kernels.run(self.cuda, &mut self.memory, queries, build, counts)
    }

    fn copy_counts(&self, answer: &mut Answer) -> Result<(), DriverError> {
        let (queries, build) = (self.last.0.len(), self.last.1);
        if build == Build::Timed {
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

impl<K: Kernels> Search for GpuSearch<'_, K> {
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

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        debug_assert!(queries.start < queries.end && queries.end <= self.memory.q);
        let build = self.kernels.build(build);
        let ms = self.launch(&queries, build).map_err(|error| self.cuda.failed(error))?;
        self.last = (queries, build);
        Ok(ms)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        self.memory.download(&self.cuda.stream, neighbors).map_err(|error| self.cuda.failed(error))
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        self.copy_counts(answer).map_err(|error| self.cuda.failed(error))
    }
}

/// The kernels of the timed and of the counted build.
pub struct BuildKernels([CudaFunction; 2]);

impl BuildKernels {
    /// Loads both, by the names that `entry` makes of a build's.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`].
    pub fn load(
        cuda: &mut Cuda,
        engine: EngineId,
        unit: Unit,
        entry: impl Fn(&'static str) -> String,
    ) -> Result<Self, EngineError> {
        let mut load = |build| cuda.kernel(engine, unit.of_build(build), &entry(build_name(build)));
        Ok(Self([load(Build::Timed)?, load(Build::Counted)?]))
    }

    /// The kernel of a build.
    pub fn of(&self, build: Build) -> &CudaFunction {
        &self.0[usize::from(build != Build::Timed)]
    }
}

/// An engine on a GPU. `load` loads a problem, as [`Engine::prepare`] does.
struct GpuEngine<L> {
    cuda: Cuda,
    descriptor: &'static Descriptor,
    load: L,
}

/// Opens a given GPU for an engine, whose smallest kernel is in `unit`.
///
/// # Errors
/// [`EngineError::Unavailable`], saying what is missing and how to get it.
pub fn open<L>(
    descriptor: &'static Descriptor,
    device: DeviceId,
    unit: Unit,
    load: L,
) -> Result<Box<dyn Engine>, EngineError>
where
    L: for<'a> Fn(&'a mut Cuda, &'a Problem, &Parameters) -> Result<Box<dyn Search + 'a>, EngineError>
        + Send
        + 'static,
{
    Ok(Box::new(GpuEngine { cuda: Cuda::open_with(descriptor.id, device, unit)?, descriptor, load }))
}

impl<L> Engine for GpuEngine<L>
where
    L: for<'a> Fn(&'a mut Cuda, &'a Problem, &Parameters) -> Result<Box<dyn Search + 'a>, EngineError> + Send,
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
    ) -> Result<Box<dyn Search + 'a>, EngineError> {
        (self.load)(&mut self.cuda, problem, parameters)
    }
}
