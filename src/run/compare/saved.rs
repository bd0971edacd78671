//! Reads the runs to compare: a run's folder, its timings.csv, or a run of a recording, with their
//! neighbours.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::CompareError;
use crate::cloud::formats::{self, FormatError};
use crate::cloud::{ColumnChoice, Coordinates};
use crate::files;
use crate::knn::{EngineId, Neighbors};
use crate::progress::NoProgress;
use crate::run::recording::{self, CloudLoadMode};
use crate::run::{LoadedRun, Phase, RunFile};

/// The file that identifies a folder as a run's.
pub const RUN: &str = "run.json";

/// Limit on files of a folder; a run.json may list millions of rows.
pub const MAX_RUN_BYTES: u64 = 256 << 20;

/// The file of a run's folder with its timings.
pub const TIMINGS: &str = "timings.csv";

/// Milliseconds per repeat, all chunks together, for each phase.
pub type Phases = BTreeMap<(EngineId, Phase), Vec<f64>>;

/// The timings of a saved run, and its other data if available.
#[derive(Clone, Debug)]
pub struct SavedRun {
    /// The path as given.
    pub path: PathBuf,
    /// Durations of each phase, in milliseconds.
    pub phases: Phases,
    /// Its `run.json`; `None` if there are only timings.
    pub file: Option<RunFile>,
    /// The whole run, from a recording.
    pub run: Option<LoadedRun>,
    /// The neighbours, from a folder.
    pub neighbors: Option<FolderNeighbors>,
}

/// A row of timings.csv.
#[derive(Deserialize)]
struct TimingRow {
    engine: EngineId,
    phase: Phase,
    repeat: u32,
    chunk: Option<u32>,
    duration_ms: f64,
}

impl SavedRun {
    /// Reads a run's folder, a timings.csv, or a run of a recording (`FILE.warpscope`,
    /// `FILE.warpscope#NAME`).
    pub fn read(path: &Path) -> Result<Self, CompareError> {
        if let Some((file, name)) = recording::split_run(path).filter(|(file, _)| !file.is_dir()) {
            let recording = recording::read(&file, CloudLoadMode::Skip, &NoProgress)?;
            return Ok(Self::from_run(recording.pick(name.as_deref(), &file)?.run.clone(), path));
        }
        let folder = path.is_dir();
        // If a write was interrupted, a file may still have its temporary name.
        let timings = if folder {
            files::locate(path, TIMINGS).unwrap_or_else(|| path.join(TIMINGS))
        } else {
            path.to_owned()
        };
        let io = |why| CompareError::Io { why, path: timings.clone() };
        let text = if folder {
            read(&timings)?
        } else {
            files::read_at_most(&timings, MAX_RUN_BYTES).map_err(io)?
        };
        let content = |why: String, path: &Path| CompareError::Content { why, path: path.to_owned() };
        let mut repeats: BTreeMap<(EngineId, Phase), BTreeMap<u32, f64>> = BTreeMap::new();
        let mut rows = csv::Reader::from_reader(text.as_slice());
        let has = |name: &str, columns: &csv::StringRecord| columns.iter().any(|column| column == name);
        let headers = rows.headers().cloned().unwrap_or_default();
        if !["engine", "phase", "repeat", "duration_ms"].iter().all(|name| has(name, &headers)) {
            return Err(content("it does not have the columns of a timings.csv".to_owned(), &timings));
        }
        let mut seen = BTreeSet::new();
        for record in rows.into_records() {
            let record = record.map_err(|error| content(error.to_string(), &timings))?;
            let row: TimingRow =
                record.deserialize(Some(&headers)).map_err(|error| content(error.to_string(), &timings))?;
            if let Some(chunk) =
                row.chunk.filter(|&chunk| !seen.insert((row.engine, row.phase, row.repeat, chunk)))
            {
                let line = record.position().map_or(0, csv::Position::line);
                let why = format!(
                    "line {line}: duplicate row for {} {}, repeat {}, chunk {chunk}; remove it",
                    row.engine,
                    row.phase.name(),
                    row.repeat
                );
                return Err(content(why, &timings));
            }
            if !row.duration_ms.is_finite() || row.duration_ms < 0.0 {
                return Err(content(format!("invalid duration of {} ms", row.duration_ms), &timings));
            }
            *repeats.entry((row.engine, row.phase)).or_default().entry(row.repeat).or_default() +=
                row.duration_ms;
        }
        if repeats.is_empty() {
            return Err(content("it has no timings".to_owned(), &timings));
        }
        let file: Option<RunFile> = match folder.then(|| files::locate(path, RUN)).flatten() {
            Some(json) => {
                Some(RunFile::read(&read(&json)?).map_err(|why| CompareError::RunFile { why, path: json })?)
            }
            None => None,
        };
        if let Some(file) = &file {
            let searches = repeats.get(&(file.engine, Phase::Search)).map_or(0, BTreeMap::len);
            if searches != file.spec.repeats as usize || !text.ends_with(b"\n") {
                let why = format!(
                    "it has {searches} complete repeats of the search, but run.json has {}; it may be \
                     truncated",
                    file.spec.repeats
                );
                return Err(content(why, &timings));
            }
        }
        let neighbors = file.as_ref().map_or(Ok(None), |file| FolderNeighbors::read(path, file))?;
        let phases =
            repeats.into_iter().map(|(key, repeats)| (key, repeats.into_values().collect())).collect();
        Ok(Self { path: path.to_owned(), phases, file, run: None, neighbors })
    }

