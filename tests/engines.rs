//! Every engine against the float64 oracle, against the others bit for bit, and its counters against the rules restated.

mod common;

use common::{Case, Shape, answer, pose};
use proptest::prelude::*;
use warpscope::cloud::Order;
use warpscope::engines::{self, kdtree::KdTree, lockstep};
use warpscope::knn::{
    Answer, CONVERGENCE_ENTRIES, Counters, Engine, EngineError, EngineId, Metric, NONE, Neighbors, Parameters, Problem,
    reference::{Report, judge},
    theory,
};
use warpscope::progress::Silent;

/// What runs on every machine.
const EVERYWHERE: [EngineId; 2] = [EngineId::new("lockstep"), EngineId::new("kdtree")];

/// Answers a problem with each engine and holds the answers against the oracle, each other and the restated rules.
fn check(problem: &Problem, kinds: &[EngineId]) -> Report {
    let mut report = Report::default();
    let mut first: Option<Answer> = None;
    for &kind in kinds {
        let mut engine = engines::registry::open(kind, None).unwrap_or_else(|error| panic!("{error}"));
        let found = answer(engine.as_mut(), problem);
        report = judge(problem, &found.neighbors, &Silent).unwrap_or_else(|mismatch| panic!("{kind}: {mismatch}"));
        assert_eq!(report.queries, problem.q());
        if engines::registry::find(kind).unwrap().counts() {
            check_counters(problem, &found, kind);
        } else {
            assert!(found.measured.is_empty() && found.convergence.queries() == 0, "{kind} counts nothing");
        }
        match &first {
            None => first = Some(found),
            Some(first) => same_bits(&first.neighbors, &found.neighbors, kinds[0], kind),
        }
    }
    report
}

fn same_bits(a: &Neighbors, b: &Neighbors, kind_a: EngineId, kind_b: EngineId) {
    for query in 0..a.queries() {
        assert_eq!(a.of(query).0, b.of(query).0, "query {query}: positions of {kind_a} and {kind_b}");
        let bits = |neighbors: &Neighbors| neighbors.of(query).1.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(a), bits(b), "query {query}: distances of {kind_a} and {kind_b}");
    }
}

/// What the twin counted of a query, in the order of its declaration.
fn row(found: &Answer, query: usize) -> [u32; 3] {
    let values: Vec<u32> = found.measured.of(query).map(|(_, value)| value).collect();
    values.try_into().expect("it counts three things")
}

fn check_counters(problem: &Problem, found: &Answer, kind: EngineId) {
    assert_eq!(found.measured.queries(), problem.q(), "{kind}: counters");
    assert_eq!(found.convergence.queries(), problem.q(), "{kind}: histories");
    for query in 0..problem.q() {
        let expected = Simulation::of(problem, query);
        let at = format!("{kind}, query {query}, n = {}, k = {}", problem.n(), problem.k());
        assert_eq!(row(found, query), expected.counters.row(), "{at}");
        assert!(u64::from(expected.counters.merges) <= theory::worst_case_merges(problem.n(), theory::capacity(problem.k())), "{at}");

        let (points_seen, max_distances) = found.convergence.of(query);
        let history: Vec<(u32, u32)> = points_seen.iter().zip(max_distances).map(|(&seen, max)| (seen, max.to_bits())).collect();
        assert_eq!(history, expected.kept_history(), "{at}");

        let (positions, distances) = found.neighbors.of(query);
        for rank in 0..problem.k() {
            let expected = expected.result.get(rank).copied().unwrap_or((f32::INFINITY.to_bits(), NONE));
            assert_eq!((distances[rank].to_bits(), positions[rank]), expected, "{at}, rank {rank}");
        }
    }
}

/// The search of one query by the rules, one point at a time: no lanes, no networks, no batches.
#[derive(Default)]
struct Simulation {
    /// (bits of the squared distance, position), sorted: bits of non-negative floats sort as the floats do.
    result: Vec<(u32, u32)>,
    buffer: Vec<(u32, u32)>,
    counters: Counters,
    /// (points seen, bits of max_distance) after each merge.
    history: Vec<(u32, u32)>,
}

impl Simulation {
    const GROUP: usize = 32;

