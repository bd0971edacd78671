//! The search with the tensor-core filter against the twin: neighbours, distances, counters and convergence,
//! bit for bit, on data chosen to break the filter's margin. Each case states whether it must use the filter
//! or fall back.
//!
//! These tests need a GPU: `scripts/gpu-check` runs them.

mod common;

use std::ops::Range;

use common::{answer, cloud};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use warpscope::cloud::Order;
use warpscope::engines::cuda::Cuda;
use warpscope::engines::lockstep::LOCKSTEP;
use warpscope::knn::{
    Answer, DeviceId, Engine, KernelBuild, Metric, Parameters, Problem, ProblemParameters, Queries,
    SetupPhase,
};

/// How a case must be searched.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SearchPath {
    Filter,
    Fallback,
    Either,
}

/// The engine's note when it falls back to the direct kernel.
const FALLBACK: &str = "too many points passed the filter";

/// The resolved parameters while the engine uses the filter.
fn filter_parameters() -> Parameters {
    Parameters::from_iter([("kernel", "filter")])
}

/// Numbers between -1 and 1, exact in f32.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    move || f64::from(rng.next_u32() >> 8) / f64::from(1u32 << 23) - 1.0
}

fn random(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut unit = uniform(seed);
    (0..n * d).map(|_| unit()).collect()
}

/// Coordinates exact in f32, so that no origin is subtracted and the filter receives the values of the test.
fn problem(points: &[f64], queries: &[f64], d: usize, k: usize) -> Problem {
    let exact = |values: &[f64]| values.iter().map(|&value| f64::from(value as f32)).collect::<Vec<_>>();
    let data = cloud(exact(points), d, None);
    let queries = Queries::Cloud(cloud(exact(queries), d, Some(&data)));
    let setup = ProblemParameters {
        k,
        metric: Metric::L2,
        order: Order::File,
        seed: 1,
        exclude_self: false,
        drop_zero_rows: true,
    };
    Problem::new(&data, &queries, setup).unwrap_or_else(|error| panic!("{error}"))
}

/// The rounding of tensor cores is undocumented, so it is measured on this GPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn tensor_core_errors_stay_within_the_margin() {
    let mut cuda = Cuda::open().unwrap_or_else(|error| panic!("{error}"));
    let loss = cuda.tensor_core_loss().unwrap_or_else(|error| panic!("{error}"));
    println!("the tensor cores lose {loss:.3} of what docs/filter.md grants them");
    assert!(loss > 0.0, "no rounding occurred: the probe measures nothing");
    assert!(loss <= 1.0, "errors exceed the filter's margin on this GPU");
}

/// Whether the case was searched as required. Its answer is compared in any case.
fn check(cuda: &mut Cuda, what: &str, problem: &Problem, path: SearchPath) -> bool {
    let third = problem.q() / 3;
    check_ranges(cuda, what, problem, &[0..third, third..problem.q()], path)
}

