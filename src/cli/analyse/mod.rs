//! `warpscope analyse`: what neighbours are good for.

mod report;
mod show;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail};

use super::answer::answer;
use super::bar::Bar;
use super::columns::Searched;
use super::graph::GraphArgs;
use super::input::{DeviceArgs, EngineParser, note_first_line};
use super::metric::{metric_of, metrics};
use super::recall::table_path;
use super::record::spare_files;
use super::skip::SkipArgs;
use super::threads::ThreadsArgs;
use super::usage::Usage;
use super::{columns, counts, output};
use crate::cloud::formats::{self, ColumnData, Guess};
use crate::cloud::{self, ColumnChoice, PointCloud, Source};
use crate::export::{self, graph as files};
use crate::files::same;
use crate::knn::{Metric, Setup};
use crate::run::graph::labels::{self, Classified, Labels};
use crate::run::graph::leaks::Leaks;
use crate::run::graph::overlap::OverlapError;
use crate::run::graph::{Analysis, KnnGraph, components, density, duplicates, hubness, lid, lof, overlap};
use crate::run::{EngineChoice, Engines, QuerySpec, RunRecord, RunSpec, usual};

#[derive(Clone, Debug, clap::Args)]
pub struct AnalyseArgs {
    /// The cloud
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Takes these columns as coordinates, by name or 0-based number: lon,lat or 0-63
    #[arg(long, value_name = "NAMES", help_heading = "Cloud", value_parser = columns::parse)]
    columns: Option<ColumnChoice>,
    #[command(flatten)]
    skip: SkipArgs,
    /// Leaves rows with NaN or infinite values out (and, with the metrics angular and cosine, zero rows) instead of refusing them
    #[arg(long, help_heading = "Cloud")]
    drop_nonfinite: bool,
    /// Neighbours of each row, without the row itself
    #[arg(short, long, value_name = "NUMBER", default_value_t = usual::K, allow_negative_numbers = true, value_parser = counts::whole::<usize>, help_heading = "Search")]
    k: usize,
    /// Distance metric [default: haversine for longitude and latitude, sky for positions in the sky, else l2]
    #[arg(long, value_parser = metrics(), help_heading = "Search")]
    metric: Option<Metric>,
    /// What answers, and how: an engine, or ENGINE:key=value,… with its parameters
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = EngineParser, help_heading = "Search")]
    engine: EngineChoice,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    pub threads: ThreadsArgs,
    #[command(flatten)]
    wanted: Wanted,
    /// Writes a row for each row of the cloud, or with --leaks for each of OTHER: .csv, .tsv, .parquet, .arrow or .npz
    #[arg(long, value_name = "FILE", value_parser = table_path, help_heading = "Results")]
    out: Option<PathBuf>,
    /// Prints JSON
    #[arg(long, help_heading = "Results")]
    json: bool,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Analyses")]
struct Wanted {
    /// Distance to the k-th neighbour
    #[arg(long)]
    density: bool,
    /// Local outlier factor, as scikit-learn's LocalOutlierFactor(n_neighbors=k)
    #[arg(long)]
    lof: bool,
    /// How often a row is among the neighbours of others, and the skewness of that
    #[arg(long)]
    hubness: bool,
    /// Local intrinsic dimension, by maximum likelihood (Levina and Bickel 2004)
    #[arg(long)]
    lid: bool,
    /// Share of neighbours with the same value in a column, and leave-one-out classification by their majority
    #[arg(long, value_name = "COLUMN")]
    labels: Option<String>,
    /// Groups of rows within a distance of one another, in the metric's unit (km with haversine, radians with angular, 1 − cos with cosine); 0 for rows at distance 0
    #[arg(long, value_name = "EPS", value_parser = distance, allow_negative_numbers = true)]
    duplicates: Option<f64>,
    /// Share of neighbours in common with another cloud of the same rows
    #[arg(long, value_name = "OTHER")]
    overlap: Option<PathBuf>,
    /// Columns of that cloud that are coordinates
    #[arg(long, value_name = "NAMES", requires = "overlap", value_parser = columns::parse)]
    overlap_columns: Option<ColumnChoice>,
    /// Connected components of the mutual graph: rows are joined where each is among the other's neighbours
    #[arg(long)]
    components: bool,
    /// Rows of OTHER within --eps of a row of IN
    #[arg(long, value_name = "OTHER", requires = "eps")]
    leaks: Option<PathBuf>,
    /// For --leaks: the distance, in the metric's unit; 0 for rows at distance 0
    #[arg(long, value_name = "EPS", value_parser = distance, allow_negative_numbers = true, requires = "leaks")]
    eps: Option<f64>,
    #[command(flatten)]
    graph: GraphArgs,
}

