//! The engine `distance-matrix`: times several kernels that compute the distance matrix, and counts errors of
//! the expanded form.
//!
//! Answers are always selected from distances by the rule that all engines share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use std::vec::Drain;

use super::bits;
use super::engine::compute_row;
use super::expanded::{distances_expanded, distances_norms, distances_wrong};
use super::{Counts, Selector};
use crate::Result;
use crate::cpu::{self, Chunk, CpuSearch, GROUP, Searcher};
use crate::knn::{
    AllowedValues, Answer, KernelBuild, Measure, Parameter, Parameters, PreparedSearch, Problem,
};
use crate::lockstep::distance::GroupedPoints;
use crate::lockstep::{Lanes, distance_of, index_of};

/// The expanded form with cuBLAS, if available, and with our own matrix product.
pub const EXPANDED: &str = "expanded";
pub const EXPANDED_OWN: &str = "expanded-own";

/// The largest k: that of the selector that computes the answer.
pub const MAX_K: usize = bits::MAX_K;

const BLOCK: usize = 4;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 1] = [Measure {
    name: "wrong",
    unit: ["wrong neighbour", "wrong neighbours"],
    help: "Of the k points that the expanded form finds, those that are not among the k nearest; always 0 \
           for the other kernels.",
    theory: None,
    worst_case: Some(|shape| shape.k as f64),
}];

/// The engine's parameters.
pub static PARAMETERS: [Parameter; 1] = [Parameter {
    name: "kernel",
    help: "Which distances are timed: by the rule, with tiles in registers, with tiles in shared memory \
           or with one thread per point; or by the expanded form, with the matrix product of cuBLAS if \
           available, or with ours. A CPU has the rule and our expanded form.",
    values: AllowedValues::Words(&["registers", "tiles", "naive", EXPANDED, EXPANDED_OWN]),
    default: "registers",
}];

/// The selected kernel.
pub fn kernel_name(parameters: &Parameters) -> &str {
    parameters.get("kernel").unwrap_or("registers")
}

/// The resolved parameters, given the kernel that runs.
pub fn resolved(kernel: &str) -> Parameters {
    Parameters::from_iter([("kernel", kernel.to_owned())])
}

/// Whether a kernel's distances follow the rule.
pub fn is_exact(kernel: &str) -> bool {
    ![EXPANDED, EXPANDED_OWN].contains(&kernel)
}

/// Loads a problem.
///
/// # Errors
/// `EngineError::HostMemory`.
pub fn load<'a>(problem: &'a Problem, parameters: &Parameters) -> Result<Box<dyn PreparedSearch + 'a>> {
    let kernel = if is_exact(kernel_name(parameters)) { kernel_name(parameters) } else { EXPANDED_OWN };
    let rows = if is_exact(kernel) { 1 } else { 2 };
    // Rows of each thread, and the norms.
    let extra = 4 * problem.n() * (rows * rayon::current_num_threads() + rows - 1);
    let (points, setup) = cpu::grouped(problem, extra as u64 + cpu::counts_bytes::<Counts>(problem))?;
    let norms = if is_exact(kernel) { Vec::new() } else { distances_norms(&points) };
    let selector = bits::selector(&problem.shape(), &Parameters::NONE);
    let distances = DistanceBenchmark { points, norms, selector, parameters: resolved(kernel), share: 1.0 };
    Ok(Box::new(CpuSearch::new(problem, setup, distances)))
}

/// A problem's points, and their norms if the expanded form is timed.
struct DistanceBenchmark {
    points: Arc<GroupedPoints<GROUP>>,
    norms: Vec<Lanes<f32, GROUP>>,
    selector: Selector,
    parameters: Parameters,
    /// The fraction of the last search's time that was spent on distances.
    share: f64,
}

impl Searcher for DistanceBenchmark {
    type Visits = Counts;

    fn queries_per_thread(&self) -> usize {
        BLOCK
    }

    fn search(&mut self, chunk: Chunk<'_, Counts>) {
        let (points, norms, selector) = (&self.points, &self.norms, &self.selector);
        let (dims, build) = (chunk.problem.dims(), chunk.build);
        let [in_distances, in_all] = [const { AtomicU64::new(0) }; 2];
        chunk.in_blocks(BLOCK, |queries, rows| {
            let mut timed = Vec::with_capacity(points.groups());
            let (mut exact, mut found, mut other) = (Vec::new(), Vec::new(), Vec::new());
            for query in queries.chunks_exact(dims) {
                let start = Instant::now();
                if norms.is_empty() {
                    compute_row(points, 0..points.groups(), query, &mut timed);
                } else {
                    distances_expanded(points, norms, query, &mut timed);
                }
                in_distances.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
                let row = if norms.is_empty() {
                    &timed
                } else {
                    compute_row(points, 0..points.groups(), query, &mut exact);
                    &exact
                };
                let row = &row.as_flattened()[..points.n()];
                selector.select(row, &mut found);
                let mut counts = Counts::default();
                if !norms.is_empty() && build != KernelBuild::Timed {
                    selector.select(&timed.as_flattened()[..points.n()], &mut other);
                    counts[0] = distances_wrong(&other, row, found[found.len() - 1]);
                }
                in_all.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
                rows.put(found.iter().map(|&key| (index_of(key), distance_of(key))), counts);
            }
        });
        self.share = in_distances.into_inner() as f64 / (in_all.into_inner() as f64).max(1.0);
    }

    fn collect(&self, visits: Drain<'_, Counts>, answer: &mut Answer) -> Result<()> {
        answer.measured.extend_rows(&MEASURES, visits);
        Ok(())
    }

    fn timed_share(&self) -> f64 {
        self.share
    }

    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }
}
