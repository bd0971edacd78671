//! `--record`: what was run as a file that opens elsewhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bar::Bar;
use super::output;
use super::usage::Usage;
use crate::cloud::{Source, formats};
use crate::export;
use crate::run::recording::{self, Recorded};
use crate::run::{QuerySpec, RunRecord, RunSpec, SomeRun};

/// Flags of `run` and `sweep`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct RecordArgs {
    /// Writes everything into a recording, which `warpscope FILE` opens on any machine: FILE.warpscope
    #[arg(long, value_name = "FILE", value_parser = path)]
    record: Option<PathBuf>,
    /// Leaves the points out of the recording; opened, they are read again from where they came from
    #[arg(long, requires = "record")]
    no_points: bool,
}

/// Knows before the search, not after it, that nobody could open the file by its name.
fn path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if recording::is_recording(&path) { Ok(path) } else { Err(format!("a recording's name ends in .{}", recording::EXTENSION)) }
}

impl RecordArgs {
    /// Whether there is anything to write.
    pub fn is_asked(&self) -> bool {
        self.record.is_some()
    }

    /// Tries whether it could be written.
    ///
    /// # Errors
    /// One sentence saying why it cannot be written.
    pub fn check(&self) -> anyhow::Result<()> {
        Ok(self.record.as_deref().map_or(Ok(()), export::check)?)
    }

    /// Refuses to write over what is searched.
    ///
    /// # Errors
    /// When the recording has the name of an input.
    pub fn spare(&self, spec: &RunSpec) -> anyhow::Result<()> {
        spare(spec, self.record.clone())
    }

    /// Writes what was run, if that was asked, and gives the file.
    ///
    /// # Errors
    /// Why it was not written.
    pub fn write(&self, records: Vec<Arc<RunRecord>>) -> anyhow::Result<Option<PathBuf>> {
        let Some(path) = &self.record else { return Ok(None) };
        if records.is_empty() {
            output::note(&format!("nothing was run, so nothing is recorded: {}", path.display()));
            return Ok(None);
        }
        let runs: Vec<Recorded> =
            records.into_iter().map(|record| Recorded { name: record.title(), pinned: false, run: SomeRun::Whole(record) }).collect();
        let missing = export::recording(&runs, !self.no_points, path, &Bar::new("writing the recording"))?;
        missing.iter().for_each(|missing| output::note(missing));
        Ok(Some(path.clone()))
    }
}

/// Refuses to write over the files that are searched.
///
/// # Errors
/// When one of `outputs` is one of them.
pub fn spare(spec: &RunSpec, outputs: impl IntoIterator<Item = PathBuf>) -> anyhow::Result<()> {
    let data = if let Source::File { path, .. } = &spec.data { Some(path) } else { None };
    let queries = if let QuerySpec::File { path, .. } = &spec.queries { Some(path) } else { None };
    spare_files("the cloud that is searched", data.into_iter().chain(queries), outputs)
}

/// The same for any files or parts of files that are read; `what` they are, in the error.
///
/// # Errors
/// As [`spare`]'s.
pub fn spare_files<'a>(what: &str, inputs: impl IntoIterator<Item = &'a PathBuf>, outputs: impl IntoIterator<Item = PathBuf>) -> anyhow::Result<()> {
    let inputs: Vec<PathBuf> = inputs.into_iter().filter_map(|path| formats::file_of(path).canonicalize().ok()).collect();
    let is_input = |path: &Path| path.canonicalize().is_ok_and(|path| inputs.contains(&path));
    match outputs.into_iter().find(|path| is_input(path)) {
        Some(path) => {
            anyhow::bail!(Usage(format!("cannot write: {what} would be lost; choose another name: {}", path.display())))
        }
        None => Ok(()),
    }
}
