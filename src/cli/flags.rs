//! Flags that several commands take, each declared once; a command that words some otherwise says so with
//! `mut_args`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};

use super::bar::Bar;
use super::job::Request;
use super::queries::QueryChoice;
use super::usage::Usage;
use super::values::{self, metrics};
use super::{columns, output, paths};
use crate::cloud::{ColumnChoice, Order, PointCloud, Source, formats};
use crate::export::graph::{GraphForm, linked};
use crate::export::table::TableFormat;
use crate::export::{self, text};
use crate::knn::{DeviceId, Ranking};
use crate::run::graph::KnnGraph;
use crate::run::graph::links::Links;
use crate::run::recording::{self, Recorded};
use crate::run::{EngineChoice, RunRecord, RunSpec, SomeRun, usual};

/// How a file is read as a table of coordinates.
#[derive(Clone, Debug, Args)]
pub struct FileArgs {
    /// Takes these columns as coordinates, by name or 0-based number: lon,lat or 0-63
    #[arg(long, value_name = "NAMES", help_heading = "Cloud", value_parser = columns::parse)]
    pub columns: Option<ColumnChoice>,
    /// Passes over the first lines of a text, which are none of its table; written FILE:skip-lines=NUMBER for
    /// other files
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
    /// The path by which a file is read without the lines that are skipped.
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
    /// Leaves rows with NaN or infinite values out (and, with the metrics angular and cosine, zero rows)
    /// instead of refusing them
    #[arg(long, help_heading = "Cloud")]
    pub drop_nonfinite: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct SeedArgs {
    /// Seeds generated clouds, drawn queries and shuffled order
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = usual::SEED,
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
    /// Reads the cloud from a file
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Generates the cloud: name:key=value,… such as uniform:n=100000,d=2
    #[arg(long, value_name = "SPEC")]
    generate: Option<String>,
    #[command(flatten)]
    pub cloud: CloudArgs,
    #[command(flatten)]
    pub seed: SeedArgs,
}

impl SourceArgs {
    /// Where the cloud comes from; `None` where neither is given, which only `sweep` and `recall` accept.
    pub fn source(&self) -> Option<Source> {
        match (&self.input, &self.generate) {
            (Some(path), _) => Some(self.cloud.file.source(path)),
            (None, spec) => spec.clone().map(|spec| Source::Generate { spec, seed: self.seed.seed }),
        }
    }
}

#[derive(Clone, Debug, Args)]
pub struct QueriesArgs {
    /// Whose neighbours are asked for [default: 1000, or all where there are fewer]
    ///
    /// The rows of a FILE; COUNT rows of the cloud, drawn with the seed; all of its rows; or those of a list:
    /// rows:0,5,10-20 (ends included) or rows:@FILE (one number a line); or one place in the cloud's own
    /// units that need not be a row: at:-0.1275,51.507. A file named like a number is ./1000; the queries of
    /// a benchmark in HDF5 are FILE.hdf5:test.
    #[arg(long, value_name = "FILE|COUNT|all|rows:LIST|at:X,Y,…", help_heading = "Search")]
    pub queries: Option<QueryChoice>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct KArgs {
    /// Neighbours per query
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = usual::K,
        allow_negative_numbers = true,
        value_parser = values::whole::<usize>,
        help_heading = "Search"
    )]
    pub k: usize,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct MetricArgs {
    /// Distance metric [default: haversine for longitude and latitude, sky for positions in the sky, else l2]
    #[arg(long, value_parser = metrics(), help_heading = "Search")]
    pub metric: Option<Ranking>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct ExcludeSelfArgs {
    /// Leaves a query's own row out of its neighbours
    #[arg(long, help_heading = "Search")]
    pub exclude_self: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct OrderArgs {
    /// In what order points are met; shuffled is what the theory of merges assumes
    #[arg(
        long,
        default_value = "file",
        value_parser = PossibleValuesParser::new(["file", "shuffled"]).map(|name| order(&name)),
        help_heading = "Search"
    )]
    pub order: Order,
}

/// The order of a name that clap has checked.
fn order(name: &str) -> Order {
    if name == Order::Shuffled.name() { Order::Shuffled } else { Order::File }
}

/// How a cloud is searched.
#[derive(Clone, Copy, Debug, Args)]
pub struct MethodArgs {
    #[command(flatten)]
    pub metric: MetricArgs,
    #[command(flatten)]
    pub order: OrderArgs,
    #[command(flatten)]
    pub own: ExcludeSelfArgs,
}

/// What answers, and where.
#[derive(Clone, Debug, Args)]
pub struct EngineArgs {
    /// What answers, and how: an engine, or ENGINE:key=value,… with its parameters
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

/// What answers, of several engines, and where.
#[derive(Clone, Debug, Args)]
pub struct EngineListArgs {
    /// Which engines, such as cuda,lockstep; auto, the default, is all that can run
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

#[derive(Clone, Copy, Debug, Args)]
pub struct DeviceArgs {
    /// Where the engine runs: cpu, or a GPU by its number, 0, 1, … [default: the first that the engine runs
    /// on]
    #[arg(long, value_name = "DEVICE", help_heading = "Search")]
    pub device: Option<DeviceId>,
}

/// A search of which everything but the engine is asked for in the same way.
#[derive(Clone, Debug, Args)]
pub struct ProblemArgs {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    queries: QueriesArgs,
    #[command(flatten)]
    k: KArgs,
    #[command(flatten)]
    method: MethodArgs,
}

impl ProblemArgs {
    pub fn request(&self, engines: Vec<EngineChoice>, device: DeviceArgs) -> Request {
        // clap has asked for a cloud.
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

impl MethodArgs {
    /// What is searched by this method, from a source with its flags.
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
    /// Predicts how long each engine takes and says which would answer, without searching
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct JsonArgs {
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

/// How many threads the processor's work is shared among.
#[derive(Clone, Copy, Debug, Args)]
pub struct ThreadsArgs {
    /// Threads of the processor that take part [default: as many as it has]
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = threads,
        allow_negative_numbers = true,
        help_heading = "Search"
    )]
    pub threads: Option<usize>,
}

/// More than any processor has is a slip.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_THREADS).contains(number));
    number.ok_or_else(|| format!("`{text}` is no number of threads, from 1 to {MOST_THREADS}"))
}

/// `--record`: what was run as a file that opens elsewhere, for `run` and `sweep`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct RecordArgs {
    /// Writes everything into a recording, which `warpscope FILE` opens on any machine: FILE.warpscope
    #[arg(long, value_name = "FILE", value_parser = recording_path)]
    record: Option<PathBuf>,
    /// Leaves the points out of the recording; opened, they are read again from where they came from
    #[arg(long, requires = "record")]
    no_points: bool,
}

/// Knows before the search, not after it, that nobody could open the file by its name.
fn recording_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if recording::is_recording(&path) {
        Ok(path)
    } else {
        Err(format!("a recording's name ends in .{}", recording::EXTENSION))
    }
}

impl RecordArgs {
    /// Whether there is anything to write.
    pub fn is_asked(&self) -> bool {
        self.record.is_some()
    }

