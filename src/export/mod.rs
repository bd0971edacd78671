//! What leaves the program: neighbours, the folder of a run, recordings, the data of a pane, lessons.
//!
//! Every file is written under a temporary name in its folder and renamed, so that nobody ever sees half of one.
//! Indices and rows in files are record numbers: 0-based, as in the cloud's own file, dropped rows keeping theirs.
//! Infinity is spelled `inf`. Squared distances are as engines give them: under the angular metric, the squared chord
//! between unit vectors.

mod atomic;
mod comparison;
mod folder;
pub mod lesson;
mod neighbors;
mod npz;
mod recording;
pub mod table;
pub mod tables;
mod trace;

use std::path::{Path, PathBuf};

pub use atomic::{check, write};
pub use comparison::{comparison, runs};
pub use folder::{FOLDER_FILES, MOST_NEIGHBORS, MadeFolder, check_folder, folder};
pub use neighbors::{NeighborFormat, neighbors, neighbors_of};
pub use recording::{recording, session};
pub use trace::trace;

pub use crate::text;

/// Why something was not written. The path is last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The operating system's word.
    #[error("cannot write: {why}: {}", path.display())]
    Io {
        /// What the system says.
        why: std::io::Error,
        /// The file.
        path: PathBuf,
    },
    /// The name does not say which format is meant.
    #[error("neighbours are written as .csv, .tsv, .parquet, .npz, .ivecs or .ibin: the name must end in one of these: {}", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The name does not say in which format a table is meant.
    #[error("tables are written as .csv, .tsv, .parquet or .npz: the name must end in one of these: {}", path.display())]
    TableExtension {
        /// The file.
        path: PathBuf,
    },
    /// The format's numbers are too small.
    #[error("{what} does not fit the 32-bit numbers of .{extension}; use .csv, .parquet or .npz: {}", path.display())]
    Width {
        /// Which number.
        what: String,
        /// The format.
        extension: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// No picture has this size.
    #[error(transparent)]
    Picture(#[from] crate::lesson::picture::raster::SizeError),
    /// Somebody's files would be lost.
    #[error("cannot write: the folder has {file} but no run.json, so that no run wrote it; move it away or choose another folder: {}", path.display())]
    NoRun {
        /// One of them.
        file: &'static str,
        /// The folder.
        path: PathBuf,
    },
    /// Two films in one folder would look like one.
    #[error("cannot write: the folder holds later frames of another film; empty it or choose another: {}", path.display())]
    OtherFrames {
        /// The folder.
        path: PathBuf,
    },
    /// Somebody asked to stop. Nothing is left behind.
    #[error("cancelled")]
    Cancelled,
}

impl ExportError {
    fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        |why| Self::Io { why, path: path.to_owned() }
    }

    /// With the path that was asked for, where another is written for a while.
    fn at(self, path: &Path) -> Self {
        match self {
            Self::Io { why, .. } => Self::io(path)(why),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
