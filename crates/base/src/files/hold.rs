//! A folder that one program at a time puts files in.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long another program is waited for. It holds a folder while it renames a few files; more than this, and it was stopped
/// half-way, or somebody else has locked the folder.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder that no other program holds, until this is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Hold(#[expect(dead_code, reason = "it is locked while it is open")] Option<File>);

impl Hold {
    /// Waits until nobody else holds it. Not to be called inside [`super::live::uninterrupted`], which would keep a signal
    /// waiting, too. Where folders cannot be locked, nothing is.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Self::within(folder, PATIENCE)
    }

    #[cfg(unix)]
    fn within(folder: &Path, patience: Duration) -> io::Result<Self> {
        use std::fs::TryLockError;
        use std::time::Instant;
        let Ok(file) = File::open(folder) else { return Ok(Self(None)) };
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(Some(file))),
                // A file system without locks.
                Err(TryLockError::Error(why)) if why.kind() != io::ErrorKind::Interrupted => return Ok(Self(None)),
                Err(_) if began.elapsed() > patience => {
                    return Err(io::Error::new(io::ErrorKind::WouldBlock, "another program has locked the folder"));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Folders cannot be opened here.
    #[cfg(not(unix))]
    fn within(_folder: &Path, _patience: Duration) -> io::Result<Self> {
        Ok(Self(None))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::files::testing::beside;

    #[test]
    fn a_folder_is_held_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let held = Hold::new(folder.path()).unwrap();
        let refused = Hold::within(folder.path(), Duration::ZERO).unwrap_err();
        assert_eq!(refused.to_string(), "another program has locked the folder");
        let waiting = beside({
            let folder = folder.path().to_owned();
            move || Hold::new(&folder).is_ok()
        });
        drop(held);
        assert!(waiting.join().unwrap());
        assert!(Hold::new(&folder.path().join("none")).is_ok(), "which the caller will find out");
    }
}
