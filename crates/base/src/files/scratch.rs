//! A file for as long as it is needed: what came through a pipe and has to be read more than once.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::part::{PartFile, PartFolder};

/// A file in the system's temporary folder that nobody else may read; removed when it is dropped, or when the program is stopped.
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

/// A file of this name and content, alone in a private folder within the system's temporary folder. The folder is removed with it when it is
/// dropped, or when the program is stopped.
///
/// # Errors
/// Those of the system.
pub fn named_scratch(name: &OsStr, bytes: &[u8]) -> io::Result<(PathBuf, PartFolder)> {
    let folder = PartFolder::private(&std::env::temp_dir())?;
    let path = folder.path().join(name);
    File::create_new(&path)?.write_all(bytes)?;
    Ok((path, folder))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn it_is_there_until_it_is_dropped() {
        let scratch = Scratch::new().unwrap();
        scratch.file().write_all(b"1,2\n").unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(std::fs::read(&path).unwrap(), b"1,2\n");
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777, 0o600);
        drop(scratch);
        assert!(!path.exists());
        let (path, folder) = named_scratch(OsStr::new("a.csv"), b"1,2\n").unwrap();
        assert_eq!((path.file_name(), std::fs::read(&path).unwrap()), (Some(OsStr::new("a.csv")), b"1,2\n".to_vec()));
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&path.parent().unwrap().metadata().unwrap().permissions()) & 0o777, 0o700);
        drop(folder);
        assert!(!path.parent().unwrap().exists());
    }
}
