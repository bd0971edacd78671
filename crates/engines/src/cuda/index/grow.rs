//! The tree in device memory, the launches that build it, and the radix sort of points and queries by their
//! Morton codes.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};

use crate::cuda::DriverResult;
use crate::cuda::device::kernels::KernelCache;
use crate::cuda::device::memory::{self, launch, read};
use crate::cuda::device::units::Unit;
use crate::cuda::interface::index::{
    BUILD_THREADS, Codes, Frame, Growth, HEIGHTS, Pass, SORT_BITS, SORT_ITEMS, SORT_PASSES, SORT_THREADS,
    Tree, index_entry,
};
use crate::index;
use crate::index::{BitRange, MortonGrid as HostFrame, SortPrecision, WARP};

/// Keys per tile, which a block sorts.
const TILE: usize = (SORT_THREADS * SORT_ITEMS) as usize;

const DIGITS: usize = 1 << SORT_BITS;

/// Device memory for sorting rows. The sorted order is in it afterwards.
pub struct Scratch {
    keys: [CudaSlice<u32>; 2],
    order: [CudaSlice<u32>; 2],
    /// Three parts, each with an entry per pass: the counts of each digit, the next tile's number, and the
    /// words that the tiles publish.
    zeroed: CudaSlice<u32>,
}

/// At least one row of d coordinates in device memory.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRows {
    pub address: CUdeviceptr,
    pub count: usize,
    pub d: usize,
}

impl Scratch {
    /// Words that must be zero before `count` rows are sorted.
    fn zeros(count: usize) -> usize {
        SORT_PASSES as usize * (DIGITS + 1 + DIGITS * count.div_ceil(TILE))
    }

    /// Bytes for sorting `count` rows.
    pub fn bytes(count: usize) -> u64 {
        4 * (4 * count + Self::zeros(count)) as u64
    }

    /// # Errors
    /// Those of the driver, such as too little memory.
    pub fn reserve(stream: &Arc<CudaStream>, count: usize) -> DriverResult<Self> {
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            Ok(Self {
                keys: [stream.alloc(count)?, stream.alloc(count)?],
                order: [stream.alloc(count)?, stream.alloc(count)?],
                zeroed: stream.alloc(Self::zeros(count))?,
            })
        }
    }

    /// The number of rows that fit.
    pub fn len(&self) -> usize {
        self.keys[0].len()
    }
}

/// The tree over points on a device, cached with the points.
pub struct DeviceTree {
    pub frame: HostFrame,
    low: CudaSlice<f32>,
    coordinates: CudaSlice<f32>,
    positions: CudaSlice<u32>,
    corners: CudaSlice<f32>,
    smallest: CudaSlice<u32>,
    first_codes: CudaSlice<u64>,
    /// Number of leaves whose first code has the same sorted bits as the next leaf's.
    crowded: CudaSlice<u32>,
    n: usize,
    d: usize,
}

struct Layout {
    leaves: usize,
    /// Boxes of each height, without padding; 0 above the top.
    boxes: [u32; HEIGHTS as usize],
    first_group: [u32; HEIGHTS as usize],
    top: usize,
    groups: usize,
}

impl Layout {
    fn new(n: usize) -> Self {
        let leaves = n.div_ceil(WARP);
        let (mut boxes, mut first_group) = ([0; HEIGHTS as usize], [0; HEIGHTS as usize]);
        let (mut top, mut groups, mut count) = (0, 0, leaves);
        loop {
            (boxes[top], first_group[top]) = (count as u32, groups as u32);
            groups += count.div_ceil(WARP);
            if count <= WARP {
                return Self { leaves, boxes, first_group, top, groups };
            }
            (top, count) = (top + 1, count.div_ceil(WARP));
        }
    }
}

/// The kernels that build a tree, and that sort points and queries by their Morton codes.
pub struct TreeBuilder {
    codes: CudaFunction,
    sweep: CudaFunction,
    leaves: CudaFunction,
    boxes: CudaFunction,
}

impl TreeBuilder {
    /// # Errors
    /// Why the kernels are unavailable.
    pub fn load(kernels: &mut KernelCache) -> Result<Self, String> {
        let mut step = |name: &str| kernels.function(Unit::new(super::BUILD, 0, 0), &index_entry(name));
        Ok(Self {
            codes: step("codes")?,
            sweep: step("sweep")?,
            leaves: step("leaves")?,
            boxes: step("boxes")?,
        })
    }

