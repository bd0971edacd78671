//! Compares refined answers with an oracle in integer arithmetic, on data that f32 orders wrongly.

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;
use crate::cloud::{Column, Coordinates, FileValue, Order, PointCloud, Source, Table};
use crate::knn::{EngineError, Metric, ProblemParameters, Queries, Radius};
use crate::radius::RadiusTest;

fn named(names: &[&str], values: Vec<f64>) -> Arc<PointCloud> {
    let columns = names.iter().map(|&name| Column { name: name.to_owned() }).collect();
    let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
    Arc::new(PointCloud::from_table(Table { columns, values }, source, None, false).expect("a cloud"))
}

const AXES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn cloud(dims: usize, values: Vec<f64>) -> Arc<PointCloud> {
    named(&AXES[..dims], values)
}

/// A cloud of a text, whose values are decimals.
fn decimals(dims: usize, values: Vec<f64>) -> Arc<PointCloud> {
    let columns = AXES[..dims].iter().map(|&name| Column { name: name.to_owned() }).collect();
    let values = Coordinates { decimals: true, ..Table { columns, values }.into() };
    let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
    Arc::new(PointCloud::from_table(values, source, None, false).expect("a cloud"))
}

fn problem(cloud: &Arc<PointCloud>, metric: Metric, k: usize) -> Problem {
    let setup = ProblemParameters {
        k,
        metric,
        order: Order::File,
        seed: 0,
        exclude_self: false,
        drop_zero_rows: false,
    };
    Problem::new(cloud, &Queries::Rows((0..cloud.len() as u32).collect()), setup).expect("a problem")
}

/// The answers of an engine: by rule 1, ties by position.
fn searched(problem: &Problem) -> Neighbors {
    let (k, positions): (usize, Vec<u32>) = (problem.k(), (0..problem.n() as u32).collect());
    let (mut indices, mut squared_distances) = (Vec::new(), Vec::new());
    for query in 0..problem.q() {
        let mut squared = Vec::new();
        squared_distances_of(problem, query, &positions, &mut squared);
        let mut order = positions.clone();
        order.sort_by(|&a, &b| squared[a as usize].total_cmp(&squared[b as usize]).then(a.cmp(&b)));
        let list = || order.iter().copied().map(Some).chain(std::iter::repeat(None)).take(k);
        indices.extend(list().map(|position| position.map_or(NONE, |position| problem.row(position))));
        squared_distances.extend(list().map(|at| at.map_or(f32::INFINITY, |at| squared[at as usize])));
    }
    Neighbors { k, indices, squared_distances }
}

fn squared_distances_of(problem: &Problem, query: usize, positions: &[u32], squared: &mut Vec<f32>) {
    squared_distances(problem.points(), problem.query(query), positions, squared);
}

/// The integer value·2¹⁰⁷⁴·10³⁰, which is exact for every f64, and for decimals of up to 30 digits.
fn whole(value: FileValue) -> BigInt {
    let value = match value {
        FileValue::Binary(value) => value,
        FileValue::Decimal { mantissa, exponent } => {
            let tens = BigInt::from(10).pow((30 + exponent) as u32);
            return (BigInt::from(mantissa) * tens) << 1074;
        }
    };
    let bits = value.abs().to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let magnitude = match exponent {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction + (1 << 52)) << (exponent - 1),
    };
    let magnitude = magnitude * BigInt::from(10).pow(30);
    if value < 0.0 { -magnitude } else { magnitude }
}

