//! `warpscope verify`: checks engines, and the answers in a file given by `--reference`.

use std::path::PathBuf;

use super::answers::{self, Answers};
use super::bar::Bar;
use super::columns::SearchedColumns;
use super::flags::{EngineListArgs, JsonArgs, LimitArgs, ProblemArgs};
use super::job::Job;
use super::{output, queries};
use crate::cloud::{Axis, Coordinates, PointCloud};
use crate::export::text;
use crate::knn::{Method, Metric, Neighbors, Problem};
use crate::run::answers::recall::{self, RecallAt, Truth};
use crate::run::answers::{AnswerVerdict, check};
use crate::run::verify::file_order::{self, FileOrderVerdict};
use crate::run::verify::own_values::{Float64Comparison, Float64Data};
use crate::run::verify::{EngineVerdict, Verification, have_comparable_counters, verify};
use crate::run::{EngineChoice, EnginePool, RunSpec};

/// The version of the layout of `--json`.
const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    problem: ProblemArgs,
    #[command(flatten)]
    engine: EngineListArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Also check the neighbours in a file
    ///
    /// A file that `run` wrote (neighbours, a folder or a recording), or the .ivecs or .hdf5 of a benchmark.
    /// It has rows of row numbers, nearest first, or a line for each neighbour with its `query`, `rank` and
    /// `index`. If the file has as many rows as there are queries, they answer the queries in order;
    /// otherwise they answer the rows of the queries' file. In the layout of ann-benchmarks, `neighbors` is
    /// read. The metric, columns and exclusion of a query's own row that the file declares apply unless flags
    /// override them.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    reference: Option<PathBuf>,
    /// Also count queries whose neighbours differ in float64
    ///
    /// Distances then use the file's 64-bit values; searches use f32.
    #[arg(long, help_heading = "Results")]
    f64: bool,
    #[command(flatten, next_help_heading = "Results")]
    json: JsonArgs,
}

impl VerifyArgs {
    /// The engines given by name. Empty if all that can run are meant, as when `auto` is among them.
    fn named(&self) -> Vec<Method> {
        let named = self.engine.engines().into_iter().map(|choice| match choice {
            EngineChoice::Auto => None,
            EngineChoice::Named(method) => Some(method),
        });
        named.collect::<Option<_>>().unwrap_or_default()
    }
}

#[derive(serde::Serialize)]
struct Report<'a> {
    schema_version: u32,
    n: usize,
    q: usize,
    d: usize,
    k: usize,
    metric: &'static str,
    #[serde(flatten)]
    searched: SearchedColumns,
    /// What the verdict covers: answers are exact on the coordinates as searched.
    exact_on: &'static str,
    agreed: bool,
    engines: &'a [EngineVerdict],
    /// Whether lists by the file's values, as `knn` gives them, are right.
    file_order: Option<&'a FileOrderVerdict>,
    /// The comparison by the file's own values, with --f64.
    file_values: Option<Float64Comparison>,
    /// The verdict on the answers in a file, if one was given.
    reference: Option<&'a FileVerdict>,
}

