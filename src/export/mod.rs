//! Files written by the program: neighbours, run folders, recordings, the data of panes, figures of sweeps,
//! lessons.
//!
//! Every file is written under a temporary name in its folder and renamed, so that no reader sees a partial
//! file. The files of a run's folder, and the frames of a film, are replaced together. Indices and rows in
//! files are record numbers: 0-based positions in the cloud's own file, unchanged by dropped rows. Infinity
//! is spelled `inf`. Squared distances are as returned by the engines; under the angular metric, the squared
//! chord between unit vectors.

pub mod answers;
pub mod figure;
mod folder;
pub mod graph;
pub mod lesson;
mod neighbors;
mod numpy;
mod placed;
pub mod provenance;
pub mod site;
pub mod table;
pub mod tables;
mod trace;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use crate::files;
use crate::memory::InsufficientMemory;
use crate::progress::Progress;
use crate::run::recording::{self, CloudStorage, Extras, RecordedRun, WindowState};
pub use crate::text;
pub use answers::FileColumns;
pub use folder::{FOLDER_FILES, MAX_NEIGHBORS, OutputFolder, check_folder, folder, is_run_file};
pub use neighbors::{
    NeighborFormat, NeighborStream, NeighborWriter, Size, SizeEstimate, check_positions, check_room,
    in_batches, neighbors, neighbors_of,
};
pub use tables::{comparison, runs};
pub use trace::trace;

/// Why a file could not be written. The path is last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// An error of the operating system.
    #[error("cannot write: {why}: {}", path.display())]
    Io {
        /// The error as reported by the system.
        why: io::Error,
        /// Path of the file.
        path: PathBuf,
    },
    /// The extension is not that of a format for neighbours.
    #[error(
        "unknown extension for neighbours; use .csv, .tsv, .parquet, .arrow, .npz, .geojson, .npy, .ivecs or .ibin: {}",
        path.display()
    )]
    Extension {
        /// Path of the file.
        path: PathBuf,
    },
    /// The extension is not that of a table format.
    #[error(
        "unknown extension for a table; use .csv, .tsv, .parquet, .arrow or .npz: {}",
        path.display()
    )]
    TableExtension {
        /// Path of the file.
        path: PathBuf,
    },
    /// GeoJSON of points that are not on the Earth.
    #[error(
        "GeoJSON needs points whose two columns are longitude and latitude in degrees; use .csv or .parquet: {}",
        path.display()
    )]
    NoPositions {
        /// Path of the file.
        path: PathBuf,
    },
    /// A number exceeds the range of the format.
    #[error(
        "{what} does not fit the 32-bit numbers of .{extension}; use .csv, .parquet or .npz: {}",
        path.display()
    )]
    Width {
        /// Description of the number.
        what: String,
        /// Extension of the format.
        extension: &'static str,
        /// Path of the file.
        path: PathBuf,
    },
    /// The neighbours do not fit on the disk.
    #[error(
        "cannot write: {what} need {needed} MiB of disk space, but only {free} MiB is free; use fewer \
         queries or a smaller k, or write to another disk: {}",
        path.display()
    )]
    DiskFull {
        /// Names the neighbours and their number.
        what: String,
        /// Required space in MiB, rounded up.
        needed: u64,
        /// Free space in MiB, rounded down.
        free: u64,
        /// Path of the file.
        path: PathBuf,
    },
    /// The work needs more memory than is free.
    #[error("{what} {short}; {remedy}: {}", path.display())]
    Memory {
        /// What was to be written.
        what: String,
        short: InsufficientMemory,
        /// How to need less memory.
        remedy: &'static str,
        /// Path of the file.
        path: PathBuf,
    },
    /// A picture's size is invalid.
    #[error(transparent)]
    Picture(#[from] crate::draw::raster::SizeError),
    /// The folder contains files that would be overwritten and were not written by a run.
    #[error(
        "cannot write: {file} in the folder was not written by a run (there is no run.json); move it or \
         choose another folder: {}",
        path.display()
    )]
    NoRun {
        /// Name of such a file.
        file: &'static str,
        /// Path of the folder.
        path: PathBuf,
    },
    /// The folder contains a `run.json` that was not written by a run.
    #[error(
        "cannot write: the run.json in the folder was not written by a run; move it or choose another \
         folder: {}",
        path.display()
    )]
    OtherJson {
        /// Path of the folder.
        path: PathBuf,
    },
    /// The folder contains frames of another film that would appear to belong to this one.
    #[error(
        "cannot write: the folder contains frames of another film; empty it or choose another: {}",
        path.display()
    )]
    OtherFrames {
        /// Path of the folder.
        path: PathBuf,
    },
    /// The folder contains files that a site of lessons would replace, but its index is not that of such a site.
    #[error(
        "cannot write: {file} in the folder was not written by `lesson --site`; move it or choose another \
         folder: {}",
        path.display()
    )]
    OtherSite {
        /// Name of such a file.
        file: String,
        /// Path of the folder.
        path: PathBuf,
    },
    /// The work was cancelled. Nothing is left behind.
    #[error("cancelled")]
    Cancelled,
}

