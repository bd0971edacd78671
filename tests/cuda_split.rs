//! Properties of the engine `cuda-split` alone: misleading samples, overflowing lists, recorded and replayed
//! searches. The requirements on all engines are in `tests/conformance/`.
//!
//! These tests need a GPU: `scripts/gpu-check` runs them.

use std::sync::Arc;

use warpscope::cloud::{Column, Order, PointCloud, Source, Table};
use warpscope::engines::cuda::SPLIT;
use warpscope::engines::lockstep::LOCKSTEP;
use warpscope::knn::{
    DeviceId, Engine, KernelBuild, Metric, Neighbors, Parameters, Problem, ProblemParameters, Queries,
};

fn split() -> Box<dyn Engine> {
    SPLIT.open_on(DeviceId::Gpu(0)).unwrap_or_else(|error| panic!("{error}"))
}

/// Answers all queries at once, three times: the first launches, the second records, the third replays.
fn answer(engine: &mut dyn Engine, problem: &Problem) -> Neighbors {
    let mut search = engine.load(problem, &Parameters::NONE, false).unwrap_or_else(|error| panic!("{error}"));
    let mut answers = [0; 3].map(|_| {
        let mut neighbors = Neighbors::default();
        assert!(
            search.search(0..problem.q(), KernelBuild::Timed).unwrap_or_else(|error| panic!("{error}")) > 0.0
        );
        search.download(&mut neighbors).unwrap_or_else(|error| panic!("{error}"));
        neighbors
    });
    assert_same(&answers[1], &answers[0], "the recorded search");
    assert_same(&answers[2], &answers[0], "the replayed search");
    std::mem::take(&mut answers[0])
}

fn twin(problem: &Problem) -> Neighbors {
    let mut engine = LOCKSTEP.open_on(DeviceId::Cpu).unwrap();
    let mut search = engine.load(problem, &Parameters::NONE, false).unwrap();
    let mut neighbors = Neighbors::default();
    search.search(0..problem.q(), KernelBuild::Timed).unwrap();
    search.download(&mut neighbors).unwrap();
    neighbors
}

fn assert_same(found: &Neighbors, expected: &Neighbors, context: &str) {
    assert_eq!(found.queries(), expected.queries(), "{context}");
    for query in 0..expected.queries() {
        assert_eq!(
            found.for_query(query).0,
            expected.for_query(query).0,
            "{context}: positions of query {query}"
        );
        let bits = |neighbors: &Neighbors| {
            neighbors.for_query(query).1.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(bits(found), bits(expected), "{context}: distances of query {query}");
    }
}

/// A problem over points of the plane, in file order.
fn plane(points: Vec<f64>, rows: Vec<u32>, k: usize) -> Problem {
    let columns = ["x", "y"].map(|name| Column { name: name.to_owned() }).to_vec();
    let source = Source::Generate { spec: "a test".to_owned(), seed: 0 };
    let cloud =
        Arc::new(PointCloud::from_table(Table { columns, values: points }, source, None, false).unwrap());
    let setup = ProblemParameters {
        k,
        metric: Metric::L2,
        order: Order::File,
        seed: 0,
        exclude_self: false,
        drop_zero_rows: false,
    };
    Problem::new(&cloud, &Queries::Rows(rows), setup).unwrap()
}

/// More points at the bound than a list holds, so that a block must read all points. The answer is the first
/// of them in the cloud's order, wherever they are.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn overflowing_lists_do_not_change_answers() {
    let mut engine = split();
    for n in [300_000, 1_000_003] {
        for k in [1, 32, 1000, 1024] {
            // All points are equal.
            let constant = plane(vec![0.5; 2 * n], vec![0, n as u32 - 1], k);
            assert_same(&answer(&mut *engine, &constant), &twin(&constant), "one place");
            // Half of the points are far away, the others are at equal distance, and a few in the last tenth
            // are nearer.
            let far = |i: usize| if i.is_multiple_of(2) { 9.0 } else { 1.0 };
            let near = |i: usize| if i > n / 10 * 9 && i % 5000 == 1 { 0.25 } else { far(i) };
            let mut points: Vec<f64> = (0..n).flat_map(|i| [near(i), 0.0]).collect();
            points[0] = 0.0;
            let problem = plane(points, vec![0], k);
            assert_same(&answer(&mut *engine, &problem), &twin(&problem), "two distances");
        }
    }
    // Positions that the evenly spread sample rarely hits: points farther from the end are farther from the
    // query.
    let n = 400_000;
    let problem =
        plane((0..n).flat_map(|i| [((n - i) as f64).ln(), 0.0]).collect(), vec![n as u32 - 1, 0], 700);
    assert_same(&answer(&mut *engine, &problem), &twin(&problem), "dense at one end");
}
