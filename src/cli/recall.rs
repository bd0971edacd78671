//! `warpscope recall`: measures the answers of an approximate index.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Arg;
use clap::builder::Resettable;

use super::answer::answer;
use super::answers::{self, Answers};
use super::bar::Bar;
use super::columns::SearchedColumns;
use super::flags::{EngineArgs, JsonArgs, LimitArgs, QueriesArgs, SearchArgs, SourceArgs};
use super::job::{Request, check_device};
use super::paths::{protect_files, table_path};
use super::queries::QueryChoice;
use super::usage::UsageError;
use super::{output, values};
use crate::cloud::{Coordinates, Source};
use crate::export::{self, tables, text};
use crate::knn::{Metric, Ranking};
use crate::run::answers::recall::{self, FlawCounts, Recall, RecallAt, RecallError, TieDetection, Truth};
use crate::run::{Arithmetic, EnginePool};

/// The version of the layout of `--json`.
const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, clap::Args)]
#[command(
    mut_group("cloud", |group| group.required(false)),
    mut_args(reworded)
)]
pub struct RecallArgs {
    /// Answers to judge: a file of neighbours
    ///
    /// Any file that `verify --reference` accepts, such as .ivecs, .ibin, .npz, .csv or the .hdf5 of
    /// ann-benchmarks.
    answers: PathBuf,
    /// Read the truth from a file of neighbours
    ///
    /// With --input and --queries, distances are recomputed and ties count as hits. Without a cloud, an
    /// answer counts if the truth lists it or if distances in the truth show that it ties with the k-th.
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Values of k: 1,10,100 [default: the answers per query]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = at_least_one)]
    at: Vec<usize>,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    queries: QueriesArgs,
    #[command(flatten)]
    method: SearchArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Number of worst queries to list
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10,
        value_parser = values::whole::<usize>,
        help_heading = "Results"
    )]
    worst: usize,
    /// Table to write: one row per query
    ///
    /// .csv, .tsv, .parquet, .arrow or .npz.
    #[arg(long, value_name = "FILE", value_parser = table_path, help_heading = "Results")]
    out: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Results")]
    json: JsonArgs,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    values::whole(text)
        .ok()
        .filter(|&k| k > 0)
        .ok_or_else(|| format!("invalid number of neighbours `{text}`: must be 1 or more"))
}

#[derive(serde::Serialize)]
struct Report<'a> {
    schema_version: u32,
    queries: usize,
    /// Answers per query.
    width: usize,
    truth: &'a str,
    /// The metric of the distances; absent if none were computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<&'static str>,
    #[serde(flatten)]
    searched: Option<SearchedColumns>,
    ties: TieDetection,
    flaws: FlawCounts,
    recall: Vec<RecallAt>,
    worst: Vec<WorstQuery>,
}

/// One of the worst queries at the largest k.
#[derive(serde::Serialize)]
struct WorstQuery {
    query: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
    recall: f64,
    hits: u32,
    of: u32,
}

/// The recall, and how it was determined.
struct RecallResult {
    recall: Recall,
    /// Each query's record number, if known.
    rows: Option<Vec<u64>>,
    /// Where the truth comes from.
    truth: String,
    /// The metric of the search.
    metric: Option<Metric>,
    searched: Option<SearchedColumns>,
}

/// # Errors
/// One sentence saying why it failed.
pub fn run(args: &RecallArgs) -> anyhow::Result<()> {
    let source = args.source.source();
    check_usage(args, source.is_none())?;
    if let Some(out) = &args.out {
        let files = [Some(&args.answers), args.truth.as_ref(), args.source.input.as_ref(), query_file(args)];
        protect_files("an input file", files.into_iter().flatten(), [out.clone()])?;
        export::check(out)?;
    }
    check_device(args.engine.device.device, std::slice::from_ref(&args.engine.engine))?;
    let given = answers::read(ANSWERS, &args.answers, false)?.with_rows()?;
    let mut ks = args.at.clone();
    if ks.is_empty() {
        ks.push(given.table.columns.len());
    }
    ks.sort_unstable();
    ks.dedup();
    let truth =
        args.truth.as_deref().map(|path| answers::read("--truth", path, true)?.with_rows()).transpose()?;
    if let Some(truth) = &truth {
        given.found.check_truth(&truth.found)?;
    }
    let judged = match (source, &truth) {
        (None, Some(truth)) => by_files(&given, truth, &ks)?,
        (Some(source), truth) => {
            by_distance(args.request(source, ks.last().copied().unwrap_or(1)), &given, truth.as_ref(), &ks)?
        }
        (None, None) => bail!(UsageError(NO_TRUTH.to_owned())),
    };
    if let Some(out) = &args.out {
        tables::recall(&judged.recall, judged.rows.as_deref()).write(out)?;
    }
    let report = report(&given.table, &judged, args.worst);
    if args.json.json {
        output::print_json(&report)
    } else {
        output::print(&report_text(&report, &given.path, args.out.as_deref()))
    }
}

