//! Code shared by all CPU engines: [`CpuSearch`] searches a problem with an engine's [`Searcher`], and the
//! threads of the pool answer its queries in blocks. [`prepared`] builds and caches the structure that an
//! engine derives from the points. [`open`] combines both into an engine.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use std::vec::Drain;

use rayon::prelude::*;

use super::host_memory;
use super::lockstep::distance::GroupedPoints;
use crate::Result;
use crate::knn::{
    Answer, Descriptor, DeviceId, DeviceInfo, Engine, KernelBuild, Neighbors, Parameters, PreparedSearch,
    Problem, SetupPhase, WarpSpan,
};

/// How an engine searches a problem on the CPU.
pub trait Searcher: Send {
    /// What counting builds record about each query besides its neighbours.
    type Visits: Clone + Default + Send;

    /// Queries that keep a thread busy; sets the size of the first chunk.
    fn queries_per_thread(&self) -> usize;

    /// Answers a chunk of queries.
    fn search(&mut self, chunk: Chunk<'_, Self::Visits>);

    /// Upper bound on the bytes that counting builds record per query beyond [`Self::Visits`], if they are
    /// enough to be checked before each chunk.
    fn history_bytes(&self, _problem: &Problem) -> usize {
        0
    }

    /// Appends the records of the last search's queries to an answer.
    ///
    /// # Errors
    /// `EngineError::HostMemory`.
    fn collect(&self, _visits: Drain<'_, Self::Visits>, _answer: &mut Answer) -> Result<()> {
        Ok(())
    }

    /// The fraction of the last search's time to report.
    fn timed_share(&self) -> f64 {
        1.0
    }

    /// See [`PreparedSearch::parameters`].
    fn parameters(&self) -> Parameters {
        Parameters::default()
    }

    /// See [`PreparedSearch::note`].
    fn note(&self) -> Option<String> {
        None
    }

    /// See [`PreparedSearch::chunk_ms`].
    fn chunk_ms(&self) -> f64 {
        50.0
    }
}

/// The setup phase that prepared the points and its milliseconds; `None` if the result was cached.
pub type Setup = Option<(SetupPhase, f64)>;

/// A problem with its searcher.
pub struct CpuSearch<'a, S: Searcher> {
    problem: &'a Problem,
    setup: Setup,
    found: SearchOutput<S::Visits>,
    searcher: S,
}

impl<'a, S: Searcher> CpuSearch<'a, S> {
    /// A search whose queries are all unanswered.
    pub fn new(problem: &'a Problem, setup: Setup, searcher: S) -> Self {
        let neighbors = Neighbors::unanswered(problem.q(), problem.k());
        Self {
            problem,
            setup,
            found: SearchOutput { neighbors, visits: Vec::new(), spans: Vec::new() },
            searcher,
        }
    }
}

impl<S: Searcher> PreparedSearch for CpuSearch<'_, S> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.setup.into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.setup.is_none()
    }

    fn parameters(&self) -> Parameters {
        self.searcher.parameters()
    }

    fn note(&self) -> Option<String> {
        self.searcher.note()
    }

    fn first_chunk(&self) -> usize {
        (rayon::current_num_threads() * self.searcher.queries_per_thread()).min(self.problem.q())
    }

    fn chunk_ms(&self) -> f64 {
        self.searcher.chunk_ms()
    }

    fn search(&mut self, queries: Range<usize>, build: KernelBuild) -> Result<f64> {
        let history = queries.len() * self.searcher.history_bytes(self.problem);
        if build != KernelBuild::Timed && history > 0 {
            host_memory::check_bytes(history as u64)?;
        }
        let start = Instant::now();
        let (problem, found) = (self.problem, &mut self.found);
        self.searcher.search(Chunk { problem, queries, build, found });
        Ok(start.elapsed().as_secs_f64() * 1e3 * self.searcher.timed_share())
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64> {
        let start = Instant::now();
        neighbors.clone_from(&self.found.neighbors);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<()> {
        let SearchOutput { visits, spans, .. } = &mut self.found;
        self.searcher.collect(visits.drain(..), answer)?;
        if !spans.is_empty() {
            answer.profile.get_or_insert_default().spans.append(spans);
        }
        Ok(())
    }
}

/// An engine on the CPU. `load` implements [`Engine::prepare`].
struct CpuEngine<L> {
    descriptor: &'static Descriptor,
    name: &'static str,
    detail: Option<(&'static str, &'static str)>,
    load: L,
}

/// Opens a CPU engine. The device information calls it `name` and may add one detail.
///
/// # Errors
/// None: every machine has a CPU.
pub fn open<L>(
    descriptor: &'static Descriptor,
    name: &'static str,
    detail: Option<(&'static str, &'static str)>,
    load: L,
) -> Result<Box<dyn Engine>>
where
    L: for<'a> Fn(&'a Problem, &Parameters) -> Result<Box<dyn PreparedSearch + 'a>> + Send + 'static,
{
    Ok(Box::new(CpuEngine { descriptor, name, detail, load }))
}

