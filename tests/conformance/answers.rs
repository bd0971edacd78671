//! Answers: edge cases, random problems, sizes, ties, prefixes, builds and ranges.

use std::cell::RefCell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use warpscope::cloud::Order;
use warpscope::knn::reference::judge;
use warpscope::knn::{Answer, DeviceId, DeviceKind, KernelBuild, Metric, Parameters, Problem};
use warpscope::progress::NoProgress;

use crate::common::{Case, PointDistribution, answer, build_problem};
use crate::subject::{
    EngineFixture, Subject, assert_same_counts, assert_same_neighbors, check_declared, check_profile, on_gpu,
};

/// k and d at the boundaries of warps, registers per lane and staged batches. An engine must refuse values
/// that it does not support.
const K: [usize; 13] = [1, 31, 32, 33, 64, 100, 128, 200, 256, 500, 512, 1000, 1024];
const D: [usize; 5] = [1, 2, 3, 17, 128];

fn check(subjects: &[Subject], cases: impl IntoIterator<Item = Case>) {
    let mut bench = EngineFixture::new(subjects);
    let count = cases.into_iter().map(|case| bench.check(&case)).count();
    println!("{count} problems: {} engines agree", subjects.len());
}

pub fn every_k_and_d(subjects: &[Subject]) {
    // Below a limit, `cuda-split` collects all points; above it, it takes a sample first.
    let n = if on_gpu(subjects) { vec![5000, 40_001] } else { vec![1500] };
    let limits = subjects.iter().map(|subject| subject.engine.limits);
    let reached = |limit: usize, most: usize| {
        [Some(limit), limit.checked_add(1)].into_iter().flatten().filter(move |&value| value <= most)
    };
    // A set, because most engines share a limit.
    let k: BTreeSet<usize> =
        K.into_iter().chain(limits.clone().flat_map(|limits| reached(limits.k, 1024))).collect();
    let d: BTreeSet<usize> = D.into_iter().chain(limits.flat_map(|limits| reached(limits.d, 300))).collect();
    let (k, d) = (&k, &d);
    check(
        subjects,
        n.into_iter().flat_map(|n| {
            k.iter().flat_map(move |&k| d.iter().map(move |&dims| Case { n, k, dims, ..Case::default() }))
        }),
    );
}

/// k above the reference's limit, up to more than n. The oracle must accept the answers. Engines that support
/// such k must agree, and their counters must agree with their twins'.
pub fn k_up_to_n(subjects: &[Subject]) {
    let n = if on_gpu(subjects) { 30_011 } else { 5003 };
    let shapes = [
        PointDistribution::Uniform { exponent: 0 },
        PointDistribution::Grid { side: 9 },
        PointDistribution::Duplicates { places: 1 },
        PointDistribution::Descending,
    ];
    for (shape, dims) in shapes.into_iter().zip([2, 3, 2, 16]) {
        for k in [1025, 2048, 2049, n / 3, n - 1, n, n + 7] {
            let case =
                Case { shape, n, dims, k, query_rows: Some(vec![0, 7, n as u32 - 1]), ..Case::default() };
            let problem = build_problem(&case).unwrap();
            let mut first = None;
            for subject in
                subjects.iter().filter(|subject| subject.engine.check(&problem, &Parameters::NONE).is_ok())
            {
                let context = format!("{subject}: {case:?}");
                let found = answer(subject.open().as_mut(), &problem);
                judge(&problem, &found.neighbors, &NoProgress)
                    .unwrap_or_else(|mismatch| panic!("{context}: {mismatch}"));
                check_declared(subject.engine, &problem, &found, &context);
                if subject.device != DeviceId::Cpu && subject.engine.runs_on.contains(&DeviceKind::Cpu) {
                    let twin = answer(
                        subject.engine.open_on(DeviceId::Cpu).expect("it runs on that device").as_mut(),
                        &problem,
                    );
                    assert_same_counts(&found, &twin, &context);
                }
                assert_same_neighbors(
                    &found.neighbors,
                    first.get_or_insert_with(|| found.neighbors.clone()),
                    &context,
                );
            }
        }
    }
}

