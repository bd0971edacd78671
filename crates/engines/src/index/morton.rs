//! Morton codes: points that are close on the curve are close in space.
//!
//! Twin of `cuda/index/morton.cuh`.

/// Bits of a code. The 64th stays clear, so that the code of padding, all ones, is greater than those of all
/// points.
const BITS: u32 = 63;

/// Bits that one radix sort handles.
const KEY_BITS: u32 = 32;

/// How many bits of the codes the points are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortPrecision {
    /// The highest 32, which distinguish most points.
    Coarse,
    /// All bits.
    Fine,
}

/// A range of the bits of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitRange {
    /// The number of bits below the range.
    pub shift: u32,
    /// The number of bits in the range, at most 32.
    pub bits: u32,
}

/// Whether the highest bits distinguish too few points, given how many of the leaves in a tree over n points
/// begin with the same bits as the next leaf. No CUDA counterpart: the host decides for both devices.
pub fn is_crowded(leaves: usize, n: usize) -> bool {
    leaves * 16 * super::WARP > n
}

/// The grid of the curve: cubic cells that cover the extent of the points, so that all axes are divided
/// equally finely.
#[derive(Clone, Debug)]
pub struct MortonGrid {
    /// The least coordinate of each axis.
    pub low: Vec<f32>,
    /// Cells per unit of length, the same for all axes; 0 if all points are equal.
    pub scale: f32,
    /// Bits of a coordinate's cell, limited by the size of a code and by the precision of coordinates of one
    /// magnitude.
    pub bits: u32,
}

impl MortonGrid {
    /// The frame of points with these least and greatest coordinates; at most 63 axes. No CUDA counterpart:
    /// the host computes it for both devices.
    pub fn new(extents: &[[f32; 2]]) -> Self {
        let dims = extents.len();
        let low = extents.iter().map(|[low, _]| *low).collect();
        let extent = extents.iter().map(|[low, high]| high - low).fold(0.0, f32::max);
        let bits = (BITS / dims as u32).clamp(1, f32::MANTISSA_DIGITS);
        let scale = if extent > 0.0 { (1u32 << bits) as f32 / extent } else { 0.0 };
        Self { low, scale, bits }
    }

    /// The parts of the codes to sort by, the lowest first, and the number of bits below them. No CUDA
    /// counterpart: the host launches the passes.
    pub fn bit_ranges(&self, depth: SortPrecision) -> (Vec<BitRange>, u32) {
        let all = self.bits * self.low.len() as u32;
        let below = all.saturating_sub(KEY_BITS);
        let high = BitRange { shift: below, bits: all - below };
        match depth {
            SortPrecision::Fine if below > 0 => (vec![BitRange { shift: 0, bits: below }, high], 0),
            _ => (vec![high], below),
        }
    }

    /// The code of a point. Points outside the extent get the code of the nearest cell.
    pub fn code(&self, point: &[f32]) -> u64 {
        let last = (1u32 << self.bits) - 1;
        let cells = |axis: usize| (((point[axis] - self.low[axis]) * self.scale) as u32).min(last);
        match self.low.len() {
            1 => u64::from(cells(0)),
            2 => spread_2(cells(0)) << 1 | spread_2(cells(1)),
            3 => spread_3(cells(0)) << 2 | spread_3(cells(1)) << 1 | spread_3(cells(2)),
            axes => (0..axes).fold(0, |code, axis| {
                code | spread(cells(axis), self.bits, axes as u32) << (axes - 1 - axis)
            }),
        }
    }
}

/// Inserts a zero before each bit.
fn spread_2(cell: u32) -> u64 {
    let mut code = u64::from(cell);
    code = (code | code << 16) & 0x0000_ffff_0000_ffff;
    code = (code | code << 8) & 0x00ff_00ff_00ff_00ff;
    code = (code | code << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    code = (code | code << 2) & 0x3333_3333_3333_3333;
    (code | code << 1) & 0x5555_5555_5555_5555
}

/// Inserts two zeros before each of 21 bits.
fn spread_3(cell: u32) -> u64 {
    let mut code = u64::from(cell) & 0x1f_ffff;
    code = (code | code << 32) & 0x001f_0000_0000_ffff;
    code = (code | code << 16) & 0x001f_0000_ff00_00ff;
    code = (code | code << 8) & 0x100f_00f0_0f00_f00f;
    code = (code | code << 4) & 0x10c3_0c30_c30c_30c3;
    (code | code << 2) & 0x1249_2492_4924_9249
}

/// Inserts `axes` − 1 zeros before each of `bits` bits.
fn spread(cell: u32, bits: u32, axes: u32) -> u64 {
    (0..bits).fold(0, |code, bit| code | u64::from(cell >> bit & 1) << (bit * axes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_spreading_matches_the_reference() {
        for cell in [0, 1, 2, 3, 0x5555, 0xabcd, 0x1f_ffff, 0x12_3456] {
            assert_eq!(spread_3(cell), spread(cell, 21, 3), "{cell:#x}");
            assert_eq!(spread_2(cell), spread(cell, 24, 2), "{cell:#x}");
        }
        assert_eq!(spread_2(0xff_ffff), spread(0xff_ffff, 24, 2));
    }

    #[test]
    fn codes_follow_the_z_order_curve() {
        let points: Vec<f32> = (0..16).flat_map(|i| [(i % 4) as f32, (i / 4) as f32]).collect();
        let frame = MortonGrid::new(&[[0.0, 3.0]; 2]);
        let mut rows: Vec<usize> = (0..16).collect();
        rows.sort_by_key(|&row| frame.code(&points[2 * row..2 * row + 2]));
        assert_eq!(rows, [0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15]);
    }

    #[test]
    fn codes_are_clamped_to_the_frame() {
        let frame = MortonGrid::new(&[[0.0, 1.0], [10.0, 10.0]]);
        assert_eq!(frame.code(&[-5.0, 10.0]), frame.code(&[0.0, 10.0]));
        assert_eq!(frame.code(&[7.0, 10.0]), frame.code(&[1.0, 10.0]));
        let alone = MortonGrid::new(&[[3.0, 3.0], [4.0, 4.0]]);
        assert_eq!((alone.scale, alone.code(&[1e9, 4.0])), (0.0, 0));
        for dims in [1, 2, 3, 4, 5, 8, 16, 32] {
            let points: Vec<f32> = (0..2 * dims).map(|at| at as f32).collect();
            let extents: Vec<[f32; 2]> = (0..dims).map(|axis| [points[axis], points[dims + axis]]).collect();
            let frame = MortonGrid::new(&extents);
            assert!(frame.code(&points[..dims]) < frame.code(&points[dims..]), "{dims} dimensions");
            assert!(frame.code(&vec![1e30; dims]) < u64::MAX, "padding comes last");
        }
    }
}