fn distance(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|eps: &f64| *eps >= 0.0).ok_or_else(|| format!("`{text}` is no distance, 0 or more"))
}

impl AnalyseArgs {
    fn metric(&self) -> Metric {
        self.metric.unwrap_or_default()
    }
}

impl Wanted {
    /// Whether the neighbours of every row are needed.
    fn needs_graph(&self) -> bool {
        let named = self.labels.is_some() || self.overlap.is_some() || self.duplicates.is_some() || self.graph.file().is_some();
        named || self.density || self.lof || self.hubness || self.lid || self.components
    }
}

/// # Errors
/// Whatever keeps it from being done, in one line.
pub fn run(args: &AnalyseArgs) -> anyhow::Result<()> {
    check(args)?;
    let (cloud, columns, searched) = load(&args.skip.of(&args.input), args.columns.clone(), args.wanted.labels.as_deref(), args)?;
    let metric = metric_of(args.metric, &cloud)?;
    let args = &AnalyseArgs { columns, metric: Some(metric), ..args.clone() };
    let wanted = &args.wanted;
    wanted.graph.check_rows(cloud.len(), args.k)?;
    let labels = wanted.labels.as_deref().map(|name| read_labels(args, &cloud, name)).transpose()?;
    let mut engines = Engines::default();
    let mut found = report::Found { cloud: &cloud, k: args.k, metric, searched, graph: None, leaks: None, written: Vec::new() };
    let leaks = wanted.leaks.as_deref().zip(wanted.eps).map(|(other, eps)| find_leaks(args, &cloud, &mut engines, other, eps)).transpose()?;
    let record = wanted.needs_graph().then(|| neighbours(args, &args.skip.of(&args.input), &cloud, &mut engines)).transpose()?;
    let graph = record.as_ref().map(KnnGraph::of_run).transpose().map_err(|why| anyhow!("{why}: {}", args.input.display()))?;
    let analysis = graph.as_ref().map(|graph| analyse(args, &cloud, graph, labels, &mut engines)).transpose()?;
    if let (Some(out), Some(graph), Some(analysis)) = (&args.out, &graph, &analysis) {
        files::analysis(graph.rows(), &cloud, analysis).write(out)?;
        found.written.push(out.clone());
    }
    if let (Some(out), Some((leaks, record, other))) = (args.out.as_ref().filter(|_| graph.is_none()), &leaks) {
        files::leaks(leaks, other, &record.query_rows, &cloud).write(out)?;
        found.written.push(out.clone());
    }
    if let Some(graph) = &graph {
        found.written.extend(wanted.graph.write(graph, &cloud)?.map(Path::to_owned));
    }
    if let (Some(record), Some(graph), Some(analysis)) = (&record, &graph, &analysis) {
        found.graph = Some((record, graph, analysis));
    }
    found.leaks = leaks.as_ref().map(|(leaks, record, other)| (leaks, record, other.as_ref()));
    let report = report::Report::of(&found, wanted);
    if args.json { output::print_json(&report) } else { output::print(&show::text(&report, args)) }
}

