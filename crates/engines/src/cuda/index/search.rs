//! The launches that search the tree.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::grow::{DeviceTree, Grower};
use super::interface::{TRAVERSE_WARPS, Traversal, Visits, packet_entry, traverse_entry};
use super::sort::{Rows, Scratch, Sorter};
use crate::cuda::Cuda;
use crate::cuda::device::memory::Memory;
use crate::cuda::device::points::{self, Form};
use crate::cuda::device::units::{Unit, build_name};
use crate::index::{self, BVH, Depth, MEASURES, WORTH_PACKING, packet_length};
use crate::knn::{Answer, Build, EngineError, MAX_COUNTED_CHUNK, Neighbors, Parameters, Problem, Search, SetupPhase};
use crate::lockstep::registers_for;

/// Fewer queries are searched in the order that they come in: sorting them would take longer than they do.
const WORTH_SORTING: usize = 4096;

/// Whether so many queries over n points are searched by packets unless the method says otherwise.
fn worth_packing(queries: usize, n: usize) -> bool {
    queries >= WORTH_PACKING && index::are_neighbours(queries, n)
}

/// The unit of a problem's search by a warp a query.
pub fn unit(problem: &Problem) -> Unit {
    let (capacity, d) = (32 * registers_for(problem.k(), 32) as u32, problem.dims() as u32);
    Unit::new(super::TRAVERSE, capacity, if d == 2 || d == 3 { d } else { 0 })
}

/// A problem loaded into device memory.
pub struct BvhSearch<'a> {
    pub(super) cuda: &'a mut Cuda,
    pub(super) memory: Memory,
    pub(super) tree: Arc<DeviceTree>,
    sorter: Sorter,
    /// For the queries of a launch.
    scratch: Option<Scratch>,
    /// Whether the queries are the points, in the same order.
    all_points: bool,
    traverse: [(Build, CudaFunction); 2],
    /// The timed search by packets, where it pays.
    packet: Option<CudaFunction>,
    /// Whether they were asked for.
    packets: Option<bool>,
    /// Why there are none, where they were.
    note: Option<String>,
    visits: Option<CudaSlice<Visits>>,
    setup_ms: Vec<(SetupPhase, f64)>,
    /// Queries and build of the last launch.
    last: (Range<usize>, Build),
}

impl<'a> BvhSearch<'a> {
    /// Reserves memory, uploads the problem and builds the tree.
    ///
    /// # Errors
    /// [`EngineError::Memory`] before anything is reserved, [`EngineError::Device`].
    pub fn new(cuda: &'a mut Cuda, problem: &Problem, packets: Option<bool>) -> Result<Self, EngineError> {
        let (n, d, q) = (problem.n(), problem.dims(), problem.q());
        let unavailable = |why| EngineError::Unavailable { engine: BVH.id, why };
        let sorter = Sorter::load(&mut cuda.kernels).map_err(unavailable)?;
        let grower = Grower::load(&mut cuda.kernels).map_err(unavailable)?;
        let unit = unit(problem);
        let Unit { capacity, dims, .. } = unit;
        let mut kernel = |build| {
            let function = cuda.kernels.function(unit.of_build(build), &traverse_entry(capacity, dims, build_name(build)));
            function.map(|function| (build, function)).map_err(unavailable)
        };
        let traverse = [kernel(Build::Timed)?, kernel(Build::Counted)?];

        // Where all points are at one place, none of a packet's queries would stop before it has met many of them.
        let apart = problem.extents().iter().any(|[low, high]| low < high);
        let length = packet_length(problem.k(), d).filter(|_| packets.unwrap_or_else(|| apart && worth_packing(q, n)));
        let packet = |length| cuda.kernels.function(Unit::new(super::PACKET, length as u32, dims), &packet_entry(length as u32, dims));
        let packet = length.map(packet).transpose().map_err(unavailable)?;

        let there = problem.cache().get(cuda.device_id, |_: &DeviceTree| true);
        let growing = if there.is_some() { 0 } else { DeviceTree::bytes(n, d) + Scratch::bytes(n) };
        let searching = Scratch::bytes(q) + (q.min(MAX_COUNTED_CHUNK) * size_of::<Visits>()) as u64;
        let mut memory = Memory::reserve(cuda, problem, Form::Rows, points::row_floats(n, d, 1), growing + searching)?;
        let rows = |cuda: &mut Cuda, points: &mut CudaSlice<f32>| points::upload_rows(&cuda.stream, problem.points(), points);
        memory.upload(cuda, problem, rows).map_err(|error| cuda.failed(error))?;
        let mut setup_ms = vec![(SetupPhase::Upload, memory.upload_ms)];
        let tree = match there {
            Some(tree) => tree,
            None => {
                let (tree, ms) = grow(cuda, &memory, &sorter, &grower, problem).map_err(|error| cuda.failed(error))?;
                setup_ms.push((SetupPhase::BuildIndex, ms));
                problem.cache().insert(cuda.device_id, Arc::clone(&tree));
                tree
            }
        };
        let all_points = problem.queries() == problem.points();
        Ok(Self {
            cuda,
            memory,
            tree,
            sorter,
            scratch: None,
            all_points,
            traverse,
            packet,
            packets,
            note: index::why_no_packets(packets, problem),
            visits: None,
            setup_ms,
            last: (0..0, Build::Timed),
        })
    }

