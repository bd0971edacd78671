//! `recording.json`: everything but the arrays, and which arrays there are; and what has to hold of a
//! recording before anything may rely on it: every index is in its array, and every number that sizes
//! something later is as small as what it counts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cloud::MAX_ROWS;
use crate::cloud::formats::limits::MAX_MEASURES;
use crate::knn::{NONE, Setup, warp};
use crate::run::{CloudFile, Phase, Run, RunFile};

/// What the file says it is.
pub(super) const FORMAT: &str = "warpscope recording";

/// The member that holds it.
pub(super) const NAME: &str = "recording.json";

/// What is read first: whether the rest can be.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub format: String,
    pub schema_version: u64,
    #[serde(default)]
    pub warpscope_version: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: String,
    pub schema_version: u32,
    pub warpscope_version: String,
    pub clouds: Vec<CloudEntry>,
    pub runs: Vec<RunEntry>,
    /// The place of the cloud that a window showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<usize>,
    /// The places of two runs that were compared, A and B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<[usize; 2]>,
}

/// A cloud, and whether `clouds/I/points.npy`, `exact.npy`, `records.npy` and `file.npy` are there.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CloudEntry {
    pub cloud: CloudFile,
    pub points: bool,
    pub exact: bool,
    pub records: bool,
    /// Where its file lay, where the points are not there: from the recording's folder, and absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PathBuf>,
    /// NAME where the source is `FILE:NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The bytes of the copy of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<usize>,
}

/// A run, and how long those of its arrays are whose length `run` does not say.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunEntry {
    pub name: String,
    #[serde(default)]
    pub pinned: bool,
    /// Index of the searched cloud in [`Manifest::clouds`].
    pub cloud: usize,
    /// Index of the queries' own cloud in [`Manifest::clouds`]; `None` if queries are rows of `cloud`.
    pub query_cloud: Option<usize>,
    /// What the numbers in `sample_phase.npy` stand for.
    pub phases: Vec<Phase>,
    pub samples: usize,
    /// Whether `counters.npy` is there, a row for each query.
    pub counted: bool,
    /// The columns of `counters.npy`.
    #[serde(default = "warp_measures")]
    pub measures: Vec<String>,
    /// The column that counts the merges of the convergence history.
    #[serde(default = "warp_convergence")]
    pub convergence_counted_by: String,
    /// The columns of `profile_cycles.npy`.
    #[serde(default = "warp_phases")]
    pub profile_phases: Vec<String>,
    /// Entries of the convergence history of all queries; absent without one.
    pub convergence: Option<usize>,
    /// Whether `profile_cycles.npy` and the warps' spans are there.
    pub profiled: bool,
    /// Whether the spans are there without cycles, as a CPU's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spans: bool,
    pub run: RunFile,
}

/// The columns of files that were written when there were no others.
fn warp_measures() -> Vec<String> {
    warp::MEASURES.iter().map(|measure| measure.name.to_owned()).collect()
}

fn warp_convergence() -> String {
    warp::CONVERGENCE.to_owned()
}

fn warp_phases() -> Vec<String> {
    warp::PHASES.iter().map(|phase| phase.name.to_owned()).collect()
}

/// Where an array of a cloud lies.
pub(super) fn of_cloud(at: usize, array: &str) -> String {
    format!("clouds/{at}/{array}.npy")
}

/// Where an array of a run lies.
pub(super) fn of_run(at: usize, array: &str) -> String {
    format!("runs/{at}/{array}.npy")
}

/// A cloud's sizes and axes.
pub(super) fn cloud(entry: &CloudEntry) -> Result<(), String> {
    let CloudFile { rows, axes, .. } = &entry.cloud;
    if *rows == 0
        || *rows > u64::from(MAX_ROWS)
        || entry.cloud.dropped > u64::from(u32::MAX)
        || axes.is_empty()
    {
        return Err(format!("{rows} points of {} dimensions are no cloud", axes.len()));
    }
    match axes.iter().all(|axis| axis.origin.is_finite() && axis.min <= axis.max) {
        true => Ok(()),
        false => Err("an axis has no extent".to_owned()),
    }
}

