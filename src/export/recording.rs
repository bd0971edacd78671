//! Writes runs to a recording file.

use std::path::Path;

use super::{ExportError, write};
use crate::progress::Progress;
use crate::run::recording::{self, Beside, Keep, Recorded, Shown};

/// Writes runs to a recording (see [`crate::run::recording`]). Without `points`, clouds are read again from their source
/// when the recording is opened, whether or not the source moved with it. Returns a sentence for each data file that is missing in it.
///
/// # Errors
/// [`ExportError::Io`], and [`ExportError::Cancelled`], which leaves nothing behind.
pub fn recording(runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<Vec<String>, ExportError> {
    with(Beside::default(), runs, points, path, progress)
}

/// The same, with the places of two runs that are compared, A and B, which a window compares again.
///
/// # Errors
/// The same as those of [`recording()`].
pub fn compared_recording(
    runs: &[Recorded],
    compared: Option<[usize; 2]>,
    points: bool,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Vec<String>, ExportError> {
    with(Beside { compared, ..Beside::default() }, runs, points, path, progress)
}

/// Writes runs with the state of the window, which is restored on opening (see [`recording::write_with`]).
///
/// # Errors
/// The same as those of [`recording()`].
pub fn session(shown: Shown<'_>, runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<Vec<String>, ExportError> {
    with(Beside { shown: Some(shown), ..Beside::default() }, runs, points, path, progress)
}

fn with(beside: Beside<'_>, runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<Vec<String>, ExportError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let keep = if points { Keep::Points } else { Keep::Sources { folder } };
    let mut missing = Vec::new();
    let written = write(path, |out| recording::write_with(beside, runs, keep, out, progress).map(|sentences| missing = sentences));
    written.map(|()| missing).map_err(|error| if progress.cancelled() { ExportError::Cancelled } else { error })
}
