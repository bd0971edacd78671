//! Flags shared by several commands, each declared once. A command rewords one with `mut_args`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};

use super::bar::Bar;
use super::job::Request;
use super::queries::QueryChoice;
use super::usage::UsageError;
use super::values::{self, metrics};
use super::{columns, output, paths};
use crate::cloud::{ColumnChoice, Order, PointCloud, Source, formats};
use crate::engines::registry;
use crate::export;
use crate::export::graph::{GraphFormat, linked};
use crate::export::table::TableFormat;
use crate::knn::{DeviceId, Ranking};
use crate::run::graph::KnnGraph;
use crate::run::graph::links::LinkMode;
use crate::run::recording::{self, RecordedRun};
use crate::run::{EngineChoice, LoadedRun, RunRecord, RunSpec, SchemaVersion, defaults};

/// How a file is read as a table of coordinates.
#[derive(Clone, Debug, Args)]
pub struct FileArgs {
    /// Coordinate columns, by name or number: lon,lat or 0-63
    ///
    /// Numbers start at 0.
    #[arg(long, value_name = "NAMES", help_heading = "Cloud", value_parser = columns::parse)]
    pub columns: Option<ColumnChoice>,
    /// Lines to skip at the start of a text file
    ///
    /// For other files, such as queries, write FILE:skip-lines=NUMBER.
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        hide_default_value = true,
        allow_negative_numbers = true,
        help_heading = "Cloud"
    )]
    skip_lines: u64,
}

impl FileArgs {
    /// The path, with the lines to skip written into it.
    pub fn path(&self, path: &Path) -> PathBuf {
        if self.skip_lines == 0 {
            path.to_owned()
        } else {
            formats::path_without_lines(path, self.skip_lines)
        }
    }

    pub fn source(&self, path: &Path) -> Source {
        Source::File { path: self.path(path), columns: self.columns.clone().unwrap_or_default() }
    }
}

/// How a file is read as points.
#[derive(Clone, Debug, Args)]
pub struct CloudArgs {
    #[command(flatten)]
    pub file: FileArgs,
    /// Drop rows with NaN or infinite values
    ///
    /// Without it, such data are refused. With the metrics angular and cosine, zero rows are dropped as well.
    #[arg(long, help_heading = "Cloud")]
    pub drop_nonfinite: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct SeedArgs {
    /// Seed for generation, query sampling and shuffling
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = defaults::SEED,
        value_parser = values::whole::<u64>,
        help_heading = "Cloud"
    )]
    pub seed: u64,
}

/// Where the cloud comes from: a file or a generator, exactly one of them.
#[derive(Clone, Debug, Args)]
#[command(
    next_help_heading = "Cloud",
    group = ArgGroup::new("cloud").required(true).args(["input", "generate"]),
    mut_args(|arg| if arg.get_id() == "columns" { arg.conflicts_with("generate") } else { arg })
)]
pub struct SourceArgs {
    /// File to read the cloud from
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Generated cloud, such as uniform:n=100000,d=2
    #[arg(long, value_name = "SPEC")]
    generate: Option<String>,
    #[command(flatten)]
    pub cloud: CloudArgs,
    #[command(flatten)]
    pub seed: SeedArgs,
}

impl SourceArgs {
    /// Where the cloud comes from; `None` if neither flag is given, which only `sweep` and `recall` accept.
    pub fn source(&self) -> Option<Source> {
        match (&self.input, &self.generate) {
            (Some(path), _) => Some(self.cloud.file.source(path)),
            (None, spec) => spec.clone().map(|spec| Source::Generate { spec, seed: self.seed.seed }),
        }
    }
}

