//! The radix sort of points, and of queries, by their Morton codes.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::interface::{BUILD_THREADS, Codes, Frame, Pass, SORT_BITS, SORT_ITEMS, SORT_THREADS, index_entry};
use crate::engines::cuda::device::kernels::Kernels;
use crate::engines::cuda::device::units::Unit;

/// Keys in a block's tile.
const TILE: usize = (SORT_THREADS * SORT_ITEMS) as usize;

/// Digits of a pass.
const DIGITS: usize = 1 << SORT_BITS;

/// The kernels of the sort.
pub struct Sorter {
    codes: CudaFunction,
    count: CudaFunction,
    scan: CudaFunction,
    scatter: CudaFunction,
}

/// Device memory for sorting so many rows; the order comes out in it.
pub struct Scratch {
    codes: [CudaSlice<u64>; 2],
    order: [CudaSlice<u32>; 2],
    counts: CudaSlice<u32>,
    totals: CudaSlice<u32>,
}

/// Rows of d coordinates in device memory, at least one.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub address: CUdeviceptr,
    pub count: usize,
    pub d: usize,
}

/// Where the result of a sort is, until the next with the same scratch.
#[derive(Clone, Copy, Debug)]
pub struct Sorted {
    /// The rows' numbers.
    pub order: CUdeviceptr,
    /// Their codes.
    pub codes: CUdeviceptr,
}

impl Scratch {
    /// Bytes for sorting `count` rows.
    pub fn bytes(count: usize) -> u64 {
        (24 * count + 4 * DIGITS * (count.div_ceil(TILE) + 1)) as u64
    }

    /// # Errors
    /// Those of the driver, such as too little memory.
    pub fn reserve(stream: &Arc<CudaStream>, count: usize) -> Result<Self, DriverError> {
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            Ok(Self {
                codes: [stream.alloc(count)?, stream.alloc(count)?],
                order: [stream.alloc(count)?, stream.alloc(count)?],
                counts: stream.alloc(DIGITS * count.div_ceil(TILE))?,
                totals: stream.alloc(DIGITS)?,
            })
        }
    }

    /// How many rows it is for.
    pub fn len(&self) -> usize {
        self.codes[0].len()
    }
}

impl Sorter {
    /// # Errors
    /// Why there are no kernels.
    pub fn load(kernels: &mut Kernels) -> Result<Self, String> {
        let mut step = |name: &str| kernels.function(Unit::new(super::BUILD, 0, 0), &index_entry(name));
        Ok(Self { codes: step("codes")?, count: step("count")?, scan: step("scan")?, scatter: step("scatter")? })
    }

    /// Sorts rows by their codes in the frame; equal codes keep their order. With `sorted` false they have
    /// codes, and stay in the order that they come in.
    ///
    /// # Safety
    /// The rows are where `rows` says, and as many coordinates at `frame.low`.
    ///
    /// # Errors
    /// Those of the driver.
    pub unsafe fn sort(
        &self,
        stream: &Arc<CudaStream>,
        scratch: &mut Scratch,
        rows: Rows,
        frame: Frame,
        sorted: bool,
    ) -> Result<Sorted, DriverError> {
        let Rows { address, count, d } = rows;
        debug_assert!(0 < count && count <= scratch.len());
        let blocks = count.div_ceil(TILE) as u32;
        let codes = scratch.codes.each_mut().map(|codes| codes.device_ptr_mut(stream).0);
        let order = scratch.order.each_mut().map(|order| order.device_ptr_mut(stream).0);
        let (counts, totals) = (scratch.counts.device_ptr_mut(stream).0, scratch.totals.device_ptr_mut(stream).0);

        let arguments = Codes { rows: address, codes: codes[0], order: order[0], frame, count: count as u32, d: d as u32 };
        let config = LaunchConfig { grid_dim: ((count as u32).div_ceil(BUILD_THREADS), 1, 1), block_dim: (BUILD_THREADS, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: `Codes` is the kernel's parameter, whose pointers cover `count` rows.
        unsafe { stream.launch_builder(&self.codes).arg(&arguments).launch(config) }?;

        let mut at = 0;
        let bits = if sorted { frame.bits * d as u32 } else { 0 };
        for shift in (0..bits).step_by(SORT_BITS as usize) {
            let pass = Pass {
                codes: codes[at],
                order: order[at],
                sorted_codes: codes[1 - at],
                sorted_order: order[1 - at],
                counts,
                totals,
                count: count as u32,
                shift,
                blocks,
            };
            for (function, grid) in [(&self.count, blocks), (&self.scan, DIGITS as u32), (&self.scatter, blocks)] {
                let config = LaunchConfig { grid_dim: (grid, 1, 1), block_dim: (SORT_THREADS, 1, 1), shared_mem_bytes: 0 };
                // SAFETY: `Pass` is the kernels' parameter; its pointers cover `count` keys and the counts of `blocks` tiles.
                unsafe { stream.launch_builder(function).arg(&pass).launch(config) }?;
            }
            at = 1 - at;
        }
        Ok(Sorted { order: order[at], codes: codes[at] })
    }
}
