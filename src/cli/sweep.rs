//! `warpscope sweep`: many runs, one CSV row each.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;

use super::bar::Bar;
use super::flags::{EngineListArgs, LimitArgs, RecordArgs, SchemaArgs, SearchArgs, SourceArgs};
use super::job::check_device;
use super::usage::UsageError;
use super::{columns, output, paths, values};
use crate::cloud::Source;
use crate::export::figure::Figure;
use crate::export::{self, text};
use crate::knn::{Measure, Ranking};
use crate::printable;
use crate::run::presets::{self, DataSource, Preset, PresetError};
use crate::run::sweep::{Sweep, SweepRow};
use crate::run::{EngineChoice, EnginePool, Phase, QuerySpec, RunSpec, defaults, stats};

#[derive(Debug, clap::Args)]
#[command(
    after_help = listing(),
    mut_group("cloud", |group| group.required(false)),
    mut_arg("engine", |arg| arg.help(ENGINES).help_heading("Lists"))
)]
pub struct SweepArgs {
    /// Reproduce a figure of a publication; `list` lists them
    ///
    /// Sets its cloud, lists and metric; other flags override them.
    #[arg(long, value_name = "NAME", value_parser = preset_choice)]
    preset: Option<PresetChoice>,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    method: SearchArgs,
    /// Numbers of points of a generated cloud: 1e4,1e5,1e6
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = values::whole::<u64>,
        conflicts_with = "input",
        help_heading = "Lists"
    )]
    n: Vec<u64>,
    /// Numbers of queries, or `all` [default: at most 1000]
    ///
    /// Queries are sampled from the cloud with the seed. By default 1000, or all rows if there are fewer.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = queries, help_heading = "Lists")]
    q: Vec<QuerySpec>,
    /// Neighbours per query [default: 32]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = values::whole::<u64>,
        help_heading = "Lists"
    )]
    k: Vec<u64>,
    /// Numbers of dimensions of a generated cloud
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = values::whole::<u64>,
        conflicts_with = "input",
        help_heading = "Lists"
    )]
    d: Vec<u64>,
    #[command(flatten)]
    engine: EngineListArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Untimed repeats in each run [default: 3, or the preset's]
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = values::whole_in::<u32>(0..=values::MAX_REPEATS),
        help_heading = "Measurement"
    )]
    warmup: Option<u32>,
    /// Timed repeats of each run
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = defaults::REPEATS,
        value_parser = values::whole_in::<u32>(1..=values::MAX_REPEATS),
        help_heading = "Measurement"
    )]
    repeats: u32,
    /// CSV file to write instead of stdout, after each run
    #[arg(long, value_name = "FILE", value_parser = csv_path, help_heading = "Results")]
    out: Option<PathBuf>,
    /// Plot the times against the size that varies: FILE.svg
    #[arg(long, value_name = "FILE", value_parser = paths::ending_in("svg"), help_heading = "Results")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten, next_help_heading = "Results")]
    schema: SchemaArgs,
}

const ENGINES: &str = "Engines, with alternatives for parameter values: cuda:window=8|16,kdtree is three \
                       runs [default: auto]";

