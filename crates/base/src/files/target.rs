//! One file, written completely or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::temp::TempFile;

/// Maximum number of links followed, the same as the system's limit.
const MAX_LINKS: usize = 40;

/// Writes a file under a temporary name in the same folder and renames it. Symbolic links are followed, even
/// to a missing file. A replaced file's permissions are kept. A special file (a pipe, `/dev/stdout`) is
/// written directly, and may be left incomplete if writing fails.
///
/// # Errors
/// I/O errors, and those of `content`.
pub fn write(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let target = target(path);
    if special(&target) { in_place(&target, content) } else { renamed(&target, content) }
}

/// Checks that [`write()`] could start writing a file, without leaving anything behind. Called before a long
/// search.
///
/// # Errors
/// Those of starting to write it.
pub fn check(path: &Path) -> io::Result<()> {
    let target = target(path);
    // A special file may only be opened once: a pipe has one reader.
    if special(&target) { Ok(()) } else { temporary(&target).map(drop) }
}

/// Resolves a path. [`fs::canonicalize`] alone does not follow a link to a missing file.
pub(super) fn target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(found) = fs::canonicalize(&target) {
            return found;
        }
        let Ok(link) = fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    target
}

/// Whether two paths lead to the same file, which need not exist.
pub fn same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let target = target(path);
        let folder =
            target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        target.file_name().map_or_else(|| target.clone(), |name| folder.join(name))
    };
    place(one) == place(other)
}

pub(super) fn special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// Whether a path leads to a named pipe.
pub fn is_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(path).is_ok_and(|meta| std::os::unix::fs::FileTypeExt::is_fifo(&meta.file_type()));
    #[cfg(not(unix))]
    return false;
}

fn in_place(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(File::options().write(true).open(path)?);
    content(&mut out)?;
    out.flush()
}

fn renamed(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let part = temporary(path)?;
    fill(part.file().try_clone()?, path, content)?;
    part.put(path)
}

/// A temporary file next to the path, if the path may be replaced.
fn temporary(path: &Path) -> io::Result<TempFile> {
    replaceable(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The system's message does not name the missing folder.
    TempFile::new(folder, path).map_err(|why| match why.kind() {
        io::ErrorKind::NotFound if !folder.exists() => {
            io::Error::new(why.kind(), format!("there is no folder {}", folder.display()))
        }
        _ => why,
    })
}

/// Rejects paths that a rename cannot or should not replace.
pub(super) fn replaceable(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    // A rename would succeed, because it needs only the folder's permission, but a read-only file was
    // protected on purpose.
    if fs::metadata(path).is_ok_and(|meta| meta.permissions().readonly()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the existing file is read-only"));
    }
    Ok(())
}

/// Writes the content of a new file that will replace `old`, and syncs it, because a full disk may be
/// reported only then.
pub(super) fn fill(
    file: File,
    old: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    // The file was created with at most these permissions. Add those that the umask removed, and execute
    // permissions.
    if let Ok(meta) =
        fs::metadata(old).and_then(|meta| Ok((meta.permissions(), file.metadata()?.permissions())))
        && meta.0 != meta.1
    {
        file.set_permissions(meta.0)?;
    }
    let mut out = BufWriter::new(file);
    content(&mut out)?;
    sync(&out.into_inner().map_err(io::IntoInnerError::into_error)?)
}

/// Syncs a file if its file system supports it.
pub(super) fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(why) if matches!(why.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

/// Free bytes at a path. `None` if the system does not report them, and for special files, which have no
/// limit.
pub fn room(path: &Path) -> Option<u64> {
    let target = target(path);
    if special(&target) {
        return None;
    }
    free(target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    // Some network and virtual file systems report no size.
    (system.f_blocks > 0).then(|| system.f_bavail.saturating_mul(system.f_frsize))
}

#[cfg(not(unix))]
fn free(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::testing::names;

    #[test]
    fn equivalent_paths_are_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        assert!(same(&at("a.csv"), &at("./a.csv")) && !same(&at("a.csv"), &at("b.csv")), "both are missing");
        fs::create_dir(at("in")).unwrap();
        assert!(same(&at("in/../a.csv"), &at("a.csv")));
        assert!(same(Path::new("a.csv"), Path::new("./a.csv")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a.csv", at("link.csv")).unwrap();
            assert!(same(&at("link.csv"), &at("a.csv")), "a link to a missing file");
        }
    }

    #[test]
    fn failed_writes_keep_the_old_file_and_leave_no_temporary_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write(&path, |out| out.write_all(b"old")).unwrap();
        let error = write(&path, |out| {
            out.write_all(b"ne")?;
            Err(io::Error::other("the disk is full"))
        })
        .unwrap_err();
        assert_eq!(error.to_string(), "the disk is full");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn check_reports_write_errors_without_creating_files() {
        let folder = tempfile::tempdir().unwrap();
        check(&folder.path().join("a.csv")).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
        for path in [folder.path().join("no/a.csv"), folder.path().to_owned()] {
            assert_eq!(
                check(&path).unwrap_err().to_string(),
                write(&path, |_| Ok(())).unwrap_err().to_string()
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn new_files_have_default_permissions_and_links_are_preserved() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write(&file, |out| out.write_all(b"1")).unwrap();
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&file), mode(&plain));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, |out| out.write_all(b"2")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"2");
        write(Path::new("/dev/null"), |out| out.write_all(b"3")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept_and_dangling_links_are_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        fs::write(&secret, "old").unwrap();
        fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
        write(&secret, |out| {
            let while_written = fs::read_dir(folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o777);
            assert_eq!(while_written.collect::<Vec<_>>(), [0o600, 0o600]);
            out.write_all(b"new")
        })
        .unwrap();
        assert_eq!(
            (
                fs::metadata(&secret).unwrap().permissions().mode() & 0o777,
                fs::read_to_string(&secret).unwrap().as_str()
            ),
            (0o600, "new")
        );

        fs::create_dir(folder.path().join("sub")).unwrap();
        let link = folder.path().join("sub/link");
        symlink("../later", &link).unwrap();
        write(&link, |out| out.write_all(b"here")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(folder.path().join("later")).unwrap(), "here");
    }

    #[cfg(unix)]
    #[test]
    fn free_space_is_reported_for_folders_but_not_devices() {
        let folder = tempfile::tempdir().unwrap();
        assert!(room(&folder.path().join("a.csv")).is_some_and(|free| free > 0 && free < 1 << 60));
        assert!(room(Path::new("a.csv")).is_some());
        assert_eq!(room(Path::new("/dev/null")), None);
        assert_eq!(room(&folder.path().join("none/a.csv")), None);
    }
}