/// All rows in the order of their real distances to a row, ties by row.
fn oracle(cloud: &PointCloud, metric: Metric, query: usize) -> Vec<u32> {
    let row =
        |row: usize| -> Vec<BigInt> { (0..cloud.dims()).map(|axis| whole(cloud.value(row, axis))).collect() };
    let sum = |a: &[BigInt], b: &[BigInt], of: fn(&BigInt, &BigInt) -> BigInt| -> BigInt {
        a.iter().zip(b).map(|(a, b)| of(a, b)).sum()
    };
    let target = row(query);
    // The order is that of fractions a/b: squared distances over 1, or −(q·p)·|q·p| over |p|².
    let fraction = |at: usize| -> [BigInt; 2] {
        let point = row(at);
        if metric == Metric::L2 {
            return [sum(&target, &point, |a, b| (a - b).pow(2)), BigInt::from(1)];
        }
        let product = sum(&target, &point, |a, b| a * b);
        let square = product.pow(2);
        [if product < BigInt::ZERO { square } else { -square }, sum(&point, &point, |a, b| a * b)]
    };
    let fractions: Vec<[BigInt; 2]> = (0..cloud.len()).map(fraction).collect();
    let compare = |a: usize, b: usize| -> Ordering {
        let [a, b] = [&fractions[a], &fractions[b]];
        (&a[0] * &b[1]).cmp(&(&b[0] * &a[1]))
    };
    let mut order: Vec<u32> = (0..cloud.len() as u32).collect();
    order.sort_by(|&a, &b| compare(a as usize, b as usize).then(a.cmp(&b)));
    order
}

/// The lists that differ from the oracle's, with a margin of a fraction of the right one.
fn wrong_lists(cloud: &Arc<PointCloud>, metric: Metric, k: usize, margin: f64) -> Vec<String> {
    let problem = problem(cloud, metric, search_k(k, cloud.dims(), 1024));
    let found = searched(&problem);
    let refiner = Refiner::new(&problem, cloud, None).with_margin(margin);
    let refined = refiner.refine(&found, k, None, &mut |_| true).expect("it is not cancelled");
    let wrong = |query: &usize| {
        let mut expected = oracle(cloud, metric, *query);
        expected.resize(expected.len().max(k), NONE);
        refined.rows[query * k..][..k] != expected[..k]
    };
    let shown = |query| format!("query {query}: {:?}", &refined.rows[query * k..][..k]);
    (0..cloud.len()).filter(wrong).map(shown).collect()
}

/// Points whose distances differ by less than f32 resolves: a lattice far from the origin, or one with steps
/// far below its extent.
fn lattice(dims: usize) -> impl Strategy<Value = Vec<f64>> {
    let step = prop_oneof![Just(1e-3), Just(0.1), Just(1.0), Just(1e-7)];
    let far = prop_oneof![Just(0.0), Just(5e5), Just(-3e6)];
    (step, far, prop::collection::vec((0..40i32, prop::bool::weighted(0.1)), dims * 40)).prop_map(
        |(step, far, cells)| {
            // A few points are far away, so that the extent is large.
            let value =
                |(cell, outlier): (i32, bool)| far + f64::from(cell) * step + if outlier { 2e5 } else { 0.0 };
            cells.into_iter().map(value).collect()
        },
    )
}

