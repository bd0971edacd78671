//! Reads other columns of points from their file, in the background.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::state::{ExtraCells, MAX_CELLS, RowColumns};
use crate::app::jobs::task::Outcome;
use crate::cloud::PointCloud;
use crate::cloud::formats::{
    self, Cell, FormatError, RecordIndex, Records, column_indices, records_indexed, records_of_columns,
};
use crate::memory;
use crate::progress::Progress;

/// A cloud, identified by its address, and rows of it.
type Key = (*const PointCloud, Vec<u32>);

#[derive(Default)]
pub struct Lookup {
    /// The weak pointer keeps the cloud's address from being reused.
    known: HashMap<Key, (Weak<PointCloud>, Arc<RowColumns>)>,
    /// Number of cells added to `known` since it was last emptied.
    cached_cells: usize,
    /// The rows being read.
    reading: Option<(Arc<PointCloud>, Vec<u32>)>,
    /// Known positions of records in the text file that was read last.
    marks: Arc<RecordIndex>,
}

fn key(cloud: &Arc<PointCloud>, rows: &[u32]) -> Key {
    (Arc::as_ptr(cloud), rows.to_vec())
}

/// Reads other columns for rows of a cloud.
fn read(
    cloud: &PointCloud,
    rows: &[u32],
    marks: &RecordIndex,
    progress: &dyn Progress,
) -> Result<RowColumns, FormatError> {
    Ok(records_from(cloud, rows, marks, progress)?.map(|records| ExtraCells::limited(cloud, records)))
}

/// Complete records for rows of a cloud; the inner error says why they are unavailable.
///
/// # Errors
/// If the file cannot be read.
pub fn records(
    cloud: &PointCloud,
    rows: &[u32],
    progress: &dyn Progress,
) -> Result<Result<Records, String>, FormatError> {
    records_from(cloud, rows, &RecordIndex::default(), progress)
}

fn records_from(
    cloud: &PointCloud,
    rows: &[u32],
    marks: &RecordIndex,
    progress: &dyn Progress,
) -> Result<Result<Records, String>, FormatError> {
    let Some(path) = cloud.file() else { return Ok(Err("there is no file".to_owned())) };
    let records: Vec<u64> = rows.iter().map(|&row| cloud.record(row as usize)).collect();
    let records = records_indexed(path, &records, marks, progress)?;
    if !cloud.was_read_from(rows, &records) {
        return Ok(Err(format!(
            "the file has changed since its points were read; load it again: {}",
            path.display()
        )));
    }
    Ok(Ok(records))
}

/// Reads columns of all rows of a cloud, block by block. Returns why the last rows are missing.
///
/// # Errors
/// If the file cannot be read.
pub fn all_rows(
    cloud: &PointCloud,
    headings: &[String],
    spelled: bool,
    progress: &dyn Progress,
    push: &mut dyn FnMut(Vec<Vec<Cell>>),
) -> Result<Option<String>, FormatError> {
    /// Number of rows in the first block, so that results appear at once; it doubles each time.
    const FIRST: usize = 1 << 14;
    /// Maximum number of cells in memory.
    const CELLS: usize = 1 << 21;
    /// Memory to leave free, in bytes.
    const RESERVE: u64 = 512 << 20;
    let Some(path) = cloud.file() else { return Ok(Some("there is no file".to_owned())) };
    let marks = RecordIndex::default();
    let columns = cloud.check_file(column_indices(path, headings, progress))?;
    let most = (CELLS / formats::records(path, &[], progress)?.columns.len().max(1)).max(1);
    let (mut row, mut count) = (0, FIRST.min(most));
    while row < cloud.len() {
        if memory::available().is_some_and(|free| free < RESERVE) {
            return Ok(Some(
                "not enough memory for the remaining rows; close other programs and reopen the file"
                    .to_owned(),
            ));
        }
        let end = cloud.len().min(row + count);
        let wanted: Vec<u64> = (row..end).map(|row| cloud.record(row)).collect();
        let found =
            cloud.check_file(records_of_columns(path, &wanted, &columns, spelled, &marks, progress))?.rows;
        let picked = |mut cells: Vec<Cell>| {
            let cell = |&column: &usize| {
                cells.get_mut(column).map_or(Cell::Missing, |cell| std::mem::replace(cell, Cell::Missing))
            };
            columns.iter().map(cell).collect()
        };
        push(found.into_iter().map(picked).collect());
        (row, count) = (end, (2 * count).min(most));
    }
    Ok(None)
}

