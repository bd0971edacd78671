//! `warpscope analyse`: analyses that use the neighbours of all rows.

mod report;
mod selection;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};

use super::answer::AnswerStats;
use super::bar::Bar;
use super::columns::{self, OpenedTiles};
use super::flags::{CloudArgs, EngineArgs, JsonArgs, KArgs, LimitArgs, MetricArgs};
use super::job::{Job, Request};
use super::lists;
use super::paths::{protect_files, table_path};
use super::queries::QueryChoice;
use super::usage::UsageError;
use super::{output, tiles};
use crate::cloud::formats::{self, ColumnData};
use crate::cloud::{self, ColumnChoice, PointCloud, Source};
use crate::export::{self, graph as files};
use crate::files::same;
use crate::knn::Neighbors;
use crate::run::graph::labels::{self, Labels};
use crate::run::graph::other_cloud::{self, LeakCandidates, OverlapError};
use crate::run::graph::{Analysis, KnnGraph, groups, scores};
use crate::run::{BatchAnswers, EnginePool, QuerySpec, RunSpec};
use report::{AnalysisResults, Report};
use selection::AnalysisSelection;

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

    fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.out.iter().chain(self.wanted.graph.file())
    }

    /// A flag that needs all points in memory.
    fn needs_all_rows(&self, request: &Request) -> Option<&'static str> {
        let flags =
            [("--labels", self.wanted.labels.is_some()), ("--drop-nonfinite", request.drops_zero_rows())];
        flags.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }
}

/// # Errors
/// One sentence saying why it failed.
pub fn run(args: &AnalyseArgs) -> anyhow::Result<()> {
    let request = args.request();
    check(args, &request)?;
    let needs_all = args.needs_all_rows(&request);
    let outputs: Vec<&Path> = args.outputs().map(PathBuf::as_path).collect();
    let (job, tiled) = &tiles::load(&request, needs_all, &outputs)?;
    let (wanted, cloud) = (&args.wanted, &job.cloud);
    wanted.graph.check_rows(cloud.len(), job.spec.k)?;
    let labels = wanted.labels.as_deref().map(|name| read_labels(args, cloud, name)).transpose()?;
    let mut engines = EnginePool::default();
    let searched = (job, tiled.as_ref());
    let leaks = wanted
        .leaks
        .as_deref()
        .zip(wanted.eps)
        .map(|(other, eps)| find_leaks(&mut engines, searched, other, eps))
        .transpose()?;
    let find =
        |engines: &mut EnginePool, searched| lists::find(engines, searched, wanted.result_bytes(), &outputs);
    let lists = wanted.needs_graph().then(|| find(&mut engines, searched)).transpose()?;
    let graph = lists
        .as_ref()
        .map(|(lists, _)| lists.graph())
        .transpose()
        .map_err(|why| anyhow!("{why}: {}", args.input.display()))?;
    let mut analysis = graph.as_ref().map(|graph| analyse(args, job, graph, labels)).transpose()?;
    if let (Some(path), Some(graph), Some(analysis)) = (&wanted.overlap, &graph, &mut analysis) {
        let choice = wanted.overlap_columns.clone().unwrap_or_default();
        let data = Source::File { path: path.clone(), columns: choice };
        let (metric, drop) = (job.spec.metric, job.spec.drop_nonfinite);
        let (other, tiled) = match columns::open_tiles(&data, drop, metric, needs_all, &outputs)? {
            Some((tiled, other)) => (other.cloud, Some(tiled)),
            None => (columns::read(&data, drop, None, None)?.cloud, None),
        };
        let refused = |why: OverlapError| anyhow!("--overlap: {why}: {}", path.display());
        other_cloud::check_same_rows(cloud, &other).map_err(refused)?;
        let there = Job { spec: RunSpec { data, ..job.spec.clone() }, cloud: other, ..job.clone() };
        let (theirs, _) = find(&mut engines, (&there, tiled.as_ref()))?;
        let theirs = theirs.graph().map_err(|why| anyhow!("{why}: {}", path.display()))?;
        let shares = other_cloud::overlap(graph, &theirs, &Bar::new("comparing")).map_err(refused)?;
        analysis.overlap = Some(shares);
    }
    let mut written = Vec::new();
    if let Some(out) = &args.out {
        match (&graph, &analysis, &leaks) {
            (Some(graph), Some(analysis), _) => {
                let record = |point| cloud.record(graph.row(point) as usize);
                files::analysis(graph.len(), record, analysis).write(out)?;
            }
            (.., Some(Leaks { found, other, rows, .. })) => {
                files::leaks(found, other, rows, cloud).write(out)?
            }
            _ => {}
        }
        written.push(out.clone());
    }
    if let Some(graph) = &graph {
        written.extend(wanted.graph.write(graph, cloud)?.map(Path::to_owned));
    }
    let answered =
        lists.as_ref().map(|(_, answered)| answered).or(leaks.as_ref().map(|leaks| &leaks.answered));
    let found = AnalysisResults {
        cloud,
        k: job.spec.k,
        metric: job.spec.metric,
        searched: job.searched.clone(),
        graph: graph.as_ref().zip(analysis.as_ref()),
        leaks: leaks.as_ref().map(|leaks| &leaks.found),
        answered: answered.context("no analysis was selected")?,
        written,
    };
    let report = Report::new(&found, wanted);
    if args.json.json { output::print_json(&report) } else { output::print(&report::table(&report, wanted)) }
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
    if args.out.as_ref().zip(wanted.graph.file()).is_some_and(|(out, graph)| same(out, graph)) {
        bail!(UsageError("--out and --graph name the same file; change one of them".to_owned()));
    }
    protect_files(
        "an input file",
        [&args.input].into_iter().chain(&wanted.overlap).chain(&wanted.leaks),
        args.outputs().cloned(),
    )?;
    for path in args.outputs() {
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

/// Rows of another cloud and the nearest rows of this one.
struct Leaks {
    found: LeakCandidates,
    other: Arc<PointCloud>,
    /// The rows of the other cloud.
    rows: Vec<u32>,
    answered: AnswerStats,
}

/// Searches the nearest row of this cloud for each row of another.
fn find_leaks(
    engines: &mut EnginePool,
    (job, tiled): (&Job, Option<&OpenedTiles>),
    other: &Path,
    eps: f64,
) -> anyhow::Result<Leaks> {
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
    let (mut rows, mut nearest) =
        (Vec::new(), Neighbors { k: 1, indices: vec![], squared_distances: vec![] });
    let answered = tiles::answer(engines, (&asked, tiled), &mut |batch| {
        if let (Some((_, queries)), BatchAnswers::Nearest { squared, .. }) = (batch.queries, batch.found) {
            rows.extend(queries);
            nearest.squared_distances.extend(squared);
            // The neighbours of a single query are rows of a cloud of their own; its records are all rows.
            let row = |at| if tiled.is_some() { batch.record(at) as u32 } else { batch.row(at) };
            nearest.indices.extend((0..batch.len()).map(row));
        }
        Ok(())
    })?;
    let found = LeakCandidates::new(&nearest, job.spec.metric, eps);
    Ok(Leaks { found, other: queries, rows, answered })
}

fn analyse(
    args: &AnalyseArgs,
    job: &Job,
    graph: &KnnGraph<'_>,
    column: Option<ColumnData>,
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
    Ok(all)
}
