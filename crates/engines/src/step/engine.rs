//! The engines `step` and `step-exhaustive` on the CPU, and their rows in the registry.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::clusters::Clusters;
use super::cost;
use super::exhaustive::{exhaust_each, groups_in_cluster};
use super::kmeans::kmeans;
use super::plan::Plan;
use super::queue::{Queue, WARP};
use super::spheres::Method;
use super::traverse::{Visits, search_each};
use super::walk::walk;
use crate::blocks::{Kept, answer_in_blocks};
use crate::cuda::CudaStep;
use crate::knn::walk::AXES;
use crate::knn::{
    Answer, Build, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Keeps, Limits, Measure, Measured, Metric,
    Neighbors, Parameter, Parameters, Place, Problem, Search, SetupPhase, Shape, Values, Walk, code, warp as rules,
};
use crate::lockstep::distance::GroupedPoints;
use crate::progress::{Progress, Silent};
use crate::{host_memory, processor};

/// The registry's row for `step`.
pub static STEP: Descriptor = Descriptor {
    id: EngineId::new("step"),
    group: Group::Indexed,
    about: "STEP: clusters of points sorted for each query, the nearest visited and the rest pruned; from 16 dimensions on as step-exhaustive.",
    source: "Wang and Ino 2025, §4; docs/step.md",
    code: code!["cuda/step/traverse.cuh", "cuda/step/bounds.cuh", "cuda/step/queue.cuh", "crates/engines/src/step/traverse.rs"],
    document: "docs/step.md",
    lesson: None,
    runs_on: &[DeviceKind::Gpu, DeviceKind::Cpu],
    keeps: &[
        Keeps::new(Place::Registers, "K nearest so far, sorted", "a warp", Shape::capacity),
        Keeps::new(Place::Shared, "candidate buffer", "a warp", Shape::capacity),
        Keeps::new(Place::Memory, "clusters, sorted by their bounds", "a query", |_| 0),
        Keeps::new(Place::Memory, "points, cluster by cluster", "all queries", Shape::points),
    ],
    limits: Limits { k: rules::MAX_K, d: usize::MAX, n: u32::MAX as usize, metrics: &Metric::ALL },
    measures: &MEASURES,
    convergence: None,
    active_threads: Some(active_threads),
    phases: &[],
    parameters: &[CLUSTERS, ITERATIONS, SPHERES, SWITCH, FISSION, WARPS],
    is_exhaustive: false,
    distances: |_, _, measured| measured.mean("accessed"),
    twin_of: None,
    cost: cost::step,
    traces: false,
    walk: Some(walk_of),
    within: None,
    inner_products: None,
    open: |device| open(device, &STEP),
};

/// The registry's row for `step-exhaustive`.
pub static STEP_EXHAUSTIVE: Descriptor = Descriptor {
    id: EngineId::new("step-exhaustive"),
    group: Group::Exhaustive,
    about: "STEP for many dimensions: all distances are computed, and clusters of points sorted and pruned by their exact minima.",
    source: "Wang and Ino 2025, §4.4; docs/step.md",
    code: code!["cuda/step/exhaustive.cuh", "crates/engines/src/step/exhaustive.rs"],
    document: "docs/step.md",
    lesson: None,
    runs_on: &[DeviceKind::Gpu, DeviceKind::Cpu],
    keeps: &[
        Keeps::new(Place::Registers, "K nearest so far, sorted", "a warp", Shape::capacity),
        Keeps::new(Place::Shared, "candidate buffer", "a warp", Shape::capacity),
        Keeps::new(Place::Memory, "distances, and the least of each cluster", "a query", Shape::points),
    ],
    limits: Limits { k: rules::MAX_K, d: usize::MAX, n: u32::MAX as usize, metrics: &Metric::ALL },
    measures: &MEASURES,
    convergence: None,
    active_threads: Some(active_threads),
    phases: &[],
    parameters: &[CLUSTERS, FISSION, WARPS],
    is_exhaustive: true,
    distances: |n, _, _| Some(n as f64),
    twin_of: None,
    cost: cost::exhaustive,
    traces: false,
    walk: None,
    within: None,
    inner_products: None,
    open: |device| open(device, &STEP_EXHAUSTIVE),
};

const CLUSTERS: Parameter = Parameter {
    name: "clusters",
    help: "The most clusters that points are divided into.",
    values: Values::Numbers(1..=2048),
    default: "one for 128 points, at most 512; 2048 where all distances are computed",
};