    /// Tries whether it could be written.
    ///
    /// # Errors
    /// One sentence saying why it cannot be written.
    pub fn check(&self) -> anyhow::Result<()> {
        Ok(self.record.as_deref().map_or(Ok(()), export::check)?)
    }

    /// Refuses to write over what is searched.
    ///
    /// # Errors
    /// When the recording has the name of an input.
    pub fn spare(&self, spec: &RunSpec) -> anyhow::Result<()> {
        paths::spare(spec, self.record.clone())
    }

    /// Writes what was run, if that was asked, and gives the file.
    ///
    /// # Errors
    /// Why it was not written.
    pub fn write(&self, records: Vec<Arc<RunRecord>>) -> anyhow::Result<Option<PathBuf>> {
        let Some(path) = &self.record else { return Ok(None) };
        if records.is_empty() {
            output::note(&format!("nothing was run, so nothing is recorded: {}", path.display()));
            return Ok(None);
        }
        let runs: Vec<Recorded> = records
            .into_iter()
            .map(|record| Recorded { name: record.title(), pinned: false, run: SomeRun::Whole(record) })
            .collect();
        let missing = export::recording(&runs, !self.no_points, path, &Bar::new("writing the recording"))?;
        missing.iter().for_each(|missing| output::note(missing));
        Ok(Some(path.clone()))
    }
}

/// `--graph`: the graph of neighbours as a file, for `analyse` and `knn`.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Graph")]
pub struct GraphArgs {
    /// Writes the graph of neighbours to a file: an edge from every row to each of its neighbours, without
    /// the row itself
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// As what: umap (.npz of indices and distances, own row first, as precomputed_knn takes them), csr (.npz
    /// as SciPy's load_npz reads it) or edges (.csv, .tsv, .parquet, .arrow) [default: edges]
    #[arg(long, value_name = "KIND", requires = "graph", hide_possible_values = true)]
    graph_as: Option<GraphKind>,
    /// Joins two rows, both ways, where either is among the other's neighbours
    #[arg(long, requires = "graph", conflicts_with = "mutual")]
    symmetrise: bool,
    /// Joins two rows only where each is among the other's neighbours
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

