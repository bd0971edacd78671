//! `warpscope knn`: answers once, without measuring.

mod out;
mod ranks;

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::{anyhow, bail};
use clap::Arg;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::announce;
use super::answer::{Delivery, Take, in_batches, with_device};
use super::bar::Bar;
use super::flags::{
    CloudArgs, DryRunArgs, EngineArgs, ExcludeSelfArgs, GraphArgs, KArgs, LimitArgs, MetricArgs, SeedArgs,
};
use super::job::{Job, Request, check_device};
use super::lists::{self, ResultBytes};
use super::paths::protect_files;
use super::queries::QueryChoice;
use super::usage::UsageError;
use super::values::{self, rankings};
use super::{paths, tiles};
use crate::cloud::{Source, formats};
use crate::engines::registry;
use crate::export::{self, NeighborFormat};
use crate::files;
use crate::knn::{DeviceKind, Goal, Metric, Parameters, Radius, Ranking, Unit};
use crate::ranks::Team;
use crate::run::{
    AnswerBatch, Arithmetic, BatchError, BatchSearch, EngineChoice, EnginePool, LoadedSpec, RunSpec,
};
use out::{OutArgs, Sink};
use ranks::{RankArgs, Work};

#[derive(Clone, Debug, clap::Args)]
#[command(mut_args(reworded))]
pub struct KnnArgs {
    /// Point cloud to search
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Queries: FILE, COUNT, all, rows:LIST or at:NAME=X,…
    ///
    /// at:lat=52.5,lon=13.4 is one point. Without names, as in at:52.5,13.4, its coordinates are in the order
    /// of the file's columns.
    #[arg(value_name = "QUERIES", default_value = "all")]
    queries: QueryChoice,
    #[command(flatten)]
    cloud: CloudArgs,
    #[command(flatten)]
    k: KArgs,
    /// Find all neighbours within this distance instead of k
    ///
    /// With haversine: 5km, 500m, 3mi or 2nmi. With angular: 0.1rad or 5deg. With cosine: 0 to 2. Otherwise a
    /// number in the cloud's own unit. Runs on bvh or kdtree, on the CPU.
    #[arg(
        long,
        value_name = "DISTANCE",
        conflicts_with = "k",
        allow_negative_numbers = true,
        help_heading = "Search"
    )]
    radius: Option<String>,
    /// Exclude neighbours at exactly the radius
    #[arg(long, requires = "radius", help_heading = "Search")]
    radius_open: bool,
    #[command(flatten)]
    metric: MetricArgs,
    /// What the order of neighbours follows: the file's values, or f32
    ///
    /// file: the exact distances of the file's values, ties by row. f32: the order that a GPU kernel computes,
    /// with rounded coordinates and sums, as `run` measures. --radius always uses file.
    #[arg(
        long,
        value_name = "ARITHMETIC",
        default_value = "file",
        value_parser = PossibleValuesParser::new(["file", "f32"]).map(|name| {
            if name == "f32" { Arithmetic::F32 } else { Arithmetic::File }
        }),
        help_heading = "Search"
    )]
    arithmetic: Arithmetic,
    #[command(flatten)]
    own: ExcludeSelfArgs,
    #[command(flatten)]
    seed: SeedArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// Put each query's own row first, as umap-learn expects
    ///
    /// It comes first among neighbours at an equal distance. If k such neighbours were found without it, it
    /// replaces the last of them.
    #[arg(long, conflicts_with_all = ["exclude_self", "graph"], help_heading = "Search")]
    self_first: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten, next_help_heading = "Search")]
    dry: DryRunArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    ranks: RankArgs,
}

const COLUMNS: &str = "Columns to search, by name or number: lon,lat or 0-63";

const INFERRED: &str = "Numbers are 0-based. If not given, the columns are inferred and printed: the \
                        coordinates that the file declares; every value of an array's row; columns whose \
                        headings name a position, a vector or numbered components; otherwise all numeric \
                        columns except labels, ids, times, colours and mostly empty ones.";

const K: &str = "Neighbours per query\n\nResults are streamed to --out, so they may exceed memory (except \
                 with inner products).";

