//! Several GPUs as one device: the neighbours and counters of one GPU, for every engine. On a machine with one
//! GPU, its work is shared among two engines on it. Points that are copied in tiles: the same neighbours.
//!
//! These tests need a GPU: `scripts/gpu-check` runs them.

mod common;

use common::{Case, answer, build_problem};
use warpscope::engines::registry;
use warpscope::engines::several::open_parts;
use warpscope::knn::{
    Descriptor, DeviceId, DeviceKind, Engine, EngineError, GpuSet, KernelBuild, Neighbors, Parameters,
    Problem,
};

fn two_parts(descriptor: &'static Descriptor) -> Result<Box<dyn Engine>, EngineError> {
    let gpus: Vec<DeviceId> =
        registry::devices(descriptor).into_iter().filter(|id| matches!(id, DeviceId::Gpu(_))).collect();
    let set = DeviceId::Gpus(GpuSet::first(2).expect("two"));
    open_parts(descriptor, set, vec![gpus[0], gpus[gpus.len() - 1]])
}

/// The neighbours after three searches.
fn repeated(engine: &mut dyn Engine, problem: &Problem) -> Neighbors {
    let mut search = engine.load(problem, &Parameters::NONE, false).expect("it fits");
    let mut found = Neighbors::default();
    for _ in 0..3 {
        search.search(0..problem.q(), KernelBuild::Timed).expect("a search");
    }
    search.download(&mut found).expect("a copy");
    found
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_engine_finds_the_same_on_two_parts_and_in_tiles() {
    let mut compared = 0;
    for descriptor in registry::ENGINES.iter().filter(|engine| engine.runs_on.contains(&DeviceKind::Gpu)) {
        for (n, dims, k) in [(20_000, 2, 32), (3_000, 17, 10), (9_001, 3, 100)] {
            let rows = (0..700).map(|row| row * 4).collect();
            let problem = build_problem(&Case { query_rows: Some(rows), n, dims, k, ..Case::default() })
                .expect("a problem");
            if descriptor.check(&problem, &Parameters::NONE).is_err() {
                continue;
            }
            let context = format!("{} with n = {n}, d = {dims}", descriptor.id);
            let expected = answer(descriptor.open_on(DeviceId::Gpu(0)).expect(&context).as_mut(), &problem);
            let found = answer(two_parts(descriptor).expect(&context).as_mut(), &problem);
            assert_eq!(found.neighbors, expected.neighbors, "{context}");
            assert_eq!(found.measured, expected.measured, "{context}");
            assert_eq!(found.convergence, expected.convergence, "{context}");
            let mut streamed =
                registry::open_streamed(descriptor.id, Some(DeviceId::Gpu(0))).expect(&context);
            assert_eq!(repeated(streamed.as_mut(), &problem), expected.neighbors, "streamed {context}");
            compared += 1;
        }
    }
    assert!(compared >= 20, "only {compared} searches were compared");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn points_are_split_for_few_queries_of_many_points() {
    let descriptor = registry::find("cuda-split".parse().expect("an id")).expect("an engine");
    // 72 MB of points, which repeat so that most distances tie.
    let problem = build_problem(&Case {
        query_rows: Some(vec![5, 8_999_999, 77]),
        n: 9_000_000,
        k: 50,
        ..Case::default()
    });
    let problem = problem.expect("a problem");
    let expected = repeated(descriptor.open_on(DeviceId::Gpu(0)).expect("a GPU").as_mut(), &problem);
    let mut several = two_parts(descriptor).expect("a GPU");
    assert_eq!(repeated(several.as_mut(), &problem), expected);
    let details = several.device().details;
    assert!(details.iter().any(|(_, how)| how == "a share of the points"), "{details:?}");
}
