//! Sizes the next launch, in queries.

use std::ops::Range;

use crate::knn::{PreparedSearch, Problem};

/// Maximum growth from chunk to chunk: the time of the first, small chunk is mostly overhead.
const GROWTH: usize = 16;

/// Sizes chunks of queries from the times of previous chunks.
///
/// The rate is kept between passes over the queries, so that only the first pass begins with a small chunk.
#[derive(Clone, Debug)]
pub struct ChunkSizer {
    /// Queries that fill the device; larger chunks are multiples of it.
    full: usize,
    /// The smallest chunk; chunks below `full` are multiples of it.
    unit: usize,
    /// Target duration of a chunk in milliseconds: [`PreparedSearch::chunk_ms`].
    ms: f64,
    /// Number of queries expected to take that long.
    target: usize,
}

impl ChunkSizer {
    /// Starts with the engine's own hints.
    pub fn new(search: &dyn PreparedSearch, problem: &Problem) -> Self {
        let work_of_a_query = (problem.n() as u64 * problem.dims() as u64).max(1);
        let first = usize::try_from(search.first_work() / work_of_a_query).unwrap_or(usize::MAX);
        Self { ms: search.chunk_ms(), ..Self::sized(search.chunk_unit(), search.first_chunk(), first) }
    }

    /// Chunks are multiples of `unit`, or of `full` if they are larger. The first chunk has `full` or `first`
    /// queries, whichever is less.
    fn sized(unit: usize, full: usize, first: usize) -> Self {
        let unit = unit.max(1);
        let mut chunks = Self { full: full.max(unit), unit, ms: 50.0, target: 0 };
        chunks.target = chunks.round(first.min(full));
        chunks
    }

    /// The next chunk of a pass, from `start` on, of at most `most` queries; `None` when all `q` queries are
    /// done.
    ///
    /// The remaining queries are divided evenly, so that no small remainder leaves the device mostly idle.
    pub fn next(&self, start: usize, q: usize, most: usize) -> Option<Range<usize>> {
        let left = q.checked_sub(start).filter(|&left| left > 0)?;
        let pieces = ((left as f64 / self.target.min(most) as f64).round() as usize).max(1);
        let granularity = self.granularity(self.target);
        let share = if pieces == 1 {
            left
        } else {
            ((left.div_ceil(pieces) + granularity / 2) / granularity).max(1) * granularity
        };
        Some(start..start + share.min(most).min(left))
    }

    /// Learns from a chunk of `queries` that took `ms`.
    pub fn record(&mut self, queries: usize, ms: f64) {
        let fitting = (queries as f64 * self.ms / ms.max(1e-6)) as usize;
        self.target = self.round(fitting.min(self.target.max(queries).saturating_mul(GROWTH)));
    }

    /// The size that chunks of about `queries` are multiples of.
    fn granularity(&self, queries: usize) -> usize {
        if queries >= self.full { self.full } else { self.unit }
    }

    fn round(&self, queries: usize) -> usize {
        let granularity = self.granularity(queries);
        (queries / granularity).max(1) * granularity
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::LoadedSpec;

    /// The chunks of a pass over `q` queries that take `ms` each.
    fn pass(chunks: &mut ChunkSizer, q: usize, ms: f64) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        while let Some(range) = chunks.next(ranges.last().map_or(0, |range| range.end), q, usize::MAX) {
            chunks.record(range.len(), range.len() as f64 * ms);
            ranges.push(range);
        }
        ranges
    }

    #[test]
    fn chunks_grow_to_the_target_time_and_remember_the_rate() {
        let mut chunks = ChunkSizer::sized(8, 64, usize::MAX);
        let ranges = pass(&mut chunks, 100_000, 0.01);
        assert_eq!(ranges[0], 0..64, "the first chunk is the engine's");
        assert_eq!(ranges[1].len(), 64 * GROWTH, "growth is bounded");
        let again = pass(&mut chunks, 100_000, 0.01);
        assert_eq!(again.len(), 20, "100,000 queries at 10 µs are twenty chunks of 50 ms: {again:?}");
        assert!(again.iter().rev().skip(1).all(|range| range.len() % 64 == 0));
    }

    #[test]
    fn slow_devices_get_the_smallest_useful_chunks() {
        let sizes = |unit, ms| -> Vec<usize> {
            pass(&mut ChunkSizer::sized(unit, 64, usize::MAX), 1000, ms).iter().map(Range::len).collect()
        };
        // Only the first chunk shows that 64 queries are too many.
        assert_eq!(sizes(1, 100.0)[..3], [64, 1, 1]);
        assert_eq!(sizes(8, 100.0)[..3], [64, 8, 8]);
        assert_eq!(sizes(1, 2.0)[..2], [64, 26]);
    }

    #[test]
    fn the_first_chunk_has_bounded_work() {
        assert_eq!(ChunkSizer::sized(8, 64, 30).next(0, 1000, usize::MAX), Some(0..24));
        assert_eq!(ChunkSizer::sized(1, 64, 0).next(0, 1000, usize::MAX), Some(0..1));
        assert_eq!(ChunkSizer::sized(1, 64, 1000).next(0, 10_000, usize::MAX), Some(0..64));
        // Ten thousand points in 100 dimensions are a million multiply-adds per query.
        let cloud = crate::run::testing::cloud(100, vec![0.5; 1_000_000]);
        let problem =
            crate::run::build_problem(LoadedSpec::new(&crate::run::testing::spec(), &cloud, None)).unwrap();
        let mut engine = crate::run::testing::plain();
        engine.script.first_work = Some(3_000_000);
        let search =
            crate::knn::Engine::load(&mut engine, &problem, &crate::knn::Parameters::NONE, false).unwrap();
        assert_eq!(ChunkSizer::new(search.as_ref(), &problem).next(0, 9_000, usize::MAX), Some(0..3));
    }

    #[test]
    fn chunks_respect_the_maximum_size() {
        let mut chunks = ChunkSizer::sized(8, 64, usize::MAX);
        for _ in 0..5 {
            chunks.record(100_000, 1.0);
        }
        assert_eq!(chunks.next(0, 1_000_000, usize::MAX), Some(0..1_000_000));
        let mut end = 0;
        while let Some(range) = chunks.next(end, 1_000_000, 131_072) {
            assert!(range.start == end && range.len() <= 131_072, "{range:?}");
            end = range.end;
        }
        assert_eq!(end, 1_000_000);
    }

    #[test]
    fn small_remainders_join_the_last_chunk() {
        let mut chunks = ChunkSizer::sized(1, 1000, usize::MAX);
        chunks.record(50_000, 50.0);
        chunks.record(50_000, 50.0);
        assert_eq!(chunks.next(0, 57_000, usize::MAX), Some(0..57_000));
    }

    proptest! {
        #[test]
        fn every_query_is_in_exactly_one_chunk(
            unit in 0usize..9,
            blocks in 0usize..300,
            first in 0usize..2000,
            q in 0usize..50_000,
            ms in 0.0f64..10.0,
        ) {
            let mut end = 0;
            for range in pass(&mut ChunkSizer::sized(unit, unit * blocks, first), q, ms) {
                prop_assert_eq!(range.start, end);
                prop_assert!(!range.is_empty());
                end = range.end;
            }
            prop_assert_eq!(end, q);
        }
    }
}