#[derive(Clone, Debug, Args)]
pub struct QueriesArgs {
    /// Queries [default: 1000 rows, or all if there are fewer]
    ///
    /// FILE: the rows of a file. COUNT: that many rows of the cloud, sampled with the seed. all: every row.
    /// rows:0,5,10-20 (ends included) or rows:@FILE (one number per line): listed rows.
    /// at:lat=51.5,lon=-0.13: one point in the cloud's own units, by column names or, as at:51.5,-0.13, in
    /// the order of the file's columns; it need not be a row. Write ./1000 for a file named like a number,
    /// and FILE.hdf5:test for the queries of an HDF5 benchmark.
    #[arg(long, value_name = "FILE|COUNT|all|rows:LIST|at:X,Y,…", help_heading = "Search")]
    pub queries: Option<QueryChoice>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct KArgs {
    /// Neighbours per query
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = defaults::K,
        allow_negative_numbers = true,
        value_parser = values::whole::<usize>,
        help_heading = "Search"
    )]
    pub k: usize,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct MetricArgs {
    /// Distance metric [default: haversine, sky or l2 by columns]
    ///
    /// The default is haversine for longitude and latitude, sky for positions in the sky, else l2.
    #[arg(long, value_parser = metrics(), help_heading = "Search")]
    pub metric: Option<Ranking>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct ExcludeSelfArgs {
    /// Exclude each query's own row from its neighbours
    #[arg(long, help_heading = "Search")]
    pub exclude_self: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct OrderArgs {
    /// Processing order of the points
    ///
    /// The expected number of merges assumes shuffled order.
    #[arg(
        long,
        default_value = "file",
        value_parser = PossibleValuesParser::new(["file", "shuffled"]).map(|name| order(&name)),
        help_heading = "Search"
    )]
    pub order: Order,
}

/// clap has already checked the name.
fn order(name: &str) -> Order {
    if name == Order::Shuffled.name() { Order::Shuffled } else { Order::File }
}

/// How a cloud is searched.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchArgs {
    #[command(flatten)]
    pub metric: MetricArgs,
    #[command(flatten)]
    pub order: OrderArgs,
    #[command(flatten)]
    pub own: ExcludeSelfArgs,
}

/// Which engine answers, on which device.
#[derive(Clone, Debug, Args)]
pub struct EngineArgs {
    /// Engine, optionally with parameters: ENGINE:key=value,…
    #[arg(
        long,
        value_name = "ENGINE",
        default_value = "auto",
        value_parser = values::engine(),
        help_heading = "Search"
    )]
    pub engine: EngineChoice,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Which engines answer, on which device.
#[derive(Clone, Debug, Args)]
pub struct EngineListArgs {
    /// Engines, such as cuda,lockstep [default: auto]
    ///
    /// In `verify`, `auto` runs every engine that supports the problem. In `sweep`, the planner picks one per
    /// run.
    #[arg(long, value_name = "LIST", value_parser = values::engines(), help_heading = "Search")]
    engine: Vec<Vec<EngineChoice>>,
    #[command(flatten)]
    pub device: DeviceArgs,
}

impl EngineListArgs {
    pub fn engines(&self) -> Vec<EngineChoice> {
        self.engine.concat()
    }
}

/// Reads a device; `all` becomes the GPUs of this machine.
fn device(text: &str) -> Result<DeviceId, String> {
    text.parse().map(registry::resolved)
}

#[derive(Clone, Copy, Debug, Args)]
pub struct DeviceArgs {
    /// Device: cpu, a GPU number, several (0,1), or all GPUs [default: the engine's first]
    #[arg(long, value_name = "DEVICE", help_heading = "Search", value_parser = device)]
    pub device: Option<DeviceId>,
}

/// A search problem, without engine and device.
#[derive(Clone, Debug, Args)]
pub struct ProblemArgs {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    queries: QueriesArgs,
    #[command(flatten)]
    k: KArgs,
    #[command(flatten)]
    method: SearchArgs,
}

impl ProblemArgs {
    pub fn request(&self, engines: Vec<EngineChoice>, device: DeviceArgs) -> Request {
        // clap requires one of the two, so the fallback is never used.
        let source =
            self.source.source().unwrap_or_else(|| Source::Generate { spec: String::new(), seed: 0 });
        Request {
            queries: self.queries.queries.clone(),
            engines,
            device: device.device,
            ..self.method.request(&self.source, source, self.k.k)
        }
    }
}

