//! `warpscope run`: one measured search.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Arg;

use super::answer::{empty_ranks, note_fallback};
use super::bar::Bar;
use super::flags::{DryRunArgs, EngineArgs, JsonArgs, LimitArgs, ProblemArgs, RecordArgs, SchemaArgs};
use super::job::Job;
use super::output::columns;
use super::paths::{self, folder};
use super::{announce, output, queries, values};
use crate::cloud::PointCloud;
use crate::engines::registry;
use crate::export::{self, NeighborFormat, Size, text};
use crate::run::analysis::Roofline;
use crate::run::planner::Purpose;
use crate::run::{
    EngineChoice, EnginePool, LoadedSpec, MeasureMean, QuerySpec, RunRecord, RunSpec, build_problem,
};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "`warpscope devices ENGINE` explains an engine's counters and parameters",
    mut_args(reworded)
)]
pub struct RunArgs {
    #[command(flatten)]
    problem: ProblemArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Untimed repeats before the timed ones
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10,
        value_parser = values::whole_in::<u32>(0..=values::MAX_REPEATS),
        help_heading = "Measurement"
    )]
    warmup: u32,
    /// Timed repeats
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10,
        value_parser = values::whole_in::<u32>(1..=values::MAX_REPEATS),
        help_heading = "Measurement"
    )]
    repeats: u32,
    /// Also run the profiled build: cycles per phase, warp times
    #[arg(long, help_heading = "Measurement")]
    profile: bool,
    /// File to write the neighbours to
    ///
    /// .csv, .tsv, .parquet, .arrow, .npz, .geojson (for longitude and latitude), .npy (row numbers only),
    /// .ivecs (with .fvecs) or .ibin (with .fbin).
    #[arg(long, value_name = "FILE", value_parser = neighbors_path, help_heading = "Results")]
    neighbors: Option<PathBuf>,
    /// Folder to write results to
    ///
    /// run.json, neighbors.npz, timings.csv, merges.csv (counters.csv for engines with other measures),
    /// convergence.csv and trace.json.
    #[arg(long, value_name = "DIR", value_parser = folder(&FILE_FLAGS), help_heading = "Results")]
    out: Option<PathBuf>,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten, next_help_heading = "Results")]
    schema: SchemaArgs,
    #[command(flatten, next_help_heading = "Results")]
    dry: DryRunArgs,
    #[command(flatten, next_help_heading = "Results")]
    json: JsonArgs,
}

/// Rewords or extends shared flags for this command.
fn reworded(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "dry_run" => arg.conflicts_with_all(["neighbors", "out", "record"]),
        "json" => arg.help("Print run.json, or the predictions of --dry-run, as JSON"),
        _ => arg,
    }
}

/// File extensions that belong to another flag than `--out`.
const FILE_FLAGS: [(&str, &str); 8] = [
    ("csv", "--neighbors"),
    ("tsv", "--neighbors"),
    ("parquet", "--neighbors"),
    ("npz", "--neighbors"),
    ("geojson", "--neighbors"),
    ("ivecs", "--neighbors"),
    ("ibin", "--neighbors"),
    ("warpscope", "--record"),
];

/// Checks the format before the search.
fn neighbors_path(text: &str) -> Result<PathBuf, export::ExportError> {
    let path = PathBuf::from(text);
    NeighborFormat::from_path(&path).map(|_| path)
}

