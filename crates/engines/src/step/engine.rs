//! The engines `step` and `step-exhaustive` on the CPU, their rows in the registry, and the resolution of
//! parameters.

use std::sync::Arc;
use std::vec::Drain;

use super::clusters::{ClusterParameters, Clusters};
use super::cost;
use super::exhaustive::{exhaust_each, groups_in_cluster};
use super::kmeans::kmeans;
use super::queue::{QueryState, WARP};
use super::spheres::Method;
use super::traverse::{Visits, search_each};
use super::walk::walk;
use crate::Result;
use crate::cpu::{self, Chunk, CpuSearch, Searcher, Setup};
use crate::cuda::open_step;
use crate::knn::walk::AXES;
use crate::knn::{
    AllowedValues, Answer, Buffer, Descriptor, DeviceId, Engine, EngineError, EngineId, Group, Measure,
    Measurements, MemorySpace, Parameter, Parameters, Problem, SetupPhase, Shape, Walk, code,
};
use crate::lockstep::distance::GroupedPoints;
use crate::progress::{NoProgress, Progress};

/// The registry's row for `step`.
pub static STEP: Descriptor = INDEXED;

/// The row of `step`, from which that of `step-exhaustive` differs in a few fields.
const INDEXED: Descriptor = Descriptor {
    group: Group::Indexed,
    about: "STEP: sorts clusters of points for each query, visits the nearest and prunes the rest; from 16 \
            dimensions on like step-exhaustive.",
    source: "Wang and Ino 2025, §4; docs/step.md",
    code: code![
        "cuda/step/traverse.cuh",
        "cuda/step/bounds.cuh",
        "cuda/step/queue.cuh",
        "crates/engines/src/step/traverse.rs"
    ],
    document: "docs/step.md",
    buffers: &[
        Buffer::new(MemorySpace::Registers, "K nearest so far, sorted", "a warp", Shape::capacity),
        Buffer::new(MemorySpace::Shared, "candidate buffer", "a warp", Shape::capacity),
        Buffer::new(MemorySpace::Memory, "clusters, sorted by their bounds", "a query", |_| 0),
        Buffer::new(MemorySpace::Memory, "points, cluster by cluster", "all queries", Shape::points),
    ],
    measures: &MEASURES,
    active_threads: Some(active_threads),
    parameters: &[CLUSTERS, ITERATIONS, SPHERES, SWITCH, FISSION, WARPS],
    is_exhaustive: false,
    distances: |_, _, measured| measured.mean("distance_evals"),
    cost: cost::step,
    walk: Some(record_walk),
    ..Descriptor::new(EngineId::new("step"), |device| open(device, &STEP))
};

/// The registry's row for `step-exhaustive`.
pub static STEP_EXHAUSTIVE: Descriptor = Descriptor {
    id: EngineId::new("step-exhaustive"),
    group: Group::Exhaustive,
    about: "STEP for many dimensions: computes all distances, then sorts and prunes clusters of points by \
            their exact minima.",
    source: "Wang and Ino 2025, §4.4; docs/step.md",
    code: code!["cuda/step/exhaustive.cuh", "crates/engines/src/step/exhaustive.rs"],
    buffers: &[
        Buffer::new(MemorySpace::Registers, "K nearest so far, sorted", "a warp", Shape::capacity),
        Buffer::new(MemorySpace::Shared, "candidate buffer", "a warp", Shape::capacity),
        Buffer::new(
            MemorySpace::Memory,
            "distances, and the minimum of each cluster",
            "a query",
            Shape::points,
        ),
    ],
    parameters: &[CLUSTERS, FISSION, WARPS],
    is_exhaustive: true,
    distances: |n, _, _| Some(n as f64),
    cost: cost::exhaustive,
    walk: None,
    open: |device| open(device, &STEP_EXHAUSTIVE),
    ..INDEXED
};

const CLUSTERS: Parameter = Parameter {
    name: "clusters",
    help: "Maximum number of clusters.",
    values: AllowedValues::Numbers(1..=2048),
    default: "one per 128 points, at most 512; 2048 if all distances are computed",
};

const ITERATIONS: Parameter = Parameter {
    name: "iterations",
    help: "Maximum number of k-means iterations; stops early when no point changes its cluster.",
    values: AllowedValues::Numbers(0..=1000),
    default: "50",
};

const SPHERES: Parameter = Parameter {
    name: "spheres",
    help: "Method for the clusters' bounding spheres.",
    values: AllowedValues::Words(&Method::WORDS),
    default: "exact",
};

