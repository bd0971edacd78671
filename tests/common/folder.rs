//! What is in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Contents by path.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Every file of a folder and the folders in it, by its path there.
pub fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}
