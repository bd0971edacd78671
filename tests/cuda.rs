//! The CUDA kernel against its twin: neighbours, distances, counters and convergence, bit for bit.
//!
//! These tests need a GPU: `scripts/gpu-check` runs them on a machine that has one.

mod common;

use common::{Case, Shape, answer, pose};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use warpscope::cloud::Order;
use warpscope::engines::cuda::{Cuda, Policy, Row, table};
use warpscope::engines::lockstep::Lockstep;
use warpscope::knn::{Answer, Build, Engine, EngineError, Metric, Neighbors, Parameters, Problem};

fn cuda() -> Cuda {
    Cuda::open().unwrap_or_else(|error| panic!("{error}"))
}

fn same(found: &Answer, expected: &Answer, what: &str) {
    same_neighbours(&found.neighbors, &expected.neighbors, what);
    assert_eq!(found.measured, expected.measured, "{what}");
    for query in 0..expected.convergence.queries() {
        let bits = |answer: &Answer| {
            let (seen, max) = answer.convergence.of(query);
            (seen.to_vec(), max.iter().map(|max| max.to_bits()).collect::<Vec<_>>())
        };
        assert_eq!(bits(found), bits(expected), "{what}: convergence of query {query}");
    }
    assert_eq!(found.convergence.queries(), expected.convergence.queries(), "{what}");
}

fn same_neighbours(found: &Neighbors, expected: &Neighbors, what: &str) {
    assert_eq!(found.queries(), expected.queries(), "{what}");
    for query in 0..expected.queries() {
        assert_eq!(found.of(query).0, expected.of(query).0, "{what}: positions of query {query}");
        let bits = |neighbors: &Neighbors| neighbors.of(query).1.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(found), bits(expected), "{what}: distances of query {query}");
    }
}

