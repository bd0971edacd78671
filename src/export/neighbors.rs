//! Neighbours in common file formats.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::npz::Npz;
use super::table::TableFormat;
use super::{ExportError, tables, write};
use crate::knn::Metric;
use crate::run::RunRecord;

/// A format for neighbours, selected by extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeighborFormat {
    /// The columns `query,rank,index,squared_distance`, under haversine also `distance_km`, comma-separated.
    Csv,
    /// The same columns, tab-separated.
    Tsv,
    /// The same columns, typed as u32, u32, i64 and f32, and f64.
    Parquet,
    /// `indices` (i64), `squared_distances` (f32) and, under haversine, `distances_km` (f64), one row per query.
    Npz,
    /// Record numbers as i32, each row preceded by its length; squared distances in a `.fvecs` of the same name.
    Vecs,
    /// Rows and columns as u32, then record numbers as i32 (big-ann-benchmarks); squared distances in a `.fbin`.
    Bin,
}

impl NeighborFormat {
    /// All formats, in display order.
    pub const ALL: [Self; 6] = [Self::Csv, Self::Tsv, Self::Parquet, Self::Npz, Self::Vecs, Self::Bin];

    /// The extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Parquet => "parquet",
            Self::Npz => "npz",
            Self::Vecs => "ivecs",
            Self::Bin => "ibin",
        }
    }

    /// The extension of the companion file with the squared distances, for formats with one type of number per file.
    pub fn beside(self) -> Option<&'static str> {
        match self {
            Self::Vecs => Some("fvecs"),
            Self::Bin => Some("fbin"),
            Self::Csv | Self::Tsv | Self::Parquet | Self::Npz => None,
        }
    }

    /// The format for a path's extension.
    ///
    /// # Errors
    /// [`ExportError::Extension`] if no format has that extension.
    pub fn of(path: &Path) -> Result<Self, ExportError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let found = Self::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(extension));
        found.ok_or_else(|| ExportError::Extension { path: path.to_owned() })
    }

    /// The files written for a path: itself and its companion, if any.
    pub fn files(self, path: &Path) -> Vec<PathBuf> {
        std::iter::once(path.to_owned()).chain(self.beside().map(|beside| path.with_extension(beside))).collect()
    }
}

/// Writes all neighbours in the format of the extension, and returns the paths of the files written. Missing neighbours have
/// index −1 and distance infinity.
///
/// # Errors
/// [`ExportError`] if the extension is unknown, a number exceeds the format, or writing fails.
pub fn neighbors(record: &RunRecord, path: &Path) -> Result<Vec<PathBuf>, ExportError> {
    neighbors_of(record, 0..record.neighbors.queries(), path)
}

/// As [`neighbors`], for a range of the run's queries; in tables, queries keep their numbers in the run.
///
/// # Errors
/// The same as those of [`neighbors`].
///
/// # Panics
/// If the range exceeds the run's queries.
pub fn neighbors_of(record: &RunRecord, queries: Range<usize>, path: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let format = NeighborFormat::of(path)?;
    let (q, k) = (queries.len(), record.neighbors.k);
    let found = queries.start * k..queries.end * k;
    let indices = || record.neighbors.indices[found.clone()].iter().map(|&row| tables::index(record, row));
    let distances = || record.neighbors.squared_distances[found.clone()].iter().map(|distance| distance.to_le_bytes());
    match format {
        NeighborFormat::Csv => write_table(record, queries, TableFormat::Csv, path)?,
        NeighborFormat::Tsv => write_table(record, queries, TableFormat::Tsv, path)?,
        NeighborFormat::Parquet => write_table(record, queries, TableFormat::Parquet, path)?,
        NeighborFormat::Npz => write(path, |out| npz(record, queries, out))?,
        NeighborFormat::Vecs | NeighborFormat::Bin => {
            if let Some(index) = indices().find(|&index| i32::try_from(index).is_err()) {
                return Err(ExportError::Width { what: format!("index {index}"), extension: format.extension(), path: path.to_owned() });
            }
            let beside = path.with_extension(format.beside().unwrap_or_default());
            let indices = || indices().map(|index| (index as i32).to_le_bytes());
            // Distances first, so that whoever waits for the named file finds both.
            if format == NeighborFormat::Vecs {
                write(&beside, |out| vecs(out, k, distances()))?;
                write(path, |out| vecs(out, k, indices()))?;
            } else {
                write(&beside, |out| bin(out, q, k, distances()))?;
                write(path, |out| bin(out, q, k, indices()))?;
            }
        }
    }
    Ok(format.files(path))
}

/// `indices` (i64), `squared_distances` (f32) and, under haversine, `distances_km` (f64), one row per query.
pub(super) fn npz(record: &RunRecord, queries: Range<usize>, out: &mut BufWriter<File>) -> io::Result<()> {
    let (shape, found) = ((queries.len(), record.neighbors.k), queries.start * record.neighbors.k..queries.end * record.neighbors.k);
    let indices = record.neighbors.indices[found.clone()].iter().map(|&row| tables::index(record, row).to_le_bytes());
    let distances = record.neighbors.squared_distances[found.clone()].iter().map(|distance| distance.to_le_bytes());
    let mut npz = Npz::new(out);
    npz.matrix("indices", "<i8", shape, indices)?;
    npz.matrix("squared_distances", "<f4", shape, distances)?;
    if record.spec.metric == Metric::Haversine {
        npz.matrix("distances_km", "<f8", shape, found.map(|at| tables::distance(record, at).to_le_bytes()))?;
    }
    npz.finish()
}

fn write_table(record: &RunRecord, queries: Range<usize>, format: TableFormat, path: &Path) -> Result<(), ExportError> {
    write(path, |out| tables::neighbors(record, queries).write_as(format, out))
}

fn vecs(out: &mut impl Write, k: usize, values: impl Iterator<Item = [u8; 4]>) -> io::Result<()> {
    for (at, value) in values.enumerate() {
        if at % k == 0 {
            out.write_all(&(k as i32).to_le_bytes())?;
        }
        out.write_all(&value)?;
    }
    Ok(())
}

fn bin(out: &mut impl Write, q: usize, k: usize, mut values: impl Iterator<Item = [u8; 4]>) -> io::Result<()> {
    // q is less than 2³², because queries are rows of a cloud.
    out.write_all(&(q as u32).to_le_bytes())?;
    out.write_all(&(k as u32).to_le_bytes())?;
    values.try_for_each(|value| out.write_all(&value))
}
