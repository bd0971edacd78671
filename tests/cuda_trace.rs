//! Traces of searches on the GPU against the twin's recordings, step by step, bit for bit.
//!
//! These tests need a GPU with NVRTC: `scripts/gpu-check` runs them.

mod common;

use std::sync::Arc;

use common::{Case, PointDistribution, build_problem};
use warpscope::cloud::Order;
use warpscope::engines::cuda::Cuda;
use warpscope::engines::cuda::trace::{Event, groups_in_batch};
use warpscope::engines::lockstep;
use warpscope::knn::{Metric, Problem};
use warpscope::lesson::{
    LessonError, Recording, Step, record, record_digits, record_on_gpu, record_queues, record_tree,
};

fn cuda() -> Cuda {
    Cuda::open().unwrap_or_else(|error| panic!("{error}"))
}

/// Records a query on the GPU and on the twin, and compares the recordings.
fn check(cuda: &mut Cuda, case: &Case, query: usize, batch: Option<usize>) -> Recording {
    let problem = Arc::new(build_problem(case).unwrap_or_else(|error| panic!("{case:?}: {error}")));
    let twin = record(problem.clone(), query, 32, batch, "a test").unwrap();
    let gpu = record_on_gpu(&twin, cuda).unwrap_or_else(|error| panic!("{case:?}, query {query}: {error}"));
    assert!(gpu.parameters.recorded_on.contains("NVIDIA"), "{}", gpu.parameters.recorded_on);
    assert_eq!((gpu.shape(), gpu.query()), (twin.shape(), query));
    // The GPU may stage smaller batches; everything else must equal the twin's.
    let without_batches = |recording: &Recording| {
        recording
            .steps()
            .iter()
            .filter(|step| !matches!(step, Step::Batch { .. }))
            .cloned()
            .collect::<Vec<_>>()
    };
    let equal = without_batches(&gpu) == without_batches(&twin);
    assert!(equal, "{case:?}, query {query}");
    gpu
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_traces_match_the_cpu_step_by_step() {
    let mut cuda = cuda();
    let base = Case { shape: PointDistribution::Uniform { exponent: 0 }, n: 5000, ..Case::default() };
    let mut cases = Vec::new();
    for k in [1, 32, 33, 100, 250, 500, 1000, 1024] {
        for dims in [1, 2, 3, 17, 128] {
            cases.push(Case { k, dims, ..base.clone() });
        }
    }
    for k in [20, 200, 1024] {
        for dims in [2, 3, 17] {
            cases.push(Case { shape: PointDistribution::Descending, k, dims, ..base.clone() });
            cases.push(Case { shape: PointDistribution::Duplicates { places: 1 }, k, dims, ..base.clone() });
            cases.push(Case { shape: PointDistribution::Duplicates { places: 40 }, k, dims, ..base.clone() });
            cases.push(Case {
                shape: PointDistribution::Grid { side: 4 },
                k,
                dims,
                order: Order::Shuffled,
                ..base.clone()
            });
            cases.push(Case { metric: Metric::Angular, k, dims, ..base.clone() });
            cases.push(Case { metric: Metric::Haversine, k, ..base.clone() });
            cases.push(Case { exclude_self: true, k: k.min(1000), dims, foreign: dims == 3, ..base.clone() });
        }
    }
    for (n, k) in [
        (1, 1),
        (1, 1024),
        (10, 32),
        (31, 33),
        (32, 32),
        (33, 32),
        (1000, 1024),
        (1024, 1024),
        (1025, 1024),
        (4097, 64),
    ] {
        for dims in [1, 2, 3, 17, 128] {
            cases.push(Case { n, k, dims, ..base.clone() });
        }
    }
    let mut steps = 0;
    for case in &cases {
        // The first and the last row: in descending order, every point is a candidate for the last.
        for query in [0, 1] {
            steps += check(&mut cuda, case, query, None).len();
        }
    }
    println!("{} searches are equal, {steps} steps", 2 * cases.len());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn trace_batches_have_the_requested_size() {
    let mut cuda = cuda();
    for (dims, batch) in [(2, 8), (2, 1), (3, 5), (17, 4), (2, 100_000)] {
        let case = Case { n: 10_007, dims, ..Case::default() };
        let gpu = check(&mut cuda, &case, 0, Some(batch));
        let groups = groups_in_batch(dims, Some(batch));
        let batches = gpu.steps().iter().filter(|step| matches!(step, Step::Batch { .. })).count();
        assert_eq!(batches, 10_007usize.div_ceil(32 * groups), "d = {dims}, {batch} groups");
    }
}

/// A worst-case search whose trace exceeds its initial buffer: every point is a candidate.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_overflowing_trace_is_recorded_again() {
    let mut cuda = cuda();
    let case = Case { shape: PointDistribution::Descending, n: 100_000, k: 1024, ..Case::default() };
    let problem = build_problem(&case).unwrap();
    let trace = cuda.trace(&problem, 1, groups_in_batch(2, None)).unwrap();
    assert!(trace.bytes() > 2 << 20, "{} bytes fit the initial buffer", trace.bytes());
    let merges = trace.events().filter(|event| matches!(event, Ok(Event::Merged { .. }))).count();
    assert_eq!(merges, 100_000usize.div_ceil(1024));
    println!("{} KiB, {} events", trace.bytes() >> 10, trace.events().count());
    let gpu = check(&mut cuda, &case, 1, None);
    assert_eq!(gpu.merges(), merges);
}

/// A trace that differs from the twin's must be rejected.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn traces_of_a_different_search_are_rejected() {
    let mut cuda = cuda();
    let problem = Arc::new(build_problem(&Case { n: 3000, ..Case::default() }).unwrap());
    let twin = record(problem.clone(), 0, 32, None, "a test").unwrap();
    let mut steps = twin.steps().to_vec();
    let layer = steps
        .iter()
        .rposition(|step| matches!(step, Step::Layer { swapped, .. } if swapped.count() > 0))
        .unwrap();
    let Step::Layer { swapped, .. } = &mut steps[layer] else { unreachable!("it was found") };
    *swapped = swapped.iter().skip(1).collect();
    let other = Recording::new(twin.parameters.clone(), problem.clone(), 0, steps);
    match record_on_gpu(&other, &mut cuda) {
        Err(LessonError::StepDiffers { step, .. }) => assert_eq!(step, layer + 1),
        other => panic!("{:?}", other.map(|recording| recording.len())),
    }
    assert!(matches!(
        record_on_gpu(&record(problem, 0, 8, None, "a test").unwrap(), &mut cuda),
        Err(LessonError::GpuWidth { width: 8 })
    ));
}

