//! Selection and sorting within a lane: each row has one value per lane, and each lane's column becomes
//! sorted. Lanes do not wait for one another.
//!
//! Twin of `cuda/lane.cuh`. The device also sorts keys this way; the CPU uses the standard library.

use super::boxes::WARP;
use crate::lockstep::distance::Coordinates;

/// Comparators: in every lane, `low` becomes the smaller.
#[inline(always)]
fn exchange(values: &mut [Coordinates<WARP>], low: usize, high: usize) {
    let (below, from_high) = values.split_at_mut(high);
    let (low, high) = (&mut below[low].0, &mut from_high[0].0);
    for lane in 0..WARP {
        // `f32::min` also handles NaN, at twice the instructions.
        let (a, b) = (low[lane], high[lane]);
        low[lane] = if b < a { b } else { a };
        high[lane] = if b < a { a } else { b };
    }
}

/// The layers of Batcher's odd-even merge sort that merge runs of `size` (Knuth, TAOCP 3, 5.2.2, algorithm
/// M). It has a fifth fewer comparators than the bitonic sort, whose regularity only matters between lanes.
#[inline(always)]
fn odd_even_merge(values: &mut [Coordinates<WARP>], size: usize) {
    let mut stride = size;
    while stride > 0 {
        for low in stride % size..values.len() - stride {
            if ((low - stride % size) / stride).is_multiple_of(2)
                && low / (2 * size) == (low + stride) / (2 * size)
            {
                exchange(values, low, low + stride);
            }
        }
        stride /= 2;
    }
}

/// Sorts the values of each lane in ascending order; their number is a power of two.
#[inline(always)]
pub fn sort(values: &mut [Coordinates<WARP>]) {
    let mut size = 1;
    while size < values.len() {
        odd_even_merge(values, size);
        size *= 2;
    }
}

/// Sorts values that rise and then fall.
#[inline(always)]
pub fn bitonic_merge(values: &mut [Coordinates<WARP>]) {
    let mut stride = values.len() / 2;
    while stride > 0 {
        for low in 0..values.len() {
            if low & stride == 0 {
                exchange(values, low, low + stride);
            }
        }
        stride /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of numbers, different in each lane.
    fn columns(rows: usize) -> Vec<Coordinates<WARP>> {
        (0..rows)
            .map(|row| Coordinates(std::array::from_fn(|lane| ((row * 7919 + lane * 104_729) % 257) as f32)))
            .collect()
    }

    fn column(values: &[Coordinates<WARP>], lane: usize) -> Vec<f32> {
        values.iter().map(|row| row.0[lane]).collect()
    }

    #[test]
    fn every_lane_is_sorted_independently() {
        for rows in [1, 2, 8, 16, 32, 128] {
            let before = columns(rows);
            let mut after = before.clone();
            sort(&mut after);
            for lane in 0..WARP {
                let mut expected = column(&before, lane);
                expected.sort_by(f32::total_cmp);
                assert_eq!(column(&after, lane), expected, "{rows} rows, lane {lane}");
            }
        }
    }

    #[test]
    fn bitonic_merge_sorts_bitonic_lanes() {
        for rows in [2, 8, 64] {
            for peak in [0, 1, rows / 2, rows - 1] {
                let mut values = columns(rows);
                sort(&mut values);
                values[peak..].reverse();
                let before = values.clone();
                bitonic_merge(&mut values);
                for lane in 0..WARP {
                    let mut expected = column(&before, lane);
                    expected.sort_by(f32::total_cmp);
                    assert_eq!(column(&values, lane), expected, "{rows} rows, falling from {peak} on");
                }
            }
        }
    }
}