fn check(cuda: &mut Cuda, case: &Case) {
    let problem = pose(case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let expected = answer(&mut Lockstep::new(), &problem);
    same(&answer(cuda, &problem), &expected, &format!("{case:?}"));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn equals_the_twin_at_the_edges() {
    let uniform = Shape::Uniform { exponent: 0 };
    let base = Case { shape: uniform, n: 5000, ..Case::default() };
    let mut cases = Vec::new();
    for k in [1, 31, 32, 33, 64, 100, 128, 200, 256, 500, 512, 1000, 1024] {
        for dims in [1, 2, 3, 17, 128] {
            cases.push(Case { k, dims, ..base.clone() });
        }
    }
    for (n, k) in [
        (1, 1),
        (1, 32),
        (1, 1024),
        (10, 32),
        (31, 33),
        (32, 32),
        (33, 32),
        (1000, 1024),
        (1024, 1024),
        (1025, 1024),
        (255, 64),
        (256, 64),
        (257, 64),
        (1023, 5),
        (2049, 5),
    ] {
        for dims in [1, 2, 3, 17, 128] {
            cases.push(Case { n, k, dims, ..base.clone() });
        }
    }
    for k in [1, 33, 1000] {
        for dims in [1, 2, 3, 17] {
            cases.push(Case { shape: Shape::Duplicates { places: 1 }, k, dims, ..base.clone() });
            cases.push(Case { shape: Shape::Duplicates { places: 40 }, k, dims, ..base.clone() });
            cases.push(Case { shape: Shape::Descending, k, dims, ..base.clone() });
            cases.push(Case { shape: Shape::Sphere, k, dims, ..base.clone() });
            cases.push(Case { shape: Shape::Grid { side: 4 }, k, dims, order: Order::Shuffled, ..base.clone() });
            cases.push(Case { metric: Metric::Angular, k, dims, ..base.clone() });
            cases.push(Case { exclude_self: true, k, dims, foreign: dims == 3, ..base.clone() });
        }
    }
    for dims in [255, 256, 257, 1000] {
        cases.push(Case { n: 700, dims, ..base.clone() });
    }
    for exponent in [-50, 60] {
        cases.push(Case { shape: Shape::Uniform { exponent }, ..base.clone() });
    }
    let mut cuda = cuda();
    for case in &cases {
        check(&mut cuda, case);
    }
    println!("{} configurations are equal", cases.len());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn equals_the_twin_on_random_problems() {
    let cuda = std::cell::RefCell::new(cuda());
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let result = runner.run(&Case::any(), |case| {
        // Some cases are refused by the rules, alike for every engine.
        prop_assume!(pose(&case).is_ok());
        check(&mut cuda.borrow_mut(), &case);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// Blocks, chunks and batches at the size of real work, with a last block that is not full. The ring of batches goes round
/// many times.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn equals_the_twin_at_size() {
    let mut cuda = cuda();
    for (dims, k) in [(2, 32), (2, 64), (2, 100), (2, 250), (2, 500), (2, 1024), (3, 20), (3, 100), (3, 1000), (16, 10), (7, 40), (7, 300)] {
        let case = Case { n: 200_003, dims, k, query_rows: Some((0..1013).map(|i| i * 197).collect()), ..Case::default() };
        check(&mut cuda, &case);
    }
}

/// Counted by a kernel that NVRTC compiles.
fn check_compiled(cuda: &mut Cuda, case: &Case, policy: Option<Policy>, exact_dims: bool) {
    let problem = pose(case).unwrap();
    let expected = answer(&mut Lockstep::new(), &problem);
    let mut found = Answer::default();
    let mut search = cuda.load_compiled(&problem, policy, exact_dims).unwrap();
    search.search(0..problem.q(), Build::Counted).unwrap();
    search.download(&mut found.neighbors).unwrap();
    search.collect(&mut found).unwrap();
    same(&found, &expected, &format!("{case:?}, {policy:?}"));
}

/// Also those that this GPU would not choose: someone else's will, and nobody may have tried it there.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_row_of_the_policy_table_is_right() {
    let mut cuda = cuda();
    for Row { capacity, dims, policy, .. } in table() {
        let (dims, query_rows) = (if dims == 0 { 11 } else { dims as usize }, Some((0..77).map(|i| i * 250).collect()));
        let case = Case { n: 20_003, dims, k: capacity as usize - 1, query_rows, ..Case::default() };
        check_compiled(&mut cuda, &case, Some(policy), false);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn kernels_for_one_d_alone_are_right() {
    let mut cuda = cuda();
    for dims in [1, 4, 5, 7, 8, 9, 16, 17, 31, 32] {
        for k in [5, 100, 1000] {
            let case = Case { n: 5003, dims, k, query_rows: Some((0..77).collect()), ..Case::default() };
            check_compiled(&mut cuda, &case, None, true);
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_builds_agree_and_the_profile_makes_sense() {
    let mut cuda = cuda();
    for (dims, k) in [(2, 32), (3, 1024), (17, 64)] {
        let case = Case { n: 20_000, dims, k, query_rows: Some((0..300).collect()), ..Case::default() };
        let problem = pose(&case).unwrap();
        let counted = answer(&mut cuda, &problem);
        let mut search = cuda.load(&problem, &Parameters::NONE, true).unwrap();
        for build in [Build::Timed, Build::Profiled] {
            let mut found = Answer::default();
            search.search(0..problem.q(), build).unwrap();
            search.download(&mut found.neighbors).unwrap();
            search.collect(&mut found).unwrap();
            same_neighbours(&found.neighbors, &counted.neighbors, &format!("{build:?}"));
            if build == Build::Timed {
                assert!(found.measured.is_empty() && found.profile.is_none());
                continue;
            }
            same(&found, &counted, "profiled");
            let profile = found.profile.expect("the profiled build profiles");
            assert_eq!((profile.cycles.len(), profile.spans.len()), (300 * profile.phases.len(), 300));
            for (cycles, span) in profile.cycles.chunks(profile.phases.len()).zip(&profile.spans) {
                // Every phase is entered: the search sorts, merges and writes at least once.
                assert!(cycles.iter().all(|&cycles| cycles > 0), "{cycles:?}");
                assert!(span.stop_ns >= span.start_ns && span.sm < 1024, "{span:?}");
            }
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn refuses_what_does_not_fit_before_it_starts() {
    let mut cuda = cuda();
    let case = Case { n: 2, k: 1024, query_rows: Some(vec![0; 40_000_000]), ..Case::default() };
    let problem: Problem = pose(&case).unwrap();
    match cuda.load(&problem, &Parameters::NONE, false) {
        Err(error @ EngineError::Memory { needed, free, .. }) => {
            assert!(needed > free && needed >= (40_000_000 * 1024 * 8) >> 20, "{error}");
            assert!(error.to_string().contains("--engine lockstep"), "{error}");
        }
        Err(error) => panic!("{error}"),
        // 313 GiB of answers: no GPU of today.
        Ok(_) => panic!("the job was taken"),
    };
    // And the engine lives on.
    check(&mut cuda, &Case::default());
}