/// # Errors
/// When an engine is wrong, naming the first mismatch, and when nothing could be verified.
pub fn run(args: &VerifyArgs) -> anyhow::Result<()> {
    let mut request = args.problem.request(args.engine.engines(), args.engine.device);
    request.check()?;
    let answers = args.reference.as_deref().map(|path| answers::read(REFERENCE, path, false)).transpose()?;
    if let Some(answers) = &answers {
        answers.found.fill(REFERENCE, &mut request)?;
        request.check()?;
    }
    let job = request.load()?;
    let (problem, queries) = (job.problem()?, job.cloud_of_queries()?);
    let Job { spec, cloud, query_cloud, searched, .. } = job;
    // Refuses work that would take too long before the engines run.
    let values = args.f64.then(|| Float64Data::new(&problem, &cloud, &queries)).transpose()?;
    let Verification { verdicts, correct: right } = verify(
        &problem,
        &args.named(),
        args.engine.device.device,
        &mut EnginePool::default(),
        &Bar::new("verifying"),
    )?;
    let compare = |(values, right): (Float64Data<'_>, &Neighbors)| {
        values.compare(right, &Bar::new("comparing with the file's values"))
    };
    let file_values = values.zip(right.as_ref()).map(compare).transpose()?;
    let file_order = right.as_ref().and_then(|right| {
        file_order::check(&problem, &cloud, &queries, right, &Bar::new("checking the file's order"))
    });
    let reference = answers
        .as_ref()
        .map(|answers| FileVerdict::check(answers, &problem, spec.metric, [&cloud, &queries], right.as_ref()))
        .transpose()?;
    if args.json.json {
        let wrong_answers = reference.as_ref().and_then(|reference| reference.verdict.mismatch.as_ref());
        output::print_json(&Report {
            schema_version: SCHEMA_VERSION,
            n: problem.n(),
            q: problem.q(),
            d: problem.dims(),
            k: problem.reported_k(),
            metric: spec.metric.name(),
            searched,
            exact_on: "the coordinates in f32, as they are searched",
            agreed: (verdicts.iter().find_map(|verdict| verdict.mismatch.as_ref()))
                .or(wrong_answers)
                .or(file_order.as_ref().and_then(|checked| checked.mismatch.as_ref()))
                .is_none(),
            engines: &verdicts,
            file_order: file_order.as_ref(),
            file_values,
            reference: reference.as_ref(),
        })?;
    } else {
        let sizes =
            [("n", problem.n()), ("q", problem.q()), ("d", problem.dims()), ("k", problem.reported_k())];
        let sizes = sizes.map(|(name, size)| format!("{name} = {}", text::thousands(size as u64))).join(", ");
        let mut columns = format!("columns {}", output::columns(cloud.axes()));
        if let Some(queries) = &query_cloud {
            columns += &format!("; queries: {}", output::columns(queries.axes()));
        }
        let values = match &file_values {
            Some(values) => own_values_text(values, spec.metric),
            None if right.is_some() => {
                format!("{VERIFIED_ON}; --f64 also compares with the file's own 64-bit values\n")
            }
            None => String::new(),
        };
        let order = file_order.as_ref().map_or_else(String::new, file_order_text);
        let reference = reference.as_ref().map_or_else(String::new, FileVerdict::text);
        output::print(&format!(
            "{sizes}, {}, {} order\n{columns}\n{}{order}{values}{reference}",
            spec.metric,
            spec.order.name(),
            table(&verdicts)
        ))?;
    }
    conclude(&verdicts)?;
    if let Some(mismatch) = file_order.and_then(|checked| checked.mismatch) {
        anyhow::bail!("wrong answer: {mismatch}");
    }
    reference.map_or(Ok(()), |reference| reference.conclude(&spec, cloud.axes()))
}

/// The flag, as named in errors.
const REFERENCE: &str = "--reference";

const VERIFIED_ON: &str = "exact on the coordinates in f32, as they are searched";

fn file_order_text(FileOrderVerdict { queries, mismatch }: &FileOrderVerdict) -> String {
    let of = text::count(*queries, "sampled query", "sampled queries");
    match mismatch {
        Some(_) => format!("by the file's values, as `knn` orders: WRONG for one of {of}\n"),
        None => format!("by the file's values, as `knn` orders: the lists of {of} are exact\n"),
    }
}

fn own_values_text(values: &Float64Comparison, metric: Metric) -> String {
    let Float64Comparison { queries, different, missing, largest_excess } = values;
    let of = text::count(*queries, "query", "queries");
    if *different == 0 {
        return format!(
            "{VERIFIED_ON}, and by the file's own 64-bit values: the nearest neighbours of {of} are the \
             same, ties aside\n"
        );
    }
    let ordered = match different - missing {
        0 => String::new(),
        _ if *missing == 0 => ", all only in order".to_owned(),
        ordered => format!(", {} of them only in order", text::thousands(ordered)),
    };
    let unit = metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
    format!(
        "{VERIFIED_ON}; by the file's own 64-bit values the nearest neighbours of {} of {of} differ, ties \
         aside{ordered}, by at most {}{unit}\n",
        text::thousands(*different),
        text::significant_to(*largest_excess, 3)
    )
}

/// Fails at the first mismatch, or if nothing was verified.
fn conclude(verdicts: &[EngineVerdict]) -> anyhow::Result<()> {
    match verdicts.iter().find_map(|verdict| verdict.mismatch.as_ref()) {
        Some(mismatch) => anyhow::bail!("wrong answer: {mismatch}"),
        None if verdicts.iter().all(|verdict| verdict.not_run.is_some()) => {
            anyhow::bail!("nothing verified: no engine can run this problem")
        }
        None => Ok(()),
    }
}

