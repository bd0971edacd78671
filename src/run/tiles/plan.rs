//! How a search is divided so that it fits the memory.

use std::ops::Range;

use crate::cloud::PointCloud;
use crate::cloud::formats::RowBlocks;
use crate::knn::{EngineError, Metric};
use crate::memory;
use crate::run::{QuerySpec, RunError, RunSpec};
use crate::text;

/// The smallest tile, and the smallest block of queries.
const LEAST_ROWS: u64 = 1024;

/// More dimensions have no index on the CPU.
const INDEXED_DIMS: u64 = 64;

/// The sizes of tiles and of blocks of queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TilePlan {
    /// Points of a tile; the last one may have fewer.
    pub tile: usize,
    /// Queries whose best neighbours are in memory at a time.
    pub block: usize,
    /// Queries that are searched at a time.
    pub searched: usize,
    /// Queries that are ranked and passed on at a time.
    pub ranked: usize,
    /// Why the points are not searched at once.
    pub why: String,
}

/// Bytes of a row while it is read, and of its coordinates in the search with an index.
struct RowBytes {
    read: u64,
    unit: u64,
    index: u64,
}

impl RowBytes {
    /// `moved` is whether coordinates are relative to an origin.
    fn new(columns: usize, fits_f32: bool, moved: bool, metric: Metric) -> Self {
        let (columns, dims) = (columns as u64, metric.dims(columns) as u64);
        let read = match (fits_f32, moved) {
            (true, false) => 4 * columns,
            (true, true) => 16 * columns,
            (false, _) => 12 * columns,
        };
        // Sorting a tree's points takes 24 bytes each; a k-d tree is built from copies.
        let index = if dims <= INDEXED_DIMS { 32 + 8 * dims } else { 4 * dims };
        Self { read, unit: if metric == Metric::L2 { 0 } else { 4 * dims }, index }
    }
}

impl TilePlan {
    /// Why a file's points should not be searched at once: they do not fit the available memory with an index.
    pub fn reason(blocks: &RowBlocks, metric: Metric) -> Option<String> {
        let (n, columns) = (blocks.rows(), blocks.columns().len());
        let row = RowBytes::new(columns, blocks.fits_f32(), false, metric);
        let queries = 4 * metric.dims(columns) as u64;
        let needed = n.saturating_mul(row.read.max(8 * columns as u64) + row.unit + queries + row.index);
        let free = memory::available().filter(|&free| needed > free)?;
        let limit = memory::limit().map(|limit| format!(" of --memory {}", text::bytes(limit)));
        Some(format!(
            "{} points with an index need about {}, but only {} is free{}",
            text::thousands(n),
            text::bytes(needed),
            text::bytes(free),
            limit.unwrap_or_default()
        ))
    }

    /// Divides the available memory: three quarters for the points of a tile, its index, the tile that is read
    /// ahead, a block of queries and their lists, and the rest for batches that are searched or ranked.
    /// `fits_f32` and `buffer` are those of [`RowBlocks`].
    ///
    /// # Errors
    /// [`EngineError::HostMemory`] if even small tiles do not fit.
    pub fn new(
        header: &PointCloud,
        (fits_f32, buffer): (bool, u64),
        spec: &RunSpec,
        why: String,
    ) -> Result<Self, RunError> {
        let (n, metric) = (header.len() as u64, spec.metric);
        // Some are only candidates.
        let (k, dims) = ((spec.k + 3 + spec.k / 4) as u64, metric.dims(header.dims()) as u64);
        let moved = header.axes().iter().any(|axis| axis.origin != 0.0);
        let row = RowBytes::new(header.dims(), fits_f32, moved, metric);
        let point = 2 * row.read + row.unit + row.index;
        let query = row.read + 4 * dims + 8 * k + 8;
        // Candidates of a query may all be different rows, which are gathered. An engine's answer, its download
        // and its report exist at once.
        let ranked = k * (row.read + row.unit + 8 * dims + 32) + 16 * k + 128;
        let searched = 32 * k + 8 * dims + 16;
        // A tile is read ahead while rows are gathered.
        let free = memory::available().unwrap_or(u64::MAX).saturating_sub(2 * buffer);
        let least = LEAST_ROWS.min(n) * 2 * point.max(2 * query).max(2 * (ranked + searched));
        if free < least {
            let needed = least.div_ceil(1 << 20);
            return Err(EngineError::HostMemory { needed, free: free >> 20 }.into());
        }
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        // If all rows are queried, the queries of a tile are one block, for which its index is built once.
        let (tile, block) = if spec.queries == QuerySpec::All {
            let rows = (free / 4 * 3 / (point + query)).min(n);
            (rows, rows)
        } else {
            ((free / 2 / point).min(n), free / 4 / query)
        };
        Ok(Self {
            tile: size(tile),
            block: size(block),
            searched: size(free / 8 / searched),
            ranked: size(free / 8 / ranked),
            why,
        })
    }

    /// Splits rows or queries into even parts of at most `most`.
    pub fn parts(range: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> + Clone {
        let count = range.len().div_ceil(most.max(1)).max(1);
        let at =
            move |part: usize| range.start + (range.len() as u128 * part as u128 / count as u128) as usize;
        (0..count).map(move |part| at(part)..at(part + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing::{spec, squares};

    #[test]
    fn parts_are_even_and_cover_everything() {
        let parts = |n: usize, most| TilePlan::parts(3..3 + n, most).collect::<Vec<_>>();
        assert_eq!(parts(10, 4), [3..6, 6..9, 9..13]);
        assert_eq!(parts(10, 10), vec![3..13; 1]);
        assert_eq!(parts(2, 1), [3..4, 4..5]);
        assert_eq!(TilePlan::parts(0..u32::MAX as usize, 1 << 20).last().unwrap().end, u32::MAX as usize);
    }

    #[test]
    fn small_points_are_searched_in_one_tile() {
        let plan = TilePlan::new(&squares(100), (true, 0), &spec(), "a test".to_owned()).unwrap();
        assert_eq!((plan.tile, plan.why.as_str()), (100, "a test"));
        assert!(plan.block >= 100 && plan.searched > 100 && plan.ranked > 100);
    }
}
