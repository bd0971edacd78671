//! The launches that answer queries.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, LaunchConfig};

use super::cluster::{Clusterer, DeviceClusters};
use super::share::{self, SharedVisit};
use crate::Result;
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::{Addresses, PointLayout, SearchBuffers, launch, row_floats, upload_rows};
use crate::cuda::device::units::Unit;
use crate::cuda::interface::step::{
    CANDIDATES, DISTANCE_QUERIES, DISTANCE_THREADS, Distances, IndexedVisit, Minima, Order, Ordering, Output,
    Queries, Stored, StoredVisit, VISIT_WARPS, step_entry, step_visit_entry,
};
use crate::cuda::search::{BuildKernels, Chunk, GpuSearch, SearchKernels};
use crate::host_memory;
use crate::knn::{Descriptor, EngineError, KernelBuild, MAX_COUNTED_CHUNK, Measure, Parameters, Problem};
use crate::lockstep::distance::GroupedPoints;
use crate::lockstep::registers_for;
use crate::step::{Clusters, MEASURES, Plan, groups_in_cluster};

/// Points per group: one per lane.
const WARP: usize = 32;

/// Shared memory of a block without opting in to more.
const SHARED: usize = 48 << 10;

/// The most queries whose order is stored between two kernels, and the most distances.
const MAX_ORDERED: usize = 1 << 14;
const MAX_DISTANCES: usize = 1 << 28;

/// Groups of 32 points as in the twin, stored as windows.
const GROUPS: PointLayout = PointLayout::Windows { window: 1, tile: 1 };

/// The points on a device, prepared for one of the two algorithms.
enum PreparedPoints {
    Clusters { clusters: Arc<DeviceClusters>, order: CudaFunction },
    Rows { groups: usize, groups_in_cluster: usize, distances: CudaFunction, minima: CudaFunction },
}

impl PreparedPoints {
    fn clusters(&self) -> usize {
        match self {
            Self::Clusters { clusters, .. } => clusters.count,
            Self::Rows { groups, groups_in_cluster, .. } => groups.div_ceil(*groups_in_cluster),
        }
    }
}

/// Buffers between kernels, for the queries of one slice.
struct Scratch {
    /// Of minimal size if the visit kernel sorts the clusters.
    order: CudaSlice<u64>,
    /// Of minimal size if there is an index.
    distances: CudaSlice<f32>,
}

/// A problem's prepared points, and the kernels.
pub struct StepKernels {
    descriptor: &'static Descriptor,
    plan: Plan,
    prepared: PreparedPoints,
    visit: BuildKernels,
    /// The timed visit if queries are few.
    sharing: Option<SharedVisit>,
    scratch: Scratch,
    /// Queries per slice: the most that one launch answers.
    slice: usize,
}

/// Queries per slice, and the lengths of the buffers between its kernels. `groups` is 0 with an index;
/// `shares` is the most queries that several warps each can share.
fn slice(
    plan: &Plan,
    q: usize,
    clusters: usize,
    groups: usize,
    shares: Option<usize>,
) -> (usize, [usize; 2]) {
    let most = if groups == 0 { MAX_ORDERED } else { (MAX_DISTANCES / (groups * WARP)).clamp(1, 4096) };
    let queries = most.min(q).min(shares.unwrap_or(q));
    // Warps that share a query also share its order.
    let orders = plan.fission || shares.is_some() && !plan.exhaustive;
    (queries, [if orders { queries * padded(clusters) } else { 0 }, queries * groups * WARP])
}

/// Entries among which a query's clusters are sorted.
pub fn padded(clusters: usize) -> usize {
    clusters.next_power_of_two().max(WARP)
}

