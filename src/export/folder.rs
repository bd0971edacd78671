//! The folder of a run: its tables, trace, neighbours and `run.json`.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{ExportError, neighbors, tables, trace, write};
use crate::run::RunRecord;
use crate::run::compare::NEIGHBORS;

/// A folder created for output, with its missing parents; removed again if nothing is written to it.
#[derive(Debug)]
pub struct MadeFolder {
    /// The folders that were created, innermost first.
    made: Vec<PathBuf>,
}

impl MadeFolder {
    /// Creates a folder and its parents where missing.
    ///
    /// # Errors
    /// [`ExportError::Io`] with the folder's path.
    pub fn new(dir: &Path) -> Result<Self, ExportError> {
        let made = dir.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).map(Path::to_owned).collect();
        // Some may have been created before one fails.
        let folder = Self { made };
        std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
        Ok(folder)
    }

    /// Keeps the folder, because output has been written.
    pub fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for MadeFolder {
    fn drop(&mut self) {
        for folder in &self.made {
            // Fails, as intended, if the folder is not empty.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Creates the folder and checks that [`folder`] could write to it: before a long search, not after it.
///
/// # Errors
/// [`ExportError::Io`]; [`ExportError::NoRun`] for a folder with files of these names that no run wrote.
pub fn check_folder(dir: &Path) -> Result<(), ExportError> {
    std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
    let run = dir.join(RUN);
    // `run.json` is written last, so if it exists the other files are a run's.
    if !run.exists()
        && let Some(file) = FOLDER_FILES.into_iter().find(|file| dir.join(file).is_file())
    {
        return Err(ExportError::NoRun { file, path: dir.to_owned() });
    }
    super::check(&run)
}

/// The file that identifies a folder as a run's.
const RUN: &str = "run.json";

/// What [`folder`] may write; of the two with counters, one.
pub const FOLDER_FILES: [&str; 7] = ["timings.csv", tables::MERGES, tables::COUNTERS, "convergence.csv", "trace.json", NEIGHBORS, RUN];

/// Maximum number of neighbours written to a folder without being requested: 200 MB.
pub const MOST_NEIGHBORS: usize = 1 << 24;

/// Writes [`FOLDER_FILES`] to a folder, creating it if necessary, and returns the paths of the files written. The CSVs of
/// counters have only headers for engines without counters; more neighbours than [`MOST_NEIGHBORS`] are left out.
///
/// # Errors
/// [`ExportError::Io`] with the path of the file that failed.
pub fn folder(record: &RunRecord, dir: &Path) -> Result<Vec<PathBuf>, ExportError> {
    folder_with(record, MOST_NEIGHBORS, dir)
}

pub(super) fn folder_with(record: &RunRecord, most_neighbors: usize, dir: &Path) -> Result<Vec<PathBuf>, ExportError> {
    std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
    let [timings, merges, counters, convergence, traced, found, run] = FOLDER_FILES.map(|name| dir.join(name));
    let (counters, other) = if tables::counters_file(record) == tables::MERGES { (merges, counters) } else { (counters, merges) };
    write(&timings, |out| tables::timings(record).csv(out))?;
    write(&counters, |out| tables::counters(record).csv(out))?;
    write(&convergence, |out| tables::convergence(record).csv(out))?;
    write(&traced, |out| trace(record, out))?;
    if other.exists() && run.exists() {
        // That of a run before would be taken for this one's. What no run wrote is not ours to delete.
        std::fs::remove_file(&other).map_err(ExportError::io(&other))?;
    }
    let kept = record.neighbors.indices.len() <= most_neighbors;
    if kept {
        neighbors(record, &found)?;
    } else if found.exists() && run.exists() {
        // Likewise.
        std::fs::remove_file(&found).map_err(ExportError::io(&found))?;
    }
    // Written last: if it exists, so do the others.
    write(&run, |out| {
        serde_json::to_writer_pretty(&mut *out, &record.head)?;
        writeln!(out)
    })?;
    Ok([timings, counters, convergence, traced].into_iter().chain(kept.then_some(found)).chain([run]).collect())
}
