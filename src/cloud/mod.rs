//! Point clouds: what is searched, and where it came from.
//!
//! [`load`] is the one way in: a file through [`formats`] or a generator through [`generate`] gives [`Coordinates`], to the
//! last bit, and [`PointCloud::from_table`] rounds them to f32 (see [`origin`]). That takes three times the memory of the
//! f32 at most, and what is kept to give the file's values back (see [`exact`]) as much again.

mod agree;
mod exact;
pub mod formats;
pub mod generate;
mod hint;
pub mod order;
mod origin;
pub mod place;
mod point_cloud;
pub mod project;
mod records;
mod table;
mod values;

use std::collections::HashSet;
use std::path::PathBuf;

pub use hint::Hint;
pub use order::Order;
pub use point_cloud::{Axis, CloudParts, Fingerprint, PointCloud};
use serde::{Deserialize, Serialize};
pub use table::{Column, ColumnChoice, Coordinates, Table};
pub use values::Values;

use crate::progress::Progress;
use formats::FormatError;

/// Where a cloud comes from: all that is needed to have it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A file in one of the [`formats`].
    File {
        /// Where it lies.
        path: PathBuf,
        /// Which of its columns are coordinates.
        #[serde(default)]
        columns: ColumnChoice,
    },
    /// A generator's spec, `name:key=value,…` (see [`generate`]).
    Generate {
        /// The spec as it was written.
        spec: String,
        /// Seeds the generator.
        seed: u64,
    },
    /// A single point that was typed or pointed at, as [`place::text`] writes it.
    Place(String),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { path, .. } => write!(f, "{}", path.display()),
            Self::Generate { spec, seed } => write!(f, "{spec} (seed {seed})"),
            Self::Place(at) => write!(f, "place {at}"),
        }
    }
}

/// What a cloud could not be made of.
///
/// Messages follow `what: why`, with the path last where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CloudError {
    /// The file could not be read, or is not what its name says.
    #[error(transparent)]
    Format(formats::FormatError),
    /// The generator's spec makes no sense.
    #[error("generator `{spec}`: {why}")]
    Generate {
        /// The spec as it was written.
        spec: String,
        /// What is wrong with it.
        why: String,
    },
    /// Coordinates are no place in the data's space.
    #[error("place {at}: {why}")]
    Place {
        /// The coordinates, as written.
        at: String,
        /// What is wrong with them.
        why: String,
    },
    /// A coordinate is NaN or infinite, and dropping was not asked for.
    #[error("{}row {row}, column {column}: the value is {value}; {}: {origin}", at_line(*.line), Hint::LeaveRowsOut.option())]
    NonFinite {
        /// 0-based data record.
        row: u64,
        /// 1-based line, where the file has lines.
        line: Option<u64>,
        /// The column's name.
        column: String,
        /// NaN, inf or -inf.
        value: f64,
        /// The file or generator.
        origin: String,
    },
    /// A value is finite in f64 and has no f32, even after the axis's origin was subtracted.
    #[error("{}row {row}, column {column}: {value:e} does not fit a 32-bit float; rescale the column: {origin}", at_line(*.line))]
    TooLarge {
        /// 0-based data record.
        row: u64,
        /// 1-based line, where the file has lines.
        line: Option<u64>,
        /// The column's name.
        column: String,
        /// The value in the file.
        value: f64,
        /// The file or generator.
        origin: String,
    },
    /// No rows are left.
    #[error("the cloud has no points{dropped}: {origin}", dropped = if *.dropped == 0 { String::new() } else { format!(" ({dropped} rows with NaN or infinite values were dropped)") })]
    Empty {
        /// Rows that were there and had NaN or ±∞.
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
        /// What was asked for.
        bytes: u64,
        /// The file or generator.
        origin: String,
    },
    /// The query file's columns do not fit the data's.
    #[error("queries have {queries} dimensions and the data {data}: {}: {origin}", Hint::AsManyColumns.option())]
    Dimensions {
        /// d of the queries.
        queries: usize,
        /// d of the data.
        data: usize,
        /// The query file.
        origin: String,
    },
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// The most rows of a cloud: positions are 32-bit numbers, of which the last is padding, and the loops of the kernels
/// step beyond the last point by up to a batch without wrapping around.
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