/// A request for other columns of rows.
#[derive(Clone)]
pub struct LookupRequest {
    cloud: Arc<PointCloud>,
    rows: Vec<u32>,
    marks: Arc<RecordIndex>,
}

impl LookupRequest {
    /// Reads the rows' other columns from the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self, progress: &dyn Progress) -> Result<RowColumns, FormatError> {
        read(&self.cloud, &self.rows, &self.marks, progress)
    }
}

impl Lookup {
    /// A request for other columns, unless they are known or being read. It counts as being read from now on,
    /// and replaces an earlier request.
    pub fn ask(&mut self, cloud: &Arc<PointCloud>, rows: &[u32]) -> Option<LookupRequest> {
        if cloud.file().is_none() || self.known(cloud, rows).is_some() || self.is_reading(cloud, rows) {
            return None;
        }
        self.reading = Some((Arc::clone(cloud), rows.to_vec()));
        Some(LookupRequest { cloud: Arc::clone(cloud), rows: rows.to_vec(), marks: Arc::clone(&self.marks) })
    }

    pub fn take(
        &mut self,
        LookupRequest { cloud, rows, .. }: &LookupRequest,
        outcome: Outcome<Result<RowColumns, FormatError>>,
    ) {
        self.reading = None;
        let found = match outcome {
            Ok(Ok(found)) => found,
            Ok(Err(FormatError::Cancelled)) => return,
            Ok(Err(error)) => Err(error.to_string()),
            Err(stopped) => Err(stopped.to_string()),
        };
        // Rows use memory even without other columns.
        let cells = rows.len() + found.as_ref().map_or(0, ExtraCells::size);
        if self.cached_cells + cells > MAX_CELLS {
            self.known.clear();
            self.cached_cells = 0;
        }
        self.cached_cells += cells;
        self.known.insert(key(cloud, rows), (Arc::downgrade(cloud), Arc::new(found)));
    }

    /// The other columns of rows that were read together.
    pub fn known(&self, cloud: &Arc<PointCloud>, rows: &[u32]) -> Option<&Arc<RowColumns>> {
        self.known.get(&key(cloud, rows)).map(|(_, found)| found)
    }

