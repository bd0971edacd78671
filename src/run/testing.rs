//! A plain engine that tests can observe, slow down and break.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{EnginePool, QuerySpec, RunSpec};
use crate::cloud::{Column, Coordinates, PointCloud, Source, Table};
use crate::engines::registry;
use crate::knn::{
    Answer, Descriptor, DeviceId, DeviceInfo, Engine, EngineError, EngineId, KernelBuild, Lane, Neighbors,
    Parameters, PreparedSearch, Problem, Profile, SetupPhase, StreamPhase, StreamSpan, WarpSpan, warp,
};

/// A searched chunk.
pub type Call = (KernelBuild, Range<usize>);

/// Records what the engine did, and controls its behaviour.
#[derive(Clone, Default)]
pub struct Script {
    pub calls: Arc<Mutex<Vec<Call>>>,
    pub loads: Arc<Mutex<usize>>,
    /// How often points were loaded; not counted if they were resident.
    pub uploads: Arc<Mutex<usize>>,
    /// Loading reports a lack of memory while points are resident.
    pub cramped: bool,
    /// Time per query.
    pub per_query: Duration,
    /// Panics after this many queries.
    pub panic_after: Option<usize>,
    /// Loading reports the engine as unavailable.
    pub unavailable: bool,
    /// The first neighbour of this query is wrong.
    pub wrong_query: Option<usize>,
    /// Query 0 is wrong in the counted build.
    pub wrong_when_counted: bool,
    /// Extra merges to count.
    pub extra_merges: u32,
    /// Limit of the first chunk in multiply-adds; a default otherwise.
    pub first_work: Option<u64>,
    /// The profiled build returns no profile.
    pub unprofiled: bool,
    /// Returns at once without searching.
    pub idle: bool,
    /// Searching fails like a driver.
    pub device_fails: bool,
    /// While set, searching fails as for a lost device, which sets `lost`.
    pub loses_device: Arc<AtomicBool>,
    /// The device is lost.
    pub lost: Arc<AtomicBool>,
}

/// Compares every query with every point. Its counters identify the query.
pub struct BruteForceEngine {
    pub kind: EngineId,
    pub script: Script,
}

pub const FIRST_CHUNK: usize = 4;

impl Engine for BruteForceEngine {
    fn descriptor(&self) -> &'static Descriptor {
        registry::find(self.kind).expect("its id is in the registry")
    }

    fn device_id(&self) -> DeviceId {
        registry::default_device(self.descriptor())
    }

    fn device(&self) -> DeviceInfo {
        DeviceInfo {
            id: None,
            name: "a test".to_owned(),
            details: vec![("threads".to_owned(), "1".to_owned())],
        }
    }

    fn is_lost(&self) -> bool {
        self.script.lost.load(Relaxed)
    }

    fn prepare<'a>(
        &'a mut self,
        problem: &'a Problem,
        _parameters: &Parameters,
        _profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>, EngineError> {
        *self.script.loads.lock().unwrap() += 1;
        if self.script.unavailable {
            return Err(EngineError::Unavailable { engine: self.kind, why: "the test says so".to_owned() });
        }
        let resident = problem.cache().get(self.device_id(), |_: &UploadMarker| true).is_some();
        if resident && self.script.cramped {
            return Err(EngineError::Memory { needed: 2, free: 1, device: "a test".to_owned() });
        }
        if !resident {
            *self.script.uploads.lock().unwrap() += 1;
            problem.cache().insert(self.device_id(), Arc::new(UploadMarker));
        }
        let found = Neighbors::unanswered(problem.q(), problem.k());
        Ok(Box::new(BruteForceSearch {
            engine: self,
            problem,
            resident,
            found,
            last: 0..0,
            build: KernelBuild::Timed,
            searched: 0,
        }))
    }
}

/// Marks loaded points.
struct UploadMarker;

struct BruteForceSearch<'a> {
    engine: &'a BruteForceEngine,
    problem: &'a Problem,
    resident: bool,
    found: Neighbors,
    last: Range<usize>,
    build: KernelBuild,
    searched: usize,
}

