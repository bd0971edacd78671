//! `warpscope knn`: the answer, once.

mod inner_product;

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};

use super::answer::{answer_in_parts, plan};
use super::bar::Bar;
use super::input::{DeviceArgs, EngineParser, note_assumed, note_first_line};
use super::metric::{Ranking, rankings};
use super::output;
use super::queries::{self, QueryChoice};
use super::record::spare_files;
use super::room;
use super::usage::Usage;
use crate::cloud::{self, ColumnChoice, Globe, PointCloud, Source};
use crate::engines::registry;
use crate::export::table::{Appender, Table, TableFormat};
use crate::export::within::{self as files, Asked};
use crate::export::{self, NeighborFormat, Size, tables, text};
use crate::knn::{Descriptor, DeviceId, Metric, Parameters, Problem, Setup};
use crate::run::within::{self, WithinError};
use crate::run::{EngineChoice, Engines, Parts, Phase, QuerySpec, RunRecord, RunSpec, build_problem, usual};

/// The version of what `--json` prints.
const SCHEMA_VERSION: u32 = 1;

/// Neighbours of a single query that are shown where they are written to no file.
const SHOWN: usize = 32;

#[derive(Debug, clap::Args)]
pub struct KnnArgs {
    /// The cloud
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Whose neighbours are asked for, as for `run`: FILE, COUNT, all, rows:LIST or at:X,Y,…
    #[arg(value_name = "QUERIES", default_value = "all")]
    queries: QueryChoice,
    /// Takes these columns as coordinates, by name or 0-based number: lon,lat or 0-63
    #[arg(long, value_name = "NAMES", help_heading = "Cloud")]
    columns: Option<ColumnChoice>,
    /// Leaves rows with NaN or infinite values out (and, with the metrics angular and cosine, zero rows) instead of refusing them
    #[arg(long, help_heading = "Cloud")]
    drop_nonfinite: bool,
    /// Neighbours per query; all of them may be more than memory holds, as --out writes them while they are found
    #[arg(short, long, value_name = "NUMBER", default_value_t = usual::K, allow_negative_numbers = true, help_heading = "Search")]
    k: usize,
    /// All neighbours no farther than this instead of the k nearest: 5km, 500m, 3mi or 2nmi on the globe, 0.1rad or 5deg between rows as vectors,
    /// else a number in the cloud's own unit; by bvh or kdtree, on the CPU
    #[arg(long, value_name = "DISTANCE", conflicts_with = "k", allow_negative_numbers = true, help_heading = "Search")]
    radius: Option<String>,
    /// By what rows are nearest [default: haversine for longitude and latitude, else l2]
    #[arg(long, value_parser = rankings(), help_heading = "Search")]
    metric: Option<Ranking>,
    /// Leaves a query's own row out of its neighbours
    #[arg(long, help_heading = "Search")]
    exclude_self: bool,
    /// Seeds queries that are drawn
    #[arg(long, value_name = "NUMBER", default_value_t = usual::SEED, help_heading = "Search")]
    seed: u64,
    /// What answers, and how: an engine, or ENGINE:key=value,… with its parameters
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = EngineParser, help_heading = "Search")]
    engine: EngineChoice,
    #[command(flatten)]
    device: DeviceArgs,
    /// Writes the neighbours: .csv, .tsv, .parquet, .npz, of the k nearest also .ivecs with .fvecs or .ibin with .fbin; - prints CSV
    #[arg(short, long, value_name = "FILE", help_heading = "Results")]
    out: Option<PathBuf>,
    /// Prints JSON
    #[arg(long, help_heading = "Results")]
    json: bool,
}

/// What was found, in numbers.
#[derive(serde::Serialize)]
struct Report {
    schema_version: u32,
    cloud: String,
    points: usize,
    dimensions: usize,
    queries: usize,
    metric: &'static str,
    #[serde(skip)]
    unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    radius: Option<f64>,
    /// All neighbours of all queries.
    neighbors: u64,
    /// Queries without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    without: Option<u64>,
    /// The most that a query has.
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
    /// Whether an index was built.
    #[serde(skip)]
    index: bool,
    engine: String,
    device: String,
    /// From the loaded cloud to the last neighbour found, with the index where one is built.
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrote: Option<PathBuf>,
}

