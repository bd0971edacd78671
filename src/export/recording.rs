//! Runs into a file that opens elsewhere.

use std::path::Path;

use super::{ExportError, write};
use crate::progress::Progress;
use crate::run::recording::{self, Recorded};

/// Writes runs into a recording (see [`crate::run::recording`]); without `points`, what they searched is read again from
/// where it came from when the recording is opened.
///
/// # Errors
/// [`ExportError::Io`], and [`ExportError::Cancelled`], which leaves nothing behind.
pub fn recording(runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<(), ExportError> {
    write(path, |out| recording::write(runs, points, out, progress))
        .map_err(|error| if progress.cancelled() { ExportError::Cancelled } else { error })
}

/// The same with what a window showed, which opens with it (see [`recording::write_with`]).
///
/// # Errors
/// As [`recording()`]'s.
pub fn session(session: &[u8], runs: &[Recorded], points: bool, path: &Path, progress: &dyn Progress) -> Result<(), ExportError> {
    write(path, |out| recording::write_with(Some(session), runs, points, out, progress))
        .map_err(|error| if progress.cancelled() { ExportError::Cancelled } else { error })
}