/// The steps of the traced kernel must add up to the twin's counters.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn steps_add_up_to_the_counters() {
    let mut cuda = cuda();
    let case = Case { n: 20_000, k: 100, ..Case::default() };
    let problem = build_problem(&case).unwrap();
    let trace = cuda.trace(&problem, 2, groups_in_batch(2, None)).unwrap();
    let (counters, history) = lockstep::replay(&problem, 2);
    let (mut candidates, mut hits, mut merges) = (0, 0, Vec::new());
    for event in trace.events() {
        match event.unwrap() {
            Event::Group { candidates, .. } => hits += u32::from(candidates != 0),
            Event::Appended { placed, .. } => candidates += placed.count_ones(),
            Event::Merged { points_seen, max_distance } => merges.push((points_seen, max_distance)),
            _ => {}
        }
    }
    assert_eq!(
        (candidates, hits, merges.len() as u32),
        (counters.candidates, counters.groups_hit, counters.merges)
    );
    assert_eq!(merges, history);
}

/// The search of the kernel's tree equals the twin's.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn tree_searches_match_the_cpu() {
    let mut cuda = cuda();
    let base = Case { shape: PointDistribution::Uniform { exponent: 0 }, n: 5000, ..Case::default() };
    let mut cases = Vec::new();
    for dims in [1, 2, 3, 17] {
        for k in [1, 32, 33, 100, 1000] {
            cases.push(Case { k, dims, ..base.clone() });
        }
        for shape in [
            PointDistribution::Duplicates { places: 1 },
            PointDistribution::Duplicates { places: 40 },
            PointDistribution::Grid { side: 4 },
            PointDistribution::Descending,
        ] {
            cases.push(Case { shape, k: 40, dims, ..base.clone() });
        }
        cases.push(Case { metric: Metric::Angular, k: 20, dims, ..base.clone() });
    }
    for (n, k) in [(1, 1), (31, 33), (32, 32), (33, 32), (1025, 1024), (100_000, 64)] {
        cases.push(Case { n, k, ..base.clone() });
    }
    let mut steps = 0;
    for case in &cases {
        let problem = Arc::new(build_problem(case).unwrap_or_else(|error| panic!("{case:?}: {error}")));
        for query in [0, 1] {
            let twin = record_tree(problem.clone(), query, 32, "a test").unwrap();
            let gpu = record_on_gpu(&twin, &mut cuda)
                .unwrap_or_else(|error| panic!("{case:?}, query {query}: {error}"));
            assert!(gpu.parameters.recorded_on.contains("NVIDIA"), "{}", gpu.parameters.recorded_on);
            assert_eq!(gpu.steps(), twin.steps());
            steps += gpu.len();
        }
    }
    println!("{} searches of trees are equal, {steps} steps", 2 * cases.len());
}

