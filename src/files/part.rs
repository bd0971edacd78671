//! Temporary files and folders, which lie beside what they become.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::live::{self, Kind, Live};

const PREFIX: &str = ".warpscope-";
const SUFFIX: &str = ".part";

/// A temporary file, locked while its writer lives; deleted when it is dropped.
#[derive(Debug)]
pub(super) struct PartFile(NamedTempFile<(File, Live)>);

impl PartFile {
    pub fn new(folder: &Path) -> io::Result<Self> {
        remove_abandoned(folder);
        // With the default permissions: tempfile's own constructor restricts them to the owner, and puts the temporary name
        // into errors.
        names().make_in(folder, |path| live::create(path, Kind::File, || File::create_new(path).and_then(locked))).map(Self)
    }

    pub fn file(&self) -> &File {
        &self.0.as_file().0
    }

    /// Gives it its name, in place of what is there.
    pub fn put(self, path: &Path) -> io::Result<()> {
        // Dropped at the end: what is left of it takes itself off the list, which is held while it is renamed. By the standard
        // library, and not by tempfile, whose calls pass by those that tests make fail.
        let (_parts, temporary) = self.0.into_parts();
        live::uninterrupted(|| fs::rename(&temporary, path))?;
        // There is nothing of that name any more.
        let _ = temporary.keep();
        Ok(())
    }
}

/// A temporary folder, locked while its writer lives; deleted with all that is in it when it is dropped.
#[derive(Debug)]
pub(super) struct PartFolder {
    path: PathBuf,
    _lock: File,
    _live: Live,
}

impl PartFolder {
    pub fn new(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent);
        let made = names().make_in(parent, |path| {
            live::create(path, Kind::Folder, || {
                fs::create_dir(path)?;
                open_folder(path).and_then(locked).inspect_err(|_| _ = fs::remove_dir(path))
            })
        })?;
        let ((lock, live), path) = made.into_parts();
        Ok(Self { path: path.keep()?, _lock: lock, _live: live })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new file in it. Not while [`live::remove_all`] removes the folder, which would fail with something new in it.
    pub fn create(&self, name: &str) -> io::Result<File> {
        live::uninterrupted(|| File::create_new(self.path.join(name)))
    }
}

impl Drop for PartFolder {
    fn drop(&mut self) {
        // It is not there any more where it was renamed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn names() -> tempfile::Builder<'static, 'static> {
    let mut names = tempfile::Builder::new();
    names.prefix(PREFIX).suffix(SUFFIX).rand_bytes(10);
    names
}

#[cfg(unix)]
fn open_folder(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Folders cannot be opened here, and nothing is locked.
#[cfg(not(unix))]
fn open_folder(_path: &Path) -> io::Result<File> {
    tempfile::tempfile()
}

/// Locks a new file, by which others see that its writer lives. The lock ends with the process, however that ends.
#[cfg(unix)]
fn locked(file: File) -> io::Result<File> {
    use std::os::unix::fs::MetadataExt;
    let lost = match file.try_lock() {
        // Between its creation and the lock another program may have taken it for abandoned.
        Ok(()) => file.metadata()?.nlink() == 0,
        Err(fs::TryLockError::WouldBlock) => true,
        // A file system without locks, where nobody takes anything for abandoned either.
        Err(fs::TryLockError::Error(_)) => false,
    };
    if lost { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(file) }
}

/// Locks are mandatory here, and would keep the writer out, too.
#[cfg(not(unix))]
fn locked(file: File) -> io::Result<File> {
    Ok(file)
}

/// Removes temporary files and folders whose writers are dead. Each folder is looked through once; what cannot be read,
/// locked or removed stays.
pub(super) fn remove_abandoned(folder: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    if cfg!(unix) && SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone()) {
        look_through(&folder);
    }
}

fn look_through(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        // Of the entry itself: a link is not ours, and opening a pipe would wait.
        let Ok(kind) = entry.file_type() else { continue };
        if !ours || !(kind.is_file() || kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::open(&path) else { continue };
        // The lock is held while it is removed, so that a program that has just made it notices.
        if file.try_lock().is_ok() {
            let _ = if kind.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn no_file_comes_into_a_folder_that_a_signal_removes() {
        let place = tempfile::tempdir().unwrap();
        let folder = PartFolder::new(place.path()).unwrap();
        let inside = folder.path().to_owned();
        let creating = live::uninterrupted(|| {
            let creating = std::thread::spawn(move || folder.create("timings.csv").map(|_| folder));
            std::thread::sleep(std::time::Duration::from_millis(100));
            assert_eq!(count(&inside), 0);
            creating
        });
        let _folder = creating.join().unwrap().unwrap();
        assert_eq!(count(&inside), 1);
    }

    #[test]
    fn what_the_dead_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        let (file, folder) = (PartFile::new(place).unwrap(), PartFolder::new(place).unwrap());
        // Nobody holds a lock on these, as after a kill.
        fs::write(place.join(".warpscope-abcdefghij.part"), "half").unwrap();
        fs::create_dir(place.join(".warpscope-0123456789.part")).unwrap();
        fs::write(place.join(".warpscope-0123456789.part/timings.csv"), "half").unwrap();
        // These are not ours.
        fs::write(place.join("mine.part"), "").unwrap();
        fs::write(place.join(".warpscope-notes"), "").unwrap();
        std::os::unix::fs::symlink(place.join("mine.part"), place.join(".warpscope-link.part")).unwrap();
        assert_eq!(count(place), 7);
        look_through(place);
        assert_eq!(count(place), 5, "the two of the living, and what is not ours");
        assert!(place.join("mine.part").exists() && file.file().metadata().is_ok() && folder.path().is_dir());
        drop((file, folder));
        assert_eq!(count(place), 3);
    }
}
