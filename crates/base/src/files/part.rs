//! Temporary files and folders, which lie beside what they become, or in the system's temporary folder.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tempfile::NamedTempFile;

use super::live::{self, Kind, Live};

const PREFIX: &str = ".warpscope-";
const SUFFIX: &str = ".part";

/// For how long nothing has changed in what another machine is taken to have abandoned. Some file systems of
/// several machines grant locks on each alone, so that the lock of a writer elsewhere is not seen.
const ABANDONED: Duration = Duration::from_hours(7 * 24);

/// A temporary file, locked while its writer lives; deleted when it is dropped.
#[derive(Debug)]
pub(super) struct PartFile(NamedTempFile<(File, Live)>);

impl PartFile {
    /// For a file of the folder that replaces `old`.
    pub fn new(folder: &Path, old: &Path) -> io::Result<Self> {
        remove_abandoned(folder);
        // Not by tempfile's own constructor, which restricts every file to the owner, and puts the temporary
        // name into errors.
        names()
            .make_in(folder, |path| {
                live::create(path, Kind::File, || create_like(old, path).and_then(locked))
            })
            .map(Self)
    }

    /// For a file that is never renamed, and that nobody else may open.
    pub fn private(folder: &Path) -> io::Result<Self> {
        remove_abandoned(folder);
        names()
            .make_in(folder, |path| live::create(path, Kind::File, || create_private(path).and_then(locked)))
            .map(Self)
    }

    pub fn file(&self) -> &File {
        &self.0.as_file().0
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Gives it its name, in place of what is there.
    pub fn put(self, path: &Path) -> io::Result<()> {
        // Dropped at the end: what is left of it takes itself off the list, which is held while it is
        // renamed. By the standard library, and not by tempfile, whose calls pass by those that tests make
        // fail.
        let (_parts, temporary) = self.0.into_parts();
        live::uninterrupted(|| fs::rename(&temporary, path))?;
        // There is nothing of that name any more.
        let _ = temporary.keep();
        Ok(())
    }
}

/// A temporary folder, locked while its writer lives; deleted with all that is in it when it is dropped.
#[derive(Debug)]
pub struct PartFolder {
    path: PathBuf,
    _lock: File,
    _live: Live,
}

impl PartFolder {
    /// # Errors
    /// Those of creating it.
    pub fn new(parent: &Path) -> io::Result<Self> {
        Self::with(parent, &fs::DirBuilder::new())
    }

    /// As [`Self::new`], closed to other users from the beginning.
    pub fn private(parent: &Path) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        Self::with(parent, &builder)
    }