type Record = fn(Arc<Problem>, usize, u32, &str) -> Result<Recording, LessonError>;

/// Problems for the lessons of selectors: queue sizes, few points, equal distances, favourable and
/// unfavourable orders.
fn selections() -> Vec<Case> {
    let base = Case { shape: PointDistribution::Uniform { exponent: 0 }, n: 5000, ..Case::default() };
    let mut cases = Vec::new();
    for k in [1, 5, 32, 33, 100, 250, 1000, 1024] {
        for dims in [1, 2, 3, 17] {
            cases.push(Case { k, dims, ..base.clone() });
        }
    }
    for k in [1, 5, 40, 1000] {
        for shape in [
            PointDistribution::Duplicates { places: 1 },
            PointDistribution::Duplicates { places: 40 },
            PointDistribution::Grid { side: 4 },
            PointDistribution::Descending,
        ] {
            cases.push(Case { shape, k, ..base.clone() });
        }
        cases.push(Case { order: Order::Shuffled, k, ..base.clone() });
        cases.push(Case { metric: Metric::Angular, k, dims: 3, ..base.clone() });
        cases.push(Case { exclude_self: true, foreign: true, k, ..base.clone() });
    }
    // Fewer points than a group, a batch or k, and one more than each.
    for (n, k) in [
        (1, 1),
        (1, 1024),
        (2, 1),
        (5, 5),
        (10, 32),
        (31, 33),
        (32, 32),
        (33, 32),
        (255, 5),
        (256, 100),
        (257, 100),
        (1000, 1024),
        (1025, 1024),
    ] {
        cases.push(Case { n, k, ..base.clone() });
    }
    // This trace exceeds its initial buffer.
    cases.push(Case { shape: PointDistribution::Descending, n: 40_000, k: 1000, ..base });
    cases
}

/// Compares a selector's steps on the GPU with its twin's; returns their number.
fn check_selection(record: Record) -> usize {
    let mut cuda = cuda();
    let mut steps = 0;
    for case in &selections() {
        let problem = Arc::new(build_problem(case).unwrap_or_else(|error| panic!("{case:?}: {error}")));
        for query in [0, 1] {
            let twin = record(problem.clone(), query, 32, "a test").unwrap();
            let gpu = record_on_gpu(&twin, &mut cuda)
                .unwrap_or_else(|error| panic!("{case:?}, query {query}: {error}"));
            assert!(gpu.parameters.recorded_on.contains("NVIDIA"), "{}", gpu.parameters.recorded_on);
            assert_eq!(gpu.steps(), twin.steps());
            assert_eq!((gpu.round_names(), gpu.merges()), (twin.round_names(), twin.merges()));
            steps += gpu.len();
        }
    }
    let narrow = record(Arc::new(build_problem(&Case::default()).unwrap()), 0, 8, "a test").unwrap();
    assert!(matches!(record_on_gpu(&narrow, &mut cuda), Err(LessonError::GpuWidth { width: 8 })));
    steps
}

/// The kernel's queues against the twin's.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn warp_select_matches_the_cpu() {
    println!(
        "{} selections with queues are equal, {} steps",
        2 * selections().len(),
        check_selection(record_queues)
    );
}

/// The kernel's buckets, pass by pass, against the twin's.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn radix_select_matches_the_cpu() {
    println!(
        "{} selections by digits are equal, {} steps",
        2 * selections().len(),
        check_selection(record_digits)
    );
}
