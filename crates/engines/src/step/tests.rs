//! Tests of what the two engines visit. Conformance tests check that their answers equal every other
//! engine's.

use super::{STEP, STEP_EXHAUSTIVE};
use crate::knn::{DeviceId, Metric, Parameters};
use crate::progress::NoProgress;
use crate::testing::{problem, problem_with_metric, scattered, search};

#[test]
fn equal_points_do_not_force_a_full_scan() {
    let n = 50_000;
    let problem = problem(2, vec![3.0; 2 * n], vec![0, 25_000, 49_999], 40);
    for engine in [&STEP, &STEP_EXHAUSTIVE] {
        let (found, answer) = search(engine, &problem, &Parameters::NONE);
        for query in 0..3 {
            assert!(
                found.for_query(query).0.iter().copied().eq(0..40),
                "all points are equally far, so the first positions win"
            );
            let distance_evals = answer.measured.column("distance_evals").unwrap()[query];
            assert!(
                distance_evals <= 96,
                "{}: query {query} evaluated {distance_evals} of {n} distances",
                engine.id
            );
        }
    }
}

/// With points at two locations, every cluster at the nearer one is equally near: positions decide the points
/// at rank k.
#[test]
fn ties_across_clusters_are_broken_by_position() {
    let n = 8192;
    let problem = problem(1, (0..n).map(|i| f64::from(i % 2)).collect(), vec![1], 100);
    for engine in [&STEP, &STEP_EXHAUSTIVE] {
        let (found, _) = search(engine, &problem, &Parameters::NONE);
        assert!(found.for_query(0).0.iter().copied().eq((0..100).map(|rank| 2 * rank + 1)), "{}", engine.id);
    }
}

#[test]
fn k_equal_to_n_returns_all_points() {
    for n in [1, 31, 32, 33, 700] {
        for metric in [Metric::L2, Metric::Angular] {
            let problem = problem_with_metric(metric, 3, scattered(n, 3), vec![0], n);
            for engine in [&STEP, &STEP_EXHAUSTIVE] {
                let (found, answer) = search(engine, &problem, &Parameters::NONE);
                let mut positions = found.for_query(0).0.to_vec();
                positions.sort_unstable();
                assert!(positions.into_iter().eq(0..n as u32), "{}: n = {n}", engine.id);
                let of = |name: &str| answer.measured.column(name).unwrap()[0] as usize;
                assert!(of("distance_evals") <= n && of("candidates") <= n, "{}: n = {n}", engine.id);
            }
        }
    }
}

/// Every cluster is either visited or pruned. In few dimensions, few are visited, and far fewer points than
/// exist.
#[test]
fn far_clusters_are_pruned() {
    let n = 20_000;
    for metric in [Metric::L2, Metric::Angular] {
        let queries = (0..n as u32).step_by(397).collect();
        let problem = problem_with_metric(metric, 2, scattered(n, 2), queries, 20);
        let (_, answer) = search(&STEP, &problem, &Parameters::from_iter([("iterations", 3)]));
        let of = |name: &str, query: usize| answer.measured.column(name).unwrap()[query];
        for query in 0..problem.q() {
            let (clusters, pruned) = (of("clusters", query), of("pruned", query));
            assert_eq!(clusters + pruned, 157, "{metric}: query {query}");
            assert!(clusters >= 1 && of("distance_evals", query) >= 20 && of("candidates", query) >= 20);
            assert_eq!(of("merges", query), of("candidates", query).div_ceil(64));
        }
        let mean = answer.measured.mean("distance_evals").unwrap();
        assert!(mean < 2000.0, "{metric}: {mean} of {n} points");
    }
}

/// The exact minima are the first neighbours, and clusters whose minimum is not among the k nearest are not
/// visited.
#[test]
fn cluster_minima_prune_in_high_dimensions() {
    let (n, dims, k) = (20_000, 24, 16);
    let problem = problem(dims, scattered(n, dims), (0..50).collect(), k);
    let (found, answer) = search(&STEP_EXHAUSTIVE, &problem, &Parameters::NONE);
    for query in 0..problem.q() {
        let of = |name: &str| answer.measured.column(name).unwrap()[query] as usize;
        assert!(
            of("clusters") < k
                && of("distance_evals") <= of("clusters") * 32
                && of("clusters") + of("pruned") == n / 32,
            "query {query}"
        );
        assert_eq!(found.for_query(query).0[0], query as u32);
    }
    // From its switch on, `step` does the same.
    let (same, counted) = search(&STEP, &problem, &Parameters::NONE);
    assert_eq!((same, counted.measured), (found, answer.measured));
}