/// The cloud, what is asked of it, and how.
struct Loaded {
    /// That of the spec, unless it is no distance.
    ranking: Ranking,
    spec: RunSpec,
    cloud: Arc<PointCloud>,
    query_cloud: Option<Arc<PointCloud>>,
}

impl KnnArgs {
    /// The file to write, unless that is standard output.
    fn file(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| *path != Path::new("-"))
    }

    fn to_stdout(&self) -> bool {
        self.out.is_some() && self.file().is_none()
    }

    /// Whether neighbours are printed beside the numbers.
    fn shows(&self, queries: usize) -> bool {
        queries == 1 && !self.json && self.out.is_none()
    }
}

/// # Errors
/// Whatever keeps it from being done, in one line.
pub fn run(args: &KnnArgs) -> anyhow::Result<()> {
    check(args)?;
    let loaded = load(args)?;
    if loaded.ranking == Ranking::InnerProduct {
        return inner_product::run(args, &loaded);
    }
    let radius = args.radius.as_deref().map(|radius| length(radius, loaded.spec.metric)).transpose()?;
    match radius {
        None => nearest(args, &loaded),
        Some(radius) => all_within(args, &loaded, radius),
    }
}

/// Refuses what makes no sense and what could not be written, before anything is read.
fn check(args: &KnnArgs) -> anyhow::Result<()> {
    if args.json && args.to_stdout() {
        bail!(Usage("--json and --out - both print to standard output: write the neighbours to a file".to_owned()));
    }
    let of_products = args.metric == Some(Ranking::InnerProduct);
    if let Some(out) = args.file() {
        let files = match args.radius {
            None if !of_products => NeighborFormat::of(out).map(|format| format.files(out)),
            _ => TableFormat::of(out).map(|_| vec![out.to_owned()]),
        };
        let files = files.map_err(|why| Usage(why.to_string()))?;
        let asked = if let QueryChoice::File(path) = &args.queries { Some(path) } else { None };
        spare_files("a file that is read", [&args.input].into_iter().chain(asked), files.iter().cloned())?;
        for file in &files {
            export::check(file)?;
        }
    }
    if let Some(radius) = args.radius.as_ref().filter(|_| !of_products) {
        check_radius(args, radius)?;
    }
    match &args.queries {
        QueryChoice::At(_) if args.exclude_self => bail!(Usage("--exclude-self: the query is a place, and so no row of the cloud".to_owned())),
        QueryChoice::File(_) if args.exclude_self => {
            bail!(Usage("--exclude-self: the queries come from a file, and so are no rows of the cloud".to_owned()))
        }
        _ => {}
    }
    args.device.check(std::slice::from_ref(&args.engine))?;
    if of_products {
        return inner_product::check(args);
    }
    let setup = Setup::from(&RunSpec { exclude_self: args.exclude_self, ..RunSpec::new(source(args), QuerySpec::All, args.k) });
    Ok(setup.check_within(args.engine.k_limit())?)
}

/// What holds of a radius whatever is in the files.
fn check_radius(args: &KnnArgs, radius: &str) -> anyhow::Result<()> {
    number_and_unit(radius)?;
    if let Some(device @ DeviceId::Gpu(_)) = args.device.device {
        bail!(Usage(format!("--device {device}: --radius searches on the CPU; leave --device out")));
    }
    if let EngineChoice::Named(method) = &args.engine {
        if registry::find(method.engine).is_some_and(|engine| engine.within.is_none()) {
            bail!(Usage(WithinError::Engine { engine: method.engine }.to_string()));
        }
        if method.parameters != Parameters::NONE {
            bail!(Usage(format!("--engine {}: a search by radius has no parameters", args.engine)));
        }
    }
    Ok(())
}

fn source(args: &KnnArgs) -> Source {
    Source::File { path: args.input.clone(), columns: args.columns.clone().unwrap_or_default() }
}

