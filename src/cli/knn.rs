//! `warpscope knn`: the answer, once.

mod graph;
mod inner_product;
mod out;
mod radius;
mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Arg;

use self::out::OutArgs;
use self::report::{Report, SHOWN};
use super::answer::{answer_in_parts, empty_ranks, placed, plan};
use super::bar::Bar;
use super::flags::{CloudArgs, EngineArgs, ExcludeSelfArgs, KArgs, MetricArgs, SeedArgs, ThreadsArgs};
use super::graph::GraphArgs;
use super::job::{Job, Request};
use super::metric::{self, rankings};
use super::queries::{self, QueryChoice};
use super::record::spare_files;
use super::usage::Usage;
use super::{forecast, output, room, stdin};
use crate::export::table::TableFormat;
use crate::export::{self, FileColumns, NeighborFormat, NeighborStream, Size, StreamFormat, tables};
use crate::knn::Ranking;
use crate::run::{EngineChoice, Engines, Parts, Phase, RunRecord, RunSpec};

#[derive(Clone, Debug, clap::Args)]
#[command(mut_args(worded))]
pub struct KnnArgs {
    /// The cloud
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Whose neighbours are asked for, as for `run`: FILE, COUNT, all, rows:LIST or at:X,Y,…
    #[arg(value_name = "QUERIES", default_value = "all")]
    queries: QueryChoice,
    #[command(flatten)]
    cloud: CloudArgs,
    #[command(flatten)]
    k: KArgs,
    /// All neighbours no farther than this instead of the k nearest: 5km, 500m, 3mi or 2nmi on the globe, 0.1rad or 5deg between rows as vectors,
    /// 0 to 2 of the metric cosine, else a number in the cloud's own unit; by bvh or kdtree, on the CPU
    #[arg(long, value_name = "DISTANCE", conflicts_with = "k", allow_negative_numbers = true, help_heading = "Search")]
    radius: Option<String>,
    #[command(flatten)]
    metric: MetricArgs,
    #[command(flatten)]
    own: ExcludeSelfArgs,
    #[command(flatten)]
    seed: SeedArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// Puts a query's own row first among the neighbours at an equal distance, as umap-learn expects it; where k equals were found without it, it
    /// takes the place of the last of them
    #[arg(long, conflicts_with_all = ["exclude_self", "graph"], help_heading = "Search")]
    self_first: bool,
    #[command(flatten)]
    pub threads: ThreadsArgs,
    /// Predicts how long each engine takes and says which would answer, without searching
    #[arg(long, conflicts_with_all = ["out", "graph", "radius"], help_heading = "Search")]
    dry_run: bool,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    graph: GraphArgs,
}

const COLUMNS: &str = "Columns to search, by name or 0-based number: lon,lat or 0-63";

const INFERRED: &str = "Without it they are inferred and printed: the coordinates that the file declares; every value of an array's row; a position, \
    vector or numbered components by their headings; or else all numeric columns except labels, ids, times, colours and mostly empty ones.";

const K: &str =
    "Neighbours per query; all of them may be more than memory holds, as --out writes them while they are found, but for --graph and inner products";

/// The flags that are worded otherwise than for a run, or take more.
fn worded(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "columns" => arg.help(COLUMNS).long_help(format!("{COLUMNS}\n\n{INFERRED}")),
        "k" => arg.short('k').help(K),
        "metric" => arg.value_parser(rankings()),
        "seed" => arg.help("Seeds queries that are drawn").help_heading("Search"),
        _ => arg,
    }
}

impl KnnArgs {
    fn request(&self) -> Request {
        Request {
            drop_nonfinite: self.cloud.drop_nonfinite,
            queries: Some(self.queries.clone()),
            ranking: self.metric.metric,
            // A graph has no edge from a row to itself.
            exclude_self: self.own.exclude_self || self.graph.file().is_some(),
            seed: self.seed.seed,
            engines: vec![self.engine.engine.clone()],
            device: self.engine.device.device,
            ..Request::new(self.cloud.file.source(&self.input), self.k.k)
        }
    }
}

/// # Errors
/// Whatever keeps it from being done, in one line.
pub fn run(args: &KnnArgs) -> anyhow::Result<()> {
    check(args, &args.request())?;
    let mut args = args.clone();
    let asked = if let QueryChoice::File(path) = &mut args.queries { Some(path) } else { None };
    let _kept = stdin::spool([&mut args.input].into_iter().chain(asked))?;
    let mut request = args.request();
    let declared = metric::declared(&request.source, request.ranking);
    if declared != std::mem::replace(&mut request.ranking, declared) {
        check(&args, &request)?;
    }
    let (args, job) = (&args, request.load()?);
    if job.ranking == Ranking::InnerProduct {
        return inner_product::run(args, &job);
    }
    let radius = args.radius.as_deref().map(|radius| radius::length(radius, job.spec.metric)).transpose()?;
    let columns = args.out.file_columns(&job)?;
    match radius {
        None if args.graph.file().is_some() => graph::write(args, &job, &columns),
        None => nearest(args, &job, &columns),
        Some(radius) => radius::all_within(args, &job, radius, &columns),
    }
}

