//! One query's search by the traced build of the kernel, which writes down what it does, event by event.
//!
//! It is the kernel that runs use, from the same source, with a recorder in it (`cuda/observer.cuh`). It is cut to size in another
//! way, so that there is one warp, which owns one query, and it is shown its points group by group, where runs vote for
//! several groups at once and look closer only where a vote says so.
//!
//! NVRTC compiles it when it is asked for: how many points are staged together is a number that the kernel is compiled
//! with, and a lesson's own.

mod events;

use cudarc::driver::{CudaSlice, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};
pub use events::{Event, Events, TraceError, elements, kind, lanes};

use super::device::kernels::Kernel;
use super::device::memory::Memory;
use super::device::units::{Builds, Unit};
use super::direct::{self, GROUP_ROWS_ENTRY, Layout, Policy, Variant};
use super::interface::{self, TallyOut};
use super::{Cuda, DIRECT};
use crate::engines::{host_memory, lockstep};
use crate::knn::{EngineError, Neighbors, Parameters, Problem};

/// Points in a group.
const GROUP: usize = 32;

/// Dimensions that are staged together where d is neither 2 nor 3.
const TILE: usize = 8;

/// Words that a trace has room for at first, beside those of groups without a candidate: 1 MiB, as most need. One that needs
/// more says how many, and is made again.
const ROOM: usize = 1 << 18;

/// Words of a group without a candidate.
const GROUP_WORDS: usize = 3;

/// What the GPU wrote down, and what it answered.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The device's name.
    pub device: String,
    /// The k nearest as the kernel wrote them: position in processing order and squared distance, nearest first; of the
    /// last ones, where there are fewer points, position `u32::MAX` and infinity.
    pub neighbours: Vec<(u32, f32)>,
    registers: usize,
    words: Vec<u32>,
}

impl Trace {
    /// Of words that a warp with `registers` keys a lane wrote, and what it answered.
    pub fn new(device: String, registers: usize, words: Vec<u32>, neighbours: Vec<(u32, f32)>) -> Self {
        Self { device, neighbours, registers, words }
    }

    /// The events, from the first on.
    pub fn events(&self) -> Events<'_> {
        Events::new(&self.words, self.registers)
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

/// The groups that the traced kernel stages together where a lesson wants `groups`; `None`: as many as the twin does. A
/// warp's share of shared memory bounds them, and where d is neither 2 nor 3, so does the word that has a bit a group.
pub fn groups_in_batch(dims: usize, groups: Option<usize>) -> usize {
    let most = lockstep::groups_in_batch(GROUP, dims);
    let most = if whole_rows(dims) { most } else { most.min(32) };
    groups.unwrap_or(most).clamp(1, most)
}

/// Whether points are staged as whole rows.
fn whole_rows(dims: usize) -> bool {
    Variant::new(1, dims).dims != 0
}

/// The kernel for a problem, with `groups` of [`groups_in_batch`] staged together.
pub(super) fn unit(k: usize, dims: usize, groups: usize) -> Unit {
    let (window, batch) = if whole_rows(dims) { (1, groups * GROUP) } else { (groups, groups * GROUP) };
    let policy = Policy { warps: 1, queries: 1, window: window as u32, batch: batch as u32, slots: 2, tile: dims.min(TILE) as u32, min_blocks: 0 };
    Unit { policy: Some(policy), builds: Builds::Traced, ..Variant::new(k, dims).unit() }
}

impl Cuda {
    /// Searches one query by the traced kernel, which stages `groups` groups of points together
    /// ([`groups_in_batch`] says how many can be).
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] when the kernel cannot be compiled, [`EngineError::Memory`] and
    /// [`EngineError::HostMemory`] where the trace does not fit, [`EngineError::Limit`], [`EngineError::Device`].
    ///
    /// # Panics
    /// If the problem has no such query.
    pub fn trace(&mut self, problem: &Problem, query: usize, groups: usize) -> Result<Trace, EngineError> {
        let (n, dims, k) = (problem.n(), problem.dims(), problem.k());
        assert!(query < problem.q(), "query {query} of {}", problem.q());
        DIRECT.check(problem, &Parameters::default())?;
        let unit = unit(k, dims, groups_in_batch(dims, Some(groups)));
        let kernel = self.traced(unit)?;
        let layout = Layout::new(n, dims, unit, kernel.cut.policy);
        let mut memory = Memory::reserve(self, problem, layout.form(), layout.floats(), 4 * layout.scratch_floats() as u64)?;
        let mut upload = || -> Result<(), DriverError> {
            memory.upload(self, problem, |cuda, points| {
                let mut scratch = cuda.stream.alloc_zeros::<f32>(layout.scratch_floats().max(1))?;
                layout.upload(cuda, problem.points(), points, &mut scratch)
            })
        };
        upload().map_err(|error| self.failed(error))?;
        let words = self.words(problem, query, &kernel, &mut memory)?;
        let mut neighbors = Neighbors::default();
        memory.download(&self.stream, &mut neighbors).map_err(|error| self.failed(error))?;
        let (positions, squared_distances) = neighbors.of(query);
        let neighbours = positions.iter().copied().zip(squared_distances.iter().copied()).collect();
        Ok(Trace::new(self.device.name.clone(), unit.capacity as usize / GROUP, words, neighbours))
    }

