//! Several GPUs as one device. Either each GPU answers a share of the queries over all points, or, if the
//! queries are few or the points do not fit one GPU, all queries over a share of the points; then the k best of
//! the shares are merged by (distance, position).

use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::registry;
use super::span_log::SpanLog;
use crate::Result;
use crate::knn::{
    Answer, BestLists, Descriptor, DeviceId, DeviceInfo, Engine, EngineError, GpuSet, KernelBuild, Lane,
    Neighbors, Parameters, Points, PreparedSearch, Problem, SetupPhase, StreamPhase, StreamSpan,
};

/// Up to this number of queries per GPU, reading the points takes most of the time, so the points are split.
const FEW_QUERIES: usize = 8;

/// Bytes of points that are worth splitting: one GPU reads fewer faster than a thread starts.
const WORTH_SPLITTING: usize = 64 << 20;

/// Queries whose lists are merged at a time.
const MERGED: usize = 1 << 16;

/// An engine on several GPUs.
struct SeveralEngine {
    descriptor: &'static Descriptor,
    id: DeviceId,
    parts: Vec<Box<dyn Engine>>,
    /// A thread for each part: starting one for each search would take as long as a short search.
    pool: ThreadPool,
    /// Bytes of points that are worth splitting.
    worth_splitting: usize,
    /// The points of each part, if they are split.
    shares: Vec<Problem>,
}

/// Opens an engine on several GPUs.
///
/// # Errors
/// That of the first GPU that cannot be opened.
pub fn open(descriptor: &'static Descriptor, gpus: GpuSet) -> Result<Box<dyn Engine>> {
    open_parts(descriptor, DeviceId::Gpus(gpus), gpus.devices().collect())
}

/// Opens an engine on each of `devices`, at the same time, as the parts of device `id`. For tests, a device may
/// occur several times.
#[doc(hidden)]
pub fn open_parts(
    descriptor: &'static Descriptor,
    id: DeviceId,
    mut devices: Vec<DeviceId>,
) -> Result<Box<dyn Engine>> {
    let parts = each(&mut devices, |_, device| descriptor.open_on(*device))?;
    let pool = pool(parts.len())
        .map_err(|error| EngineError::Unavailable { engine: descriptor.id, why: error.to_string() })?;
    let worth_splitting = WORTH_SPLITTING;
    Ok(Box::new(SeveralEngine { descriptor, id, parts, pool, worth_splitting, shares: Vec::new() }))
}

fn pool(parts: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(parts).thread_name(|at| format!("part {at}")).build()
}

/// Calls `work` for all items at the same time, each on a thread of the pool; the error is that of the first.
fn on_pool<T: Send, R: Send>(
    pool: &ThreadPool,
    items: &mut [T],
    work: impl Fn(usize, &mut T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let results: Vec<_> = pool.install(|| {
        items.par_iter_mut().enumerate().with_max_len(1).map(|(at, item)| work(at, item)).collect()
    });
    results.into_iter().collect()
}

/// Calls `work` for all items at the same time, each on a new thread; the error is that of the first.
pub(super) fn each<'scope, T: Send + 'scope, R: Send>(
    items: &'scope mut [T],
    work: impl Fn(usize, &'scope mut T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> =
            items.iter_mut().enumerate().map(|(at, item)| scope.spawn(move || work(at, item))).collect();
        let results = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.collect::<Vec<_>>().into_iter().collect()
    })
}

impl SeveralEngine {
    /// Whether to split the points. Counters are facts of a search of all points, so an engine that counts
    /// splits the queries.
    fn splits_points(&self, problem: &Problem) -> bool {
        let (parts, bytes) = (self.parts.len(), size_of_val(problem.points()));
        let fits = || registry::free_memory(self.id).is_none_or(|free| bytes as u64 <= free);
        self.descriptor.measures.is_empty()
            && problem.n() / parts >= problem.k()
            && (problem.q() <= FEW_QUERIES * parts && bytes >= self.worth_splitting || !fits())
    }
}