/// Rewords shared flags for this command.
fn reworded(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "queries" => arg
            .help("Queries that were answered, as for `run` [default: all]")
            .long_help(Resettable::Reset)
            .requires("cloud"),
        "engine" => arg.help("Engine that computes the truth: ENGINE:key=value,…"),
        _ => arg,
    }
}

/// Name of the answers in errors.
const ANSWERS: &str = "ANSWERS";

const NO_TRUTH: &str = "no truth to compare with: add --input and --queries to compute it, or --truth FILE";

fn check_usage(args: &RecallArgs, without_cloud: bool) -> anyhow::Result<()> {
    if without_cloud && args.truth.is_none() {
        bail!(UsageError(NO_TRUTH.to_owned()));
    }
    if without_cloud
        && (args.method.own.exclude_self
            || args.method.metric.metric.is_some_and(|given| given != Ranking::Distance(Metric::L2)))
    {
        bail!(UsageError("--exclude-self and --metric need a search; add --input and --queries".to_owned()));
    }
    Ok(())
}

fn query_file(args: &RecallArgs) -> Option<&PathBuf> {
    if let Some(QueryChoice::File(path)) = &args.queries.queries { Some(path) } else { None }
}

impl RecallArgs {
    /// The search that computes the truth.
    fn request(&self, source: Source, k: usize) -> Request {
        Request {
            queries: Some(self.queries.queries.clone().unwrap_or(QueryChoice::All)),
            engines: vec![self.engine.engine.clone()],
            device: self.engine.device.device,
            ..self.method.request(&self.source, source, k)
        }
    }
}

/// Compares row numbers, and distances if the truth has them.
fn by_files(given: &Answers, truth: &Answers, ks: &[usize]) -> anyhow::Result<RecallResult> {
    if let Some(rows) = &truth.query_rows {
        given.check_rows(ANSWERS, rows)?;
    }
    let bar = Bar::new("comparing");
    let recall = recall::of_files(&given.table, &truth.table, truth.distances.as_ref(), ks, &bar);
    let recall = recall.map_err(|why| with_file(why, &given.path, &truth.path))?;
    let rows = given
        .query_rows
        .clone()
        .or_else(|| truth.query_rows.clone())
        .filter(|rows| rows.len() == recall.queries());
    Ok(RecallResult { rows, recall, truth: truth.path.display().to_string(), metric: None, searched: None })
}

/// Compares distances computed from the cloud.
fn by_distance(
    mut request: Request,
    given: &Answers,
    truth: Option<&Answers>,
    ks: &[usize],
) -> anyhow::Result<RecallResult> {
    given.found.fill(ANSWERS, &mut request)?;
    truth.map_or(Ok(()), |truth| truth.found.fill("--truth", &mut request))?;
    request.check()?;
    let job = request.load()?;
    let (problem, queries) = (job.problem()?, job.cloud_of_queries()?);
    let rows: Vec<u64> =
        (0..problem.q()).map(|query| queries.record(problem.query_row(query) as usize)).collect();
    if !job.is_at_position() {
        given.check_rows(ANSWERS, &rows)?;
        truth.map_or(Ok(()), |truth| truth.check_rows("--truth", &rows))?;
    }
    let judge = |truth: Truth<'_>| {
        recall::of_problem(&problem, &job.cloud, &queries, &given.table, truth, ks, &Bar::new("comparing"))
    };
    let (recall, from) = match truth {
        Some(truth) => (judge(Truth::Listed(&truth.table)), truth.path.display().to_string()),
        None => {
            let found = answer(&mut EnginePool::default(), &job, Arithmetic::File)?.record;
            let from = format!("computed by {} on {}", found.engine, found.device.name);
            (judge(Truth::Found(&found.neighbors)), from)
        }
    };
    let recall =
        recall.map_err(|why| with_file(why, &given.path, truth.map_or(&given.path, |truth| &truth.path)))?;
    Ok(RecallResult {
        recall,
        rows: Some(rows),
        truth: from,
        metric: Some(job.spec.metric),
        searched: Some(job.searched),
    })
}

