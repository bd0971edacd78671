//! Problems for tests.

use std::sync::Arc;

use crate::cloud::{Column, Order, PointCloud, Source, Table};
use crate::knn::{
    Answer, Descriptor, DeviceId, KernelBuild, Metric, Neighbors, Parameters, Problem, ProblemParameters,
    Queries,
};

/// A problem whose points are in file order and whose queries are rows of it.
pub fn problem(dims: usize, values: Vec<f64>, rows: Vec<u32>, k: usize) -> Problem {
    problem_with_metric(Metric::L2, dims, values, rows, k)
}

/// The same as [`problem`], with another metric.
pub fn problem_with_metric(
    metric: Metric,
    dims: usize,
    values: Vec<f64>,
    rows: Vec<u32>,
    k: usize,
) -> Problem {
    let setup = ProblemParameters {
        k,
        metric,
        order: Order::File,
        seed: 0,
        exclude_self: false,
        drop_zero_rows: false,
    };
    Problem::new(&Arc::new(cloud(dims, values)), &Queries::Rows(rows), setup).unwrap()
}

/// A cloud from row-major coordinates.
pub fn cloud(dims: usize, values: Vec<f64>) -> PointCloud {
    let columns = (0..dims).map(|axis| Column { name: format!("c{axis}") }).collect();
    let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
    PointCloud::from_table(Table { columns, values }, source, None, false).unwrap()
}

/// Pseudo-random coordinates from 0 to 1.
pub fn scattered(n: usize, dims: usize) -> Vec<f64> {
    let mut state = 7u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    (0..n * dims).map(next).collect()
}

/// Searches a problem with a CPU engine; returns the neighbours and the counters of each query.
pub fn search(
    engine: &'static Descriptor,
    problem: &Problem,
    parameters: &Parameters,
) -> (Neighbors, Answer) {
    let mut engine = engine.open_on(DeviceId::Cpu).unwrap();
    let mut search = engine.load(problem, parameters, false).unwrap();
    let (mut found, mut answer) = (Neighbors::default(), Answer::default());
    search.search(0..problem.q(), KernelBuild::Counted).unwrap();
    search.download(&mut found).unwrap();
    search.collect(&mut answer).unwrap();
    (found, answer)
}