/// Refuses what makes no sense and what could not be written, before anything is read.
fn check(args: &AnalyseArgs) -> anyhow::Result<()> {
    let wanted = &args.wanted;
    let graph = wanted.needs_graph();
    if !graph && wanted.leaks.is_none() {
        let all = "--density, --lof, --hubness, --lid, --labels, --duplicates, --overlap, --components, --leaks or --graph";
        bail!(Usage(format!("nothing is asked for: give one or more of {all}")));
    }
    if graph && wanted.leaks.is_some() && args.out.is_some() {
        bail!(Usage("--out has a row for each row of IN, and for --leaks one for each of OTHER: ask for leaks in a call of its own".to_owned()));
    }
    wanted.graph.check()?;
    let outputs = || args.out.iter().chain(wanted.graph.file());
    if args.out.as_ref().zip(wanted.graph.file()).is_some_and(|(out, graph)| same(out, graph)) {
        bail!(Usage("--out and --graph are the same file; choose another name for one of them".to_owned()));
    }
    spare_files("a file that is read", [&args.input].into_iter().chain(&wanted.overlap).chain(&wanted.leaks), outputs().cloned())?;
    for path in outputs() {
        export::check(path)?;
    }
    args.device.check(std::slice::from_ref(&args.engine))?;
    let setup = Setup::from(&spec(args, &args.skip.of(&args.input)));
    Ok(setup.check_within(args.engine.k_limit())?)
}

/// All rows' neighbours, without themselves.
fn spec(args: &AnalyseArgs, path: &Path) -> RunSpec {
    let data = Source::File { path: path.to_owned(), columns: args.columns.clone().unwrap_or_default() };
    let (engine, device, drop_nonfinite) = (args.engine.clone(), args.device.device, args.drop_nonfinite);
    RunSpec { metric: args.metric(), exclude_self: true, engine, device, drop_nonfinite, ..RunSpec::new(data, QuerySpec::All, args.k) }
}

/// A cloud, and its columns as they are chosen: where nobody chose, without that of the labels.
fn load(
    path: &Path,
    mut columns: Option<ColumnChoice>,
    labels: Option<&str>,
    args: &AnalyseArgs,
) -> anyhow::Result<(Arc<PointCloud>, Option<ColumnChoice>, Searched)> {
    columns::check_once(&Source::File { path: path.to_owned(), columns: columns.clone().unwrap_or_default() })?;
    let read = |columns: &Option<ColumnChoice>| {
        let source = Source::File { path: path.to_owned(), columns: columns.clone().unwrap_or_default() };
        columns::load(&source, args.drop_nonfinite)
    };
    let (mut cloud, guess) = read(&columns)?;
    note_first_line(cloud.source());
    if let Some(guess) = &guess {
        match labels.and_then(|label| without_label(guess, label)) {
            Some(others) => {
                cloud = read(&Some(others.clone()))?.0;
                columns = Some(others);
            }
            None => columns::note_taken(guess),
        }
    }
    let searched = Searched::of(&cloud, guess.as_ref());
    Ok((Arc::new(cloud), columns, searched))
}

/// The columns that are taken where nobody chose, but that of the labels, which would decide who is near; `None` where it is not among them.
fn without_label(guess: &Guess, label: &str) -> Option<ColumnChoice> {
    let is_label = |at: usize| guess.columns[at].name.eq_ignore_ascii_case(label) || label.parse() == Ok(at);
    let others: Vec<String> = guess.taken.iter().filter(|&&at| !is_label(at)).map(usize::to_string).collect();
    if others.is_empty() || others.len() == guess.taken.len() {
        return None;
    }
    output::note(&format!("column `{label}` holds the labels, and is no coordinate unless --columns names it"));
    Some(ColumnChoice::Named(others))
}

fn neighbours(args: &AnalyseArgs, path: &Path, cloud: &Arc<PointCloud>, engines: &mut Engines) -> anyhow::Result<RunRecord> {
    answer(engines, &spec(args, path), cloud, None)
}