    fn of(problem: &Problem, query: usize) -> Self {
        let (n, k) = (problem.n(), problem.k());
        let slots = k.max(32).next_power_of_two();
        let mut this = Self::default();
        let mut max_distance = f32::INFINITY.to_bits();
        for group in (0..n).step_by(Self::GROUP) {
            let lanes = group..(group + Self::GROUP).min(n);
            let distances: Vec<u32> = lanes.clone().map(|position| distance(problem, position, query).to_bits()).collect();
            this.counters.groups_hit += u32::from(distances.iter().any(|&distance| distance < max_distance));
            // One lane after the other against the latest bound is what a second ballot after a merge comes to.
            for (position, distance) in lanes.zip(distances) {
                if distance < max_distance {
                    this.buffer.push((distance, position as u32));
                    this.counters.candidates += 1;
                    if this.buffer.len() == slots {
                        max_distance = this.merge(k, slots, position + 1);
                    }
                }
            }
        }
        if !this.buffer.is_empty() {
            this.merge(k, slots, n);
        }
        this
    }

    fn merge(&mut self, k: usize, slots: usize, points_seen: usize) -> u32 {
        self.result.append(&mut self.buffer);
        self.result.sort_unstable();
        self.result.truncate(slots);
        let max_distance = self.result.get(k - 1).map_or(f32::INFINITY.to_bits(), |last| last.0);
        self.counters.merges += 1;
        self.history.push((points_seen as u32, max_distance));
        max_distance
    }

    /// The first 63 merges and the latest.
    fn kept_history(&self) -> Vec<(u32, u32)> {
        let mut kept = self.history.clone();
        if kept.len() > CONVERGENCE_ENTRIES {
            kept.truncate(CONVERGENCE_ENTRIES - 1);
            kept.extend(self.history.last());
        }
        kept
    }
}

