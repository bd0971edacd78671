//! How large files of neighbours will be, and whether there is room for them.

use std::fmt;
use std::path::Path;

use super::NeighborFormat;
use crate::export::{ExportError, text};
use crate::files;
use crate::knn::Metric;

/// How many neighbours a file is to have, and what is written of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of queries.
    pub q: usize,
    /// Number of neighbours of each query.
    pub k: usize,
    pub metric: Metric,
}

impl Size {
    /// The least that the files take, in bytes; `None` where that depends on how well values compress.
    pub(super) fn bytes(self, format: NeighborFormat) -> Option<u64> {
        let Self { q, k, .. } = self;
        // No disk has more: nothing overflows.
        let [q, k] = [q, k].map(|count| count.min(1 << 48) as u128);
        let bytes = match format {
            // Two numbers that are known, three of one digit at least, four where queries are rows, and what
            // separates them. A place is one query.
            NeighborFormat::Csv | NeighborFormat::Tsv => {
                k * digits(q) + q * digits(k) + q * k * if q > 1 { 10 } else { 8 }
            }
            NeighborFormat::Parquet => return None,
            NeighborFormat::Arrow => q * k * of_arrow(q),
            NeighborFormat::Npy => q * k * 8,
            // Once more for distances that wait for their turn.
            NeighborFormat::Npz => q * k * (20 + 4) + if q > 1 { 8 * q } else { 0 },
            NeighborFormat::Vecs => 2 * q * 4 * (1 + k),
            NeighborFormat::Bin => 2 * (8 + 4 * q * k),
        };
        Some(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// What the files will take in all once they are there, of a cloud of n points.
    pub fn expected(self, format: NeighborFormat, n: usize) -> Expected {
        /// Characters of a squared distance in text, and of a distance: most have all digits of their type.
        const TEXT: [f64; 2] = [10.0, 18.0];
        /// Bytes of a neighbour in Parquet: of its record number and distances, which hardly compress, and of
        /// its place in the run, which does.
        const PARQUET: f64 = 19.0;
        let neighbors = self.q as f64 * self.k as f64;
        let mean_digits =
            |end: usize| digits(end.clamp(1, 1 << 48) as u128) as f64 / end.clamp(1, 1 << 48) as f64;
        let about = |each: f64| Expected { bytes: (neighbors * each) as u64, exact: false };
        let arrays = |each: u64| Expected {
            bytes: each.saturating_mul(self.q as u64).saturating_mul(self.k as u64),
            exact: true,
        };
        match format {
            NeighborFormat::Csv | NeighborFormat::Tsv => {
                // Separators, and the line's end.
                about(
                    [self.q, n, self.k, n].map(mean_digits).iter().sum::<f64>()
                        + TEXT.iter().sum::<f64>()
                        + 6.0,
                )
            }
            NeighborFormat::Parquet => about(PARQUET),
            // Without the distances that wait; heads of an archive and its arrays are nothing beside a size
            // that is worth a word.
            NeighborFormat::Npz => arrays(20),
            NeighborFormat::Npy => arrays(8),
            NeighborFormat::Arrow => arrays(of_arrow(self.q as u128) as u64),
            NeighborFormat::Vecs | NeighborFormat::Bin => {
                Expected { bytes: self.bytes(format).unwrap_or(u64::MAX), exact: true }
            }
        }
    }
}

/// The size of files that are not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Bytes of all of them.
    pub bytes: u64,
    /// Whether that is sure, and no estimate.
    pub exact: bool,
}

impl fmt::Display for Expected {
    /// `8.00 GB`, `about 25.3 GB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.exact { "" } else { "about " }, text::bytes(self.bytes))
    }
}

/// Bytes of a neighbour in Arrow: a place, which is one query, has no row.
fn of_arrow(q: u128) -> u128 {
    if q > 1 { 36 } else { 28 }
}

/// The digits of all numbers from 0 to below `end`.
pub(super) fn digits(end: u128) -> u128 {
    let mut digits = end;
    let mut more = 10;
    while more < end {
        digits += end - more;
        more *= 10;
    }
    digits
}

/// Checks that the neighbours can be written to a path as far as that is known in advance: that they fit the
/// format's numbers and the room that is left on the disk, where the system reports it. Before a long search,
/// not after it.
///
/// # Errors
/// [`ExportError::Extension`], [`ExportError::Width`], [`ExportError::Room`].
pub fn check_room(path: &Path, size: Size) -> Result<(), ExportError> {
    fits(path, size, files::room(path))
}

pub(super) fn fits(path: &Path, size: Size, free: Option<u64>) -> Result<(), ExportError> {
    let format = NeighborFormat::of(path)?;
    check_width(format, size, path)?;
    let Some((needed, free)) = size.bytes(format).zip(free).filter(|(needed, free)| needed > free) else {
        return Ok(());
    };
    let what = format!(
        "{} neighbours of each of {}",
        text::thousands(size.k as u64),
        text::count(size.q as u64, "query", "queries")
    );
    Err(ExportError::Room { what, needed: needed.div_ceil(1 << 20), free: free >> 20, path: path.to_owned() })
}

/// Rejects sizes that the head of a format cannot tell.
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
