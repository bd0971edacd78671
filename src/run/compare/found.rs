//! Neighbours of a saved run, wherever they lie.

use std::path::Path;

use super::{CompareError, SavedRun};
use crate::cloud::formats::{self, FormatError};
use crate::cloud::{ColumnChoice, Coordinates};
use crate::files;
use crate::knn::Neighbors;
use crate::progress::Silent;
use crate::run::RunFile;

/// The file of a run's folder that holds them: `indices` and `squared_distances`, a row for each query.
pub const NEIGHBORS: &str = "neighbors.npz";

/// What the folder of a run holds.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderNeighbors {
    indices: Coordinates,
    squared_distances: Coordinates,
}

impl FolderNeighbors {
    /// Reads them, where the folder has some.
    ///
    /// # Errors
    /// [`CompareError`], also where they are not those of the run.
    pub fn read(folder: &Path, run: &RunFile) -> Result<Option<Self>, CompareError> {
        let Some(path) = files::place(folder, NEIGHBORS) else { return Ok(None) };
        let array = |name| formats::read(&formats::path_of(&path, name), &ColumnChoice::Default, &Silent);
        let both = array("indices").and_then(|indices| Ok(Self { indices, squared_distances: array("squared_distances")? }));
        let found = both.map_err(|why: FormatError| CompareError::Content { why: why.reason(), path: path.clone() })?;
        let (q, k) = (run.summary.q as usize, run.spec.k);
        if [&found.indices, &found.squared_distances].iter().any(|array| (array.rows(), array.columns.len()) != (q, k)) {
            let why = format!("its neighbours are not the {k} of each of {q} queries that run.json speaks of");
            return Err(CompareError::Content { why, path });
        }
        Ok(Some(found))
    }
}

/// Neighbours by record number, for one side of a comparison.
pub(super) enum Found<'a> {
    Run(&'a Neighbors, Box<dyn Fn(u32) -> i64 + 'a>),
    Folder(&'a FolderNeighbors),
}

impl<'a> Found<'a> {
    /// Of a saved run.
    ///
    /// # Errors
    /// Why there are none, or none by record number, as a part of a sentence.
    pub fn of(saved: &'a SavedRun) -> Result<Self, String> {
        match (&saved.run, &saved.neighbors) {
            (Some(run), _) => match run.records() {
                Some(records) => Ok(Self::Run(run.neighbors(), Box::new(records))),
                None => Err("rows were left out of the cloud, and a recording counts on without them".to_owned()),
            },
            (None, Some(found)) => Ok(Self::Folder(found)),
            (None, None) => Err(format!("there is no {NEIGHBORS} in {}", saved.path.display())),
        }
    }

    /// The record number of a neighbour, −1 where there is none, and its squared distance.
    pub fn at(&self, query: usize, rank: usize) -> (i64, f32) {
        match self {
            Self::Run(found, records) => {
                let (rows, squared_distances) = found.of(query);
                (records(rows[rank]), squared_distances[rank])
            }
            Self::Folder(found) => {
                let at = query * found.indices.columns.len() + rank;
                (found.indices.values.get(at) as i64, found.squared_distances.values.get(at) as f32)
            }
        }
    }
}
