//! Atomic file writes: a file is written completely or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::ExportError;

/// Writes a file under a temporary name in the same folder and renames it. Symbolic links are followed; a special file (a
/// pipe, `/dev/stdout`) is written directly, and may be left incomplete if writing fails.
///
/// # Errors
/// [`ExportError::Io`] with the requested path.
pub fn write(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), ExportError> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let result = if special(&target) { in_place(&target, content) } else { renamed(&target, content) };
    result.map_err(ExportError::io(path))
}

/// Checks that [`write()`] could start writing a file, without leaving anything behind: before a long search, not after it.
///
/// # Errors
/// [`ExportError::Io`] with the requested path.
pub fn check(path: &Path) -> Result<(), ExportError> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // A special file may only be opened once: a pipe has one reader.
    let result = if special(&target) { Ok(()) } else { temporary(&target).map(drop) };
    result.map_err(ExportError::io(path))
}

fn special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

fn in_place(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(File::options().write(true).open(path)?);
    content(&mut out)?;
    out.flush()
}

fn renamed(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let file = temporary(path)?;
    let mut out = BufWriter::new(file.as_file().try_clone()?);
    content(&mut out)?;
    out.flush()?;
    drop(out);
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// A temporary file in the same folder, deleted when dropped.
fn temporary(path: &Path) -> io::Result<NamedTempFile<File>> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    // A rename needs only the folder's permission, and root needs none; a read-only file was made so on purpose.
    if fs::metadata(path).is_ok_and(|meta| meta.permissions().readonly()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file that is there is read-only"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // With the default permissions: tempfile's own constructor restricts them to the owner, and puts the temporary name into
    // errors.
    tempfile::Builder::new().prefix(".warpscope-").suffix(".tmp").make_in(folder, |path| File::create_new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write(&path, |out| out.write_all(b"old")).unwrap();
        let error = write(&path, |out| {
            out.write_all(b"ne")?;
            Err(io::Error::other("the disk is full"))
        })
        .unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write: the disk is full: {}", path.display()));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn a_check_says_what_writing_would_say_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        check(&folder.path().join("a.csv")).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
        for path in [folder.path().join("no/a.csv"), folder.path().to_owned()] {
            assert_eq!(check(&path).unwrap_err().to_string(), write(&path, |_| Ok(())).unwrap_err().to_string());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_not_there_is_named_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/a.csv");
        let message = write(&path, |_| Ok(())).unwrap_err().to_string();
        assert!(message.starts_with("cannot write: ") && message.ends_with(&format!(": {}", path.display())), "{message}");
        assert!(message.contains("No such file") && !message.contains(".warpscope-"), "{message}");
        assert!(write(folder.path(), |_| Ok(())).unwrap_err().to_string().contains("it is a folder"));
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_it_and_links_stay_links() {
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
}