impl PreparedSearch for BruteForceSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        if self.resident {
            Vec::new()
        } else {
            vec![(SetupPhase::Upload, 0.25), (SetupPhase::BuildIndex, 0.5)]
        }
    }

    fn resident(&self) -> bool {
        self.resident
    }

    fn first_chunk(&self) -> usize {
        FIRST_CHUNK
    }

    fn first_work(&self) -> u64 {
        self.engine.script.first_work.unwrap_or(2_000_000_000)
    }

    fn search(&mut self, queries: Range<usize>, build: KernelBuild) -> Result<f64, EngineError> {
        let began = Instant::now();
        let script = &self.engine.script;
        script.calls.lock().unwrap().push((build, queries.clone()));
        if script.device_fails {
            return Err(EngineError::Device {
                device: "a test".to_owned(),
                why: "an illegal memory access".to_owned(),
            });
        }
        if script.loses_device.load(Relaxed) {
            script.lost.store(true, Relaxed);
            return Err(EngineError::DeviceLost {
                device: "a test".to_owned(),
                why: "an illegal memory access".to_owned(),
            });
        }
        if script.idle {
            (self.last, self.build) = (queries, build);
            return Ok(0.0);
        }
        self.searched += queries.len();
        assert!(script.panic_after.is_none_or(|after| self.searched < after), "the test\nsays so");
        std::thread::sleep(script.per_query * queries.len() as u32);
        let k = self.problem.k();
        for query in queries.clone() {
            let q = self.problem.query(query);
            let mut all: Vec<(f32, u32)> = (0u32..)
                .zip(self.problem.points().chunks_exact(self.problem.dims()))
                .map(|(position, p)| {
                    (p.iter().zip(q).fold(0.0f32, |sum, (p, q)| (p - q).mul_add(p - q, sum)), position)
                })
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (rank, (squared_distance, position)) in all.into_iter().take(k).enumerate() {
                self.found.indices[query * k + rank] = position;
                self.found.squared_distances[query * k + rank] = squared_distance;
            }
        }
        let counted = script.wrong_when_counted && build == KernelBuild::Counted;
        if let Some(query) =
            script.wrong_query.or(counted.then_some(0)).filter(|query| queries.contains(query))
        {
            self.found.squared_distances[query * k] += 0.5;
        }
        (self.last, self.build) = (queries, build);
        Ok(began.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        neighbors.clone_from(&self.found);
        Ok(0.125)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        assert_ne!(self.build, KernelBuild::Timed, "only a counting build can be collected");
        for query in self.last.clone() {
            answer.convergence.counted_by = warp::CONVERGENCE.to_owned();
            answer.measured.extend(&warp::MEASURES, [[2 + self.engine.script.extra_merges, query as u32, 1]]);
            answer.convergence.push([(32, 4.0), (self.problem.n() as u32, 1.0)]);
            if self.build == KernelBuild::Profiled && !self.engine.script.unprofiled {
                let profile = answer.profile.get_or_insert_with(|| Profile::new(&warp::PHASES));
                profile.cycles.extend([1, 2, 3, 4, 5, 6]);
                profile.spans.push(WarpSpan {
                    start_ns: 1000 * query as u64,
                    stop_ns: 1000 * query as u64 + 500,
                    sm: query as u32 % 2,
                    warp: 0,
                });
            }
        }
        Ok(())
    }
}

/// A stand-in for the lockstep engine, without special behaviour.
pub fn plain() -> BruteForceEngine {
    BruteForceEngine { kind: EngineId::new("lockstep"), script: Script::default() }
}

/// Engines that behave as `script` says, or cannot be opened.
pub fn engines(
    mut script: impl FnMut(EngineId) -> Result<Script, EngineError> + Send + 'static,
) -> EnginePool {
    EnginePool::with(Box::new(move |kind, _| Ok(Box::new(BruteForceEngine { kind, script: script(kind)? }))))
}

/// The error of an engine without a driver.
pub fn no_driver(engine: EngineId) -> EngineError {
    EngineError::Unavailable { engine, why: "there is no driver".to_owned() }
}

