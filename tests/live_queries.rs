//! A live query gives the same answer as a run of it, with every engine, over points that were prepared once.

use std::sync::Arc;

use proptest::prelude::*;
use warpscope::cloud::{self, Order, PointCloud, Source};
use warpscope::engines;
use warpscope::knn::{
    Engine, EngineId, KernelBuild, Metric, Neighbors, Parameters, Points, Problem, ProblemParameters,
    Queries, SetupPhase,
};
use warpscope::progress::NoProgress;
use warpscope::run::{EngineChoice, EnginePool, LoadedSpec, QuerySpec, RunRecord, RunSpec};

/// CPU engines, and the GPU engines if there is a GPU.
const EVERYWHERE: [EngineId; 2] = [EngineId::new("lockstep"), EngineId::new("kdtree")];
const ON_A_GPU: [EngineId; 2] = [EngineId::new("cuda"), EngineId::new("cuda-split")];

fn generated(spec: &str, seed: u64) -> Arc<PointCloud> {
    let source = Source::Generate { spec: spec.to_owned(), seed };
    Arc::new(cloud::load(&source, false, &NoProgress).expect("a valid spec"))
}

fn spec(cloud: &PointCloud, queries: QuerySpec, k: usize) -> RunSpec {
    RunSpec { order: Order::Shuffled, seed: 7, ..RunSpec::new(cloud.source().clone(), queries, k) }
}

