use std::collections::HashSet;
use std::f64::consts::PI;

use super::*;
use crate::progress::NoProgress;
use crate::{PointCloud, Source};

fn cloud(spec: &str, seed: u64) -> PointCloud {
    let table = generate(spec, seed, &NoProgress).unwrap();
    PointCloud::from_table(table, Source::Generate { spec: spec.to_owned(), seed }, None, false).unwrap()
}

fn why(spec: &str) -> String {
    generate(spec, 0, &NoProgress).unwrap_err().to_string()
}

fn distinct(cloud: &PointCloud) -> usize {
    cloud
        .points()
        .chunks(cloud.dims())
        .map(|row| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        .collect::<HashSet<_>>()
        .len()
}

/// If one of these fingerprints changes, raise [`VERSION`].
#[test]
fn generated_clouds_match_pinned_fingerprints() {
    let pinned = [
        ("uniform:n=1000,d=3", "8772cf7b234f5fc1db24141f292886aa"),
        ("gaussian-mixture:n=1000,d=3", "a89f604d35f77536bb5c25008db328d3"),
        ("rounded-normal:n=1000,d=3", "d1df953f36bc0f1f15784609d0a78ce6"),
        ("sphere:n=1000,d=4", "4a98003aa6b81781821a6f224a45a5b1"),
        ("swiss-roll:n=1000,noise=0.1", "2bc7f18792d03175749cc02c41affb28"),
        ("spiral:n=1000", "311dd309b6451140fa23bf72bf7e6523"),
        ("grid:n=1000,d=3", "a4cacfb4dba6f0eb489b039f7acc9871"),
        ("duplicates:n=1000,distinct=10", "a2cb36162b058c02340604295e3547b0"),
        ("descending:n=1000", "30e7d3273ea59e58b0f094ce1246fa19"),
    ];
    let now: Vec<_> =
        pinned.iter().map(|(spec, _)| (*spec, cloud(spec, 7).fingerprint().0.clone())).collect();
    let then: Vec<_> = pinned.iter().map(|&(spec, fingerprint)| (spec, fingerprint.to_owned())).collect();
    assert_eq!(now, then);
}

#[test]
fn seeds_change_the_cloud_and_every_generator_has_defaults() {
    for generator in catalogue() {
        let spec = format!("{}:n=500", generator.name);
        let (a, b) = (cloud(&spec, 0), cloud(&spec, 1));
        assert_eq!(a.fingerprint(), cloud(&spec, 0).fingerprint());
        assert_eq!(a.fingerprint() == b.fingerprint(), generator.name == "grid", "{spec}");
        assert!(a.axes().iter().all(|axis| axis.origin == 0.0), "{spec}: values should be f32 already");
    }
}

#[test]
fn specs_are_parsed() {
    let spec: Spec = "gaussian-mixture: n=1e3, d=5,spread=0.5".parse().unwrap();
    assert_eq!(
        (spec.value("n"), spec.value("d"), spec.value("clusters"), spec.value("spread")),
        (Some(1e3), Some(5.0), Some(20.0), Some(0.5))
    );
    assert_eq!(spec.to_string(), "gaussian-mixture:n=1000,d=5,clusters=20,spread=0.5");
    assert_eq!(cloud("uniform:n=1_0e1,d=7", 0).len(), 100);
    assert_eq!(cloud("uniform:n=3,d=7", 0).dims(), 7);
}

#[test]
fn invalid_spec_errors_list_alternatives() {
    for (spec, part) in [
        ("blob", "uniform, gaussian-mixture, rounded-normal, sphere"),
        ("rounded-normal:spread=40000", "must be between"),
        ("uniform:m=3", "available: n, d"),
        ("uniform:n", "key=value"),
        ("uniform:n=ten", "whole number"),
        ("uniform:n=1.5", "whole number"),
        ("uniform:n=0", "must be between"),
        ("uniform:n=-5", "must be between"),
        ("uniform:n=nan", "whole number"),
        ("uniform:n=1e300", "must be between"),
        ("uniform:n=2,n=3", "twice"),
        ("uniform:n=1e9,d=1e5", "more than"),
        ("sphere:d=1", "must be between"),
        ("grid:n=1000,d=17", "2^17"),
        ("grid:n=1e9,d=1", "2^24"),
        ("descending:n=1e9", "strictly descending"),
        ("gaussian-mixture:n=10,d=1e6,clusters=1e6", "too many"),
    ] {
        assert!(why(spec).contains(part), "{spec}: {}", why(spec));
    }
}

#[test]
fn uniform_fills_the_unit_cube() {
    let cloud = cloud("uniform:n=20000,d=2", 3);
    for axis in cloud.axes() {
        assert!(axis.min >= 0.0 && axis.min < 0.001 && axis.max < 1.0 && axis.max > 0.999);
    }
    let mean = cloud.points().iter().map(|&x| f64::from(x)).sum::<f64>() / 40000.0;
    assert!((mean - 0.5).abs() < 0.01);
}

#[test]
fn spheres_have_radius_one() {
    for d in [2, 3, 17] {
        for point in cloud(&format!("sphere:n=1000,d={d}"), 1).points().chunks(d) {
            let radius = point.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
            assert!((radius - 1.0).abs() < 1e-6, "{radius}");
        }
    }
}

#[test]
fn clusters_have_the_requested_spread() {
    let cloud = cloud("gaussian-mixture:n=20000,d=1,clusters=1,spread=0.25", 5);
    let mean = cloud.points().iter().map(|&x| f64::from(x)).sum::<f64>() / 20000.0;
    let variance = cloud.points().iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / 20000.0;
    assert!((variance.sqrt() - 0.25).abs() < 0.005, "{variance}");
}

#[test]
fn rounded_normals_are_16_bit_integers_with_the_requested_spread() {
    let narrow = cloud("rounded-normal:n=20000,d=2", 5);
    assert!(
        narrow
            .points()
            .iter()
            .all(|x| x.fract() == 0.0 && x.abs() < 32_767.0 && (*x != 0.0 || x.is_sign_positive()))
    );
    let variance = narrow.points().iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / 40000.0;
    assert!((variance.sqrt() / 4096.0 - 1.0).abs() < 0.01, "{variance}");
    let wide = cloud("rounded-normal:n=20000,d=1,spread=32767", 5);
    assert!(
        wide.axes().iter().all(|axis| (axis.min, axis.max) == (-32_768.0, 32_767.0)),
        "{:?}",
        wide.axes()
    );
}

#[test]
fn swiss_rolls_and_spirals_satisfy_their_equations() {
    for point in cloud("swiss-roll:n=1000", 2).points().chunks(3) {
        let radius = f64::from(point[0]).hypot(f64::from(point[2]));
        assert!((1.49 * PI..=4.51 * PI).contains(&radius) && (0.0..21.0).contains(&point[1]));
        assert!((f64::from(point[0]) - radius * radius.cos()).abs() < 1e-4);
    }
    for point in cloud("spiral:n=1000,turns=2,noise=0", 2).points().chunks(2) {
        let radius = f64::from(point[0]).hypot(f64::from(point[1]));
        assert!((f64::from(point[0]) - radius * (4.0 * PI * radius).cos()).abs() < 1e-4);
    }
}

#[test]
fn grids_have_the_nearest_full_lattice_size() {
    for (spec, rows, last) in [
        ("grid:n=1000,d=2", 1024, 31.0),
        ("grid:n=990,d=2", 961, 30.0),
        ("grid:n=1000,d=3", 1000, 9.0),
        ("grid:n=5,d=1", 5, 4.0),
    ] {
        let cloud = cloud(spec, 0);
        assert_eq!((cloud.len(), distinct(&cloud)), (rows, rows), "{spec}");
        assert!(cloud.axes().iter().all(|axis| axis.min == 0.0 && axis.max == last), "{spec}");
    }
    assert_eq!(cloud("grid:n=1,d=3", 0).len(), 1);
}

#[test]
fn duplicates_have_the_requested_distinct_count() {
    for (spec, want) in [
        ("duplicates:n=10000,distinct=37", 37),
        ("duplicates:n=5,distinct=9", 5),
        ("duplicates:n=100000,d=1,distinct=50000", 50000),
    ] {
        assert_eq!(distinct(&cloud(spec, 4)), want, "{spec}");
    }
}

#[test]
fn descending_distances_strictly_decrease_in_f32() {
    for (n, d) in [(1, 2), (2, 1), (1000, 1), (200_000, 2), (30_000, 3), (20_000, 40), (3_000, 128)] {
        let cloud = cloud(&format!("descending:n={n},d={d}"), 1);
        let query = cloud.point(n - 1);
        let distance = |row: usize| {
            cloud.point(row).iter().zip(query).fold(0.0f32, |acc, (p, q)| (p - q).mul_add(p - q, acc))
        };
        let plain = |row: usize| {
            cloud.point(row).iter().zip(query).rev().fold(0.0f32, |acc, (p, q)| acc + (p - q) * (p - q))
        };
        for row in 1..n {
            assert!(distance(row) < distance(row - 1), "n={n} d={d} row {row}");
            assert!(plain(row) < plain(row - 1), "n={n} d={d} row {row}, plain sum");
        }
    }
}

#[test]
fn auxiliary_allocations_count_towards_the_memory_limit() {
    for (spec, bytes) in [
        ("gaussian-mixture:n=300,d=512,clusters=1e6", 4 * (300 * 512 + 512_000_000u64)),
        ("duplicates:n=1e6,d=100,distinct=1e6", 400_000_000 + 1_000_000 * 880 + 4_000_000),
        ("uniform:n=1e6,d=100", 400_000_000),
    ] {
        match generate_within(1 << 20, spec, 0, &crate::progress::NoProgress) {
            // The coordinates alone may be rejected before the rest is counted.
            Err(CloudError::Memory { bytes: needed, .. }) => {
                assert!(needed == bytes || needed == 400_000_000, "{spec}: {needed}")
            }
            other => panic!("{spec}: {other:?}"),
        }
    }
}

#[test]
fn generation_can_be_cancelled() {
    let stop = std::sync::atomic::AtomicBool::new(true);
    assert!(matches!(generate("uniform:n=1e6", 0, &stop), Err(CloudError::Cancelled)));
}

proptest::proptest! {
    #[test]
    fn arbitrary_specs_round_trip_or_are_refused(
        text in "(uniform|grid|spiral|[a-z]{0,4})(:([nd]|turns|[a-z]?)\
                 (=-?[0-9_.e]{0,6})?(,|[ =:nd0-9]){0,4}){0,2}",
    ) {
        match text.parse::<Spec>() {
            Ok(spec) => proptest::prop_assert_eq!(
                spec.to_string().parse::<Spec>().unwrap().to_string(),
                spec.to_string()
            ),
            Err(why) => proptest::prop_assert!(!why.is_empty()),
        }
    }
}
