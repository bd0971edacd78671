//! A place for the file of one input. Readers take paths.

use std::cell::OnceCell;
use std::path::PathBuf;

use tempfile::TempDir;

thread_local! {
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Writes a file of that name into a folder that this thread keeps, over the one before. `TMPDIR` says where
/// that is: memory is best.
pub fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, content).expect("there is room for a small file");
    path
}

/// The folder of this thread.
pub fn folder() -> PathBuf {
    FOLDER.with(|folder| {
        folder
            .get_or_init(|| tempfile::tempdir().expect("there is a folder for temporary files"))
            .path()
            .to_owned()
    })
}