/// A cloud of rows.
pub fn cloud(dims: usize, values: Vec<f64>) -> Arc<PointCloud> {
    Arc::new(PointCloud::from_table(table(dims, values), source(), None, true).unwrap())
}

fn table(dims: usize, values: Vec<f64>) -> Table {
    Table { columns: (0..dims).map(|axis| Column { name: format!("c{axis}") }).collect(), values }
}

/// A cloud of rows with named columns.
pub fn named(names: &[&str], values: Vec<f64>) -> Arc<PointCloud> {
    let columns = names.iter().map(|name| Column { name: (*name).to_owned() }).collect();
    Arc::new(PointCloud::from_table(Table { columns, values }, source(), None, true).unwrap())
}

/// A cloud of a text, whose values are decimals.
pub fn decimals(names: &[&str], values: Vec<f64>) -> Arc<PointCloud> {
    let columns = names.iter().map(|name| Column { name: (*name).to_owned() }).collect();
    let values = Coordinates { decimals: true, ..Table { columns, values }.into() };
    Arc::new(PointCloud::from_table(values, source(), None, true).unwrap())
}

/// Queries for a cloud, as if from a file.
pub fn queries_to(data: &PointCloud, values: Vec<f64>) -> Arc<PointCloud> {
    Arc::new(PointCloud::from_table(table(data.dims(), values), source(), Some(data), false).unwrap())
}

/// n rows 0, 1, 4, 9, … on a line.
pub fn squares(n: usize) -> Arc<PointCloud> {
    cloud(1, (0..n).map(|i| (i * i) as f64).collect())
}

pub fn source() -> Source {
    Source::Generate { spec: "test".to_owned(), seed: 0 }
}

/// All rows, k = 3, two warm-ups, three repeats.
pub fn spec() -> RunSpec {
    RunSpec { warmup: 2, repeats: 3, ..RunSpec::new(source(), QuerySpec::All, 3) }
}

/// Two streams on each of two GPUs, each with a tile, and a merge on the host. Lanes overlap, and spans are
/// not in order.
pub fn stream_spans() -> Vec<StreamSpan> {
    let span = |lane, phase, tile, start_ms| StreamSpan { lane, phase, tile, start_ms, duration_ms: 1.5 };
    let lane = |gpu, stream| Lane { device: DeviceId::Gpu(gpu), stream: Some(stream) };
    let mut spans = vec![span(Lane { device: DeviceId::Cpu, stream: None }, StreamPhase::Merge, None, 9.0)];
    for tile in (0..4).rev() {
        let start = f64::from(tile);
        let lane = lane(tile % 2, tile / 2);
        spans.push(span(lane, StreamPhase::Search, Some(tile), start + 1.5));
        spans.push(span(lane, StreamPhase::Copy, Some(tile), start));
    }
    spans
}

/// Small clouds and records for tests of derived results.
pub mod records {
    use std::sync::Arc;

    use crate::cloud::{Column, PointCloud, Source, Table};
    use crate::knn::{Convergence, DeviceInfo, EngineId, Measurements, Neighbors, Profile, WarpSpan, warp};
    use crate::run::{Phase, QuerySpec, RunFile, RunRecord, RunSpec, SCHEMA_VERSION, Sample, Summary};

    /// n pseudo-random points around 0, from a linear congruential generator.
    pub fn cloud(n: usize, dims: usize, seed: u64) -> Arc<PointCloud> {
        scaled(n, seed, &vec![1.0; dims])
    }

    /// Points in four dimensions, each with its own extent.
    #[cfg_attr(not(feature = "gui"), expect(dead_code, reason = "for tests of the window"))]
    pub fn stretched(n: usize, scales: [f64; 4]) -> Arc<PointCloud> {
        scaled(n, 1, &scales)
    }

