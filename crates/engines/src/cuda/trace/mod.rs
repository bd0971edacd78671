//! Traces one query's search with an instrumented build of the kernel, which records its steps event by
//! event.
//!
//! This is the production kernel, from the same source, with a recorder in it (`cuda/observer.cuh`). Its
//! policy differs: a single warp owns a single query, and it filters points group by group. Production builds
//! vote on several groups at once and examine them individually only if a vote requires it.
//!
//! NVRTC compiles it on demand, because the number of points that are staged together is a compile-time
//! constant that each lesson chooses.
//!
//! The search of a tree and selections from a query's row of distances are traced in the same way, by traced
//! builds of their kernels (`replay.rs`).

mod events;
mod replay;

use cudarc::driver::{CudaSlice, DevicePtrMut, LaunchConfig, PushKernelArg};
pub use events::{Event, Events, TraceError, elements, kind, lanes};
pub use replay::{PassTrace, QueueTrace, TreeTrace, pass_kind, queue_kind, tree_kind};

use super::device::kernels::Kernel;
use super::device::memory::{SearchBuffers, read};
use super::device::units::{BuildSet, Unit};
use super::direct::{self, GROUP_ROWS_ENTRY, Layout, Policy, Variant};
use super::interface::{self, TallyOut};
use super::{Cuda, DIRECT};
use crate::Result;
use crate::cuda::DriverResult;
use crate::knn::{EngineError, Neighbors, Parameters, Problem};
use crate::{host_memory, lockstep};

/// Points per group: one per lane of a warp.
const GROUP: usize = 32;

/// Dimensions staged together if d is neither 2 nor 3.
const TILE: usize = 8;

/// Initial capacity of a trace in words, in addition to groups without a candidate: 1 MiB, enough for most. A
/// trace that needs more reports its size and is repeated.
const INITIAL_WORDS: usize = 1 << 18;

/// The alternative if the kernel is unavailable.
const LOCKSTEP_ALTERNATIVE: &str = "or record on --engine lockstep";

/// Appends that alternative to the error.
fn suggest_lockstep(error: EngineError) -> EngineError {
    match error {
        EngineError::Unavailable { engine, why } => {
            EngineError::Unavailable { engine, why: format!("{why}; {LOCKSTEP_ALTERNATIVE}") }
        }
        other => other,
    }
}

fn neighbours(neighbors: &Neighbors, query: usize) -> Vec<(u32, f32)> {
    let (positions, squared_distances) = neighbors.for_query(query);
    positions.iter().copied().zip(squared_distances.iter().copied()).collect()
}

const GROUP_WORDS: usize = 3;

/// The recorded events and the answer.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Product name of the device.
    pub device: String,
    /// The k nearest as written by the kernel: position in processing order and squared distance, nearest
    /// first; if there are fewer points, the rest are position `u32::MAX` at infinity.
    pub neighbours: Vec<(u32, f32)>,
    registers: usize,
    words: Vec<u32>,
}

impl Trace {
    /// A trace from the words of a warp with `registers` keys per lane, and its answer.
    pub fn new(device: String, registers: usize, words: Vec<u32>, neighbours: Vec<(u32, f32)>) -> Self {
        Self { device, neighbours, registers, words }
    }

    /// Decodes the events from the start.
    pub fn events(&self) -> Events<'_> {
        Events::new(&self.words, self.registers)
    }

    /// Size of the events in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

/// Clamps the number of groups that the traced kernel stages together; `None` is the twin's number. It is
/// limited by a warp's share of shared memory and, if d is neither 2 nor 3, by a word that has one bit per
/// group.
pub fn groups_in_batch(dims: usize, groups: Option<usize>) -> usize {
    let most = lockstep::groups_in_batch(GROUP, dims);
    let most = if whole_rows(dims) { most } else { most.min(32) };
    groups.unwrap_or(most).clamp(1, most)
}

fn whole_rows(dims: usize) -> bool {
    Variant::new(1, dims).dims != 0
}

/// The kernel for a problem that stages `groups` groups together, as clamped by [`groups_in_batch`].
pub(super) fn unit(k: usize, dims: usize, groups: usize) -> Unit {
    let (window, batch) = if whole_rows(dims) { (1, groups * GROUP) } else { (groups, groups * GROUP) };
    let policy = Policy {
        warps: 1,
        queries: 1,
        window: window as u32,
        batch: batch as u32,
        slots: 2,
        tile: dims.min(TILE) as u32,
        min_blocks: 0,
    };
    Unit { policy: Some(policy), builds: BuildSet::Traced, ..Variant::new(k, dims).unit() }
}

