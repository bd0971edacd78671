//! Readers, one file per format, behind one registry.
//!
//! The file's extension determines the format, and the first bytes must agree with it. A reader delivers a
//! [`Sheet`]: the names of all columns, and the values of those that may be needed. No reader allocates
//! memory by a number in a header before checking that number against the file's size, and none panics on
//! malformed content.

mod arrow;
mod blocks;
mod cell;
mod columns;
mod crs;
mod datasets;
mod delimited;
mod e57;
mod guess;
mod hdf5;
mod idx;
mod input;
mod json;
mod las;
pub mod limits;
mod long_decimals;
mod lzf;
mod molecule;
mod npy;
mod npz;
mod number;
mod panics;
mod pcd;
mod ply;
mod registry;
mod sheet;
mod unpacked;
mod vector_cell;
mod vectors;
mod words;

use std::io;
use std::path::{Path, PathBuf};

// Readers import shared items from here.
pub use arrow::TimestampType;
pub use blocks::{RowBlocks, open_blocks};
use columns::{CategoryBuilder, FixedRecords, RecordPicker, claim_cells, integer_cell, number_cell};
pub use columns::{
    Cell, ColumnData, RecordIndex, Records, column, column_indices, records, records_indexed,
    records_of_columns,
};
use crs::Crs;
use datasets::DatasetState;
pub use datasets::{DatasetInfo, file_of, path_of, path_without_lines};
pub use guess::{ColumnGuess, GuessedColumn, Reason};
pub use input::FileStamp;
use input::{Input, ProgressReader, printable};
pub use limits::MAX_CATEGORIES;
pub(crate) use long_decimals::LongDecimal;
pub use long_decimals::LongDecimals;
use number::{Endian, NumberType, read_bytes, whole};
use panics::decoded;
pub use panics::{DecoderError, catch_panics};
pub use registry::{Format, is_of_scans, registry};
use registry::{known_extensions, recognise};
pub use sheet::{ColumnInfo, ColumnKind, FileInfo, Sheet};
use sheet::{ColumnRequest, ColumnStats, DeclaredCoordinates, SheetColumn, join_first};

use super::{AutoColumns, ColumnChoice, Coordinates, Hint};
use crate::files::ScratchError;
use crate::progress::{NoProgress, Progress};

type Result<T, E = FormatError> = std::result::Result<T, E>;

/// Why a file cannot be read. The path is always last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// An error of the operating system.
    #[error("cannot read: {why}: {}", path.display())]
    Io {
        /// The error as reported by the system.
        why: io::Error,
        /// Path of the file.
        path: PathBuf,
    },
    /// The file was written, replaced or removed while it was being read.
    #[error("the file changed while it was being read; try again when it is complete: {}", path.display())]
    Changed {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file has changed since a cloud was read from it.
    #[error("the file has changed since its points were read; load it again: {}", path.display())]
    Outdated {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file violates its format.
    #[error("{what}: {why}: {}", path.display())]
    Malformed {
        /// The part of the file: a line, a record, the header.
        what: String,
        /// What is wrong with it.
        why: String,
        /// Path of the file.
        path: PathBuf,
    },
    /// The file may be valid, but uses a feature that is not supported.
    #[error("{what}: {why}: {}", path.display())]
    Unsupported {
        /// The format or feature.
        what: String,
        /// What to do instead.
        why: String,
        /// Path of the file.
        path: PathBuf,
    },
    /// The file contains several clouds, and the choice is ambiguous.
    #[error(
        "the file contains several clouds: choose one with FILE:NAME; available: {}: {}",
        datasets::list(datasets),
        path.display()
    )]
    Ambiguous {
        /// All clouds in the file.
        datasets: Vec<DatasetInfo>,
        /// Path of the file.
        path: PathBuf,
    },
    /// No column has the requested name.
    #[error("{what}: {why}: {}", path.display())]
    NoColumn {
        /// The column that was requested.
        what: String,
        /// The columns that exist.
        why: String,
        /// Path of the file.
        path: PathBuf,
    },
    /// A requested column is ambiguous or not entirely numeric.
    #[error(
        "{what}: {why}{}: {}",
        hint.map(|hint| format!("; {}", hint.option())).unwrap_or_default(),
        path.display()
    )]
    Column {
        /// The column that was requested.
        what: String,
        /// What is wrong with it.
        why: String,
        /// The option that avoids the error, if any.
        hint: Option<Hint>,
        /// Path of the file.
        path: PathBuf,
    },
    /// The values to be read do not fit into memory.
    #[error(
        "{what}: needs {} of memory, but only {} is free: {}",
        mebibytes(*needed),
        mebibytes(*free),
        path.display()
    )]
    Memory {
        /// What needs the memory: the points, the names of the columns.
        what: String,
        /// Bytes needed so far.
        needed: u64,
        /// Bytes that were free when reading began.
        free: u64,
        /// Path of the file.
        path: PathBuf,
    },
    /// Decoded rows cannot be stored.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// A size for an error about memory.
fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

impl FormatError {
    /// The file that the error is about.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. }
            | Self::Malformed { path, .. }
            | Self::Unsupported { path, .. }
            | Self::Ambiguous { path, .. }
            | Self::NoColumn { path, .. }
            | Self::Column { path, .. }
            | Self::Changed { path }
            | Self::Outdated { path }
            | Self::Memory { path, .. } => Some(path),
            Self::Scratch(why) => Some(&why.folder),
            Self::Cancelled => None,
        }
    }

    /// The message without the path, for messages about a known file.
    pub fn reason(&self) -> String {
        let message = self.to_string();
        let end = self.path().map(|path| format!(": {}", path.display())).unwrap_or_default();
        message.strip_suffix(&end).unwrap_or(&message).to_owned()
    }
}