    pub fn is_reading(&self, cloud: &Arc<PointCloud>, rows: &[u32]) -> bool {
        self.reading.as_ref().is_some_and(|(of, which)| Arc::ptr_eq(of, cloud) && which == rows)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::app::testing::{file_in, folder};
    use crate::cloud::{Source, load};
    use crate::progress::NoProgress;

    fn read_cloud(path: &Path, columns: &str) -> PointCloud {
        load(
            &Source::File { path: path.to_owned(), columns: columns.parse().expect("columns") },
            true,
            &NoProgress,
        )
        .expect("a cloud")
    }

    fn look(lookup: &mut Lookup, cloud: &Arc<PointCloud>, rows: &[u32]) {
        if let Some(asked) = lookup.ask(cloud, rows) {
            lookup.take(&asked, Ok(asked.read(&NoProgress)));
        }
    }

    #[test]
    fn records_are_read_once_and_cached() {
        let folder = folder();
        let path = file_in(&folder, "towns.csv", "name,x,y,people\nAda,1,2,30\nBor,nan,4,50\nCis,5,6,70\n");
        let cloud = Arc::new(read_cloud(&path, "x,y"));
        let mut lookup = Lookup::default();
        let asked = lookup.ask(&cloud, &[1]).expect("it is not known");
        assert!(lookup.is_reading(&cloud, &[1]) && lookup.known(&cloud, &[1]).is_none());
        lookup.take(&asked, Ok(asked.read(&NoProgress)));
        let Some(Ok(others)) = lookup.known(&cloud, &[1]).map(|found| &**found) else { panic!("a record") };
        // Row 1 of the cloud is record 2, because record 1 was dropped.
        assert_eq!((&others.columns[..], others.total), (&["name".to_owned(), "people".to_owned()][..], 2));
        assert_eq!(others.rows, [[Cell::Text("Cis".to_owned()), Cell::Number(70.0)]]);
        std::fs::remove_file(&path).expect("the file");
        assert!(
            lookup.ask(&cloud, &[1]).is_none() && !lookup.is_reading(&cloud, &[1]),
            "cached rows are not read again"
        );
        look(&mut lookup, &cloud, &[1, 0]);
        assert!(matches!(
            lookup.known(&cloud, &[1, 0]).map(|found| &**found),
            Some(Err(why)) if why.contains("towns.csv")
        ));
    }

    #[test]
    fn changed_files_are_reported() {
        let folder = folder();
        let path = file_in(&folder, "towns.csv", "name,x,y\nAda,1.1,2\nBor,3,4\nCis,5,6\n");
        let cloud = Arc::new(read_cloud(&path, "x,y"));
        let mut lookup = Lookup::default();
        let mut found = |rows: &[u32]| {
            look(&mut lookup, &cloud, rows);
            lookup.known(&cloud, rows).map(|found| (**found).clone()).expect("an answer")
        };
        assert!(found(&[0, 2]).is_ok());
        // The same towns in another order; then the same places with more towns and other columns.
        std::fs::write(&path, "name,x,y\nCis,5,6\nBor,3,4\nAda,1.1,2\n").expect("a file");
        let why =
            format!("the file has changed since its points were read; load it again: {}", path.display());
        assert_eq!((found(&[0]), found(&[2, 1])), (Err(why.clone()), Err(why)));
        assert!(found(&[1]).is_ok(), "row 1 is unchanged");
        std::fs::write(&path, "y,people,x\n2,30,1.1\n4,50,3\n6,70,5\n8,90,7\n").expect("a file");
        assert_eq!(found(&[2, 0]).expect("columns").rows, [[Cell::Number(70.0)], [Cell::Number(30.0)]]);
    }

    #[test]
    fn clouds_of_one_file_have_separate_columns() {
        let folder = folder();
        let path = file_in(&folder, "pairs.csv", "x,y,u,v\n1,2,3,4\n5,6,7,8\n");
        let clouds = ["x,y", "u,v"].map(|columns| Arc::new(read_cloud(&path, columns)));
        let mut lookup = Lookup::default();
        let names = clouds.each_ref().map(|cloud| {
            look(&mut lookup, cloud, &[1]);
            let found = lookup.known(cloud, &[1]).expect("an answer");
            found.as_ref().as_ref().expect("columns").columns.concat()
        });
        assert_eq!(names, ["uv", "xy"]);
    }

    #[test]
    fn the_cache_is_bounded() {
        let folder = folder();
        let path = folder.path().join("wide.csv");
        let line = |cell: &dyn Fn(usize) -> String| (0..9000).map(cell).collect::<Vec<_>>().join(",");
        let rows: String = (0..20).map(|row| line(&|at| (row + at).to_string()) + "\n").collect();
        std::fs::write(&path, line(&|at| format!("c{at}")) + "\n" + &rows).expect("a file");
        let cloud = Arc::new(read_cloud(&path, "c0,c1"));
        let mut lookup = Lookup::default();
        let all: Vec<u32> = (0..20).collect();
        for rows in [&[0][..], &[1], &all, &[2, 3]] {
            look(&mut lookup, &cloud, rows);
            assert!(lookup.known(&cloud, rows).is_some_and(|found| found.is_ok()));
            let size = |found: &RowColumns| found.as_ref().map_or(0, ExtraCells::size);
            let cells: usize = lookup.known.values().map(|(_, found)| size(found)).sum();
            let counted = lookup.cached_cells;
            assert!(cells <= counted && counted <= MAX_CELLS + 20, "{cells} of {counted}");
        }
    }
}
