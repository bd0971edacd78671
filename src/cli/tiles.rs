//! Searches among points that are larger than the memory.

use std::path::Path;
use std::time::Instant;

use anyhow::anyhow;

use super::answer::{AnswerStats, Delivery, Take, in_batches, with_device};
use super::bar::Bar;
use super::columns::OpenedTiles;
use super::job::{Job, Request};
use crate::cloud::formats::{self, FormatError};
use crate::cloud::{AutoColumns, CloudError, ColumnChoice};
use crate::knn::Goal;
use crate::progress::NoProgress;
use crate::run::{Arithmetic, BatchSearch, EnginePool, RunSpec, TilePlan, TiledSearch};

/// Loads a job, or opens its cloud for a search over tiles if it does not fit into memory. `needs_all` and
/// `outputs` are as for [`super::columns::open_tiles`].
///
/// # Errors
/// As [`Request::load`].
pub fn load(
    request: &Request,
    needs_all: Option<&str>,
    outputs: &[&Path],
) -> anyhow::Result<(Job, Option<OpenedTiles>)> {
    Ok(match request.open_tiles(needs_all, outputs)? {
        Some((job, tiles)) => (job, Some(tiles)),
        None => (request.load().map_err(with_way_out)?, None),
    })
}

/// Adds the formats that are searched in tiles to the error for another file that does not fit into memory.
fn with_way_out(error: anyhow::Error) -> anyhow::Error {
    let (what, path) = match error.downcast_ref::<CloudError>() {
        Some(CloudError::Format(why @ FormatError::Memory { path, .. })) => {
            (why.reason(), path.display().to_string())
        }
        Some(why @ CloudError::Memory { origin, .. }) => {
            (why.to_string().trim_end_matches(&format!(": {origin}")).to_owned(), origin.clone())
        }
        _ => return error,
    };
    let (default, how) = (ColumnChoice::Default, AutoColumns::Inferred);
    match formats::open_blocks(Path::new(&path), &default, how, &NoProgress) {
        Ok(None) => anyhow!(
            "{what}; convert it to .npy (in C order), .parquet, .arrow or .las, which are searched in tiles: {path}"
        ),
        _ => error,
    }
}

/// Answers a job batch by batch by the file's values, over tiles if its cloud was opened for that.
///
/// # Errors
/// Errors of the search and of `take`.
pub fn answer(
    engines: &mut EnginePool,
    (job, tiled): (&Job, Option<&OpenedTiles>),
    take: &mut Take<'_>,
) -> anyhow::Result<AnswerStats> {
    let (since, job) = (Instant::now(), &with_device(engines, job));
    let batches = match tiled {
        Some(tiled) => search(job, tiled, Goal::Nearest, Arithmetic::File)?,
        None => BatchSearch::new(engines, Goal::Nearest, job.loaded(), Arithmetic::File)?,
    };
    let delivery = Delivery { at_once: false, own_first: false, behind: true, failed: &|_| () };
    in_batches(engines, (job, &batches), since, delivery, take)
}

/// The search over the tiles of an opened cloud: for the nearest neighbours, or for all within a radius.
///
/// # Errors
/// Errors of reading the file and of the problem.
pub fn search(
    job: &Job,
    tiles: &OpenedTiles,
    goal: Goal,
    arithmetic: Arithmetic,
) -> anyhow::Result<BatchSearch> {
    let radius = if let Goal::Within(radius) = goal { Some(radius) } else { None };
    let spec = RunSpec { k: radius.map_or(job.spec.k, |_| 1), ..job.spec.clone() };
    let plan = TilePlan::new(&job.cloud, tiles.tiled.reading(), &spec, tiles.why.clone())?;
    let (queries, bar) = (job.query_cloud.as_ref(), Bar::new("reading the tiles"));
    let mut search = TiledSearch::new(&spec, &tiles.tiled, queries, arithmetic, plan, &mut bar.stage())?;
    search.radius = radius;
    Ok(BatchSearch::Tiled(Box::new(search)))
}