fn load(args: &KnnArgs) -> anyhow::Result<Loaded> {
    let data = source(args);
    let cloud = Arc::new(cloud::load(&data, args.drop_nonfinite, &Bar::new("reading the cloud"))?);
    note_first_line(&data);
    let columns = args.columns.clone().unwrap_or_default();
    let (queries, _) = QueryChoice::resolve(Some(&args.queries), &cloud, &columns, args.seed)?;
    let query_cloud = match &queries {
        QuerySpec::File { path, columns } => {
            let source = Source::File { path: path.clone(), columns: columns.clone() };
            Some(Arc::new(cloud::load_queries(&source, &cloud, args.drop_nonfinite, &Bar::new("reading the queries"))?))
        }
        _ => None,
    };
    let usual = || if Globe::recognised(cloud.axes()).is_some() { Metric::Haversine } else { Metric::L2 };
    let ranking = args.metric.unwrap_or_else(|| Ranking::Distance(usual()));
    let metric = if let Ranking::Distance(metric) = ranking { metric } else { Metric::default() };
    if metric == Metric::Haversine {
        note_assumed(cloud.axes());
        if args.metric.is_none() {
            output::note("longitude and latitude are searched on the globe, in km; --metric l2 takes them as a plane in degrees");
        }
    }
    let (engine, device) = (args.engine.clone(), args.device.device);
    let (exclude_self, seed, drop_nonfinite) = (args.exclude_self, args.seed, args.drop_nonfinite);
    let spec = RunSpec { metric, exclude_self, seed, drop_nonfinite, engine, device, ..RunSpec::new(data, queries, args.k) };
    Ok(Loaded { ranking, spec, cloud, query_cloud })
}

/// The parts of a length such as `5km`: the number, also as it was typed, and the unit.
fn number_and_unit(text: &str) -> anyhow::Result<(f64, &str, &str)> {
    let split = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, unit) = (text[..split].trim(), text[split..].trim());
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok((value, number, unit)),
        _ => bail!(Usage(format!("--radius: `{text}` is not a distance: write a number of 0 or more"))),
    }
}

/// A length such as `5km`, in the metric's unit.
fn length(text: &str, metric: Metric) -> anyhow::Result<f64> {
    let (value, number, unit) = number_and_unit(text)?;
    let units: &[(&str, f64)] = match metric {
        Metric::L2 => &[("", 1.0)],
        Metric::Angular => &[("", 1.0), ("rad", 1.0), ("deg", std::f64::consts::PI / 180.0)],
        Metric::Cosine => &[("", 1.0)],
        Metric::Haversine => &[("", 1.0), ("km", 1.0), ("m", 0.001), ("mi", 1.609_344), ("nmi", 1.852)],
    };
    match units.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => Ok(value * factor),
        None if metric == Metric::L2 => {
            bail!(Usage(format!("--radius: with the l2 metric a distance is in the cloud's own unit: write {number}, not `{text}`")))
        }
        None if metric == Metric::Cosine => {
            bail!(Usage(format!("--radius: a cosine distance, 1 − cos of the angle, is from 0 to 2 and has no unit: write {number}, not `{text}`")))
        }
        None => {
            let known: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect();
            bail!(Usage(format!("--radius: the {metric} metric has no unit `{unit}`: use {}", known.join(", "))))
        }
    }
}