const SWITCH: Parameter = Parameter {
    name: "switch",
    help: "Minimum number of dimensions for computing all distances, as in step-exhaustive.",
    values: AllowedValues::Numbers(1..=1024),
    default: "16",
};

const FISSION: Parameter = Parameter {
    name: "fission",
    help: "Whether a GPU sorts clusters and visits them in two kernels or in one; no effect on a CPU.",
    values: AllowedValues::Words(&["on", "off"]),
    default: "on",
};

const WARPS: Parameter = Parameter {
    name: "warps",
    help: "Warps of a GPU that share a query's clusters in the timed search; no effect on a CPU.",
    values: AllowedValues::Numbers(1..=32),
    default: "1; more if there are too few queries to fill the GPU",
};

/// The columns of `counters.csv`, in the order of [`Visits`].
pub static MEASURES: [Measure; 6] = [
    Measure::new(
        "merges",
        ["merge", "merges"],
        "Merges of the candidate queue of 64 into the intermediate result.",
    ),
    Measure::new(
        "candidates",
        ["candidate", "candidates"],
        "Points retained: closer than the k-th so far, and added to the candidate queue.",
    ),
    Measure::new(
        "distance_evals",
        ["distance evaluation", "distance evaluations"],
        "Points whose distances were read while visiting clusters.",
    ),
    Measure::new("clusters", ["cluster", "clusters"], "Visited clusters."),
    Measure::new(
        "pruned",
        ["pruned cluster", "pruned clusters"],
        "Clusters pruned because they cannot contain a neighbour.",
    ),
    Measure::new(
        "groups",
        ["group", "groups"],
        "Filtered groups of 32 points of a cluster, one per lane; the last group may be smaller.",
    ),
];

/// Mean number of active lanes: the last group of a cluster leaves lanes without a point.
fn active_threads(measured: &Measurements) -> Option<f64> {
    measured.ratio("distance_evals", "groups")
}

fn open(device: DeviceId, descriptor: &'static Descriptor) -> Result<Box<dyn Engine>> {
    match device {
        DeviceId::Gpu(_) | DeviceId::Gpus(_) => open_step(device, descriptor),
        DeviceId::Cpu => cpu::open(descriptor, "CPU, clusters", None, move |problem, parameters| {
            let plan = Plan::new(problem, parameters, descriptor.is_exhaustive);
            let (points, setup) = if plan.exhaustive {
                // A row of distances per thread.
                let distances = 4 * (problem.n() * rayon::current_num_threads()) as u64;
                let (points, setup) =
                    cpu::grouped(problem, distances + cpu::counts_bytes::<Visits>(problem))?;
                (PreparedPoints::Rows(points), setup)
            } else {
                let (clusters, setup) = clusters(problem, &plan, &NoProgress)?.expect("not cancelled");
                (PreparedPoints::Clusters(clusters), setup)
            };
            Ok(Box::new(CpuSearch::new(problem, setup, StepSearcher { descriptor, plan, points })))
        }),
    }
}

const BLOCK: usize = 16;

/// The points, prepared for one of the two algorithms.
enum PreparedPoints {
    Clusters(Arc<Clusters>),
    Rows(Arc<GroupedPoints<WARP>>),
}