    fn links(&self) -> Links {
        match (self.symmetrise, self.mutual) {
            (true, _) => Links::Either,
            (_, true) => Links::Both,
            _ => Links::Directed,
        }
    }

    /// Refuses a name that does not end as what is written, and what is no graph of its kind.
    ///
    /// # Errors
    /// [`Usage`], or that the ending is unknown.
    pub fn check(&self) -> anyhow::Result<()> {
        let Some(path) = &self.graph else { return Ok(()) };
        match self.graph_as {
            Some(GraphKind::Umap) if self.links() != Links::Directed => {
                let flag = if self.mutual { "--mutual" } else { "--symmetrise" };
                bail!(Usage(format!(
                    "{flag}: umap needs as many neighbours of each row; take --graph-as csr, or leave \
                     {flag} out"
                )));
            }
            Some(GraphKind::Umap | GraphKind::Csr) => {
                let refused = |why| Usage(format!("--graph: {why}: {}", path.display()));
                paths::ending_in("npz")(&path.to_string_lossy()).map(|_| ()).map_err(refused)?;
            }
            Some(GraphKind::Edges) => TableFormat::of(path).map(|_| ())?,
            None if TableFormat::of(path)? == TableFormat::Npz => {
                bail!(Usage(format!(
                    "--graph: an .npz holds several kinds: give --graph-as umap or csr: {}",
                    path.display()
                )))
            }
            None => {}
        }
        Ok(())
    }

    /// Refuses more neighbours than there are other rows, where empty ranks have no meaning.
    ///
    /// # Errors
    /// That there are more.
    pub fn check_rows(&self, rows: usize, k: usize) -> anyhow::Result<()> {
        match &self.graph {
            Some(path) if self.graph_as == Some(GraphKind::Umap) && k >= rows => {
                bail!(
                    "--graph-as umap: k = {k} is more than the {}: {}",
                    text::count(rows as u64 - 1, "other row", "other rows"),
                    path.display()
                )
            }
            _ => Ok(()),
        }
    }

    /// Writes it, and gives the file.
    ///
    /// # Errors
    /// Why it was not written.
    pub fn write(&self, graph: &KnnGraph<'_>, cloud: &PointCloud) -> anyhow::Result<Option<&Path>> {
        let Some(path) = &self.graph else { return Ok(None) };
        let form = match self.graph_as.unwrap_or(GraphKind::Edges) {
            GraphKind::Umap => GraphForm::Umap,
            GraphKind::Csr => GraphForm::Csr,
            GraphKind::Edges => GraphForm::Edges,
        };
        linked(form, (graph, self.links()), cloud, path, &Bar::new("writing the graph"))?;
        Ok(Some(path))
    }
}
