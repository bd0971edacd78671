//! Search on the globe against haversine distances in f64 of the original coordinates.

mod common;

use std::sync::Arc;

use common::answer;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use warpscope::cloud::globe::EARTH_RADIUS_KM;
use warpscope::cloud::{Column, Order, PointCloud, Source, Table};
use warpscope::engines::registry;
use warpscope::knn::{
    DeviceId, DeviceKind, EngineId, Metric, NONE, Neighbors, Problem, ProblemParameters, Queries,
};

/// Largest error of a chord, in Earth radii: two unit vectors, each rounded to f32 by up to 2⁻²⁴, and the f32
/// arithmetic between them.
fn max_chord_error(chord: f64) -> f64 {
    2f64.powi(-23) + 3e-7 * chord
}

fn cloud(names: [&str; 2], values: Vec<f64>) -> Arc<PointCloud> {
    let columns = names.map(|name| Column { name: name.to_owned() }).to_vec();
    let source = Source::Generate { spec: "a test".to_owned(), seed: 0 };
    Arc::new(
        PointCloud::from_table(Table { columns, values }, source, None, false)
            .expect("finite values make a cloud"),
    )
}

fn problem(data: &Arc<PointCloud>, queries: &Queries, k: usize) -> Problem {
    let setup = ProblemParameters {
        k,
        metric: Metric::Haversine,
        order: Order::File,
        seed: 0,
        exclude_self: false,
        drop_zero_rows: false,
    };
    Problem::new(data, queries, setup).unwrap_or_else(|error| panic!("{error}"))
}

/// Places everywhere: evenly spread, around the poles and the antimeridian, some duplicated, some shifted by
/// a full turn.
fn positions(n: usize, seed: u64) -> Vec<[f64; 2]> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut unit = move || f64::from(rng.next_u32()) / f64::from(u32::MAX);
    let mut places: Vec<[f64; 2]> = Vec::with_capacity(n);
    for at in 0..n {
        let longitude = 360.0 * unit() - 180.0;
        let sign = if unit() < 0.5 { 1.0 } else { -1.0 };
        places.push(match at % 8 {
            0 => [longitude, sign * 90.0],
            1 => [longitude, sign * (90.0 - 0.01 * unit())],
            2 => [sign * (180.0 - 0.01 * unit()), 20.0 * unit() - 10.0],
            3 => [sign * 180.0, 170.0 * unit() - 85.0],
            4 => places[at / 2],
            5 => [places[at / 3][0] / 2.0 + sign * 180.0, places[at / 3][1]],
            _ => [longitude, (2.0 * unit() - 1.0).asin().to_degrees()],
        });
    }
    places
}

/// The chord between two places by the haversine formula.
fn chord(a: [f64; 2], b: [f64; 2]) -> f64 {
    let [[a_longitude, a_latitude], [b_longitude, b_latitude]] =
        [a, b].map(|place| place.map(f64::to_radians));
    let half = |angle: f64| (angle / 2.0).sin().powi(2);
    2.0 * (half(a_latitude - b_latitude)
        + a_latitude.cos() * b_latitude.cos() * half(a_longitude - b_longitude))
    .sqrt()
}

/// Answers of every CPU engine, which must be bit-identical.
fn answers(problem: &Problem) -> Neighbors {
    let mut first: Option<(EngineId, Neighbors)> = None;
    for engine in registry::ENGINES
        .iter()
        .filter(|engine| engine.runs_on.contains(&DeviceKind::Cpu) && engine.limits.k >= problem.k())
    {
        let mut opened = engine.open_on(DeviceId::Cpu).unwrap_or_else(|error| panic!("{error}"));
        let found = answer(opened.as_mut(), problem).neighbors;
        match &first {
            None => first = Some((engine.id, found)),
            Some((of, expected)) => {
                let bits = |found: &Neighbors| {
                    found.squared_distances.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>()
                };
                assert_eq!(
                    (&found.indices, bits(&found)),
                    (&expected.indices, bits(expected)),
                    "{} and {of}",
                    engine.id
                );
            }
        }
    }
    first.expect("the CPU has engines").1
}

#[test]
fn neighbours_agree_with_the_haversine_formula() {
    let n = 1600;
    let places = positions(n, 7);
    let data = cloud(["lon", "lat"], places.concat());
    let asked: Vec<u32> = (0..64).chain([n as u32 - 1]).collect();
    // All places, including the antipodes.
    for (asked, k) in [(&asked[..], 40), (&asked[..9], 1000)] {
        let problem = problem(&data, &Queries::Rows(asked.to_vec()), k);
        assert_eq!((problem.dims(), data.dims()), (3, 2));
        let found = problem.report(answers(&problem));
        for (query, &row) in asked.iter().enumerate() {
            let from = places[row as usize];
            let mut expected: Vec<f64> = places.iter().map(|&place| chord(from, place)).collect();
            let (rows, squared) = found.for_query(query);
            for (rank, (&row, &squared)) in rows.iter().zip(squared).enumerate() {
                assert_ne!(row, NONE);
                let (own, reported) = (expected[row as usize], f64::from(squared).sqrt());
                assert!(
                    (own - reported).abs() <= max_chord_error(own),
                    "query {query}, rank {rank}: {reported} reported, {own} expected"
                );
            }
            expected.sort_by(f64::total_cmp);
            for (rank, (&squared, &expected)) in squared.iter().zip(&expected).enumerate() {
                let reported = f64::from(squared).sqrt();
                assert!(
                    (reported - expected).abs() <= max_chord_error(expected),
                    "query {query}, rank {rank}: {reported}, and {expected} is nearest"
                );
            }
        }
    }
}

