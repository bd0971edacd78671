//! A file for as long as it is needed: what came through a pipe and has to be read more than once.

use std::fs::File;
use std::io;
use std::path::Path;

use super::part::PartFile;

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
    }
}