/// Rewords or extends shared flags for this command.
fn reworded(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "columns" => arg.help(COLUMNS).long_help(format!("{COLUMNS}\n\n{INFERRED}")),
        "dry_run" => arg.conflicts_with_all(["out", "graph", "radius"]),
        "k" => arg.short('k').long_help(K),
        "metric" => arg.value_parser(rankings()),
        "seed" => arg.help("Seed for sampling queries").help_heading("Search"),
        _ => arg,
    }
}

impl KnnArgs {
    fn request(&self) -> Request {
        Request {
            drop_nonfinite: self.cloud.drop_nonfinite,
            queries: Some(self.queries.clone()),
            ranking: self.metric.metric,
            // A graph has no edges from a row to itself.
            exclude_self: self.own.exclude_self || self.graph.file().is_some(),
            seed: self.seed.seed,
            engines: vec![self.engine.engine.clone()],
            device: self.engine.device.device,
            ..Request::new(self.cloud.file.source(&self.input), self.k.k)
        }
    }
}

/// # Errors
/// One sentence saying why it failed.
pub fn run(args: &KnnArgs) -> anyhow::Result<()> {
    let Some(launch) = args.ranks.launch()? else {
        check(args, &args.request())?;
        return search(args, None);
    };
    let mut args = args.clone();
    if launch.rank.rank > 0 {
        args.out = args.out.without_output();
    }
    check(&args, &args.request())?;
    let flags = (&args.input, &args.metric, args.k, args.own, args.arithmetic, args.self_first, args.seed);
    let team = args.ranks.meet(&launch, &flags)?;
    ranks::close(&team, search(&args, Some(&team)))
}

/// Answers with checked flags, alone or together with other processes.
fn search(args: &KnnArgs, team: Option<&Team>) -> anyhow::Result<()> {
    let mut args = args.clone();
    let asked = if let QueryChoice::File(path) = &mut args.queries { Some(path) } else { None };
    let _kept = paths::spool([&mut args.input].into_iter().chain(asked))?;
    let mut request = args.request();
    let declared = values::declared_ranking(&request.source, request.ranking);
    if declared != std::mem::replace(&mut request.ranking, declared) {
        check(&args, &request)?;
    }
    let driver = is_large(&request.source).then(|| registry::start(request.device)).flatten();
    let outputs: Vec<&Path> =
        args.out.file().into_iter().chain(args.graph.file().map(PathBuf::as_path)).collect();
    let loaded = tiles::load(&request, needs_all_rows(&args, &request), &outputs);
    // Waits for it even after an error: a process must not end while a driver starts.
    let _started = driver.map(JoinHandle::join);
    let (args, (job, tiles)) = (&args, loaded?);
    args.graph.check_rows(job.cloud.len(), job.spec.k)?;
    let goal = goal_of(args, &job)?;
    let columns = args.out.file_columns(&job)?;
    let (since, mut engines) = (Instant::now(), EnginePool::default());
    let job = if goal == Goal::Nearest { with_device(&mut engines, &job) } else { job };
    let mut batches = match &tiles {
        Some(tiles) => tiles::search(&job, tiles, goal, args.arithmetic)?,
        None => BatchSearch::new(&engines, goal, job.loaded(), args.arithmetic)?,
    };
    if args.dry.dry_run {
        let any = RunSpec { engine: EngineChoice::Auto, ..job.spec.clone() };
        let plan = engines
            .plan_answer(LoadedSpec { spec: &any, ..job.loaded() }, &mut Bar::new("").stage())?
            .on(&job.spec.engine);
        return announce::forecast(&plan, "setup and one search", args.out.json().is_some());
    }
    let delivery = Delivery {
        at_once: args.out.is_single_batch(),
        own_first: args.self_first,
        behind: args.out.printed().is_none(),
        failed: &|error| _ = team.map(|team| ranks::tell(team, error)),
    };
    let work = team.map(|team| Work::new(team, &job, &mut batches)).transpose()?;
    let share = work.as_ref().map_or_else(|| job.clone(), |work| work.share(&job));
    if let Some(work) = work.as_ref().filter(|work| !work.is_first()) {
        // Batches are sent by another thread anyway.
        let delivery = Delivery { behind: false, ..delivery };
        return work.answer(|take| in_batches(&mut engines, (&share, &batches), since, delivery, take));
    }
    let sink = Sink::new((&job, goal), &batches, columns, &args.out, &args.graph);
    sink.announce()?;
    sink.fill(&args.input, |take| {
        let mut search =
            |take: &mut Take<'_>| in_batches(&mut engines, (&share, &batches), since, delivery, take);
        if let Some(work) = &work {
            return work.collect(&job, take, search);
        }
        let Some(file) = args.graph.file() else { return search(take) };
        let mut lists = lists::writer(&job, tiles.is_some(), ResultBytes::default(), &[file])?;
        let take = &mut |batch: AnswerBatch<'_>| {
            lists.append(batch)?;
            take(batch)
        };
        let answered = search(take)?;
        drop(batches);
        let lists = lists.finish()?;
        let graph = lists.graph().map_err(|why| anyhow!("{why}: {}", args.input.display()))?;
        args.graph.write(&graph, &job.cloud)?;
        Ok(answered)
    })
}