proptest! {
    #[test]
    fn l2_neighbours_are_in_exact_order(
        (dims, values) in (1..5usize).prop_flat_map(|dims| (Just(dims), lattice(dims))),
        k in 1..12usize,
    ) {
        for cloud in [cloud(dims, values.clone()), decimals(dims, values)] {
            let wrong = wrong_lists(&cloud, Metric::L2, k, 1.0);
            prop_assert!(wrong.is_empty(), "{wrong:?}");
        }
    }

    #[test]
    fn cosine_neighbours_are_in_exact_order(
        (dims, values) in (2..5usize).prop_flat_map(|dims| (Just(dims), lattice(dims))),
        k in 1..12usize,
    ) {
        // No zero rows.
        let values: Vec<f64> = values.into_iter().map(|value| value + 1.0).collect();
        for cloud in [cloud(dims, values.clone()), decimals(dims, values)] {
            let wrong = wrong_lists(&cloud, Metric::Cosine, k, 1.0);
            prop_assert!(wrong.is_empty(), "{wrong:?}");
        }
    }

    /// Distances that are decimals, so that many are equal to a radius of one decimal.
    #[test]
    fn radius_tests_use_exact_decimals(
        cells in prop::collection::vec((0..12i32, 0..12i32), 30),
        (far, tenths) in (prop_oneof![Just(0.0), Just(5e5)], 1..12i32),
        open in any::<bool>(),
    ) {
        let value = |cell: i32| -> f64 { format!("{:.1}", far + f64::from(cell) / 10.0).parse().unwrap() };
        let cloud = decimals(2, cells.iter().flat_map(|&(x, y)| [value(x), value(y)]).collect());
        let ranking = Ranking::new(Metric::L2, &cloud, &cloud, 1);
        let radius = Radius { open, ..Radius::new(Metric::L2, f64::from(tenths) / 10.0) };
        let test = RadiusTest::new(Metric::L2, radius).unwrap();
        let query = ranking.query(0);
        for (row, &(x, y)) in cells.iter().enumerate() {
            let ranked = ranking.rank(&query, row as u32, &mut Vec::new());
            let squared = (x - cells[0].0).pow(2) + (y - cells[0].1).pow(2);
            let expected = if open { squared < tenths.pow(2) } else { squared <= tenths.pow(2) };
            prop_assert_eq!(ranking.is_within(&query, ranked, &test), expected, "{:?}", cells[row]);
        }
    }
}

#[test]
fn equal_distances_are_numbered_equally() {
    let tenths = [0.3, 0.1, 0.5, 0.2, 0.4, 0.3, 0.9];
    let cloud = decimals(1, tenths.to_vec());
    let ranking = Ranking::new(Metric::L2, &cloud, &cloud, 1);
    let query = ranking.query(0);
    let mut ranked: Vec<RankedPoint> = (0..7).map(|row| ranking.rank(&query, row, &mut Vec::new())).collect();
    assert_eq!(ranking.number_distances(&query, &mut ranked), [1, 1, 2, 2, 3, 3, 4]);
    assert_eq!(ranked.iter().map(|ranked| ranked.row).collect::<Vec<_>>(), [0, 5, 3, 4, 1, 2, 6]);
}

/// 400 points in steps that f32 does not resolve, in descending order. A point beyond the next f32 seems as
/// far as the f32's spacing, although it may be nearer than points on this side.
fn reversed() -> Arc<PointCloud> {
    let near = (0..400).map(|at| 1.0 + f64::from(400 - at) * 1e-8);
    cloud(1, near.chain([1e5, -1e5]).collect())
}

#[test]
fn insufficient_margins_give_wrong_neighbours() {
    assert!(wrong_lists(&reversed(), Metric::L2, 5, 1.0).is_empty());
    assert!(wrong_lists(&reversed(), Metric::L2, 5, 0.0).len() > 100);
    let directions: Vec<f64> = (0..400).flat_map(|at| [1.0, f64::from(400 - at) * 1e-8 + 1.0]).collect();
    let directions = cloud(2, directions);
    assert!(wrong_lists(&directions, Metric::Angular, 5, 1.0).is_empty());
    assert!(wrong_lists(&directions, Metric::Angular, 5, 0.0).len() > 100);
}

#[test]
fn sums_of_small_integers_need_no_margin() {
    let values = |largest: i32| (0..600).map(|at| f64::from(at * 7919 % largest)).collect::<Vec<f64>>();
    let margin = |values: Vec<f64>| {
        let cloud = cloud(3, values);
        Margin::new(Metric::L2, &cloud, &cloud)
    };
    assert!(margin(values(256)).is_zero() && margin(values(2000)).is_zero());
    assert!(!margin(values(5000)).is_zero());
    assert!(!margin(values(256).into_iter().map(|value| value + 0.1).collect()).is_zero());
}

