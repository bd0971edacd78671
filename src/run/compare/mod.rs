//! Compares two saved runs.

mod answers;
mod histogram;
mod interval;
mod pairs;
mod phase;
mod saved;
mod sentence;

use std::path::PathBuf;

use serde::Serialize;

use super::recording::RecordingError;
use super::{Machine, Phase, QuerySpec, RunFile, RunFileError};
use crate::cloud::Source;
use crate::knn::EngineId;
use crate::text;
pub use answers::AnswerComparison;
pub use histogram::{Histogram, Quantity};
pub use interval::{Interval, MIN_PAIRS};
pub use pairs::PairedTimes;
pub use phase::{Difference, DurationStats, OUTLIER_RULE, PhaseComparison, Verdict};
pub use saved::{FolderNeighbors, MAX_RUN_BYTES, NEIGHBORS, Phases, RUN, SavedRun, TIMINGS};
pub use sentence::{GateResult, IN_TURN, percent};

/// Why two runs cannot be compared. The path is last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// An error of the operating system.
    #[error("cannot read: {why}: {}", path.display())]
    Io { why: std::io::Error, path: PathBuf },
    /// The file is not a timings.csv or a run.json.
    #[error("not a run file: {why}: {}", path.display())]
    Content {
        /// What is wrong with it.
        why: String,
        path: PathBuf,
    },
    /// Its `run.json` cannot be read.
    #[error("{why}: {}", path.display())]
    RunFile { why: RunFileError, path: PathBuf },
    /// In alternating runs, `auto` selected another engine than before.
    #[error("the {which} program used {before} earlier but {now} now; pass --engine to pin one")]
    EngineChanged { which: &'static str, before: EngineId, now: EngineId },
    /// A recording that cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// The comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Differences besides the times, one line each; empty if the settings are unknown.
    pub differences: Vec<String>,
    /// The settings and hardware of both runs; empty if unknown.
    pub parameters: Vec<Parameter>,
    /// The parameters that make the runs different jobs, whose times cannot be compared.
    pub other_job: Vec<String>,
    /// Whether they found the same neighbours, if that can be compared.
    pub answers: Option<AnswerComparison>,
    /// Why it cannot, as a part of a sentence.
    pub no_answers: Option<String>,
    /// Why other work on the machine may have affected the times, a sentence each.
    pub warnings: Vec<String>,
    /// The phases of both runs, in order.
    pub phases: Vec<PhaseComparison>,
    /// The number of pairs of runs; absent for two runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<usize>,
    /// For pairs of runs, the total of one answer: upload, index, one search, download.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Difference>,
    /// Time spent once before the searches, in milliseconds: upload and index.
    #[serde(skip)]
    setup_ms: [f64; 2],
    /// The names of these phases: `upload and index`.
    #[serde(skip)]
    setup: String,
}

impl Comparison {
    /// The search, if each run has one engine.
    pub fn search(&self) -> Option<&PhaseComparison> {
        let mut searches = self.phases.iter().filter(|phase| phase.phase == Phase::Search);
        searches.next().filter(|_| searches.next().is_none())
    }

    /// Says that neither is called faster if the runs are different jobs.
    pub fn job_sentence(&self) -> Option<String> {
        (!self.other_job.is_empty()).then(|| {
            format!("These are different jobs ({}), so neither is called faster.", self.other_job.join(", "))
        })
    }
}

/// Compares two runs phase by phase. If there are several engines, each is compared with itself.
pub fn compare(a: &SavedRun, b: &SavedRun) -> Comparison {
    let parameters = match (&a.file, &b.file) {
        (Some(a), Some(b)) => parameters(a, b),
        _ => Vec::new(),
    };
    let other_job: Vec<String> = parameters
        .iter()
        .filter(|parameter| parameter.is_job() && parameter.differs())
        .map(|parameter| parameter.name.clone())
        .collect();
    let same_job = other_job.is_empty();
    let mut phases: Vec<PhaseComparison> = Vec::new();
    let engines =
        |run: &SavedRun| run.phases.keys().map(|key| key.0).collect::<std::collections::BTreeSet<_>>();
    let (of_a, of_b) = (engines(a), engines(b));
    let waited =
        [a, b].map(|run| run.file.as_ref().and_then(|file| file.machine.as_ref()?.waited).unwrap_or(0.0));
    // Two runs of one engine each are compared even if the engines differ.
    let any = of_a.len() == 1 && of_b.len() == 1;
    for (&(engine_a, phase), times_a) in &a.phases {
        for (&(engine_b, phase_b), times_b) in &b.phases {
            if phase == phase_b && (any || engine_a == engine_b) {
                let mut difference = Difference::of_runs([times_a, times_b], waited, same_job);
                difference.missing_repeats.take_if(|_| !phase.is_repeated());
                phases.push(PhaseComparison { phase, engine_a, engine_b, difference });
            }
        }
    }
    let differ = parameters.iter().filter(|parameter| parameter.differs() && !parameter.condition);
    let spelled = |value: &str| if value.is_empty() { "none".to_owned() } else { value.to_owned() };
    let differences = differ
        .map(|parameter| {
            format!("{}: {} against {}", parameter.name, spelled(&parameter.a), spelled(&parameter.b))
        })
        .collect();
    let (answers, no_answers) =
        AnswerComparison::new(a, b).map_or_else(|why| (None, Some(why)), |answers| (Some(answers), None));
    let warning = |run: &SavedRun| run.file.as_ref().and_then(|file| file.machine.as_ref()?.load_warning());
    let warnings = [("first", a), ("second", b)].into_iter();
    let warnings = warnings
        .filter_map(|(which, run)| Some(format!("the {which} shared its machine: {}", warning(run)?)))
        .collect();
    let setup_ms = [sentence::setup_ms(a), sentence::setup_ms(b)];
    Comparison {
        differences,
        parameters,
        other_job,
        answers,
        no_answers,
        warnings,
        phases,
        pairs: None,
        total: None,
        setup_ms,
        setup: sentence::setup_text([a, b]),
    }
}

