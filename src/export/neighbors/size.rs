//! Predicts the size of files of neighbours, and checks the space for them.

use std::fmt;
use std::path::Path;

use super::NeighborFormat;
use crate::export::{ExportError, text};
use crate::files;
use crate::knn::Metric;

/// The dimensions of a file of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of queries.
    pub q: usize,
    /// Number of neighbours of each query.
    pub k: usize,
    pub metric: Metric,
}

impl Size {
    /// The minimum size of the files in bytes; `None` if it depends on compression.
    pub(super) fn bytes(self, format: NeighborFormat) -> Option<u64> {
        let Self { q, k, .. } = self;
        // This limit is larger than any disk, and small enough not to overflow.
        let [q, k] = [q, k].map(|count| count.min(1 << 48) as u128);
        let bytes = match format {
            // Two known numbers, at least three digits for the others (four if queries are rows), and
            // separators. A point given by coordinates is one query.
            NeighborFormat::Csv | NeighborFormat::Tsv => {
                k * digits(q) + q * digits(k) + q * k * if q > 1 { 10 } else { 8 }
            }
            NeighborFormat::GeoJson => q * k * FEATURE_BYTES,
            NeighborFormat::Parquet => return None,
            NeighborFormat::Arrow => q * k * arrow_bytes(q),
            NeighborFormat::Npy => q * k * 8,
            NeighborFormat::Npz => q * k * 20 + if q > 1 { 8 * q } else { 0 },
            NeighborFormat::Vecs => 2 * q * 4 * (1 + k),
            NeighborFormat::Bin => 2 * (8 + 4 * q * k),
        };
        Some(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// The expected total size of the files, for a cloud of n points.
    pub fn expected(self, format: NeighborFormat, n: usize) -> SizeEstimate {
        /// Typical characters of a squared distance and of a distance; most have all digits of their type.
        const TEXT: [f64; 2] = [10.0, 18.0];
        /// Bytes of a neighbour in Parquet: its record number and distances hardly compress, its position
        /// does.
        const PARQUET: f64 = 19.0;
        /// Typical characters of a position, with the rest of a geometry and of a row's properties.
        const POSITION: f64 = 75.0;
        let neighbors = self.q as f64 * self.k as f64;
        let mean_digits =
            |end: usize| digits(end.clamp(1, 1 << 48) as u128) as f64 / end.clamp(1, 1 << 48) as f64;
        let numbers = [self.q, n, self.k, n].map(mean_digits).iter().sum::<f64>() + TEXT.iter().sum::<f64>();
        let about = |each: f64| SizeEstimate { bytes: (neighbors * each) as u64, exact: false };
        let arrays = |each: u64| SizeEstimate {
            bytes: each.saturating_mul(self.q as u64).saturating_mul(self.k as u64),
            exact: true,
        };
        match format {
            // Adds separators and line ends.
            NeighborFormat::Csv | NeighborFormat::Tsv => about(numbers + 6.0),
            NeighborFormat::GeoJson => about(numbers + POSITION + FEATURE_BYTES as f64),
            NeighborFormat::Parquet => about(PARQUET),
            // The headers of the archive are negligible for large files.
            NeighborFormat::Npz => arrays(20),
            NeighborFormat::Npy => arrays(8),
            NeighborFormat::Arrow => arrays(arrow_bytes(self.q as u128) as u64),
            NeighborFormat::Vecs | NeighborFormat::Bin => {
                SizeEstimate { bytes: self.bytes(format).unwrap_or(u64::MAX), exact: true }
            }
        }
    }
}

/// Bytes of a GeoJSON feature of a neighbour without a position, without its numbers.
const FEATURE_BYTES: u128 = 100;

/// The expected size of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeEstimate {
    /// Bytes of all files.
    pub bytes: u64,
    /// Whether the size is exact rather than an estimate.
    pub exact: bool,
}

impl fmt::Display for SizeEstimate {
    /// `8.00 GB`, `about 25.3 GB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.exact { "" } else { "about " }, text::bytes(self.bytes))
    }
}

/// Bytes of a neighbour in Arrow; a point given by coordinates has no `query_row`.
fn arrow_bytes(q: u128) -> u128 {
    if q > 1 { 36 } else { 28 }
}

/// Total digits of all numbers from 0 up to but excluding `end`.
pub(super) fn digits(end: u128) -> u128 {
    let mut digits = end;
    let mut more = 10;
    while more < end {
        digits += end - more;
        more *= 10;
    }
    digits
}

/// Checks before the search that neighbours can be written to a path: they must fit the format's number types
/// and, if the system reports it, the free space.
///
/// # Errors
/// [`ExportError::Extension`], [`ExportError::Width`], [`ExportError::DiskFull`].
pub fn check_room(path: &Path, size: Size) -> Result<(), ExportError> {
    check_free_space(path, size, files::room(path))
}

pub(super) fn check_free_space(path: &Path, size: Size, free: Option<u64>) -> Result<(), ExportError> {
    let format = NeighborFormat::from_path(path)?;
    check_width(format, size, path)?;
    let Some((needed, free)) = size.bytes(format).zip(free).filter(|(needed, free)| needed > free) else {
        return Ok(());
    };
    let what = format!(
        "{} neighbours of each of {}",
        text::thousands(size.k as u64),
        text::count(size.q as u64, "query", "queries")
    );
    Err(ExportError::DiskFull {
        what,
        needed: needed.div_ceil(1 << 20),
        free: free >> 20,
        path: path.to_owned(),
    })
}

/// Rejects sizes that the header of a format cannot store.
pub(super) fn check_width(
    format: NeighborFormat,
    Size { q, k, .. }: Size,
    path: &Path,
) -> Result<(), ExportError> {
    let taken = match format {
        NeighborFormat::Vecs => i32::try_from(k).is_ok(),
        // q is less than 2³², because queries are rows of a cloud.
        NeighborFormat::Bin => u32::try_from(k).is_ok() && u32::try_from(q).is_ok(),
        _ => true,
    };
    if taken {
        Ok(())
    } else {
        Err(ExportError::Width {
            what: format!("k = {k}"),
            extension: format.extension(),
            path: path.to_owned(),
        })
    }
}