/// # Errors
/// One sentence saying why it failed.
pub fn run(args: &RunArgs) -> anyhow::Result<()> {
    // Check outputs before a long search. The folder comes first, as the neighbours may be written into it;
    // it is removed again if it stays empty.
    let _made =
        args.out.as_deref().map(|dir| export::OutputFolder::new(dir, export::is_run_file)).transpose()?;
    if let Some(dir) = &args.out {
        export::check_folder(dir)?;
    }
    if let Some(path) = &args.neighbors {
        export::check(path)?;
    }
    args.record.check()?;
    let request = args.problem.request(vec![args.engine.engine.clone()], args.engine.device);
    request.check()?;
    let Job { spec, cloud, query_cloud, .. } = request.load()?;
    protect_inputs(args, &spec)?;
    let spec = RunSpec { warmup: args.warmup, repeats: args.repeats, profile: args.profile, ..spec };
    let loaded = LoadedSpec::new(&spec, &cloud, query_cloud.as_ref());
    let mut engines = EnginePool::default();
    if args.dry.dry_run {
        let any = RunSpec { engine: EngineChoice::Auto, ..spec.clone() };
        // A dry run refuses what the run would refuse.
        build_problem(loaded)?;
        let plan = engines
            .plan_measured(LoadedSpec { spec: &any, ..loaded }, &mut Bar::new("").stage())?
            .on(&spec.engine);
        return announce::forecast(&plan, &passes_text(&spec), args.json.json);
    }
    if let Some(path) = &args.neighbors {
        export::check_positions(path, &cloud)?;
        let job = loaded.planner_job(Purpose::Measure);
        announce::check_disk_space(
            path,
            Size { q: job.shape.q, k: spec.k, metric: spec.metric },
            cloud.len(),
        )?;
        queries::note_rows_left_out(&spec.queries, NeighborFormat::from_path(path)?, path);
    }
    let plan = engines.plan_measured(loaded, &mut Bar::new("").stage())?;
    let planned = plan.sentence();
    announce::passes_of_run(&spec, &plan).iter().for_each(|sentence| output::note(sentence));
    let record = Arc::new(engines.execute_planned(
        loaded,
        Some(&plan),
        &mut Bar::expecting(plan.total_ms()).stage(),
    )?);
    note_fallback(&record);
    if let Some(note) = empty_ranks(&spec, record.summary.n) {
        output::note(&note);
    }
    if args.profile && record.profile.is_none() {
        output::note(&format!("--profile: the {} engine cannot be profiled", record.engine));
    }
    let mut written = Vec::new();
    let in_files = args.schema.schema.record(&record);
    let result = write(args, &in_files, &mut written);
    // The search succeeded, so its result is printed even if writing failed.
    if args.json.json {
        output::print_json(&in_files.head)
    } else {
        output::print(&summary(&record, planned.as_deref(), &written))
    }
    .and(result)
}

/// Describes which passes the predicted total includes.
fn passes_text(spec: &RunSpec) -> String {
    let passes = format!(
        "{} and {}",
        text::count(spec.warmup.into(), "warm-up", "warm-ups"),
        text::count(spec.repeats.into(), "repeat", "repeats")
    );
    let counted = if spec.profile { "a counted and a profiled pass" } else { "a counted pass" };
    format!("setup, {passes}, and {counted} on engines with counters")
}

/// Refuses to overwrite files that are searched.
fn protect_inputs(args: &RunArgs, spec: &RunSpec) -> anyhow::Result<()> {
    let neighbors = args.neighbors.iter().flat_map(|path| {
        NeighborFormat::from_path(path).map_or_else(|_| Vec::new(), |format| format.files(path))
    });
    let folder = args.out.iter().flat_map(|dir| export::FOLDER_FILES.map(|name| dir.join(name)));
    paths::protect_inputs(spec, neighbors.chain(folder))?;
    args.record.protect_inputs(spec)
}

/// Writes the requested files and adds them to `written`. If one fails the others are still written, as the
/// search may have taken hours. Returns the first error.
fn write(args: &RunArgs, record: &Arc<RunRecord>, written: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let mut first = Ok(());
    for result in [
        write_folder(args, record, written),
        write_neighbors(args, record, written),
        write_recording(args, record, written),
    ] {
        match (&first, result) {
            (Ok(()), result) => first = result,
            // Later errors are printed at once; the first is returned and printed last.
            (Err(_), Err(why)) => output::error(&format!("{why:#}")),
            (Err(_), Ok(())) => {}
        }
    }
    first
}

fn write_folder(args: &RunArgs, record: &Arc<RunRecord>, written: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if let Some(dir) = &args.out {
        written.extend(export::folder(record, dir)?);
        let count = record.neighbors.indices.len();
        if count > export::MAX_NEIGHBORS && args.neighbors.is_none() {
            let count = text::thousands(count as u64);
            output::note(&format!(
                "neighbors.npz not written: {count} neighbours; pass --neighbors FILE to save them"
            ));
        }
    }
    Ok(())
}

fn write_neighbors(
    args: &RunArgs,
    record: &Arc<RunRecord>,
    written: &mut Vec<PathBuf>,
) -> anyhow::Result<()> {
    if let Some(path) = &args.neighbors {
        let neighbors = export::neighbors(record, path)?;
        // The same file may already be in the folder.
        written.extend(neighbors.into_iter().filter(|path| !written.contains(path)).collect::<Vec<_>>());
    }
    Ok(())
}

fn write_recording(
    args: &RunArgs,
    record: &Arc<RunRecord>,
    written: &mut Vec<PathBuf>,
) -> anyhow::Result<()> {
    written.extend(args.record.write(vec![Arc::clone(record)])?);
    Ok(())
}