impl Engine for SeveralEngine {
    fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }

    fn device_id(&self) -> DeviceId {
        self.id
    }

    fn is_lost(&self) -> bool {
        self.parts.iter().any(|part| part.is_lost())
    }

    fn device(&self) -> DeviceInfo {
        let devices: Vec<DeviceInfo> = self.parts.iter().map(|part| part.device()).collect();
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        let name = if names.iter().all(|name| *name == names[0]) {
            format!("{} × {}", names.len(), names[0])
        } else {
            names.join(" + ")
        };
        let shared = if self.shares.is_empty() { "queries" } else { "points" };
        let mut details = devices[0].details.clone();
        details.push(("each GPU has".to_owned(), format!("a share of the {shared}")));
        DeviceInfo { id: Some(self.id), name, details }
    }

    fn prepare<'a>(
        &'a mut self,
        problem: &'a Problem,
        parameters: &Parameters,
        _profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>> {
        let count = self.parts.len();
        self.shares =
            if self.splits_points(problem) { point_shares(problem, self.id, count) } else { Vec::new() };
        let names: Vec<DeviceId> = self.parts.iter().map(|part| part.device_id()).collect();
        let Self { parts, shares, pool, .. } = self;
        let (shares, pool) = (&*shares, &*pool);
        let log = SpanLog::new();
        let parts = each(parts, |at, part| {
            let mut clock = log.clock(lane(names[at]), None);
            let loaded = part
                .load(shares.get(at).unwrap_or(problem), parameters, false)
                .map_err(|error| named(names[at], error))?;
            clock.end_loading(&*loaded);
            Ok(loaded)
        })?;
        let split = if shares.is_empty() {
            Split::Queries(QueryShares { weights: vec![1.0; count], ..QueryShares::default() })
        } else {
            Split::Points(shares)
        };
        Ok(Box::new(SharedSearch { k: problem.k(), q: problem.q(), parts, pool, names, split, log }))
    }
}

fn lane(device: DeviceId) -> Lane {
    Lane { device, stream: None }
}

/// Names the GPU that an error is about.
fn named(id: DeviceId, error: EngineError) -> EngineError {
    let named = |device: String| format!("GPU {id} ({device})");
    match error {
        EngineError::Memory { needed, free, device } => {
            EngineError::Memory { needed, free, device: named(device) }
        }
        EngineError::MemoryRefused { free, device } => {
            EngineError::MemoryRefused { free, device: named(device) }
        }
        EngineError::Device { device, why } => EngineError::Device { device: named(device), why },
        EngineError::DeviceLost { device, why } => EngineError::DeviceLost { device: named(device), why },
        other => other,
    }
}

/// The problem over equal shares of its points, cached with them because the GPUs cache their copies of them.
fn point_shares(problem: &Problem, id: DeviceId, count: usize) -> Vec<Problem> {
    let n = problem.n();
    let points = problem.cache().get(id, |_: &Vec<Arc<Points>>| true).unwrap_or_else(|| {
        let share = |at: usize| Arc::new(problem.shared_points().part(at * n / count..(at + 1) * n / count));
        let shares = Arc::new((0..count).map(share).collect::<Vec<_>>());
        problem.cache().insert(id, Arc::clone(&shares));
        shares
    });
    points.iter().map(|points| problem.over(Arc::clone(points))).collect()
}

/// A search shared among parts.
struct SharedSearch<'a> {
    k: usize,
    q: usize,
    parts: Vec<Box<dyn PreparedSearch + 'a>>,
    pool: &'a ThreadPool,
    names: Vec<DeviceId>,
    split: Split<'a>,
    log: SpanLog,
}

enum Split<'a> {
    /// Every part has all points and answers a share of each range of queries.
    Queries(QueryShares),
    /// Every part answers all queries over a share of the points.
    Points(&'a [Problem]),
}

/// Which part answers which queries.
#[derive(Default)]
struct QueryShares {
    /// Queries per millisecond of each part, relative to the others.
    weights: Vec<f64>,
    /// Each part's share of the last range.
    last: Vec<Range<usize>>,
    /// Which part answered which queries, ascending.
    searched: Vec<(Range<usize>, usize)>,
}

