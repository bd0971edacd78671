//! The folder of a run: its tables, trace, neighbours and `run.json`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::neighbors::NeighborArrays;
use super::{ExportError, tables, trace};
use crate::files::{self, Batch, IsOwn};
use crate::run::compare::{MAX_RUN_BYTES, NEIGHBORS, RUN, TIMINGS};
use crate::run::{AnswerBatch, RunFile, RunFileError, RunRecord};

/// A folder created for output, with its missing parents; removed again if nothing is written to it.
#[derive(Debug)]
pub struct OutputFolder {
    /// The folders that were created, outermost first.
    made: Vec<(PathBuf, files::LivePath)>,
}

impl OutputFolder {
    /// Creates a folder with its missing parents, and completes or undoes interrupted writes there. `ours`
    /// selects the files: [`is_run_file`] or [`super::lesson::is_frame_file`].
    ///
    /// # Errors
    /// [`ExportError::Io`] with the folder's path.
    pub fn new(dir: &Path, ours: IsOwn) -> Result<Self, ExportError> {
        let mut missing: Vec<&Path> =
            dir.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
        missing.reverse();
        // Kept in a guard, so that they are removed if a later one fails.
        let mut folder = Self { made: Vec::new() };
        for path in missing {
            match files::made(path) {
                Ok(live) => folder.made.push((path.to_owned(), live)),
                // Another program created it meanwhile.
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(why) => return Err(ExportError::io(dir)(why)),
            }
        }
        std::fs::create_dir_all(dir)
            .and_then(|()| files::recover(dir, ours))
            .map_err(ExportError::io(dir))?;
        Ok(folder)
    }

    /// Keeps the folder because output has been written.
    pub fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        for (folder, _) in self.made.iter().rev() {
            // Fails, as intended, if the folder is not empty.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Creates the folder and checks that [`folder`] could write to it. Called before a long search.
///
/// # Errors
/// [`ExportError::Io`]; [`ExportError::NoRun`] and [`ExportError::OtherJson`] if files of these names were
/// not written by a run.
pub fn check_folder(dir: &Path) -> Result<(), ExportError> {
    std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
    // Every run writes `run.json`, so the other files are a run's if it exists.
    if files::locate(dir, RUN).is_none()
        && let Some(file) = FOLDER_FILES.into_iter().find(|file| dir.join(file).is_file())
    {
        return Err(ExportError::NoRun { file, path: dir.to_owned() });
    }
    if let Some(json) = files::locate(dir, RUN)
        && files::read_small(&json, MAX_RUN_BYTES)
            .is_ok_and(|text| matches!(RunFile::read(&text), Err(RunFileError::Content(_))))
    {
        return Err(ExportError::OtherJson { path: dir.to_owned() });
    }
    super::check(&dir.join(RUN))
}

/// The files that [`folder`] may write; only one of the two counter files.
pub const FOLDER_FILES: [&str; 7] =
    [TIMINGS, tables::MERGES, tables::COUNTERS, "convergence.csv", "trace.json", NEIGHBORS, RUN];

/// Whether a run's folder may have a file of this name. Other files there are left alone.
pub fn is_run_file(name: &str) -> bool {
    FOLDER_FILES.contains(&name)
}

/// Neighbours written to a folder unless requested explicitly: 340 MB.
pub const MAX_NEIGHBORS: usize = 1 << 24;

/// Writes [`FOLDER_FILES`] to a folder, creating it if necessary, and returns the paths written. For engines
/// without counters, the CSV of counters has only a header; more than [`MAX_NEIGHBORS`] neighbours are
/// skipped. All files of an earlier run are replaced or removed together; on failure they remain unchanged.
/// Other files in the folder stay.
///
/// # Errors
/// [`ExportError::Io`] with the path of the file that failed.
pub fn folder(record: &RunRecord, dir: &Path) -> Result<Vec<PathBuf>, ExportError> {
    folder_with(record, MAX_NEIGHBORS, dir)
}

pub(super) fn folder_with(
    record: &RunRecord,
    max_neighbors: usize,
    dir: &Path,
) -> Result<Vec<PathBuf>, ExportError> {
    std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
    let mut run = StagedFiles {
        batch: Batch::new(dir, is_run_file).map_err(ExportError::io(dir))?,
        dir,
        written: Vec::new(),
    };
    run.write(TIMINGS, |out| tables::timings(record).csv(out))?;
    run.write(tables::counters_file(record), |out| tables::counters(record).csv(out))?;
    run.write("convergence.csv", |out| tables::convergence(record).csv(out))?;
    run.write("trace.json", |out| trace(record, out))?;
    if record.neighbors.indices.len() <= max_neighbors {
        run.write(NEIGHBORS, |out| {
            let q = record.neighbors.queries();
            let mut arrays = NeighborArrays::new(out, q);
            arrays.append(AnswerBatch::of_run(record, 0..q, 0))?;
            arrays.finish()
        })?;
    }
    // `run.json` appears last, for programs that wait for it.
    run.write(RUN, |out| {
        serde_json::to_writer_pretty(&mut *out, &record.head)?;
        writeln!(out)
    })?;
    run.commit()
}

/// The files of a run, before they are moved to their folder.
struct StagedFiles<'a> {
    batch: Batch,
    dir: &'a Path,
    written: Vec<&'static str>,
}

impl StagedFiles<'_> {
    fn write(
        &mut self,
        name: &'static str,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), ExportError> {
        self.batch.write(name, content).map_err(ExportError::io(&self.dir.join(name)))?;
        self.written.push(name);
        Ok(())
    }

    fn commit(self) -> Result<Vec<PathBuf>, ExportError> {
        // Files of an earlier run would be mistaken for this one's. Without a `run.json`, they are not ours
        // to delete.
        let replaces = self.dir.join(RUN).exists();
        let obsolete: Vec<&str> =
            FOLDER_FILES.into_iter().filter(|name| replaces && !self.written.contains(name)).collect();
        self.batch.put(&obsolete).map_err(ExportError::io(self.dir))?;
        Ok(self.written.into_iter().map(|name| self.dir.join(name)).collect())
    }
}
