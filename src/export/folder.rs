//! The folder of a run.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{ExportError, tables, trace, write};
use crate::run::{RunFile, RunRecord};

/// A folder that was made for what comes, with those above it, and goes again if nothing came.
#[derive(Debug)]
pub struct MadeFolder {
    /// Those that were not there, the innermost first.
    made: Vec<PathBuf>,
}

impl MadeFolder {
    /// Makes a folder, where it is not there.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn new(dir: &Path) -> Result<Self, ExportError> {
        let made = dir.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).map(Path::to_owned).collect();
        // Some may be made before one cannot be.
        let folder = Self { made };
        std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
        Ok(folder)
    }

    /// Something came.
    pub fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for MadeFolder {
    fn drop(&mut self) {
        for folder in &self.made {
            // Only where it is empty.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Makes the folder and tries whether [`folder`] could write into it: before a long search, not after it.
///
/// # Errors
/// [`ExportError::Io`].
pub fn check_folder(dir: &Path) -> Result<(), ExportError> {
    std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
    super::check(&dir.join("run.json"))
}

/// Writes `run.json`, `timings.csv`, `merges.csv`, `convergence.csv` and `trace.json` into a folder, which is made if it
/// is not there, and gives the files that were written. The CSVs of counters have only their headers for engines without.
///
/// # Errors
/// [`ExportError::Io`].
pub fn folder(record: &RunRecord, dir: &Path) -> Result<Vec<PathBuf>, ExportError> {
    std::fs::create_dir_all(dir).map_err(ExportError::io(dir))?;
    let mut written = Vec::new();
    let mut file = |name: &str| {
        let path = dir.join(name);
        written.push(path.clone());
        path
    };
    write(&file("timings.csv"), |out| tables::timings(record).csv(out))?;
    write(&file("merges.csv"), |out| tables::merges(record).csv(out))?;
    write(&file("convergence.csv"), |out| tables::convergence(record).csv(out))?;
    write(&file("trace.json"), |out| trace(record, out))?;
    // Last: where it is, the others are.
    write(&file("run.json"), |out| {
        serde_json::to_writer_pretty(&mut *out, &RunFile::from(record))?;
        writeln!(out)
    })?;
    Ok(written)
}