/// Reads or generates a cloud.
///
/// Rows with NaN or ±∞ are an error unless `drop_nonfinite`, which leaves them out and counts them.
///
/// # Errors
/// Whatever keeps the source from being a cloud; see [`CloudError`].
pub fn load(source: &Source, drop_nonfinite: bool, progress: &dyn Progress) -> Result<PointCloud, CloudError> {
    let table = table_of(source, progress)?;
    PointCloud::from_table(table, source.clone(), None, drop_nonfinite).map_err(|why| with_line(why, source, progress))
}

/// Reads a separate query file, in the frame of `data`: the same origin, and the columns of the same names where no other
/// choice was made.
///
/// A file without such names is read by its own default only where nobody chose the data's columns either; where
/// somebody did, their order is known for the data alone. [`PointCloud::axes`] of the answer says what was taken.
///
/// # Errors
/// As [`load`], and [`CloudError::Dimensions`].
pub fn load_queries(source: &Source, data: &PointCloud, drop_nonfinite: bool, progress: &dyn Progress) -> Result<PointCloud, CloudError> {
    let table = match source {
        Source::File { path, columns: ColumnChoice::Default } => {
            let names: Vec<String> = data.axes().iter().map(|axis| axis.name.clone()).collect();
            let chosen = matches!(data.source(), Source::File { columns: ColumnChoice::Named(_), .. });
            let distinct = names.iter().collect::<HashSet<_>>().len() == names.len();
            match formats::read(path, &ColumnChoice::Named(names), progress) {
                Err(FormatError::NoColumn { .. }) if !chosen => table_of(source, progress)?,
                // Names that several columns of the data share say nothing.
                Err(FormatError::Column { .. }) if !chosen && !distinct => table_of(source, progress)?,
                Err(FormatError::NoColumn { what, why, path }) => {
                    let why = format!("{why}; name the columns like the data's, or choose them by number in both files");
                    return Err(FormatError::NoColumn { what, why, path }.into());
                }
                table => table?,
            }
        }
        // Its axes are the data's.
        Source::Place(at) => return place::place(&coordinates(at)?, data),
        Source::File { .. } | Source::Generate { .. } => table_of(source, progress)?,
    };
    if table.columns.len() != data.dims() {
        return Err(CloudError::Dimensions { queries: table.columns.len(), data: data.dims(), origin: source.to_string() });
    }
    PointCloud::from_table(table, source.clone(), Some(data), drop_nonfinite).map_err(|why| with_line(why, source, progress))
}

/// Names the line of a bad value, for which a file of text is read again.
fn with_line(mut why: CloudError, source: &Source, progress: &dyn Progress) -> CloudError {
    if let CloudError::NonFinite { row, line, .. } | CloudError::TooLarge { row, line, .. } = &mut why
        && let Source::File { path, .. } = source
    {
        *line = formats::line_of_record(path, *row, progress);
    }
    why
}

fn table_of(source: &Source, progress: &dyn Progress) -> Result<Coordinates, CloudError> {
    match source {
        Source::File { path, columns } => Ok(formats::read(path, columns, progress)?),
        Source::Generate { spec, seed } => generate::generate(spec, *seed, progress),
        Source::Place(at) => {
            let values = coordinates(at)?;
            let columns = (0..values.len()).map(|axis| Column { name: format!("c{axis}") }).collect();
            Ok(Table { columns, values }.into())
        }
    }
}

fn coordinates(at: &str) -> Result<Vec<f64>, CloudError> {
    place::parse(at).map_err(|part| CloudError::Place { at: at.to_owned(), why: format!("`{part}` is no number") })
}

#[cfg(test)]
mod tests;
