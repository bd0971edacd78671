//! An engine outside the registry, with two measures of its own. It shows what a new engine must provide, and
//! that only its descriptor is used.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use warpscope::export;
use warpscope::knn::{
    AllowedValues, Answer, Cost, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId,
    Group, KernelBuild, Limits, MeanBound, Measure, Method, Metric, Neighbors, Parameter, Parameters,
    PreparedSearch, Problem, SetupPhase,
};
use warpscope::run::{EngineChoice, LoadedSpec, QuerySpec, RunSpec, execute};

use crate::common::cloud;
use crate::subject::Subject;

static MEASURES: [Measure; 2] = [
    Measure {
        name: "visited",
        unit: ["point", "points"],
        help: "Points whose distance was computed.",
        theory: Some(MeanBound { mean: |shape| shape.n as f64, condition: "always", source: "all of them" }),
        worst_case: Some(|shape| shape.n as f64),
    },
    Measure {
        name: "blocks_hit",
        unit: ["block", "blocks"],
        help: "Blocks with a neighbour.",
        theory: None,
        worst_case: None,
    },
];

static PARAMETERS: [Parameter; 2] = [
    Parameter {
        name: "block",
        help: "Points that are looked at together.",
        values: AllowedValues::Numbers(1..=64),
        default: "32",
    },
    Parameter {
        name: "from",
        help: "Where it begins.",
        values: AllowedValues::Words(&["start", "end"]),
        default: "start",
    },
];

pub static DUMMY: Descriptor = Descriptor {
    id: EngineId::new("dummy"),
    group: Group::Cpu,
    about: "Sorts all points.",
    source: "none",
    code: &[],
    document: "README.md",
    lesson: None,
    runs_on: &[DeviceKind::Cpu, DeviceKind::Gpu],
    buffers: &[],
    limits: Limits { k: 200, d: 64, n: 50_000, metrics: &[Metric::L2] },
    measures: &MEASURES,
    convergence: None,
    active_threads: None,
    phases: &[],
    parameters: &PARAMETERS,
    is_exhaustive: false,
    distances: |_, _, _| None,
    twin_of: None,
    cost: |shape, _| {
        Cost::default().setup("copy", (shape.n * shape.d) as f64, 1e-6).search(
            "points",
            (shape.n * shape.q) as f64,
            1e-5,
        )
    },
    traces: false,
    walk: None,
    within: None,
    inner_products: None,
    open: |device| Ok(Box::new(DummyEngine(device))),
};

/// The size of its answer buffer in bytes.
const ROOM: usize = 1 << 30;

pub fn subjects() -> Vec<Subject> {
    vec![Subject { engine: &DUMMY, device: DeviceId::Cpu }]
}

struct DummyEngine(DeviceId);

/// The points in the engine's layout.
struct DummyPoints(Vec<f32>);

struct DummySearch<'a> {
    problem: &'a Problem,
    points: Arc<DummyPoints>,
    taken_ms: Option<f64>,
    block: usize,
    from_end: bool,
    found: Neighbors,
    rows: Vec<[u32; 2]>,
}

impl Engine for DummyEngine {
    fn descriptor(&self) -> &'static Descriptor {
        &DUMMY
    }

    fn device_id(&self) -> DeviceId {
        self.0
    }

    fn device(&self) -> DeviceInfo {
        DeviceInfo { id: Some(self.0), name: "a dummy".to_owned(), details: Vec::new() }
    }

    fn prepare<'a>(
        &'a mut self,
        problem: &'a Problem,
        parameters: &Parameters,
        _profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>, EngineError> {
        let needed = 8 * problem.q() * problem.k();
        if needed > ROOM {
            return Err(EngineError::HostMemory { needed: (needed >> 20) as u64, free: (ROOM >> 20) as u64 });
        }
        let began = Instant::now();
        let there = problem.cache().get(self.0, |_: &DummyPoints| true);
        let taken_ms = there.is_none().then(|| began.elapsed().as_secs_f64() * 1e3);
        let points = there.unwrap_or_else(|| {
            let points = Arc::new(DummyPoints(problem.points().to_vec()));
            problem.cache().insert(self.0, Arc::clone(&points));
            points
        });
        let found = Neighbors::unanswered(problem.q(), problem.k());
        let block = parameters.number("block").unwrap_or(32) as usize;
        Ok(Box::new(DummySearch {
            problem,
            points,
            taken_ms,
            block,
            from_end: parameters.get("from") == Some("end"),
            found,
            rows: Vec::new(),
        }))
    }
}

