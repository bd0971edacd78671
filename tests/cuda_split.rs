//! The engine `cuda-split` against the twin: neighbours and distances, bit for bit.
//!
//! These tests need a GPU: `scripts/gpu-check` runs them on a machine that has one.

mod common;

use std::sync::Arc;

use common::{Case, Shape, pose};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use warpscope::cloud::{Column, Order, PointCloud, Source, Table};
use warpscope::engines::{cuda::CudaSplit, lockstep::Lockstep};
use warpscope::knn::{Answer, Build, Engine, EngineError, Metric, Neighbors, Parameters, Problem, Queries, Setup};

fn split() -> CudaSplit {
    CudaSplit::open().unwrap_or_else(|error| panic!("{error}"))
}

/// Answers all queries at once, three times over: the first launches, the second records, the third replays.
fn answer(engine: &mut dyn Engine, problem: &Problem) -> Neighbors {
    let mut search = engine.load(problem, &Parameters::NONE, false).unwrap_or_else(|error| panic!("{error}"));
    let mut answers = [0; 3].map(|_| {
        let mut neighbors = Neighbors::default();
        assert!(search.search(0..problem.q(), Build::Timed).unwrap_or_else(|error| panic!("{error}")) > 0.0);
        search.download(&mut neighbors).unwrap_or_else(|error| panic!("{error}"));
        neighbors
    });
    same(&answers[1], &answers[0], "the recorded search");
    same(&answers[2], &answers[0], "the replayed search");
    std::mem::take(&mut answers[0])
}

fn twin(problem: &Problem) -> Neighbors {
    let mut engine = Lockstep::new();
    let mut search = engine.load(problem, &Parameters::NONE, false).unwrap();
    let mut neighbors = Neighbors::default();
    search.search(0..problem.q(), Build::Timed).unwrap();
    search.download(&mut neighbors).unwrap();
    neighbors
}

fn same(found: &Neighbors, expected: &Neighbors, what: &str) {
    assert_eq!(found.queries(), expected.queries(), "{what}");
    for query in 0..expected.queries() {
        assert_eq!(found.of(query).0, expected.of(query).0, "{what}: positions of query {query}");
        let bits = |neighbors: &Neighbors| neighbors.of(query).1.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(found), bits(expected), "{what}: distances of query {query}");
    }
}