/// The tighter the spheres, the fewer distances are evaluated (§6.6). The neighbours are the same.
#[test]
fn tighter_spheres_reduce_distance_evaluations() {
    let (n, dims) = (6000, 6);
    for metric in [Metric::L2, Metric::Angular] {
        let problem = problem_with_metric(metric, dims, scattered(n, dims), (0..50).collect(), 20);
        let by = |spheres: &str| {
            search(&STEP, &problem, &Parameters::from_iter([("spheres", spheres), ("iterations", "5")]))
        };
        let [naive, ritter, exact] = ["naive", "ritter", "exact"].map(by);
        assert!(naive.0 == ritter.0 && ritter.0 == exact.0);
        let [naive, ritter, exact] =
            [naive, ritter, exact].map(|(_, answer)| answer.measured.mean("distance_evals").unwrap());
        assert!(exact <= ritter && exact < naive, "{metric}: {naive} {ritter} {exact}");
    }
}

#[test]
fn changed_parameters_rebuild_the_clusters() {
    let problem = problem(2, scattered(2000, 2), vec![0], 5);
    let mut engine = STEP.open_on(DeviceId::Cpu).unwrap();
    let mut resident = |clusters: &str| {
        engine.load(&problem, &Parameters::from_iter([("clusters", clusters)]), false).unwrap().resident()
    };
    assert_eq!(["8", "8", "9", "8"].map(&mut resident), [false, true, false, false]);
}

#[test]
fn walks_match_the_search_counters() {
    use crate::knn::walk::{Bounds, Event, RegionState};
    for (dims, n, k, parameters) in [
        (1, 700, 5, Parameters::NONE),
        (2, 20_000, 32, Parameters::from_iter([("clusters", "64")])),
        (3, 3000, 70, Parameters::from_iter([("spheres", "naive")])),
        (2, 20, 32, Parameters::NONE),
        (2, 300, 200, Parameters::NONE),
    ] {
        let rows = vec![0, n as u32 / 3, n as u32 - 1];
        let problem = problem(dims, scattered(n, dims), rows.clone(), k);
        let (found, answer) = search(&STEP, &problem, &parameters);
        for query in 0..rows.len() {
            let walk = (STEP.walk.unwrap())(&problem, query, &parameters, &NoProgress).unwrap().unwrap();
            let (end, last) = (walk.steps.len() - 1, walk.steps.last().unwrap());
            let totals = last.totals;
            let groups =
                walk.steps.iter().filter(|step| matches!(step.event, Event::Visited { .. })).count() as u32;
            let told = [
                totals.merges,
                totals.candidates,
                totals.distance_evals,
                totals.leaves,
                totals.pruned,
                groups,
            ];
            assert_eq!(
                told.to_vec(),
                answer.measured.for_query(query).map(|(_, value)| value).collect::<Vec<_>>(),
                "{n} points, query {query}"
            );
            assert_eq!((last.after, &last.event), (found.for_query(query).1[k - 1], &Event::Finished));
            assert!(
                walk.steps[0].event == Event::Sorted && walk.regions.is_sorted_by(|a, b| a.bound <= b.bound)
            );
            assert!(
                walk.steps
                    .windows(2)
                    .all(|pair| pair[0].after == pair[1].before && pair[0].after >= pair[1].after)
            );
            let count =
                |fate| walk.regions.iter().filter(|region| region.fate(end) == Some(fate)).count() as u32;
            assert_eq!(
                (count(RegionState::Visited), count(RegionState::Pruned)),
                (totals.leaves, totals.pruned)
            );
            let there: std::collections::HashSet<u32> = walk.rows.iter().copied().collect();
            assert!(
                found
                    .for_query(query)
                    .0
                    .iter()
                    .take_while(|&&row| row != u32::MAX)
                    .all(|row| there.contains(row))
            );
            for step in &walk.steps {
                let Event::Visited { region, points, near, taken } = &step.event else { continue };
                let Bounds::Sphere { center, radius } = walk.regions[*region].bounds else {
                    panic!("a cluster is a sphere")
                };
                for &row in &walk.rows[points.clone()] {
                    let point = &problem.points()[row as usize * dims..][..dims];
                    let distance =
                        point.iter().zip(center).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
                    assert!(distance <= f64::from(radius) * (1.0 + 1e-5), "{distance} in {radius}");
                }
                assert_eq!(taken & !near, 0);
            }
            let taken: u32 = walk
                .steps
                .iter()
                .map(
                    |step| if let Event::Visited { taken, .. } = step.event { taken.count_ones() } else { 0 },
                )
                .sum();
            assert_eq!(taken, totals.candidates);
        }
    }
    let four = problem(4, scattered(40, 4), vec![0], 3);
    assert_eq!(
        (STEP.walk.unwrap())(&four, 0, &Parameters::NONE, &NoProgress).unwrap_err().to_string(),
        "d = 4: the step engine supports at most 3"
    );
    let switched = problem(2, scattered(40, 2), vec![0], 3);
    let why = (STEP.walk.unwrap())(&switched, 0, &Parameters::from_iter([("switch", "2")]), &NoProgress)
        .unwrap_err()
        .to_string();
    assert_eq!(
        why,
        "the step engine: with 2 dimensions all distances are computed (switch=2), so there is no walk to \
         show"
    );
}