/// The rule, as it is written down.
fn distance(problem: &Problem, position: usize, query: usize) -> f32 {
    let point = &problem.points()[position * problem.dims()..][..problem.dims()];
    point.iter().zip(problem.query(query)).fold(0.0, |acc, (p, q)| {
        let t = p - q;
        t.mul_add(t, acc)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn engines_are_right_and_agree(case in Case::any()) {
        // A case that the problem's rules refuse (no extent left in f32, only zero rows) is no case.
        if let Ok(problem) = pose(&case) {
            check(&problem, &EVERYWHERE);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The twin answers queries of many dimensions four at a time: any number of queries, and batches of one group to many.
    #[test]
    fn the_twin_is_right_in_many_dimensions(case in Case::any(), dims in 4usize..=300, n in 1usize..400, queries in 1usize..12) {
        let query_rows = Some((0..queries).map(|query| (query * 7919 % n) as u32).collect());
        if let Ok(problem) = pose(&Case { dims, n, query_rows, foreign: false, ..case }) {
            check(&problem, &[EngineId::new("lockstep")]);
        }
    }
}

/// So many queries that threads share them out in blocks.
#[test]
fn many_queries_of_many_dimensions_are_right() {
    for (queries, dims) in [(1, 16), (97, 4), (500, 16), (1001, 5)] {
        let rows = Some((0..queries).map(|query| query * 13 % 300).collect());
        let problem = pose(&Case { query_rows: rows, ..case(Shape::Grid { side: 4 }, 300, dims, 20) }).expect("the case is sound");
        check(&problem, &[EngineId::new("lockstep")]);
    }
}

/// A replayed query is alone in its tile, and counts as it did among others.
#[test]
fn replays_agree_in_many_dimensions() {
    let problem = pose(&case(Shape::Uniform { exponent: 0 }, 5_000, 70, 32)).expect("the case is sound");
    let found = answer(engines::registry::open(EngineId::new("lockstep"), None).expect("the twin runs everywhere").as_mut(), &problem);
    for query in 0..problem.q() {
        let (counters, history) = lockstep::replay(&problem, query);
        assert_eq!(counters.row(), row(&found, query));
        let (points_seen, max_distances) = found.convergence.of(query);
        assert!(history.len() < CONVERGENCE_ENTRIES, "the whole history was kept");
        assert!(history.iter().map(|entry| entry.0).eq(points_seen.iter().copied()));
        assert!(history.iter().map(|entry| entry.1.to_bits()).eq(max_distances.iter().map(|max| max.to_bits())));
    }
}

fn case(shape: Shape, n: usize, dims: usize, k: usize) -> Case {
    Case { shape, n, dims, k, ..Case::default() }
}

/// The corners that random cases may miss.
fn corners() -> Vec<Case> {
    let uniform = Shape::Uniform { exponent: 0 };
    vec![
        case(uniform, 1, 2, 1),
        case(uniform, 1, 3, 1024),
        case(uniform, 31, 2, 32),
        case(uniform, 32, 2, 32),
        case(uniform, 33, 2, 32),
        case(uniform, 64, 2, 33),
        case(uniform, 1024, 2, 1024),
        case(uniform, 2500, 3, 1000),
        case(uniform, 3000, 17, 31),
        case(uniform, 1500, 128, 100),
        Case { metric: Metric::Angular, ..case(uniform, 2000, 8, 40) },
        Case { exclude_self: true, ..case(uniform, 2000, 2, 1023) },
        Case { order: Order::Shuffled, ..case(Shape::Duplicates { places: 5 }, 5000, 3, 50) },
        case(Shape::Duplicates { places: 1 }, 4000, 2, 1024),
        case(Shape::Duplicates { places: 900 }, 5000, 5, 333),
        case(Shape::Grid { side: 3 }, 4000, 4, 64),
        case(Shape::Grid { side: 2 }, 3000, 16, 500),
        case(Shape::FlatAxes { varying: 1 }, 2000, 6, 32),
        case(Shape::FlatAxes { varying: 2 }, 2000, 40, 7),
        case(Shape::Descending, 4096, 1, 32),
        case(Shape::Descending, 3000, 3, 1),
        case(Shape::Sphere, 2000, 3, 20),
        case(Shape::Uniform { exponent: 63 }, 2000, 2, 32),
        case(Shape::Uniform { exponent: -50 }, 2000, 2, 32),
    ]
}

/// More dimensions than the twin's batch has room for, and than the k-d tree takes.
#[test]
fn many_dimensions_are_right() {
    for dims in [255, 256, 257, 300, 1000] {
        let problem = pose(&case(Shape::Uniform { exponent: 0 }, 300, dims, 10)).unwrap();
        check(&problem, &[EngineId::new("lockstep")]);
    }
}

#[test]
fn corners_are_right_and_agree() {
    for case in corners() {
        let problem = pose(&case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
        check(&problem, &EVERYWHERE);
    }
}

#[test]
fn descending_distances_are_the_worst_case() {
    let problem = pose(&Case { query_rows: Some(vec![9_999]), ..case(Shape::Descending, 10_000, 2, 32) }).expect("the case is sound");
    let found = answer(engines::registry::open(EngineId::new("lockstep"), None).expect("the twin runs everywhere").as_mut(), &problem);
    assert_eq!(u64::from(row(&found, 0)[0]), theory::worst_case_merges(10_000, 32));
    assert_eq!(row(&found, 0)[1], 10_000);
    assert_eq!(found.convergence.of(0).0.len(), CONVERGENCE_ENTRIES);
    assert_eq!(found.convergence.of(0).0.last(), Some(&10_000));

    let (counters, history) = lockstep::replay(&problem, 0);
    assert_eq!(counters.row(), row(&found, 0));
    let whole = Simulation::of(&problem, 0).history;
    assert_eq!(history.iter().map(|&(seen, max)| (seen, max.to_bits())).collect::<Vec<_>>(), whole);
}

#[test]
fn random_order_stays_under_the_theory() {
    let (n, k) = (20_000, 32);
    let rows = (0..100).collect();
    let problem =
        pose(&Case { order: Order::Shuffled, query_rows: Some(rows), ..case(Shape::Uniform { exponent: 0 }, n, 2, k) }).expect("the case is sound");
    let found = answer(engines::registry::open(EngineId::new("lockstep"), None).expect("the twin runs everywhere").as_mut(), &problem);
    let mean = |name| found.measured.mean(name).expect("it is counted");
    let slots = theory::capacity(k);
    assert!(mean("merges") <= theory::expected_merges(n, k, slots));
    assert!(mean("candidates") <= theory::expected_candidates(n, k, slots));
}

#[test]
fn ties_are_counted_where_rounding_makes_them() {
    // Far more points than f32 has distances: the order by rounded distance is not the order by true distance.
    let problem = pose(&case(Shape::Sphere, 20_000, 3, 200)).expect("the case is sound");
    let report = check(&problem, &EVERYWHERE);
    assert!(report.ties > 0, "{report:?}");
    assert!(report.largest_relative_error > 0.0 && report.largest_relative_error < 1e-6, "{report:?}");
}

#[test]
fn more_dimensions_than_the_tree_takes_are_refused_by_number() {
    let problem = pose(&case(Shape::Uniform { exponent: 0 }, 10, 129, 3)).expect("the case is sound");
    let Err(error) = KdTree::new().load(&problem, &Parameters::NONE, false).map(|_| ()) else { panic!("129 dimensions are too many") };
    assert!(matches!(error, EngineError::Limit { what: "d", limit: 128, value: 129, .. }));
    assert_eq!(error.to_string(), "the kdtree engine takes d up to 128, not 129");
    check(&problem, &[EngineId::new("lockstep")]);
}