fn check(engine: &mut CudaSplit, case: &Case) {
    let problem = pose(case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    same(&answer(engine, &problem), &twin(&problem), &format!("{case:?}"));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn equals_the_twin_at_the_edges() {
    let base = Case { shape: Shape::Uniform { exponent: 0 }, n: 5000, ..Case::default() };
    let mut cases = Vec::new();
    // Without a sample, and with one.
    for n in [5000, 40_001] {
        for k in [1, 31, 32, 33, 64, 100, 128, 200, 256, 500, 512, 1000, 1024] {
            for dims in [1, 2, 3, 17, 128] {
                cases.push(Case { n, k, dims, ..base.clone() });
            }
        }
    }
    for (n, k) in [(1, 1), (1, 32), (1, 1024), (10, 32), (31, 33), (32, 32), (33, 32), (255, 64), (256, 64), (257, 64), (1000, 1024), (1025, 1024)] {
        for dims in [1, 2, 3, 4, 17, 128] {
            cases.push(Case { n, k, dims, ..base.clone() });
        }
    }
    // Where the sample and the lists begin and end.
    for n in [8191, 8192, 8193, 8448, 8449, 16_384, 16_385, 20_479, 20_481] {
        for (k, dims) in [(1, 2), (32, 2), (1024, 2), (33, 3), (1000, 5)] {
            cases.push(Case { n, k, dims, ..base.clone() });
        }
    }
    for queries in [1, 2, 37, 300] {
        for (dims, k) in [(2, 32), (3, 200), (5, 32), (16, 1000)] {
            let query_rows = Some((0..queries).map(|i| i * 97).collect());
            cases.push(Case { n: 50_021, dims, k, query_rows, ..base.clone() });
        }
    }
    for n in [3000, 50_003] {
        for k in [1, 33, 1000] {
            for dims in [1, 2, 3, 17] {
                let base = Case { n, k, dims, ..base.clone() };
                cases.push(Case { shape: Shape::Duplicates { places: 1 }, ..base.clone() });
                cases.push(Case { shape: Shape::Duplicates { places: 40 }, ..base.clone() });
                cases.push(Case { shape: Shape::Descending, ..base.clone() });
                cases.push(Case { shape: Shape::Sphere, ..base.clone() });
                cases.push(Case { shape: Shape::Grid { side: 4 }, order: Order::Shuffled, ..base.clone() });
                cases.push(Case { metric: Metric::Angular, ..base.clone() });
                cases.push(Case { exclude_self: true, foreign: dims == 3, ..base.clone() });
            }
        }
    }
    for dims in [255, 256, 257, 1000] {
        cases.push(Case { n: 10_007, dims, ..base.clone() });
    }
    for exponent in [-50, 60] {
        cases.push(Case { shape: Shape::Uniform { exponent }, n: 50_003, ..base.clone() });
    }
    let mut engine = split();
    for case in &cases {
        check(&mut engine, case);
    }
    println!("{} configurations are equal", cases.len());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn equals_the_twin_on_random_problems() {
    let engine = std::cell::RefCell::new(split());
    let mut runner = TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    let cases = (Case::any(), prop_oneof![Just(1usize), Just(7), Just(40)]).prop_map(|(case, times)| Case { n: case.n * times, ..case });
    let result = runner.run(&cases, |case| {
        // Some cases are refused by the rules, alike for every engine.
        prop_assume!(pose(&case).is_ok());
        check(&mut engine.borrow_mut(), &case);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// A problem of points in the plane, in their order.
fn plane(points: Vec<f64>, rows: Vec<u32>, k: usize) -> Problem {
    let columns = ["x", "y"].map(|name| Column { name: name.to_owned() }).to_vec();
    let source = Source::Generate { spec: "a test".to_owned(), seed: 0 };
    let cloud = Arc::new(PointCloud::from_table(Table { columns, values: points }, source, None, false).unwrap());
    let setup = Setup { k, metric: Metric::L2, order: Order::File, seed: 0, exclude_self: false, drop_zero_rows: false };
    Problem::new(&cloud, &Queries::Rows(rows), setup).unwrap()
}

/// More points at the bound than a list holds, so that a block has to read all points: the first of them in the cloud's
/// order are the answer, wherever they lie.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn lists_that_overflow_change_nothing() {
    let mut engine = split();
    for n in [300_000, 1_000_003] {
        for k in [1, 32, 1000, 1024] {
            // All at one place.
            let constant = plane(vec![0.5; 2 * n], vec![0, n as u32 - 1], k);
            same(&answer(&mut engine, &constant), &twin(&constant), "one place");
            // Half of them far away, the other half as near as each other, and a few nearer ones, all in the last tenth.
            let far = |i: usize| if i.is_multiple_of(2) { 9.0 } else { 1.0 };
            let near = |i: usize| if i > n / 10 * 9 && i % 5000 == 1 { 0.25 } else { far(i) };
            let mut points: Vec<f64> = (0..n).flat_map(|i| [near(i), 0.0]).collect();
            points[0] = 0.0;
            let problem = plane(points, vec![0], k);
            same(&answer(&mut engine, &problem), &twin(&problem), "two distances");
        }
    }
    // Places that the sample, which is spread evenly, meets seldom: the farther from the end, the farther from the query.
    let n = 400_000;
    let problem = plane((0..n).flat_map(|i| [((n - i) as f64).ln(), 0.0]).collect(), vec![n as u32 - 1, 0], 700);
    same(&answer(&mut engine, &problem), &twin(&problem), "dense at one end");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn equals_the_twin_at_size() {
    let mut engine = split();
    for (n, dims, k, queries) in
        [(1_000_003, 2, 32, 200), (1_000_003, 2, 1024, 40), (500_009, 3, 100, 200), (200_003, 16, 10, 100), (200_003, 31, 10, 100)]
    {
        check(&mut engine, &Case { n, dims, k, query_rows: Some((0..queries).map(|i| i * 919).collect()), ..Case::default() });
    }
}

/// Ranges of a search, as a run asks for them: each alone, in any sizes, twice over.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn ranges_answer_their_own_queries() {
    let mut engine = split();
    for (dims, k) in [(2, 32), (3, 1024), (17, 40)] {
        let case = Case { n: 30_011, dims, k, query_rows: Some((0..301).map(|i| i * 71).collect()), ..Case::default() };
        let problem = pose(&case).unwrap();
        let expected = twin(&problem);
        let mut search = engine.load(&problem, &Parameters::NONE, false).unwrap();
        let mut found = Answer::default();
        for range in [200..301, 0..1, 1..130, 1..130, 130..200, 0..1, 130..200] {
            search.search(range, Build::Counted).unwrap();
            search.collect(&mut found).unwrap();
        }
        search.download(&mut found.neighbors).unwrap();
        same(&found.neighbors, &expected, &format!("{case:?}"));
        assert!(found.measured.is_empty() && found.profile.is_none() && found.convergence.queries() == 0, "it counts nothing");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn refuses_what_does_not_fit_before_it_starts() {
    let mut engine = split();
    let case = Case { n: 2, k: 1024, query_rows: Some(vec![0; 40_000_000]), ..Case::default() };
    let problem = pose(&case).unwrap();
    match engine.load(&problem, &Parameters::NONE, false) {
        Err(error @ EngineError::Memory { needed, free, .. }) => {
            assert!(needed > free && needed >= (40_000_000 * 1024 * 8) >> 20, "{error}");
        }
        Err(error) => panic!("{error}"),
        // 313 GiB of answers: no GPU of today.
        Ok(_) => panic!("the job was taken"),
    };
    // And the engine lives on.
    check(&mut engine, &Case::default());
}
