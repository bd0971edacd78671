//! The radix sort of points, and of queries, by their Morton codes.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};

use super::interface::{Codes, Frame, Pass, SORT_BITS, SORT_ITEMS, SORT_PASSES, SORT_THREADS, index_entry};
use crate::cuda::device::kernels::Kernels;
use crate::cuda::device::units::Unit;
use crate::index::Part;

/// Keys in a block's tile.
const TILE: usize = (SORT_THREADS * SORT_ITEMS) as usize;

/// Digits of a pass.
const DIGITS: usize = 1 << SORT_BITS;

/// The kernels of the sort.
pub struct Sorter {
    codes: CudaFunction,
    sweep: CudaFunction,
}

/// Device memory for sorting so many rows; the order comes out in it.
pub struct Scratch {
    keys: [CudaSlice<u32>; 2],
    order: [CudaSlice<u32>; 2],
    /// For each pass the keys of each digit, then for each the next tile's number, then for each what its tiles publish.
    zeroed: CudaSlice<u32>,
}

/// Rows of d coordinates in device memory, at least one.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub address: CUdeviceptr,
    pub count: usize,
    pub d: usize,
}

impl Scratch {
    /// Words that have to be zero before `count` rows are sorted.
    fn zeros(count: usize) -> usize {
        SORT_PASSES as usize * (DIGITS + 1 + DIGITS * count.div_ceil(TILE))
    }

    /// Bytes for sorting `count` rows.
    pub fn bytes(count: usize) -> u64 {
        4 * (4 * count + Self::zeros(count)) as u64
    }

    /// # Errors
    /// Those of the driver, such as too little memory.
    pub fn reserve(stream: &Arc<CudaStream>, count: usize) -> Result<Self, DriverError> {
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            Ok(Self {
                keys: [stream.alloc(count)?, stream.alloc(count)?],
                order: [stream.alloc(count)?, stream.alloc(count)?],
                zeroed: stream.alloc(Self::zeros(count))?,
            })
        }
    }

    /// How many rows it is for.
    pub fn len(&self) -> usize {
        self.keys[0].len()
    }
}

impl Sorter {
    /// # Errors
    /// Why there are no kernels.
    pub fn load(kernels: &mut Kernels) -> Result<Self, String> {
        let mut step = |name: &str| kernels.function(Unit::new(super::BUILD, 0, 0), &index_entry(name));
        Ok(Self { codes: step("codes")?, sweep: step("sweep")? })
    }

    /// Sorts rows by some bits of their codes in the frame, the lowest first; where these are equal, rows keep their order. Returns where
    /// the rows' numbers are, until the next sort with the same scratch.
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
        parts: &[Part],
    ) -> Result<CUdeviceptr, DriverError> {
        let Rows { address, count, d } = rows;
        debug_assert!(0 < count && count <= scratch.len());
        let blocks = count.div_ceil(TILE) as u32;
        let keys = scratch.keys.each_mut().map(|keys| keys.device_ptr_mut(stream).0);
        let orders = scratch.order.each_mut().map(|order| order.device_ptr_mut(stream).0);
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (SORT_THREADS, 1, 1), shared_mem_bytes: 0 };
        let word = |at: usize| 4 * at as u64;
        // Which of the two the keys and the order are in.
        let (mut at, mut order) = (0, 0);
        for part in parts {
            stream.memset_zeros(&mut scratch.zeroed.slice_mut(..Scratch::zeros(count)))?;
            let counts = scratch.zeroed.device_ptr_mut(stream).0;
            let turns = counts + word(SORT_PASSES as usize * DIGITS);
            let tiles = turns + word(SORT_PASSES as usize);
            let passes = part.bits.div_ceil(SORT_BITS);
            let codes = Codes {
                rows: address,
                order,
                keys: keys[at],
                counts,
                frame,
                count: count as u32,
                d: d as u32,
                shift: part.shift,
                mask: u32::MAX >> (u32::BITS - part.bits),
                passes,
            };
            // SAFETY: `Codes` is the kernel's parameter, whose pointers cover `count` rows and the digits of all passes.
            unsafe { stream.launch_builder(&self.codes).arg(&codes).launch(config) }?;
            for pass in 0..passes as usize {
                let arguments = Pass {
                    keys: keys[at],
                    order,
                    sorted_keys: keys[1 - at],
                    sorted_order: orders[1 - at],
                    counts: counts + word(pass * DIGITS),
                    tiles: tiles + word(pass * DIGITS * blocks as usize),
                    turn: turns + word(pass),
                    count: count as u32,
                    shift: pass as u32 * SORT_BITS,
                };
                // SAFETY: `Pass` is the kernel's parameter; its pointers cover `count` keys, and what the tiles of this pass publish,
                // which was zeroed. The order is read from the buffer that is not written to.
                unsafe { stream.launch_builder(&self.sweep).arg(&arguments).launch(config) }?;
                at = 1 - at;
                order = orders[at];
            }
        }
        Ok(order)
    }
}
