//! Properties of the direct kernel alone: its policies, kernels compiled by NVRTC, its profile. The
//! requirements on all engines are in `tests/conformance/`.
//!
//! These tests need a GPU: `scripts/gpu-check` runs them.

mod common;

use common::{Case, answer, build_problem, cloud};
use warpscope::cloud::Order;
use warpscope::engines::cuda::{Cuda, Policy, Row, SPLIT, table};
use warpscope::engines::lockstep::LOCKSTEP;
use warpscope::engines::peaks;
use warpscope::knn::reference::judge;
use warpscope::knn::{
    Answer, DeviceId, Engine, KernelBuild, Metric, Neighbors, Parameters, Peaks, Problem, ProblemParameters,
    Queries,
};
use warpscope::progress::NoProgress;

fn cuda() -> Cuda {
    Cuda::open().unwrap_or_else(|error| panic!("{error}"))
}

fn assert_same(found: &Answer, expected: &Answer, context: &str) {
    assert_same_neighbours(&found.neighbors, &expected.neighbors, context);
    assert_eq!(found.measured, expected.measured, "{context}");
    for query in 0..expected.convergence.queries() {
        let bits = |answer: &Answer| {
            let (seen, max) = answer.convergence.for_query(query);
            (seen.to_vec(), max.iter().map(|max| max.to_bits()).collect::<Vec<_>>())
        };
        assert_eq!(bits(found), bits(expected), "{context}: convergence of query {query}");
    }
    assert_eq!(found.convergence.queries(), expected.convergence.queries(), "{context}");
}

fn assert_same_neighbours(found: &Neighbors, expected: &Neighbors, context: &str) {
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

/// Checks the counted build of a kernel that NVRTC compiles.
fn check_compiled(cuda: &mut Cuda, case: &Case, policy: Option<Policy>, exact_dims: bool) {
    let problem = build_problem(case).unwrap();
    let expected = answer(&mut *LOCKSTEP.open_on(DeviceId::Cpu).unwrap(), &problem);
    let mut found = Answer::default();
    let mut search = cuda.load_compiled(&problem, policy, exact_dims).unwrap();
    search.search(0..problem.q(), KernelBuild::Counted).unwrap();
    search.download(&mut found.neighbors).unwrap();
    search.collect(&mut found).unwrap();
    assert_same(&found, &expected, &format!("{case:?}, {policy:?}"));
}

/// Including policies that this GPU would not choose: other GPUs will, perhaps untested.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_row_of_the_policy_table_gives_exact_answers() {
    let mut cuda = cuda();
    for Row { capacity, dims, policy, .. } in table() {
        let (dims, query_rows) =
            (if dims == 0 { 11 } else { dims as usize }, Some((0..77).map(|i| i * 250).collect()));
        let case = Case { n: 20_003, dims, k: capacity as usize - 1, query_rows, ..Case::default() };
        check_compiled(&mut cuda, &case, Some(policy), false);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn dimension_specific_kernels_give_exact_answers() {
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
fn every_phase_has_a_positive_duration() {
    let mut cuda = cuda();
    for (dims, k) in [(2, 32), (3, 1024), (17, 64)] {
        let problem = build_problem(&Case {
            n: 20_000,
            dims,
            k,
            query_rows: Some((0..300).collect()),
            ..Case::default()
        })
        .unwrap();
        let mut found = Answer::default();
        let mut search = cuda.load(&problem, &Parameters::NONE, true).unwrap();
        search.search(0..problem.q(), KernelBuild::Profiled).unwrap();
        search.collect(&mut found).unwrap();
        let profile = found.profile.expect("the profiled build profiles");
        for (query, span) in profile.spans.iter().enumerate() {
            // Every phase takes time: the search sorts, merges and writes at least once.
            let cycles = profile.cycles_of(query).expect("cycles are timed");
            assert!(cycles.iter().all(|&cycles| cycles > 0), "{cycles:?}");
            assert!(span.stop_ns >= span.start_ns && span.sm < 1024, "{span:?}");
        }
    }
}

/// A cloud with more coordinates than a signed 32-bit integer counts, and a query at its end. It takes 9 GB,
/// and the filter needs three times that. All engines agree bit for bit and with the oracle.
#[test]
#[ignore = "needs an NVIDIA GPU with 16 GB, and 32 GB of memory"]
fn coordinate_counts_beyond_i32_are_supported() {
    let (n, d, k) = (33_100_000, 65, 10);
    assert!(n * d > 1 << 31);
    // Filled by hand, because no generator supports that many points.
    let mut state = 1u64;
    let values = (0..n * d).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 41) as f64 / f64::from(1u32 << 23)
    });
    let data = cloud(values.collect(), d, None);
    let setup = ProblemParameters {
        k,
        metric: Metric::L2,
        order: Order::File,
        seed: 0,
        exclude_self: false,
        drop_zero_rows: false,
    };
    let problem = Problem::new(&data, &Queries::Rows(vec![0, n as u32 - 1]), setup).unwrap();
    let mut first: Option<Neighbors> = None;
    let direct = Parameters::from_iter([("kernel", "direct")]);
    let engines: [(Box<dyn Engine>, Parameters); 3] = [
        (Box::new(cuda()), Parameters::NONE),
        (Box::new(cuda()), direct),
        (SPLIT.open_on(DeviceId::Gpu(0)).unwrap_or_else(|error| panic!("{error}")), Parameters::NONE),
    ];
    for (mut engine, parameters) in engines {
        let mut found = Neighbors::default();
        let mut search = engine.load(&problem, &parameters, false).unwrap_or_else(|error| panic!("{error}"));
        let ms = search.search(0..problem.q(), KernelBuild::Timed).unwrap();
        search.download(&mut found).unwrap();
        println!("{}: {ms:.1} ms, {}, {:?}", data.len(), search.parameters(), search.note());
        assert_eq!(
            [found.for_query(0).0[0], found.for_query(1).0[0]],
            [0, n as u32 - 1],
            "a query is not its own nearest neighbour"
        );
        match &first {
            Some(first) => assert_same_neighbours(&found, first, "beyond 2^31"),
            None => {
                judge(&problem, &found, &NoProgress).unwrap_or_else(|mismatch| panic!("{mismatch}"));
                first = Some(found);
            }
        }
        drop(search);
        problem.cache().clear();
    }
}

