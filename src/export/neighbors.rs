//! Neighbours in the formats that others read.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::npz::Npz;
use super::{ExportError, tables, write};
use crate::run::RunRecord;

/// A format, chosen by the extension of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeighborFormat {
    /// `query,rank,index,squared_distance`.
    Csv,
    /// The same columns, as u32, u32, i64 and f32.
    Parquet,
    /// Record numbers as i32, each row led by its length; squared distances in a `.fvecs` of the same name.
    Vecs,
    /// Rows and columns as u32, then record numbers as i32 (big-ann-benchmarks); squared distances in a `.fbin`.
    Bin,
    /// `indices` (i64) and `squared_distances` (f32).
    Npz,
}

impl NeighborFormat {
    /// The format that a name asks for.
    ///
    /// # Errors
    /// [`ExportError::Extension`].
    pub fn of(path: &Path) -> Result<Self, ExportError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Ok(Self::Csv),
            "parquet" => Ok(Self::Parquet),
            "ivecs" => Ok(Self::Vecs),
            "ibin" => Ok(Self::Bin),
            "npz" => Ok(Self::Npz),
            _ => Err(ExportError::Extension { path: path.to_owned() }),
        }
    }
}

/// Writes all neighbours, in the format that the extension names, and gives the files that were written: `.ivecs` and
/// `.ibin` have their distances in a file beside them. Where there is no neighbour, the index is −1.
///
/// # Errors
/// [`ExportError`].
pub fn neighbors(record: &RunRecord, path: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let format = NeighborFormat::of(path)?;
    let (q, k) = (record.neighbors.queries(), record.neighbors.k);
    let indices = || record.neighbors.indices.iter().map(|&row| tables::index(record, row));
    let distances = || record.neighbors.squared_distances.iter().map(|distance| distance.to_le_bytes());
    match format {
        NeighborFormat::Csv => {
            write(path, |out| tables::neighbors(record).csv(out))?;
            Ok(vec![path.to_owned()])
        }
        NeighborFormat::Parquet => {
            tables::neighbors(record).write(path)?;
            Ok(vec![path.to_owned()])
        }
        NeighborFormat::Npz => {
            write(path, |out| {
                let mut npz = Npz::new(out);
                npz.matrix("indices", "<i8", (q, k), indices().map(i64::to_le_bytes))?;
                npz.matrix("squared_distances", "<f4", (q, k), distances())?;
                npz.finish()
            })?;
            Ok(vec![path.to_owned()])
        }
        NeighborFormat::Vecs | NeighborFormat::Bin => {
            let (extension, beside) = if format == NeighborFormat::Vecs { ("ivecs", "fvecs") } else { ("ibin", "fbin") };
            if let Some(index) = indices().find(|&index| i32::try_from(index).is_err()) {
                return Err(ExportError::Width { what: format!("index {index}"), extension, path: path.to_owned() });
            }
            let beside = path.with_extension(beside);
            let indices = || indices().map(|index| (index as i32).to_le_bytes());
            // The distances first: whoever waits for the named file then finds both.
            if format == NeighborFormat::Vecs {
                write(&beside, |out| vecs(out, k, distances()))?;
                write(path, |out| vecs(out, k, indices()))?;
            } else {
                write(&beside, |out| bin(out, q, k, distances()))?;
                write(path, |out| bin(out, q, k, indices()))?;
            }
            Ok(vec![path.to_owned(), beside])
        }
    }
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
    // q is below 2³²: queries are rows of a cloud, and clouds end there.
    out.write_all(&(q as u32).to_le_bytes())?;
    out.write_all(&(k as u32).to_le_bytes())?;
    values.try_for_each(|value| out.write_all(&value))
}