const ITERATIONS: Parameter = Parameter {
    name: "iterations",
    help: "The most iterations of k-means; it stops when no point changes its cluster.",
    values: Values::Numbers(0..=1000),
    default: "50",
};

const SPHERES: Parameter =
    Parameter { name: "spheres", help: "How clusters' bounding spheres are found.", values: Values::Words(&Method::WORDS), default: "exact" };

const SWITCH: Parameter = Parameter {
    name: "switch",
    help: "The number of dimensions from which on all distances are computed, as step-exhaustive does.",
    values: Values::Numbers(1..=1024),
    default: "16",
};

const FISSION: Parameter = Parameter {
    name: "fission",
    help: "Whether a GPU sorts clusters and visits them by two kernels or by one; on a CPU it changes nothing.",
    values: Values::Words(&["on", "off"]),
    default: "on",
};

const WARPS: Parameter = Parameter {
    name: "warps",
    help: "Warps of a GPU that a query's clusters are shared out to in the timed search; on a CPU it changes nothing.",
    values: Values::Numbers(1..=32),
    default: "1; more where queries are too few to fill the GPU",
};

/// The columns of `counters.csv`, in the order of [`Visits`].
pub static MEASURES: [Measure; 6] = {
    const fn measure(name: &'static str, unit: [&'static str; 2], help: &'static str) -> Measure {
        Measure { name, unit, help, theory: None, worst_case: None }
    }
    [
        measure("merges", ["merge", "merges"], "Merges of the candidate queue, of 64, into the intermediate result."),
        measure("candidates", ["candidate", "candidates"], "Points retained: closer than the k-th so far, and taken into the candidate queue."),
        measure("accessed", ["point accessed", "points accessed"], "Points whose distance was read while clusters were visited."),
        measure("clusters", ["cluster", "clusters"], "Clusters that were visited."),
        measure("left_out", ["cluster left out", "clusters left out"], "Clusters that were not visited, as no neighbour can be in them."),
        measure("groups", ["group", "groups"], "Groups of 32 points of a cluster that were looked at, a lane each; the last may be smaller."),
    ]
};

/// A lane has a point, or none where the last group of a cluster has fewer.
fn active_threads(measured: &Measured) -> Option<f64> {
    measured.ratio("accessed", "groups")
}

/// Opens one of the two engines.
fn open(device: DeviceId, descriptor: &'static Descriptor) -> Result<Box<dyn Engine>, EngineError> {
    match device {
        DeviceId::Cpu => Ok(Box::new(Step { descriptor })),
        DeviceId::Gpu(_) => Ok(Box::new(CudaStep::open_on(device, descriptor)?)),
    }
}

/// Queries per parallel work item.
const BLOCK: usize = 16;

/// The engines `step` and `step-exhaustive` on the CPU. They run everywhere.
#[derive(Debug)]
pub struct Step {
    descriptor: &'static Descriptor,
}

impl Engine for Step {
    fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }

    fn device_id(&self) -> DeviceId {
        DeviceId::Cpu
    }

    fn device(&self) -> DeviceInfo {
        DeviceInfo { id: Some(self.device_id()), name: "CPU, clusters".to_owned(), details: processor::details() }
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let plan = Plan::new(problem, parameters, self.descriptor.is_exhaustive);
        let (points, setup_ms) = if plan.exhaustive {
            rows(problem)?
        } else {
            let (clusters, setup_ms) = clusters(problem, &plan, &Silent)?.expect("nobody cancels");
            (Prepared::Clusters(clusters), setup_ms)
        };
        let neighbors = Neighbors::unanswered(problem.q(), problem.k());
        Ok(Box::new(StepSearch { descriptor: self.descriptor, problem, plan, points, setup_ms, neighbors, kept: Kept::default() }))
    }
}

/// What preparing the points took; `None` if they were cached.
type Setup = Option<(SetupPhase, f64)>;

/// What is made of the points.
enum Prepared {
    Clusters(Arc<Clusters>),
    Rows(Arc<GroupedPoints<WARP>>),
}