    fn with(parent: &Path, builder: &fs::DirBuilder) -> io::Result<Self> {
        remove_abandoned(parent);
        let made = names().make_in(parent, |path| {
            live::create(path, Kind::Folder, || {
                builder.create(path)?;
                open_folder(path).and_then(locked).inspect_err(|_| _ = fs::remove_dir(path))
            })
        })?;
        let ((lock, live), path) = made.into_parts();
        Ok(Self { path: path.keep()?, _lock: lock, _live: live })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new file in it that replaces `old`. Not while [`live::remove_all`] removes the folder, which would
    /// fail with something new in it.
    pub(super) fn create(&self, name: &str, old: &Path) -> io::Result<File> {
        live::uninterrupted(|| create_like(old, &self.path.join(name)))
    }
}

impl Drop for PartFolder {
    fn drop(&mut self) {
        // It is not there any more where it was renamed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// How the names begin of what this machine writes.
fn prefix() -> &'static str {
    static WHOLE: OnceLock<String> = OnceLock::new();
    WHOLE.get_or_init(|| format!("{PREFIX}{}-", machine()))
}

fn names() -> tempfile::Builder<'static, 'static> {
    let mut names = tempfile::Builder::new();
    names.prefix(prefix()).suffix(SUFFIX).rand_bytes(10);
    names
}

/// Creates a file that is not there. From its first moment nobody may open it who may not open the one that
/// it replaces.
#[cfg(unix)]
fn create_like(old: &Path, new: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mode = fs::metadata(old).map_or(0o666, |meta| meta.permissions().mode() & 0o666);
    File::options().write(true).create_new(true).mode(mode).open(new)
}

#[cfg(not(unix))]
fn create_like(_old: &Path, new: &Path) -> io::Result<File> {
    File::create_new(new)
}

#[cfg(unix)]
fn create_private(new: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create_new(true).mode(0o600).open(new)
}

/// The folder of temporary files is the user's own here.
#[cfg(not(unix))]
fn create_private(new: &Path) -> io::Result<File> {
    File::create_new(new)
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

/// Locks a new file, by which others see that its writer lives. The lock ends with the process, however that
/// ends.
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

/// Removes temporary files and folders whose writers are dead, as far as this machine can know. Each folder
/// is looked through once; what cannot be read, locked or removed stays.
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
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
        else {
            continue;
        };
        // Of the entry itself: a link is not ours, and opening a pipe would wait.
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if !(kind.is_file() || kind.is_dir())
            || !(name.starts_with(prefix()) || is_old(&path))
            || !entry.metadata().is_ok_and(|about| is_own(&about))
        {
            continue;
        }
        let Ok(file) = open_own(&path) else { continue };
        // The lock is held while it is removed, so that a program that has just made it notices.
        if file.try_lock().is_ok() {
            let _ = if kind.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

/// Whether it is this user's: in a folder that is shared, others may give their files any name.
#[cfg(unix)]
fn is_own(about: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(about) == rustix::process::geteuid().as_raw()
}

/// Whether a path is a folder of this user's, who alone can write into it.
#[cfg(unix)]
pub fn is_private(path: &Path) -> bool {
    let private = |about: fs::Metadata| {
        about.is_dir() && is_own(&about) && std::os::unix::fs::MetadataExt::mode(&about) & 0o022 == 0
    };
    path.metadata().is_ok_and(private)
}

/// The folders of users are their own here.
#[cfg(not(unix))]
pub fn is_private(path: &Path) -> bool {
    path.is_dir()
}

/// Opens a file or folder without following a link or waiting for a pipe that was put in its place meanwhile.
#[cfg(unix)]
fn open_own(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// Nothing is looked through here.
#[cfg(not(unix))]
fn is_own(_about: &fs::Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn open_own(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Whether a file, or a folder and what is in it, has not changed for long.
fn is_old(path: &Path) -> bool {
    let old = |path: &Path| {
        let changed = fs::symlink_metadata(path).and_then(|meta| meta.modified());
        changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|since| since > ABANDONED))
    };
    old(path)
        && fs::read_dir(path).into_iter().flatten().all(|entry| entry.is_ok_and(|entry| old(&entry.path())))
}

/// Files that tell machines apart, and stay the same when one starts anew. Clones share the first, and
/// containers of one image may lack it.
const TELLING: [&str; 2] = ["/etc/machine-id", "/proc/sys/kernel/hostname"];

/// Which machine this is: a few letters, as good as none other's. Where a system does not tell, the same
/// everywhere.
fn machine() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let told = TELLING.map(|path| std::fs::read(path).unwrap_or_default());
        // Hashed, because a machine's id is not for others to see.
        let mut hash = blake3::Hasher::new_derive_key("warpscope 2025 temporary names of a machine");
        for text in told {
            hash.update(&text.len().to_le_bytes()).update(&text);
        }
        hash.finalize().to_hex()[..8].to_owned()
    })
}

/// A file for as long as it is needed, such as for what came through a pipe and has to be read more than
/// once: in the system's temporary folder, one that nobody else may read, removed when it is dropped, or when
/// the program is stopped.
#[derive(Debug)]
pub struct Scratch(PartFile);

impl Scratch {
    /// An empty one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new() -> io::Result<Self> {
        PartFile::private(&std::env::temp_dir()).map(Self)
    }