/// n around k; one point; partial batches, blocks and windows.
pub fn few_points(subjects: &[Subject]) {
    let sizes = [
        (1, 1),
        (1, 32),
        (1, 1024),
        (10, 32),
        (31, 32),
        (31, 33),
        (32, 32),
        (33, 32),
        (64, 33),
        (1000, 1024),
        (1024, 1024),
        (1025, 1024),
    ];
    let partial = [(255, 64), (256, 64), (257, 64), (1023, 5), (2049, 5)];
    let cases = sizes
        .into_iter()
        .chain(partial)
        .flat_map(|(n, k)| [1, 2, 3, 4, 17, 128].map(|dims| Case { n, k, dims, ..Case::default() }));
    check(subjects, cases);
}

pub fn many_dimensions(subjects: &[Subject]) {
    let n = if on_gpu(subjects) { vec![700, 10_007] } else { vec![300] };
    let cases = n
        .into_iter()
        .flat_map(|n| [255, 256, 257, 300, 1000].map(|dims| Case { n, dims, k: 10, ..Case::default() }));
    // More than any kernel's buffer holds, and the most that the filter supports.
    let most = [(4097, 300), (65_535, 40)].map(|(dims, n)| Case {
        n,
        dims,
        k: 10,
        query_rows: Some(vec![0, 7, n as u32 - 1]),
        ..Case::default()
    });
    check(subjects, cases.chain(most));
}

/// The boundaries of samples and lists, and queries that do not fill a block.
pub fn partial_samples(subjects: &[Subject]) {
    let n = [8191, 8192, 8193, 8448, 8449, 16_384, 16_385, 20_479, 20_481];
    let sizes = n.into_iter().flat_map(|n| {
        [(1, 2), (32, 2), (1024, 2), (33, 3), (1000, 5)].map(|(k, dims)| Case {
            n,
            k,
            dims,
            ..Case::default()
        })
    });
    let (most, queries) =
        if on_gpu(subjects) { (50_021, vec![1, 2, 37, 300]) } else { (9001, vec![1, 2, 37]) };
    let queries = queries.into_iter().flat_map(|queries| {
        let rows: Vec<u32> = (0..queries).map(|i| i * 97).collect();
        [(2, 32), (3, 200), (5, 32), (16, 1000)].map(|(dims, k)| Case {
            n: most,
            dims,
            k,
            query_rows: Some(rows.clone()),
            ..Case::default()
        })
    });
    // Enough queries to be distributed over blocks.
    let blocks = [(97, 4), (500, 16), (1001, 5)].map(|(queries, dims)| {
        let query_rows = Some((0..queries).map(|query| query * 13 % 300).collect());
        Case {
            shape: PointDistribution::Grid { side: 4 },
            n: 300,
            dims,
            k: 20,
            query_rows,
            ..Case::default()
        }
    });
    check(subjects, sizes.chain(queries).chain(blocks));
}

/// More neighbours than most engines support. The others are compared with the oracle, and on a GPU with
/// their twin.
pub fn many_neighbours(subjects: &[Subject]) {
    for subject in subjects.iter().filter(|subject| subject.engine.limits.k > 1024) {
        let mut engine = subject.open();
        for shape in [
            PointDistribution::Uniform { exponent: 0 },
            PointDistribution::Descending,
            PointDistribution::Duplicates { places: 3 },
        ] {
            for (n, k) in
                [(3001, 2047), (3001, 2048), (3001, 4096), (9001, 2049), (9001, 4095), (30_011, 4096)]
            {
                let case = Case { shape, n, k, query_rows: Some((0..19).collect()), ..Case::default() };
                let context = format!("{subject}: {case:?}");
                let problem = build_problem(&case).unwrap();
                if k > subject.engine.limits.k {
                    continue;
                }
                let found = answer(engine.as_mut(), &problem);
                judge(&problem, &found.neighbors, &NoProgress)
                    .unwrap_or_else(|mismatch| panic!("{context}: {mismatch}"));
                check_declared(subject.engine, &problem, &found, &context);
                if on_gpu(&[*subject]) && subject.engine.runs_on.contains(&DeviceKind::Cpu) {
                    let expected = answer(subject.engine.open_on(DeviceId::Cpu).unwrap().as_mut(), &problem);
                    assert_same_neighbors(&found.neighbors, &expected.neighbors, &context);
                    assert_same_counts(&found, &expected, &context);
                }
            }
        }
    }
}