/// See [`Descriptor::walk`].
fn walk_of(problem: &Problem, query: usize, parameters: &Parameters, progress: &dyn Progress) -> Result<Option<Walk>, EngineError> {
    let plan = Plan::new(problem, parameters, false);
    if plan.exhaustive {
        let why =
            format!("with {} dimensions all distances are computed (switch={}), so there is no way to walk", problem.dims(), plan.value("switch"));
        return Err(EngineError::Parameter { engine: STEP.id, why });
    }
    if problem.dims() > AXES {
        return Err(EngineError::Limit { engine: STEP.id, what: "d", limit: AXES as u64, value: problem.dims() as u64 });
    }
    let clusters = clusters(problem, &plan, progress)?;
    Ok(clusters.map(|(clusters, _)| walk(&clusters, problem, query)))
}

/// The points in clusters, and what making them took unless they are there; `None` if it was cancelled.
fn clusters(problem: &Problem, plan: &Plan, progress: &dyn Progress) -> Result<Option<(Arc<Clusters>, Setup)>, EngineError> {
    let clustering = plan.clustering;
    let there = problem.cache().get(DeviceId::Cpu, |clusters: &Clusters| clusters.clustering == clustering);
    let bytes = if there.is_some() { 0 } else { Clusters::bytes(problem.n(), problem.dims(), clustering.clusters) };
    host_memory::check(problem, bytes + visits_bytes(problem))?;
    if let Some(clusters) = there {
        return Ok(Some((clusters, None)));
    }
    let start = Instant::now();
    problem.cache().remove::<Clusters>(DeviceId::Cpu);
    let Some(assigned) = kmeans(problem, clustering.clusters, clustering.iterations, progress) else { return Ok(None) };
    let clusters = Arc::new(Clusters::new(problem, clustering, &assigned));
    problem.cache().insert(DeviceId::Cpu, Arc::clone(&clusters));
    Ok(Some((clusters, Some((SetupPhase::BuildIndex, start.elapsed().as_secs_f64() * 1e3)))))
}

/// The points in processing order, and what bringing them into groups took unless they are there.
fn rows(problem: &Problem) -> Result<(Prepared, Setup), EngineError> {
    let there = problem.cache().get(DeviceId::Cpu, |_: &GroupedPoints<WARP>| true);
    let bytes = if there.is_some() { 0 } else { size_of_val(problem.points()) as u64 };
    // A row of distances for each thread.
    let distances = 4 * (problem.n() * rayon::current_num_threads()) as u64;
    host_memory::check(problem, bytes + distances + visits_bytes(problem))?;
    if let Some(points) = there {
        return Ok((Prepared::Rows(points), None));
    }
    let start = Instant::now();
    let points = Arc::new(GroupedPoints::new(problem.points(), problem.dims()));
    problem.cache().insert(DeviceId::Cpu, Arc::clone(&points));
    Ok((Prepared::Rows(points), Some((SetupPhase::Upload, start.elapsed().as_secs_f64() * 1e3))))
}

/// Bytes of what is counted of all queries.
fn visits_bytes(problem: &Problem) -> u64 {
    (size_of::<Visits>() * problem.q()) as u64
}

/// A problem, and what was made of its points.
struct StepSearch<'a> {
    descriptor: &'static Descriptor,
    problem: &'a Problem,
    plan: Plan,
    points: Prepared,
    setup_ms: Setup,
    neighbors: Neighbors,
    /// Of the last search.
    kept: Kept<Visits>,
}

impl Search for StepSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.setup_ms.into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.setup_ms.is_none()
    }

    fn parameters(&self) -> Parameters {
        self.descriptor.parameters.iter().map(|parameter| (parameter.name, self.plan.value(parameter.name))).collect()
    }

    fn first_chunk(&self) -> usize {
        (rayon::current_num_threads() * BLOCK).min(self.problem.q())
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        let start = Instant::now();
        let (dims, k, n) = (self.problem.dims(), self.problem.k(), self.problem.n());
        let (points, clusters) = (&self.points, self.plan.clustering.clusters);
        answer_in_blocks(self.problem, queries, BLOCK, build, &mut self.neighbors, &mut self.kept, |queries, rows| {
            let mut queue = Queue::new(k);
            let mut done = |queue: &Queue, visits| rows.put(queue.neighbours(), visits);
            match points {
                Prepared::Clusters(clusters) => search_each(clusters, queries, &mut queue, &mut done),
                Prepared::Rows(points) => exhaust_each(points, groups_in_cluster(n, clusters), queries, dims, &mut queue, &mut done),
            }
        });
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        let start = Instant::now();
        neighbors.clone_from(&self.neighbors);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        self.kept.collect(&MEASURES, answer, bytemuck::cast);
        Ok(())
    }
}