/// Adds the file to an error.
fn with_file(why: RecallError, answers: &Path, truth: &Path) -> anyhow::Error {
    let path = match why {
        RecallError::Cancelled => return why.into(),
        RecallError::Truth { .. }
        | RecallError::TruthRows(_)
        | RecallError::Width { table: "the truth", .. } => truth,
        _ => answers,
    };
    anyhow!("{why}: {}", path.display())
}

fn report<'a>(answers: &Coordinates, judged: &'a RecallResult, worst: usize) -> Report<'a> {
    let RecallResult { recall, rows, truth, metric, searched } = judged;
    let last = recall.ks().len() - 1;
    let of = |query: usize| {
        let (hits, of) = recall.hits(query, last);
        WorstQuery {
            query,
            row: rows.as_ref().map(|rows| rows[query]),
            recall: recall.recall(query, last),
            hits,
            of,
        }
    };
    Report {
        schema_version: SCHEMA_VERSION,
        queries: recall.queries(),
        width: answers.columns.len(),
        truth,
        metric: metric.map(Metric::name),
        searched: searched.clone(),
        ties: recall.ties(),
        flaws: recall.flaws(),
        recall: recall.summary(),
        worst: recall.worst(last, worst).into_iter().map(of).collect(),
    }
}

fn report_text(report: &Report<'_>, answers: &Path, out: Option<&Path>) -> String {
    let (queries, width) = (
        text::count(report.queries as u64, "query", "queries"),
        text::count(report.width as u64, "neighbour", "neighbours"),
    );
    let mut head = vec![
        vec!["answers".to_owned(), format!("{queries}, {width} each: {}", answers.display())],
        vec!["truth".to_owned(), report.truth.to_owned()],
        vec!["ties".to_owned(), ties(report)],
    ];
    let FlawCounts { missing, duplicates, out_of_range, own } = report.flaws;
    let flaws = [
        (missing, "missing"),
        (duplicates, "duplicate"),
        (out_of_range, "not a row"),
        (own, "the query's own row, which is excluded"),
    ];
    let flaws: Vec<String> = flaws
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", text::thousands(*count)))
        .collect();
    if !flaws.is_empty() {
        head.push(vec!["no hits".to_owned(), flaws.join(", ")]);
    }
    if let Some(out) = out {
        head.push(vec!["wrote".to_owned(), out.display().to_string()]);
    }
    let share = |share: f64| text::rounded_part(share, 1.0, 4);
    let mut rows =
        vec![["recall at", "mean", "min", "5 %", "25 %", "median", "perfect"].map(str::to_owned).to_vec()];
    for RecallAt { k, spread, perfect, .. } in &report.recall {
        let numbers = [spread.mean, spread.min, spread.p05, spread.p25, spread.median].map(share);
        rows.push(
            [text::thousands(*k as u64)]
                .into_iter()
                .chain(numbers)
                .chain([text::thousands(*perfect)])
                .collect(),
        );
    }
    let mut all = format!("{}\n{}", text::table(&head, &[]), text::table(&rows, &[0, 1, 2, 3, 4, 5, 6]));
    if !report.worst.is_empty() {
        let mut rows = vec![["worst query", "row", "recall", "hits"].map(str::to_owned).to_vec()];
        rows.extend(report.worst.iter().map(|worst| {
            let hits =
                format!("{} of {}", text::thousands(worst.hits.into()), text::thousands(worst.of.into()));
            vec![
                text::thousands(worst.query as u64),
                worst.row.map_or_else(|| "–".to_owned(), text::thousands),
                share(worst.recall),
                hits,
            ]
        }));
        all += &format!("\n{}", text::table(&rows, &[0, 1, 2, 3]));
    }
    all
}

/// How answers that tie with the k-th neighbour count.
fn ties(report: &Report<'_>) -> String {
    let undecided: u64 = report.recall.iter().map(|at| at.undecided).max().unwrap_or(0);
    match report.ties {
        TieDetection::Computed => "answers that tie with the k-th neighbour are hits".to_owned(),
        TieDetection::RowsOnly => {
            "unknown without distances: only answers that the truth lists are hits; add \
                          --input and --queries to compute distances"
                .to_owned()
        }
        TieDetection::Listed if undecided == 0 => {
            "answers that tie with the k-th neighbour are hits, by the distances in the truth".to_owned()
        }
        TieDetection::Listed => {
            let undecided = text::count(
                undecided,
                "unlisted answer may tie and counts",
                "unlisted answers may tie and count",
            );
            format!("by the distances in the truth; {undecided} as wrong (decide with --input and --queries)")
        }
    }
}
