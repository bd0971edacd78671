//! Writes runs to a recording file.

use std::path::Path;

use super::{ExportError, write};
use crate::progress::Progress;
use crate::run::recording::{self, Keep, Recorded, Shown};

/// Writes runs to a recording (see [`crate::run::recording`]). Without `points`, clouds are read again from their source
/// when the recording is opened, whether or not the source moved with it.
///
/// # Errors
/// [`ExportError::Io`], and [`ExportError::Cancelled`], which leaves nothing behind.
pub fn recording(runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<(), ExportError> {
    with(None, runs, points, path, progress)
}

/// Writes runs with the state of the window, which is restored on opening (see [`recording::write_with`]).
///
/// # Errors
/// The same as those of [`recording()`].
pub fn session(shown: Shown<'_>, runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<(), ExportError> {
    with(Some(shown), runs, points, path, progress)
}

fn with(shown: Option<Shown<'_>>, runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<(), ExportError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let keep = if points { Keep::Points } else { Keep::Sources { folder } };
    write(path, |out| recording::write_with(shown, runs, keep, out, progress))
        .map_err(|error| if progress.cancelled() { ExportError::Cancelled } else { error })
}
