//! Neighbours that somebody else computed, from any file that holds them.

use std::path::{Path, PathBuf};

use super::bar::Bar;
use crate::cloud::{Coordinates, formats};
use crate::knn::Metric;
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
}

/// Reads what a flag names: a recording, the folder of a run, or a file of neighbours; with `distances`, those beside them too.
///
/// # Errors
/// Whatever keeps them from being read, and a metric of their own that is another.
pub fn read(flag: &str, path: &Path, metric: Option<Metric>, distances: bool) -> anyhow::Result<Answers> {
    let bar = Bar::new(&format!("reading {flag}"));
    if let Some((file, run)) = recording::split_run(path).filter(|(file, _)| !file.is_dir()) {
        let recording = recording::read(&file, Points::Restore, &bar)?;
        let found = answers::of_run(&recording.pick(run.as_deref(), &file)?.run);
        let (table, far) = found.map_err(|why| anyhow::anyhow!("{flag}: {why}: {}", path.display()))?;
        return Ok(Answers { path: path.to_owned(), table, distances: distances.then_some(far) });
    }
    let of_folder = path.join(NEIGHBORS);
    let path = if path.is_dir() { &of_folder } else { path };
    let file = formats::file_of(path);
    if let Some((metric, theirs)) = metric.zip(formats::attribute(&file, "distance", &bar)?) {
        let same = match metric {
            Metric::L2 => theirs == "euclidean",
            Metric::Angular | Metric::Cosine => ["angular", "cosine"].contains(&theirs.as_str()),
            Metric::Haversine => theirs == "haversine",
        };
        if !same {
            anyhow::bail!("{flag}: its answers are by the distance `{theirs}`, and the search is by {metric}; see --metric: {}", path.display());
        }
    }
    if distances {
        let (path, table, distances) = answers::read_with_distances(path, &bar)?;
        return Ok(Answers { path, table, distances });
    }
    let (path, table) = answers::read(path, &bar)?;
    Ok(Answers { path, table, distances: None })
}