/// The column of labels, and a word where it is searched too.
fn read_labels(args: &AnalyseArgs, cloud: &PointCloud, name: &str) -> anyhow::Result<ColumnData> {
    let column = cloud.check_file(formats::column(&args.skip.of(&args.input), name, &Bar::new("reading the labels")))?;
    if let ColumnData::Numbers(numbers) = &column {
        let is_axis = |axis: usize| (0..cloud.len()).all(|row| numbers.get(cloud.record(row) as usize) == Some(&cloud.coordinate(row, axis)));
        if (0..cloud.dims()).any(is_axis) {
            output::note(&format!("column `{name}` is a coordinate, too, and decides who is near: leave it out with --columns"));
        }
    }
    Ok(column)
}

/// The rows of another cloud with their nearest here, as a run found them.
fn find_leaks(
    args: &AnalyseArgs,
    cloud: &Arc<PointCloud>,
    engines: &mut Engines,
    other: &Path,
    eps: f64,
) -> anyhow::Result<(Leaks, RunRecord, Arc<PointCloud>)> {
    // Numbers are good for both files; names are taken from the cloud's axes.
    let by_number = |names: &[String]| names.iter().all(|name| name.parse::<usize>().is_ok());
    let columns = args.columns.clone().filter(|choice| matches!(choice, ColumnChoice::Named(names) if by_number(names))).unwrap_or_default();
    let source = Source::File { path: other.to_owned(), columns: columns.clone() };
    let queries = Arc::new(cloud::load_queries(&source, cloud, args.drop_nonfinite, &Bar::new("reading the other cloud"))?);
    let asked = QuerySpec::File { path: other.to_owned(), columns };
    let spec = RunSpec { queries: asked, k: 1, exclude_self: false, ..spec(args, &args.skip.of(&args.input)) };
    let record = answer(engines, &spec, cloud, Some(&queries))?;
    Ok((Leaks::of(&record.neighbors, args.metric(), eps), record, queries))
}

fn analyse(
    args: &AnalyseArgs,
    cloud: &Arc<PointCloud>,
    graph: &KnnGraph<'_>,
    column: Option<ColumnData>,
    engines: &mut Engines,
) -> anyhow::Result<Analysis> {
    let (wanted, bar) = (&args.wanted, Bar::new("working it out"));
    let mut all = Analysis::default();
    if wanted.density {
        all.density = Some(density::k_distances(graph, &bar)?);
    }
    if wanted.lof {
        all.lof = Some(lof::factors(graph, &bar)?);
    }
    if wanted.hubness {
        all.occurrences = Some(hubness::occurrences(graph, &bar)?);
    }
    if wanted.lid {
        all.lid = Some(lid::dimensions(graph, &bar)?);
    }
    if let (Some(column), Some(name)) = (column, &wanted.labels) {
        let labels = Labels::of_column(&column, cloud, graph).map_err(|why| anyhow!("column `{name}`: {why}: {}", args.input.display()))?;
        let votes = labels::votes(graph, &labels, &bar)?;
        all.labels = Some((labels, votes));
    }
    if let Some(eps) = wanted.duplicates {
        all.duplicates = Some(duplicates::groups(graph, eps, &bar)?);
    }
    if wanted.components {
        all.components = Some(components::components(graph, &bar)?);
    }
    drop(bar);
    if let Some(path) = &wanted.overlap {
        let refused = |why: OverlapError| anyhow!("--overlap: {why}: {}", path.display());
        let other = load(path, wanted.overlap_columns.clone(), None, args)?.0;
        overlap::same_rows(cloud, &other).map_err(refused)?;
        let record = neighbours(args, path, &other, engines)?;
        let theirs = KnnGraph::of_run(&record).map_err(|why| anyhow!("{why}: {}", path.display()))?;
        all.overlap = Some(overlap::shares(graph, &theirs, &Bar::new("comparing")).map_err(refused)?);
    }
    Ok(all)
}