/// The same in given ranges.
fn check_ranges(
    cuda: &mut Cuda,
    what: &str,
    problem: &Problem,
    ranges: &[Range<usize>],
    path: SearchPath,
) -> bool {
    let expected = answer(&mut *LOCKSTEP.open_on(DeviceId::Cpu).unwrap(), problem);
    let mut found = Answer::default();
    let mut search =
        cuda.load(problem, &Parameters::NONE, false).unwrap_or_else(|error| panic!("{what}: {error}"));
    for range in ranges {
        search.search(range.clone(), KernelBuild::Counted).unwrap_or_else(|error| panic!("{what}: {error}"));
        search.collect(&mut found).unwrap();
    }
    search.download(&mut found.neighbors).unwrap();
    let (method, note) = (search.parameters(), search.note());
    println!("{what}: n = {}, d = {}, k = {}: {method}, {note:?}", problem.n(), problem.dims(), problem.k());
    let (filter, fell_back) = (method == filter_parameters(), note.as_deref() == Some(FALLBACK));
    let as_it_must = match path {
        SearchPath::Filter => filter,
        SearchPath::Fallback => fell_back,
        SearchPath::Either => filter || fell_back,
    };
    for query in 0..problem.q() {
        let bits = |answer: &Answer| {
            answer.neighbors.for_query(query).1.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(
            found.neighbors.for_query(query).0,
            expected.neighbors.for_query(query).0,
            "{what}: positions of query {query}"
        );
        assert_eq!(bits(&found), bits(&expected), "{what}: distances of query {query}");
        let convergence = |answer: &Answer| {
            let (seen, max) = answer.convergence.for_query(query);
            (seen.to_vec(), max.iter().map(|max| max.to_bits()).collect::<Vec<_>>())
        };
        assert_eq!(convergence(&found), convergence(&expected), "{what}: convergence of query {query}");
    }
    assert_eq!(found.measured, expected.measured, "{what}");
    assert_eq!(found.measured.queries(), problem.q(), "{what}");
    as_it_must
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_filter_matches_the_cpu_for_every_shape() {
    let mut cuda = Cuda::open().unwrap();
    let mut check = |what: &str, problem: &Problem| {
        assert!(check(&mut cuda, what, problem, SearchPath::Filter), "{what} did not use the filter")
    };
    for d in [4, 16, 17, 31, 32, 100, 128, 129, 255, 960, 1100] {
        for (k, n) in [(1, 2051), (32, 20_011), (33, 4133), (128, 9001)] {
            let n = if d > 300 { n.min(8191 + k) } else { n };
            check("uniform", &problem(&random(n, d, 1), &random(23, d, 2), d, k));
        }
    }
    for (k, n) in [(256, 17_000), (500, 33_001), (1000, 66_000)] {
        check("uniform", &problem(&random(n, 20, 3), &random(17, 20, 4), 20, k));
    }
    // More queries than a tile of the filter, in two unequal parts, and more than share a pass over the
    // points.
    check("many queries", &problem(&random(5003, 16, 5), &random(400, 16, 6), 16, 32));
    check("very many queries", &problem(&random(2100, 16, 7), &random(30_000, 16, 8), 16, 5));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn adversarial_data_loses_no_neighbours() {
    let mut cuda = Cuda::open().unwrap();
    let mut wrong = Vec::new();
    let mut check = |what: &str, problem: &Problem, path: SearchPath| {
        if !check(&mut cuda, what, problem, path) {
            wrong.push(format!("{what}, d = {}, k = {}: not {path:?}", problem.dims(), problem.k()));
        }
    };
    for d in [16, 33, 128, 300] {
        for k in [1, 32, 100] {
            let (n, q) = (40_007, 61);
            let (points, queries) = (random(n, d, 11), random(q, d, 12));
            let map = |values: &[f64], f: &dyn Fn(usize, f64) -> f64| {
                values.iter().enumerate().map(|(i, &value)| f(i, value)).collect::<Vec<f64>>()
            };
            let scaled = |scale: f64, offset: f64| {
                problem(
                    &map(&points, &|_, v| v * scale + offset),
                    &map(&queries, &|_, v| v * scale + offset),
                    d,
                    k,
                )
            };

            check("a large common offset", &scaled(0.01, 1e4), SearchPath::Filter);
            check("norms of 1e15", &scaled(1e15, 0.0), SearchPath::Filter);
            check("norms near overflow", &scaled(4e17, 0.0), SearchPath::Filter);
            check("tiny norms", &scaled(2f64.powi(-50), 0.0), SearchPath::Filter);

            // A few far rows, which must not coarsen the filter for the others and must be found by queries
            // near them.
            let outliers = |far: f64| {
                let points = map(&points, &|i, v| if (i / d) % 1000 == 7 { v + far } else { v });
                problem(&points, &map(&queries, &|i, v| if i / d == q - 1 { v + far } else { v }), d, k)
            };
            check("outliers", &outliers(1e6), SearchPath::Filter);
            check("far outliers", &outliers(1e17), SearchPath::Filter);

            // Two distant clusters: any centre is far from one of them.
            let pair = |gap: f64| {
                let f = move |i: usize, v: f64| v * 0.1 + if (i / d).is_multiple_of(2) { 0.0 } else { gap };
                problem(&map(&points, &f), &map(&queries, &f), d, k)
            };
            check("two clusters", &pair(10.0), SearchPath::Either);
            check("two clusters far apart", &pair(1e5), SearchPath::Fallback);

            // On a sphere about the query: distances differ by rounding, below the filter's resolution.
            let sphere: Vec<f64> = points
                .chunks(d)
                .flat_map(|row| {
                    let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
                    row.iter().map(move |v| 3.0 * v / norm)
                })
                .collect();
            let near: Vec<f64> = map(&queries, &|_, v| v * 1e-7);
            check("near-ties", &problem(&sphere, &near, d, k), SearchPath::Fallback);

            // Points approach every query, so that each is a candidate.
            let descending: Vec<f64> =
                (0..n).flat_map(|i| (0..d).map(move |j| if j == 0 { (n - i) as f64 } else { 0.0 })).collect();
            check(
                "descending",
                &problem(&descending, &map(&queries, &|i, v| if i % d == 0 { -v.abs() } else { 0.0 }), d, k),
                SearchPath::Fallback,
            );

            // Many ties: points at a few places, and all at one place.
            let places =
                |count: usize| (0..n).flat_map(|i| points[i % count * d..][..d].to_vec()).collect::<Vec<_>>();
            check("few places", &problem(&places(40), &queries, d, k), SearchPath::Either);
            check("few places, asked for", &problem(&places(40), &points[..q * d], d, k), SearchPath::Either);
            check("one place", &problem(&places(1), &points[..q * d], d, k), SearchPath::Either);

            // The query's neighbourhood is tiny and far from the centre of the data.
            let hair = map(&points, &|i, v| if (i / d) % 20 == 3 { 0.9 + v * 2f64.powi(-22) } else { v });
            check(
                "a hair",
                &problem(&hair, &map(&queries, &|_, v| 0.9 + v * 2f64.powi(-22)), d, k),
                SearchPath::Either,
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn all_builds_of_the_filter_agree() {
    let mut cuda = Cuda::open().unwrap();
    let problem = problem(&random(30_000, 40, 21), &random(300, 40, 22), 40, 64);
    let expected = answer(&mut *LOCKSTEP.open_on(DeviceId::Cpu).unwrap(), &problem);
    let mut search = cuda.load(&problem, &Parameters::NONE, true).unwrap();
    assert!(search.setup_ms().iter().any(|(phase, ms)| *phase == SetupPhase::BuildIndex && *ms > 0.0));
    for build in [KernelBuild::Timed, KernelBuild::Counted, KernelBuild::Profiled, KernelBuild::Timed] {
        let mut found = Answer::default();
        search.search(0..problem.q(), build).unwrap();
        search.download(&mut found.neighbors).unwrap();
        search.collect(&mut found).unwrap();
        assert_eq!((search.parameters(), search.note()), (filter_parameters(), None));
        for query in 0..problem.q() {
            assert_eq!(found.neighbors.for_query(query), expected.neighbors.for_query(query), "{build:?}");
        }
        if build != KernelBuild::Timed {
            assert_eq!(found.measured, expected.measured, "{build:?}");
        }
        if build == KernelBuild::Profiled {
            let profile = found.profile.expect("the profiled build profiles");
            for (cycles, span) in profile.cycles.chunks(profile.phases.len()).zip(&profile.spans) {
                assert!(cycles.iter().all(|&cycles| cycles > 0), "{cycles:?}");
                assert!(span.stop_ns > span.start_ns, "{span:?}");
            }
        }
    }
}

/// The filter's worst case: pairs of rows that BF16 rounds apart, each outwards along the line between them,
/// so that the triangle inequality of docs/filter.md becomes an equality. Their distance is just below the
/// bound, so that only ε remains.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn bf16_rounding_loses_no_neighbours() {
    const HALF: f64 = 1.0 / 256.0; // of BF16's step between 1 and 2
    const STEP: f64 = 2.0 * HALF;
    let mut cuda = Cuda::open().unwrap();
    for d in [4, 16, 33, 128, 300] {
        for k in [1, 32] {
            let (n, q) = (20_011, 24);
            let mut unit = uniform(d as u64);
            // A query's signs. Its row is rounded towards 0 along them, and its neighbours away from 0.
            let signs: Vec<Vec<f64>> =
                (0..q).map(|_| (0..d).map(|_| if unit() < 0.0 { -1.0 } else { 1.0 }).collect()).collect();
            let hair = |ulps: i32| f64::from(ulps) * 2f64.powi(-23);
            let along = |query: usize, value: f64| {
                signs[query].iter().map(move |sign| sign * value).collect::<Vec<f64>>()
            };
            let near = |query: usize, ulps: i32| along(query, 1.0 + 2.0 * STEP + HALF + hair(ulps));
            // Enough zeros for a centre of 0, spread so that the scale is 1 and no error exceeds the pairs'.
            let mut points: Vec<f64> =
                (0..n * d).map(|_| if unit() < -0.5 { 0.0 } else { unit() * 1.99 }).collect();
            let mut plant = |row: usize, values: Vec<f64>| points[row * d..][..d].copy_from_slice(&values);
            // In the first chunk, which is not filtered: k rows at or just within the bound.
            for query in 0..q {
                (0..k).for_each(|at| plant(query * k + at, near(query, 120 - at as i32 / 8)));
            }
            // After it, rows that come nearer by one unit in the last place each: every one is a candidate.
            for nearer in 0..60 {
                for query in 0..q {
                    plant(2100 + (nearer * q + query) * 12 + nearer % 5, near(query, 110 - nearer as i32));
                }
            }
            let queries: Vec<f64> = (0..q).flat_map(|query| along(query, 1.0 + HALF - hair(1))).collect();
            let problem = problem(&points, &queries, d, k);
            assert!(
                check(&mut cuda, "rounded apart", &problem, SearchPath::Filter),
                "d = {d}, k = {k}: the filter was not used"
            );
        }
    }
}

/// More dimensions than any buffer of the filter, and the most that it supports.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_filter_matches_the_cpu_in_many_dimensions() {
    let mut cuda = Cuda::open().unwrap();
    for (d, n) in [(4097, 5003), (65_535, 2061)] {
        let problem = problem(&random(n, d, 31), &random(3, d, 32), d, 10);
        check(&mut cuda, "many dimensions", &problem, SearchPath::Filter);
    }
}

/// The filter answers a range in parts. 2 in 5 points lie on a sphere about the queries of the second part,
/// so that the filter falls back. The first part's results must survive, from the same call or an earlier
/// one.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_fallback_in_one_batch_preserves_earlier_results() {
    const PART: usize = 1 << 14;
    let (n, d, k, q) = (24_007, 16, 20, PART + 700);
    let mut cuda = Cuda::open().unwrap();
    let mut points = random(n, d, 41);
    for row in points.chunks_mut(d).enumerate().filter(|(at, _)| at % 5 < 2).map(|(_, row)| row) {
        let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        row.iter_mut().for_each(|v| *v = 8.0 + 3.0 * *v / norm);
    }
    let mut queries = random(q, d, 42);
    queries[PART * d..].iter_mut().for_each(|v| *v = 8.0 + *v * 1e-6);
    let first = problem(&points, &queries[..PART * d], d, k);
    assert!(
        check_ranges(
            &mut cuda,
            "the first part",
            &first,
            std::slice::from_ref(&(0..PART)),
            SearchPath::Filter
        ),
        "the first part did not use the filter"
    );
    let problem = problem(&points, &queries, d, k);
    for ends in [&[0, q][..], &[0, PART, q], &[0, 100, q]] {
        let ranges: Vec<Range<usize>> = ends.windows(2).map(|ends| ends[0]..ends[1]).collect();
        let what = format!("a fallback in {ranges:?}");
        assert!(
            check_ranges(&mut cuda, &what, &problem, &ranges, SearchPath::Fallback),
            "{what}: it does not fall back"
        );
        // Without this, other engines would find the points in this search's order.
        problem.cache().clear();
    }
}
