//! How much room there is for a file.

use std::path::Path;

use super::target::{special, target};

/// Bytes that can still be written where a path leads. `None` where the system does not say, and for special files, which take any number.
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
    // Some file systems of a network or of the kernel's own have no size to tell.
    (system.f_blocks > 0).then(|| system.f_bavail.saturating_mul(system.f_frsize))
}

#[cfg(not(unix))]
fn free(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_room_and_a_device_any() {
        let folder = tempfile::tempdir().unwrap();
        assert!(room(&folder.path().join("a.csv")).is_some_and(|free| free > 0 && free < 1 << 60));
        assert!(room(Path::new("a.csv")).is_some());
        assert_eq!(room(Path::new("/dev/null")), None);
        assert_eq!(room(&folder.path().join("none/a.csv")), None);
    }
}
