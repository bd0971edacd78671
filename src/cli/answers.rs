//! Neighbours that somebody else computed, from any file that holds them.

use std::path::{Path, PathBuf};

use super::bar::Bar;
use super::found::Found;
use crate::cloud::{Coordinates, formats};
use crate::run::answers;
use crate::run::compare::NEIGHBORS;
use crate::run::recording::{self, Points};

pub struct Answers {
    /// The file, or the part of it, that they stand in.
    pub path: PathBuf,
    /// Record numbers, a row for each query.
    pub table: Coordinates,
    /// Distances in the same places, where they are asked for and the file has them.
    pub distances: Option<Coordinates>,
    /// Which row of its own file each query is, where that was asked for and the file says it.
    pub query_rows: Option<Vec<u64>>,
    pub found: Found,
}

impl Answers {
    /// With the rows of the queries, which only recall needs. A recording has none of its own to read.
    ///
    /// # Errors
    /// Whatever keeps them from being read.
    pub fn with_rows(self) -> anyhow::Result<Self> {
        if recording::split_run(&self.path).is_some_and(|(file, _)| !file.is_dir()) {
            return Ok(self);
        }
        let query_rows = answers::query_rows(&self.path, &Bar::new("reading the rows of the queries"))?;
        Ok(Self { query_rows, ..self })
    }

    /// Refuses answers to other queries than these, given by their rows.
    ///
    /// # Errors
    /// The first query that is another.
    pub fn check_rows(&self, flag: &str, asked: &[u64]) -> anyhow::Result<()> {
        let Some(rows) = self.query_rows.as_ref().filter(|rows| rows.len() == asked.len()) else { return Ok(()) };
        match rows.iter().zip(asked).position(|(row, asked)| row != asked) {
            None => Ok(()),
            Some(query) => anyhow::bail!(
                "{flag}: its query {query} is row {}, and row {} is asked for; ask as they were asked, with --queries and --seed: {}",
                rows[query],
                asked[query],
                self.path.display()
            ),
        }
    }
}

/// Reads what a flag names: a recording, the folder of a run, or a file of neighbours; with `distances`, those beside them too.
///
/// # Errors
/// Whatever keeps them from being read.
pub fn read(flag: &str, path: &Path, distances: bool) -> anyhow::Result<Answers> {
    let bar = Bar::new(&format!("reading {flag}"));
    if let Some((file, name)) = recording::split_run(path).filter(|(file, _)| !file.is_dir()) {
        let recording = recording::read(&file, Points::Restore, &bar)?;
        let run = &recording.pick(name.as_deref(), &file)?.run;
        let (table, far) = answers::of_run(run).map_err(|why| anyhow::anyhow!("{flag}: {why}: {}", path.display()))?;
        return Ok(Answers { path: path.to_owned(), table, distances: distances.then_some(far), query_rows: None, found: Found::of_run(path, run) });
    }
    let of_folder = path.join(NEIGHBORS);
    let (path, folder) = if path.is_dir() { (&*of_folder, Some(path)) } else { (path, None) };
    let found = match folder.and_then(Found::of_folder) {
        Some(found) => found,
        None => Found::of_file(&formats::file_of(path), &bar)?,
    };
    let (path, table, distances) = if distances {
        answers::read_with_distances(path, &bar)?
    } else {
        let (path, table) = answers::read(path, &bar)?;
        (path, table, None)
    };
    Ok(Answers { path, table, distances, query_rows: None, found })
}