#[test]
fn distances_are_kilometres_on_the_mean_sphere() {
    let data = cloud(["lat", "lon"], vec![0.0, 0.0, 0.0, 1.0, 90.0, 55.0, 0.0, -180.0, 51.5, -0.1275]);
    let found = answers(&problem(&data, &Queries::Rows(vec![0]), 5));
    let km: Vec<f64> =
        found.squared_distances.iter().map(|&squared| Metric::Haversine.distance(squared)).collect();
    let quarter = EARTH_RADIUS_KM * std::f64::consts::FRAC_PI_2;
    assert_eq!(found.indices, [0, 1, 4, 2, 3]);
    for (found, expected) in km.iter().zip([0.0, quarter / 90.0, 5726.559, quarter, 2.0 * quarter]) {
        assert!((found - expected).abs() < 0.01, "{found} km, not {expected}");
    }
}

#[test]
fn query_columns_must_match_data_columns() {
    let data = cloud(["lat", "lon"], vec![10.0, 179.5, 10.0, -179.0, 10.0, 170.0]);
    let place = Arc::new(warpscope::cloud::query_point::cloud(&[10.0, -179.9], &data).expect("a place"));
    assert_eq!(
        answers(&problem(&data, &Queries::Cloud(place), 3)).indices,
        [0, 1, 2],
        "across the antimeridian"
    );
    let unnamed = cloud(["a", "b"], vec![10.0, -179.4]);
    assert_eq!(answers(&problem(&data, &Queries::Cloud(unnamed), 1)).indices, [1]);
    let setup = ProblemParameters {
        k: 1,
        metric: Metric::Haversine,
        order: Order::File,
        seed: 0,
        exclude_self: false,
        drop_zero_rows: true,
    };
    let why = |queries: &Queries| Problem::new(&data, queries, setup).expect_err("no place").to_string();
    assert!(
        why(&Queries::Cloud(cloud(["lon", "lat"], vec![0.0, 0.0])))
            .starts_with("query columns (lon, lat) are in a different order")
    );
    assert!(
        why(&Queries::Cloud(cloud(["a", "b"], vec![0.0, 0.0, 91.0, 0.0])))
            .starts_with("row 1, column `a`: invalid latitude 91")
    );
    let turned = cloud(["lon", "lat"], vec![10.0, 179.5]);
    let why = Problem::new(&turned, &Queries::Rows(vec![0]), setup).expect_err("no place").to_string();
    assert!(why.starts_with("row 0, column `lat`: invalid latitude 179.5"), "{why}");
}

fn any_place() -> impl Strategy<Value = [f64; 2]> {
    // Multiples of 2⁻²⁰, for which adding a turn is exact.
    let longitude = (-180i64 << 20..=180 << 20).prop_map(|steps| steps as f64 / f64::from(1 << 20));
    (
        prop_oneof![8 => longitude, 1 => Just(180.0), 1 => Just(-180.0)],
        prop_oneof![8 => -90.0f64..=90.0, 1 => Just(90.0), 1 => Just(-90.0)],
    )
        .prop_map(|(longitude, latitude)| [longitude, latitude])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn distances_are_symmetric_and_periodic(a in any_place(), b in any_place()) {
        let mut engine = registry::find(EngineId::new("lockstep"))
            .expect("it is listed")
            .open_on(DeviceId::Cpu)
            .expect("it runs on every machine");
        let mut distances = |values: [[f64; 2]; 2]| {
            let data = cloud(["lon", "lat"], values.concat());
            let setup = ProblemParameters {
                k: 1,
                metric: Metric::Haversine,
                order: Order::File,
                seed: 0,
                exclude_self: true,
                drop_zero_rows: false,
            };
            let problem = Problem::new(&data, &Queries::Rows(vec![0, 1]), setup).expect("two places");
            let points = problem.points().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            let found = problem.report(answer(engine.as_mut(), &problem).neighbors);
            (found.squared_distances.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>(), points)
        };
        let (there, points) = distances([a, b]);
        prop_assert_eq!(there[0], there[1]);
        for turn in [360.0, -360.0] {
            if (a[0] + turn).abs() <= 360.0 {
                prop_assert_eq!(&distances([[a[0] + turn, a[1]], b]), &(there.clone(), points.clone()));
            }
        }
    }
}