impl ExportError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |why| Self::Io { why, path: path.to_owned() }
    }
}

/// Writes a file completely or not at all (see [`files::write`]).
///
/// # Errors
/// [`ExportError::Io`] with the requested path.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), ExportError> {
    files::write(path, content).map_err(ExportError::io(path))
}

/// Formats that a pipe cannot take: archives, whose writers seek, and formats of two files.
const NOT_FOR_PIPES: [&str; 6] = ["npz", "warpscope", "ivecs", "fvecs", "ibin", "fbin"];

/// Checks that [`write()`] could start writing a file, without leaving anything behind. Called before a long
/// search.
///
/// # Errors
/// [`ExportError::Io`] with the requested path, also for a pipe whose name has the extension of a format that
/// needs a regular file.
pub fn check(path: &Path) -> Result<(), ExportError> {
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    if NOT_FOR_PIPES.contains(&extension.as_str()) && files::is_pipe(path) {
        let why = format!(
            ".{extension} needs a regular file, not a pipe; write to a file, or use .csv, .tsv, .parquet or \
             .arrow"
        );
        return Err(ExportError::io(path)(io::Error::new(io::ErrorKind::NotSeekable, why)));
    }
    files::check(path).map_err(ExportError::io(path))
}

#[cfg(test)]
mod tests;

/// Writes runs to a recording (see [`crate::run::recording`]). Without `points`, clouds are read again from
/// their source when the recording is opened. Returns a sentence for each data file that the recording lacks.
///
/// # Errors
/// [`ExportError::Io`], and [`ExportError::Cancelled`], which leaves nothing behind.
pub fn recording(
    runs: &[RecordedRun],
    points: bool,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Vec<String>, ExportError> {
    write_recording(Extras::default(), runs, points, path, progress)
}

/// As [`recording()`], with the indices of two compared runs, A and B, which a window compares again.
///
/// # Errors
/// The same as those of [`recording()`].
pub fn compared_recording(
    runs: &[RecordedRun],
    compared: Option<[usize; 2]>,
    points: bool,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Vec<String>, ExportError> {
    write_recording(Extras { compared, ..Extras::default() }, runs, points, path, progress)
}

/// Writes runs with the state of the window, which is restored on opening (see [`recording::write_with`]).
///
/// # Errors
/// The same as those of [`recording()`].
pub fn session(
    shown: WindowState<'_>,
    runs: &[RecordedRun],
    points: bool,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Vec<String>, ExportError> {
    write_recording(Extras { shown: Some(shown), ..Extras::default() }, runs, points, path, progress)
}

fn write_recording(
    extras: Extras<'_>,
    runs: &[RecordedRun],
    points: bool,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Vec<String>, ExportError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let storage = if points { CloudStorage::Points } else { CloudStorage::Sources { folder } };
    let mut missing = Vec::new();
    let written = write(path, |out| {
        recording::write_with(extras, runs, storage, out, progress).map(|sentences| missing = sentences)
    });
    written
        .map(|()| missing)
        .map_err(|error| if progress.cancelled() { ExportError::Cancelled } else { error })
}