/// The k nearest. They are written as they are found: those of all queries may be more than any memory holds.
fn nearest(args: &KnnArgs, loaded: &Loaded) -> anyhow::Result<()> {
    let start = Instant::now();
    let Loaded { spec, cloud, query_cloud, .. } = loaded;
    let mut engines = Engines::default();
    let parts = Parts::new(&engines, spec, cloud, query_cloud.as_ref())?;
    let size = Size { q: parts.queries(), k: parts.k(), metric: spec.metric };
    match args.file() {
        Some(out) => room::of_file(out, size, cloud.len())?,
        None if args.to_stdout() => room::of_stdout(size, cloud.len()),
        None => room::of_nothing(size, cloud.len()),
    }
    let plan = plan(&mut engines, spec, cloud, query_cloud.as_ref())?;
    let planned = start.elapsed().as_secs_f64();
    let mut search = |take: &mut dyn FnMut(&RunRecord, usize) -> anyhow::Result<()>| answer_in_parts(&mut engines, &parts, &plan, take);
    if args.to_stdout() {
        // Numbers, and names of ours: nothing that could command a terminal.
        let mut rows = Appender::csv(BufWriter::new(std::io::stdout()));
        search(&mut |record, number| output::written(rows.append(&tables::neighbors_from(record, 0..record.neighbors.queries(), number))))?;
        return output::written(rows.finish());
    }
    let (mut found, mut index, mut last) = (0, false, None);
    let mut count = |record: &RunRecord| {
        found += record.neighbors.indices.iter().filter(|&&row| row != crate::knn::NONE).count() as u64;
        // Later parts find that of the first.
        index |= record.samples.iter().any(|sample| sample.phase == Phase::BuildIndex);
    };
    match args.file() {
        Some(out) => {
            export::neighbors_in_parts(out, size, |writer| -> anyhow::Result<()> {
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
    let shown = args.shows(report.queries).then(|| {
        let neighbors = &mut record.neighbors;
        neighbors.k = neighbors.k.min(SHOWN);
        neighbors.indices.truncate(neighbors.k);
        neighbors.squared_distances.truncate(neighbors.k);
        tables::neighbors_of_query(&record, 0).tsv()
    });
    print_report(args, loaded, &report, shown)
}

/// All within a radius.
fn all_within(args: &KnnArgs, loaded: &Loaded, radius: f64) -> anyhow::Result<()> {
    let start = Instant::now();
    let spec = RunSpec { k: 1, ..loaded.spec.clone() };
    let problem = build_problem(&spec, &loaded.cloud, loaded.query_cloud.as_ref())?;
    let engine = engine(args, &problem)?;
    let found = within::within(&problem, engine, radius, &Bar::new("searching")).map_err(|why| anyhow!("{why}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let rows = query_records(&spec, loaded, problem.q(), |query| problem.query_row(query));
    let asked = Asked { cloud: &loaded.cloud, metric: spec.metric, rows: rows.as_deref() };
    if args.to_stdout() {
        return print_table(&files::table(&found, asked));
    }
    if let Some(out) = args.file() {
        files::neighborhoods(&found, asked, out)?;
    }
    let counts = || (0..found.queries()).map(|query| found.count(query));
    let report = Report {
        radius: Some(radius),
        neighbors: found.rows.len() as u64,
        without: Some(counts().filter(|&count| count == 0).count() as u64),
        most: counts().max(),
        // No other engines list what is within a radius.
        index: true,
        engine: engine.id.to_string(),
        device: "CPU".to_owned(),
        ..Report::new(args, loaded, found.queries(), seconds)
    };
    let shown = args.shows(report.queries).then(|| files::table(&found.first(SHOWN), asked).tsv());
    print_report(args, loaded, &report, shown)
}

/// The engine that was asked for, or the usual one.
fn engine(args: &KnnArgs, problem: &Problem) -> anyhow::Result<&'static Descriptor> {
    match &args.engine {
        EngineChoice::Auto => Ok(within::usual(problem)),
        EngineChoice::Named(method) => registry::find(method.engine).ok_or_else(|| anyhow!("there is no engine {}", method.engine)),
    }
}

/// Each query's record number in its file; `None` for a place.
fn query_records(spec: &RunSpec, loaded: &Loaded, q: usize, row: impl Fn(usize) -> u32) -> Option<Vec<u64>> {
    let cloud = loaded.query_cloud.as_ref().unwrap_or(&loaded.cloud);
    let is_place = matches!(spec.queries, QuerySpec::At(_));
    (!is_place).then(|| (0..q).map(|query| cloud.record(row(query) as usize)).collect())
}

fn print_table(table: &Table<'_>) -> anyhow::Result<()> {
    output::print_table(table)
}

impl Report {
    /// What does not depend on what was found.
    fn new(args: &KnnArgs, loaded: &Loaded, queries: usize, seconds: f64) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            cloud: args.input.display().to_string(),
            points: loaded.cloud.len(),
            dimensions: loaded.cloud.dims(),
            queries,
            metric: loaded.ranking.name(),
            unit: loaded.ranking.unit(),
            k: None,
            radius: None,
            neighbors: 0,
            without: None,
            most: None,
            index: false,
            engine: String::new(),
            device: String::new(),
            seconds,
            wrote: args.file().map(Path::to_owned),
        }
    }
}

fn print_report(args: &KnnArgs, loaded: &Loaded, report: &Report, shown: Option<String>) -> anyhow::Result<()> {
    if args.json {
        return output::print_json(report);
    }
    let unit = report.unit.map(|unit| format!(" {unit}")).unwrap_or_default();
    let asked = match (report.k, report.radius) {
        (Some(k), _) => text::count(k as u64, "nearest neighbour", "nearest neighbours"),
        (None, Some(radius)) => format!("all within {radius}{unit}"),
        (None, None) => String::new(),
    };
    let mean = report.neighbors as f64 / report.queries.max(1) as f64;
    let mut found = format!("{}, {mean:.1} a query", text::count(report.neighbors, "neighbour", "neighbours"));
    if let (Some(without), Some(most)) = (report.without, report.most) {
        found += &format!(", {} at most; {} none", text::thousands(most), text::count(without, "query has", "queries have"));
    }
    let points = text::count(report.points as u64, "point", "points");
    let mut rows = vec![
        vec!["cloud".to_owned(), format!("{}, {points} in {}", report.cloud, text::count(report.dimensions as u64, "dimension", "dimensions"))],
        vec!["columns".to_owned(), output::columns(loaded.cloud.axes())],
        vec!["queries".to_owned(), format!("{}: {}", text::count(report.queries as u64, "query", "queries"), queries::about(&loaded.spec))],
        vec!["search".to_owned(), format!("{asked}, {}", report.metric)],
        vec!["found".to_owned(), found],
        vec![
            "time".to_owned(),
            format!("{:.3} s{}, {} on {}", report.seconds, if report.index { " with the index" } else { "" }, report.engine, report.device),
        ],
    ];
    if let Some(out) = &report.wrote {
        rows.push(vec!["wrote".to_owned(), out.display().to_string()]);
    }
    let mut all = text::table(&rows, &[]);
    if let Some(shown) = shown {
        let lines: Vec<Vec<String>> = shown.lines().take(SHOWN + 1).map(|line| line.split('\t').map(str::to_owned).collect()).collect();
        let right: Vec<usize> = (0..lines.first().map_or(0, Vec::len)).collect();
        all += &format!("\n{}", text::table(&lines, &right));
        let more = report.neighbors.saturating_sub(SHOWN as u64);
        if more > 0 {
            all += &format!("and {} more: --out FILE writes all\n", text::thousands(more));
        }
    }
    output::print(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        for (text, metric, want) in [
            ("5km", Metric::Haversine, 5.0),
            ("500 m", Metric::Haversine, 0.5),
            ("2", Metric::Haversine, 2.0),
            ("1e-1mi", Metric::Haversine, 0.160_934_4),
            ("180deg", Metric::Angular, std::f64::consts::PI),
            ("1.5e3", Metric::L2, 1500.0),
        ] {
            assert!((length(text, metric).unwrap() - want).abs() < 1e-12, "{text}");
        }
        let refused = |text: &str, metric| length(text, metric).unwrap_err().to_string();
        assert_eq!(refused("5km", Metric::L2), "--radius: with the l2 metric a distance is in the cloud's own unit: write 5, not `5km`");
        assert_eq!(refused("5ft", Metric::Haversine), "--radius: the haversine metric has no unit `ft`: use km, m, mi, nmi");
        for text in ["-1", "nan", "inf", "", "km", "1,5"] {
            assert_eq!(refused(text, Metric::Haversine), format!("--radius: `{text}` is not a distance: write a number of 0 or more"), "{text}");
        }
    }
}
