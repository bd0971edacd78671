//! What two runs were asked, side by side.

use serde::Serialize;

use crate::cloud::Source;
use crate::run::{Machine, QuerySpec, RunFile};
use crate::text;

/// Names of the parameters that make up the job ([`Parameter::is_job`]).
const JOB: [&str; 7] = ["cloud", "n", "d", "q", "k", "metric", "exclude-self"];

/// Something that a run was asked, or that it ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// As printed, such as `k` or `metric`.
    pub name: String,
    /// In the first run; empty where it has none.
    pub a: String,
    /// In the second run; empty where it has none.
    pub b: String,
    /// Whether it may be another from one minute to the next, such as a clock or a temperature.
    pub condition: bool,
}

impl Parameter {
    /// Whether it says how much there was to do, or what: runs that differ in it are different jobs.
    pub fn is_job(&self) -> bool {
        !self.condition && JOB.contains(&self.name.as_str())
    }

    /// Whether the runs differ in it.
    pub fn differs(&self) -> bool {
        self.a != self.b
    }
}

/// All of two runs, in the order in which one thinks: data, query, method, machine.
pub fn parameters(a: &RunFile, b: &RunFile) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = (asked(a).into_iter().zip(asked(b)))
        .map(|((name, a), (_, b))| Parameter { name: name.to_owned(), a, b, condition: false })
        .filter(|parameter| !(parameter.a.is_empty() && parameter.b.is_empty()))
        .collect();
    let load = |run: &RunFile| run.machine.as_ref().and_then(Machine::load).unwrap_or_default();
    if !(load(a).is_empty() && load(b).is_empty()) {
        all.push(Parameter { name: "load".to_owned(), a: load(a), b: load(b), condition: true });
    }
    let of =
        |run: &RunFile, name: &str| run.device.details.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in a.device.details.iter().chain(&b.device.details) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    all.extend(names.into_iter().map(|name| Parameter { name: name.clone(), a: of(a, name), b: of(b, name), condition: true }));
    all
}

fn asked(run: &RunFile) -> [(&'static str, String); 23] {
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
        Source::File { path, .. } => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        Source::Generate { spec, .. } => spec.clone(),
        Source::Coordinates(_) => source.to_string(),
    }
}

fn queries(queries: &QuerySpec) -> String {
    match queries {
        QuerySpec::All => "every row".to_owned(),
        QuerySpec::Count(count) => format!("{} drawn", text::thousands(*count)),
        QuerySpec::Rows(rows) => match rows[..] {
            [row] => format!("row {}", text::thousands(row)),
            _ => format!("{} listed", text::thousands(rows.len() as u64)),
        },
        QuerySpec::At(_) => "a place".to_owned(),
        QuerySpec::File { path, .. } => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
    }
}
