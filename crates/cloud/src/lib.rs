//! Point clouds, their sources and their coordinates.
//!
//! [`load`] is the entry point: a file through [`formats`] or a generator through [`generate`] gives exact [`Coordinates`],
//! and [`PointCloud::from_table`] rounds them to f32 (see [`origin`]). Peak memory is three times that of the f32
//! coordinates; a cloud with data to restore the file's values (see [`exact`]) holds up to twice.

// Aliases, so that `crate::memory` or `crate::knn` mean the same in every crate.
use warpscope_base::{memory, nearest, printable, progress};

mod agree;
pub mod beside;
mod exact;
pub mod formats;
pub mod generate;
pub mod globe;
pub mod headings;
mod hint;
mod loading;
pub mod order;
mod origin;
mod point_cloud;
pub mod project;
pub mod query_point;
mod records;
pub mod roles;
mod table;
mod unusable;
mod values;

use std::path::{Path, PathBuf};

pub use globe::{Globe, GlobeError};
pub use hint::Hint;
pub use loading::{Unchosen, axes_in_file_order, load, load_queries, load_queries_unchosen, load_unchosen};
pub use order::Order;
pub use point_cloud::{Axis, CloudParts, Duplicates, Fingerprint, PointCloud};
use serde::{Deserialize, Serialize};
pub use table::{Column, ColumnChoice, Coordinates, Table};
pub use unusable::{Unusable, UnusableRow};
pub use values::Values;

/// Where a cloud comes from: everything needed to load it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A file in one of the [`formats`].
    File {
        /// Path of the file, or `FILE:NAME` for one of several clouds.
        #[serde(serialize_with = "path_as_text")]
        path: PathBuf,
        /// Which of its columns are coordinates.
        #[serde(default)]
        columns: ColumnChoice,
    },
    /// A generator's spec, `name:key=value,…` (see [`generate`]).
    Generate {
        /// The spec as written.
        spec: String,
        /// Seed of the generator.
        seed: u64,
    },
    /// A single point given by its coordinates, in the format of [`query_point::format`].
    #[serde(rename = "place")]
    Coordinates(String),
}

/// Serialises a path that need not be UTF-8: a run over such a file is worth as much as any other, and whoever looks for the file
/// by a name with replacement characters is told that it is not there.
///
/// # Errors
/// The serializer's.
pub fn path_as_text<S: serde::Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { path, .. } => write!(f, "{}", path.display()),
            Self::Generate { spec, seed } => write!(f, "{spec} (seed {seed})"),
            Self::Coordinates(at) => write!(f, "place {at}"),
        }
    }
}

/// Why a cloud could not be loaded.
///
/// Messages follow `what: why`, with the path last if there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CloudError {
    /// The file could not be read, or is not of its named format.
    #[error(transparent)]
    Format(formats::FormatError),
    /// The generator's spec is invalid.
    #[error("generator `{spec}`: {why}")]
    Generate {
        /// The spec as written.
        spec: String,
        /// What is wrong with it.
        why: String,
    },
    /// The coordinates are not a point in the data's space.
    #[error("place {at}: {why}")]
    Coordinates {
        /// The coordinates, as written.
        at: String,
        /// What is wrong with it.
        why: String,
    },
    /// A coordinate is NaN or infinite, and dropping such rows was not requested.
    #[error("{}row {row}, column {column}: the value is {value}; {}: {origin}", at_line(*.line), hint::without(unusable, Hint::option))]
    NonFinite {
        /// 0-based number of the data record in the file.
        row: u64,
        /// 1-based line, in text files.
        line: Option<u64>,
        /// Name of the column with the bad value.
        column: String,
        /// NaN, inf or -inf.
        value: f64,
        /// It and all others of its kind.
        unusable: Box<Unusable>,
        /// The file or generator.
        origin: String,
    },
    /// A finite f64 value overflows f32, even after subtracting the axis's origin.
    #[error("{}row {row}, column {column}: {value:e} does not fit a 32-bit float; rescale the column: {origin}", at_line(*.line))]
    TooLarge {
        /// 0-based number of the data record in the file.
        row: u64,
        /// 1-based line, in text files.
        line: Option<u64>,
        /// Name of the column with the bad value.
        column: String,
        /// The value in the file.
        value: f64,
        /// The file or generator.
        origin: String,
    },
    /// The source has no rows, or none with finite values.
    #[error("the cloud has no points{dropped}: {origin}", dropped = if *.dropped == 0 { String::new() } else { format!(" ({dropped} rows with NaN or infinite values were dropped)") })]
    Empty {
        /// Rows dropped for NaN or ±∞.
        dropped: u64,
        /// The file or generator.
        origin: String,
    },
    /// More rows than [`MAX_ROWS`].
    #[error("{rows} rows are more than the {MAX_ROWS} that can be searched: {origin}")]
    TooMany {
        /// Rows in the source.
        rows: u64,
        /// The file or generator.
        origin: String,
    },
    /// The cloud does not fit this machine's memory.
    #[error("too large: there is no memory for {bytes} bytes of coordinates: {origin}")]
    Memory {
        /// The size of the failed allocation.
        bytes: u64,
        /// The file or generator.
        origin: String,
    },
    /// The number of dimensions of the queries differs from the data's.
    #[error("queries have {queries} dimensions and the data {data}: {}: {origin}", Hint::AsManyColumns.option())]
    Dimensions {
        /// d of the queries.
        queries: usize,
        /// d of the data.
        data: usize,
        /// Path of the query file.
        origin: String,
    },
    /// Either the queries' columns or the data's are longitude and latitude by their names, and the others are not.
    #[error("columns {queries} are not {data} of the data; choose columns by number in both files, if they are: {origin}")]
    OtherColumns {
        /// Names of the queries' columns.
        queries: String,
        /// Names of the data's.
        data: String,
        /// Path of the query file.
        origin: String,
    },
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Maximum number of rows: positions are 32-bit, the last one marks padding, and the kernels' loops run past the last point
/// by up to a batch without wrapping around.
pub const MAX_ROWS: u32 = u32::MAX - 4096;

fn at_line(line: Option<u64>) -> String {
    line.map(|line| format!("line {line}, ")).unwrap_or_default()
}

impl From<formats::FormatError> for CloudError {
    fn from(why: formats::FormatError) -> Self {
        match why {
            formats::FormatError::Cancelled => Self::Cancelled,
            why => Self::Format(why),
        }
    }
}

#[cfg(test)]
mod tests;