/// Names of the parameters that make up the job ([`Parameter::is_job`]).
const JOB: [&str; 7] = ["cloud", "n", "d", "q", "k", "metric", "exclude-self"];

/// A setting of a run, or a property of its hardware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// The printed name, such as `k` or `metric`.
    pub name: String,
    /// Value in the first run; may be empty.
    pub a: String,
    /// Value in the second run; may be empty.
    pub b: String,
    /// Whether it may change from minute to minute, such as a clock or a temperature.
    pub condition: bool,
}

impl Parameter {
    /// Whether it determines the work, so that runs that differ in it are different jobs.
    pub fn is_job(&self) -> bool {
        !self.condition && JOB.contains(&self.name.as_str())
    }

    /// Whether the runs differ in it.
    pub fn differs(&self) -> bool {
        self.a != self.b
    }
}

/// All parameters of two runs, in the order data, query, method, machine.
pub fn parameters(a: &RunFile, b: &RunFile) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = (settings(a).into_iter().zip(settings(b)))
        .map(|((name, a), (_, b))| Parameter { name: name.to_owned(), a, b, condition: false })
        .filter(|parameter| !(parameter.a.is_empty() && parameter.b.is_empty()))
        .collect();
    let load = |run: &RunFile| run.machine.as_ref().and_then(Machine::load).unwrap_or_default();
    if !(load(a).is_empty() && load(b).is_empty()) {
        all.push(Parameter { name: "load".to_owned(), a: load(a), b: load(b), condition: true });
    }
    let of = |run: &RunFile, name: &str| {
        run.device
            .details
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    };
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in a.device.details.iter().chain(&b.device.details) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    all.extend(names.into_iter().map(|name| Parameter {
        name: name.clone(),
        a: of(a, name),
        b: of(b, name),
        condition: true,
    }));
    all
}

