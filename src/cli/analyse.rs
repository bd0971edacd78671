//! `warpscope analyse`: analyses that use the neighbours of all rows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail};
use serde::Serialize;

use super::answer::answer;
use super::bar::Bar;
use super::columns::{self, SearchedColumns};
use super::flags::{CloudArgs, EngineArgs, GraphArgs, JsonArgs, KArgs, LimitArgs, MetricArgs};
use super::job::{Job, Request};
use super::output;
use super::paths::{protect_files, table_path};
use super::queries::QueryChoice;
use super::usage::UsageError;
use crate::cloud::formats::{self, ColumnData};
use crate::cloud::{self, ColumnChoice, PointCloud, Source};
use crate::export::{self, graph as files, text};
use crate::files::same;
use crate::knn::Metric;
use crate::run::graph::labels::{self, Classification, Labels};
use crate::run::graph::other_cloud::{self, LeakCandidates, LeakCounts, OverlapError};
use crate::run::graph::summary::{self, Components, Duplicates, Hubs, LocalDimensions, ScoreSummary};
use crate::run::graph::{Analysis, KnnGraph, groups, scores};
use crate::run::stats::SummaryStats;
use crate::run::{Arithmetic, EnginePool, QuerySpec, RunRecord, RunSpec};

#[derive(Clone, Debug, clap::Args)]
#[command(mut_args(|arg| {
    if arg.get_id() == "k" {
        arg.short('k').help("Neighbours of each row, excluding the row itself")
    } else {
        arg
    }
}))]
pub struct AnalyseArgs {
    /// Point cloud to analyse
    #[arg(value_name = "IN")]
    input: PathBuf,
    #[command(flatten)]
    cloud: CloudArgs,
    #[command(flatten)]
    k: KArgs,
    #[command(flatten)]
    metric: MetricArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    wanted: AnalysisSelection,
    /// Table to write: one row per row of the cloud
    ///
    /// With --leaks, one row per row of OTHER. .csv, .tsv, .parquet, .arrow or .npz.
    #[arg(long, value_name = "FILE", value_parser = table_path, help_heading = "Results")]
    out: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Results")]
    json: JsonArgs,
}

impl AnalyseArgs {
    /// Searches the neighbours of all rows, excluding the rows themselves.
    fn request(&self) -> Request {
        Request {
            drop_nonfinite: self.cloud.drop_nonfinite,
            queries: Some(QueryChoice::All),
            ranking: self.metric.metric,
            exclude_self: true,
            engines: vec![self.engine.engine.clone()],
            device: self.engine.device.device,
            labels: self.wanted.labels.clone(),
            ..Request::new(self.cloud.file.source(&self.input), self.k.k)
        }
    }
}

/// # Errors
/// One sentence saying why it failed.
pub fn run(args: &AnalyseArgs) -> anyhow::Result<()> {
    let request = args.request();
    check(args, &request)?;
    let job = request.load()?;
    let (wanted, cloud) = (&args.wanted, &job.cloud);
    wanted.graph.check_rows(cloud.len(), job.spec.k)?;
    let labels = wanted.labels.as_deref().map(|name| read_labels(args, cloud, name)).transpose()?;
    let mut engines = EnginePool::default();
    let (k, metric, searched) = (job.spec.k, job.spec.metric, job.searched.clone());
    let mut found =
        AnalysisResults { cloud, k, metric, searched, graph: None, leaks: None, written: Vec::new() };
    let leaks = wanted
        .leaks
        .as_deref()
        .zip(wanted.eps)
        .map(|(other, eps)| find_leaks(&job, &mut engines, other, eps))
        .transpose()?;
    let record = wanted
        .needs_graph()
        .then(|| answer(&mut engines, &job, Arithmetic::File))
        .transpose()?
        .map(|answered| answered.record);
    let graph = record
        .as_ref()
        .map(KnnGraph::of_run)
        .transpose()
        .map_err(|why| anyhow!("{why}: {}", args.input.display()))?;
    let analysis =
        graph.as_ref().map(|graph| analyse(args, &job, graph, labels, &mut engines)).transpose()?;
    if let (Some(out), Some(graph), Some(analysis)) = (&args.out, &graph, &analysis) {
        files::analysis(graph.rows(), cloud, analysis).write(out)?;
        found.written.push(out.clone());
    }
    if let (Some(out), Some((leaks, record, other))) = (args.out.as_ref().filter(|_| graph.is_none()), &leaks)
    {
        files::leaks(leaks, other, &record.query_rows, cloud).write(out)?;
        found.written.push(out.clone());
    }
    if let Some(graph) = &graph {
        found.written.extend(wanted.graph.write(graph, cloud)?.map(Path::to_owned));
    }
    if let (Some(record), Some(graph), Some(analysis)) = (&record, &graph, &analysis) {
        found.graph = Some((record, graph, analysis));
    }
    found.leaks = leaks.as_ref().map(|(leaks, record, other)| (leaks, record, other.as_ref()));
    let report = Report::new(&found, wanted);
    if args.json.json { output::print_json(&report) } else { output::print(&table(&report, wanted)) }
}

