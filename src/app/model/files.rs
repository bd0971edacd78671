//! Names and states of files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::cloud::formats::file_of;
use crate::cloud::{PointCloud, Source};

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
    /// The data that it shows: only a session of the same data is saved into it without asking.
    pub data: Option<Source>,
}

impl SessionFile {
    /// Whether it is a session of this cloud.
    pub fn is_of(&self, cloud: Option<&PointCloud>) -> bool {
        let key = |source: &Source| data_file(source).ok_or_else(|| source.clone());
        self.data.as_ref().map(key) == cloud.map(|cloud| key(cloud.source()))
    }
}

/// The file of a source, whatever parts and columns of it; `None` for generated data.
pub fn data_file(source: &Source) -> Option<PathBuf> {
    if let Source::File { path, .. } = source { Some(absolute(&file_of(path))) } else { None }
}

/// A path that means the same wherever the next start is.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