/// Reserves memory, uploads the problem and, with an index, finds the clusters.
///
/// # Errors
/// [`EngineError::Memory`] before anything is reserved, [`EngineError::HostMemory`], [`EngineError::Device`].
pub fn load<'a>(
    cuda: &'a mut Cuda,
    descriptor: &'static Descriptor,
    problem: &Problem,
    mut plan: Plan,
) -> Result<GpuSearch<'a, StepKernels>> {
    let (n, d, q) = (problem.n(), problem.dims(), problem.q());
    let capacity = (WARP * registers_for(problem.k(), WARP)).max(CANDIDATES as usize) as u32;
    let source = if plan.exhaustive { "stored" } else { "indexed" };
    let unit = Unit::new(super::VISIT, capacity, 0);
    let visit =
        BuildKernels::load(cuda, descriptor.id, unit, |build| step_visit_entry(source, capacity, build))?;
    let mut step = |name: &str| cuda.kernel(descriptor.id, Unit::new(super::ORDER, 0, 0), &step_entry(name));
    let (order, distances, minima) = (step("order")?, step("distances")?, step("minima")?);

    // An upper bound: the number of clusters is known only after clustering.
    let most = plan.clustering.clusters;
    let groups = if plan.exhaustive { n.div_ceil(WARP) } else { 0 };
    // Queries per launch, and an upper bound on the clusters.
    let (at_once, [..]) = slice(&plan, q, most, groups, None);
    let clusters = if plan.exhaustive { groups.div_ceil(groups_in_cluster(n, most)) } else { most };
    let warps =
        *plan.warps.get_or_insert_with(|| share::warps_each(at_once, clusters, cuda.multiprocessors()));
    let shares = (warps > 1).then(|| share::most_queries(warps, capacity));
    let (queries, [entries, stored]) = slice(&plan, q, most, groups, shares);
    let shared = shares.map_or(0, |_| SharedVisit::bytes(queries, warps, capacity));
    let counts = q.min(MAX_COUNTED_CHUNK) * 4 * MEASURES.len();
    let searching = shared + (8 * entries + 4 * stored + counts) as u64;
    let there = problem
        .cache()
        .get(cuda.device_id, |clusters: &DeviceClusters| clusters.clustering == plan.clustering);
    let finds = !plan.exhaustive && there.is_none();
    if finds {
        // Other clusters of the same points are cached: their memory may be needed.
        problem.cache().remove::<DeviceClusters>(cuda.device_id);
    }
    let (form, floats) =
        if plan.exhaustive { (GROUPS, groups * WARP * d) } else { (PointLayout::Rows, row_floats(n, d, 1)) };
    let extra = searching + if finds { DeviceClusters::bytes(n, d, most) } else { 0 };
    let mut memory = SearchBuffers::reserve(cuda, problem, form, floats, extra)?;
    if plan.exhaustive {
        // Twice the points: once in groups, once as floats.
        host_memory::check(problem, 8 * (n * d) as u64)?;
    }
    if finds {
        // The host gathers the clusters and computes the spheres.
        host_memory::check(problem, Clusters::bytes(n, d, most))?;
    }
    memory.upload(cuda, problem, |cuda, points| {
        if !plan.exhaustive {
            return upload_rows(cuda, problem.points(), points);
        }
        let grouped = GroupedPoints::<WARP>::new(problem.points(), problem.dims());
        let floats: Vec<f32> = grouped.range(0..grouped.groups()).iter().flat_map(|row| row.0).collect();
        cuda.stream.memcpy_htod(&floats, &mut points.slice_mut(..floats.len()))
    })?;
    let mut built_ms = None;
    let prepared = match there {
        _ if plan.exhaustive => {
            PreparedPoints::Rows { groups, groups_in_cluster: groups_in_cluster(n, most), distances, minima }
        }
        Some(clusters) => PreparedPoints::Clusters { clusters, order },
        None => {
            let clusterer = Clusterer::load(&mut cuda.kernels)
                .map_err(|why| EngineError::Unavailable { engine: descriptor.id, why })?;
            let found = find_clusters(cuda, &clusterer, problem, &memory, &plan);
            let (clusters, ms) = found.map_err(|error| cuda.failed(error))?;
            built_ms = Some(ms);
            PreparedPoints::Clusters { clusters, order }
        }
    };
    let reserve = || -> DriverResult<Scratch> {
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            Ok(Scratch {
                order: cuda.stream.alloc(entries.max(1))?,
                distances: cuda.stream.alloc(stored.max(1))?,
            })
        }
    };
    let scratch = reserve().map_err(|error| cuda.failed(error))?;
    let sharing =
        shares.map(|_| SharedVisit::load(cuda, descriptor.id, plan.exhaustive, queries, warps, capacity));
    let sharing = sharing.transpose()?;
    let step = StepKernels { descriptor, plan, prepared, visit, sharing, scratch, slice: queries };
    Ok(GpuSearch::new(cuda, memory, built_ms, step))
}