/// A parsed value of `--preset`.
#[derive(Clone, Copy, Debug)]
enum PresetChoice {
    List,
    One(&'static Preset),
}

fn preset_choice(text: &str) -> Result<PresetChoice, PresetError> {
    if text == "list" { Ok(PresetChoice::List) } else { presets::find(text).map(PresetChoice::One) }
}

/// One line per preset, grouped by publication.
fn listing() -> String {
    let row = |preset: &Preset| {
        let needs = match &preset.data {
            DataSource::File { instead, .. } => format!(" (--input, such as {instead})"),
            DataSource::Generated(_) => String::new(),
        };
        vec![format!("  {}", preset.names.join(", ")), format!("{}{needs}", preset.about)]
    };
    let presets: Vec<&Preset> = presets::all().collect();
    let of_one = |of_one: &[&Preset]| {
        let title = of_one.first().map_or("", |preset| &preset.publication.title);
        format!(
            "Presets, the figures of {title}:\n{}",
            text::table(&of_one.iter().map(|preset| row(preset)).collect::<Vec<_>>(), &[])
        )
    };
    presets
        .chunk_by(|a, b| a.publication.title == b.publication.title)
        .map(of_one)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Extensions that `--out` refuses, with a remedy.
const NOT_CSV: [(&str, &str); 6] = [
    ("parquet", "rows are written after each run, which Parquet does not allow; name it .csv"),
    ("npz", "the rows contain text; name it .csv"),
    ("tsv", "the rows are comma-separated; name it .csv"),
    ("json", "name it .csv, or save the runs with --record FILE.warpscope"),
    ("svg", "use --figure for that file"),
    ("warpscope", "use --record for that file"),
];

fn csv_path(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    let ends =
        |ending: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
    match NOT_CSV.iter().find(|(ending, _)| ends(ending)) {
        Some((ending, instead)) => Err(format!("the output is CSV, not .{ending}: {instead}")),
        None => Ok(path),
    }
}

fn queries(text: &str) -> Result<QuerySpec, String> {
    if text == "all" {
        Ok(QuerySpec::All)
    } else {
        values::whole(text).map(QuerySpec::Count).map_err(|why| format!("{why}, or `all`"))
    }
}

/// The columns before those of the measures.
const HEADER: &str = "data,engine,n,q,k,d,metric,order,exclude_self,seed,warmup,repeats,search_ms_median,\
                      search_ms_min,search_ms_max,distances_per_second,search_ms_mean,search_ms_deviation,\
                      upload_ms,download_ms,bandwidth_share";

/// The measures of all engines that may run, each once.
fn measures(engines: &[EngineChoice]) -> Vec<&'static Measure> {
    let mut all: Vec<&Measure> = Vec::new();
    for measure in engines.iter().flat_map(EngineChoice::engines).flat_map(|engine| engine.measures) {
        if !all.iter().any(|known| known.name == measure.name) {
            all.push(measure);
        }
    }
    all
}

/// Notes which methods skip runs of a preset because k exceeds their limit.
fn note_limits(sweep: &Sweep) {
    let most = sweep.neighbours().into_iter().max().unwrap_or(0);
    let mut said = HashSet::new();
    for engine in sweep.engines.iter().flat_map(EngineChoice::engines).filter(|engine| engine.limits.k < most)
    {
        if said.insert(engine.id) {
            let limit = text::thousands(engine.limits.k as u64);
            output::note(&format!("{} finds at most {limit} neighbours; runs with more skip it", engine.id));
        }
    }
}

/// The selected preset or a plain sweep, with the other flags applied.
fn sweep(args: &SweepArgs, preset: Option<&Preset>) -> anyhow::Result<Sweep> {
    let mut sweep = match (preset, args.source.source()) {
        (Some(preset), source) => preset.sweep(source, args.source.seed.seed)?,
        (None, Some(source)) => {
            let base = RunSpec {
                warmup: defaults::WARMUP,
                ..RunSpec::new(source, QuerySpec::Count(defaults::QUERIES), defaults::K)
            };
            Sweep { engines: vec![EngineChoice::Auto], ..Sweep::new(base) }
        }
        (None, None) => {
            bail!(UsageError("--input <FILE>, --generate <SPEC> or --preset <NAME> is required".to_owned()))
        }
    };
    let engines = args.engine.engines();
    if let Some(device) = args.engine.device.device
        && preset.is_some()
        && engines.is_empty()
    {
        let said;
        (sweep.engines, said) = presets::on_device(sweep.engines, device.kind());
        said.iter().for_each(|what| output::note(what));
    }
    fn replace<T: Clone>(list: &mut Vec<T>, given: &[T]) {
        if !given.is_empty() {
            *list = given.to_vec();
        }
    }
    replace(&mut sweep.n, &args.n);
    replace(&mut sweep.q, &args.q);
    replace(
        &mut sweep.k,
        &args.k.iter().map(|&k| usize::try_from(k).unwrap_or(usize::MAX)).collect::<Vec<_>>(),
    );
    replace(&mut sweep.d, &args.d);
    replace(&mut sweep.engines, &engines);
    let base = &mut sweep.base;
    base.metric = args.method.metric.metric.and_then(Ranking::metric).unwrap_or(base.metric);
    base.order = args.method.order.order;
    base.exclude_self = args.method.own.exclude_self;
    base.device = args.engine.device.device;
    base.seed = args.source.seed.seed;
    base.warmup = args.warmup.unwrap_or(base.warmup);
    base.repeats = args.repeats;
    base.drop_nonfinite |= args.source.cloud.drop_nonfinite;
    if !args.k.is_empty() {
        sweep.shares.clear();
    }
    if !sweep.shares.is_empty() && matches!(sweep.base.data, Source::File { .. }) {
        bail!(UsageError(
            "this preset defines k as a share of its generated points; with --input, pass --k".to_owned()
        ));
    }
    if !args.n.is_empty() {
        sweep.work = None;
    } else if preset.is_some() && args.source.source().is_none() {
        // Default sizes are reduced if memory is short.
        sweep.free_memory = presets::free_memory(&sweep);
        if let Some(what) = sweep.halved() {
            output::note(&format!("not as published: {what}"));
        }
    }
    Ok(sweep)
}

/// Resolves the columns and the metric of a file as `knn` does.
fn infer(args: &SweepArgs, base: &mut RunSpec) -> anyhow::Result<()> {
    if matches!(base.data, Source::File { .. }) {
        let columns::LoadedCloud { cloud, .. } = columns::read(&base.data, base.drop_nonfinite, None, None)?;
        if args.preset.is_none() {
            base.metric = values::ranking_of(args.method.metric.metric, &cloud)?.metric().unwrap_or_default();
        }
        base.data = cloud.source().clone();
    }
    Ok(())
}

/// # Errors
/// When rows cannot be written and, at the end, how many runs failed.
pub fn run(args: &SweepArgs) -> anyhow::Result<()> {
    let preset = match args.preset {
        Some(PresetChoice::List) => return output::print(&listing()),
        Some(PresetChoice::One(preset)) => Some(preset),
        None => None,
    };
    let mut sweep = sweep(args, preset)?;
    if sweep.skip_unsupported {
        note_limits(&sweep);
    }
    let measures = measures(&sweep.engines);
    check_device(args.engine.device.device, &sweep.engines)?;
    sweep.check()?;
    if let Some(path) = &args.out {
        export::check(path)?;
    }
    args.record.check()?;
    args.record.protect_inputs(&sweep.base)?;
    let mut figure = match &args.figure {
        None => None,
        Some(path) => {
            paths::protect_inputs(&sweep.base, [path.clone()])?;
            export::check(path)?;
            Some(Figure::new(&sweep, preset)?)
        }
    };
    infer(args, &mut sweep.base)?;
    let mut records = Vec::new();
    let (mut runs, mut failed, mut first) = (0, 0, None);
    let mut saved = Vec::new();
    let mut emit = |fields: &[String]| -> anyhow::Result<()> {
        let mut line = csv::Writer::from_writer(Vec::new());
        line.write_record(fields)?;
        let line = line.into_inner()?;
        match &args.out {
            None => output::print_rows(&String::from_utf8(line)?),
            // The file is complete after every run, so a stopped sweep keeps its rows.
            Some(path) => {
                saved.extend(line);
                Ok(export::write(path, |out| out.write_all(&saved))?)
            }
        }
    };
    let schema = args.schema.schema;
    let of_measures = measures.iter().flat_map(|measure| {
        let name = schema.measure(measure.name);
        let expected = measure.theory.map(|_| format!("expected_{name}"));
        std::iter::once(format!("mean_{name}")).chain(expected)
    });
    emit(
        &HEADER
            .split(',')
            .map(str::to_owned)
            .chain(of_measures)
            .chain(["active_threads".to_owned(), "error".to_owned()])
            .collect::<Vec<_>>(),
    )?;
    sweep.run(&mut EnginePool::default(), &Bar::new("sweeping"), |row| {
        // A sweep over a file has one cloud; its columns may have been inferred.
        if runs == 0 && matches!(row.spec.data, Source::File { .. }) && !row.axes.is_empty() {
            output::note(&format!("columns {}", output::columns(&row.axes)));
        }
        runs += 1;
        if let Err(error) = &row.result {
            failed += 1;
            first.get_or_insert_with(|| format!("{error}"));
        }
        emit(&fields(&row, &measures))?;
        if let (Some(figure), Ok(record)) = (&mut figure, &row.result) {
            figure.add(&row.spec.engine, record);
        }
        let kept = row.result.ok().filter(|_| args.record.is_requested());
        records.extend(kept.map(|record| schema.record(&Arc::new(record))));
        Ok::<_, anyhow::Error>(())
    })?;
    args.record.write(records)?;
    if let (Some(figure), Some(path)) = (&figure, &args.figure) {
        export::write(path, |out| out.write_all(figure.svg().as_bytes()))?;
    }
    match first {
        None => Ok(()),
        Some(first) => Err(anyhow::anyhow!("{failed} of {runs} runs failed; first error: {first}")),
    }
}

/// Mean and standard deviation of the search time, means of upload and download, and the share of the memory
/// bandwidth needed to read all distances once in the mean time.
fn means(row: &SweepRow) -> [Option<f64>; 5] {
    let Ok(record) = &row.result else { return [None; 5] };
    let time = stats::mean_and_deviation(&stats::search_ms(&record.samples));
    let peak = record.peaks.and_then(|peaks| peaks.bytes_per_second);
    let bytes = stats::DISTANCE_BYTES * record.summary.n as f64 * record.summary.q as f64;
    let share = time.zip(peak).map(|([mean_ms, _], peak)| bytes / (mean_ms / 1e3) / peak);
    let [upload_ms, download_ms] =
        [Phase::Upload, Phase::Download].map(|phase| stats::mean_ms(&record.samples, phase));
    [
        time.map(|[mean, _]| mean),
        time.map(|[_, deviation]| deviation),
        upload_ms,
        download_ms,
        share.filter(|share| share.is_finite()),
    ]
}

fn fields(row: &SweepRow, measures: &[&Measure]) -> Vec<String> {
    let spec = &row.spec;
    let result = row.result.as_ref().ok();
    let of = |pick: fn(&crate::run::Summary) -> Option<f64>| {
        result.and_then(|record| pick(&record.summary)).map_or_else(String::new, |value| value.to_string())
    };
    let size = |pick: fn(&crate::run::Summary) -> u64| {
        result.map_or_else(String::new, |record| pick(&record.summary).to_string())
    };
    let asked = match spec.queries {
        QuerySpec::Count(count) if result.is_none() => count.to_string(),
        _ => size(|summary| summary.q),
    };
    let mut fields = vec![
        match &spec.data {
            Source::File { path, .. } => printable::cell(&path.display().to_string()).into_owned(),
            Source::Generate { spec, .. } => spec.clone(),
            Source::Coordinates(at) => at.clone(),
        },
        match (&spec.engine, result) {
            (EngineChoice::Auto, Some(record)) => record.engine.to_string(),
            (choice, _) => choice.to_string(),
        },
        size(|summary| summary.n),
        asked,
        spec.k.to_string(),
        size(|summary| summary.d),
        spec.metric.name().to_owned(),
        spec.order.name().to_owned(),
        spec.exclude_self.to_string(),
        spec.seed.to_string(),
        spec.warmup.to_string(),
        spec.repeats.to_string(),
        of(|summary| Some(summary.search_ms_median)),
        of(|summary| Some(summary.search_ms_min)),
        of(|summary| Some(summary.search_ms_max)),
        of(|summary| summary.distances_per_second),
    ];
    fields.extend(means(row).map(|value| value.map_or_else(String::new, |value| value.to_string())));
    for measure in measures {
        let counted = result.and_then(|record| record.summary.measure(measure.name));
        let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        fields.push(text(counted.map(|counted| counted.mean)));
        if measure.theory.is_some() {
            fields.push(text(counted.and_then(|counted| counted.expected)));
        }
    }
    fields.push(of(|summary| summary.active_threads));
    fields.push(
        row.result
            .as_ref()
            .err()
            .map_or_else(String::new, |why| printable::cell(&why.to_string()).into_owned()),
    );
    fields
}