/// Refuses flags that make no sense and unwritable outputs before anything is read.
fn check(args: &AnalyseArgs, request: &Request) -> anyhow::Result<()> {
    let wanted = &args.wanted;
    let graph = wanted.needs_graph();
    if !graph && wanted.leaks.is_none() {
        let all = "--density, --lof, --hubness, --lid, --labels, --duplicates, --overlap, --components, \
                   --leaks or --graph";
        bail!(UsageError(format!("no analysis selected; give one or more of {all}")));
    }
    if graph && wanted.leaks.is_some() && args.out.is_some() {
        bail!(UsageError(
            "--out: --leaks cannot be combined with other analyses, because its table has the rows of OTHER \
             instead of IN; run --leaks separately"
                .to_owned()
        ));
    }
    wanted.graph.check()?;
    let outputs = || args.out.iter().chain(wanted.graph.file());
    if args.out.as_ref().zip(wanted.graph.file()).is_some_and(|(out, graph)| same(out, graph)) {
        bail!(UsageError("--out and --graph name the same file; change one of them".to_owned()));
    }
    protect_files(
        "an input file",
        [&args.input].into_iter().chain(&wanted.overlap).chain(&wanted.leaks),
        outputs().cloned(),
    )?;
    for path in outputs() {
        export::check(path)?;
    }
    request.check()
}

/// Reads the column of labels, and notes if it is searched too.
fn read_labels(args: &AnalyseArgs, cloud: &PointCloud, name: &str) -> anyhow::Result<ColumnData> {
    let column = cloud.check_file(formats::column(
        &args.cloud.file.path(&args.input),
        name,
        &Bar::new("reading the labels"),
    ))?;
    if let ColumnData::Numbers(numbers) = &column {
        let is_axis = |axis: usize| {
            (0..cloud.len())
                .all(|row| numbers.get(cloud.record(row) as usize) == Some(&cloud.coordinate(row, axis)))
        };
        if (0..cloud.dims()).any(is_axis) {
            output::note(&format!(
                "column `{name}` is also a coordinate and affects the distances; exclude it with --columns"
            ));
        }
    }
    Ok(column)
}

/// Searches the nearest row of this cloud for each row of another.
fn find_leaks(
    job: &Job,
    engines: &mut EnginePool,
    other: &Path,
    eps: f64,
) -> anyhow::Result<(LeakCandidates, RunRecord, Arc<PointCloud>)> {
    // Column numbers apply to both files; names are matched with the cloud's axes instead.
    let by_number = |names: &[String]| names.iter().all(|name| name.parse::<usize>().is_ok());
    let by_number = matches!(&job.columns, ColumnChoice::Named(names) if by_number(names));
    let columns = if by_number { job.columns.clone() } else { ColumnChoice::Default };
    let source = Source::File { path: other.to_owned(), columns: columns.clone() };
    let queries = Arc::new(cloud::load_queries(
        &source,
        &job.cloud,
        job.spec.drop_nonfinite,
        &Bar::new("reading the other cloud"),
    )?);
    let asked = QuerySpec::File { path: other.to_owned(), columns };
    let spec = RunSpec { queries: asked, k: 1, exclude_self: false, ..job.spec.clone() };
    let asked = Job { spec, query_cloud: Some(Arc::clone(&queries)), ..job.clone() };
    let record = answer(engines, &asked, Arithmetic::File)?.record;
    Ok((LeakCandidates::new(&record.neighbors, job.spec.metric, eps), record, queries))
}

