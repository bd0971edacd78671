//! `warpscope analyse`: what neighbours are good for.

mod report;
mod show;
mod wanted;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail};

use self::wanted::Wanted;
use super::answer::answer;
use super::bar::Bar;
use super::flags::{CloudArgs, EngineArgs, JsonArgs, KArgs, MetricArgs, ThreadsArgs};
use super::job::{Job, Request};
use super::paths::table_path;
use super::queries::QueryChoice;
use super::record::spare_files;
use super::usage::Usage;
use super::{columns, output};
use crate::cloud::formats::{self, ColumnData};
use crate::cloud::{self, ColumnChoice, PointCloud, Source};
use crate::export::{self, graph as files};
use crate::files::same;
use crate::run::graph::labels::{self, Labels};
use crate::run::graph::leaks::Leaks;
use crate::run::graph::overlap::OverlapError;
use crate::run::graph::{Analysis, KnnGraph, components, density, duplicates, hubness, lid, lof, overlap};
use crate::run::{Engines, QuerySpec, RunRecord, RunSpec};

#[derive(Clone, Debug, clap::Args)]
#[command(mut_args(|arg| if arg.get_id() == "k" { arg.short('k').help("Neighbours of each row, without the row itself") } else { arg }))]
pub struct AnalyseArgs {
    /// The cloud
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
    pub threads: ThreadsArgs,
    #[command(flatten)]
    wanted: Wanted,
    /// Writes a row for each row of the cloud, or with --leaks for each of OTHER: .csv, .tsv, .parquet, .arrow or .npz
    #[arg(long, value_name = "FILE", value_parser = table_path, help_heading = "Results")]
    out: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Results")]
    json: JsonArgs,
}

impl AnalyseArgs {
    /// All rows' neighbours, without themselves.
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
/// Whatever keeps it from being done, in one line.
pub fn run(args: &AnalyseArgs) -> anyhow::Result<()> {
    let request = args.request();
    check(args, &request)?;
    let job = request.load()?;
    let (wanted, cloud) = (&args.wanted, &job.cloud);
    wanted.graph.check_rows(cloud.len(), job.spec.k)?;
    let labels = wanted.labels.as_deref().map(|name| read_labels(args, cloud, name)).transpose()?;
    let mut engines = Engines::default();
    let (k, metric, searched) = (job.spec.k, job.spec.metric, job.searched.clone());
    let mut found = report::Found { cloud, k, metric, searched, graph: None, leaks: None, written: Vec::new() };
    let leaks = wanted.leaks.as_deref().zip(wanted.eps).map(|(other, eps)| find_leaks(&job, &mut engines, other, eps)).transpose()?;
    let record = wanted.needs_graph().then(|| answer(&mut engines, &job)).transpose()?;
    let graph = record.as_ref().map(KnnGraph::of_run).transpose().map_err(|why| anyhow!("{why}: {}", args.input.display()))?;
    let analysis = graph.as_ref().map(|graph| analyse(args, &job, graph, labels, &mut engines)).transpose()?;
    if let (Some(out), Some(graph), Some(analysis)) = (&args.out, &graph, &analysis) {
        files::analysis(graph.rows(), cloud, analysis).write(out)?;
        found.written.push(out.clone());
    }
    if let (Some(out), Some((leaks, record, other))) = (args.out.as_ref().filter(|_| graph.is_none()), &leaks) {
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
    let report = report::Report::of(&found, wanted);
    if args.json.json { output::print_json(&report) } else { output::print(&show::text(&report, wanted)) }
}

/// Refuses what makes no sense and what could not be written, before anything is read.
fn check(args: &AnalyseArgs, request: &Request) -> anyhow::Result<()> {
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
    request.check()
}

/// The column of labels, and a word where it is searched too.
fn read_labels(args: &AnalyseArgs, cloud: &PointCloud, name: &str) -> anyhow::Result<ColumnData> {
    let column = cloud.check_file(formats::column(&args.cloud.file.path(&args.input), name, &Bar::new("reading the labels")))?;
    if let ColumnData::Numbers(numbers) = &column {
        let is_axis = |axis: usize| (0..cloud.len()).all(|row| numbers.get(cloud.record(row) as usize) == Some(&cloud.coordinate(row, axis)));
        if (0..cloud.dims()).any(is_axis) {
            output::note(&format!("column `{name}` is a coordinate, too, and decides who is near: leave it out with --columns"));
        }
    }
    Ok(column)
}

/// The rows of another cloud with their nearest here, as a run found them.
fn find_leaks(job: &Job, engines: &mut Engines, other: &Path, eps: f64) -> anyhow::Result<(Leaks, RunRecord, Arc<PointCloud>)> {
    // Numbers are good for both files; names are taken from the cloud's axes.
    let by_number = |names: &[String]| names.iter().all(|name| name.parse::<usize>().is_ok());
    let by_number = matches!(&job.columns, ColumnChoice::Named(names) if by_number(names));
    let columns = if by_number { job.columns.clone() } else { ColumnChoice::Default };
    let source = Source::File { path: other.to_owned(), columns: columns.clone() };
    let queries = Arc::new(cloud::load_queries(&source, &job.cloud, job.spec.drop_nonfinite, &Bar::new("reading the other cloud"))?);
    let asked = QuerySpec::File { path: other.to_owned(), columns };
    let spec = RunSpec { queries: asked, k: 1, exclude_self: false, ..job.spec.clone() };
    let record = answer(engines, &Job { spec, query_cloud: Some(Arc::clone(&queries)), ..job.clone() })?;
    Ok((Leaks::of(&record.neighbors, job.spec.metric, eps), record, queries))
}

fn analyse(args: &AnalyseArgs, job: &Job, graph: &KnnGraph<'_>, column: Option<ColumnData>, engines: &mut Engines) -> anyhow::Result<Analysis> {
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
        let labels = Labels::of_column(&column, &job.cloud, graph).map_err(|why| anyhow!("column `{name}`: {why}: {}", args.input.display()))?;
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
        let data = Source::File { path: path.clone(), columns: wanted.overlap_columns.clone().unwrap_or_default() };
        let other = columns::read(&data, job.spec.drop_nonfinite, None, None)?.cloud;
        overlap::same_rows(&job.cloud, &other).map_err(refused)?;
        let record = answer(engines, &Job { spec: RunSpec { data, ..job.spec.clone() }, cloud: other, ..job.clone() })?;
        let theirs = KnnGraph::of_run(&record).map_err(|why| anyhow!("{why}: {}", path.display()))?;
        all.overlap = Some(overlap::shares(graph, &theirs, &Bar::new("comparing")).map_err(refused)?);
    }
    Ok(all)
}