    fn launch(&mut self, queries: &Range<usize>, build: Build) -> Result<f64, DriverError> {
        let stream = &self.cuda.stream.clone();
        let (count, d) = (queries.len(), self.memory.d);
        // The tree has the points in order. A counted search sorts all the same: of points with equal codes its own leaf may be another,
        // and counters are to be those of the twin.
        let in_leaves = self.all_points && count == self.memory.q && build == Build::Timed;
        let sorts = !in_leaves && (WORTH_SORTING..=index::MOST_POINTS).contains(&count);
        if sorts && self.scratch.as_ref().is_none_or(|scratch| scratch.len() < count) {
            // Free the old one first.
            self.scratch = None;
            self.scratch = Some(Scratch::reserve(stream, count)?);
        }
        if build == Build::Counted && self.visits.as_ref().is_none_or(|visits| visits.len() < count) {
            self.visits = None;
            self.visits = Some(stream.alloc_zeros(count)?);
        }
        let memory = &mut self.memory;
        memory.timer.start(stream)?;
        let rows = memory.queries.device_ptr(stream).0;
        let tree = self.tree.arguments(stream);
        let frame = self.tree.device_frame(stream);
        let order = match &mut self.scratch {
            Some(scratch) if sorts => {
                let rows = Rows { address: rows + 4 * (queries.start * d) as u64, count, d };
                let (parts, _) = self.tree.frame.parts(Depth::Coarse);
                // SAFETY: the queries of this range are on the device.
                unsafe { self.sorter.sort(stream, scratch, rows, frame, &parts) }?
            }
            _ if in_leaves => tree.positions,
            _ => 0,
        };
        let arguments = Traversal {
            tree,
            queries: rows,
            order,
            frame,
            in_leaves: in_leaves.into(),
            k: memory.k as u32,
            first_query: queries.start as u32,
            query_count: count as u32,
            indices: memory.indices.device_ptr_mut(stream).0,
            squared_distances: memory.squared_distances.device_ptr_mut(stream).0,
            visits: self.visits.as_mut().map_or(0, |visits| visits.device_ptr_mut(stream).0),
        };
        let packs = build == Build::Timed && (self.packets == Some(true) || worth_packing(count, memory.n));
        // Of a packet every lane has a query; otherwise a warp has one.
        let (kernel, of_a_block, warps) = match &self.packet {
            Some(packet) if packs => (packet, 32, 1),
            _ => {
                let of_build = self.traverse.iter().find(|(of, _)| *of == build);
                (&of_build.expect("both builds are loaded with the problem").1, TRAVERSE_WARPS, TRAVERSE_WARPS)
            }
        };
        let config = LaunchConfig { grid_dim: ((count as u32).div_ceil(of_a_block), 1, 1), block_dim: (32 * warps, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: `Traversal` is the kernel's parameter; its pointers are to this search's buffers, which are as long as it says.
        unsafe { stream.launch_builder(kernel).arg(&arguments).launch(config) }?;
        memory.timer.stop(stream)
    }
}

/// Builds the tree over points that are on the device, and measures how long that takes.
fn grow(cuda: &Cuda, memory: &Memory, sorter: &Sorter, grower: &Grower, problem: &Problem) -> Result<(Arc<DeviceTree>, f64), DriverError> {
    let stream = &cuda.stream;
    let frame = index::Frame::new(problem.extents());
    let mut tree = DeviceTree::reserve(stream, frame, problem.n())?;
    let mut scratch = Scratch::reserve(stream, problem.n())?;
    let rows = memory.points.floats.device_ptr(stream).0;
    // SAFETY: the points are on the device, row by row.
    unsafe { tree.load_kernels(stream, sorter, grower, &mut scratch, rows) }?;
    let mut ms = 0.0;
    for depth in [Depth::Coarse, Depth::Fine] {
        memory.timer.start(stream)?;
        // SAFETY: the points are on the device, row by row.
        unsafe { tree.grow(stream, sorter, grower, &mut scratch, rows, depth) }?;
        ms += memory.timer.stop(stream)?;
        if tree.frame.parts(depth).1 == 0 || !tree.is_crowded(stream)? {
            break;
        }
    }
    Ok((Arc::new(tree), ms))
}

impl Search for BvhSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.setup_ms.clone()
    }

