//! `knn IN --graph FILE`: the graph of all rows, and their neighbours beside it where these are asked for.

use std::path::Path;
use std::time::Instant;

use anyhow::{anyhow, bail};

use super::report::Report;
use super::{KnnArgs, out};
use crate::cli::answer::{answer, empty_ranks};
use crate::cli::job::Job;
use crate::cli::queries::QueryChoice;
use crate::cli::usage::Usage;
use crate::cli::{output, room};
use crate::export::{self, FileColumns, NeighborFormat, NeighborStream, Size};
use crate::files;
use crate::knn::NONE;
use crate::run::graph::KnnGraph;
use crate::run::{Engines, Phase};

/// Refuses what is no graph, and what could not be written.
pub fn check(args: &KnnArgs) -> anyhow::Result<()> {
    let Some(path) = args.graph.file() else { return Ok(()) };
    if args.radius.is_some() {
        bail!(Usage("--graph: a graph is of the k nearest; leave --radius out".to_owned()));
    }
    if args.queries != QueryChoice::All {
        bail!(Usage("--graph: a graph is of all rows; leave QUERIES out".to_owned()));
    }
    let files = |out: &Path| NeighborFormat::of(out).map_or_else(|_| vec![out.to_owned()], |format| format.files(out));
    if args.out.file().map(files).unwrap_or_default().iter().any(|file| files::same(file, path)) {
        bail!(Usage("--out and --graph are the same file; choose another name for one of them".to_owned()));
    }
    args.graph.check()?;
    super::spare_files("a file that is read", [&args.input], [path.clone()])?;
    Ok(export::check(path)?)
}

/// Searches and writes. A graph is of all neighbours, and so of one part.
pub fn write(args: &KnnArgs, job: &Job, columns: &FileColumns) -> anyhow::Result<()> {
    let start = Instant::now();
    let Job { spec, cloud, .. } = job;
    if let Some(path) = args.out.file() {
        room::of_file(path, Size { q: cloud.len(), k: spec.k, metric: spec.metric }, cloud.len())?;
    }
    args.graph.check_rows(cloud.len(), spec.k)?;
    if let Some(note) = empty_ranks(spec, cloud.len() as u64) {
        output::note(&note);
    }
    let record = answer(&mut Engines::default(), job)?;
    let seconds = start.elapsed().as_secs_f64();
    let graph = KnnGraph::of_run(&record).map_err(|why| anyhow!("{why}: {}", args.input.display()))?;
    args.graph.write(&graph, cloud)?;
    let (queries, size) = (record.neighbors.queries(), Size { q: record.neighbors.queries(), k: record.neighbors.k, metric: spec.metric });
    if let Some(format) = args.out.printed() {
        let mut rows = output::written(NeighborStream::new(format, size, columns, out::stdout()))?;
        return output::written(rows.append(&record, 0..queries, 0).and_then(|()| rows.finish()));
    }
    if let Some(path) = args.out.file() {
        export::neighbors_in_parts(path, size, columns, |writer| writer.append(&record, 0..queries, 0))?;
    }
    let report = Report {
        k: Some(spec.k),
        neighbors: record.neighbors.indices.iter().filter(|&&row| row != NONE).count() as u64,
        index: record.samples.iter().any(|sample| sample.phase == Phase::BuildIndex),
        engine: record.engine.to_string(),
        device: record.device.name.clone(),
        ..Report::new(args, job, queries, seconds)
    };
    report.print(args, job, None)
}
