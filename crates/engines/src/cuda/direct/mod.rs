//! The direct kernel: a warp owns a few queries and computes every distance (`cuda/direct/`). This file has
//! the tuning policy of a kernel, `Policy` of `cuda/direct/interface.cuh`, and the memory layout in which it
//! streams its points; `search.rs` launches it.
//!
//! The table of policies is part of the device code (`cuda/direct/policy_table.cuh`, written by the tuner)
//! and is not repeated here: a loaded module contains its policy.

mod search;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, PushKernelArg};

use super::Cuda;
use super::device::kernels::KernelCache;
use super::device::memory::{Addresses, PointLayout, SearchBuffers, blocks, row_floats, upload_rows};
use super::device::units::Unit;
use super::interface::TallyOut;
pub use super::interface::direct::{
    GROUP_ROWS_ENTRY, KernelConfig, Policy, Search, WARP_KNN_CONFIG, warp_knn_entry,
};
use crate::Result;
use crate::cuda::DriverResult;
use crate::knn::{KernelBuild, Problem};
pub use search::{cost, load, load_unit};

/// An instance of the direct kernel's template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The capacity K: 32, 64, … 1,024.
    pub capacity: u32,
    /// 2, 3, or 0 for any other number of dimensions.
    pub dims: u32,
}

impl Variant {
    /// The smallest variant that holds `k` neighbours in `dims` dimensions.
    pub fn new(k: usize, dims: usize) -> Self {
        Self {
            capacity: k.next_power_of_two().max(32) as u32,
            dims: if dims == 2 || dims == 3 { dims as u32 } else { 0 },
        }
    }

    /// The variant's unit with the table's policy.
    pub fn unit(self) -> Unit {
        Unit::new("direct/warp_knn", self.capacity, self.dims)
    }
}

impl Policy {
    /// The seven numbers, in the order of the struct.
    pub fn to_array(self) -> [u32; 7] {
        [self.warps, self.queries, self.window, self.batch, self.slots, self.tile, self.min_blocks]
    }

    /// The policy with these seven numbers: the inverse of [`Self::to_array`].
    pub fn from_array([warps, queries, window, batch, slots, tile, min_blocks]: [u32; 7]) -> Self {
        Self { warps, queries, window, batch, slots, tile, min_blocks }
    }

    /// Rejects numbers that are inconsistent or that the kernel does not support.
    ///
    /// # Errors
    /// A sentence that quotes the numbers.
    pub fn check(self, variant: Variant) -> Result<(), String> {
        let Self { queries, window, batch, .. } = self;
        let points = window * 32;
        if variant.dims == 0 && batch != points {
            return Err(format!("batch = {batch}: must be one window of {points} points unless d is 2 or 3"));
        }
        if batch % points != 0 {
            return Err(format!("batch = {batch}: must be a multiple of the {points} points of a window"));
        }
        if queries * variant.capacity > 1024 {
            return Err(format!(
                "queries = {queries}: with K = {}, a warp has registers for at most {}",
                variant.capacity,
                1024 / variant.capacity
            ));
        }
        Ok(())
    }

    pub fn threads(self) -> u32 {
        self.warps * 32
    }

    /// Queries per block.
    pub fn queries_per_block(self) -> u32 {
        self.warps * self.queries
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { warps, queries, window, batch, slots, tile, min_blocks } = self;
        write!(
            f,
            "{warps} warps × {queries} queries, window {window}, batch {batch} × {slots}, tile {tile}, at \
             least {min_blocks} blocks"
        )
    }
}

/// Bytes uploaded at a time if the device rearranges the rows.
const UPLOAD: usize = 64 << 20;

/// The point layout of one kernel.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    n: usize,
    d: usize,
    unit: Unit,
    policy: Policy,
}

impl Layout {
    /// The layout for `n` points of `d` dimensions.
    pub fn new(n: usize, d: usize, unit: Unit, policy: Policy) -> Self {
        Self { n, d, unit, policy }
    }

    pub fn form(self) -> PointLayout {
        if self.unit.dims == 0 {
            PointLayout::Windows { window: self.policy.window, tile: self.policy.tile }
        } else {
            PointLayout::Rows
        }
    }

    fn window(self) -> usize {
        self.policy.window as usize * 32
    }

    /// Dimensions per point in a window, padded to whole tiles.
    fn padded_dims(self) -> usize {
        self.d.next_multiple_of(self.policy.tile as usize)
    }

    /// Floats that the points occupy, including the padding of the last batch.
    pub fn floats(self) -> usize {
        if self.unit.dims == 0 {
            self.n.next_multiple_of(self.window()) * self.padded_dims()
        } else {
            row_floats(self.n, self.d, self.policy.batch as usize)
        }
    }

    /// Floats of scratch memory that the upload also needs.
    fn scratch_floats(self) -> usize {
        if self.unit.dims == 0 { self.chunk().min(self.n) * self.d } else { 0 }
    }

    /// Rows uploaded at a time: a whole number of windows.
    fn chunk(self) -> usize {
        (UPLOAD / (self.d * 4)).max(1).next_multiple_of(self.window())
    }

