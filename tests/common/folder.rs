//! The contents of a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Contents by path.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// All files and folders below a folder, by relative path. Entries that disappear meanwhile are skipped.
pub fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in present(fs::read_dir(at)).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Some(bytes) = present(fs::read(&path)) {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), bytes);
            }
        }
    }
    found
}

fn present<T>(result: io::Result<T>) -> Option<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        result => Some(result.unwrap()),
    }
}