/// The run as a few aligned lines.
fn summary(record: &RunRecord, planned: Option<&str>, written: &[PathBuf]) -> String {
    let (spec, numbers) = (&record.spec, &record.summary);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |what: &str, value: String| rows.push(vec![what.to_owned(), value]);

    row("cloud", cloud_text(&record.cloud));
    row("columns", columns(&record.axes));
    let without = if spec.metric.compares_directions() {
        "NaN or infinite values, or with no direction"
    } else {
        "NaN or infinite values"
    };
    if record.dropped_rows > 0 {
        row("dropped", format!("{} with {without}", text::count(record.dropped_rows, "row", "rows")));
    }
    if record.dropped_queries > 0 {
        row("dropped", format!("{} with {without}", text::count(record.dropped_queries, "query", "queries")));
    }
    let asked = text::count(numbers.q, "query", "queries");
    row(
        "queries",
        match (&spec.queries, &record.query_cloud) {
            (QuerySpec::File { .. }, Some(cloud)) => format!("{asked}: {}", cloud_text(cloud)),
            _ => format!("{asked}: {}", queries::describe(spec, &record.axes)),
        },
    );
    let own = if spec.exclude_self { ", without the query's own row" } else { "" };
    if let Some(queries) = record.query_cloud.as_ref().filter(|_| !matches!(spec.queries, QuerySpec::At(_))) {
        row("columns", columns(queries.axes()));
    }
    row(
        "search",
        format!("k = {}, {}, {} order{own}", text::thousands(spec.k as u64), spec.metric, spec.order.name()),
    );
    row("engine", format!("{} on {}", record.engine, device_text(record)));
    if let Some(method) = &record.method {
        row("method", method.clone());
    }
    if let Some(note) = &record.note {
        row("note", note.clone());
    }
    if let Some(plan) = planned {
        row("plan", format!("{plan}, with all passes"));
    }

    let (median, min, max) = (
        text::time(numbers.search_ms_median),
        text::time(numbers.search_ms_min),
        text::time(numbers.search_ms_max),
    );
    let after = if spec.warmup == 0 {
        String::new()
    } else {
        format!(" after {}", text::count(spec.warmup.into(), "warm-up", "warm-ups"))
    };
    row(
        "time",
        match spec.repeats {
            1 => format!("{median}, one repeat{after}"),
            repeats => format!(
                "{median}, median of {} repeats{after}, {min} to {max}",
                text::thousands(repeats.into())
            ),
        },
    );
    if let Some(rate) = numbers.distances_per_second {
        row("rate", text::rate(rate));
    }
    if let Some(roofline) = Roofline::of_run(record) {
        row("limit", roofline.sentence().trim_end_matches('.').to_owned());
    }
    for MeasureMean { name, mean, expected } in &numbers.measures {
        let theory = registry::measure(record.engine, name).and_then(|measure| measure.theory);
        let bound = theory.zip(*expected).map(|(theory, bound)| {
            format!(" (theory: {} or fewer {})", text::significant(bound), theory.condition)
        });
        row(name, format!("{} a query, mean{}", text::significant(*mean), bound.unwrap_or_default()));
    }
    if !numbers.measures.is_empty() {
        row("", format!("explained by `warpscope devices {}`", record.engine));
    }
    if let Some(active) = numbers.active_threads {
        row("active threads", format!("{} of 32 in a warp, mean", text::digits(active, 3)));
    }
    for files in written.chunk_by(|a, b| a.parent() == b.parent()) {
        let names: Vec<_> =
            files.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy()).collect();
        match files[0].parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => row("wrote", format!("{} in {}", names.join(", "), folder.display())),
            None => row("wrote", names.join(", ")),
        }
    }
    text::table(&rows, &[])
}

fn cloud_text(cloud: &PointCloud) -> String {
    let points = text::count(cloud.len() as u64, "point", "points");
    format!("{}, {points} in {}", cloud.source(), text::count(cloud.dims() as u64, "dimension", "dimensions"))
}

/// The device and the kind of its code; `run.json` and `warpscope devices` have all details.
fn device_text(record: &RunRecord) -> String {
    let told = ["kernels", "threads", "instructions", "driver"];
    let details: Vec<String> = record
        .device
        .details
        .iter()
        .filter(|(name, _)| told.contains(&name.as_str()))
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    if details.is_empty() {
        record.device.name.clone()
    } else {
        format!("{} ({})", record.device.name, details.join(", "))
    }
}