    /// Sorts rows by some bits of their codes in the frame, the lowest first. The sort is stable. Returns the
    /// address of the sorted row numbers, valid until the next sort with the same scratch.
    ///
    /// # Safety
    /// `rows` and `frame.low` must be valid: `rows.count` rows of `d` coordinates, and `d` coordinates.
    ///
    /// # Errors
    /// Those of the driver.
    pub unsafe fn sort(
        &self,
        stream: &Arc<CudaStream>,
        scratch: &mut Scratch,
        rows: DeviceRows,
        frame: Frame,
        parts: &[BitRange],
    ) -> DriverResult<CUdeviceptr> {
        let DeviceRows { address, count, d } = rows;
        debug_assert!(0 < count && count <= scratch.len());
        let tiles = count.div_ceil(TILE);
        let keys = scratch.keys.each_mut().map(|keys| keys.device_ptr_mut(stream).0);
        let orders = scratch.order.each_mut().map(|order| order.device_ptr_mut(stream).0);
        let config = memory::blocks(tiles as u32, SORT_THREADS);
        let word = |at: usize| 4 * at as u64;
        // Which of the two buffers the keys and the order are in.
        let (mut at, mut order) = (0, 0);
        for part in parts {
            stream.memset_zeros(&mut scratch.zeroed.slice_mut(..Scratch::zeros(count)))?;
            let counts = scratch.zeroed.device_ptr_mut(stream).0;
            let turns = counts + word(SORT_PASSES as usize * DIGITS);
            let published = turns + word(SORT_PASSES as usize);
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
            // SAFETY: `Codes` is the kernel's parameter, whose pointers cover `count` rows and the digits of
            // all passes.
            unsafe { launch(stream, &self.codes, config, &codes) }?;
            for pass in 0..passes as usize {
                let arguments = Pass {
                    keys: keys[at],
                    order,
                    sorted_keys: keys[1 - at],
                    sorted_order: orders[1 - at],
                    counts: counts + word(pass * DIGITS),
                    tiles: published + word(pass * DIGITS * tiles),
                    turn: turns + word(pass),
                    count: count as u32,
                    shift: pass as u32 * SORT_BITS,
                };
                // SAFETY: `Pass` is the kernel's parameter. Its pointers cover `count` keys and the zeroed
                // words that the tiles of this pass publish. The order is read from the buffer that is not
                // written.
                unsafe { launch(stream, &self.sweep, config, &arguments) }?;
                at = 1 - at;
                order = orders[at];
            }
        }
        Ok(order)
    }
}