impl StepKernels {
    /// Answers the queries of a slice. The counters of its first query are written to `visits`.
    fn launch_slice(
        &mut self,
        stream: &Arc<CudaStream>,
        memory: &mut SearchBuffers,
        queries: Range<usize>,
        build: KernelBuild,
        visits: CUdeviceptr,
    ) -> DriverResult {
        let Addresses { points, queries: rows, indices, squared_distances, n, d, k, .. } =
            memory.addresses(stream);
        let (count, clusters) = (queries.len(), self.prepared.clusters());
        let output = Output { k, indices, squared_distances, visits };
        let visit = self.visit.for_build(build);
        let padded = padded(clusters);
        let entries = self.scratch.order.device_ptr_mut(stream).0;
        let order = Order { entries, count: clusters as u32, padded: padded as u32 };
        let sharing = self.sharing.as_mut().filter(|_| build == KernelBuild::Timed);
        // Without fission the visit sorts in its own memory.
        let (visit_order, own) =
            if self.plan.fission { (order, 0) } else { (Order { entries: 0, ..order }, padded) };
        let queries = Queries { rows, first: queries.start as u32, count: count as u32, d };
        match &self.prepared {
            PreparedPoints::Clusters { clusters, order: kernel } => {
                let spheres = clusters.spheres(stream);
                let visiting = IndexedVisit {
                    spheres,
                    first_groups: clusters.first_groups.device_ptr(stream).0,
                    coordinates: clusters.coordinates.device_ptr(stream).0,
                    positions: clusters.positions.device_ptr(stream).0,
                    queries,
                    order: visit_order,
                    output,
                };
                // SAFETY: the arguments are the kernels' parameters; their pointers are to buffers of this
                // search with the sizes that they state.
                unsafe {
                    if self.plan.fission || sharing.is_some() {
                        launch(
                            stream,
                            kernel,
                            one_warp_each(count, padded, memory.d),
                            &Ordering { spheres, queries, order },
                        )?;
                    }
                    if let Some(sharing) = sharing {
                        return sharing.indexed(stream, IndexedVisit { order, ..visiting });
                    }
                    launch(stream, visit, one_warp_each(count, own, memory.d), &visiting)
                }
            }
            PreparedPoints::Rows { groups, groups_in_cluster, distances, minima } => {
                let stored = Stored {
                    distances: self.scratch.distances.device_ptr_mut(stream).0,
                    n,
                    groups: *groups as u32,
                    groups_in_cluster: *groups_in_cluster as u32,
                };
                let computing = Distances { coordinates: points, queries, stored };
                let (x, y) = (
                    (*groups as u32).div_ceil(DISTANCE_THREADS / WARP as u32),
                    (count as u32).div_ceil(DISTANCE_QUERIES),
                );
                let grid = LaunchConfig {
                    grid_dim: (x, y, 1),
                    block_dim: (DISTANCE_THREADS, 1, 1),
                    shared_mem_bytes: 0,
                };
                // SAFETY: as above.
                unsafe {
                    launch(stream, distances, grid, &computing)?;
                    if let Some(sharing) = sharing {
                        return sharing.stored(stream, StoredVisit { stored, queries, order, output });
                    }
                    if self.plan.fission {
                        launch(
                            stream,
                            minima,
                            one_warp_each(count, padded, 0),
                            &Minima { stored, queries, order },
                        )?;
                    }
                    launch(
                        stream,
                        visit,
                        one_warp_each(count, own, 0),
                        &StoredVisit { stored, queries, order: visit_order, output },
                    )
                }
            }
        }
    }
}

/// Finds the clusters; returns them with the time that took, on the device and on the host.
fn find_clusters(
    cuda: &Cuda,
    clusterer: &Clusterer,
    problem: &Problem,
    memory: &SearchBuffers,
    plan: &Plan,
) -> DriverResult<(Arc<DeviceClusters>, f64)> {
    let start = Instant::now();
    let rows = memory.points.floats.device_ptr(&cuda.stream).0;
    // SAFETY: the points are on the device, row by row.
    let assigned = unsafe { clusterer.kmeans(&cuda.stream, problem, rows, plan.clustering) }?;
    let clusters =
        Arc::new(DeviceClusters::upload(&cuda.stream, &Clusters::new(problem, plan.clustering, &assigned))?);
    cuda.stream.synchronize()?;
    problem.cache().insert(cuda.device_id, Arc::clone(&clusters));
    Ok((clusters, start.elapsed().as_secs_f64() * 1e3))
}

/// A launch with one warp per query, each with shared memory for the queue, `entries` entries and d
/// coordinates (`warp_memory` in `cuda/step/traverse.cuh`).
pub fn one_warp_each(queries: usize, entries: usize, d: usize) -> LaunchConfig {
    let share = 8 * (CANDIDATES as usize + entries + d.div_ceil(2));
    let warps = (SHARED / share).clamp(1, VISIT_WARPS as usize);
    LaunchConfig {
        grid_dim: (queries.div_ceil(warps) as u32, 1, 1),
        block_dim: ((warps * WARP) as u32, 1, 1),
        shared_mem_bytes: (warps * share) as u32,
    }
}

impl SearchKernels for StepKernels {
    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn run(&mut self, cuda: &mut Cuda, memory: &mut SearchBuffers, chunk: Chunk<'_>) -> DriverResult<f64> {
        let Chunk { queries, build, counts } = chunk;
        let stream = &cuda.stream;
        memory.timer.start(stream)?;
        for first in queries.clone().step_by(self.slice) {
            let visits = self.counts_at(first - queries.start, counts);
            self.launch_slice(stream, memory, first..(first + self.slice).min(queries.end), build, visits)?;
        }
        memory.timer.stop(stream)
    }

    fn parameters(&self) -> Parameters {
        self.plan.resolved(self.descriptor)
    }

    fn first_chunk(&self, cuda: &Cuda, memory: &SearchBuffers) -> usize {
        self.slice.next_multiple_of(self.chunk_unit(cuda, memory))
    }

    fn chunk_unit(&self, _cuda: &Cuda, _memory: &SearchBuffers) -> usize {
        512
    }
}