fn settings(run: &RunFile) -> [(&'static str, String); 23] {
    let (spec, summary) = (&run.spec, &run.summary);
    let machine = run.machine.clone().unwrap_or_default();
    [
        ("data", data(&spec.data)),
        ("cloud", run.fingerprint.to_string()),
        ("n", text::thousands(summary.n)),
        ("d", text::thousands(summary.d)),
        ("queries", queries(&spec.queries)),
        ("query cloud", run.query_fingerprint.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("q", text::thousands(summary.q)),
        ("k", text::thousands(spec.k as u64)),
        ("metric", spec.metric.to_string()),
        ("order", spec.order.name().to_owned()),
        ("exclude-self", if spec.exclude_self { "yes" } else { "no" }.to_owned()),
        ("seed", spec.seed.to_string()),
        ("engine", run.engine.to_string()),
        ("method", run.method.clone().unwrap_or_default()),
        ("warm-ups", text::thousands(spec.warmup.into())),
        ("repeats", text::thousands(spec.repeats.into())),
        ("profiled", if spec.profile { "yes" } else { "no" }.to_owned()),
        ("device", run.device.name.clone()),
        ("version", run.warpscope_version.clone()),
        ("commit", run.commit.clone().unwrap_or_default()),
        ("CPU", machine.cpu.unwrap_or_default()),
        ("cores", machine.cores.map_or_else(String::new, |cores| cores.to_string())),
        ("governor", machine.governor.unwrap_or_default()),
    ]
}

fn data(source: &Source) -> String {
    match source {
        Source::File { path, .. } => {
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        }
        Source::Generate { spec, .. } => spec.clone(),
        Source::Coordinates(_) => source.to_string(),
    }
}

fn queries(queries: &QuerySpec) -> String {
    match queries {
        QuerySpec::All => "every row".to_owned(),
        QuerySpec::Count(count) => format!("{} sampled", text::thousands(*count)),
        QuerySpec::Rows(rows) => match rows[..] {
            [row] => format!("row {}", text::thousands(row)),
            _ => format!("{} listed", text::thousands(rows.len() as u64)),
        },
        QuerySpec::At(_) => "a point".to_owned(),
        QuerySpec::File { path, .. } => {
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::saved::saved;
    use super::*;
    use crate::cloud::Order;
    use crate::run::testing::{plain, spec, squares};
    use crate::run::{LoadedRun, LoadedSpec, QuerySpec, RunSpec, execute};

    #[test]
    fn chunk_times_are_summed_and_medians_compared() {
        let a = saved(
            "cuda,search,0,0,0,4\ncuda,search,0,1,4,6\ncuda,search,1,0,10,20\ncuda,search,2,0,30,30\ncuda,\
             upload,0,0,0,1\n",
        )
        .unwrap();
        let b = saved("lockstep,search,0,0,0,80\n").unwrap();
        let compared = compare(&a, &b);
        assert_eq!(compared.phases.len(), 1, "only common phases: {compared:?}");
        let search = &compared.phases[0];
        assert_eq!((search.a.median, search.a.min, search.a.max, search.a.repeats), (20.0, 10.0, 30.0, 3));
        assert_eq!((search.phase, search.ratio, search.verdict), (Phase::Search, Some(4.0), Verdict::TooFew));
        assert_eq!(search.text(), "too few repeats: run 3 more");
        let upload = compare(&a, &a).phases.into_iter().find(|phase| phase.phase == Phase::Upload).unwrap();
        assert_eq!(upload.text(), "timed once per run");
        assert!(compare(&a, &a).phases.iter().all(|phase| phase.ratio == Some(1.0)
            && [Verdict::NoneShown, Verdict::TooFew].contains(&phase.verdict)));
    }

    #[test]
    fn engines_are_matched_by_name() {
        let both = saved("cuda,search,0,0,0,1\nkdtree,search,0,0,0,7\n").unwrap();
        let phases = compare(&both, &both).phases;
        assert_eq!(phases.len(), 2);
        assert!(phases.iter().all(|phase| phase.engine_a == phase.engine_b));
    }

    #[test]
    fn runs_of_different_jobs_get_no_verdict() {
        let run = |change: &dyn Fn(&mut RunSpec)| {
            let mut asked = RunSpec { repeats: 3, ..spec() };
            change(&mut asked);
            let record =
                execute(LoadedSpec::new(&asked, &squares(50), None), &mut plain(), &mut |_, _| true).unwrap();
            SavedRun::from_run(LoadedRun::Whole(Arc::new(record)), Path::new("a"))
        };
        let base = run(&|_| ());
        let other = |change: &dyn Fn(&mut RunSpec)| compare(&base, &run(change));
        for (name, compared) in [
            ("k", other(&|spec| spec.k = 5)),
            ("q", other(&|spec| spec.queries = QuerySpec::Count(7))),
            ("exclude-self", other(&|spec| spec.exclude_self = true)),
        ] {
            assert_eq!(compared.other_job, [name]);
            assert_eq!(
                compared.job_sentence(),
                Some(format!("These are different jobs ({name}), so neither is called faster."))
            );
            assert!(compared.phases.iter().all(|phase| phase.verdict == Verdict::OtherJob));
        }
        for compared in
            [other(&|_| ()), other(&|spec| spec.order = Order::Shuffled), other(&|spec| spec.repeats = 9)]
        {
            assert_eq!((&compared.other_job, compared.job_sentence()), (&Vec::new(), None), "the same job");
            assert!(compared.phases.iter().all(|phase| phase.verdict != Verdict::OtherJob));
        }
    }

    #[test]
    fn invalid_timing_files_are_rejected_by_name() {
        for (rows, expected) in [
            ("", "it has no timings"),
            ("GPU,search,0,0,0,1\n", "invalid engine name `GPU`"),
            ("cuda,search,0,0,0,NaN\n", "NaN ms"),
            (
                "cuda,search,0,0,0,1\ncuda,search,0,1,1,1\ncuda,search,0,1,2,1\n",
                "line 4: duplicate row for cuda search, repeat 0, chunk 1; remove",
            ),
        ] {
            let message = saved(rows).unwrap_err().to_string();
            assert!(
                message.contains(expected) && message.ends_with("timings.csv") && !message.contains('\n'),
                "{message}"
            );
        }
        assert!(SavedRun::read(Path::new("/no/such/run")).unwrap_err().to_string().ends_with("/no/such/run"));
    }
}