impl Cuda {
    /// Searches one query with the traced kernel, staging `groups` groups of points together
    /// ([`groups_in_batch`] gives the allowed range).
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] if the kernel cannot be compiled, [`EngineError::Memory`] and
    /// [`EngineError::HostMemory`] if the trace does not fit, [`EngineError::Limit`],
    /// [`EngineError::Device`].
    ///
    /// # Panics
    /// If `query` is out of range.
    pub fn trace(&mut self, problem: &Problem, query: usize, groups: usize) -> Result<Trace> {
        let (n, dims, k) = (problem.n(), problem.dims(), problem.k());
        assert!(query < problem.q(), "query {query} of {}", problem.q());
        DIRECT.check(problem, &Parameters::default())?;
        let unit = unit(k, dims, groups_in_batch(dims, Some(groups)));
        let kernel = self.traced(unit)?;
        let layout = Layout::new(n, dims, unit, kernel.config.policy);
        let mut memory = layout.load(self, problem, 0)?;
        let words = self.words(problem, query, &kernel, &mut memory)?;
        let mut neighbors = Neighbors::default();
        memory.download(self, &mut neighbors).map_err(|error| self.failed(error))?;
        Ok(Trace::new(
            self.device.name.clone(),
            unit.capacity as usize / GROUP,
            words,
            neighbours(&neighbors, query),
        ))
    }

    fn traced(&mut self, unit: Unit) -> Result<Kernel> {
        let kernel = self.kernels.traced(unit).and_then(|kernel| {
            // Load now: the upload cannot report an error.
            if unit.dims == 0 {
                self.kernels.function(unit, GROUP_ROWS_ENTRY).map(|_| kernel)
            } else {
                Ok(kernel)
            }
        });
        kernel.map_err(|why| suggest_lockstep(EngineError::Unavailable { engine: DIRECT.id, why }))
    }

    /// Launches the kernel for one query and returns the recorded words.
    fn words(
        &mut self,
        problem: &Problem,
        query: usize,
        kernel: &Kernel,
        memory: &mut SearchBuffers,
    ) -> Result<Vec<u32>> {
        let cuda = &*self;
        let arguments = direct::arguments(memory, &cuda.stream, &(query..query + 1), TallyOut::default());
        let config = LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (kernel.config.policy.threads(), 1, 1),
            shared_mem_bytes: kernel.config.shared_bytes,
        };
        cuda.record(problem, INITIAL_WORDS + GROUP_WORDS * problem.n().div_ceil(GROUP), |trace| {
            // SAFETY: these match the kernel's parameters; their pointers are to buffers of this search with
            // the sizes that they state.
            unsafe { cuda.stream.launch_builder(&kernel.function).arg(&arguments).arg(&trace).launch(config) }
                .map(drop)
        })
    }

    /// Launches a traced kernel, again with a larger buffer if the trace did not fit, and returns the
    /// recorded words. `capacity` is the initial number of words.
    pub(super) fn record(
        &self,
        problem: &Problem,
        mut capacity: usize,
        launch: impl Fn(interface::Trace) -> DriverResult,
    ) -> Result<Vec<u32>> {
        let stream = &self.stream;
        let run = |words: &mut CudaSlice<u32>| -> DriverResult<usize> {
            let mut needed = stream.alloc_zeros::<u64>(1)?;
            let mut keys = stream.alloc_zeros::<u64>(2 * problem.k().next_power_of_two().max(GROUP))?;
            launch(interface::Trace {
                capacity: words.len() as u64,
                words: words.device_ptr_mut(stream).0,
                needed: needed.device_ptr_mut(stream).0,
                keys: keys.device_ptr_mut(stream).0,
            })?;
            Ok(read(stream, &needed)?[0] as usize)
        };
        loop {
            let mut words = self.room(problem, capacity)?;
            // If this exceeds the buffer, only the first words were written.
            let needed = run(&mut words).map_err(|error| self.failed(error))?;
            if needed <= capacity {
                let written = words.slice(..needed);
                return stream.clone_dtoh(&written).map_err(|error| self.failed(error));
            }
            capacity = needed;
        }
    }

    fn room(&self, problem: &Problem, words: usize) -> Result<CudaSlice<u32>> {
        let needed = 4 * words as u64;
        host_memory::check(problem, needed)?;
        self.stream.synchronize().map_err(|error| self.failed(error))?;
        let free = self.free().map_err(|error| self.failed(error))?;
        if needed > free {
            return Err(EngineError::Memory {
                needed: needed.div_ceil(1 << 20),
                free: free >> 20,
                device: self.device.name.clone(),
            });
        }
        self.stream.alloc_zeros(words).map_err(|error| self.failed(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_batches_match_the_cpu_reference() {
        assert_eq!([2, 3, 17, 128, 1000].map(|dims| groups_in_batch(dims, None)), [128, 85, 15, 2, 1]);
        assert_eq!([1, 4].map(|dims| groups_in_batch(dims, None)), [32, 32]);
        assert_eq!([Some(8), Some(0), Some(4000)].map(|groups| groups_in_batch(2, groups)), [8, 1, 128]);
    }

    #[test]
    fn traced_kernels_use_one_warp_and_single_group_windows() {
        let rows = unit(33, 2, 8);
        assert_eq!(
            (rows.capacity, rows.dims, rows.policy.map(Policy::to_array)),
            (64, 2, Some([1, 1, 1, 256, 2, 2, 0]))
        );
        let tiles = unit(1000, 17, 15);
        assert_eq!(
            (tiles.capacity, tiles.dims, tiles.policy.map(Policy::to_array)),
            (1024, 0, Some([1, 1, 15, 480, 2, 8, 0]))
        );
        assert_eq!((rows.policy.unwrap().queries_per_block(), rows.builds), (1, BuildSet::Traced));
    }
}
