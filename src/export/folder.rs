//! The folder of a run: its tables, trace, neighbours and `run.json`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{ExportError, answers, tables, trace};
use crate::files::{self, Batch, Ours};
use crate::run::compare::{MOST_RUN_BYTES, NEIGHBORS, RUN, TIMINGS};
use crate::run::{self, RunFile, RunFileError, RunRecord};

/// A folder created for output, with its missing parents; removed again if nothing is written to it.
#[derive(Debug)]
pub struct MadeFolder {
    /// The folders that were created, outermost first.
    made: Vec<(PathBuf, files::Live)>,
}

impl MadeFolder {
    /// Creates a folder and its parents where missing, and finishes what a killed program left half-way in
    /// it, of files that are `ours`: [`of_run`] or [`super::lesson::of_film`].
    ///
    /// # Errors
    /// [`ExportError::Io`] with the folder's path.
    pub fn new(dir: &Path, ours: Ours) -> Result<Self, ExportError> {
        let mut missing: Vec<&Path> =
            dir.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
        missing.reverse();
        // Some may have been created before one fails.
        let mut folder = Self { made: Vec::new() };
        for path in missing {
            match files::made(path) {
                Ok(live) => folder.made.push((path.to_owned(), live)),
                // Another program was faster.
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(why) => return Err(ExportError::io(dir)(why)),
            }
        }
        std::fs::create_dir_all(dir)
            .and_then(|()| files::recover(dir, ours))
            .map_err(ExportError::io(dir))?;
        Ok(folder)
    }

    /// Keeps the folder, because output has been written.
    pub fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for MadeFolder {
    fn drop(&mut self) {
        for (folder, _) in self.made.iter().rev() {
            // Fails, as intended, if the folder is not empty.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Creates the folder and checks that [`folder`] could write to it: before a long search, not after it.
///
/// # Errors
/// [`ExportError::Io`]; [`ExportError::NoRun`] and [`ExportError::OtherJson`] for a folder with files of
/// these names that no run wrote.
pub fn check_folder(dir: &Path) -> Result<(), ExportError> {
    std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
    // `run.json` is there from the first run on, so if it exists the other files are a run's.
    if files::place(dir, RUN).is_none()
        && let Some(file) = FOLDER_FILES.into_iter().find(|file| dir.join(file).is_file())
    {
        return Err(ExportError::NoRun { file, path: dir.to_owned() });
    }
    if let Some(json) = files::place(dir, RUN)
        && files::read_small(&json, MOST_RUN_BYTES)
            .is_ok_and(|text| matches!(RunFile::read(&text), Err(RunFileError::Content(_))))
    {
        return Err(ExportError::OtherJson { path: dir.to_owned() });
    }
    super::check(&dir.join(RUN))
}

/// What [`folder`] may write; of the two with counters, one.
pub const FOLDER_FILES: [&str; 7] =
    [TIMINGS, tables::MERGES, tables::COUNTERS, "convergence.csv", "trace.json", NEIGHBORS, RUN];

/// Whether a run's folder has files of this name. Others are left alone there.
pub fn of_run(name: &str) -> bool {
    FOLDER_FILES.contains(&name)
}

/// Maximum number of neighbours written to a folder without being requested: 340 MB.
pub const MOST_NEIGHBORS: usize = 1 << 24;

/// Writes [`FOLDER_FILES`] to a folder, creating it if necessary, and returns the paths of the files written.
/// The CSVs of counters have only headers for engines without counters; more neighbours than
/// [`MOST_NEIGHBORS`] are left out. All files of a run before are replaced or removed together: on failure
/// they are as they were. What else is in the folder stays.
///
/// # Errors
/// [`ExportError::Io`] with the path of the file that failed.
pub fn folder(record: &RunRecord, dir: &Path) -> Result<Vec<PathBuf>, ExportError> {
    folder_with(record, MOST_NEIGHBORS, dir)
}

pub(super) fn folder_with(
    record: &RunRecord,
    most_neighbors: usize,
    dir: &Path,
) -> Result<Vec<PathBuf>, ExportError> {
    std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
    let mut run =
        Files { batch: Batch::new(dir, of_run).map_err(ExportError::io(dir))?, dir, written: Vec::new() };
    run.write(TIMINGS, |out| tables::timings(record).csv(out))?;
    run.write(tables::counters_file(record), |out| tables::counters(record).csv(out))?;
    run.write("convergence.csv", |out| tables::convergence(record).csv(out))?;
    run.write("trace.json", |out| trace(record, out))?;
    if record.neighbors.indices.len() <= most_neighbors {
        run.write(NEIGHBORS, |out| {
            answers::arrays(run::Batch::of_run(record, 0..record.neighbors.queries(), 0), out)
        })?;
    }
    // Last in the order in which they appear, for programs that wait for it.
    run.write(RUN, |out| {
        serde_json::to_writer_pretty(&mut *out, &record.head)?;
        writeln!(out)
    })?;
    run.put()
}

/// Files of a run, on their way into its folder.
struct Files<'a> {
    batch: Batch,
    dir: &'a Path,
    written: Vec<&'static str>,
}

impl Files<'_> {
    fn write(
        &mut self,
        name: &'static str,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), ExportError> {
        self.batch.write(name, content).map_err(ExportError::io(&self.dir.join(name)))?;
        self.written.push(name);
        Ok(())
    }

    fn put(self) -> Result<Vec<PathBuf>, ExportError> {
        // Those of a run before would be taken for this one's. What no run wrote is not ours to delete.
        let replaces = self.dir.join(RUN).exists();
        let obsolete: Vec<&str> =
            FOLDER_FILES.into_iter().filter(|name| replaces && !self.written.contains(name)).collect();
        self.batch.put(&obsolete).map_err(ExportError::io(self.dir))?;
        Ok(self.written.into_iter().map(|name| self.dir.join(name)).collect())
    }
}
