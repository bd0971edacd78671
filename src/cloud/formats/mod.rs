//! Readers, one file per format, behind one registry.

use std::path::{Path, PathBuf};

use super::{ColumnChoice, Table};
use crate::progress::Progress;

/// Why a file is not read. The path is always last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The operating system's word.
    #[error("cannot read: {why}: {}", path.display())]
    Io {
        /// What the system says.
        why: std::io::Error,
        /// The file.
        path: PathBuf,
    },
}

/// Reads a file's coordinates.
///
/// # Errors
/// See [`FormatError`].
pub fn read(_path: &Path, _columns: &ColumnChoice, _progress: &dyn Progress) -> Result<Table, FormatError> {
    unimplemented!("the readers come with their own change")
}
