//! Temporary files and folders, next to their destination or in the system's temporary folder.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tempfile::NamedTempFile;

use super::live::{self, LivePath, PathKind};

const PREFIX: &str = ".warpscope-";
const SUFFIX: &str = ".part";

/// Age at which temporary files of another machine count as abandoned. Some network file systems grant locks
/// per machine, so a remote writer's lock is invisible.
const ABANDONED: Duration = Duration::from_hours(7 * 24);

/// A temporary file, locked while its writer lives and deleted on drop.
#[derive(Debug)]
pub(super) struct TempFile(NamedTempFile<(File, LivePath)>);

impl TempFile {
    /// A temporary file in `folder` that will replace `old`.
    pub fn new(folder: &Path, old: &Path) -> io::Result<Self> {
        remove_abandoned(folder);
        // tempfile's own constructor restricts every file to its owner and puts the temporary name into
        // errors.
        names()
            .make_in(folder, |path| {
                live::create(path, PathKind::File, || create_like(old, path).and_then(locked))
            })
            .map(Self)
    }

    /// A file that is never renamed and that no other user may open.
    pub fn private(folder: &Path) -> io::Result<Self> {
        remove_abandoned(folder);
        names()
            .make_in(folder, |path| {
                live::create(path, PathKind::File, || create_private(path).and_then(locked))
            })
            .map(Self)
    }

    pub fn file(&self) -> &File {
        &self.0.as_file().0
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Renames it to its destination, replacing any existing file.
    pub fn put(self, path: &Path) -> io::Result<()> {
        // Dropping the parts at the end removes the file from the list, which is locked during the rename.
        // The rename uses the standard library, because tests cannot inject faults into tempfile's.
        let (_parts, temporary) = self.0.into_parts();
        live::uninterrupted(|| fs::rename(&temporary, path))?;
        // The temporary name no longer exists.
        let _ = temporary.keep();
        Ok(())
    }
}

/// A temporary folder, locked while its writer lives and deleted with its content on drop.
#[derive(Debug)]
pub struct StagingDir {
    path: PathBuf,
    _lock: File,
    _live: LivePath,
}

impl StagingDir {
    /// # Errors
    /// I/O errors.
    pub fn new(parent: &Path) -> io::Result<Self> {
        Self::with(parent, &fs::DirBuilder::new())
    }

    /// Like [`Self::new`], inaccessible to other users from the start.
    pub fn private(parent: &Path) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        Self::with(parent, &builder)
    }

