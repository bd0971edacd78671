//! The other columns of a point's record, read from its file on a thread.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::task::Task;
use crate::cloud::formats::{Cell, FormatError, Marks, Records, records_by_marks};
use crate::cloud::{PointCloud, Source};

/// Records that are kept; beyond, all are let go of.
const MOST: usize = 4_096;

/// A file and a record of it.
type Key = (PathBuf, u64);

/// Names and cells of a record, or why they cannot be had.
pub type Found = Result<Vec<(String, Cell)>, String>;

/// See the module.
#[derive(Default)]
pub struct Lookup {
    known: HashMap<Key, Arc<Found>>,
    reading: Option<(Key, Task<Result<Records, FormatError>>)>,
    /// Of the text that was read last.
    marks: Arc<Marks>,
}

fn key(cloud: &PointCloud, row: usize) -> Option<Key> {
    match cloud.source() {
        Source::File { path, .. } => Some((path.clone(), cloud.record(row))),
        Source::Generate { .. } | Source::Place(_) => None,
    }
}

impl Lookup {
    /// Has a row's record read, unless it is known. The newest wins.
    pub fn ask(&mut self, cloud: &PointCloud, row: usize, wake: impl Fn() + Send + Sync + 'static) {
        let Some(key) = key(cloud, row) else { return };
        if self.known.contains_key(&key) || self.reading.as_ref().is_some_and(|(reading, _)| *reading == key) {
            return;
        }
        let ((path, record), marks) = (key.clone(), Arc::clone(&self.marks));
        // Without a thread, what is known at once has to do.
        self.reading = Task::start("record", wake, move |progress| records_by_marks(&path, &[record], &marks, progress)).ok().map(|task| (key, task));
    }

    /// Takes in what was read.
    pub fn poll(&mut self) {
        let Some(result) = self.reading.as_ref().and_then(|(_, task)| task.try_finish()) else { return };
        let Some((key, _)) = self.reading.take() else { return };
        let found = match result {
            Ok(Ok(Records { columns, rows })) => Ok(columns.into_iter().zip(rows.into_iter().flatten()).collect()),
            Ok(Err(FormatError::Cancelled)) => return,
            Ok(Err(error)) => Err(error.to_string()),
            Err(()) => Err("the reader stopped without an answer".to_owned()),
        };
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(key, Arc::new(found));
    }

    /// A row's record, once it was read.
    pub fn known(&self, cloud: &PointCloud, row: usize) -> Option<&Found> {
        self.known.get(&key(cloud, row)?).map(|found| &**found)
    }

    /// Whether a row's record is being read.
    pub fn is_reading(&self, cloud: &PointCloud, row: usize) -> bool {
        self.reading.as_ref().is_some_and(|(reading, _)| key(cloud, row).as_ref() == Some(reading))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::load;
    use crate::progress::Silent;

    #[test]
    fn a_record_is_read_once_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("towns.csv");
        std::fs::write(&path, "name,x,y,people\nAda,1,2,30\nBor,nan,4,50\nCis,5,6,70\n").expect("a file");
        let cloud = load(&Source::File { path: path.clone(), columns: "x,y".parse().expect("columns") }, true, &Silent).expect("a cloud");
        let mut lookup = Lookup::default();
        lookup.ask(&cloud, 1, || {});
        assert!(lookup.is_reading(&cloud, 1) && lookup.known(&cloud, 1).is_none());
        while lookup.is_reading(&cloud, 1) {
            lookup.poll();
            std::thread::yield_now();
        }
        let Some(Ok(cells)) = lookup.known(&cloud, 1) else { panic!("a record") };
        // Row 1 of the cloud is record 2: record 1 was dropped.
        assert_eq!(cells[0], ("name".to_owned(), Cell::Text("Cis".to_owned())));
        assert_eq!(cells[3], ("people".to_owned(), Cell::Number(70.0)));
        std::fs::remove_file(&path).expect("the file");
        lookup.ask(&cloud, 1, || {});
        assert!(!lookup.is_reading(&cloud, 1), "what is known is not read again");
        lookup.ask(&cloud, 0, || {});
        while lookup.is_reading(&cloud, 0) {
            lookup.poll();
            std::thread::yield_now();
        }
        assert!(matches!(lookup.known(&cloud, 0), Some(Err(why)) if why.contains("towns.csv")));
    }
}
