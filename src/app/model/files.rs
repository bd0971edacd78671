//! Names and states of files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::cloud::Source;
use crate::cloud::formats::file_of;

/// A path's last part.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// What the system says of a file: while it says the same, the file is not read again to see whether it has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    pub bytes: u64,
    /// When it was written last, since 1970 UTC.
    pub modified: Duration,
}

impl FileState {
    /// Of a source's file; `None` for what is no file, and where the system does not say.
    pub fn of(source: &Source) -> Option<Self> {
        let Source::File { path, .. } = source else { return None };
        let meta = file_of(path).metadata().ok()?;
        Some(Self { bytes: meta.len(), modified: meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()? })
    }

    /// Whether it was written last before then, for sure: some systems note times in steps of two seconds.
    pub fn is_before(self, then: SystemTime) -> bool {
        const STEP: Duration = Duration::from_secs(2);
        then.duration_since(UNIX_EPOCH).is_ok_and(|then| self.modified + STEP < then)
    }
}

/// The file of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    pub path: PathBuf,
    /// Whether points go into it.
    pub points: bool,
}

/// A path that means the same wherever the next start is.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