    fn with(parent: &Path, builder: &fs::DirBuilder) -> io::Result<Self> {
        remove_abandoned(parent);
        let made = names().make_in(parent, |path| {
            live::create(path, PathKind::Folder, || {
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

    /// Creates a file that will replace `old`. Blocks during [`live::remove_all`], which could not remove the
    /// folder if a new file appeared in it.
    pub(super) fn create(&self, name: &str, old: &Path) -> io::Result<File> {
        live::uninterrupted(|| create_like(old, &self.path.join(name)))
    }
}

impl Drop for StagingDir {
    fn drop(&mut self) {
        // After a rename the path no longer exists.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Prefix of this machine's temporary names.
fn prefix() -> &'static str {
    static WHOLE: OnceLock<String> = OnceLock::new();
    WHOLE.get_or_init(|| format!("{PREFIX}{}-", machine()))
}

fn names() -> tempfile::Builder<'static, 'static> {
    let mut names = tempfile::Builder::new();
    names.prefix(prefix()).suffix(SUFFIX).rand_bytes(10);
    names
}

/// Creates a new file. It is never readable by users who cannot read the file it replaces.
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

/// On this platform the folder of temporary files belongs to the user.
#[cfg(not(unix))]
fn create_private(new: &Path) -> io::Result<File> {
    File::create_new(new)
}

#[cfg(unix)]
fn open_folder(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// On this platform folders cannot be opened, and nothing is locked.
#[cfg(not(unix))]
fn open_folder(_path: &Path) -> io::Result<File> {
    tempfile::tempfile()
}

/// Locks a new file to mark it as in use. The system releases the lock when the process ends.
#[cfg(unix)]
fn locked(file: File) -> io::Result<File> {
    use std::os::unix::fs::MetadataExt;
    let lost = match file.try_lock() {
        // Another program may have removed it as abandoned before it was locked.
        Ok(()) => file.metadata()?.nlink() == 0,
        Err(fs::TryLockError::WouldBlock) => true,
        // Without file locks, nothing is treated as abandoned.
        Err(fs::TryLockError::Error(_)) => false,
    };
    if lost { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(file) }
}

/// Locks are mandatory on this platform and would block the writer too.
#[cfg(not(unix))]
fn locked(file: File) -> io::Result<File> {
    Ok(file)
}

/// Removes temporary files and folders that no running program holds a lock on. Each folder is scanned once;
/// entries that cannot be read, locked or removed are left.
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
        // Skip links, which this program never creates, and pipes, which block when opened.
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if !(kind.is_file() || kind.is_dir())
            || !(name.starts_with(prefix()) || is_old(&path))
            || !entry.metadata().is_ok_and(|about| is_own(&about))
        {
            continue;
        }
        let Ok(file) = open_own(&path) else { continue };
        // Hold the lock during removal, so that a program that has just created the file notices.
        if file.try_lock().is_ok() {
            let _ = if kind.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

/// Whether this user owns the file. In a shared folder, another user may choose a name like ours.
#[cfg(unix)]
fn is_own(about: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(about) == rustix::process::geteuid().as_raw()
}

/// Whether a path is a folder owned by this user and not writable by others.
#[cfg(unix)]
pub fn is_private(path: &Path) -> bool {
    let private = |about: fs::Metadata| {
        about.is_dir() && is_own(&about) && std::os::unix::fs::MetadataExt::mode(&about) & 0o022 == 0
    };
    path.metadata().is_ok_and(private)
}

/// On this platform user folders are private.
#[cfg(not(unix))]
pub fn is_private(path: &Path) -> bool {
    path.is_dir()
}

/// Opens a file or folder. Does not follow a link or block on a pipe that may have replaced it.
#[cfg(unix)]
fn open_own(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// On this platform nothing is scanned.
#[cfg(not(unix))]
fn is_own(_about: &fs::Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn open_own(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Whether a file, or a folder with its content, has not changed for a long time.
fn is_old(path: &Path) -> bool {
    let old = |path: &Path| {
        let changed = fs::symlink_metadata(path).and_then(|meta| meta.modified());
        changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|since| since > ABANDONED))
    };
    old(path)
        && fs::read_dir(path).into_iter().flatten().all(|entry| entry.is_ok_and(|entry| old(&entry.path())))
}

/// Files that identify a machine across reboots. Clones share the first, and containers from one image may
/// lack it.
const TELLING: [&str; 2] = ["/etc/machine-id", "/proc/sys/kernel/hostname"];

/// A short, almost certainly unique name of this machine; a constant if the system provides no identity.
fn machine() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let told = TELLING.map(|path| std::fs::read(path).unwrap_or_default());
        // Hashed, because machine ids are confidential.
        let mut hash = blake3::Hasher::new_derive_key("warpscope 2025 temporary names of a machine");
        for text in told {
            hash.update(&text.len().to_le_bytes()).update(&text);
        }
        hash.finalize().to_hex()[..8].to_owned()
    })
}

/// A scratch file, for instance for piped input that is read more than once: in the system's temporary
/// folder, private to the user, removed on drop or when the program is stopped.
#[derive(Debug)]
pub struct ScratchFile(TempFile);

impl ScratchFile {
    /// An empty scratch file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new() -> io::Result<Self> {
        TempFile::private(&std::env::temp_dir()).map(Self)
    }

    pub fn file(&self) -> &File {
        self.0.file()
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A file with this name and content in a private folder within the system's temporary folder. Both are
/// removed when the folder is dropped or the program is stopped.
///
/// # Errors
/// Those of the system.
pub fn named_scratch(name: &OsStr, bytes: &[u8]) -> io::Result<(PathBuf, StagingDir)> {
    let folder = StagingDir::private(&std::env::temp_dir())?;
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
    fn files_are_not_created_while_a_signal_removes_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = StagingDir::new(place.path()).unwrap();
        let inside = folder.path().to_owned();
        let (creating, meanwhile) = live::uninterrupted(|| {
            let creating = beside(move || folder.create("timings.csv", Path::new("none")).map(|_| folder));
            std::thread::sleep(std::time::Duration::from_millis(100));
            (creating, count(&inside))
        });
        let _folder = creating.join().unwrap().unwrap();
        assert_eq!((meanwhile, count(&inside)), (0, 1));
    }

    /// Creates a file or folder without a lock, last changed the given number of days ago.
    fn left(place: &Path, name: &str, days: u64) {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = File::create(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(days * 24)).unwrap();
    }

    #[test]
    fn only_abandoned_temporary_files_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        let (file, folder) =
            (TempFile::new(place, &place.join("new")).unwrap(), StagingDir::new(place).unwrap());
        left(place, &format!("{}abcdefghij.part", prefix()), 0);
        left(place, &format!("{}0123456789.part/timings.csv", prefix()), 0);
        // Foreign files.
        left(place, "mine.part", 0);
        left(place, ".warpscope-notes", 0);
        std::os::unix::fs::symlink(place.join("mine.part"), place.join(".warpscope-link.part")).unwrap();
        assert_eq!(count(place), 7);
        look_through(place);
        assert_eq!(count(place), 5, "two files in use and three foreign ones");
        assert!(place.join("mine.part").exists() && file.file().metadata().is_ok() && folder.path().is_dir());
        drop((file, folder));
        assert_eq!(count(place), 3);
    }

    #[test]
    fn old_temporary_files_from_other_machines_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        // The last two are named like those of older versions.
        for (name, days) in [
            (".warpscope-00000000-now.part", 0),
            (".warpscope-00000000-old.part", 8),
            (".warpscope-now.part", 6),
            (".warpscope-old.part", 8),
        ] {
            left(place, name, days);
        }
        // An old folder in which a file is being written.
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
    fn replacements_inherit_private_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let secret = place.path().join("secret");
        fs::write(&secret, "").unwrap();
        fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
        let (file, folder) =
            (TempFile::new(place.path(), &secret).unwrap(), StagingDir::new(place.path()).unwrap());
        for new in [file.file(), &folder.create("secret", &secret).unwrap()] {
            assert_eq!(new.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn temporary_names_contain_the_machine_id() {
        let place = tempfile::tempdir().unwrap();
        let _file = TempFile::new(place.path(), &place.path().join("new")).unwrap();
        let name = names(place.path()).remove(0);
        assert!(name.starts_with(&format!(".warpscope-{}-", machine())) && name.ends_with(".part"), "{name}");
    }

    #[test]
    fn opening_does_not_follow_links_or_block_on_pipes() {
        let place = tempfile::tempdir().unwrap();
        let [pipe, link, plain] = ["pipe", "link", "plain"].map(|name| place.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::write(&plain, "").unwrap();
        std::os::unix::fs::symlink(&plain, &link).unwrap();
        assert!(open_own(&link).is_err() && open_own(&plain).is_ok() && open_own(place.path()).is_ok());
        // A normal open would block until a writer appears.
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
    fn scratch_files_are_private_and_removed_on_drop() {
        let scratch = ScratchFile::new().unwrap();
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
