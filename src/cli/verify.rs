//! `warpscope verify`: is it right?

use std::path::PathBuf;
use std::sync::Arc;

use super::answers::{self, Answers};
use super::bar::Bar;
use super::input::{DeviceArgs, EnginesParser, Loaded, ProblemArgs};
use super::threads::ThreadsArgs;
use super::{output, queries};
use crate::cloud::query_point;
use crate::export::text;
use crate::knn::Method;
use crate::run::answers::{AnswersVerdict, check};
use crate::run::verify::{EngineVerdict, count_alike, verify};
use crate::run::{EngineChoice, Engines, QuerySpec, build_problem};

#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Which engines, such as cuda,lockstep; auto, the default, is all that can run
    #[arg(long, value_name = "LIST", value_parser = EnginesParser, help_heading = "Search")]
    engine: Vec<Vec<EngineChoice>>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    pub threads: ThreadsArgs,
    /// Also checks the neighbours in a file: one that `run` wrote (neighbours, a folder, a recording), or .ivecs or .hdf5 of a benchmark
    ///
    /// It holds rows of row numbers, nearest first, or a line for each neighbour with its `query`, `rank` and `index`. They are
    /// answers to the queries in their order where there are as many, or to the rows of the queries' file. Of the layout of
    /// ann-benchmarks `neighbors` is taken, and its `distance` must be the metric.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    reference: Option<PathBuf>,
    /// Prints JSON
    #[arg(long, help_heading = "Results")]
    json: bool,
}

impl VerifyArgs {
    /// The engines that were asked for by name; none is all that can run, and so is `auto` among them.
    fn named(&self) -> Vec<Method> {
        let named = self.engine.concat().into_iter().map(|choice| match choice {
            EngineChoice::Auto => None,
            EngineChoice::Named(method) => Some(method),
        });
        named.collect::<Option<_>>().unwrap_or_default()
    }
}

#[derive(serde::Serialize)]
struct Report<'a> {
    n: usize,
    q: usize,
    d: usize,
    k: usize,
    agreed: bool,
    engines: &'a [EngineVerdict],
    /// Of the answers in a file, where one was named.
    reference: Option<&'a AnswersVerdict>,
}

/// # Errors
/// When an engine is wrong, naming the first mismatch, and when nothing could be verified.
pub fn run(args: &VerifyArgs) -> anyhow::Result<()> {
    args.device.check(&args.engine.concat())?;
    let Loaded { spec, cloud, query_cloud } = args.problem.load(&args.engine.concat())?;
    let problem = build_problem(&spec, &cloud, query_cloud.as_ref())?;
    let answers = args.reference.as_deref().map(|path| answers::read("--reference", path, Some(spec.metric), false)).transpose()?;
    let verdicts = verify(&problem, &args.named(), args.device.device, &mut Engines::default(), &Bar::new("verifying"))?;
    let place = match &spec.queries {
        QuerySpec::At(at) => Some(Arc::new(query_point::cloud(at, &cloud)?)),
        _ => None,
    };
    let reference = answers.map(|Answers { path, table, .. }| {
        let queries = place.as_ref().or(query_cloud.as_ref()).unwrap_or(&cloud);
        let verdict = check(&problem, spec.metric, &cloud, queries, &table, &Bar::new("checking the reference answers"));
        verdict.map(|verdict| (path.display().to_string(), verdict)).map_err(|why| anyhow::anyhow!("{why}: {}", path.display()))
    });
    let reference = reference.transpose()?;
    let wrong_answers = reference.as_ref().and_then(|(_, verdict)| verdict.mismatch.as_ref());
    let mismatch = verdicts.iter().find_map(|verdict| verdict.mismatch.as_ref()).or(wrong_answers);
    if args.json {
        let agreed = mismatch.is_none();
        output::print_json(&Report {
            n: problem.n(),
            q: problem.q(),
            d: problem.dims(),
            k: problem.reported_k(),
            agreed,
            engines: &verdicts,
            reference: reference.as_ref().map(|(_, verdict)| verdict),
        })?;
    } else {
        let sizes = [("n", problem.n()), ("q", problem.q()), ("d", problem.dims()), ("k", problem.reported_k())];
        let sizes = sizes.map(|(name, size)| format!("{name} = {}", text::thousands(size as u64))).join(", ");
        let mut columns = format!("columns {}", output::columns(cloud.axes()));
        if let Some(queries) = &query_cloud {
            columns += &format!("; of the queries {}", output::columns(queries.axes()));
        }
        let reference = reference.as_ref().map_or_else(String::new, |(path, verdict)| answers_text(path, verdict));
        output::print(&format!("{sizes}, {}, {} order\n{columns}\n{}{reference}", spec.metric, spec.order.name(), table(&verdicts)))?;
    }
    conclude(&verdicts)?;
    match &reference {
        Some((path, verdict @ AnswersVerdict { mismatch: Some(why), .. })) if verdict.seem_to_others() => {
            let AnswersVerdict { wrong, queries, .. } = verdict;
            let of = format!("{} of {}", text::thousands(*wrong), text::count(*queries, "query", "queries"));
            let asked = queries::about(&spec);
            anyhow::bail!(
                "wrong reference answers: {of}, so that they seem to be answers to other queries than {asked}, or of another cloud or metric; \
                 ask as they were asked, with --queries, --seed, --input and --metric (the first: {why}): {path}"
            )
        }
        Some((path, AnswersVerdict { mismatch: Some(why), .. })) => anyhow::bail!("wrong reference answers: {why}: {path}"),
        _ => Ok(()),
    }
}