/// Whether reading a file takes so long that a GPU's driver should start meanwhile.
fn is_large(source: &Source) -> bool {
    let Source::File { path, .. } = source else { return false };
    formats::file_of(path).metadata().is_ok_and(|file| file.len() >= 64 << 20)
}

/// A flag that needs all points in memory.
fn needs_all_rows(args: &KnnArgs, request: &Request) -> Option<&'static str> {
    let [(with, columns), (with_query, of_queries)] = args.out.columns();
    let is_geojson = args.out.file().is_some_and(|file| {
        file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("geojson"))
    });
    let flags = [
        (with, !columns.is_empty()),
        (with_query, !of_queries.is_empty()),
        ("--out .geojson", is_geojson),
        ("--drop-nonfinite", request.drops_zero_rows()),
    ];
    needs_one_search(args, request).or_else(|| given(flags))
}

/// A flag that needs all points and queries in one search.
fn needs_one_search(args: &KnnArgs, request: &Request) -> Option<&'static str> {
    given([
        ("--metric inner-product", request.ranking == Some(Ranking::InnerProduct)),
        ("--dry-run", args.dry.dry_run),
    ])
}

/// A flag that needs one process.
fn needs_one_process(args: &KnnArgs, request: &Request) -> Option<&'static str> {
    given([("--graph", args.graph.file().is_some()), ("--radius", args.radius.is_some())])
        .or_else(|| needs_one_search(args, request))
}