fn table(verdicts: &[EngineVerdict]) -> String {
    let mut rows = vec![
        ["engine", "oracle", "largest error", "ties resolved differently", "bit for bit"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for verdict in verdicts {
        let mut row = vec![verdict.name()];
        match (&verdict.not_run, &verdict.mismatch) {
            (Some(why), _) => row.push(format!("cannot run: {why}")),
            (None, Some(_)) => row.push("WRONG".to_owned()),
            (None, None) => row.extend([
                "agrees".to_owned(),
                if verdict.largest_relative_error == 0.0 {
                    "0".to_owned()
                } else {
                    format!("{:.1e}", verdict.largest_relative_error)
                },
                text::thousands(verdict.ties),
                match verdict.equal_to {
                    None => "–".to_owned(),
                    Some(other) if verdict.counted && have_comparable_counters(other, verdict.engine) => {
                        format!("{other}, counters too")
                    }
                    Some(other) => other.to_string(),
                },
            ]),
        }
        rows.push(row);
    }
    // Long reasons go below the table, so that they do not widen its columns.
    let (short, long): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row.len() > 2 || row[1] == "WRONG");
    let mut out = text::table(&short, &[2, 3]);
    // Engines with the same reason share a line.
    out.extend(long.chunk_by(|a, b| a[1] == b[1]).map(|rows| {
        let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        format!("{}  {}\n", names.join(", "), rows[0][1])
    }));
    out
}

/// The verdict on the answers in a file.
#[derive(serde::Serialize)]
pub struct FileVerdict {
    path: String,
    #[serde(flatten)]
    pub verdict: AnswerVerdict,
    /// Recall relative to a correct engine's answer; absent if no engine is correct.
    recall: Option<RecallAt>,
}

impl FileVerdict {
    /// Checks what was read; `right` are the true neighbours, as positions.
    ///
    /// # Errors
    /// When there is nothing to compare.
    pub fn check(
        answers: &Answers,
        problem: &Problem,
        metric: Metric,
        [cloud, queries]: [&PointCloud; 2],
        right: Option<&Neighbors>,
    ) -> anyhow::Result<Self> {
        let path = answers.path.display().to_string();
        let verdict = check(
            problem,
            metric,
            cloud,
            queries,
            &answers.table,
            &Bar::new("checking the reference answers"),
        );
        let verdict = verdict.map_err(|why| anyhow::anyhow!("{why}: {path}"))?;
        let recall =
            right.map(|right| recall_of(problem, [cloud, queries], &answers.table, right)).transpose();
        Ok(Self { verdict, recall: recall.map_err(|why| anyhow::anyhow!("{why}: {path}"))?.flatten(), path })
    }

    /// # Errors
    /// The first wrong answer, with a remedy.
    pub fn conclude(&self, spec: &RunSpec, axes: &[Axis]) -> anyhow::Result<()> {
        let Self { path, verdict: verdict @ AnswerVerdict { queries, wrong, mismatch, .. }, recall } = self;
        let Some(why) = mismatch else { return Ok(()) };
        let mean = recall.as_ref().map(|at| at.spread.mean);
        if verdict.suggests_other_queries(mean) {
            let of = format!("{} of {}", text::thousands(*wrong), text::count(*queries, "query", "queries"));
            let asked = queries::describe(spec, axes);
            anyhow::bail!(
                "wrong reference answers: {of}; the file was probably made with different queries (here: \
                 {asked}), or a different cloud or metric; pass the --queries, --seed, --input and --metric \
                 it was made with (first mismatch: {why}): {path}"
            )
        }
        anyhow::bail!("wrong reference answers: {why}: {path}")
    }

    pub fn text(&self) -> String {
        let Self { path, verdict: AnswerVerdict { queries, wrong, ties, .. }, recall } = self;
        let ties = text::count(*ties, "tie", "ties");
        let of = text::count(*queries, "query", "queries");
        if *wrong == 0 {
            return format!(
                "reference answers agree with the oracle: {of}, {ties} resolved differently: {path}\n"
            );
        }
        let Some(RecallAt { k, spread, perfect, .. }) = recall else {
            return format!("reference answers WRONG: {} of {of}: {path}\n", text::thousands(*wrong));
        };
        let imperfect = queries - perfect;
        let mut parts = Vec::new();
        if imperfect > 0 {
            let verb = if imperfect == 1 { "has" } else { "have" };
            parts.push(format!(
                "{} of {of} {verb} a neighbour outside the true {}",
                text::thousands(imperfect),
                text::thousands(*k as u64)
            ));
        }
        match wrong.saturating_sub(imperfect) {
            0 => {}
            ordered if imperfect == 0 => {
                parts.push(format!("{} of {of} in the wrong order", text::thousands(ordered)))
            }
            ordered => parts.push(format!("{} more in the wrong order", text::thousands(ordered))),
        }
        if wrong < queries {
            parts.push(format!("in the others, {ties} resolved differently"));
        }
        let mean = text::rounded_part(spread.mean, 1.0, 4);
        format!("reference answers WRONG: recall@{k} {mean}: {}: {path}\n", parts.join("; "))
    }
}

/// Recall@k of a table of answers.
fn recall_of(
    problem: &Problem,
    [cloud, queries]: [&PointCloud; 2],
    table: &Coordinates,
    right: &Neighbors,
) -> Result<Option<RecallAt>, recall::RecallError> {
    let found = problem.report(right.clone());
    let bar = Bar::new("counting true neighbours");
    let recall = recall::of_problem(
        problem,
        cloud,
        queries,
        table,
        Truth::Found(&found),
        &[problem.reported_k()],
        &bar,
    )?;
    Ok(recall.summary().first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::EngineId;
    use crate::run::stats::SummaryStats;

    fn verdict(engine: &str, mismatch: Option<&str>, not_run: Option<&str>) -> EngineVerdict {
        EngineVerdict {
            engine: EngineId::new(engine),
            method: None,
            device: None,
            not_run: not_run.map(str::to_owned),
            queries: 5,
            largest_relative_error: 1.23e-7,
            ties: 1234,
            equal_to: (engine == "kdtree").then_some(EngineId::new("cuda")),
            counted: false,
            mismatch: mismatch.map(str::to_owned),
        }
    }

    #[test]
    fn the_first_mismatch_fails_the_job() {
        let good = verdict("cuda", None, None);
        let bad = |why| verdict("lockstep", Some(why), None);
        let absent = verdict("cuda", None, Some("no driver"));
        assert!(conclude(&[good.clone(), absent.clone()]).is_ok());
        assert_eq!(
            conclude(&[good, bad("first"), bad("second")]).unwrap_err().to_string(),
            "wrong answer: first"
        );
        assert!(conclude(&[absent]).unwrap_err().to_string().starts_with("nothing verified"));
    }

    #[test]
    fn the_table_shows_wrong_and_unavailable_engines() {
        let table = table(&[
            verdict("cuda", None, None),
            verdict("lockstep", Some("query 3"), None),
            verdict("kdtree", None, None),
            verdict("cuda", None, Some("no driver")),
        ]);
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["cuda", "agrees", "1.2e-7", "1,234", "–"]);
        assert_eq!(lines[2], ["lockstep", "WRONG"]);
        assert_eq!(lines[3], ["kdtree", "agrees", "1.2e-7", "1,234", "cuda"]);
        assert_eq!(lines[4], ["cuda", "cannot", "run:", "no", "driver"]);
    }

    #[test]
    fn reference_answers_report_errors_and_recall() {
        let text = |wrong, recalls: Option<&[f64]>| {
            let recall = recalls.map(|recalls| RecallAt {
                k: 10,
                spread: SummaryStats::new(recalls.iter().copied()).unwrap(),
                perfect: recalls.iter().filter(|&&recall| recall == 1.0).count() as u64,
                undecided: 0,
            });
            FileVerdict {
                path: "a.csv".to_owned(),
                verdict: AnswerVerdict { queries: 4, wrong, ties: 1, mismatch: None },
                recall,
            }
            .text()
        };
        assert_eq!(
            text(0, Some(&[1.0; 4])),
            "reference answers agree with the oracle: 4 queries, 1 tie resolved differently: a.csv\n"
        );
        assert_eq!(text(3, None), "reference answers WRONG: 3 of 4 queries: a.csv\n");
        let wrong = |wrong, recalls: [f64; 4]| {
            text(wrong, Some(&recalls)).replace("reference answers WRONG: ", "").replace(": a.csv\n", "")
        };
        assert_eq!(
            wrong(2, [0.9, 1.0, 1.0, 0.6]),
            "recall@10 0.8750: 2 of 4 queries have a neighbour outside the true 10; in the \
             others, 1 tie resolved differently"
        );
        assert_eq!(
            wrong(4, [0.9; 4]),
            "recall@10 0.9000: 4 of 4 queries have a neighbour outside the true 10"
        );
        assert_eq!(
            wrong(3, [0.9, 1.0, 1.0, 1.0]),
            "recall@10 0.9750: 1 of 4 queries has a neighbour outside the true 10; 2 more in the wrong \
             order; in the others, 1 tie resolved differently"
        );
        assert_eq!(
            wrong(2, [1.0; 4]),
            "recall@10 1.0000: 2 of 4 queries in the wrong order; in the others, 1 tie resolved differently"
        );
    }
}
