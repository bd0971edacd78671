//! Counters of each kernel of the engine `distance-matrix`, on the CPU and, run by `scripts/gpu-check`, on a
//! GPU.

mod common;

use std::sync::Arc;

use common::{Case, PointDistribution, answer_with, build_problem, cloud};
use warpscope::cloud::Order;
use warpscope::engines::registry;
use warpscope::knn::{
    Answer, DeviceId, Engine, EngineId, KernelBuild, Metric, Neighbors, Parameters, Problem,
    ProblemParameters, Queries,
};

const KERNELS: [&str; 5] = ["registers", "tiles", "naive", "expanded", "expanded-own"];

fn open(device: DeviceId) -> Box<dyn Engine> {
    let engine = registry::find(EngineId::new("distance-matrix")).expect("it is listed");
    engine.open_on(device).unwrap_or_else(|error| panic!("{error}"))
}

fn parameters(kernel: &str) -> Parameters {
    Parameters::from_iter([("kernel", kernel)])
}

fn wrong_neighbours(answer: &Answer) -> u32 {
    answer.measured.column("wrong").expect("counters").iter().sum()
}

/// Points in two unit cubes at this offset on either side of the origin, all of them queries.
fn offset_problem(distance: f64) -> Problem {
    let unit = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1u32 << 24) - 0.5;
    let values = (0..3 * 700).map(|i| if i / 3 % 2 == 0 { distance } else { -distance } + unit(i)).collect();
    let cloud = cloud(values, 3, None);
    let setup = ProblemParameters {
        k: 10,
        metric: Metric::L2,
        order: Order::File,
        seed: 0,
        exclude_self: false,
        drop_zero_rows: false,
    };
    Problem::new(&Arc::clone(&cloud), &Queries::Rows((0..700).collect()), setup).expect("a problem")
}

#[test]
fn errors_of_the_expanded_form_grow_with_the_offset() {
    let mut engine = open(DeviceId::Cpu);
    let mut errors = Vec::new();
    for distance in [0.0, 30.0, 1000.0] {
        let problem = offset_problem(distance);
        let exact = answer_with(engine.as_mut(), &problem, &parameters("registers"));
        let expanded = answer_with(engine.as_mut(), &problem, &parameters("expanded"));
        assert_eq!(exact.neighbors, expanded.neighbors, "answers differ from the exact rule");
        assert_eq!(wrong_neighbours(&exact), 0);
        errors.push(wrong_neighbours(&expanded));
    }
    // The counts are out of 7,000 neighbours.
    assert!(
        errors[0] < 70 && errors[0] < errors[1] && errors[1] < errors[2] && errors[2] > 700,
        "{errors:?}"
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn distance_kernels_match_the_cpu_implementation() {
    let (mut gpu, mut cpu) = (open(DeviceId::Gpu(0)), open(DeviceId::Cpu));
    let mut check = |problem: &Problem, context: &str| {
        for kernel in KERNELS {
            let context = format!("{kernel}: {context}");
            let expected = answer_with(cpu.as_mut(), problem, &parameters(kernel));
            let found = answer_with(gpu.as_mut(), problem, &parameters(kernel));
            assert_eq!(
                (&found.neighbors, &found.measured),
                (&expected.neighbors, &expected.measured),
                "{context}"
            );
            let mut search = gpu
                .load(problem, &parameters(kernel), false)
                .unwrap_or_else(|error| panic!("{context}: {error}"));
            println!(
                "{context}: {}{}",
                search.parameters(),
                search.note().map(|note| format!(" ({note})")).unwrap_or_default()
            );
            let mut timed = Neighbors::default();
            assert!(
                search
                    .search(0..problem.q(), KernelBuild::Timed)
                    .unwrap_or_else(|error| panic!("{context}: {error}"))
                    > 0.0
            );
            search.download(&mut timed).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(timed, expected.neighbors, "{context}, timed");
        }
    };
    for distance in [0.0, 30.0, 1000.0] {
        check(&offset_problem(distance), &format!("{distance} away"));
    }
    // Sizes just below and above those of tiles and slices.
    for (n, q, dims) in [
        (1, 1, 1),
        (127, 3, 2),
        (128, 128, 3),
        (129, 129, 4),
        (1001, 257, 5),
        (4000, 130, 8),
        (3001, 31, 12),
        (2050, 300, 17),
    ] {
        for shape in [
            PointDistribution::Uniform { exponent: 0 },
            PointDistribution::Duplicates { places: 5 },
            PointDistribution::Sphere,
        ] {
            let rows = (0..q as u32).map(|row| row % n as u32).collect();
            let case = Case { shape, n, dims, k: 33, query_rows: Some(rows), ..Case::default() };
            check(&build_problem(&case).expect("a problem"), &format!("{case:?}"));
        }
    }
}