impl PreparedSearch for DummySearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.taken_ms.map(|ms| (SetupPhase::Upload, ms)).into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.taken_ms.is_none()
    }

    fn parameters(&self) -> Parameters {
        Parameters::from_iter([
            ("block", self.block.to_string()),
            ("from", if self.from_end { "end" } else { "start" }.to_owned()),
        ])
    }

    fn first_chunk(&self) -> usize {
        8
    }

    fn search(&mut self, queries: Range<usize>, _build: KernelBuild) -> Result<f64, EngineError> {
        let (began, k, dims) = (Instant::now(), self.problem.k(), self.problem.dims());
        self.rows.clear();
        for query in queries {
            let at = self.problem.query(query);
            let distance =
                |point: &[f32]| point.iter().zip(at).fold(0f32, |sum, (p, q)| (p - q).mul_add(p - q, sum));
            let mut all: Vec<(u32, u32)> = self
                .points
                .0
                .chunks_exact(dims)
                .zip(0..)
                .map(|(point, position)| (distance(point).to_bits(), position))
                .collect();
            if self.from_end {
                all.reverse();
            }
            all.sort_unstable();
            let visited = all.len() as u32;
            all.truncate(k);
            for (rank, &(bits, position)) in all.iter().enumerate() {
                (self.found.indices[query * k + rank], self.found.squared_distances[query * k + rank]) =
                    (position, f32::from_bits(bits));
            }
            let mut blocks: Vec<usize> =
                all.iter().map(|&(_, position)| position as usize / self.block).collect();
            blocks.sort_unstable();
            blocks.dedup();
            self.rows.push([visited, blocks.len() as u32]);
        }
        Ok(began.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        neighbors.clone_from(&self.found);
        Ok(0.0)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        answer.measured.extend(&MEASURES, self.rows.drain(..));
        Ok(())
    }
}

/// Its runs are summarised and exported according to its descriptor.
#[test]
fn runs_of_an_engine_with_custom_measures_are_exported() {
    let data = cloud((0..600).map(|at| f64::from(at * 7919 % 601)).collect(), 2, None);
    let method: Method = "dummy:block=16".parse().unwrap();
    let spec = RunSpec {
        engine: EngineChoice::Named(method),
        profile: true,
        ..RunSpec::new(data.source().clone(), QuerySpec::Count(20), 4)
    };
    let record =
        execute(LoadedSpec::new(&spec, &data, None), &mut DummyEngine(DeviceId::Cpu), &mut |_, _| true)
            .unwrap();
    assert_eq!(record.method.as_deref(), Some("dummy:block=16,from=start"));
    let visited = record.summary.measure("visited").expect("it is declared");
    assert_eq!((visited.mean, visited.expected), (300.0, Some(300.0)));
    assert!(
        record.summary.measure("blocks_hit").is_some_and(|hit| hit.expected.is_none() && hit.mean >= 1.0)
    );
    assert!(record.profile.is_none() && record.convergence.queries() == 0);

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let files = export::folder(&record, &out).unwrap();
    assert!(
        files.iter().any(|file| file.ends_with("counters.csv"))
            && !files.iter().any(|file| file.ends_with("merges.csv")),
        "{files:?}"
    );
    let counters = std::fs::read_to_string(out.join("counters.csv")).unwrap();
    assert!(
        counters.starts_with("query,row,visited,blocks_hit\n0,") && counters.lines().count() == 21,
        "{counters}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("run.json")).unwrap()).unwrap();
    assert_eq!((&json["engine"], &json["summary"]["mean_visited"]), (&"dummy".into(), &300.0.into()));
}
