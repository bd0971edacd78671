//! Prepared points: reused for all problems over them, and separate on each device.

use std::sync::Arc;

use warpscope::cloud::Order;
use warpscope::knn::{
    DeviceId, DeviceKind, Engine, KernelBuild, Metric, Neighbors, Parameters, Points, Problem,
    ProblemParameters, Queries, SetupPhase,
};

use crate::common::cloud;
use crate::subject::{Subject, assert_same_neighbors, on_devices};

fn points(n: usize, dims: usize) -> Arc<Points> {
    let values = (0..n * dims).map(|at| ((at * 7919) % 10_007) as f64).collect();
    Arc::new(Points::new(&cloud(values, dims, None), setup(1).arrangement()).expect("numbers are points"))
}

fn setup(k: usize) -> ProblemParameters {
    ProblemParameters {
        k,
        metric: Metric::L2,
        order: Order::File,
        seed: 0,
        exclude_self: false,
        drop_zero_rows: false,
    }
}

/// Returns a problem's neighbours, whether prepared points were found, and the timed phases of preparing
/// them.
fn answer(engine: &mut dyn Engine, problem: &Problem) -> (Neighbors, bool, Vec<SetupPhase>) {
    let mut search = engine.load(problem, &Parameters::NONE, false).unwrap_or_else(|error| panic!("{error}"));
    search.search(0..problem.q(), KernelBuild::Timed).unwrap_or_else(|error| panic!("{error}"));
    let mut found = Neighbors::default();
    assert!(search.download(&mut found).unwrap_or_else(|error| panic!("{error}")) >= 0.0);
    let phases = search.setup_ms();
    assert!(phases.iter().all(|(_, ms)| *ms >= 0.0 && ms.is_finite()), "{phases:?}");
    let phases: Vec<SetupPhase> = phases.into_iter().map(|(phase, _)| phase).collect();
    assert!(
        (1..phases.len()).all(|at| !phases[..at].contains(&phases[at])),
        "a phase is timed twice: {phases:?}"
    );
    (found, search.resident(), phases)
}

pub fn points_are_prepared_once(subjects: &[Subject]) {
    for subject in subjects {
        let mut engine = subject.open();
        for (n, dims) in [(3000, 2), (3000, 3), (9000, 17)] {
            let points = points(n, dims);
            let problem =
                |row, k| Problem::with_points(&points, &Queries::Rows(vec![row]), setup(k)).unwrap();
            let (_, resident, phases) = answer(engine.as_mut(), &problem(5, 10));
            assert!(
                !resident && !phases.is_empty(),
                "{subject}: the first search must prepare the points and time it"
            );
            let (found, resident, _) = answer(engine.as_mut(), &problem(7, 10));
            assert!(resident, "{subject}: prepared points not found");
            // Another engine of the kind finds the prepared points too, and both give the same answer.
            let (again, resident, _) = answer(subject.open().as_mut(), &problem(7, 10));
            assert!(resident, "{subject}: not cached with the points");
            assert_same_neighbors(&again, &found, &subject.to_string());
            assert!(points.cache().clear(), "{subject}: nothing was released");
            let (again, resident, _) = answer(engine.as_mut(), &problem(7, 10));
            assert!(!resident, "{subject}: found points after release");
            assert_same_neighbors(&again, &found, &subject.to_string());
        }
    }
}

/// Engines on two devices over the same points do not find each other's prepared points.
fn check_devices_are_separate(engine: Subject, devices: [DeviceId; 2]) {
    let points = points(3000, 2);
    let problem = Problem::with_points(&points, &Queries::Rows(vec![0, 17]), setup(10)).unwrap();
    let mut opened = devices.map(|device| Subject { device, ..engine }.open());
    assert_eq!([opened[0].device_id(), opened[1].device_id()], devices);
    let first = answer(opened[0].as_mut(), &problem);
    let second = answer(opened[1].as_mut(), &problem);
    assert!(!first.1 && !second.1, "{}: found points of another device", engine.engine.id);
    assert_same_neighbors(&second.0, &first.0, "two devices");
    assert!(
        opened.iter_mut().all(|opened| answer(opened.as_mut(), &problem).1),
        "{}: own points not found",
        engine.engine.id
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU, and shows more with two"]
fn two_gpus_do_not_share_pointers() {
    let devices = [DeviceId::Gpu(0), DeviceId::Gpu(1)];
    for subject in on_devices(DeviceKind::Gpu) {
        match subject.engine.open_on(devices[1]) {
            Ok(_) => check_devices_are_separate(subject, devices),
            Err(error) => println!("one GPU only: {error}"),
        }
    }
}

#[test]
fn two_devices_do_not_share_pointers() {
    for subject in crate::dummy::subjects() {
        check_devices_are_separate(subject, [DeviceId::Gpu(0), DeviceId::Gpu(1)]);
    }
}