/// A run's own words, before its arrays are read.
pub(super) fn entry<'a>(
    entry: &RunEntry,
    clouds: &'a [CloudEntry],
) -> Result<(&'a CloudFile, Option<&'a CloudFile>), String> {
    let of =
        |at: usize| clouds.get(at).map(|entry| &entry.cloud).ok_or_else(|| format!("it has no cloud {at}"));
    let cloud = of(entry.cloud)?;
    let query_cloud = entry.query_cloud.map(of).transpose()?;
    let (spec, summary) = (&entry.run.spec, &entry.run.summary);
    Setup::from(spec).check().map_err(|why| why.to_string())?;
    if summary.n == 0 || summary.n > cloud.rows || summary.d != spec.metric.dims(cloud.axes.len()) as u64 {
        return Err(format!("n = {} and d = {} are not those of its cloud", summary.n, summary.d));
    }
    if query_cloud.is_some_and(|queries| queries.axes.len() != cloud.axes.len()) {
        return Err("its queries have other dimensions than its cloud".to_owned());
    }
    if entry.run.fingerprint != cloud.fingerprint || entry.run.axes != cloud.axes {
        return Err("it searched another cloud than is named".to_owned());
    }
    if summary.q == 0 || summary.q > u64::from(u32::MAX) {
        return Err(format!("q = {} is no number of queries", summary.q));
    }
    let means: Vec<String> = entry.run.summary.measures.iter().map(|measure| measure.name.clone()).collect();
    names("means", &means, false)?;
    names("counters", &entry.measures, entry.counted)?;
    names("phases", &entry.profile_phases, entry.profiled)?;
    Ok((cloud, query_cloud))
}

/// Names of columns, each once; there are some where there is an array.
fn names(what: &str, names: &[String], there: bool) -> Result<(), String> {
    let printable =
        |name: &String| (1..=MAX_MEASURES).contains(&name.len()) && !name.contains(char::is_control);
    let once = |(at, name): (usize, &String)| !names[..at].contains(name);
    let fine =
        names.len() <= MAX_MEASURES && names.iter().all(printable) && names.iter().enumerate().all(once);
    if fine && !(there && names.is_empty()) {
        Ok(())
    } else {
        Err(format!("its {what} have no proper names"))
    }
}

/// Checks a run's arrays: rows are in range, distances are valid, and the convergence history is consistent.
pub(super) fn run(run: &Run<CloudFile>) -> Result<(), String> {
    let rows = run.query_cloud.as_ref().unwrap_or(&run.cloud).rows;
    if let Some(row) = run.query_rows.iter().find(|&&row| u64::from(row) >= rows) {
        return Err(format!("query row {row}: the cloud has {rows} rows"));
    }
    let n = run.cloud.rows;
    if let Some(row) = run.neighbors.indices.iter().find(|&&row| row != NONE && u64::from(row) >= n) {
        return Err(format!("neighbour {row}: the cloud has {n} rows"));
    }
    let distances = run.neighbors.squared_distances.iter().chain(&run.convergence.max_squared_distance);
    if let Some(distance) = distances.clone().find(|distance| distance.is_nan() || **distance < 0.0) {
        return Err(format!("a squared distance is {distance}"));
    }
    convergence(run)?;
    for sample in &run.samples {
        if !sample.start_ms.is_finite() || !sample.duration_ms.is_finite() || sample.duration_ms < 0.0 {
            return Err(format!("a sample took {} ms from {} ms on", sample.duration_ms, sample.start_ms));
        }
        // Every repeat has a sample; lists are as long as there are repeats.
        if sample.repeat as usize >= run.samples.len() {
            return Err(format!("repeat {} of {} samples", sample.repeat, run.samples.len()));
        }
    }
    Ok(())
}

fn convergence(run: &Run<CloudFile>) -> Result<(), String> {
    let history = &run.convergence;
    if history.queries() == 0 {
        return Ok(());
    }
    let entries = history.points_seen.len() as u64;
    if history.starts.first() != Some(&0)
        || history.starts.last() != Some(&entries)
        || !history.starts.is_sorted()
    {
        return Err("the convergence history has no order".to_owned());
    }
    let merges = run.measured.column(&history.counted_by).filter(|merges| merges.len() == history.queries());
    let Some(merges) = merges else { return Err("the convergence history is without counters".to_owned()) };
    for (&merges, bounds) in merges.iter().zip(history.starts.windows(2)) {
        if u64::from(merges) < bounds[1] - bounds[0] {
            return Err("a query has more history than merges".to_owned());
        }
    }
    Ok(())
}
