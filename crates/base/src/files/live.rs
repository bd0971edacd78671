//! The temporary files and folders of this process, for a signal handler to remove.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a path is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathKind {
    File,
    /// Including its content.
    Folder,
    /// A destination folder that this process created; removed only if empty.
    Made,
}

static LIVE: Mutex<BTreeMap<PathBuf, PathKind>> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, BTreeMap<PathBuf, PathKind>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path on the list until this is dropped.
#[derive(Debug)]
pub struct LivePath(PathBuf);

impl Drop for LivePath {
    fn drop(&mut self) {
        lock().remove(&self.0);
    }
}

/// Creates a file or folder and lists it, with no gap in which a signal handler could miss it.
pub(super) fn create<T>(
    path: &Path,
    kind: PathKind,
    make: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, LivePath)> {
    // Absolute, because the process may change its working directory.
    let path = std::path::absolute(path)?;
    let mut live = lock();
    let made = make()?;
    live.insert(path.clone(), kind);
    Ok((made, LivePath(path)))
}

/// Creates and lists a folder for output, to be removed if it is still empty.
///
/// # Errors
/// I/O errors.
pub fn made(path: &Path) -> io::Result<LivePath> {
    create(path, PathKind::Made, || fs::create_dir(path)).map(|((), live)| live)
}

/// Runs work that [`remove_all`] must not interrupt.
pub(super) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _live = lock();
    work()
}

/// Removes everything on the list before the process ends. Other threads block when they create or rename a
/// file.
pub fn remove_all() {
    let live = lock();
    // Inner folders follow outer ones, so reverse.
    for (path, kind) in live.iter().rev() {
        // Errors cannot be reported during shutdown.
        let _ = match kind {
            PathKind::File => fs::remove_file(path),
            PathKind::Folder => fs::remove_dir_all(path),
            PathKind::Made => fs::remove_dir(path),
        };
    }
    std::mem::forget(live);
}