impl SearchArgs {
    /// The request for a source, with the flags of the cloud and this method.
    pub fn request(&self, flags: &SourceArgs, source: Source, k: usize) -> Request {
        Request {
            drop_nonfinite: flags.cloud.drop_nonfinite,
            seed: flags.seed.seed,
            ranking: self.metric.metric,
            order: self.order.order,
            exclude_self: self.own.exclude_self,
            ..Request::new(source, k)
        }
    }
}

#[derive(Clone, Copy, Debug, Args)]
pub struct DryRunArgs {
    /// Predict times and choose an engine, without searching
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct JsonArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct SchemaArgs {
    /// Schema of written files and printed JSON
    ///
    /// 1 has the names of earlier versions, such as accessed and left_out instead of distance_evals and
    /// pruned. All are read.
    #[arg(
        long,
        value_name = "NUMBER",
        default_value = "2",
        value_parser = PossibleValuesParser::new(["1", "2"]).map(|number| {
            number.parse().ok().and_then(SchemaVersion::numbered).unwrap_or_default()
        })
    )]
    pub schema: SchemaVersion,
}

/// Limits on what the program may use.
#[derive(Clone, Copy, Debug, Args)]
pub struct LimitArgs {
    /// Number of CPU threads [default: all]
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = threads,
        allow_negative_numbers = true,
        help_heading = "Search"
    )]
    pub threads: Option<usize>,
    /// Memory to use at most: 4G, 512M [default: what is free]
    ///
    /// What needs more is refused before it starts, except `knn` and `analyse`, which search some files in
    /// tiles, and store neighbours in a scratch file.
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, help_heading = "Search")]
    pub memory: Option<u64>,
    /// Memory of each GPU to use at most: 8G, 512M [default: what is free]
    ///
    /// As if the GPU had only this much. Its driver and other programs use a part. Points that do not fit are
    /// copied to the GPU in tiles.
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, help_heading = "Search")]
    pub device_memory: Option<u64>,
}

/// A larger number is taken for a typing error.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX_THREADS).contains(number));
    number.ok_or_else(|| format!("invalid number of threads `{text}`: must be between 1 and {MAX_THREADS}"))
}

/// `--record` of `run` and `sweep`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct RecordArgs {
    /// Recording to write, FILE.warpscope
    ///
    /// `warpscope FILE` opens it on any machine.
    #[arg(long, value_name = "FILE", value_parser = recording_path)]
    record: Option<PathBuf>,
    /// Leave the points out of the recording
    ///
    /// When it is opened, they are read again from their source.
    #[arg(long, requires = "record")]
    no_points: bool,
}

/// Checks the extension before the search: a recording with another one could not be opened.
fn recording_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if recording::is_recording(&path) {
        Ok(path)
    } else {
        Err(format!("the name of a recording must end in .{}", recording::EXTENSION))
    }
}

impl RecordArgs {
    /// Whether a recording was requested.
    pub fn is_requested(&self) -> bool {
        self.record.is_some()
    }

    /// Checks that the file could be written.
    ///
    /// # Errors
    /// One sentence saying why it cannot be written.
    pub fn check(&self) -> anyhow::Result<()> {
        Ok(self.record.as_deref().map_or(Ok(()), export::check)?)
    }

    /// Refuses to overwrite an input.
    ///
    /// # Errors
    /// When the recording has the path of an input.
    pub fn protect_inputs(&self, spec: &RunSpec) -> anyhow::Result<()> {
        paths::protect_inputs(spec, self.record.clone())
    }

    /// Writes the recording, if requested, and returns its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, records: Vec<Arc<RunRecord>>) -> anyhow::Result<Option<PathBuf>> {
        let Some(path) = &self.record else { return Ok(None) };
        if records.is_empty() {
            output::note(&format!("no run finished; recording not written: {}", path.display()));
            return Ok(None);
        }
        let runs: Vec<RecordedRun> = records
            .into_iter()
            .map(|record| RecordedRun { name: record.title(), pinned: false, run: LoadedRun::Whole(record) })
            .collect();
        let missing = export::recording(&runs, !self.no_points, path, &Bar::new("writing the recording"))?;
        missing.iter().for_each(|missing| output::note(missing));
        Ok(Some(path.clone()))
    }
}

