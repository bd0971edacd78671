//! Shared helpers for file tests.

use std::fs;
use std::path::Path;
use std::thread::{self, JoinHandle};

/// Sorted names of everything in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Runs work on a separate thread.
pub fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    thread::Builder::new().name("beside".to_owned()).spawn(work).unwrap()
}