impl<L> Engine for CpuEngine<L>
where
    L: for<'a> Fn(&'a Problem, &Parameters) -> Result<Box<dyn PreparedSearch + 'a>> + Send,
{
    fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }

    fn device_id(&self) -> DeviceId {
        DeviceId::Cpu
    }

    fn device(&self) -> DeviceInfo {
        let threads = ("threads".to_owned(), rayon::current_num_threads().to_string());
        let detail = self.detail.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let details =
            model().map(|model| ("processor".to_owned(), model)).into_iter().chain([threads]).chain(detail);
        DeviceInfo { id: Some(DeviceId::Cpu), name: self.name.to_owned(), details: details.collect() }
    }

    fn prepare<'a>(
        &'a mut self,
        problem: &'a Problem,
        parameters: &Parameters,
        _profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>> {
        (self.load)(problem, parameters)
    }
}

/// The processor's model, if it reports one.
#[cfg(target_arch = "x86_64")]
pub fn model() -> Option<String> {
    let brand = raw_cpuid::CpuId::new().get_processor_brand_string()?;
    let plain = brand.as_str().replace("(R)", "").replace("(TM)", "").replace("(tm)", "");
    let model = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    (!model.is_empty()).then_some(model)
}

#[cfg(not(target_arch = "x86_64"))]
pub fn model() -> Option<String> {
    None
}

/// Builds the structure that an engine derives from a problem's points and caches it with them; returns it
/// with the time that took. Both its `bytes` and `search_bytes` must be free.
///
/// # Errors
/// `EngineError::HostMemory`.
pub fn prepared<T: Any + Send + Sync>(
    problem: &Problem,
    phase: SetupPhase,
    bytes: u64,
    search_bytes: u64,
    make: impl FnOnce() -> T,
) -> Result<(Arc<T>, Setup)> {
    let made = prepared_if(problem, phase, bytes, search_bytes, |_| true, || Some(make()))?;
    Ok(made.expect("it is made"))
}

/// Like [`prepared`], but a cached structure must satisfy `suits`, and `make` may be cancelled by returning
/// `None`.
///
/// # Errors
/// `EngineError::HostMemory`.
pub fn prepared_if<T: Any + Send + Sync>(
    problem: &Problem,
    phase: SetupPhase,
    bytes: u64,
    search_bytes: u64,
    suits: impl FnOnce(&T) -> bool,
    make: impl FnOnce() -> Option<T>,
) -> Result<Option<(Arc<T>, Setup)>> {
    let there = problem.cache().get(DeviceId::Cpu, suits);
    host_memory::check(problem, search_bytes + if there.is_some() { 0 } else { bytes })?;
    if let Some(there) = there {
        return Ok(Some((there, None)));
    }
    let start = Instant::now();
    problem.cache().remove::<T>(DeviceId::Cpu);
    let Some(made) = make().map(Arc::new) else { return Ok(None) };
    problem.cache().insert(DeviceId::Cpu, Arc::clone(&made));
    Ok(Some((made, Some((phase, start.elapsed().as_secs_f64() * 1e3)))))
}

