//! `warpscope knn`: the answer, once.

mod graph;
mod inner_product;
mod out;
mod radius;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};

use self::out::OutArgs;
use self::report::{Report, SHOWN};
use super::answer::{answer_in_parts, empty_ranks, placed, plan};
use super::bar::Bar;
use super::columns::Searched;
use super::graph::GraphArgs;
use super::input::{DeviceArgs, EngineParser, note_first_line};
use super::metric::{self, metric_of, rankings};
use super::queries::{self, QueryChoice};
use super::record::spare_files;
use super::room;
use super::skip::SkipArgs;
use super::stdin;
use super::threads::ThreadsArgs;
use super::usage::Usage;
use super::{columns, counts, forecast, output};
use crate::cloud::{ColumnChoice, PointCloud, Source};
use crate::export::provenance::Provenance;
use crate::export::table::TableFormat;
use crate::export::{self, FileColumns, NeighborFormat, NeighborStream, Size, StreamFormat, tables};
use crate::knn::{Metric, Ranking, Setup};
use crate::run::{EngineChoice, Engines, Parts, Phase, QuerySpec, RunRecord, RunSpec, usual};

#[derive(Clone, Debug, clap::Args)]
pub struct KnnArgs {
    /// The cloud
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Whose neighbours are asked for, as for `run`: FILE, COUNT, all, rows:LIST or at:X,Y,…
    #[arg(value_name = "QUERIES", default_value = "all")]
    queries: QueryChoice,
    /// Columns to search, by name or 0-based number: lon,lat or 0-63
    ///
    /// Without it they are inferred and printed: the coordinates that the file declares; every value of an array's row; a position, vector or numbered
    /// components by their headings; or else all numeric columns except labels, ids, times, colours and mostly empty ones.
    #[arg(long, value_name = "NAMES", help_heading = "Cloud", value_parser = columns::parse)]
    columns: Option<ColumnChoice>,
    #[command(flatten)]
    skip: SkipArgs,
    /// Leaves rows with NaN or infinite values out (and, with the metrics angular and cosine, zero rows) instead of refusing them
    #[arg(long, help_heading = "Cloud")]
    drop_nonfinite: bool,
    /// Neighbours per query; all of them may be more than memory holds, as --out writes them while they are found, but for --graph and inner products
    #[arg(short, long, value_name = "NUMBER", default_value_t = usual::K, allow_negative_numbers = true, value_parser = counts::whole::<usize>, help_heading = "Search")]
    k: usize,
    /// All neighbours no farther than this instead of the k nearest: 5km, 500m, 3mi or 2nmi on the globe, 0.1rad or 5deg between rows as vectors,
    /// 0 to 2 of the metric cosine, else a number in the cloud's own unit; by bvh or kdtree, on the CPU
    #[arg(long, value_name = "DISTANCE", conflicts_with = "k", allow_negative_numbers = true, help_heading = "Search")]
    radius: Option<String>,
    /// Distance metric [default: haversine for longitude and latitude, sky for positions in the sky, else l2]
    #[arg(long, value_parser = rankings(), help_heading = "Search")]
    metric: Option<Ranking>,
    /// Leaves a query's own row out of its neighbours
    #[arg(long, help_heading = "Search")]
    exclude_self: bool,
    /// Seeds queries that are drawn
    #[arg(long, value_name = "NUMBER", default_value_t = usual::SEED, value_parser = counts::whole::<u64>, help_heading = "Search")]
    seed: u64,
    /// What answers, and how: an engine, or ENGINE:key=value,… with its parameters
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = EngineParser, help_heading = "Search")]
    engine: EngineChoice,
    #[command(flatten)]
    device: DeviceArgs,
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

/// The cloud, what is asked of it, and how.
struct Loaded {
    /// That of the spec, unless it is no distance.
    ranking: Ranking,
    spec: RunSpec,
    cloud: Arc<PointCloud>,
    query_cloud: Option<Arc<PointCloud>>,
    searched: Searched,
}

impl Loaded {
    /// The cloud that the queries are rows of; `None` for a place.
    fn queried(&self) -> Option<&PointCloud> {
        let is_place = matches!(self.spec.queries, QuerySpec::At(_));
        (!is_place).then(|| self.query_cloud.as_deref().unwrap_or(&self.cloud))
    }

    /// How the k nearest, or largest, are found.
    fn provenance(&self) -> Provenance {
        let found = Provenance::of(&self.spec, &self.cloud, self.query_cloud.as_deref());
        Provenance { metric: self.ranking.name().to_owned(), columns_by: Some(self.searched.columns_by.clone()), ..found }
    }
}

/// # Errors
/// Whatever keeps it from being done, in one line.
pub fn run(args: &KnnArgs) -> anyhow::Result<()> {
    check(args)?;
    let mut args = args.clone();
    let asked = if let QueryChoice::File(path) = &mut args.queries { Some(path) } else { None };
    let _kept = stdin::spool([&mut args.input].into_iter().chain(asked))?;
    let declared = metric::declared(Some(&source(&args)), args.metric);
    if declared != std::mem::replace(&mut args.metric, declared) {
        check(&args)?;
    }
    let args = &args;
    let mut loaded = load(args)?;
    if loaded.ranking == Ranking::InnerProduct {
        return inner_product::run(args, &loaded);
    }
    loaded.spec.exclude_self |= args.graph.file().is_some();
    let radius = args.radius.as_deref().map(|radius| radius::length(radius, loaded.spec.metric)).transpose()?;
    let columns = args.out.file_columns(&args.skip.of(&args.input), &args.queries, &loaded)?;
    match radius {
        None if args.graph.file().is_some() => graph::write(args, &loaded, &columns),
        None => nearest(args, &loaded, &columns),
        Some(radius) => radius::all_within(args, &loaded, radius, &columns),
    }
}

