//! How many queries the next launch should have.

use std::ops::Range;

/// How long a chunk should take: long enough to fill the device, short enough that progress moves, that a cancel is
/// obeyed soon, and that a desktop's watchdog never fires.
const TARGET_MS: f64 = 50.0;

/// How much larger than the one before a chunk may be: the first, small chunk's time is mostly overhead.
const GROWTH: usize = 16;

/// Sizes chunks of queries from the time that the chunks before them took.
///
/// The rate is kept from one pass over the queries to the next, so that only the first pass begins with a small chunk.
#[derive(Clone, Debug)]
pub struct Chunks {
    /// What fills the device; smaller chunks would not be faster.
    unit: usize,
    /// How many queries take [`TARGET_MS`].
    target: usize,
}

impl Chunks {
    /// Knows nothing yet but the engine's first chunk.
    pub fn new(first_chunk: usize) -> Self {
        let unit = first_chunk.max(1);
        Self { unit, target: unit }
    }

    /// The next chunk of a pass, from `start` on; `None` when all `q` queries are through.
    ///
    /// What is left is shared out evenly, so that no small remainder runs on a device that is mostly idle.
    pub fn next(&self, start: usize, q: usize) -> Option<Range<usize>> {
        let left = q.checked_sub(start).filter(|&left| left > 0)?;
        let pieces = ((left as f64 / self.target as f64).round() as usize).max(1);
        let even = left.div_ceil(pieces).div_ceil(self.unit) * self.unit;
        Some(start..start + even.min(left))
    }

    /// Learns from a chunk of `queries` that took `ms`.
    pub fn took(&mut self, queries: usize, ms: f64) {
        let fitting = (queries as f64 * TARGET_MS / ms.max(1e-6)) as usize;
        let fitting = fitting.min(self.target.max(queries).saturating_mul(GROWTH));
        self.target = (fitting / self.unit).max(1) * self.unit;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The chunks of a pass over `q` queries that take `ms` each.
    fn pass(chunks: &mut Chunks, q: usize, ms: f64) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        while let Some(range) = chunks.next(ranges.last().map_or(0, |range| range.end), q) {
            chunks.took(range.len(), range.len() as f64 * ms);
            ranges.push(range);
        }
        ranges
    }

    #[test]
    fn chunks_grow_to_the_target_and_the_rate_is_kept() {
        let mut chunks = Chunks::new(64);
        let ranges = pass(&mut chunks, 100_000, 0.01);
        assert_eq!(ranges[0], 0..64, "the first chunk is the engine's");
        assert_eq!(ranges[1].len(), 64 * GROWTH, "growth is bounded");
        let again = pass(&mut chunks, 100_000, 0.01);
        assert_eq!(again.len(), 20, "100,000 queries at 10 µs are twenty chunks of 50 ms: {again:?}");
        assert!(again.iter().rev().skip(1).all(|range| range.len() % 64 == 0));
    }

    #[test]
    fn a_slow_device_gets_no_less_than_what_fills_it() {
        let mut chunks = Chunks::new(64);
        assert!(pass(&mut chunks, 1000, 100.0).iter().rev().skip(1).all(|range| range.len() == 64));
    }

    #[test]
    fn a_small_remainder_is_not_left_over() {
        let mut chunks = Chunks::new(1000);
        chunks.took(50_000, 50.0);
        chunks.took(50_000, 50.0);
        assert_eq!(chunks.next(0, 57_000), Some(0..57_000));
    }

    proptest! {
        #[test]
        fn every_query_is_in_one_chunk(first in 0usize..2000, q in 0usize..100_000, ms in 0.0f64..1.0) {
            let mut end = 0;
            for range in pass(&mut Chunks::new(first), q, ms) {
                prop_assert_eq!(range.start, end);
                prop_assert!(!range.is_empty());
                end = range.end;
            }
            prop_assert_eq!(end, q);
        }
    }
}