impl DeviceTree {
    /// Whether the sorted bits of the last build distinguish too few points.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn is_crowded(&self, stream: &Arc<CudaStream>) -> DriverResult<bool> {
        Ok(index::is_crowded(read(stream, &self.crowded)?[0] as usize, self.n))
    }

    /// Bytes of a tree over n points in d dimensions.
    pub fn bytes(n: usize, d: usize) -> u64 {
        let layout = Layout::new(n);
        4 * (layout.leaves * WARP * (d + 1) + layout.groups * WARP * (2 * d + 3) + d) as u64
    }

    /// Reserves memory for the tree over n points, which [`Self::grow`] fills.
    ///
    /// # Errors
    /// Those of the driver, such as too little memory.
    pub fn reserve(stream: &Arc<CudaStream>, frame: HostFrame, n: usize) -> DriverResult<Self> {
        let (d, layout) = (frame.low.len(), Layout::new(n));
        let low = stream.clone_htod(&frame.low)?;
        // SAFETY: uninitialised memory, written before it is read.
        unsafe {
            Ok(Self {
                frame,
                low,
                coordinates: stream.alloc(layout.leaves * d * WARP)?,
                positions: stream.alloc(layout.leaves * WARP)?,
                corners: stream.alloc(layout.groups * 2 * d * WARP)?,
                smallest: stream.alloc(layout.groups * WARP)?,
                first_codes: stream.alloc(layout.groups * WARP)?,
                crowded: stream.alloc(1)?,
                n,
                d,
            })
        }
    }

    /// The frame as a kernel argument.
    pub fn device_frame(&self, stream: &Arc<CudaStream>) -> Frame {
        Frame { low: self.low.device_ptr(stream).0, scale: self.frame.scale, bits: self.frame.bits }
    }

    /// The tree as a kernel argument.
    pub fn arguments(&self, stream: &Arc<CudaStream>) -> Tree {
        let layout = Layout::new(self.n);
        Tree {
            coordinates: self.coordinates.device_ptr(stream).0,
            positions: self.positions.device_ptr(stream).0,
            corners: self.corners.device_ptr(stream).0,
            smallest: self.smallest.device_ptr(stream).0,
            first_codes: self.first_codes.device_ptr(stream).0,
            first_group: layout.first_group,
            boxes: layout.boxes,
            top: layout.top as u32,
            n: self.n as u32,
            d: self.d as u32,
        }
    }

    /// Launches every kernel once on the first rows, because a kernel's first launch also loads its code.
    /// [`Self::grow`] then overwrites the result.
    ///
    /// # Safety
    /// See [`Self::grow`].
    ///
    /// # Errors
    /// Those of the driver.
    pub unsafe fn load_kernels(
        &mut self,
        stream: &Arc<CudaStream>,
        grower: &TreeBuilder,
        scratch: &mut Scratch,
        rows: CUdeviceptr,
    ) -> DriverResult {
        let n = self.n;
        self.n = n.min(WARP * WARP + 1);
        // SAFETY: guaranteed by the caller; the rows exist.
        let grown = unsafe { self.grow(stream, grower, scratch, rows, SortPrecision::Coarse) };
        self.n = n;
        grown
    }

    /// Builds the tree over n rows on the device, by the given bits of their codes.
    ///
    /// # Safety
    /// `rows` must be the address of n rows of d numbers.
    ///
    /// # Errors
    /// Those of the driver; the tree must then not be searched.
    pub unsafe fn grow(
        &mut self,
        stream: &Arc<CudaStream>,
        grower: &TreeBuilder,
        scratch: &mut Scratch,
        rows: CUdeviceptr,
        depth: SortPrecision,
    ) -> DriverResult {
        let (parts, below) = self.frame.bit_ranges(depth);
        let frame = self.device_frame(stream);
        // SAFETY: guaranteed by the caller; the frame's axes are on the device.
        let order = unsafe {
            grower.sort(
                stream,
                scratch,
                DeviceRows { address: rows, count: self.n, d: self.d },
                frame,
                &parts,
            )
        }?;
        stream.memset_zeros(&mut self.crowded)?;
        // Mark these as written by the kernels.
        let _ = (self.coordinates.device_ptr_mut(stream), self.positions.device_ptr_mut(stream));
        let _ = (
            self.corners.device_ptr_mut(stream),
            self.smallest.device_ptr_mut(stream),
            self.first_codes.device_ptr_mut(stream),
        );
        let tree = self.arguments(stream);
        for height in 0..=tree.top {
            let function = if height == 0 { &grower.leaves } else { &grower.boxes };
            let boxes = tree.boxes[height as usize].next_multiple_of(WARP as u32);
            let config = memory::blocks(boxes.div_ceil(BUILD_THREADS / WARP as u32), BUILD_THREADS);
            let growth = Growth {
                rows,
                order,
                crowded: self.crowded.device_ptr_mut(stream).0,
                tree,
                frame,
                below,
                height,
            };
            // SAFETY: `Growth` is the kernels' parameter, and its buffers have the sizes of the layout.
            unsafe { launch(stream, function, config, &growth) }?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_one_box_per_child_group() {
        for (n, boxes) in [
            (1, vec![1]),
            (32, vec![1]),
            (33, vec![2]),
            (1024, vec![32]),
            (1025, vec![33, 2]),
            (1_000_000, vec![31_250, 977, 31]),
        ] {
            let layout = Layout::new(n);
            assert_eq!(
                (layout.boxes[..=layout.top].to_vec(), layout.leaves),
                (boxes, n.div_ceil(WARP)),
                "{n} points"
            );
        }
        let most = Layout::new(u32::MAX as usize);
        assert_eq!(most.top + 1, HEIGHTS as usize);
        assert!(most.first_group.is_sorted() && most.groups > most.first_group[most.top] as usize);
    }
}