    pub fn file(&self) -> &File {
        self.0.file()
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A file of this name and content, alone in a private folder within the system's temporary folder. The
/// folder is removed with it when it is dropped, or when the program is stopped.
///
/// # Errors
/// Those of the system.
pub fn named_scratch(name: &OsStr, bytes: &[u8]) -> io::Result<(PathBuf, PartFolder)> {
    let folder = PartFolder::private(&std::env::temp_dir())?;
    let path = folder.path().join(name);
    File::create_new(&path)?.write_all(bytes)?;
    Ok((path, folder))
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::files::testing::{beside, names};

    fn count(folder: &Path) -> usize {
        names(folder).len()
    }

    #[test]
    fn no_file_comes_into_a_folder_that_a_signal_removes() {
        let place = tempfile::tempdir().unwrap();
        let folder = PartFolder::new(place.path()).unwrap();
        let inside = folder.path().to_owned();
        let (creating, meanwhile) = live::uninterrupted(|| {
            let creating = beside(move || folder.create("timings.csv", Path::new("none")).map(|_| folder));
            std::thread::sleep(std::time::Duration::from_millis(100));
            (creating, count(&inside))
        });
        let _folder = creating.join().unwrap().unwrap();
        assert_eq!((meanwhile, count(&inside)), (0, 1));
    }

    /// Something that nobody holds a lock on, as after a kill; its last change lies so many days back.
    fn left(place: &Path, name: &str, days: u64) {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = File::create(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(days * 24)).unwrap();
    }

    #[test]
    fn what_the_dead_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        let (file, folder) =
            (PartFile::new(place, &place.join("new")).unwrap(), PartFolder::new(place).unwrap());
        left(place, &format!("{}abcdefghij.part", prefix()), 0);
        left(place, &format!("{}0123456789.part/timings.csv", prefix()), 0);
        // These are not ours.
        left(place, "mine.part", 0);
        left(place, ".warpscope-notes", 0);
        std::os::unix::fs::symlink(place.join("mine.part"), place.join(".warpscope-link.part")).unwrap();
        assert_eq!(count(place), 7);
        look_through(place);
        assert_eq!(count(place), 5, "the two of the living, and what is not ours");
        assert!(place.join("mine.part").exists() && file.file().metadata().is_ok() && folder.path().is_dir());
        drop((file, folder));
        assert_eq!(count(place), 3);
    }

    #[test]
    fn what_another_machine_writes_is_removed_only_when_it_is_old() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        // The last two are named as programs of before did it.
        for (name, days) in [
            (".warpscope-00000000-now.part", 0),
            (".warpscope-00000000-old.part", 8),
            (".warpscope-now.part", 6),
            (".warpscope-old.part", 8),
        ] {
            left(place, name, days);
        }
        // A folder that is old itself, with a file that is being written.
        for (folder, days) in [("1", 0), ("2", 8)] {
            let folder = place.join(format!(".warpscope-00000000-{folder}.part"));
            left(&folder, "timings.csv", days);
            File::open(folder).unwrap().set_modified(SystemTime::now() - 2 * ABANDONED).unwrap();
        }
        assert_eq!(count(place), 6);
        look_through(place);
        assert_eq!(
            names(place),
            [".warpscope-00000000-1.part", ".warpscope-00000000-now.part", ".warpscope-now.part"]
        );
    }

    #[test]
    fn what_replaces_a_secret_is_one_before_anything_is_written() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let secret = place.path().join("secret");
        fs::write(&secret, "").unwrap();
        fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
        let (file, folder) =
            (PartFile::new(place.path(), &secret).unwrap(), PartFolder::new(place.path()).unwrap());
        for new in [file.file(), &folder.create("secret", &secret).unwrap()] {
            assert_eq!(new.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_temporary_name_tells_the_machine() {
        let place = tempfile::tempdir().unwrap();
        let _file = PartFile::new(place.path(), &place.path().join("new")).unwrap();
        let name = names(place.path()).remove(0);
        assert!(name.starts_with(&format!(".warpscope-{}-", machine())) && name.ends_with(".part"), "{name}");
    }

    #[test]
    fn what_is_in_the_place_of_an_abandoned_file_is_neither_followed_nor_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let [pipe, link, plain] = ["pipe", "link", "plain"].map(|name| place.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::write(&plain, "").unwrap();
        std::os::unix::fs::symlink(&plain, &link).unwrap();
        assert!(open_own(&link).is_err() && open_own(&plain).is_ok() && open_own(place.path()).is_ok());
        // Opened as usual, it would wait for a writer.
        assert!(open_own(&pipe).is_ok());
        let modes = [0o700, 0o755, 0o775, 0o1777].map(|mode| {
            fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            is_private(place.path())
        });
        assert_eq!((modes, is_private(&plain)), ([true, true, false, false], false));
    }
}

#[cfg(test)]
mod tests_of_scratch {
    use super::*;

    #[test]
    fn it_is_there_until_it_is_dropped() {
        let scratch = Scratch::new().unwrap();
        scratch.file().write_all(b"1,2\n").unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(std::fs::read(&path).unwrap(), b"1,2\n");
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777,
            0o600
        );
        drop(scratch);
        assert!(!path.exists());
        let (path, folder) = named_scratch(OsStr::new("a.csv"), b"1,2\n").unwrap();
        assert_eq!(
            (path.file_name(), std::fs::read(&path).unwrap()),
            (Some(OsStr::new("a.csv")), b"1,2\n".to_vec())
        );
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(
                &path.parent().unwrap().metadata().unwrap().permissions()
            ) & 0o777,
            0o700
        );
        drop(folder);
        assert!(!path.parent().unwrap().exists());
    }
}
