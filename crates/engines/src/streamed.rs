//! Points that do not fit a GPU. They are copied to it and searched in tiles, and the k best of the tiles are
//! merged by (distance, position). Two engines share each GPU: while one searches, the other copies its tile.

use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::registry;
use super::several::each;
use super::span_log::SpanLog;
use crate::Result;
use crate::knn::{
    Answer, BestLists, Descriptor, DeviceId, DeviceInfo, Engine, KernelBuild, Lane, Neighbors, Parameters,
    PreparedSearch, Problem, SetupPhase, StreamPhase, StreamSpan, answer_bytes,
};
use crate::memory;

/// Engines on each GPU.
const SHARING: usize = 2;

/// The fewest tiles of each engine, so that most copies overlap with searches.
const LEAST_TILES: usize = 4;

/// The smallest tile, in points.
const LEAST_POINTS: usize = 4096;

/// An engine that searches tiles of points.
struct StreamedEngine {
    descriptor: &'static Descriptor,
    id: DeviceId,
    engines: Vec<Box<dyn Engine>>,
}

/// Opens an engine on one or several GPUs that need not hold all points at once.
///
/// # Errors
/// That of the first engine that cannot be opened.
pub fn open(descriptor: &'static Descriptor, id: DeviceId) -> Result<Box<dyn Engine>> {
    let devices = if let DeviceId::Gpus(gpus) = id { gpus.devices().collect() } else { vec![id] };
    let mut devices = devices.repeat(SHARING);
    let engines = each(&mut devices, |_, device| descriptor.open_on(*device))?;
    Ok(Box::new(StreamedEngine { descriptor, id, engines }))
}

impl Engine for StreamedEngine {
    fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }

    fn device_id(&self) -> DeviceId {
        self.id
    }

    fn is_lost(&self) -> bool {
        self.engines.iter().any(|engine| engine.is_lost())
    }

    fn device(&self) -> DeviceInfo {
        DeviceInfo { id: Some(self.id), ..self.engines[0].device() }
    }

    fn prepare<'a>(
        &'a mut self,
        problem: &'a Problem,
        parameters: &Parameters,
        _profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>> {
        let (n, d, k) = (problem.n(), problem.dims(), problem.k());
        let free = registry::free_memory(self.id).unwrap_or(u64::MAX) / SHARING as u64;
        // Half for the points with an index or in another layout, a quarter for queries, answers and scratch.
        let most = |bytes: u64, each: usize| usize::try_from(bytes / each as u64).unwrap_or(usize::MAX);
        let least = LEAST_POINTS.max(k).min(n);
        let even = n.div_ceil(LEAST_TILES * self.engines.len());
        let chunk = most(free / 4, 4 * d + 24 * k + 64).clamp(1, problem.q());
        memory::check(answer_bytes(problem.q(), k).saturating_add(2 * answer_bytes(chunk, k)))?;
        Ok(Box::new(StreamedSearch {
            problem,
            tile: most(free / 2, 12 * d + 32).min(even).max(least),
            least,
            chunk,
            engines: &mut self.engines,
            parameters: parameters.clone(),
            found: Neighbors::unanswered(problem.q(), k),
            log: SpanLog::new(),
        }))
    }
}

/// A search of a problem in tiles of its points.
struct StreamedSearch<'a> {
    problem: &'a Problem,
    engines: &'a mut [Box<dyn Engine>],
    parameters: Parameters,
    /// Points of a tile, and of the smallest.
    tile: usize,
    least: usize,
    /// Number of queries searched for each copy of the points.
    chunk: usize,
    found: Neighbors,
    log: SpanLog,
}