/// Bytes of the counts of all queries, one `V` each.
pub fn counts_bytes<V>(problem: &Problem) -> u64 {
    (size_of::<V>() * problem.q()) as u64
}

/// Points per group.
pub const GROUP: usize = 32;

/// A problem's points in groups, which several engines share.
///
/// # Errors
/// `EngineError::HostMemory`.
pub fn grouped(problem: &Problem, search_bytes: u64) -> Result<(Arc<GroupedPoints<GROUP>>, Setup)> {
    let bytes = size_of_val(problem.points()) as u64;
    let make = || GroupedPoints::new(problem.points(), problem.dims());
    prepared(problem, SetupPhase::Upload, bytes, search_bytes, make)
}

/// Times consecutive intervals on the current thread.
pub struct LapTimer {
    thread: u32,
    since_ns: u64,
}

impl LapTimer {
    pub fn start() -> Self {
        // Work that is not distributed runs on the caller's thread, which is not in the pool.
        let thread = rayon::current_thread_index().map_or(0, |thread| thread as u32);
        Self { thread, since_ns: now_ns() }
    }

    /// Ends the current interval and starts the next.
    pub fn lap(&mut self) -> WarpSpan {
        let start_ns = std::mem::replace(&mut self.since_ns, now_ns());
        WarpSpan { start_ns, stop_ns: self.since_ns, sm: self.thread, warp: 0 }
    }
}

/// Nanoseconds since the first call in this process.
fn now_ns() -> u64 {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The neighbours of all queries, and the records of the last search's queries in their order.
pub struct SearchOutput<V> {
    pub neighbors: Neighbors,
    /// What each query visited; empty in the timed build.
    pub visits: Vec<V>,
    /// When each query ran, and on which thread of the pool; empty except in the profiled build.
    pub spans: Vec<WarpSpan>,
}

/// Receives a block's answers, query by query.
pub struct AnswerWriter<'a, V> {
    k: usize,
    indices: &'a mut [u32],
    squared_distances: &'a mut [f32],
    visits: &'a mut [V],
    /// The block's time spans and its clock; `None` except in the profiled build.
    timed: Option<(&'a mut [WarpSpan], LapTimer)>,
    /// Index of the block's first query in the problem.
    first: usize,
    done: usize,
}

impl<V> AnswerWriter<'_, V> {
    /// Index of the block's first query in the problem.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Stores the k neighbours of the next query and what it visited.
    pub fn put(&mut self, neighbours: impl Iterator<Item = (u32, f32)>, visits: V) {
        let entries = self.done * self.k..(self.done + 1) * self.k;
        let places = self.indices[entries.clone()].iter_mut().zip(&mut self.squared_distances[entries]);
        for ((index, squared_distance), neighbour) in places.zip(neighbours) {
            (*index, *squared_distance) = neighbour;
        }
        if !self.visits.is_empty() {
            self.visits[self.done] = visits;
        }
        if let Some((spans, laps)) = &mut self.timed {
            spans[self.done] = laps.lap();
        }
        self.done += 1;
    }

    /// Gives each query the time of the whole block, for queries that are searched together.
    pub fn share_time(&mut self) {
        if let (Some((spans, _)), 1..) = (&mut self.timed, self.done) {
            let whole = WarpSpan { stop_ns: spans[self.done - 1].stop_ns, ..spans[0] };
            spans[..self.done].fill(whole);
        }
    }
}

impl<V: Clone + Default + Send> SearchOutput<V> {
    /// Clears the records of the last search and makes room for the next one.
    pub fn restart(&mut self, queries: usize, build: KernelBuild) {
        let rooms = |is_kept: bool| if is_kept { queries } else { 0 };
        self.visits.clear();
        self.visits.resize(rooms(build != KernelBuild::Timed), V::default());
        self.spans.clear();
        self.spans.resize(rooms(build == KernelBuild::Profiled), WarpSpan::default());
    }
}