/// Refuses what makes no sense and what could not be written, before anything is read.
fn check(args: &KnnArgs, request: &Request) -> anyhow::Result<()> {
    let of_products = request.ranking == Some(Ranking::InnerProduct);
    args.out.check(args.radius.is_some(), &args.queries)?;
    if let Some(out) = args.out.file() {
        let files = match args.radius {
            None if !of_products => NeighborFormat::of(out).map(|format| format.files(out)),
            _ => TableFormat::of(out).map(|_| vec![out.to_owned()]),
        };
        let of_tables = if of_products { "--metric inner-product: " } else { args.radius.as_ref().map_or("", |_| "--radius: ") };
        let files = files.map_err(|why| Usage(format!("{of_tables}{why}")))?;
        let asked = if let QueryChoice::File(path) = &args.queries { Some(path) } else { None };
        spare_files("a file that is read", [&args.input].into_iter().chain(asked), files.iter().cloned())?;
        for file in &files {
            export::check(file)?;
        }
    }
    graph::check(args)?;
    if let Some(radius) = args.radius.as_ref().filter(|_| !of_products) {
        radius::check(args, radius)?;
    }
    if args.self_first {
        request.check_own("--self-first")?;
    }
    if of_products { inner_product::check(args, request) } else { request.check() }
}

/// The k nearest. They are written as they are found: those of all queries may be more than any memory holds.
fn nearest(args: &KnnArgs, job: &Job, columns: &FileColumns) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut engines = Engines::default();
    let job = &placed(&mut engines, job);
    let Job { spec, cloud, query_cloud, .. } = job;
    let parts = Parts::new(&engines, spec, cloud, query_cloud.as_ref())?;
    let size = Size { q: parts.queries(), k: parts.k(), metric: spec.metric };
    if args.dry_run {
        let any = RunSpec { engine: EngineChoice::Auto, ..spec.clone() };
        let plan = engines.plan_answer(&any, cloud, query_cloud.as_ref(), &mut Bar::new("").stage())?.on(&spec.engine);
        return forecast::print(&plan, "setup and one search", args.out.json);
    }
    match args.out.file() {
        Some(out) => {
            room::of_file(out, size, cloud.len())?;
            queries::note_rows_left_out(&spec.queries, NeighborFormat::of(out)?, out);
        }
        None if let Some(format) = args.out.printed() => {
            room::of_stdout(format, size, cloud.len());
            if format == StreamFormat::Npy {
                queries::note_rows_left_out(&spec.queries, NeighborFormat::Npy, Path::new("stdout"));
            }
        }
        None => room::of_nothing(size, cloud.len()),
    }
    if let Some(note) = empty_ranks(spec, cloud.len() as u64) {
        output::note(&note);
    }
    let plan = plan(&mut engines, job)?;
    let planned = start.elapsed().as_secs_f64();
    let mut search = |take: &mut dyn FnMut(&RunRecord, usize) -> anyhow::Result<()>| {
        answer_in_parts(&mut engines, &parts, &plan, |record, number| {
            if args.self_first {
                record.neighbors.put_own_first(&record.query_rows);
            }
            take(record, number)
        })
    };
    if let Some(format) = args.out.printed() {
        // Numbers, names of ours, and what readers have made safe: nothing that could command a terminal.
        let mut rows = output::written(NeighborStream::new(format, size, columns, out::stdout()))?;
        search(&mut |record, number| output::written(rows.append(record, 0..record.neighbors.queries(), number)))?;
        return output::written(rows.finish());
    }
    let (mut found, mut index, mut last) = (0, false, None);
    let mut count = |record: &RunRecord| {
        found += record.neighbors.indices.iter().filter(|&&row| row != crate::knn::NONE).count() as u64;
        // Later parts find that of the first.
        index |= record.samples.iter().any(|sample| sample.phase == Phase::BuildIndex);
    };
    match args.out.file() {
        Some(out) => {
            export::neighbors_in_parts(out, size, columns, |writer| -> anyhow::Result<()> {
                last = Some(search(&mut |record, number| {
                    count(record);
                    Ok(writer.append(record, 0..record.neighbors.queries(), number)?)
                })?);
                Ok(())
            })?;
        }
        None => {
            last = Some(search(&mut |record, _| {
                count(record);
                Ok(())
            })?);
        }
    }
    let (mut record, seconds) = last.context("nothing was searched")?;
    let report = Report {
        k: Some(spec.k),
        neighbors: found,
        index,
        engine: record.engine.to_string(),
        device: record.device.name.clone(),
        ..Report::new(args, job, parts.queries(), planned + seconds)
    };
    let shown = args.out.shows(report.queries).then(|| {
        let neighbors = &mut record.neighbors;
        neighbors.k = neighbors.k.min(SHOWN);
        neighbors.indices.truncate(neighbors.k);
        neighbors.squared_distances.truncate(neighbors.k);
        tables::neighbors_of_query_with(&record, 0, columns).tsv()
    });
    report.print(args, job, shown)
}