/// All distributions of points, in both orders and all metrics, with and without the query's own row, queries
/// outside the cloud, and the smallest and largest coordinates accepted.
pub fn shapes(subjects: &[Subject]) {
    let n = if on_gpu(subjects) { vec![5000, 50_003] } else { vec![3000] };
    let mut cases = Vec::new();
    for n in n {
        for (k, dims) in [1, 33, 1000].into_iter().flat_map(|k| [1, 2, 3, 17].map(|dims| (k, dims))) {
            let base = Case { n, k, dims, ..Case::default() };
            cases.push(Case { shape: PointDistribution::Duplicates { places: 1 }, ..base.clone() });
            cases.push(Case {
                shape: PointDistribution::Duplicates { places: 40 },
                order: Order::Shuffled,
                ..base.clone()
            });
            cases.push(Case { shape: PointDistribution::Descending, ..base.clone() });
            cases.push(Case { shape: PointDistribution::Sphere, ..base.clone() });
            cases.push(Case {
                shape: PointDistribution::Grid { side: 4 },
                order: Order::Shuffled,
                ..base.clone()
            });
            cases.push(Case { shape: PointDistribution::FlatAxes { varying: 1 + dims / 3 }, ..base.clone() });
            cases.push(Case { metric: Metric::Angular, ..base.clone() });
            cases.push(Case { metric: Metric::Angular, order: Order::Shuffled, ..base.clone() });
            cases.push(Case { exclude_self: true, foreign: dims == 3, ..base.clone() });
        }
        for k in [1, 33, 1000] {
            let base = Case { n, k, metric: Metric::Haversine, ..Case::default() };
            for shape in [
                PointDistribution::Duplicates { places: 40 },
                PointDistribution::Grid { side: 4 },
                PointDistribution::Descending,
                PointDistribution::Uniform { exponent: 2 },
            ] {
                cases.push(Case { shape, ..base.clone() });
            }
            cases.push(Case { order: Order::Shuffled, foreign: true, ..base.clone() });
            cases.push(Case { exclude_self: true, ..base });
        }
        cases.extend([-50, 60].map(|exponent| Case {
            shape: PointDistribution::Uniform { exponent },
            n,
            ..Case::default()
        }));
        cases.push(Case { exclude_self: true, n, k: 1023, ..Case::default() });
        cases.push(Case {
            shape: PointDistribution::Duplicates { places: 900 },
            n,
            dims: 5,
            k: 333,
            ..Case::default()
        });
    }
    check(subjects, cases);
}

/// Far more points than distinct f32 distances: order by rounded distance differs from order by true
/// distance.
pub fn ties(subjects: &[Subject]) {
    let report = EngineFixture::new(subjects).check(&Case {
        shape: PointDistribution::Sphere,
        n: 20_000,
        dims: 3,
        k: 200,
        ..Case::default()
    });
    assert!(report.ties > 0, "{report:?}");
    assert!(report.largest_relative_error > 0.0 && report.largest_relative_error < 1e-6, "{report:?}");
}