/// `--graph` of `analyse` and `knn`.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Graph")]
pub struct GraphArgs {
    /// File to write the neighbour graph to
    ///
    /// Each row has an edge to each of its neighbours; the row itself is excluded.
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// Graph format: umap, csr or edges [default: edges]
    ///
    /// umap: .npz of indices and distances, own row first, as precomputed_knn expects. csr: .npz for SciPy's
    /// load_npz. edges: .csv, .tsv, .parquet or .arrow.
    #[arg(long, value_name = "KIND", requires = "graph", hide_possible_values = true)]
    graph_as: Option<GraphKind>,
    /// Join two rows if either is a neighbour of the other
    #[arg(long, requires = "graph", conflicts_with = "mutual")]
    symmetrise: bool,
    /// Join two rows only if each is a neighbour of the other
    #[arg(long, requires = "graph")]
    mutual: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum GraphKind {
    Umap,
    Csr,
    Edges,
}

impl GraphArgs {
    /// The file to write.
    pub fn file(&self) -> Option<&PathBuf> {
        self.graph.as_ref()
    }

    fn links(&self) -> LinkMode {
        match (self.symmetrise, self.mutual) {
            (true, _) => LinkMode::Either,
            (_, true) => LinkMode::Both,
            _ => LinkMode::Directed,
        }
    }

    /// Refuses file extensions that do not match the format, and link options that the format cannot store.
    ///
    /// # Errors
    /// [`UsageError`], or an unknown extension.
    pub fn check(&self) -> anyhow::Result<()> {
        let Some(path) = &self.graph else { return Ok(()) };
        match self.graph_as {
            Some(GraphKind::Umap) if self.links() != LinkMode::Directed => {
                let flag = if self.mutual { "--mutual" } else { "--symmetrise" };
                bail!(UsageError(format!(
                    "{flag}: --graph-as umap needs the same number of neighbours for each row; use \
                     --graph-as csr or drop {flag}"
                )));
            }
            Some(GraphKind::Umap | GraphKind::Csr) => {
                let refused = |why| UsageError(format!("--graph: {why}: {}", path.display()));
                paths::ending_in("npz")(&path.to_string_lossy()).map(|_| ()).map_err(refused)?;
            }
            Some(GraphKind::Edges) => TableFormat::from_path(path).map(|_| ())?,
            None if TableFormat::from_path(path)? == TableFormat::Npz => {
                bail!(UsageError(format!(
                    "--graph: the format of an .npz is ambiguous; add --graph-as umap or --graph-as csr: {}",
                    path.display()
                )))
            }
            None => {}
        }
        Ok(())
    }

    /// umap has no value for an empty rank, so k must not exceed the number of other rows.
    ///
    /// # Errors
    /// When k is too large.
    pub fn check_rows(&self, rows: usize, k: usize) -> anyhow::Result<()> {
        match &self.graph {
            Some(path) if self.graph_as == Some(GraphKind::Umap) && k >= rows => {
                bail!(
                    "--graph-as umap: k = {k}: must be between 1 and {}, the number of other rows: {}",
                    rows - 1,
                    path.display()
                )
            }
            _ => Ok(()),
        }
    }

    /// Writes the graph, if requested, and returns its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, graph: &KnnGraph<'_>, cloud: &PointCloud) -> anyhow::Result<Option<&Path>> {
        let Some(path) = &self.graph else { return Ok(None) };
        let form = match self.graph_as.unwrap_or(GraphKind::Edges) {
            GraphKind::Umap => GraphFormat::Umap,
            GraphKind::Csr => GraphFormat::Csr,
            GraphKind::Edges => GraphFormat::Edges,
        };
        linked(form, (graph, self.links()), cloud, path, &Bar::new("writing the graph"))?;
        Ok(Some(path))
    }
}