/// See [`Descriptor::walk`].
fn record_walk(
    problem: &Problem,
    query: usize,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Option<Walk>> {
    let plan = Plan::new(problem, parameters, false);
    if plan.exhaustive {
        let why = format!(
            "with {} dimensions all distances are computed (switch={}), so there is no walk to show",
            problem.dims(),
            plan.value("switch")
        );
        return Err(EngineError::Parameter { engine: STEP.id, why });
    }
    if problem.dims() > AXES {
        return Err(EngineError::Limit {
            engine: STEP.id,
            what: "d",
            limit: AXES as u64,
            value: problem.dims() as u64,
        });
    }
    let clusters = clusters(problem, &plan, progress)?;
    Ok(clusters.map(|(clusters, _)| walk(&clusters, problem, query)))
}

/// The points in clusters; `None` if clustering was cancelled.
fn clusters(
    problem: &Problem,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<Option<(Arc<Clusters>, Setup)>> {
    let clustering = plan.clustering;
    let bytes = Clusters::bytes(problem.n(), problem.dims(), clustering.clusters);
    let suits = |clusters: &Clusters| clusters.clustering == clustering;
    let counts = cpu::counts_bytes::<Visits>(problem);
    cpu::prepared_if(problem, SetupPhase::BuildIndex, bytes, counts, suits, || {
        let assigned = kmeans(problem, clustering.clusters, clustering.iterations, progress)?;
        Some(Clusters::new(problem, clustering, &assigned))
    })
}

struct StepSearcher {
    descriptor: &'static Descriptor,
    plan: Plan,
    points: PreparedPoints,
}

impl Searcher for StepSearcher {
    type Visits = Visits;

    fn queries_per_thread(&self) -> usize {
        BLOCK
    }

    fn search(&mut self, chunk: Chunk<'_, Visits>) {
        let problem = chunk.problem;
        let (dims, k, n) = (problem.dims(), problem.k(), problem.n());
        let (points, clusters) = (&self.points, self.plan.clustering.clusters);
        chunk.in_blocks(BLOCK, |queries, rows| {
            let mut queue = QueryState::new(k);
            let mut done = |queue: &QueryState, visits| rows.put(queue.neighbours(), visits);
            match points {
                PreparedPoints::Clusters(clusters) => search_each(clusters, queries, &mut queue, &mut done),
                PreparedPoints::Rows(points) => {
                    exhaust_each(points, groups_in_cluster(n, clusters), queries, dims, &mut queue, &mut done)
                }
            }
        });
    }

    fn collect(&self, visits: Drain<'_, Visits>, answer: &mut Answer) -> Result<()> {
        answer.measured.extend(&MEASURES, visits.map(bytemuck::cast));
        Ok(())
    }

    fn parameters(&self) -> Parameters {
        self.plan.resolved(self.descriptor)
    }
}

/// Number of clusters in the paper's experiments with an index (p, §6.1).
pub const MAX_CLUSTERS: usize = 512;

/// Number of clusters in the paper's experiments without an index.
pub const EXHAUSTIVE_CLUSTERS: usize = 2048;

/// Points per cluster if there are too few points for that many clusters. From the paper's default case:
/// 65,536 points in 512 clusters.
pub const POINTS_IN_CLUSTER: usize = 128;

/// The most iterations of Lloyd's algorithm in the paper's experiments (a, §7).
pub const MAX_ITERATIONS: usize = 50;

/// With at least this many dimensions, distances are computed without an index (d_t, §4.4).
pub const SWITCH_DIMS: usize = 16;

/// How a problem is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether all distances are computed. Clusters are then consecutive in processing order.
    pub exhaustive: bool,
    pub clustering: ClusterParameters,
    switch: usize,
    /// Whether a GPU sorts and visits the clusters in two kernels (§5.2).
    pub fission: bool,
    /// Warps of a GPU that share a query's clusters (§5.3); `None` until the number that fits is known.
    pub warps: Option<u32>,
}

impl Plan {
    /// The plan for checked parameters.
    pub fn new(problem: &Problem, parameters: &Parameters, always_exhaustive: bool) -> Self {
        let number =
            |name: &str, default: usize| parameters.number(name).map_or(default, |number| number as usize);
        let switch = number("switch", SWITCH_DIMS);
        let exhaustive = always_exhaustive || problem.dims() >= switch;
        let clusters = if exhaustive {
            EXHAUSTIVE_CLUSTERS
        } else {
            MAX_CLUSTERS.min(problem.n().div_ceil(POINTS_IN_CLUSTER))
        };
        let clustering = ClusterParameters {
            clusters: number("clusters", clusters),
            iterations: number("iterations", MAX_ITERATIONS),
            spheres: parameters.get("spheres").and_then(Method::from_word).unwrap_or(Method::Exact),
        };
        Self {
            exhaustive,
            clustering,
            switch,
            fission: parameters.get("fission") != Some("off"),
            warps: parameters.number("warps"),
        }
    }

    /// The resolved parameters of an engine.
    pub fn resolved(&self, engine: &Descriptor) -> Parameters {
        engine.parameters.iter().map(|parameter| (parameter.name, self.value(parameter.name))).collect()
    }

    /// The value of a parameter.
    pub fn value(&self, name: &str) -> String {
        match name {
            "clusters" => self.clustering.clusters.to_string(),
            "iterations" => self.clustering.iterations.to_string(),
            "spheres" => self.clustering.spheres.word().to_owned(),
            "switch" => self.switch.to_string(),
            "warps" => self.warps.unwrap_or(1).to_string(),
            "fission" => if self.fission { "on" } else { "off" }.to_owned(),
            _ => unreachable!("{name} is not declared"),
        }
    }
}
