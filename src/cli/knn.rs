//! `warpscope knn`: the answer, once.

mod goal;
mod out;
mod report;
mod sink;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{anyhow, bail};
use clap::Arg;

use self::out::OutArgs;
use self::sink::Sink;
use super::answer::{Answered, answer, in_batches, placed};
use super::bar::Bar;
use super::flags::{CloudArgs, DryRunArgs, EngineArgs, ExcludeSelfArgs, KArgs, MetricArgs, SeedArgs, ThreadsArgs};
use super::graph::GraphArgs;
use super::job::Request;
use super::metric::{self, rankings};
use super::queries::QueryChoice;
use super::record::spare_files;
use super::usage::Usage;
use super::{forecast, stdin};
use crate::export::{self, NeighborFormat};
use crate::files;
use crate::knn::Goal;
use crate::run::graph::KnnGraph;
use crate::run::{Batch, Batches, EngineChoice, Engines, RunSpec};

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
    #[command(flatten, next_help_heading = "Search")]
    dry: DryRunArgs,
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
        "dry_run" => arg.conflicts_with_all(["out", "graph", "radius"]),
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
    args.graph.check_rows(job.cloud.len(), job.spec.k)?;
    let goal = goal::of(args.radius.as_deref(), &job)?;
    let columns = args.out.file_columns(&job)?;
    let (since, mut engines) = (Instant::now(), Engines::default());
    let job = if goal == Goal::Nearest { placed(&mut engines, &job) } else { job };
    let batches = Batches::new(&engines, goal, &job.spec, &job.cloud, job.query_cloud.as_ref())?;
    if args.dry.dry_run {
        let any = RunSpec { engine: EngineChoice::Auto, ..job.spec.clone() };
        let plan = engines.plan_answer(&any, &job.cloud, job.query_cloud.as_ref(), &mut Bar::new("").stage())?.on(&job.spec.engine);
        return forecast::print(&plan, "setup and one search", args.out.json());
    }
    let sink = Sink::new((&job, goal), &batches, columns, &args.out, &args.graph);
    sink.announce()?;
    sink.fill(&args.input, |take| {
        if args.graph.file().is_none() {
            return in_batches(&mut engines, (&job, &batches), since, (args.out.is_at_once(), args.self_first), take);
        }
        // A graph is of all neighbours, which leave no room for a second copy of the queries.
        drop(batches);
        let record = answer(&mut engines, &job)?;
        let answered = Answered::of(&record, since.elapsed().as_secs_f64());
        let graph = KnnGraph::of_run(&record).map_err(|why| anyhow!("{why}: {}", args.input.display()))?;
        args.graph.write(&graph, &job.cloud)?;
        take(Batch::of_run(&record, 0..record.neighbors.queries(), 0))?;
        Ok(answered)
    })
}

/// Refuses what makes no sense and what could not be written, before anything is read.
fn check(args: &KnnArgs, request: &Request) -> anyhow::Result<()> {
    let goal = goal::asked(args.radius.as_deref(), request.ranking)?;
    args.out.check(goal, &args.queries)?;
    if let Some(out) = args.out.file() {
        let format = NeighborFormat::for_goal(goal, out).map_err(|why| Usage(format!("{}{why}", goal::flag(goal))))?;
        let asked = if let QueryChoice::File(path) = &args.queries { Some(path) } else { None };
        spare_files("a file that is read", [&args.input].into_iter().chain(asked), format.files(out))?;
        for file in &format.files(out) {
            export::check(file)?;
        }
    }
    check_graph(args)?;
    if args.self_first {
        request.check_own("--self-first")?;
    }
    if goal == Goal::LargestProduct {
        check_products(args)?;
    }
    goal::check(goal, request)
}

/// Refuses what is no graph, and what could not be written.
fn check_graph(args: &KnnArgs) -> anyhow::Result<()> {
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
    spare_files("a file that is read", [&args.input], [path.clone()])?;
    Ok(export::check(path)?)
}

/// Refuses flags that go with distances.
fn check_products(args: &KnnArgs) -> anyhow::Result<()> {
    if args.radius.is_some() {
        bail!(Usage("--radius: an inner product is no distance; leave --radius out, or take another --metric".to_owned()));
    }
    let columns = args.out.columns().map(|(flag, names)| (flag, !names.is_empty()));
    let flags = [("--dry-run", args.dry.dry_run), ("--graph", args.graph.file().is_some()), ("--self-first", args.self_first)];
    if let Some((flag, _)) = flags.into_iter().chain(columns).find(|&(_, given)| given) {
        bail!(Usage(format!("{flag}: it goes with distances, and not with --metric inner-product")));
    }
    if args.out.printed() == Some(NeighborFormat::Npy) {
        bail!(Usage("--format npy: row numbers alone are not what an inner product is asked for; take csv, arrow or parquet".to_owned()));
    }
    Ok(())
}
