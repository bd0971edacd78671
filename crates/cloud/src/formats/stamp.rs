//! Whether a file is still the one that it was: one that is written while it is read gives values of neither version.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::FormatError;
use super::parts::file_of;

/// What the system says of a file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    path: PathBuf,
    /// `None` where it is not there.
    state: Option<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device and inode: another file may have been renamed over it. 0 where the system has none.
    file: (u64, u64),
}

impl State {
    fn of(about: &Metadata) -> Self {
        #[cfg(unix)]
        let file = (std::os::unix::fs::MetadataExt::dev(about), std::os::unix::fs::MetadataExt::ino(about));
        #[cfg(not(unix))]
        let file = (0, 0);
        Self { bytes: about.len(), modified: about.modified().ok(), file }
    }
}

impl Stamp {
    /// Of a file, or of the file of a `FILE:NAME`, now.
    pub fn now(path: &Path) -> Self {
        let path = file_of(path);
        Self { state: path.metadata().ok().as_ref().map(State::of), path }
    }

    pub(super) fn of(path: &Path, about: &Metadata) -> Self {
        Self { path: path.to_owned(), state: Some(State::of(about)) }
    }

    /// Passes on what was made of the file's content, unless the file has changed since.
    ///
    /// # Errors
    /// [`FormatError::Changed`], also in place of an error that the change may have caused.
    pub fn check<T>(&self, made: Result<T, FormatError>) -> Result<T, FormatError> {
        let state = || self.path.metadata().ok().as_ref().map(State::of);
        if matches!(made, Err(FormatError::Cancelled)) || state() == self.state {
            made
        } else {
            Err(FormatError::Changed { path: self.path.clone() })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn whatever_changes_a_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let changes: [fn(&Path); 5] = [
            |path| fs::write(path, "1,2\n3,4\n5,6\n").unwrap(),
            |path| fs::write(path, "1,2\n").unwrap(),
            |path| fs::remove_file(path).unwrap(),
            // As long as before, and as old.
            |path| {
                let modified = path.metadata().unwrap().modified().unwrap();
                let new = path.with_extension("new");
                fs::write(&new, "5,6\n7,8\n").unwrap();
                fs::File::options().write(true).open(&new).unwrap().set_modified(modified).unwrap();
                fs::rename(new, path).unwrap();
            },
            |path| fs::File::options().write(true).open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap(),
        ];
        for (at, change) in changes.into_iter().enumerate() {
            fs::write(&path, "1,2\n3,4\n").unwrap();
            let stamp = Stamp::now(&path);
            assert_eq!(stamp.check(Ok(5)).unwrap(), 5);
            change(&path);
            assert!(matches!(stamp.check(Ok(5)), Err(FormatError::Changed { .. })), "change {at}");
            assert!(matches!(stamp.check::<u8>(Err(FormatError::Cancelled)), Err(FormatError::Cancelled)), "change {at}");
        }
    }
}
