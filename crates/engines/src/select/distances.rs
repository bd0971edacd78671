//! The engine `distance-matrix`: how long the matrix of distances takes alone, by several kernels, and what the expanded form gets wrong.
//!
//! Answers are selected from distances by the rule of all engines, whatever is timed.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::bits::{self, Bits};
use super::engine::{GROUP, Kind, grouped, row_of};
use super::expanded::{distances_expanded, distances_norms, distances_wrong};
use super::{Counts, Selector};
use crate::blocks::{Kept, answer_in_blocks};
use crate::knn::{
    Answer, Build, Descriptor, DeviceId, DeviceInfo, Engine, EngineError, Measure, Neighbors, Parameter, Parameters, Problem, Search, SetupPhase,
    Values,
};
use crate::lockstep::distance::GroupedPoints;
use crate::lockstep::{Lanes, distance_of, index_of};
use crate::processor;

/// The expanded form, by cuBLAS where it is there, and by ours.
pub const EXPANDED: &str = "expanded";
pub const EXPANDED_OWN: &str = "expanded-own";

/// The largest k, that of the selector that answers.
pub const MOST_K: usize = bits::MOST_K;

/// Queries per parallel work item.
const BLOCK: usize = 4;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 1] = [Measure {
    name: "wrong",
    unit: ["wrong neighbour", "wrong neighbours"],
    help: "Of the k points that the expanded form finds, those that are not among the k nearest; none by another kernel.",
    theory: None,
    worst_case: Some(|shape| shape.k as f64),
}];

/// What can be chosen.
pub static PARAMETERS: [Parameter; 1] = [Parameter {
    name: "kernel",
    help: "What computes the distances that are timed: by the rule, in tiles of registers, in tiles of shared memory or a thread a point; or by the \
           expanded form, with cuBLAS' matrix product where its library is there, or with ours. A CPU has the rule and our expanded form.",
    values: Values::Words(&["registers", "tiles", "naive", EXPANDED, EXPANDED_OWN]),
    default: "registers",
}];

/// The kernel that parameters ask for.
pub fn kernel_of(parameters: &Parameters) -> &str {
    parameters.get("kernel").unwrap_or("registers")
}

/// What parameters resolve to where this kernel runs.
pub fn resolved(kernel: &str) -> Parameters {
    Parameters::from_iter([("kernel", kernel.to_owned())])
}

/// Whether a kernel's distances are those of the rule.
pub fn is_exact(kernel: &str) -> bool {
    ![EXPANDED, EXPANDED_OWN].contains(&kernel)
}

/// The engine on the CPU. It runs everywhere.
pub struct DistancesAlone {
    pub kind: &'static Kind,
}

impl Engine for DistancesAlone {
    fn descriptor(&self) -> &'static Descriptor {
        self.kind.descriptor
    }

    fn device_id(&self) -> DeviceId {
        DeviceId::Cpu
    }

    fn device(&self) -> DeviceInfo {
        DeviceInfo { id: Some(self.device_id()), name: "CPU, distances".to_owned(), details: processor::details() }
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let kernel = if is_exact(kernel_of(parameters)) { kernel_of(parameters) } else { EXPANDED_OWN };
        let rows = if is_exact(kernel) { 1 } else { 2 };
        // Rows of each thread, and the norms.
        let extra = 4 * problem.n() * (rows * rayon::current_num_threads() + rows - 1) + size_of::<Counts>() * problem.q();
        let (points, upload_ms) = grouped(problem, extra as u64)?;
        let norms = if is_exact(kernel) { Vec::new() } else { distances_norms(&points) };
        let selector = Bits::new(&problem.shape(), &Parameters::NONE);
        let (parameters, neighbors) = (resolved(kernel), Neighbors::unanswered(problem.q(), problem.k()));
        Ok(Box::new(DistancesSearch { kind: self.kind, problem, points, upload_ms, norms, selector, parameters, neighbors, kept: Kept::default() }))
    }
}

/// A problem, its points, and their norms, if the expanded form is timed.
struct DistancesSearch<'a> {
    kind: &'static Kind,
    problem: &'a Problem,
    points: Arc<GroupedPoints<GROUP>>,
    upload_ms: Option<f64>,
    norms: Vec<Lanes<f32, GROUP>>,
    selector: Bits,
    parameters: Parameters,
    neighbors: Neighbors,
    /// Of the last search.
    kept: Kept<Counts>,
}

impl Search for DistancesSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.upload_ms.map(|ms| (SetupPhase::Upload, ms)).into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.upload_ms.is_none()
    }

    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn first_chunk(&self) -> usize {
        (rayon::current_num_threads() * BLOCK).min(self.problem.q())
    }

    /// The time is the part of it that the threads spend on the distances.
    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        let start = Instant::now();
        let (points, norms, selector, dims) = (&self.points, &self.norms, &self.selector, self.problem.dims());
        let [in_distances, in_all] = [const { AtomicU64::new(0) }; 2];
        answer_in_blocks(self.problem, queries, BLOCK, build, &mut self.neighbors, &mut self.kept, |queries, rows| {
            let (mut timed, mut exact, mut found, mut other) = (Vec::with_capacity(points.groups()), Vec::new(), Vec::new(), Vec::new());
            for query in queries.chunks_exact(dims) {
                let start = Instant::now();
                if norms.is_empty() {
                    row_of(points, 0..points.groups(), query, &mut timed);
                } else {
                    distances_expanded(points, norms, query, &mut timed);
                }
                in_distances.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
                let row = if norms.is_empty() {
                    &timed
                } else {
                    row_of(points, 0..points.groups(), query, &mut exact);
                    &exact
                };
                let row = &row.as_flattened()[..points.n()];
                selector.select(row, &mut found);
                let mut counts = Counts::default();
                if !norms.is_empty() && build != Build::Timed {
                    selector.select(&timed.as_flattened()[..points.n()], &mut other);
                    counts[0] = distances_wrong(&other, row, found[found.len() - 1]);
                }
                in_all.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
                rows.put(found.iter().map(|&key| (index_of(key), distance_of(key))), counts);
            }
        });
        let share = in_distances.into_inner() as f64 / (in_all.into_inner() as f64).max(1.0);
        Ok(start.elapsed().as_secs_f64() * 1e3 * share)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        let start = Instant::now();
        neighbors.clone_from(&self.neighbors);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        self.kept.collect_rows(self.kind.descriptor.measures, answer);
        Ok(())
    }
}