    fn traced(&mut self, unit: Unit) -> Result<Kernel, EngineError> {
        let kernel = self.kernels.traced(unit).and_then(|kernel| {
            // Loaded now: the upload has nobody to tell.
            if unit.dims == 0 { self.kernels.function(unit, GROUP_ROWS_ENTRY).map(|_| kernel) } else { Ok(kernel) }
        });
        kernel.map_err(|why| EngineError::Unavailable { engine: DIRECT.id, why: format!("{why}; or record on --engine lockstep") })
    }

    /// Launches the kernel, once more with more room where the trace had not enough, and gives what was written.
    fn words(&mut self, problem: &Problem, query: usize, kernel: &Kernel, memory: &mut Memory) -> Result<Vec<u32>, EngineError> {
        let mut capacity = ROOM + GROUP_WORDS * problem.n().div_ceil(GROUP);
        loop {
            let mut words = self.room(problem, capacity)?;
            let needed = self.launch_traced(query, kernel, memory, &mut words).map_err(|error| self.failed(error))?;
            if needed <= capacity {
                let written = words.slice(..needed);
                return self.stream.clone_dtoh(&written).map_err(|error| self.failed(error));
            }
            capacity = needed;
        }
    }

    /// Room for a trace.
    fn room(&self, problem: &Problem, words: usize) -> Result<CudaSlice<u32>, EngineError> {
        let needed = 4 * words as u64;
        host_memory::check(problem, needed)?;
        self.stream.synchronize().map_err(|error| self.failed(error))?;
        let (free, _) = self.context.mem_get_info().map_err(|error| self.failed(error))?;
        if needed > free as u64 {
            return Err(EngineError::Memory { needed: needed.div_ceil(1 << 20), free: free as u64 >> 20, device: self.device.name.clone() });
        }
        self.stream.alloc_zeros(words).map_err(|error| self.failed(error))
    }

    /// Gives the words of the whole trace. Where they are more than there is room for, the first were written.
    fn launch_traced(&self, query: usize, kernel: &Kernel, memory: &mut Memory, words: &mut CudaSlice<u32>) -> Result<usize, DriverError> {
        let stream = &self.stream;
        let mut needed = stream.alloc_zeros::<u64>(1)?;
        let mut keys = stream.alloc_zeros::<u64>(2 * memory.k.next_power_of_two().max(GROUP))?;
        let arguments = direct::arguments(memory, stream, &(query..query + 1), TallyOut::default());
        let trace = interface::Trace {
            capacity: words.len() as u64,
            words: words.device_ptr_mut(stream).0,
            needed: needed.device_ptr_mut(stream).0,
            keys: keys.device_ptr_mut(stream).0,
        };
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (kernel.cut.policy.threads(), 1, 1), shared_mem_bytes: kernel.cut.shared_bytes };
        // SAFETY: these are the kernel's parameters; their pointers are to memory of this search, as long as they say.
        unsafe { stream.launch_builder(&kernel.function).arg(&arguments).arg(&trace).launch(config) }?;
        let needed = stream.clone_dtoh(&needed)?;
        stream.synchronize()?;
        Ok(needed[0] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_the_twins_where_shared_memory_has_room() {
        assert_eq!([2, 3, 17, 128, 1000].map(|dims| groups_in_batch(dims, None)), [128, 85, 15, 2, 1]);
        assert_eq!([1, 4].map(|dims| groups_in_batch(dims, None)), [32, 32]);
        assert_eq!([Some(8), Some(0), Some(4000)].map(|groups| groups_in_batch(2, groups)), [8, 1, 128]);
    }

    #[test]
    fn one_warp_of_one_query_sees_group_by_group() {
        let rows = unit(33, 2, 8);
        assert_eq!((rows.capacity, rows.dims, rows.policy.map(Policy::numbers)), (64, 2, Some([1, 1, 1, 256, 2, 2, 0])));
        let tiles = unit(1000, 17, 15);
        assert_eq!((tiles.capacity, tiles.dims, tiles.policy.map(Policy::numbers)), (1024, 0, Some([1, 1, 15, 480, 2, 8, 0])));
        assert_eq!((rows.policy.unwrap().queries_per_block(), rows.builds), (1, Builds::Traced));
    }
}
