//! Runs into a file that opens elsewhere.

use std::path::Path;

use super::{ExportError, write};
use crate::progress::Progress;
use crate::run::recording::{self, Keep, Recorded, Shown};

/// Writes runs into a recording (see [`crate::run::recording`]); without `points`, what they searched is read again from
/// where it came from when the recording is opened, whether it is moved with the file or without.
///
/// # Errors
/// [`ExportError::Io`], and [`ExportError::Cancelled`], which leaves nothing behind.
pub fn recording(runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<(), ExportError> {
    with(None, runs, points, path, progress)
}

/// The same with what a window showed, which opens with it (see [`recording::write_with`]).
///
/// # Errors
/// As [`recording()`]'s.
pub fn session(shown: Shown<'_>, runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<(), ExportError> {
    with(Some(shown), runs, points, path, progress)
}

fn with(shown: Option<Shown<'_>>, runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<(), ExportError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let keep = if points { Keep::Points } else { Keep::Sources { folder } };
    write(path, |out| recording::write_with(shown, runs, keep, out, progress))
        .map_err(|error| if progress.cancelled() { ExportError::Cancelled } else { error })
}
