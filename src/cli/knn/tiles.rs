//! `knn` among points that are larger than the memory.

use std::path::Path;

use anyhow::anyhow;

use crate::cli::bar::Bar;
use crate::cli::columns::OpenedTiles;
use crate::cli::job::Job;
use crate::cloud::formats::{self, FormatError};
use crate::cloud::{AutoColumns, CloudError, ColumnChoice};
use crate::progress::NoProgress;
use crate::run::{Arithmetic, BatchSearch, TilePlan, TiledSearch};

/// Adds the formats that are searched in tiles to the error for another file that does not fit into memory.
pub fn with_way_out(error: anyhow::Error) -> anyhow::Error {
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
            "{what}; convert it to .npy (in C order), .fbin, .fvecs or .las, which are searched in tiles: {path}"
        ),
        _ => error,
    }
}

/// The search over the tiles of an opened cloud.
///
/// # Errors
/// Errors of reading the file and of the problem.
pub fn search(job: &Job, tiles: &OpenedTiles, arithmetic: Arithmetic) -> anyhow::Result<BatchSearch> {
    let plan = TilePlan::new(&job.cloud, tiles.fits_f32, &job.spec, tiles.why.clone())?;
    let (queries, bar) = (job.query_cloud.as_ref(), Bar::new("reading the tiles"));
    let search = TiledSearch::new(&job.spec, &tiles.tiled, queries, arithmetic, plan, &mut bar.stage())?;
    Ok(BatchSearch::Tiled(Box::new(search)))
}