fn analyse(
    args: &AnalyseArgs,
    job: &Job,
    graph: &KnnGraph<'_>,
    column: Option<ColumnData>,
    engines: &mut EnginePool,
) -> anyhow::Result<Analysis> {
    let (wanted, bar) = (&args.wanted, Bar::new("analysing"));
    let mut all = Analysis::default();
    if wanted.density {
        all.density = Some(scores::k_distances(graph, &bar)?);
    }
    if wanted.lof {
        all.lof = Some(scores::outlier_factors(graph, &bar)?);
    }
    if wanted.hubness {
        all.occurrences = Some(scores::occurrences(graph, &bar)?);
    }
    if wanted.lid {
        all.lid = Some(scores::dimensions(graph, &bar)?);
    }
    if let (Some(column), Some(name)) = (column, &wanted.labels) {
        let labels = Labels::of_column(&column, &job.cloud, graph)
            .map_err(|why| anyhow!("column `{name}`: {why}: {}", args.input.display()))?;
        let votes = labels::votes(graph, &labels, &bar)?;
        all.labels = Some((labels, votes));
    }
    if let Some(eps) = wanted.duplicates {
        all.duplicates = Some(groups::duplicates(graph, eps, &bar)?);
    }
    if wanted.components {
        all.components = Some(groups::components(graph, &bar)?);
    }
    drop(bar);
    if let Some(path) = &wanted.overlap {
        let refused = |why: OverlapError| anyhow!("--overlap: {why}: {}", path.display());
        let data =
            Source::File { path: path.clone(), columns: wanted.overlap_columns.clone().unwrap_or_default() };
        let other = columns::read(&data, job.spec.drop_nonfinite, None, None)?.cloud;
        other_cloud::check_same_rows(&job.cloud, &other).map_err(refused)?;
        let record = answer(
            engines,
            &Job { spec: RunSpec { data, ..job.spec.clone() }, cloud: other, ..job.clone() },
            Arithmetic::File,
        )?
        .record;
        let theirs = KnnGraph::of_run(&record).map_err(|why| anyhow!("{why}: {}", path.display()))?;
        all.overlap = Some(other_cloud::overlap(graph, &theirs, &Bar::new("comparing")).map_err(refused)?);
    }
    Ok(all)
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Analyses")]
pub struct AnalysisSelection {
    /// Distance to the k-th neighbour
    #[arg(long)]
    pub density: bool,
    /// Local outlier factor (LOF)
    ///
    /// As scikit-learn's LocalOutlierFactor(n_neighbors=k).
    #[arg(long)]
    pub lof: bool,
    /// Neighbour counts (in-degree) of rows, and their skewness
    ///
    /// How often each row is among the neighbours of others.
    #[arg(long)]
    pub hubness: bool,
    /// Local intrinsic dimension
    ///
    /// By maximum likelihood (Levina and Bickel 2004).
    #[arg(long)]
    pub lid: bool,
    /// Compare a column's values with those of the neighbours
    ///
    /// Share of neighbours with the same value, and leave-one-out classification by their majority.
    #[arg(long, value_name = "COLUMN")]
    pub labels: Option<String>,
    /// Group rows within this distance of each other
    ///
    /// In the metric's unit (km with haversine, radians with angular, 1 − cos with cosine). 0 groups rows at
    /// distance 0.
    #[arg(long, value_name = "EPS", value_parser = distance, allow_negative_numbers = true)]
    pub duplicates: Option<f64>,
    /// Compare neighbours with those in a cloud of the same rows
    ///
    /// Reports the share of neighbours in common.
    #[arg(long, value_name = "OTHER")]
    pub overlap: Option<PathBuf>,
    /// Coordinate columns of OTHER
    #[arg(long, value_name = "NAMES", requires = "overlap", value_parser = columns::parse)]
    pub overlap_columns: Option<ColumnChoice>,
    /// Connected components of the mutual graph
    ///
    /// Rows are joined if each is among the other's neighbours.
    #[arg(long)]
    pub components: bool,
    /// Find rows of OTHER within --eps of a row of IN
    #[arg(long, value_name = "OTHER", requires = "eps")]
    pub leaks: Option<PathBuf>,
    /// Distance for --leaks, in the metric's unit
    ///
    /// 0 finds rows at distance 0.
    #[arg(
        long,
        value_name = "EPS",
        value_parser = distance,
        allow_negative_numbers = true,
        requires = "leaks"
    )]
    pub eps: Option<f64>,
    #[command(flatten)]
    pub graph: GraphArgs,
}