/// The first flag that was given.
fn given<const N: usize>(flags: [(&'static str, bool); N]) -> Option<&'static str> {
    flags.into_iter().find_map(|(flag, given)| given.then_some(flag))
}

/// Refuses flags that make no sense and unwritable outputs before anything is read.
fn check(args: &KnnArgs, request: &Request) -> anyhow::Result<()> {
    let goal = requested_goal(args.radius.as_deref(), request.ranking)?;
    args.out.check(goal, &args.queries)?;
    if let Some(out) = args.out.file() {
        let format = NeighborFormat::for_goal(goal, out)
            .map_err(|why| UsageError(format!("{}{why}", goal_flag(goal))))?;
        let asked = if let QueryChoice::File(path) = &args.queries { Some(path) } else { None };
        protect_files("an input file", [&args.input].into_iter().chain(asked), format.files(out))?;
        for file in &format.files(out) {
            export::check(file)?;
        }
    }
    if args.radius.is_some() && args.arithmetic == Arithmetic::F32 {
        bail!(UsageError("--arithmetic f32: --radius uses the file's values; drop --arithmetic".to_owned()));
    }
    if args.ranks.launch()?.is_some()
        && let Some(flag) = needs_one_process(args, request)
    {
        bail!(UsageError(format!(
            "{flag}: not available with several processes; start one without a launcher"
        )));
    }
    check_graph(args)?;
    if args.self_first {
        request.check_own_row_flag("--self-first")?;
    }
    if goal == Goal::LargestProduct {
        check_products(args)?;
    }
    check_goal(goal, request)
}

/// Refuses graph flags that make no sense and unwritable outputs.
fn check_graph(args: &KnnArgs) -> anyhow::Result<()> {
    let Some(path) = args.graph.file() else { return Ok(()) };
    if args.radius.is_some() {
        bail!(UsageError("--graph needs the k nearest neighbours; drop --radius".to_owned()));
    }
    if args.queries != QueryChoice::All {
        bail!(UsageError("--graph needs the neighbours of all rows; drop QUERIES".to_owned()));
    }
    let files = |out: &Path| {
        NeighborFormat::from_path(out).map_or_else(|_| vec![out.to_owned()], |format| format.files(out))
    };
    if args.out.file().map(files).unwrap_or_default().iter().any(|file| files::same(file, path)) {
        bail!(UsageError("--out and --graph name the same file; change one of them".to_owned()));
    }
    args.graph.check()?;
    protect_files("an input file", [&args.input], [path.clone()])?;
    Ok(export::check(path)?)
}

/// Refuses flags that need distances.
fn check_products(args: &KnnArgs) -> anyhow::Result<()> {
    if args.radius.is_some() {
        bail!(UsageError(
            "--radius: an inner product is not a distance; drop --radius or change --metric".to_owned()
        ));
    }
    let columns = args.out.columns().map(|(flag, names)| (flag, !names.is_empty()));
    let flags = [
        ("--dry-run", args.dry.dry_run),
        ("--graph", args.graph.file().is_some()),
        ("--self-first", args.self_first),
    ];
    if let Some((flag, _)) = flags.into_iter().chain(columns).find(|&(_, given)| given) {
        bail!(UsageError(format!("{flag}: not available with --metric inner-product; drop one of the two")));
    }
    if args.out.printed() == Some(NeighborFormat::Npy) {
        bail!(UsageError(
            "--format npy stores row numbers but no inner products; use csv, arrow or parquet".to_owned()
        ));
    }
    Ok(())
}

/// The goal before the cloud is loaded. A radius is still the typed number: its unit depends on the metric.
///
/// # Errors
/// [`UsageError`].
fn requested_goal(radius: Option<&str>, ranking: Option<Ranking>) -> anyhow::Result<Goal> {
    Ok(match (radius, ranking) {
        (_, Some(Ranking::InnerProduct)) => Goal::LargestProduct,
        (Some(radius), _) => Goal::Within(Radius::new(Metric::L2, number_and_unit(radius)?.0)),
        (None, _) => Goal::Nearest,
    })
}

/// The goal of a loaded job.
///
/// # Errors
/// [`UsageError`] if the metric does not have the radius's unit.
fn goal_of(args: &KnnArgs, job: &Job) -> anyhow::Result<Goal> {
    match &args.radius {
        Some(radius) => {
            let radius = parse_length(radius, job.spec.metric)?;
            Ok(Goal::Within(Radius { open: args.radius_open, ..radius }))
        }
        None => requested_goal(None, Some(job.ranking)),
    }
}

/// The flag that selects a goal, as a prefix for errors.
fn goal_flag(goal: Goal) -> &'static str {
    match goal {
        Goal::Nearest => "",
        Goal::Within(_) => "--radius: ",
        Goal::LargestProduct => "--metric inner-product: ",
    }
}

/// Rejects options that are invalid for any file contents.
///
/// # Errors
/// [`UsageError`], and those of [`Request::check`].
fn check_goal(goal: Goal, request: &Request) -> anyhow::Result<()> {
    let (searches, search) = match goal {
        Goal::Nearest => return request.check(),
        Goal::Within(_) => ("--radius searches", "radius"),
        Goal::LargestProduct => ("inner-product searches", "inner product"),
    };
    if let Some(device) = request.device.filter(|device| device.kind() == DeviceKind::Gpu) {
        bail!(UsageError(format!("--device {device}: {searches} run on the CPU only; drop --device")));
    }
    for choice in &request.engines {
        let EngineChoice::Named(method) = choice else { continue };
        if registry::find(method.engine).is_some_and(|engine| !engine.finds(goal)) {
            bail!(UsageError(BatchError::Engine { engine: method.engine, goal }.to_string()));
        }
        if method.parameters != Parameters::NONE {
            bail!(UsageError(format!("--engine {choice}: {search} searches accept no engine parameters")));
        }
    }
    if goal != Goal::LargestProduct {
        return request.check();
    }
    if request.exclude_self {
        request.check_own_row_flag("--exclude-self")?;
    }
    check_device(request.device, &request.engines)?;
    let able = |choice: &EngineChoice| {
        choice.engines().filter(|engine| engine.finds(goal)).map(|engine| engine.limits.k).max()
    };
    match request.engines.iter().filter_map(able).max() {
        Some(most) if !(1..=most).contains(&request.k) => {
            bail!(UsageError(format!("k = {}: must be between 1 and {most} for inner products", request.k)))
        }
        _ => Ok(()),
    }
}

/// Splits a length such as `5km` into its number, parsed and as typed, and its unit.
fn number_and_unit(text: &str) -> anyhow::Result<(f64, &str, &str)> {
    let split = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, unit) = (text[..split].trim(), text[split..].trim());
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok((value, number, unit)),
        _ => bail!(not_a_distance(text)),
    }
}

