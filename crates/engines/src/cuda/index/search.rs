//! The launches that search the tree.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaFunction, DevicePtr, PushKernelArg};

use super::grow::{DeviceRows, DeviceTree, Scratch, TreeBuilder};
use crate::Result;
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::{Addresses, SearchBuffers, blocks, launch};
use crate::cuda::device::units::{BuildSet, Unit};
use crate::cuda::interface::index::{TRAVERSE_WARPS, Traversal, packet_entry, traverse_entry};
use crate::cuda::search::{BuildKernels, Chunk, GpuSearch, SearchKernels};
use crate::index::{self, BVH, MEASURES, SortPrecision, WORTH_PACKING, packet_length};
use crate::knn::{EngineError, KernelBuild, MAX_COUNTED_CHUNK, Measure, Parameters, Problem};
use crate::lockstep::registers_for;

/// Fewer queries are searched in input order: sorting them would take longer than the search.
const WORTH_SORTING: usize = 4096;

/// Whether queries over n points are searched by packets by default.
fn worth_packing(queries: usize, n: usize) -> bool {
    queries >= WORTH_PACKING && index::are_neighbours(queries, n)
}

/// The unit of a problem's search with one warp per query.
fn unit(problem: &Problem) -> Unit {
    let (capacity, d) = (32 * registers_for(problem.k(), 32) as u32, problem.dims() as u32);
    Unit::new(super::TRAVERSE, capacity, if d == 2 || d == 3 { d } else { 0 })
}

/// The tree over a problem's points, and the kernels that search it.
pub struct Bvh {
    tree: Arc<DeviceTree>,
    grower: TreeBuilder,
    scratch: Option<Scratch>,
    /// Whether the queries are the points, in the same order.
    all_points: bool,
    traverse: BuildKernels,
    /// The timed search by packets; `None` if it is not worthwhile.
    packet: Option<CudaFunction>,
    /// The packet setting of the user.
    packets: Option<bool>,
    /// Why packets were requested but are not used.
    note: Option<String>,
}

/// Reserves memory, uploads the problem and builds the tree.
///
/// # Errors
/// [`EngineError::Memory`] before anything is reserved, [`EngineError::Device`].
pub fn load<'a>(cuda: &'a mut Cuda, problem: &Problem, packets: Option<bool>) -> Result<GpuSearch<'a, Bvh>> {
    let (n, d, q) = (problem.n(), problem.dims(), problem.q());
    let unavailable = |why| EngineError::Unavailable { engine: BVH.id, why };
    let grower = TreeBuilder::load(&mut cuda.kernels).map_err(unavailable)?;
    let unit = unit(problem);
    let Unit { capacity, dims, .. } = unit;
    let traverse = BuildKernels::load(cuda, BVH.id, unit, |build| traverse_entry(capacity, dims, build))?;

    // If all points are equal, every query of a packet visits many of them before it can stop.
    let apart = problem.extents().iter().any(|[low, high]| low < high);
    let length =
        packet_length(problem.k(), d).filter(|_| packets.unwrap_or_else(|| apart && worth_packing(q, n)));
    let packet = length.map(|length| {
        let length = length as u32;
        cuda.kernel(BVH.id, Unit::new(super::PACKET, length, dims), &packet_entry(length, dims))
    });
    let packet = packet.transpose()?;

    let there = problem.cache().get(cuda.device_id, |_: &DeviceTree| true);
    let growing = if there.is_some() { 0 } else { DeviceTree::bytes(n, d) + Scratch::bytes(n) };
    let searching = Scratch::bytes(q) + (q.min(MAX_COUNTED_CHUNK) * 4 * MEASURES.len()) as u64;
    let memory = SearchBuffers::with_rows(cuda, problem, growing + searching)?;
    let (tree, built_ms) = match there {
        Some(tree) => (tree, None),
        None => {
            let (tree, ms) = grow(cuda, &memory, &grower, problem).map_err(|error| cuda.failed(error))?;
            problem.cache().insert(cuda.device_id, Arc::clone(&tree));
            (tree, Some(ms))
        }
    };
    let all_points = problem.queries() == problem.points();
    let note = index::why_no_packets(packets, problem);
    let bvh = Bvh { tree, grower, scratch: None, all_points, traverse, packet, packets, note };
    Ok(GpuSearch::new(cuda, memory, built_ms, bvh))
}

/// Builds the tree over points on the device; returns it with the time that took.
fn grow(
    cuda: &Cuda,
    memory: &SearchBuffers,
    grower: &TreeBuilder,
    problem: &Problem,
) -> DriverResult<(Arc<DeviceTree>, f64)> {
    let stream = &cuda.stream;
    let frame = index::MortonGrid::new(problem.extents());
    let mut tree = DeviceTree::reserve(stream, frame, problem.n())?;
    let mut scratch = Scratch::reserve(stream, problem.n())?;
    let rows = memory.points.floats.device_ptr(stream).0;
    // SAFETY: the points are on the device, row by row.
    unsafe { tree.load_kernels(stream, grower, &mut scratch, rows) }?;
    let mut ms = 0.0;
    for depth in [SortPrecision::Coarse, SortPrecision::Fine] {
        memory.timer.start(stream)?;
        // SAFETY: the points are on the device, row by row.
        unsafe { tree.grow(stream, grower, &mut scratch, rows, depth) }?;
        ms += memory.timer.stop(stream)?;
        if tree.frame.bit_ranges(depth).1 == 0 || !tree.is_crowded(stream)? {
            break;
        }
    }
    Ok((Arc::new(tree), ms))
}