/// A range of a problem's queries to answer, and room for their answers.
pub struct Chunk<'a, V> {
    pub problem: &'a Problem,
    pub queries: Range<usize>,
    pub build: KernelBuild,
    pub found: &'a mut SearchOutput<V>,
}

impl<V: Clone + Default + Send> Chunk<'_, V> {
    /// Answers the queries in blocks of `block`. `search` receives their coordinates, row-major.
    pub fn in_blocks(self, block: usize, search: impl Fn(&[f32], &mut AnswerWriter<'_, V>) + Sync) {
        let Self { problem, queries, build, found } = self;
        let (dims, k, count) = (problem.dims(), problem.k(), queries.len());
        found.restart(count, build);
        let coordinates = &problem.queries()[queries.start * dims..queries.end * dims];
        let entries = queries.start * k..queries.end * k;
        let indices = &mut found.neighbors.indices[entries.clone()];
        let squared_distances = &mut found.neighbors.squared_distances[entries];
        let rows = |first, indices, squared_distances, visits, spans| {
            let timed = (build == KernelBuild::Profiled).then(|| (spans, LapTimer::start()));
            AnswerWriter { k, indices, squared_distances, visits, timed, first, done: 0 }
        };
        if count == 1 {
            // Run a single work item on this thread: the pool may be busy with another run.
            let mut rows =
                rows(queries.start, indices, squared_distances, &mut found.visits, &mut found.spans);
            return search(coordinates, &mut rows);
        }
        // Arrays that this build does not record are empty; every block then gets an empty slice.
        let blocks = count.div_ceil(block);
        let mut visits: Vec<&mut [V]> = found.visits.chunks_mut(block).collect();
        visits.resize_with(blocks, Default::default);
        let mut spans: Vec<&mut [WarpSpan]> = found.spans.chunks_mut(block).collect();
        spans.resize_with(blocks, Default::default);
        let neighbours = indices.par_chunks_mut(block * k).zip(squared_distances.par_chunks_mut(block * k));
        let answers = neighbours.zip(visits).zip(spans);
        coordinates.par_chunks(block * dims).zip(answers).enumerate().for_each(
            |(number, (coordinates, (((indices, squared_distances), visits), spans)))| {
                let first = queries.start + number * block;
                search(coordinates, &mut rows(first, indices, squared_distances, visits, spans));
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laps_are_contiguous() {
        let mut laps = LapTimer::start();
        let (first, second) = (laps.lap(), laps.lap());
        assert!(
            first.start_ns <= first.stop_ns
                && first.stop_ns == second.start_ns
                && second.start_ns <= second.stop_ns
        );
        assert_eq!((first.sm, first.warp), (0, 0), "a test does not run on the pool");
    }

    struct IdleSearcher;

    impl Searcher for IdleSearcher {
        type Visits = ();

        fn queries_per_thread(&self) -> usize {
            1
        }

        fn search(&mut self, chunk: Chunk<'_, ()>) {
            chunk.found.restart(chunk.queries.len(), chunk.build);
        }
    }

    #[test]
    fn only_profiled_builds_record_spans() {
        let problem = crate::testing::problem(1, vec![1.0, 2.0, 3.0], vec![0, 1, 2], 1);
        let (mut search, mut answer) = (CpuSearch::new(&problem, None, IdleSearcher), Answer::default());
        search.search(0..3, KernelBuild::Counted).unwrap();
        search.collect(&mut answer).unwrap();
        assert_eq!(answer.profile, None);
        for _ in 0..2 {
            search.search(0..3, KernelBuild::Profiled).unwrap();
            search.collect(&mut answer).unwrap();
        }
        let profile = answer.profile.unwrap();
        assert_eq!((profile.phases.len(), profile.cycles.len(), profile.spans.len()), (0, 0, 6));
    }
}
