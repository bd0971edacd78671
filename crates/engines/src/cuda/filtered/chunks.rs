//! Splits the points into chunks for the filter, and decides when filtering stops paying off.

use std::ops::Range;

use super::interface::{FILTER_TILE, FILTER_TILES_TOGETHER};

/// Chunks start at multiples of this many points: the filter tiles whose survivor bits are stored together.
pub const CHUNK: usize = (FILTER_TILE * FILTER_TILES_TOGETHER) as usize;

/// The chunks of n points: the first has `first` points, each later one doubles the number covered, up to `most` per chunk.
/// All start at multiples of [`CHUNK`].
pub(super) fn chunks(n: usize, first: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= n {
            return None;
        }
        let size = if start == 0 { first } else { start }.next_multiple_of(CHUNK).min(most);
        // A small remainder is merged into the last chunk.
        let end = if n - start <= (size + size / 4).min(most) { n } else { start + size };
        Some(std::mem::replace(&mut start, end)..end)
    })
}

/// Whether too many pairs of points `from..to` and `queries` queries survived: more than a sixteenth, and far more than in
/// random order, where a point is a candidate if it is among the `reach` nearest so far.
pub(super) fn too_many(survivors: u64, pairs: u64, queries: usize, reach: usize, from: usize, to: usize) -> bool {
    let expected = reach as f64 * (to as f64 / from as f64).ln() * queries as f64;
    survivors > pairs / 16 && survivors as f64 > 8.0 * expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_points_and_double() {
        for (n, first, most) in [(1, 256, 1 << 20), (1_000_003, 256, 1 << 20), (300_000, 8192, 16_384), (257, 256, 256), (1_000_000, 1024, 262_144)] {
            let all: Vec<_> = chunks(n, first, most).collect();
            assert_eq!((all[0].start, all[all.len() - 1].end), (0, n));
            for pair in all.windows(2) {
                assert_eq!(pair[0].end, pair[1].start);
                assert!(pair[1].start % CHUNK == 0 && pair[1].len() <= most, "{pair:?}");
                assert!(pair[1].len() <= pair[1].start + pair[1].start / 4, "{pair:?}: the bound would be too loose");
            }
        }
        assert_eq!(chunks(1_000_000, 256, usize::MAX / 2).count(), 13);
    }

    #[test]
    fn few_survivors_are_not_too_many() {
        // Random order: half of 64 candidates in 256 points is a lot, but expected.
        assert!(!too_many(40 * 100, 256 * 100, 100, 64, 256, 512));
        // Every point survives.
        assert!(too_many(8192 * 100, 8192 * 100, 100, 64, 8192, 16_384));
        // Far more than in random order, but few enough to be cheap to compute.
        assert!(!too_many(100_000, 100 * 100_000, 100, 64, 100_000, 200_000));
    }
}