/// Two measurements of the GPU's peaks agree, and are plausible for its multiprocessors and clocks.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn measured_peaks_are_repeatable_and_plausible() {
    let measure = || peaks::measure(DeviceId::Gpu(0), &mut || true).unwrap().expect("no cancellation");
    let (first, second) = (measure(), measure());
    println!("{first:?}\n{second:?}");
    let of = |Peaks { fp32_per_second, bytes_per_second, launch_ms }: Peaks| {
        [fp32_per_second, bytes_per_second.expect("memory bandwidth"), launch_ms.expect("launch time")]
    };
    for ((peak, tolerance), (a, b)) in [("FP32", 0.05), ("memory", 0.1), ("launch", 0.5)]
        .into_iter()
        .zip(of(first).into_iter().zip(of(second)))
    {
        assert!((a - b).abs() <= tolerance * a.max(b), "{peak}: {a:e} and {b:e}");
    }
    // 64 or 128 lanes per multiprocessor, one instruction per lane and cycle, at 0.5 to 3 GHz.
    let device = cuda().device();
    let multiprocessors: f64 = device
        .details
        .iter()
        .find(|(name, _)| name == "multiprocessors")
        .expect("a report")
        .1
        .parse()
        .unwrap();
    let gigahertz = first.fp32_per_second / multiprocessors / 1e9;
    assert!((32.0..400.0).contains(&gigahertz), "{gigahertz} instructions per nanosecond and multiprocessor");
    assert_eq!(peaks::measure(DeviceId::Gpu(0), &mut || false).unwrap(), None);
}