/// Refuses what makes no sense and what could not be written, before anything is read.
fn check(args: &KnnArgs) -> anyhow::Result<()> {
    let of_products = args.metric == Some(Ranking::InnerProduct);
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
    if let Some(flag) =
        [("--exclude-self", args.exclude_self), ("--self-first", args.self_first)].into_iter().find_map(|(flag, set)| set.then_some(flag))
    {
        match &args.queries {
            QueryChoice::At(_) => bail!(Usage(format!("{flag}: the query is a place, and so no row of the cloud"))),
            QueryChoice::File(_) => bail!(Usage(format!("{flag}: the queries come from a file, and so are no rows of the cloud"))),
            _ => {}
        }
    }
    args.device.check(std::slice::from_ref(&args.engine))?;
    if of_products {
        return inner_product::check(args);
    }
    let setup = Setup::from(&RunSpec {
        exclude_self: args.exclude_self || args.graph.file().is_some(),
        ..RunSpec::new(source(args), QuerySpec::All, args.k)
    });
    Ok(setup.check_within(args.engine.k_limit())?)
}

fn source(args: &KnnArgs) -> Source {
    Source::File { path: args.skip.of(&args.input), columns: args.columns.clone().unwrap_or_default() }
}

fn load(args: &KnnArgs) -> anyhow::Result<Loaded> {
    columns::check_once(&source(args))?;
    let (cloud, guess) = columns::load(&source(args), args.drop_nonfinite)?;
    let cloud = Arc::new(cloud);
    let data = cloud.source().clone();
    note_first_line(&data);
    if let Some(guess) = &guess {
        columns::note_taken(guess);
    }
    let chosen = args.columns.clone().unwrap_or_default();
    let (queries, note) = QueryChoice::resolve(Some(&args.queries), &cloud, &chosen, args.seed)?;
    if let Some(note) = note {
        output::note(&note);
    }
    let query_cloud = match &queries {
        QuerySpec::File { path, columns } => {
            let source = Source::File { path: path.clone(), columns: columns.clone() };
            let found = super::columns::load_queries(&source, &cloud, guess.is_some(), args.drop_nonfinite)?;
            if *columns == ColumnChoice::Default {
                super::columns::note_of_queries(found.axes(), cloud.axes(), path);
            }
            Some(Arc::new(found))
        }
        _ => None,
    };
    let metric = match args.metric {
        Some(Ranking::InnerProduct) => Metric::default(),
        Some(Ranking::Distance(metric)) => metric_of(Some(metric), &cloud)?,
        None => metric_of(None, &cloud)?,
    };
    let ranking = args.metric.unwrap_or(Ranking::Distance(metric));
    let (engine, device) = (args.engine.clone(), args.device.device);
    let (exclude_self, seed, drop_nonfinite) = (args.exclude_self, args.seed, args.drop_nonfinite);
    let (data, queries) = as_called(data, queries);
    let spec = RunSpec { metric, exclude_self, seed, drop_nonfinite, engine, device, ..RunSpec::new(data, queries, args.k) };
    let searched = Searched::of(&cloud, guess.as_ref());
    Ok(Loaded { ranking, spec, cloud, query_cloud, searched })
}

/// What was loaded, as files of neighbours are to name it: standard input lies in a file that will be gone.
fn as_called(data: Source, queries: QuerySpec) -> (Source, QuerySpec) {
    let data = match data {
        Source::File { path, columns } => Source::File { path: output::name_of(&path), columns },
        other => other,
    };
    let queries = match queries {
        QuerySpec::File { path, columns } => QuerySpec::File { path: output::name_of(&path), columns },
        other => other,
    };
    (data, queries)
}

/// The k nearest. They are written as they are found: those of all queries may be more than any memory holds.
fn nearest(args: &KnnArgs, loaded: &Loaded, columns: &FileColumns) -> anyhow::Result<()> {
    let start = Instant::now();
    let Loaded { spec, cloud, query_cloud, .. } = loaded;
    let mut engines = Engines::default();
    let spec = &placed(&mut engines, spec, cloud, query_cloud.as_ref());
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
    let plan = plan(&mut engines, spec, cloud, query_cloud.as_ref())?;
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
        k: Some(args.k),
        neighbors: found,
        index,
        engine: record.engine.to_string(),
        device: record.device.name.clone(),
        ..Report::new(args, loaded, parts.queries(), planned + seconds)
    };
    let shown = args.out.shows(report.queries).then(|| {
        let neighbors = &mut record.neighbors;
        neighbors.k = neighbors.k.min(SHOWN);
        neighbors.indices.truncate(neighbors.k);
        neighbors.squared_distances.truncate(neighbors.k);
        tables::neighbors_of_query_with(&record, 0, columns).tsv()
    });
    report.print(args, loaded, shown)
}