impl StreamedSearch<'_> {
    /// The best neighbours of some queries, from one pass over the tiles.
    fn pass(&mut self, queries: &Problem) -> Result<BestLists> {
        let Self { problem, tile, ref parameters, ref log, .. } = *self;
        let (n, q) = (problem.n(), queries.q());
        let lists = Mutex::new(BestLists::new(q, queries.k())?);
        let next = AtomicUsize::new(0);
        let devices = (self.engines.len() / SHARING).max(1);
        let search_tiles = |at: usize, engine: &mut Box<dyn Engine>| {
            let lane = Lane { device: engine.device_id(), stream: Some((at / devices) as u32) };
            let mut found = Neighbors::default();
            loop {
                let first = next.fetch_add(tile, Relaxed);
                if first >= n {
                    return Ok(());
                }
                let mut clock = log.clock(lane, Some((first / tile) as u32));
                let points = problem.shared_points().part(first..n.min(first + tile));
                let part = queries.over(Arc::new(points));
                let mut search = engine.load(&part, parameters, false)?;
                clock.end_loading(&*search);
                let step = search.first_work() / (part.n() * part.dims()) as u64;
                let step = usize::try_from(step).unwrap_or(q).max(search.chunk_unit());
                for from in (0..q).step_by(step) {
                    search.search(from..q.min(from + step), KernelBuild::Timed)?;
                }
                clock.end(StreamPhase::Search);
                search.download(&mut found)?;
                drop(search);
                clock.end(StreamPhase::Download);
                let mut lists = lists.lock().unwrap_or_else(PoisonError::into_inner);
                clock.end(StreamPhase::Wait);
                lists.merge(0..q as u32, first as u32, &found);
                clock.end(StreamPhase::Merge);
            }
        };
        each(self.engines, |at, engine| {
            // After an error, the others do not begin another tile.
            search_tiles(at, engine).inspect_err(|_| next.store(n, Relaxed))
        })?;
        Ok(lists.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PreparedSearch for StreamedSearch<'_> {
    /// Copies are part of the search.
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        Vec::new()
    }

    fn resident(&self) -> bool {
        false
    }

    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn note(&self) -> Option<String> {
        let tiles = self.problem.n().div_ceil(self.tile);
        Some(format!(
            "the points do not fit into the GPU's memory: {tiles} tiles of up to {} points were copied during \
             the search; counters need all points in it",
            self.tile
        ))
    }

    fn first_chunk(&self) -> usize {
        self.chunk
    }

    /// The points are copied for every chunk, so none is shorter than memory requires.
    fn chunk_unit(&self) -> usize {
        self.chunk
    }

    /// The milliseconds are the host's.
    fn search(&mut self, queries: Range<usize>, _build: KernelBuild) -> Result<f64> {
        let (start, k) = (Instant::now(), self.problem.k());
        for first in queries.clone().step_by(self.chunk) {
            let chunk = first..queries.end.min(first + self.chunk);
            let part = self.problem.query_range(chunk.clone());
            let lists = loop {
                match self.pass(&part) {
                    // The size of an index or of scratch memory was only estimated.
                    Err(error) if error.is_short_of_memory() && self.tile > self.least => {
                        self.tile = (self.tile / 2).max(self.least);
                    }
                    result => break result?,
                }
            };
            let found = lists.neighbors(0..part.q(), None);
            let range = chunk.start * k..chunk.end * k;
            self.found.indices[range.clone()].copy_from_slice(&found.indices);
            self.found.squared_distances[range].copy_from_slice(&found.squared_distances);
        }
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64> {
        neighbors.clone_from(&self.found);
        Ok(0.0)
    }

    fn counts(&self) -> bool {
        false
    }

    fn collect(&mut self, _answer: &mut Answer) -> Result<()> {
        Ok(())
    }

    fn take_stream_spans(&mut self, since: Instant) -> Vec<StreamSpan> {
        self.log.take(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ENGINES;
    use crate::knn::DeviceKind;
    use crate::testing::{problem, scattered, search};

    fn two(descriptor: &'static Descriptor) -> Vec<Box<dyn Engine>> {
        (0..2).map(|_| descriptor.open_on(DeviceId::Cpu).unwrap()).collect()
    }

    fn prepared<'a>(
        problem: &'a Problem,
        engines: &'a mut [Box<dyn Engine>],
        tile: usize,
    ) -> StreamedSearch<'a> {
        StreamedSearch {
            problem,
            engines,
            parameters: Parameters::NONE,
            tile,
            least: tile,
            chunk: 7,
            found: Neighbors::unanswered(problem.q(), problem.k()),
            log: SpanLog::new(),
        }
    }

    fn streamed(descriptor: &'static Descriptor, tile: usize, problem: &Problem) -> Neighbors {
        let mut engines = two(descriptor);
        let mut search = prepared(problem, &mut engines, tile);
        let mut found = Neighbors::default();
        // Twice, as in repeated runs.
        for queries in [0..problem.q(), 0..3, 3..problem.q()] {
            search.search(queries, KernelBuild::Timed).unwrap();
        }
        search.download(&mut found).unwrap();
        assert!(!search.counts() && !search.resident());
        found
    }

    #[test]
    fn tiles_of_any_size_have_the_neighbours_of_one_search() {
        // Every point occurs three times, so that most distances tie.
        for (d, k) in [(2, 5), (3, 40), (17, 1)] {
            let n = 300;
            let problem = problem(d, scattered(n / 3, d).repeat(3), vec![0, 299, 7, 7, 100, 250, 3, 4, 5], k);
            for descriptor in ENGINES.iter().filter(|engine| engine.runs_on.contains(&DeviceKind::Cpu)) {
                if descriptor.check(&problem, &Parameters::NONE).is_err() {
                    continue;
                }
                let (expected, _) = search(descriptor, &problem, &Parameters::NONE);
                for tile in [40, 67, n - 1, n] {
                    assert_eq!(streamed(descriptor, tile, &problem), expected, "{} {tile}", descriptor.id);
                }
            }
        }
    }

    #[test]
    fn spans_of_all_tiles_are_within_the_pass_and_follow_each_other_on_each_stream() {
        let problem = problem(3, scattered(4000, 3), (0..200).collect(), 10);
        let mut engines = two(&crate::kdtree::KDTREE);
        let since = Instant::now();
        let mut search = StreamedSearch { chunk: 100, ..prepared(&problem, &mut engines, 1000) };
        search.search(0..200, KernelBuild::Timed).unwrap();
        let wall_ms = since.elapsed().as_secs_f64() * 1e3;
        let spans = search.take_stream_spans(since);
        for tile in 0..4 {
            let phases =
                |phase| spans.iter().filter(|span| (span.tile, span.phase) == (Some(tile), phase)).count();
            // Once for each of two chunks of queries.
            for phase in [StreamPhase::Index, StreamPhase::Search, StreamPhase::Merge] {
                assert_eq!(phases(phase), 2, "{phase:?} of tile {tile}");
            }
        }
        let lanes = [0, 1].map(|stream| Lane { device: DeviceId::Cpu, stream: Some(stream) });
        assert!(spans.iter().all(|span| lanes.contains(&span.lane)));
        for lane in lanes {
            let mut reached = 0.0;
            for span in spans.iter().filter(|span| span.lane == lane) {
                assert!(span.start_ms >= reached && span.duration_ms > 0.0, "{span:?} after {reached}");
                reached = span.start_ms + span.duration_ms - 1e-9;
            }
            assert!(reached < wall_ms, "{lane}: {reached} of {wall_ms} ms");
        }
        assert_eq!(search.take_stream_spans(since), [], "they are handed over once");
    }

    #[test]
    fn an_engine_on_the_cpu_is_streamed_in_even_tiles() {
        let problem = problem(3, scattered(50_000, 3), (0..50).collect(), 10);
        let descriptor = &crate::kdtree::KDTREE;
        let (expected, _) = search(descriptor, &problem, &Parameters::NONE);
        let mut engine = open(descriptor, DeviceId::Cpu).unwrap();
        let mut search = engine.load(&problem, &Parameters::NONE, false).unwrap();
        assert!(search.note().unwrap().contains("8 tiles of up to 6250 points"), "{:?}", search.note());
        let mut found = Neighbors::default();
        search.search(0..50, KernelBuild::Timed).unwrap();
        search.download(&mut found).unwrap();
        assert_eq!(found, expected);
    }
}
