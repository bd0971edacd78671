//! [`crate::files`] with the path in errors.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use super::ExportError;
use crate::files;

/// Writes a file completely or not at all (see [`files::write`]).
///
/// # Errors
/// [`ExportError::Io`] with the requested path.
pub fn write(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), ExportError> {
    files::write(path, content).map_err(ExportError::io(path))
}

/// Checks that [`write()`] could start writing a file, without leaving anything behind: before a long search, not after it.
///
/// # Errors
/// [`ExportError::Io`] with the requested path.
pub fn check(path: &Path) -> Result<(), ExportError> {
    files::check(path).map_err(ExportError::io(path))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

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

    #[cfg(unix)]
    #[test]
    fn a_file_keeps_its_permissions_and_a_link_leads_to_what_is_not_there_yet() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        fs::write(&secret, "old").unwrap();
        fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
        write(&secret, |out| {
            let while_written = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o777);
            assert_eq!(while_written.collect::<Vec<_>>(), [0o600, 0o600]);
            out.write_all(b"new")
        })
        .unwrap();
        assert_eq!((fs::metadata(&secret).unwrap().permissions().mode() & 0o777, fs::read_to_string(&secret).unwrap().as_str()), (0o600, "new"));

        fs::create_dir(folder.path().join("sub")).unwrap();
        let link = folder.path().join("sub/link");
        symlink("../later", &link).unwrap();
        write(&link, |out| out.write_all(b"here")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(folder.path().join("later")).unwrap(), "here");
    }
}