    fn scaled(n: usize, seed: u64, scales: &[f64]) -> Arc<PointCloud> {
        let dims = scales.len();
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from((state >> 40) as u32) / f64::from(1u32 << 24) * 2.0 - 1.0
        };
        let columns = (0..dims).map(|axis| Column { name: ["x", "y", "z", "w"][axis].to_owned() }).collect();
        let table = Table { columns, values: (0..n * dims).map(|at| draw() * scales[at % dims]).collect() };
        let source = Source::Generate { spec: format!("test:n={n}"), seed };
        Arc::new(PointCloud::from_table(table, source, None, false).expect("a cloud"))
    }

    /// Counters of three queries, with these merges.
    pub fn measured(merges: [u32; 3]) -> Measurements {
        let mut measured = Measurements::default();
        measured.extend(&warp::MEASURES, (0..3).map(|query| [merges[query], 20 + query as u32, 2]));
        measured
    }

    /// Three queries with k = 4 over 50 points, made by hand.
    pub fn record() -> Arc<RunRecord> {
        let cloud = cloud(50, 2, 7);
        let mut convergence =
            Convergence { counted_by: warp::CONVERGENCE.to_owned(), ..Convergence::default() };
        for scale in [1.0f32, 2.0, 3.0] {
            convergence.push([(10, 0.5 * scale), (30, 0.1 * scale), (50, 0.05 * scale)]);
        }
        let sample = |phase, repeat, duration_ms| Sample {
            phase,
            repeat,
            chunk: 0,
            start_ms: f64::from(repeat),
            duration_ms,
        };
        let head = RunFile {
            schema_version: SCHEMA_VERSION,
            warpscope_version: "0".to_owned(),
            commit: None,
            started_unix: 0,
            spec: RunSpec {
                repeats: 2,
                ..RunSpec::new(cloud.source().clone(), QuerySpec::Rows(vec![3, 5, 8]), 4)
            },
            engine: EngineId::new("lockstep"),
            fallback: None,
            predicted_ms: None,
            method: None,
            note: None,
            resident: false,
            device: DeviceInfo::default(),
            peaks: None,
            machine: None,
            fingerprint: cloud.fingerprint().clone(),
            query_fingerprint: None,
            axes: cloud.axes().to_vec(),
            dropped_rows: 0,
            dropped_queries: 0,
            summary: Summary { n: 50, q: 3, d: 2, ..Summary::default() },
        };
        Arc::new(RunRecord {
            head,
            cloud,
            query_cloud: None,
            query_rows: vec![3, 5, 8],
            neighbors: Neighbors {
                k: 4,
                indices: vec![3, 1, 2, 4, 5, 6, 7, 9, 8, 10, 11, 12],
                squared_distances: vec![0.0, 0.01, 0.02, 0.05, 0.0, 0.02, 0.04, 0.1, 0.0, 0.03, 0.06, 0.15],
            },
            measured: measured([3; 3]),
            convergence,
            profile: None,
            samples: vec![
                sample(Phase::Upload, 0, 0.2),
                sample(Phase::Search, 0, 1.0),
                sample(Phase::Search, 1, 1.2),
                sample(Phase::Download, 0, 0.1),
            ],
            stream_spans: Vec::new(),
        })
    }

    /// [`record`] with the profile of a device with two multiprocessors; the first two queries share a warp
    /// on the first.
    #[cfg_attr(not(feature = "gui"), expect(dead_code, reason = "for tests of the window"))]
    pub fn profiled_record() -> Arc<RunRecord> {
        let mut record = RunRecord::clone(&record());
        let span = |start_ns, stop_ns, sm, warp| WarpSpan { start_ns, stop_ns, sm, warp };
        record.samples.push(Sample {
            phase: Phase::Profiled,
            repeat: 0,
            chunk: 0,
            start_ms: 4.0,
            duration_ms: 1.0,
        });
        let spans = vec![span(1000, 401_000, 0, 0), span(1000, 501_000, 0, 0), span(21_000, 901_000, 1, 4)];
        record.profile = Some(Profile {
            cycles: [100, 500, 20, 200, 50, 10].repeat(3),
            spans,
            ..Profile::new(&warp::PHASES)
        });
        Arc::new(record)
    }
}