impl QueryShares {
    /// Divides a range by the parts' speed, in multiples of `unit`.
    fn divide(&self, queries: &Range<usize>, unit: usize) -> Vec<Range<usize>> {
        let total: f64 = self.weights.iter().sum();
        let (mut before, mut start) = (0.0, queries.start);
        let share = |weight: &f64| {
            before += weight;
            let ideal = queries.len() as f64 * before / total / unit as f64;
            let end = queries.end.min(queries.start + ideal.round() as usize * unit).max(start);
            std::mem::replace(&mut start, end)..end
        };
        let mut shares: Vec<Range<usize>> = self.weights.iter().map(share).collect();
        if let Some(last) = shares.last_mut() {
            last.end = queries.end;
        }
        shares
    }

    /// Updates the weights by the times of a range.
    fn learn(&mut self, times: &[f64]) {
        let rates: Vec<f64> =
            self.last.iter().zip(times).map(|(share, ms)| share.len() as f64 / ms).collect();
        if rates.iter().all(|rate| rate.is_finite() && *rate > 0.0) {
            let [known, now] = [&self.weights, &rates].map(|rates| rates.iter().sum::<f64>());
            for (weight, rate) in self.weights.iter_mut().zip(rates) {
                *weight = *weight / known + rate / now;
            }
        }
    }
}