fn answers_text(path: &str, verdict: &AnswersVerdict) -> String {
    let AnswersVerdict { queries, wrong, ties, .. } = verdict;
    let none_right = wrong == queries;
    let ties = text::count(*ties, "other index", "other indices");
    let queries = text::count(*queries, "query", "queries");
    match wrong {
        0 => format!("reference answers agree with the oracle: {queries}, {ties} at a tie: {path}\n"),
        _ if none_right => format!("reference answers WRONG: of {queries} none is right: {path}\n"),
        _ => format!("reference answers WRONG: {} of {queries}; in the others, {ties} at a tie: {path}\n", text::thousands(*wrong)),
    }
}

/// The first mismatch, and that something was verified at all.
fn conclude(verdicts: &[EngineVerdict]) -> anyhow::Result<()> {
    match verdicts.iter().find_map(|verdict| verdict.mismatch.as_ref()) {
        Some(mismatch) => anyhow::bail!("wrong answer: {mismatch}"),
        None if verdicts.iter().all(|verdict| verdict.not_run.is_some()) => anyhow::bail!("nothing was verified: no engine can run this problem"),
        None => Ok(()),
    }
}

fn table(verdicts: &[EngineVerdict]) -> String {
    let mut rows = vec![["engine", "oracle", "largest error", "other index at a tie", "bit for bit"].map(str::to_owned).to_vec()];
    for verdict in verdicts {
        let mut row = vec![verdict.name()];
        match (&verdict.not_run, &verdict.mismatch) {
            (Some(why), _) => row.push(format!("cannot run: {why}")),
            (None, Some(_)) => row.push("WRONG".to_owned()),
            (None, None) => row.extend([
                "agrees".to_owned(),
                if verdict.largest_relative_error == 0.0 { "0".to_owned() } else { format!("{:.1e}", verdict.largest_relative_error) },
                text::thousands(verdict.ties),
                match verdict.equal_to {
                    None => "–".to_owned(),
                    Some(other) if verdict.counted && count_alike(other, verdict.engine) => format!("{other}, counters too"),
                    Some(other) => other.to_string(),
                },
            ]),
        }
        rows.push(row);
    }
    // Reasons are long, and must not widen the columns.
    let (short, long): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.len() > 2 || row[1] == "WRONG");
    let mut out = text::table(&short, &[2, 3]);
    out.extend(long.iter().map(|row| format!("{}\n", row.join("  "))));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::EngineId;

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
        assert_eq!(conclude(&[good, bad("first"), bad("second")]).unwrap_err().to_string(), "wrong answer: first");
        assert!(conclude(&[absent]).unwrap_err().to_string().starts_with("nothing was verified"));
    }

    #[test]
    fn answers_are_counted_with_what_is_right_among_them() {
        let text = |wrong| answers_text("a.csv", &AnswersVerdict { queries: 20, wrong, ties: 1, mismatch: None });
        assert_eq!(text(0), "reference answers agree with the oracle: 20 queries, 1 other index at a tie: a.csv\n");
        assert_eq!(text(3), "reference answers WRONG: 3 of 20 queries; in the others, 1 other index at a tie: a.csv\n");
        assert_eq!(text(20), "reference answers WRONG: of 20 queries none is right: a.csv\n");
    }

    #[test]
    fn the_table_shows_who_is_wrong_and_who_did_not_run() {
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
}