#[test]
fn positions_on_the_globe_are_ordered_to_the_millimetre() {
    // Antipodes of (0, 0): 1 mm is about 9e-9 degrees, and f32 unit vectors resolve 0.4 m.
    let far: Vec<f64> = (0..60).flat_map(|at| [180.0, f64::from(60 - at) * 1e-9]).collect();
    let places = [vec![0.0, 0.0], far].concat();
    let cloud = named(&["longitude", "latitude"], places);
    let problem = problem(&cloud, Metric::Haversine, 61);
    let refiner = Refiner::new(&problem, &cloud, None);
    let refined = refiner.refine(&searched(&problem), 61, None, &mut |_| true).expect("it is not cancelled");
    // The nearest antipode is the one farthest from (180, 0), which is the first.
    assert_eq!(refined.rows[..61], (0..61).collect::<Vec<u32>>());
    let half = std::f64::consts::PI * crate::cloud::globe::EARTH_RADIUS_KM;
    let expected = half - (60.0 * 1e-9f64).to_radians() * crate::cloud::globe::EARTH_RADIUS_KM;
    assert!((refined.distances[1] - expected).abs() < 1e-9, "{} {expected}", refined.distances[1]);
    // Places that are equally far by symmetry come by row.
    let symmetric: Vec<f64> = [[10.0, 50.0], [-5.0, 51.0], [25.0, 51.0], [25.0, 49.0], [-5.0, 49.0]].concat();
    let cloud = named(&["longitude", "latitude"], symmetric);
    let problem = self::problem(&cloud, Metric::Haversine, 5);
    let refined =
        Refiner::new(&problem, &cloud, None).refine(&searched(&problem), 5, None, &mut |_| true).unwrap();
    assert_eq!(refined.rows[..5], [0, 1, 2, 3, 4]);
}