fn random(subjects: &[Subject], cases: u32, strategy: impl Strategy<Value = Case>) {
    let bench = RefCell::new(EngineFixture::new(subjects));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let result = runner.run(&strategy, |case| {
        // Skip cases that are invalid problems (no extent left in f32, or only zero rows).
        prop_assume!(build_problem(&case).is_ok());
        bench.borrow_mut().check(&case);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

pub fn random_problems(subjects: &[Subject]) {
    if on_gpu(subjects) {
        let larger = (Case::any(), prop_oneof![Just(1usize), Just(7), Just(40)]);
        random(subjects, 500, larger.prop_map(|(case, times)| Case { n: case.n * times, ..case }));
    } else {
        random(subjects, 500, Case::any());
    }
}

/// With many dimensions, queries share staged points: any number of queries, and batches of one to many
/// groups.
pub fn random_problems_in_many_dimensions(subjects: &[Subject]) {
    let wide = (Case::any(), 4usize..=300, 1usize..400, 1usize..12);
    let of = |(case, dims, n, queries): (Case, usize, usize, usize)| {
        let query_rows = Some((0..queries).map(|query| (query * 7919 % n) as u32).collect());
        Case { dims, n, query_rows, foreign: false, ..case }
    };
    random(subjects, 200, wide.prop_map(of));
}

/// Blocks, chunks and batches of realistic size, with a partial last block.
pub fn realistic_sizes(subjects: &[Subject]) {
    let rows = |queries: u32, step: u32| Some((0..queries).map(|i| i * step).collect());
    if !on_gpu(subjects) {
        let sizes = [(2, 32), (3, 100), (2, 1024), (16, 10)];
        return check(
            subjects,
            sizes.map(|(dims, k)| Case { n: 20_003, dims, k, query_rows: rows(101, 197), ..Case::default() }),
        );
    }
    let sizes = [
        (2, 32),
        (2, 64),
        (2, 100),
        (2, 250),
        (2, 500),
        (2, 1024),
        (3, 20),
        (3, 100),
        (3, 1000),
        (16, 10),
        (7, 40),
        (7, 300),
    ];
    let many =
        sizes.map(|(dims, k)| Case { n: 200_003, dims, k, query_rows: rows(1013, 197), ..Case::default() });
    let few =
        [(1_000_003, 2, 32, 200), (1_000_003, 2, 1024, 40), (500_009, 3, 100, 200), (200_003, 31, 10, 100)];
    let few = few.map(|(n, dims, k, queries)| Case {
        n,
        dims,
        k,
        query_rows: rows(queries, 919),
        ..Case::default()
    });
    check(subjects, many.into_iter().chain(few));
}

/// The first k neighbours of an answer for a larger k are the answer for k.
pub fn smaller_k_is_a_prefix(subjects: &[Subject]) {
    for subject in subjects {
        let (mut engine, limits) = (subject.open(), subject.engine.limits);
        for case in [
            Case { n: 5003, ..Case::default() },
            Case { shape: PointDistribution::Grid { side: 5 }, n: 5003, dims: 5, ..Case::default() },
        ] {
            let mut of = |k: usize| {
                answer(engine.as_mut(), &build_problem(&Case { k, ..case.clone() }).unwrap()).neighbors
            };
            let most = of(limits.k.min(1024));
            for k in [1, 5, 31, 32, 33, 100, 500].into_iter().filter(|&k| k <= limits.k) {
                let fewer = of(k);
                for query in 0..fewer.queries() {
                    let ((positions, distances), (all, all_distances)) =
                        (fewer.for_query(query), most.for_query(query));
                    assert_eq!(
                        (positions, distances),
                        (&all[..k], &all_distances[..k]),
                        "{subject}: k = {k}, query {query}"
                    );
                }
            }
        }
    }
}

/// Counted, timed and profiled builds give the same bits, and each gives the extra results that it promises.
pub fn builds_agree(subjects: &[Subject]) {
    for subject in subjects {
        let mut engine = subject.open();
        for (dims, k) in [(2, 32), (3, 1024), (17, 64)] {
            if dims > subject.engine.limits.d || k > subject.engine.limits.k {
                continue;
            }
            let n = if on_gpu(subjects) { 20_000 } else { 3000 };
            let problem =
                build_problem(&Case { n, dims, k, query_rows: Some((0..80).collect()), ..Case::default() })
                    .unwrap();
            let counted = answer(engine.as_mut(), &problem);
            let mut search = engine
                .load(&problem, &Parameters::NONE, true)
                .unwrap_or_else(|error| panic!("{subject}: {error}"));
            for build in [KernelBuild::Timed, KernelBuild::Profiled, KernelBuild::Timed, KernelBuild::Counted]
            {
                let context = format!("{subject}, {build:?}, d = {dims}");
                let mut found = Answer::default();
                assert!(search.search(0..problem.q(), build).unwrap() >= 0.0);
                search.download(&mut found.neighbors).unwrap();
                assert_same_neighbors(&found.neighbors, &counted.neighbors, &context);
                if build == KernelBuild::Timed {
                    continue;
                }
                search.collect(&mut found).unwrap();
                assert_same_counts(&found, &counted, &context);
                let phases = if build == KernelBuild::Profiled { subject.engine.phases } else { &[] };
                check_profile(phases, problem.q(), &found, &context);
            }
        }
    }
}

/// Ranges of a search: single, in any size and order, some repeated.
pub fn ranges_answer_their_own_queries(subjects: &[Subject]) {
    for subject in subjects {
        let mut engine = subject.open();
        for (dims, k) in [(2, 32), (3, 1024), (17, 40)] {
            let n = if on_gpu(subjects) { 30_011 } else { 2003 };
            let case = Case {
                n,
                dims,
                k,
                query_rows: Some((0..301).map(|i| i * 71 % n as u32).collect()),
                ..Case::default()
            };
            let problem: Problem = build_problem(&case).unwrap();
            if subject.engine.check(&problem, &Parameters::NONE).is_err() {
                continue;
            }
            let expected = answer(engine.as_mut(), &problem);
            let mut search = engine
                .load(&problem, &Parameters::NONE, false)
                .unwrap_or_else(|error| panic!("{subject}: {error}"));
            let mut found = Answer::default();
            let mut searched = 0;
            for range in [200..301, 0..1, 1..130, 1..130, 1..130, 130..200, 0..1, 130..200] {
                search.search(range.clone(), KernelBuild::Counted).unwrap();
                search.collect(&mut found).unwrap();
                if subject.engine.counts() {
                    for (at, query) in range.clone().enumerate() {
                        let (counts, of_all) =
                            (found.measured.for_query(searched + at), expected.measured.for_query(query));
                        assert!(
                            counts.eq(of_all),
                            "{subject}: {case:?}: counters of query {query} depend on the range"
                        );
                    }
                }
                searched += range.len();
            }
            search.download(&mut found.neighbors).unwrap();
            assert_same_neighbors(&found.neighbors, &expected.neighbors, &format!("{subject}: {case:?}"));
            let counted = if subject.engine.counts() { searched } else { 0 };
            assert_eq!(found.measured.queries(), counted, "{subject}: every search must be counted");
        }
    }
}

/// In random order, the mean of every measure is at most its theoretical bound.
pub fn means_stay_below_the_theoretical_bound(subjects: &[Subject]) {
    for subject in subjects {
        let k = 32.min(subject.engine.limits.k);
        let case = Case {
            n: 20_000,
            k,
            order: Order::Shuffled,
            query_rows: Some((0..100).collect()),
            ..Case::default()
        };
        let problem = build_problem(&case).unwrap();
        let found = answer(subject.open().as_mut(), &problem);
        for measure in subject.engine.measures {
            let Some(theory) = &measure.theory else { continue };
            let (mean, bound) =
                (found.measured.mean(measure.name).expect("counters"), (theory.mean)(&problem.shape()));
            assert!(
                mean <= bound,
                "{subject}: {mean} {} on average, {bound} {}",
                measure.name,
                theory.condition
            );
        }
    }
}
