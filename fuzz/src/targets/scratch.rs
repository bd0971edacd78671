//! A file for the current input, because readers need a path.

use std::cell::OnceCell;
use std::path::PathBuf;

use tempfile::TempDir;

thread_local! {
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Writes a file of that name into this thread's folder, replacing the previous one. `TMPDIR` selects the
/// parent folder; a RAM disk is fastest.
pub fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, content).expect("writing a temporary file");
    path
}

/// This thread's folder.
pub fn folder() -> PathBuf {
    FOLDER.with(|folder| {
        folder.get_or_init(|| tempfile::tempdir().expect("a temporary folder")).path().to_owned()
    })
}