    /// Reserves memory for a problem with points in this layout, plus `extra` bytes for the search, and
    /// uploads it.
    ///
    /// # Errors
    /// `EngineError::Memory` before anything is reserved, `EngineError::Device`.
    pub fn load(self, cuda: &mut Cuda, problem: &Problem, extra: u64) -> Result<SearchBuffers> {
        let extra = extra + 4 * self.scratch_floats() as u64;
        let mut memory = SearchBuffers::reserve(cuda, problem, self.form(), self.floats(), extra)?;
        memory.upload(cuda, problem, |cuda, points| {
            let mut scratch = cuda.stream.alloc_zeros::<f32>(self.scratch_floats().max(1))?;
            self.upload(cuda, problem.points(), points, &mut scratch)
        })?;
        Ok(memory)
    }

    /// Uploads the n × d row-major points and rearranges them, on the engine's stream. `scratch` has
    /// [`Self::scratch_floats`] floats.
    fn upload(
        self,
        cuda: &mut Cuda,
        rows: &[f32],
        points: &mut CudaSlice<f32>,
        scratch: &mut CudaSlice<f32>,
    ) -> DriverResult {
        let Self { d, unit, .. } = self;
        if unit.dims != 0 {
            return upload_rows(cuda, rows, points);
        }
        let stream = cuda.stream.clone();
        for (chunk, rows) in rows.chunks(self.chunk() * d).enumerate() {
            cuda.pipe.upload(&stream, rows, scratch)?;
            self.group(&mut cuda.kernels, &stream, scratch, chunk * self.chunk(), rows.len() / d, points)?;
        }
        Ok(())
    }

    /// The points in this layout, from rows that are already on the device; for any d except 2 and 3.
    pub fn arrange(
        self,
        kernels: &mut KernelCache,
        stream: &Arc<CudaStream>,
        rows: &CudaSlice<f32>,
    ) -> DriverResult<CudaSlice<f32>> {
        assert!(self.unit.dims == 0);
        let mut points = stream.alloc_zeros(self.floats())?;
        self.group(kernels, stream, rows, 0, self.n, &mut points)?;
        Ok(points)
    }

    fn group(
        self,
        kernels: &mut KernelCache,
        stream: &Arc<CudaStream>,
        rows: &CudaSlice<f32>,
        first: usize,
        count: usize,
        points: &mut CudaSlice<f32>,
    ) -> DriverResult {
        let group = kernels
            .function(self.unit.for_build(KernelBuild::Timed), GROUP_ROWS_ENTRY)
            .expect("the search's module was loaded, and holds it");
        let (first, count, n, d, padded) =
            (first as u32, count as u32, self.n as u32, self.d as u32, self.padded_dims() as u32);
        let mut launch = stream.launch_builder(&group);
        launch.arg(rows).arg(points).arg(&first).arg(&count).arg(&n).arg(&d).arg(&padded);
        // SAFETY: the arguments match the kernel's parameters one by one; the buffers have the sizes that
        // `Self` gives.
        unsafe { launch.launch(blocks(4096, 256)) }.map(drop)
    }
}

/// The kernel argument for a launch over a range of queries.
pub fn arguments(
    memory: &mut SearchBuffers,
    stream: &CudaStream,
    queries: &Range<usize>,
    tally: TallyOut,
) -> Search {
    let Addresses { points, queries: rows, indices, squared_distances, n, d, k, .. } =
        memory.addresses(stream);
    let (first_query, last_query) = (queries.start as u32, queries.end as u32);
    Search { points, queries: rows, n, d, k, first_query, last_query, indices, squared_distances, tally }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_rounds_up_to_a_power_of_two() {
        let capacities = [1, 31, 32, 33, 1000, 1024].map(|k| Variant::new(k, 2).capacity);
        assert_eq!(capacities, [32, 32, 32, 64, 1024, 1024]);
    }

    #[test]
    fn config_layout_matches_the_device() {
        let config: KernelConfig = bytemuck::cast([8, 4, 16, 1024, 2, 12, 3, 41_024]);
        assert_eq!((config.policy.to_array(), config.shared_bytes), ([8, 4, 16, 1024, 2, 12, 3], 41_024));
        assert_eq!((config.policy.threads(), config.policy.queries_per_block()), (256, 32));
    }

    #[test]
    fn layouts_are_padded_to_whole_batches() {
        let policy =
            Policy { warps: 8, queries: 4, window: 8, batch: 1024, slots: 4, tile: 16, min_blocks: 0 };
        let rows = Layout::new(1025, 3, Unit::new("direct/warp_knn", 32, 3), policy);
        assert_eq!((rows.floats(), rows.scratch_floats()), (4096 * 3, 0));
        // A batch that does not divide the usual padding, as parameters allow.
        for (n, batch) in [(8192, 96), (8192, 3072), (1_048_576, 96), (5000, 16_384)] {
            let floats =
                Layout::new(n, 2, Unit::new("direct/warp_knn", 32, 2), Policy { window: 3, batch, ..policy })
                    .floats();
            assert!(
                floats / 2 >= n.next_multiple_of(batch as usize),
                "n = {n}, batch = {batch}: {floats} floats"
            );
        }
        let windows = Layout::new(257, 17, Unit::new("direct/warp_knn", 32, 0), policy);
        assert_eq!((windows.floats(), windows.scratch_floats()), (512 * 32, 257 * 17));
        assert_eq!(windows.chunk() % 256, 0);
    }
}