fn distance(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|eps: &f64| *eps >= 0.0)
        .ok_or_else(|| format!("invalid distance `{text}`: must be 0 or more"))
}

impl AnalysisSelection {
    /// Whether the neighbours of every row are needed.
    pub fn needs_graph(&self) -> bool {
        let named = self.labels.is_some()
            || self.overlap.is_some()
            || self.duplicates.is_some()
            || self.graph.file().is_some();
        named || self.density || self.lof || self.hubness || self.lid || self.components
    }
}

/// The version of the layout of `--json`.
const SCHEMA_VERSION: u32 = 1;

/// All results, before they are summarised.
pub struct AnalysisResults<'a> {
    pub cloud: &'a PointCloud,
    pub k: usize,
    pub metric: Metric,
    pub searched: SearchedColumns,
    pub graph: Option<(&'a RunRecord, &'a KnnGraph<'a>, &'a Analysis)>,
    pub leaks: Option<(&'a LeakCandidates, &'a RunRecord, &'a PointCloud)>,
    pub written: Vec<PathBuf>,
}

#[derive(Serialize)]
pub struct Report {
    schema_version: u32,
    pub cloud: String,
    /// Points that were searched.
    pub points: u64,
    pub dimensions: usize,
    #[serde(flatten)]
    pub searched: SearchedColumns,
    pub k: usize,
    pub metric: Metric,
    pub engine: String,
    pub device: String,
    /// Rows dropped because they have non-finite values or no direction.
    pub dropped: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<ScoreSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lof: Option<ScoreSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hubness: Option<Hubs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lid: Option<LocalDimensions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<NamedResult<Classification>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<Duplicates>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<NamedResult<SummaryStats>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Components>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaks: Option<NamedResult<LeakCounts>>,
    /// Files that were written.
    pub wrote: Vec<String>,
}

/// A result with the file or column it belongs to.
#[derive(Serialize)]
pub struct NamedResult<T> {
    pub of: String,
    #[serde(flatten)]
    pub result: T,
}

