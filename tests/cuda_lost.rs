//! A failed kernel makes every GPU unusable for the process, so this test is alone in its binary.

use std::sync::Arc;

use warpscope::cloud::{self, Source};
use warpscope::engines::cuda::Cuda;
use warpscope::engines::registry;
use warpscope::knn::{EngineError, EngineId};
use warpscope::progress::NoProgress;
use warpscope::run::{EngineChoice, EnginePool, LoadedSpec, QuerySpec, RunError, RunSpec};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_gpu_fault_closes_only_gpu_engines() {
    let source = Source::Generate { spec: "uniform:n=20000,d=2".to_owned(), seed: 1 };
    let cloud = Arc::new(cloud::load(&source, false, &NoProgress).unwrap());
    let spec = |engine| RunSpec { engine, ..RunSpec::new(source.clone(), QuerySpec::Count(100), 10) };
    let named = |name| EngineChoice::named(EngineId::new(name));
    // Engines of runs and of live queries share points, but have separate contexts.
    let mut runs = EnginePool::default();
    let mut asks = EnginePool::default().sharing(runs.resident().clone());
    let one = |engine| RunSpec { queries: QuerySpec::Rows(vec![5]), ..spec(engine) };
    let before = runs.execute(LoadedSpec::new(&spec(named("cuda")), &cloud, None), &mut |_, _| true).unwrap();
    runs.execute(LoadedSpec::new(&spec(named("cuda-split")), &cloud, None), &mut |_, _| true).unwrap();
    asks.answer_live(&one(named("cuda")), &cloud).unwrap();

    let fault = Cuda::open().unwrap().trap();
    println!("{fault}");
    assert!(matches!(fault, EngineError::DeviceLost { .. }), "{fault}");

    for name in ["cuda", "cuda-split"] {
        let error =
            runs.execute(LoadedSpec::new(&spec(named(name)), &cloud, None), &mut |_, _| true).unwrap_err();
        println!("{error}");
        assert!(matches!(&error, RunError::Engine(EngineError::Unavailable { .. })), "{error}");
        assert!(
            error.to_string().ends_with("the GPU cannot be used again until Warpscope is restarted"),
            "{error}"
        );
    }
    let error = asks.answer_live(&one(named("cuda")), &cloud).unwrap_err();
    assert!(matches!(error, RunError::Engine(EngineError::Unavailable { .. })), "{error}");

    let after =
        runs.execute(LoadedSpec::new(&spec(EngineChoice::Auto), &cloud, None), &mut |_, _| true).unwrap();
    println!("{}: {:?}", after.engine, after.head.fallback);
    assert!(
        after.head.fallback.is_some()
            && registry::default_device(after.descriptor().unwrap()) == warpscope::knn::DeviceId::Cpu
    );
    assert_eq!(after.neighbors.indices, before.neighbors.indices);
    assert_eq!(asks.answer_live(&one(EngineChoice::Auto), &cloud).unwrap().neighbors.queries(), 1);
}