    /// From a run in memory.
    pub fn from_run(run: LoadedRun, path: &Path) -> Self {
        let file = run.head().clone();
        let mut repeats: BTreeMap<(EngineId, Phase), BTreeMap<u32, f64>> = BTreeMap::new();
        for sample in run.samples() {
            *repeats.entry((file.engine, sample.phase)).or_default().entry(sample.repeat).or_default() +=
                sample.duration_ms;
        }
        let phases =
            repeats.into_iter().map(|(key, repeats)| (key, repeats.into_values().collect())).collect();
        Self { path: path.to_owned(), phases, file: Some(file), run: Some(run), neighbors: None }
    }
}

/// A run saved with these rows of a timings.csv.
#[cfg(test)]
pub(super) fn saved(rows: &str) -> Result<SavedRun, CompareError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(TIMINGS);
    std::fs::write(&path, format!("engine,phase,repeat,chunk,start_ms,duration_ms\n{rows}")).unwrap();
    SavedRun::read(&path)
}

fn read(path: &Path) -> Result<Vec<u8>, CompareError> {
    files::read_small(path, MAX_RUN_BYTES).map_err(|why| CompareError::Io { why, path: path.to_owned() })
}

/// The file with a run's neighbours: `indices` and `squared_distances`, a row per query.
pub const NEIGHBORS: &str = "neighbors.npz";

/// The neighbours in a run's folder.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderNeighbors {
    indices: Coordinates,
    squared_distances: Coordinates,
}

impl FolderNeighbors {
    /// Reads the neighbours, if the folder has any.
    ///
    /// # Errors
    /// [`CompareError`], also if they do not belong to the run.
    pub fn read(folder: &Path, run: &RunFile) -> Result<Option<Self>, CompareError> {
        let Some(path) = files::locate(folder, NEIGHBORS) else { return Ok(None) };
        let array = |name| formats::read(&formats::path_of(&path, name), &ColumnChoice::Default, &NoProgress);
        let both = array("indices")
            .and_then(|indices| Ok(Self { indices, squared_distances: array("squared_distances")? }));
        let found =
            both.map_err(|why: FormatError| CompareError::Content { why: why.reason(), path: path.clone() })?;
        let (q, k) = (run.summary.q as usize, run.spec.k);
        if [&found.indices, &found.squared_distances]
            .iter()
            .any(|array| (array.rows(), array.columns.len()) != (q, k))
        {
            let why = format!("expected {k} neighbours for each of {q} queries, as in run.json");
            return Err(CompareError::Content { why, path });
        }
        Ok(Some(found))
    }
}

/// Neighbours by record number, for one side of a comparison.
pub(super) enum NeighborSource<'a> {
    Run(&'a Neighbors, Box<dyn Fn(u32) -> i64 + 'a>),
    Folder(&'a FolderNeighbors),
}

impl<'a> NeighborSource<'a> {
    /// The neighbours of a saved run.
    ///
    /// # Errors
    /// Why there are none, or none by record number, as a part of a sentence.
    pub fn new(saved: &'a SavedRun) -> Result<Self, String> {
        match (&saved.run, &saved.neighbors) {
            (Some(run), _) => match run.records() {
                Some(records) => Ok(Self::Run(run.neighbors(), Box::new(records))),
                None => Err("rows of the cloud were dropped, and a recording does not tell which".to_owned()),
            },
            (None, Some(found)) => Ok(Self::Folder(found)),
            (None, None) => Err(format!("there is no {NEIGHBORS} in {}", saved.path.display())),
        }
    }

    /// The record number of a neighbour, −1 if missing, and its squared distance.
    pub fn at(&self, query: usize, rank: usize) -> (i64, f32) {
        match self {
            Self::Run(found, records) => {
                let (rows, squared_distances) = found.for_query(query);
                (records(rows[rank]), squared_distances[rank])
            }
            Self::Folder(found) => {
                let at = query * found.indices.columns.len() + rank;
                (found.indices.values.get(at) as i64, found.squared_distances.values.get(at) as f32)
            }
        }
    }
}
