//! Small clouds, records and files for unit tests of the app.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::cloud::{Column, PointCloud, Source, Table};

pub use crate::run::testing::records::{cloud, measured, profiled_record, record, stretched};

/// An eframe storage in memory: the settings that persist between launches.
pub struct MemoryStorage(pub String);

impl eframe::Storage for MemoryStorage {
    fn get_string(&self, _key: &str) -> Option<String> {
        Some(self.0.clone())
    }
    fn set_string(&mut self, _key: &str, value: String) {
        self.0 = value;
    }
    fn remove_string(&mut self, _key: &str) {}
    fn flush(&mut self) {}
}

/// A temporary folder, deleted on drop.
pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub fn file_in(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

/// A cloud with named columns, from row-major values.
pub fn cloud_of(columns: &[&str], values: &[f64]) -> PointCloud {
    let columns = columns.iter().map(|&name| Column { name: name.to_owned() }).collect();
    let source = Source::Coordinates(String::new());
    PointCloud::from_table(Table { columns, values: values.to_vec() }, source, None, false).expect("a cloud")
}
