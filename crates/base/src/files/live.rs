//! The temporary files and folders of this process, for a signal handler to remove.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a path is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    /// With all that is in it.
    Folder,
    /// A destination that was created: only while it is empty.
    Made,
}

static LIVE: Mutex<BTreeMap<PathBuf, Kind>> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, BTreeMap<PathBuf, Kind>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path on the list, until this is dropped.
#[derive(Debug)]
pub struct Live(PathBuf);

impl Drop for Live {
    fn drop(&mut self) {
        lock().remove(&self.0);
    }
}

/// Creates something and lists it, with no moment between the two at which a handler could miss it.
pub(super) fn create<T>(
    path: &Path,
    kind: Kind,
    make: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Live)> {
    // Against the folder in which the process is now: it may not stay there.
    let path = std::path::absolute(path)?;
    let mut live = lock();
    let made = make()?;
    live.insert(path.clone(), kind);
    Ok((made, Live(path)))
}

/// Lists a folder that was created for output, to be removed if it is still empty.
///
/// # Errors
/// Those of creating it.
pub fn made(path: &Path) -> io::Result<Live> {
    create(path, Kind::Made, || fs::create_dir(path)).map(|((), live)| live)
}

/// Does what must not be stopped half-way by [`remove_all`].
pub(super) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _live = lock();
    work()
}

/// Removes everything on the list, for a process that ends now. Other threads that want to create or rename a
/// file wait until it has ended.
pub fn remove_all() {
    let live = lock();
    // Inner folders come after outer ones.
    for (path, kind) in live.iter().rev() {
        // Nobody is left to be told.
        let _ = match kind {
            Kind::File => fs::remove_file(path),
            Kind::Folder => fs::remove_dir_all(path),
            Kind::Made => fs::remove_dir(path),
        };
    }
    std::mem::forget(live);
}
