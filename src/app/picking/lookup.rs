//! The other columns of points' records, read from their file on a thread.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::App;
use crate::app::state::PaneKind;
use crate::app::task::Task;
use crate::cloud::formats::{Cell, FormatError, Marks, Records, records_by_marks};
use crate::cloud::{PointCloud, Source};
use crate::export::table::Table;

/// Cells that are kept; beyond, all are let go of.
const MOST: usize = 1 << 17;

/// A file and records of it.
type Key = (PathBuf, Vec<u64>);

/// All columns of the records, or why they cannot be had.
pub type Found = Result<Records, String>;

/// What the file has of some rows beside their coordinates.
#[derive(Clone, Debug)]
pub struct Beside {
    /// Whose rows.
    pub cloud: Arc<PointCloud>,
    /// Which.
    pub rows: Vec<u32>,
    /// In the same order.
    pub found: Arc<Found>,
}

impl Beside {
    /// Whether it is of these rows.
    pub fn is_of(&self, cloud: &Arc<PointCloud>, rows: impl Iterator<Item = u32>) -> bool {
        Arc::ptr_eq(&self.cloud, cloud) && rows.eq(self.rows.iter().copied())
    }

    /// The columns that are no axes, by their place in the file, and their names.
    pub fn columns(&self) -> Vec<(usize, &str)> {
        let Ok(records) = &*self.found else { return Vec::new() };
        let is_axis = |name: &str| self.cloud.axes().iter().any(|axis| axis.name == name);
        records.columns.iter().enumerate().map(|(at, name)| (at, name.as_str())).filter(|(_, name)| !is_axis(name)).collect()
    }

    /// A table of these rows, with these columns too.
    pub fn with<'a>(&'a self, table: Table<'a>) -> Table<'a> {
        let text = |cell: &Cell| match cell {
            Cell::Number(value) => Some(value.to_string()),
            Cell::Text(text) => Some(text.clone()),
            Cell::Missing => None,
        };
        let columns = self.columns().into_iter();
        columns.fold(table, |table, (column, name)| table.with(name, move |place| self.cell(place, column).and_then(text)))
    }

    /// What one of these columns has for one of the rows.
    pub fn cell(&self, place: usize, column: usize) -> Option<&Cell> {
        self.found.as_ref().as_ref().ok()?.rows.get(place)?.get(column)
    }
}

/// See the module.
#[derive(Default)]
pub struct Lookup {
    known: HashMap<Key, Arc<Found>>,
    /// Cells in them.
    kept: usize,
    reading: Option<(Key, Task<Result<Records, FormatError>>)>,
    /// Of the text that was read last.
    marks: Arc<Marks>,
}

fn key(cloud: &PointCloud, rows: &[u32]) -> Option<Key> {
    match cloud.source() {
        Source::File { path, .. } => Some((path.clone(), rows.iter().map(|&row| cloud.record(row as usize)).collect())),
        Source::Generate { .. } | Source::Place(_) => None,
    }
}

impl Lookup {
    /// Has the records of some rows read, unless they are known. The newest wins.
    pub fn ask(&mut self, cloud: &PointCloud, rows: &[u32], wake: impl Fn() + Send + Sync + 'static) {
        let Some(key) = key(cloud, rows) else { return };
        if self.known.contains_key(&key) || self.reading.as_ref().is_some_and(|(reading, _)| *reading == key) {
            return;
        }
        let ((path, records), marks) = (key.clone(), Arc::clone(&self.marks));
        // Without a thread, what is known at once has to do.
        self.reading = Task::start("record", wake, move |progress| records_by_marks(&path, &records, &marks, progress)).ok().map(|task| (key, task));
    }

    /// Takes in what was read.
    pub fn poll(&mut self) {
        let Some(result) = self.reading.as_ref().and_then(|(_, task)| task.try_finish()) else { return };
        let Some((key, _)) = self.reading.take() else { return };
        let found = match result {
            Ok(Ok(records)) => Ok(records),
            Ok(Err(FormatError::Cancelled)) => return,
            Ok(Err(error)) => Err(error.to_string()),
            Err(()) => Err("the reader stopped without an answer".to_owned()),
        };
        let cells = found.as_ref().map_or(1, |records: &Records| records.columns.len() * records.rows.len());
        if self.kept + cells > MOST {
            self.known.clear();
            self.kept = 0;
        }
        self.kept += cells;
        self.known.insert(key, Arc::new(found));
    }

    /// The records of some rows, once they were read together.
    pub fn known(&self, cloud: &PointCloud, rows: &[u32]) -> Option<&Arc<Found>> {
        self.known.get(&key(cloud, rows)?)
    }

    /// Whether the records of some rows are being read.
    pub fn is_reading(&self, cloud: &PointCloud, rows: &[u32]) -> bool {
        self.reading.as_ref().is_some_and(|(reading, _)| key(cloud, rows).as_ref() == Some(reading))
    }
}

impl App {
    /// Takes in what was read, and has the records of the neighbours read that Neighbours shows: not of every place where a
    /// query is dragged along.
    pub(in crate::app) fn poll_lookup(&mut self) {
        self.handles.lookup.poll();
        self.handles.beside.poll();
        let shown = self.pane_rects.contains_key(&PaneKind::Neighbors) && !self.session.live.is_held();
        let Some(answered) = self.session.answered.as_ref().filter(|_| shown && self.session.listed_beside().is_none()) else { return };
        let (cloud, rows) = (&answered.record.cloud, answered.neighbors().map(|(row, _)| row).collect::<Vec<u32>>());
        match self.handles.beside.known(cloud, &rows) {
            Some(found) => self.session.beside = Some(Beside { cloud: Arc::clone(cloud), rows, found: Arc::clone(found) }),
            None => {
                let wake = self.handles.ctx.clone();
                self.handles.beside.ask(cloud, &rows, move || wake.request_repaint());
            }
        }
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
        lookup.ask(&cloud, &[1], || {});
        assert!(lookup.is_reading(&cloud, &[1]) && lookup.known(&cloud, &[1]).is_none());
        while lookup.is_reading(&cloud, &[1]) {
            lookup.poll();
            std::thread::yield_now();
        }
        let Some(Ok(records)) = lookup.known(&cloud, &[1]).map(|found| &**found) else { panic!("a record") };
        // Row 1 of the cloud is record 2: record 1 was dropped.
        assert_eq!(records.columns, ["name", "x", "y", "people"]);
        assert_eq!((&records.rows[0][0], &records.rows[0][3]), (&Cell::Text("Cis".to_owned()), &Cell::Number(70.0)));
        std::fs::remove_file(&path).expect("the file");
        lookup.ask(&cloud, &[1], || {});
        assert!(!lookup.is_reading(&cloud, &[1]), "what is known is not read again");
        lookup.ask(&cloud, &[1, 0], || {});
        while lookup.is_reading(&cloud, &[1, 0]) {
            lookup.poll();
            std::thread::yield_now();
        }
        assert!(matches!(lookup.known(&cloud, &[1, 0]).map(|found| &**found), Some(Err(why)) if why.contains("towns.csv")));
    }
}