fn assert_same(asked: &RunRecord, run: &RunRecord) {
    assert_eq!((asked.engine, &asked.query_rows), (run.engine, &run.query_rows));
    assert_eq!(asked.neighbors.indices, run.neighbors.indices, "{}", run.engine);
    let bits = |record: &RunRecord| {
        record.neighbors.squared_distances.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(bits(asked), bits(run), "{}", run.engine);
    assert_eq!(asked.measured, run.measured, "{}", run.engine);
    assert_eq!(asked.convergence.queries(), run.convergence.queries());
    if run.convergence.queries() > 0 {
        assert_eq!(asked.convergence.for_query(0), run.convergence.for_query(0));
    }
    let place = |record: &RunRecord| record.query_cloud.as_ref().map(|cloud| cloud.points().to_vec());
    assert_eq!(place(asked), place(run));
}

/// A random cloud, its setup, and a few queries: rows, and positions inside and far outside.
fn check(generator: &str, seed: u64, k: usize, flags: (Metric, bool, bool), kinds: &[EngineId]) {
    let cloud = generated(generator, seed);
    let (metric, shuffled, exclude_self) = flags;
    let middle: Vec<f64> = cloud.axes().iter().map(|axis| axis.min / 2.0 + axis.max / 2.0).collect();
    let outside: Vec<f64> =
        cloud.axes().iter().map(|axis| axis.max + 3.0 * (axis.max - axis.min) + 0.1).collect();
    let last = cloud.len() as u64 - 1;
    // Each engine has its own cloud, so that its run starts without prepared points.
    let (mut asking, mut running) = (EnginePool::default(), EnginePool::default());
    for queries in [
        QuerySpec::Rows(vec![seed % (last + 1)]),
        QuerySpec::At(middle),
        QuerySpec::Rows(vec![last]),
        QuerySpec::At(outside),
    ] {
        for &kind in kinds {
            let spec = RunSpec {
                metric,
                order: if shuffled { Order::Shuffled } else { Order::File },
                exclude_self,
                engine: EngineChoice::named(kind),
                device: None,
                seed,
                ..spec(&cloud, queries.clone(), k)
            };
            running.resident().release();
            match (
                asking.answer_live(&spec, &cloud),
                running.execute(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true),
            ) {
                (Ok(asked), Ok(run)) => {
                    assert!(!run.resident);
                    assert_same(&asked, &run);
                }
                (Err(asked), Err(run)) => assert_eq!(asked.to_string(), run.to_string()),
                (asked, run) => {
                    panic!("{generator}, {kind}: {:?} and {:?}", asked.map(|_| ()), run.map(|_| ()))
                }
            }
        }
    }
}

fn any_generator() -> impl Strategy<Value = String> {
    let shape = prop::sample::select(vec![
        "uniform",
        "gaussian-mixture",
        "duplicates",
        "grid",
        "descending",
        "sphere",
    ]);
    let dims = prop_oneof![3 => 2usize..4, 1 => 4usize..20];
    (shape, 1usize..2000, dims).prop_map(|(shape, n, dims)| match shape {
        "sphere" => format!("sphere:n={n}"),
        "grid" => {
            // A grid has 1 point, or at least 2 per axis.
            let dims = dims.min(3);
            format!("grid:n={},d={dims}", if n < 1 << dims { 1 } else { n })
        }
        shape => format!("{shape}:n={n},d={dims}"),
    })
}

fn any_flags() -> impl Strategy<Value = (Metric, bool, bool)> {
    (prop::sample::select(&Metric::ALL[..]), any::<bool>(), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn live_queries_equal_runs(
        generator in any_generator(),
        seed in 0u64..1000,
        k in 1usize..200,
        flags in any_flags(),
    ) {
        check(&generator, seed, k, flags, &EVERYWHERE);
    }
}

/// An engine's answer, and whether it found prepared points.
fn answer(engine: &mut dyn Engine, problem: &Problem) -> (Neighbors, bool, bool) {
    let mut search = engine.load(problem, &Parameters::NONE, false).unwrap_or_else(|error| panic!("{error}"));
    search.search(0..problem.q(), KernelBuild::Timed).unwrap_or_else(|error| panic!("{error}"));
    let mut found = Neighbors::default();
    search.download(&mut found).unwrap_or_else(|error| panic!("{error}"));
    // Queries are uploaded each time, points only once.
    let indexed = search.setup_ms().iter().any(|(phase, _)| *phase == SetupPhase::BuildIndex);
    (found, search.resident(), indexed)
}

/// Engines prepare points once for all problems over them, until they are released.
fn check_residency(kinds: &[EngineId], dims: usize, n: usize) {
    let cloud = generated(&format!("uniform:n={n},d={dims}"), 3);
    for &kind in kinds {
        let setup = ProblemParameters {
            k: 5,
            metric: Metric::L2,
            order: Order::Shuffled,
            seed: 1,
            exclude_self: false,
            drop_zero_rows: false,
        };
        let points = Arc::new(Points::new(&cloud, setup.arrangement()).expect("a cloud"));
        let mut engine = engines::registry::open(kind, None).unwrap_or_else(|error| panic!("{error}"));
        let mut ask = |points: &Arc<Points>, row: u32, k: usize| {
            let queries = Queries::Rows(vec![row]);
            let setup = ProblemParameters { k, ..setup };
            let (found, resident, indexed) =
                answer(engine.as_mut(), &Problem::with_points(points, &queries, setup).expect("a problem"));
            let fresh = Problem::new(&cloud, &queries, setup).expect("a problem");
            let expected = answer(
                engines::registry::open(EngineId::new("lockstep"), None)
                    .expect("it runs on every machine")
                    .as_mut(),
                &fresh,
            )
            .0;
            assert_eq!(found, expected, "{kind}, d = {dims}, k = {k}");
            assert!(!(resident && indexed && dims < 4), "{kind}: a prepared index was built again");
            resident
        };
        assert!(!ask(&points, 0, 5), "{kind}");
        assert!(ask(&points, 1, 5), "{kind}");
        assert!(ask(&points, 2, 5) && ask(&points, 2, 7), "{kind}");
        points.cache().clear();
        assert!(!ask(&points, 2, 5), "{kind}: released points were not prepared again");
        let others = Arc::new(Points::new(&cloud, setup.arrangement()).expect("a cloud"));
        assert!(
            !ask(&others, 2, 5) && ask(&points, 3, 5),
            "{kind}: prepared points were shared between clouds"
        );
        drop(others);
    }
}

#[test]
fn points_are_prepared_once() {
    check_residency(&EVERYWHERE, 2, 3000);
    check_residency(&EVERYWHERE, 9, 500);
}

#[test]
fn two_engines_share_prepared_points() {
    let cloud = generated("uniform:n=2000,d=3", 5);
    let mut one = EnginePool::default();
    let mut other = EnginePool::default().sharing(one.resident().clone());
    let spec = RunSpec {
        engine: EngineChoice::named(EngineId::new("lockstep")),
        ..spec(&cloud, QuerySpec::Rows(vec![3]), 9)
    };
    assert!(!one.answer_live(&spec, &cloud).expect("an answer").resident);
    assert!(other.answer_live(&spec, &cloud).expect("an answer").resident);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn live_queries_equal_runs_on_a_gpu() {
    for (generator, k) in [
        ("uniform:n=100003,d=2", 32),
        ("uniform:n=100003,d=2", 1000),
        ("uniform:n=50001,d=3", 100),
        ("gaussian-mixture:n=30000,d=17", 33),
        ("uniform:n=300,d=9", 5),
        ("duplicates:n=20003,d=2", 64),
    ] {
        for flags in
            [(Metric::L2, true, false), (Metric::Angular, false, true), (Metric::Haversine, true, false)]
        {
            check(generator, 11, k, flags, &ON_A_GPU);
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn points_are_prepared_once_on_a_gpu() {
    // The sizes use different layouts: row-major points, windows, and rows of the filter.
    for (dims, n) in [(2, 50_000), (3, 50_000), (9, 1500), (24, 30_000)] {
        check_residency(&ON_A_GPU, dims, n);
    }
}

/// The engines of one device share prepared points, for every k they are compiled for.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn engines_of_one_gpu_share_points() {
    let cloud = generated("uniform:n=70001,d=2", 5);
    let mut engines = EnginePool::default();
    let mut resident = |kind, k| {
        let spec =
            RunSpec { engine: EngineChoice::named(kind), ..spec(&cloud, QuerySpec::At(vec![0.4, 0.6]), k) };
        engines.answer_live(&spec, &cloud).expect("an answer").resident
    };
    assert!(!resident(EngineId::new("cuda-split"), 32));
    for k in [1, 33, 100, 200, 500, 1024] {
        assert!(resident(EngineId::new("cuda"), k), "k = {k}");
        assert!(resident(EngineId::new("cuda-split"), k), "k = {k}");
    }
}

/// Two threads query the same points at the same time, each on its own stream.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn concurrent_queries_share_points_on_a_gpu() {
    let cloud = generated("uniform:n=200003,d=2", 5);
    let first = EnginePool::default();
    let resident = first.resident().clone();
    drop(first);
    let expected: Vec<RunRecord> = {
        let mut twin = EnginePool::default();
        let at = |row| RunSpec {
            engine: EngineChoice::named(EngineId::new("lockstep")),
            ..spec(&cloud, QuerySpec::Rows(vec![row]), 40)
        };
        (0..20).map(|row| twin.answer_live(&at(row), &cloud).expect("an answer")).collect()
    };
    std::thread::scope(|scope| {
        for kind in [EngineId::new("cuda"), EngineId::new("cuda"), EngineId::new("cuda-split")] {
            let (resident, cloud, expected) = (resident.clone(), &cloud, &expected);
            scope.spawn(move || {
                let mut engines = EnginePool::default().sharing(resident.clone());
                for round in 0..200 {
                    let row = round % 20;
                    let spec = RunSpec {
                        engine: EngineChoice::named(kind),
                        ..spec(cloud, QuerySpec::Rows(vec![row]), 40)
                    };
                    let found = engines.answer_live(&spec, cloud).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(found.neighbors, expected[row as usize].neighbors, "{kind}, round {round}");
                    if round % 37 == 0 {
                        resident.release_prepared();
                    }
                }
            });
        }
    });
}