/// `docs/metrics.md` states this bound.
#[test]
fn cosine_distances_in_f32_are_within_the_documented_bound() {
    let dims = 768;
    let value = |at: usize| ((at as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / 2f32.powi(23) - 1.0;
    let names: Vec<String> = (0..dims).map(|axis| format!("c{axis}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut values: Vec<f64> = (0..58 * dims).map(|at| f64::from(value(at * at + at))).collect();
    // Opposite rows, whose terms all round in the same direction.
    values.extend(vec![1.0; dims]);
    values.extend(vec![-1.0; dims]);
    let cloud = named(&names, values);
    let problem = problem(&cloud, Metric::Cosine, 60);
    let found = searched(&problem);
    let refined = Refiner::new(&problem, &cloud, None).refine(&found, 60, None, &mut |_| true).unwrap();
    let mut largest = 0.0f64;
    for query in 0..60 {
        let (rows, squared) = found.for_query(query);
        for (row, &squared) in rows.iter().zip(squared) {
            let at = refined.rows[query * 60..][..60].iter().position(|other| other == row).unwrap();
            let exact = refined.distances[query * 60 + at];
            let error = (Metric::Cosine.distance(squared) - exact).abs();
            assert!(error <= (dims as f64 + 4.0) * 2f64.powi(-24) * exact + 5e-7, "{error} of {exact}");
            assert!(exact <= 2.0, "{exact}");
            largest = largest.max(error);
        }
    }
    assert!(largest > 1e-5, "{largest}");
}

#[test]
fn short_lists_are_padded_and_own_rows_excluded() {
    let cloud = cloud(1, vec![3.0, 1.0, 2.0]);
    let setup = ProblemParameters {
        k: 5,
        metric: Metric::L2,
        order: Order::Shuffled,
        seed: 3,
        exclude_self: true,
        drop_zero_rows: false,
    };
    let problem = Problem::new(&cloud, &Queries::Rows(vec![2, 0]), setup).unwrap();
    let found = Neighbors {
        k: 5,
        indices: vec![0, 1, NONE, NONE, NONE, 2, 1, NONE, NONE, NONE],
        squared_distances: [&[1.0, 1.0][..], &[f32::INFINITY; 3], &[1.0, 4.0], &[f32::INFINITY; 3]].concat(),
    };
    let refined = Refiner::new(&problem, &cloud, None).refine(&found, 3, None, &mut |_| true).unwrap();
    assert_eq!(refined.rows, [0, 1, NONE, 2, 1, NONE]);
    assert_eq!(refined.distances, [1.0, 1.0, f64::INFINITY, 1.0, 2.0, f64::INFINITY]);
    assert_eq!(refined.widened, 0);
}

#[test]
fn search_k_requests_spare_neighbours() {
    assert_eq!([1, 10, 16, 28, 32, 100, 1024].map(|k| search_k(k, 3, 1024)), [3, 12, 18, 30, 34, 103, 1024]);
    assert_eq!([search_k(2000, 3, 4096), search_k(100, 1536, 1024)], [2025, 127]);
}

/// Computes distances on the CPU, until it fails.
struct FakeDevice<'a> {
    ranking: Ranking<'a>,
    calls_left: usize,
}

impl ExactDistances for FakeDevice<'_> {
    fn squared(&mut self, queries: &[u32], candidates: &[u32]) -> Result<Vec<f64>, EngineError> {
        self.calls_left = self
            .calls_left
            .checked_sub(1)
            .ok_or_else(|| EngineError::Device { device: "a GPU".to_owned(), why: "lost".to_owned() })?;
        let k = candidates.len() / queries.len();
        let squared = |(at, &row): (usize, &u32)| {
            let query = self.ranking.query(queries[at / k] as usize);
            // In f64 the root of a rounded square is the number itself.
            self.ranking.rank(&query, row, &mut Vec::new()).distance.powi(2)
        };
        Ok(candidates.iter().enumerate().map(squared).collect())
    }
}

#[test]
fn a_device_gives_the_same_answers_even_if_it_fails() {
    let values: Vec<f64> = (0..3000 * 300).map(|at| f64::from(at % 601 * 7919 % 607)).collect();
    let names: Vec<String> = (0..300).map(|axis| format!("c{axis}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let cloud = named(&names, values);
    let problem = problem(&cloud, Metric::L2, 3);
    let found = Neighbors {
        k: 3,
        indices: (0..3000 * 3).map(|at| at * 31 % 3000).collect(),
        squared_distances: vec![f32::INFINITY; 3000 * 3],
    };
    let refiner = Refiner::new(&problem, &cloud, None);
    let refine = |calls_left: Option<usize>| {
        let ranking = || Ranking::new(Metric::L2, &cloud, &cloud, 0);
        let device = calls_left.map(|calls_left| -> Box<dyn ExactDistances + '_> {
            Box::new(FakeDevice { ranking: ranking(), calls_left })
        });
        refiner.refine(&found, 3, device, &mut |_| true).unwrap()
    };
    let on_cpu = refine(None);
    for calls_left in [0, 1, 100] {
        let refined = refine(Some(calls_left));
        assert_eq!(refined.on_device, calls_left * queries_per_block(3) >= 3000, "{calls_left}");
        assert_eq!(RefinedNeighbors { on_device: false, ..refined }, on_cpu);
    }
}

#[test]
fn decimal_distances_are_exact() {
    let distances = |cloud: &Arc<PointCloud>, k: usize, query: usize| {
        let problem = problem(cloud, Metric::L2, k);
        let found = searched(&problem);
        let refined = Refiner::new(&problem, cloud, None).refine(&found, k, None, &mut |_| true).unwrap();
        refined.distances[query * k..][..k].to_vec()
    };
    let tenths = decimals(1, vec![0.0, 0.1, 0.2, 0.3, 0.4]);
    assert_eq!(distances(&tenths, 5, 3), [0.0, 0.1, 0.1, 0.2, 0.3]);
    // f64 rounds these coordinates by up to half a nanometre.
    let far = decimals(2, vec![5_428_000.123, 456_000.5, 5_428_000.126, 456_000.504]);
    assert_eq!(distances(&far, 2, 0), [0.0, 0.005]);
}