impl Report {
    pub fn new(found: &AnalysisResults<'_>, wanted: &AnalysisSelection) -> Self {
        let none = Analysis::default();
        let (graph, analysis) =
            found.graph.map_or((None, &none), |(_, graph, analysis)| (Some(graph), analysis));
        let scores = |values: &Vec<f64>| graph.map(|graph| ScoreSummary::new(graph, found.cloud, values));
        let path = |path: &Option<PathBuf>| {
            path.as_ref().map_or_else(String::new, |path| path.display().to_string())
        };
        let run = found.graph.map(|(record, ..)| record).or(found.leaks.map(|(_, record, _)| record));
        Self {
            schema_version: SCHEMA_VERSION,
            cloud: found.cloud.source().to_string(),
            points: run.map_or(0, |record| record.summary.n),
            dimensions: found.cloud.dims(),
            searched: found.searched.clone(),
            k: found.k,
            metric: found.metric,
            engine: run.map_or_else(String::new, |record| record.engine.to_string()),
            device: run.map_or_else(String::new, |record| record.device.name.clone()),
            dropped: run.map_or(0, |record| record.dropped_rows),
            density: analysis.density.as_ref().and_then(scores),
            lof: analysis.lof.as_ref().and_then(scores),
            hubness: analysis
                .occurrences
                .as_ref()
                .and_then(|occurrences| Hubs::new(graph?, found.cloud, occurrences)),
            lid: analysis.lid.as_ref().map(|dimensions| LocalDimensions::new(dimensions)),
            labels: analysis.labels.as_ref().map(|(labels, votes)| NamedResult {
                of: wanted.labels.clone().unwrap_or_default(),
                result: Classification::new(labels, votes),
            }),
            duplicates: analysis
                .duplicates
                .as_ref()
                .zip(wanted.duplicates)
                .map(|(groups, eps)| Duplicates::new(groups, eps)),
            overlap: analysis.overlap.as_ref().and_then(|shares| {
                Some(NamedResult {
                    of: path(&wanted.overlap),
                    result: SummaryStats::new(shares.iter().copied())?,
                })
            }),
            components: analysis.components.as_ref().map(Components::new),
            leaks: found
                .leaks
                .map(|(leaks, ..)| NamedResult { of: path(&wanted.leaks), result: leaks.counts() }),
            wrote: found.written.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}

/// Up to this number of labels the confusion matrix is shown; beyond it, the most frequent confusions.
const MAX_LABELS: usize = 16;
/// Number of confusions to list.
const MAX_CONFUSIONS: usize = 10;

/// A report as a few aligned lines.
fn table(report: &Report, wanted: &AnalysisSelection) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |what: &str, value: String| rows.push(vec![what.to_owned(), value]);
    let points = text::count(report.points, "point", "points");
    row(
        "cloud",
        format!(
            "{}, {points} in {}",
            report.cloud,
            text::count(report.dimensions as u64, "dimension", "dimensions")
        ),
    );
    if report.dropped > 0 {
        row("dropped", text::count(report.dropped, "row", "rows"));
    }
    if wanted.needs_graph() {
        let k = text::thousands(report.k as u64);
        row(
            "neighbours",
            format!(
                "k = {k}, {}, excluding the row itself, by {} on {}",
                report.metric, report.engine, report.device
            ),
        );
        if report.k as u64 >= report.points {
            row(
                "note",
                format!("each row has only {}", text::count(report.points - 1, "neighbour", "neighbours")),
            );
        }
    }
    let heading = report.metric.heading();
    let unit = report.metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
    if let Some(scores) = &report.density {
        row(
            "density",
            format!("{heading} to the {} neighbour: {}", text::ordinal(report.k as u64), scores.sentence()),
        );
    }
    if let Some(scores) = &report.lof {
        row("lof", scores.sentence());
    }
    if let Some(hubs) = &report.hubness {
        row("hubness", hubs.sentence());
    }
    if let Some(found) = &report.lid {
        row("lid", found.sentence());
    }
    if let Some(NamedResult { of, result }) = &report.labels {
        row("labels", summary::labels(of, result));
    }
    if let Some(found) = &report.duplicates {
        row("duplicates", found.sentence(&unit));
    }
    if let Some(NamedResult { of, result }) = &report.overlap {
        row("overlap", summary::overlap(of, result));
    }
    if let Some(found) = &report.components {
        row("components", found.sentence());
    }
    if let Some(NamedResult { of, result }) = &report.leaks {
        row("leaks", summary::leaks(of, result, &unit));
    }
    for path in &report.wrote {
        row("wrote", path.clone());
    }
    let all = text::table(&rows, &[]);
    match &report.labels {
        Some(NamedResult { result, .. }) => format!("{all}{}", confusion(result)),
        None => all,
    }
}

/// The confusion matrix, labels down and predictions across, or the most frequent confusions.
fn confusion(result: &Classification) -> String {
    if result.labels.len() <= MAX_LABELS {
        let count = result.labels.len();
        let mut cells = vec![vec![0; count]; count];
        result
            .confusion
            .iter()
            .for_each(|cell| cells[cell.label as usize][cell.predicted as usize] = cell.points);
        let mut rows = vec![
            std::iter::once("label ↓ predicted →".to_owned())
                .chain(result.labels.iter().cloned())
                .collect::<Vec<String>>(),
        ];
        for (label, cells) in result.labels.iter().zip(cells) {
            rows.push(std::iter::once(label.clone()).chain(cells.into_iter().map(text::thousands)).collect());
        }
        let right: Vec<usize> = (1..=count).collect();
        return format!("\n{}", text::table(&rows, &right));
    }
    let mut wrong: Vec<_> = result.confusion.iter().filter(|cell| cell.label != cell.predicted).collect();
    if wrong.is_empty() {
        return String::new();
    }
    wrong.sort_by_key(|cell| std::cmp::Reverse(cell.points));
    let mut rows = vec![["most confused", "taken for", "rows"].map(str::to_owned).to_vec()];
    let name = |place: u32| result.labels[place as usize].clone();
    rows.extend(
        wrong
            .iter()
            .take(MAX_CONFUSIONS)
            .map(|cell| vec![name(cell.label), name(cell.predicted), text::thousands(cell.points)]),
    );
    format!("\n{}", text::table(&rows, &[2]))
}