impl Bvh {
    /// The search for a range of queries in input order, without counters.
    fn traversal(&self, cuda: &Cuda, memory: &mut SearchBuffers, queries: &Range<usize>) -> Traversal {
        let Addresses { queries: rows, indices, squared_distances, k, .. } = memory.addresses(&cuda.stream);
        Traversal {
            tree: self.tree.arguments(&cuda.stream),
            queries: rows,
            order: 0,
            frame: self.tree.device_frame(&cuda.stream),
            in_leaves: 0,
            k,
            first_query: queries.start as u32,
            query_count: queries.len() as u32,
            indices,
            squared_distances,
            visits: 0,
        }
    }
}

impl SearchKernels for Bvh {
    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn run(&mut self, cuda: &mut Cuda, memory: &mut SearchBuffers, chunk: Chunk<'_>) -> DriverResult<f64> {
        let Chunk { queries, build, counts } = chunk;
        let (stream, count, d) = (&cuda.stream, queries.len(), memory.d);
        // If the queries are the points, the tree already has their order. A counted search sorts them
        // anyway: among points with equal codes, a query may start in a different leaf, and counters must
        // equal the twin's.
        let in_leaves = self.all_points && count == memory.q && build == KernelBuild::Timed;
        let sorts = !in_leaves && (WORTH_SORTING..=index::MAX_POINTS).contains(&count);
        if sorts && self.scratch.as_ref().is_none_or(|scratch| scratch.len() < count) {
            // Free the old scratch first.
            self.scratch = None;
            self.scratch = Some(Scratch::reserve(stream, count)?);
        }
        memory.timer.start(stream)?;
        let mut arguments = Traversal { visits: counts, ..self.traversal(cuda, memory, queries) };
        match &mut self.scratch {
            Some(scratch) if sorts => {
                let address = arguments.queries + 4 * (queries.start * d) as u64;
                let (parts, _) = self.tree.frame.bit_ranges(SortPrecision::Coarse);
                let rows = DeviceRows { address, count, d };
                // SAFETY: the queries of this range are on the device.
                arguments.order =
                    unsafe { self.grower.sort(stream, scratch, rows, arguments.frame, &parts) }?;
            }
            _ if in_leaves => (arguments.order, arguments.in_leaves) = (arguments.tree.positions, 1),
            _ => (),
        }
        let packs =
            build == KernelBuild::Timed && (self.packets == Some(true) || worth_packing(count, memory.n));
        // With packets each lane has a query, otherwise each warp.
        let (kernel, of_a_block, warps) = match &self.packet {
            Some(packet) if packs => (packet, 32, 1),
            _ => (self.traverse.for_build(build), TRAVERSE_WARPS, TRAVERSE_WARPS),
        };
        let config = blocks((count as u32).div_ceil(of_a_block), 32 * warps);
        // SAFETY: `Traversal` is the kernel's parameter; its pointers are to buffers of this search with the
        // sizes that it states.
        unsafe { launch(stream, kernel, config, &arguments) }?;
        memory.timer.stop(stream)
    }

    fn parameters(&self) -> Parameters {
        Parameters::from_iter([("packets", if self.packet.is_some() { "on" } else { "off" })])
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn first_chunk(&self, _cuda: &Cuda, memory: &SearchBuffers) -> usize {
        // In few dimensions a million queries take some milliseconds on a large GPU, and sorting them
        // together is worthwhile.
        if memory.d <= 3 { 1 << 20 } else { 1 << 16 }
    }

    fn chunk_unit(&self, _cuda: &Cuda, _memory: &SearchBuffers) -> usize {
        1024
    }

    fn chunk_ms(&self) -> f64 {
        // Packets need large chunks, and the first one shows that they are faster only after it has finished.
        if self.packet.is_some() { 200.0 } else { 50.0 }
    }

    fn first_work(&self, memory: &SearchBuffers) -> u64 {
        // In few dimensions a search visits a few hundred points, regardless of n. But if points are equally
        // far from the query, it may visit all.
        if memory.d <= 3 { 4_000_000_000_000 } else { 200_000_000_000 }
    }
}

impl GpuSearch<'_, Bvh> {
    /// Searches for one query of the problem with the traced kernel; returns the recorded words. The buffer
    /// initially holds `room` words. NVRTC compiles the kernel on demand.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] if the kernel cannot be compiled, [`EngineError::Memory`],
    /// [`EngineError::HostMemory`], [`EngineError::Device`].
    pub fn trace(&mut self, problem: &Problem, query: usize, room: usize) -> Result<Vec<u32>> {
        let unit = Unit { builds: BuildSet::Traced, ..unit(problem) };
        let kernel = self.cuda.kernel(BVH.id, unit, &traverse_entry(unit.capacity, unit.dims, "traced"))?;
        let cuda = &*self.cuda;
        let search = self.kernels.traversal(cuda, &mut self.memory, &(query..query + 1));
        cuda.record(problem, room, |trace| {
            let config = blocks(1, 32 * TRAVERSE_WARPS);
            // SAFETY: these are the kernel's parameters; their pointers are to buffers with the sizes that
            // they state.
            unsafe { cuda.stream.launch_builder(&kernel).arg(&search).arg(&trace).launch(config) }.map(drop)
        })
    }
}
