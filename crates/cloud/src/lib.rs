//! Point clouds, their sources and their coordinates.
//!
//! [`load`] is the entry point: a file through [`formats`] or a generator through [`generate`] gives exact
//! [`Coordinates`], and [`PointCloud::from_table`] rounds them to f32 (see [`rounding`]). Peak memory is
//! three times that of the f32 coordinates; a cloud that stores data to restore the file's values (see
//! [`rounding`]) keeps up to twice that memory.

// Aliases, so that `crate::memory` or `crate::knn` mean the same in every crate.
use warpscope_base::{files, memory, printable, progress, suggest};

mod error;
pub mod formats;
pub mod generate;
pub mod globe;
pub mod headings;
pub mod joined;
mod loading;
pub mod order;
mod point_cloud;
pub mod project;
pub mod query_point;
pub mod roles;
mod rounding;
mod table;
mod value;

use std::path::{Path, PathBuf};

pub use error::{CloudError, Hint, UnusableRow, UnusableRows};
pub use formats::LongDecimals;
pub use globe::{GlobeAxes, GlobeError};
pub use loading::{AutoColumns, axes_in_file_order, load, load_auto, load_queries, load_queries_auto};
pub use order::Order;
pub use point_cloud::{Axis, CloudParts, Duplicates, Fingerprint, PointCloud, TiledCloud, bulk};
use serde::{Deserialize, Serialize};
pub use table::{Column, ColumnChoice, Coordinates, Table, Values};
pub use value::FileValue;

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

/// Serialises a path, replacing invalid UTF-8. A run over such a file can still be saved, but its path will
/// not be found later.
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
            Self::Coordinates(at) => write!(f, "query point {at}"),
        }
    }
}

/// Maximum number of rows. Positions are 32-bit, the last one marks padding, and the kernels' loops run past
/// the last point by up to a batch without wrapping around.
pub const MAX_ROWS: u32 = u32::MAX - 4096;

#[cfg(test)]
mod tests;