    fn resident(&self) -> bool {
        self.memory.resident && self.setup_ms.len() == 1
    }

    fn first_chunk(&self) -> usize {
        // In few dimensions a million takes some milliseconds on a large GPU, and sorting them at once is worth it.
        if self.memory.d <= 3 { 1 << 20 } else { 1 << 16 }
    }

    fn chunk_unit(&self) -> usize {
        1024
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn parameters(&self) -> Parameters {
        let packs = self.packet.is_some();
        Parameters::from_iter([("packets", if packs { "on" } else { "off" })])
    }

    fn chunk_ms(&self) -> f64 {
        // A quarter of the points are queries of a packet's chunk, and that packets are faster is known only after it.
        if self.packet.is_some() { 200.0 } else { 50.0 }
    }

    fn first_work(&self) -> u64 {
        // In few dimensions a search looks at some hundreds of points, whatever their number; but of points at one distance from the
        // queries it may look at all.
        if self.memory.d <= 3 { 4_000_000_000_000 } else { 200_000_000_000 }
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        debug_assert!(queries.start < queries.end && queries.end <= self.memory.q);
        let build = if build == Build::Timed { build } else { Build::Counted };
        let ms = self.launch(&queries, build).map_err(|error| self.cuda.failed(error))?;
        self.last = (queries, build);
        Ok(ms)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        self.memory.download(&self.cuda.stream, neighbors).map_err(|error| self.cuda.failed(error))
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        let (queries, build) = self.last.clone();
        let (Some(visits), Build::Counted) = (&self.visits, build) else { return Ok(()) };
        let stream = &self.cuda.stream;
        let copy = || -> Result<_, DriverError> {
            let visits = stream.clone_dtoh(&visits.slice(..queries.len()))?;
            stream.synchronize()?;
            Ok(visits)
        };
        let visits = copy().map_err(|error| self.cuda.failed(error))?;
        answer.measured.extend(&MEASURES, visits.into_iter().map(bytemuck::cast));
        Ok(())
    }
}