/// Reads a file's coordinates, one row per data record; missing values are NaN.
///
/// # Errors
/// [`FormatError`] if the file cannot be read or the columns are not coordinates.
pub fn read(path: &Path, columns: &ColumnChoice, progress: &dyn Progress) -> Result<Coordinates> {
    let line = |record| line_of_record(path, record, progress);
    scan(path, &ColumnRequest::Selected(columns), progress)?.into_table(columns, &line)
}

/// Like [`read`], for the columns with these names. `None` if the file has no column names and its number of
/// columns differs, so that generated names would not correspond.
///
/// # Errors
/// As [`read`].
pub fn read_by_names(
    path: &Path,
    names: Vec<String>,
    progress: &dyn Progress,
) -> Result<Option<Coordinates>> {
    let line = |record| line_of_record(path, record, progress);
    let columns = ColumnChoice::Named(names);
    let sheet = scan(path, &ColumnRequest::Selected(&columns), progress)?;
    if sheet.has_other_length() { Ok(None) } else { sheet.into_table(&columns, &line).map(Some) }
}

/// Like [`read`], with columns selected by the default rule or by inference. The inference is returned in
/// either case.
///
/// # Errors
/// As [`read`].
pub fn read_auto(
    path: &Path,
    how: AutoColumns,
    progress: &dyn Progress,
) -> Result<(Coordinates, ColumnGuess)> {
    let line = |record| line_of_record(path, record, progress);
    let sheet = scan(path, &ColumnRequest::Selected(&ColumnChoice::Default), progress)?;
    let guess = sheet.guess();
    if how == AutoColumns::Inferred && guess.coordinates.is_empty() && !guess.default_columns.is_empty() {
        let why = format!("the numeric columns are {}", guess.others());
        return Err(FormatError::Column {
            what: "no coordinates".to_owned(),
            why,
            hint: Some(Hint::OtherColumns),
            path: path.to_owned(),
        });
    }
    let columns = if how == AutoColumns::Inferred { &guess.coordinates } else { &guess.default_columns };
    Ok((sheet.into_columns(columns, false, &line)?, guess))
}

/// Describes a file: its format, rows, and columns with their ranges.
///
/// # Errors
/// [`FormatError`] if the file cannot be read.
pub fn describe(path: &Path, progress: &dyn Progress) -> Result<FileInfo> {
    Ok(scan(path, &ColumnRequest::Everything, progress)?.info())
}

/// Lists the clouds of a file in file order; empty for formats with one cloud per file. Each is read as
/// `FILE:NAME` ([`path_of`]); a name already in `path` is ignored.
///
/// # Errors
/// [`FormatError`] if the file cannot be read.
pub fn datasets(path: &Path, progress: &dyn Progress) -> Result<Vec<DatasetInfo>> {
    let input = Input::new(path, progress)?;
    input.finish(
        recognise(&input)
            .and_then(|format| format.datasets.map_or_else(|| Ok(Vec::new()), |list| list(&input))),
    )
}

/// The text of a file-level attribute, for formats that have them (HDF5, Parquet, Arrow): ann-benchmarks
/// stores its metric as `distance`.
///
/// # Errors
/// [`FormatError`] if the file cannot be read.
pub fn attribute(path: &Path, name: &str, progress: &dyn Progress) -> Result<Option<String>> {
    let input = Input::new(path, progress)?;
    input
        .finish(recognise(&input).and_then(|format| format.attribute.map_or(Ok(None), |of| of(&input, name))))
}

/// Whether a file can be opened, by its name or, if that has no extension, by its first bytes.
pub fn opens(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(".gz");
    let named = |extension: &&str| {
        name.strip_suffix(*extension).is_some_and(|stem| stem.ends_with(['.', '-']) && stem.len() > 1)
    };
    let is_known = registry().iter().flat_map(|format| format.extensions).any(named);
    is_known
        || !name.contains('.') && Input::new(path, &NoProgress).is_ok_and(|input| recognise(&input).is_ok())
}

/// A note for the user about how the file was read: its first line was not treated as part of the table.
pub fn note(path: &Path, progress: &dyn Progress) -> Option<String> {
    let input = Input::new(path, progress).ok()?;
    let format = recognise(&input).ok()?;
    if format.name == registry::TEXT { delimited::note(&input).ok()? } else { None }
}

/// The 1-based line on which a record begins, if the file is text and still readable.
pub(super) fn line_of_record(path: &Path, record: u64, progress: &dyn Progress) -> Option<u64> {
    let input = Input::new(path, progress).ok()?;
    recognise(&input).ok()?.line_of?(&input, record).ok()
}

fn scan(path: &Path, request: &ColumnRequest<'_>, progress: &dyn Progress) -> Result<Sheet> {
    let input = Input::new(path, progress)?;
    input.finish(recognise(&input).and_then(|format| {
        let sheet = (format.read)(&input, request)?;
        Ok(Sheet { decimals: sheet.decimals || format.decimals, ..sheet })
    }))
}

#[cfg(test)]
mod tests;