impl PreparedSearch for SharedSearch<'_> {
    /// The longest time of each phase.
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        let mut longest: Vec<(SetupPhase, f64)> = Vec::new();
        for (phase, ms) in self.parts.iter().flat_map(|part| part.setup_ms()) {
            match longest.iter_mut().find(|(of, _)| *of == phase) {
                Some((_, most)) => *most = most.max(ms),
                None => longest.push((phase, ms)),
            }
        }
        longest
    }

    fn resident(&self) -> bool {
        self.parts.iter().all(|part| part.resident())
    }

    fn parameters(&self) -> Parameters {
        self.parts[0].parameters()
    }

    fn note(&self) -> Option<String> {
        self.parts[0].note()
    }

    fn first_chunk(&self) -> usize {
        self.parts.iter().map(|part| part.first_chunk()).sum()
    }

    fn chunk_unit(&self) -> usize {
        self.parts.iter().map(|part| part.chunk_unit()).sum()
    }

    fn chunk_ms(&self) -> f64 {
        self.parts[0].chunk_ms()
    }

    fn first_work(&self) -> u64 {
        self.parts.iter().map(|part| part.first_work()).sum()
    }

    /// The milliseconds are the host's, as the parts have no common clock.
    fn search(&mut self, queries: Range<usize>, build: KernelBuild) -> Result<f64> {
        let unit = self.parts.iter().map(|part| part.chunk_unit()).max().unwrap_or(1);
        let shares = match &self.split {
            Split::Queries(shares) => shares.divide(&queries, unit),
            Split::Points(_) => vec![queries.clone(); self.parts.len()],
        };
        let (start, names, log) = (Instant::now(), &self.names, &self.log);
        let times = on_pool(self.pool, &mut self.parts, |at, part| {
            let share = shares[at].clone();
            if share.is_empty() {
                return Ok(0.0);
            }
            let mut clock = log.clock(lane(names[at]), None);
            let ms = part.search(share, build).map_err(|error| named(names[at], error))?;
            clock.end(StreamPhase::Search);
            Ok(ms)
        })?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        if let Split::Queries(known) = &mut self.split {
            known.searched.retain(|(range, _)| range.end <= queries.start);
            let searched = shares.iter().cloned().enumerate().filter(|(_, share)| !share.is_empty());
            known.searched.extend(searched.map(|(part, share)| (share, part)));
            known.last = shares;
            known.learn(&times);
        }
        Ok(ms)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64> {
        let start = Instant::now();
        *neighbors = Neighbors::unanswered(self.q, self.k);
        self.download_range(0..self.q, &mut neighbors.indices, &mut neighbors.squared_distances)?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn download_range(
        &mut self,
        queries: Range<usize>,
        mut indices: &mut [u32],
        mut squared_distances: &mut [f32],
    ) -> Result<()> {
        let (k, names, log) = (self.k, &self.names, &self.log);
        // Copies are not on the pool, because a large one uses the threads of all cores.
        let searched = match &self.split {
            Split::Queries(shares) => &shares.searched,
            Split::Points(shares) => {
                let found = each(&mut self.parts, |at, part| {
                    let mut clock = log.clock(lane(names[at]), None);
                    let mut found = Neighbors::unanswered(queries.len(), k);
                    let Neighbors { indices, squared_distances, .. } = &mut found;
                    part.download_range(queries.clone(), indices, squared_distances)
                        .map_err(|error| named(names[at], error))?;
                    clock.end(StreamPhase::Download);
                    Ok(found)
                })?;
                let mut clock = log.clock(lane(DeviceId::Cpu), None);
                merge_shares(shares, &found, indices, squared_distances)?;
                clock.end(StreamPhase::Merge);
                return Ok(());
            }
        };
        let mut tasks: Vec<Vec<_>> = self.parts.iter().map(|_| Vec::new()).collect();
        for (range, part) in searched {
            let range = range.start.max(queries.start)..range.end.min(queries.end);
            if range.is_empty() {
                continue;
            }
            let (these, rest) = std::mem::take(&mut indices).split_at_mut(range.len() * k);
            indices = rest;
            let (distances, rest) = std::mem::take(&mut squared_distances).split_at_mut(range.len() * k);
            squared_distances = rest;
            tasks[*part].push((range, these, distances));
        }
        let mut work: Vec<_> = self.parts.iter_mut().zip(tasks).collect();
        each(&mut work, |at, (part, tasks)| {
            let mut clock = log.clock(lane(names[at]), None);
            for (range, indices, distances) in std::mem::take(tasks) {
                part.download_range(range, indices, distances).map_err(|error| named(names[at], error))?;
            }
            clock.end(StreamPhase::Download);
            Ok(())
        })?;
        Ok(())
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<()> {
        // Only engines without counters split the points.
        let Split::Queries(shares) = &self.split else { return Ok(()) };
        let mut parts = self.parts.iter_mut().zip(&shares.last).filter(|(_, share)| !share.is_empty());
        parts.try_for_each(|(part, _)| part.collect(answer))
    }

    fn take_stream_spans(&mut self, since: Instant) -> Vec<StreamSpan> {
        self.log.take(since)
    }
}

/// Merges what was found in each share of the points, some queries at a time.
fn merge_shares(
    shares: &[Problem],
    found: &[Neighbors],
    indices: &mut [u32],
    squared_distances: &mut [f32],
) -> Result<()> {
    let k = found[0].k;
    let some = MERGED * k;
    for (at, (indices, squared_distances)) in
        indices.chunks_mut(some).zip(squared_distances.chunks_mut(some)).enumerate()
    {
        let (q, mut first) = (indices.len() / k, 0);
        let mut lists = BestLists::new(q, k)?;
        for (share, found) in shares.iter().zip(found) {
            let range = at * some..at * some + q * k;
            let found = Neighbors {
                k,
                indices: found.indices[range.clone()].to_vec(),
                squared_distances: found.squared_distances[range].to_vec(),
            };
            lists.merge(0..q as u32, first, &found);
            first += share.n() as u32;
        }
        let merged = lists.neighbors(0..q, None);
        indices.copy_from_slice(&merged.indices);
        squared_distances.copy_from_slice(&merged.squared_distances);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kdtree::KDTREE;
    use crate::lockstep::LOCKSTEP;
    use crate::testing::{problem, scattered, search};

    fn several(descriptor: &'static Descriptor, count: usize) -> SeveralEngine {
        let parts = (0..count).map(|_| descriptor.open_on(DeviceId::Cpu).unwrap()).collect();
        let id = DeviceId::Gpus(GpuSet::first(count as u32).unwrap());
        let pool = pool(count).unwrap();
        SeveralEngine { descriptor, id, parts, pool, worth_splitting: 0, shares: Vec::new() }
    }

    #[test]
    fn split_queries_have_the_neighbours_and_counters_of_one_device() {
        let problem = problem(3, scattered(500, 3), (0..200).rev().collect(), 20);
        let (expected, counted) = search(&LOCKSTEP, &problem, &Parameters::NONE);
        for (count, chunks) in [(2, vec![0..150, 150..200]), (3, vec![0..1, 1..70, 70..200])] {
            let mut engine = several(&LOCKSTEP, count);
            assert_eq!(engine.device_id().to_string(), if count == 2 { "0,1" } else { "0,1,2" });
            let mut search = engine.load(&problem, &Parameters::NONE, false).unwrap();
            let (mut found, mut answer) = (Neighbors::default(), Answer::default());
            for chunk in chunks {
                search.search(chunk, KernelBuild::Counted).unwrap();
                search.collect(&mut answer).unwrap();
            }
            search.download(&mut found).unwrap();
            assert_eq!(found, expected);
            assert_eq!((&answer.measured, &answer.convergence), (&counted.measured, &counted.convergence));
            let (mut indices, mut distances) = (vec![0; 30 * 20], vec![0.0; 30 * 20]);
            search.download_range(60..90, &mut indices, &mut distances).unwrap();
            assert_eq!(indices, expected.indices[60 * 20..90 * 20]);
            drop(search);
            assert!(engine.device().details.iter().any(|(_, how)| how == "a share of the queries"));
        }
    }

    #[test]
    fn shares_follow_the_speed_of_the_devices_and_cover_the_queries() {
        let mut split = QueryShares { weights: vec![1.0; 3], ..QueryShares::default() };
        for step in 0..20 {
            split.last = split.divide(&(10..310), 1);
            assert!(split.last.windows(2).all(|pair| pair[0].end == pair[1].start), "{:?}", split.last);
            assert_eq!((split.last[0].start, split.last[2].end), (10, 310), "{step}");
            // The second device is twice as fast, the third half as fast as the first.
            let times: Vec<f64> =
                split.last.iter().zip([1.0, 0.5, 2.0]).map(|(share, ms)| share.len() as f64 * ms).collect();
            split.learn(&times);
        }
        let sizes: Vec<usize> = split.last.iter().map(Range::len).collect();
        assert!((82..=90).contains(&sizes[0]) && (168..=174).contains(&sizes[1]), "{sizes:?}");
        split.weights = vec![1.0; 3];
        assert_eq!(split.divide(&(4..5), 1).iter().map(Range::len).sum::<usize>(), 1);
    }

    #[test]
    fn split_points_have_the_neighbours_of_one_device() {
        // Every point occurs three times, so that most distances tie.
        let values = scattered(100, 2).repeat(3);
        let problem = problem(2, values, vec![7, 250, 99], 40);
        let (expected, _) = search(&KDTREE, &problem, &Parameters::NONE);
        for count in [2, 3, 7] {
            let mut engine = several(&KDTREE, count);
            let mut search = engine.load(&problem, &Parameters::NONE, false).unwrap();
            let mut found = Neighbors::default();
            search.search(0..3, KernelBuild::Timed).unwrap();
            search.download(&mut found).unwrap();
            assert_eq!(found, expected);
            let spans = search.take_stream_spans(Instant::now());
            let of = |phase| spans.iter().filter(|span| span.phase == phase).count();
            assert_eq!(
                (of(StreamPhase::Index), of(StreamPhase::Search)),
                (count, count),
                "one for each part"
            );
            assert_eq!(of(StreamPhase::Merge), 1);
            drop(search);
            assert_eq!(engine.shares.len(), count);
            assert!(engine.device().details.iter().any(|(_, how)| how == "a share of the points"));
        }
        // Shares with fewer than k points cannot be searched for k neighbours.
        let mut engine = several(&KDTREE, 10);
        engine.load(&problem, &Parameters::NONE, false).unwrap();
        assert!(engine.shares.is_empty());
    }
}
