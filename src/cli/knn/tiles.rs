//! `knn` among points that are larger than the memory.

use std::path::Path;

use anyhow::anyhow;

use super::KnnArgs;
use crate::cli::bar::Bar;
use crate::cli::columns::OpenedTiles;
use crate::cli::job::{Job, Request};
use crate::cloud::formats::{self, FormatError};
use crate::cloud::{AutoColumns, CloudError, ColumnChoice};
use crate::knn::Ranking;
use crate::progress::NoProgress;
use crate::run::{Arithmetic, BatchSearch, TilePlan, TiledSearch};

/// Opens a cloud that does not fit into memory.
///
/// # Errors
/// When it cannot be read, and for flags that need all points in memory if the memory was limited.
pub fn open(args: &KnnArgs, request: &Request) -> anyhow::Result<Option<(Job, OpenedTiles)>> {
    request.open_tiles(needs_all_rows(args, request))
}

/// A flag that needs all points in memory.
fn needs_all_rows(args: &KnnArgs, request: &Request) -> Option<&'static str> {
    let [(with, columns), (with_query, of_queries)] = args.out.columns();
    let is_geojson = args.out.file().is_some_and(|file| {
        file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("geojson"))
    });
    let metric = request.ranking.and_then(Ranking::metric).unwrap_or_default();
    [
        ("--graph", args.graph.file().is_some()),
        ("--radius", args.radius.is_some()),
        ("--metric inner-product", request.ranking == Some(Ranking::InnerProduct)),
        ("--dry-run", args.dry.dry_run),
        (with, !columns.is_empty()),
        (with_query, !of_queries.is_empty()),
        ("--out .geojson", is_geojson),
        // Rows that are dropped would change the numbers of the others.
        ("--drop-nonfinite", args.cloud.drop_nonfinite && metric.compares_directions()),
    ]
    .into_iter()
    .find_map(|(flag, given)| given.then_some(flag))
}

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
