//! GPU memory of engines, compared with their estimates.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice};
use warpscope::knn::{Answer, DeviceKind, EngineError, KernelBuild, Parameters, Problem};

use crate::common::{Case, PointDistribution, build_problem};
use crate::subject::on_devices;

const MIB: usize = 1 << 20;

/// Free device memory after streams have released theirs.
fn free(context: &Arc<CudaContext>) -> usize {
    context.synchronize().unwrap();
    context.mem_get_info().unwrap().0
}

/// Allocates all but `left` bytes, in pieces, because free memory need not be contiguous.
fn fill(context: &Arc<CudaContext>, left: usize) -> Vec<CudaSlice<u8>> {
    const PIECE: usize = 4 << 30;
    let stream = context.default_stream();
    let all = free(context) - left;
    let sizes = std::iter::repeat_n(PIECE, all / PIECE).chain([all % PIECE]);
    // SAFETY: the memory is never read.
    let ballast = sizes
        .map(|size| {
            unsafe { stream.alloc::<u8>(size) }.unwrap_or_else(|error| panic!("{size} of {all}: {error}"))
        })
        .collect();
    stream.synchronize().unwrap();
    ballast
}

/// An engine that starts a problem with less free memory than it needs would fail during a run. It must
/// refuse, or search in a way that needs less. Numbers of queries below, at and above a tile of the filter.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn memory_estimates_cover_allocations() {
    let context = CudaContext::new(0).unwrap_or_else(|error| panic!("{error}"));
    for subject in on_devices(DeviceKind::Gpu) {
        let mut engine = subject.open();
        for q in [1, 127, 128] {
            // The filter's bit masks are largest in few dimensions; points on a sphere about the queries
            // force the fallback.
            for (n, dims, shape) in [
                (4_000_000, 2, PointDistribution::Uniform { exponent: 0 }),
                (4_000_000, 4, PointDistribution::Sphere),
                (400_000, 128, PointDistribution::Sphere),
            ] {
                let case =
                    Case { shape, n, dims, query_rows: Some((0..q).map(|_| 0).collect()), ..Case::default() };
                let problem = build_problem(&case).unwrap();
                if subject.engine.check(&problem, &Parameters::NONE).is_err() {
                    continue;
                }
                let mut answer = |problem: &Problem| {
                    let before = free(&context);
                    let mut search = engine.load(problem, &Parameters::NONE, false)?;
                    search.search(0..problem.q(), KernelBuild::Counted)?;
                    search.collect(&mut Answer::default())?;
                    let (used, how) =
                        (before.saturating_sub(free(&context)), (search.parameters(), search.note()));
                    drop(search);
                    problem.cache().clear();
                    Ok::<_, EngineError>((used, how))
                };
                // The first search loads modules and builds tables.
                answer(&problem).unwrap_or_else(|error| panic!("{subject}: {error}"));
                let (used, _) = answer(&problem).unwrap_or_else(|error| panic!("{subject}: {error}"));
                // Rounding by the driver does not count.
                let left = used.saturating_sub(2 * MIB);
                let ballast = fill(&context, left);
                let outcome = answer(&problem);
                println!(
                    "{subject}: q = {q}, n = {n}, d = {dims}: {} MiB; with less: {:?}",
                    used / MIB,
                    outcome.as_ref().map_err(ToString::to_string)
                );
                match outcome {
                    Err(EngineError::Memory { needed, free, .. }) => assert!(needed > free, "{subject}"),
                    Err(error) => panic!("{subject}: q = {q}, d = {dims}: accepted, then failed: {error}"),
                    // The engine uses another algorithm, or smaller tiles.
                    Ok((less, _)) => {
                        assert!(less < used, "{subject}: q = {q}, d = {dims}: {less} bytes of {left}")
                    }
                }
                drop(ballast);
            }
        }
    }
}