fn not_a_distance(text: &str) -> UsageError {
    UsageError(format!("--radius: `{text}` is not a distance; expected a non-negative number"))
}

/// Converts a length such as `5km` to the metric's unit.
fn parse_length(text: &str, metric: Metric) -> anyhow::Result<Radius> {
    let (value, number, unit) = number_and_unit(text)?;
    let units = Unit::of(metric);
    match units.iter().find(|row| row.name == unit) {
        Some(_) if metric == Metric::Cosine && value > 2.0 => {
            bail!(UsageError(format!(
                "--radius {number}: a cosine distance (1 − cos of the angle) must be between 0 and 2"
            )))
        }
        Some(row) => Ok(row.radius(number, metric).ok_or_else(|| not_a_distance(text))?),
        None if metric == Metric::L2 => {
            bail!(UsageError(format!(
                "--radius `{text}`: the l2 metric accepts no unit (it uses the cloud's own); write {number}"
            )))
        }
        None if metric == Metric::Cosine => {
            bail!(UsageError(format!(
                "--radius `{text}`: a cosine distance (1 − cos of the angle, 0 to 2) has no unit; write \
                 {number}"
            )))
        }
        None => {
            let known: Vec<&str> = units.iter().map(|row| row.name).filter(|name| !name.is_empty()).collect();
            bail!(UsageError(format!(
                "--radius: invalid unit `{unit}` for the {metric} metric; use {}",
                known.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_accept_units() {
        for (text, metric, want) in [
            ("5km", Metric::Haversine, 5.0),
            ("500 m", Metric::Haversine, 0.5),
            ("2", Metric::Haversine, 2.0),
            ("1e-1mi", Metric::Haversine, 0.160_934_4),
            ("180deg", Metric::Angular, std::f64::consts::PI),
            ("1.5e3", Metric::L2, 1500.0),
        ] {
            assert!((parse_length(text, metric).unwrap().distance - want).abs() < 1e-12, "{text}");
        }
        let refused = |text: &str, metric| parse_length(text, metric).unwrap_err().to_string();
        assert_eq!(
            refused("5km", Metric::L2),
            "--radius `5km`: the l2 metric accepts no unit (it uses the cloud's own); write 5"
        );
        assert_eq!(
            refused("5ft", Metric::Haversine),
            "--radius: invalid unit `ft` for the haversine metric; use km, m, mi, nmi"
        );
        for text in ["-1", "nan", "inf", "", "km", "1,5"] {
            assert_eq!(
                refused(text, Metric::Haversine),
                format!("--radius: `{text}` is not a distance; expected a non-negative number"),
                "{text}"
            );
        }
    }
}
