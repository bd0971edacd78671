//! `recording.json`: everything except the arrays, and which arrays exist. Also checks that a recording is
//! consistent before it is used: every index is in range, and every number that later determines a size is
//! plausible.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use crate::cloud::MAX_ROWS;
use crate::cloud::formats::limits::MAX_MEASURES;
use crate::knn::{Lane, NONE, ProblemParameters, StreamPhase, warp};
use crate::run::schema::current_name;
use crate::run::{CloudDescription, Phase, Run, RunFile};

/// The file's format identifier.
pub(super) const FORMAT: &str = "warpscope recording";

/// The archive member with the manifest.
pub(super) const NAME: &str = "recording.json";

/// Read first, to decide whether the rest can be read.
#[derive(Debug, Deserialize)]
pub(super) struct Header {
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
    /// The index of the cloud that a window showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<usize>,
    /// The indices of two compared runs, A and B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<[usize; 2]>,
}

/// A cloud, and whether `clouds/I/points.npy`, `exact.npy`, `records.npy` and `file.npy` exist.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CloudEntry {
    pub cloud: CloudDescription,
    pub points: bool,
    pub exact: bool,
    pub records: bool,
    /// The paths of its file if the points are missing: relative to the recording, and absolute.
    #[serde(default, rename = "places", skip_serializing_if = "Vec::is_empty")]
    pub source_paths: Vec<PathBuf>,
    /// NAME if the source is `FILE:NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Size in bytes of the copy of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<usize>,
}

/// A run, and the lengths of its arrays that `run` does not determine.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunEntry {
    pub name: String,
    #[serde(default)]
    pub pinned: bool,
    /// Index of the searched cloud in [`Manifest::clouds`].
    pub cloud: usize,
    /// Index of the queries' own cloud in [`Manifest::clouds`]; `None` if queries are rows of `cloud`.
    pub query_cloud: Option<usize>,
    /// The phases that the numbers in `sample_phase.npy` index.
    pub phases: Vec<Phase>,
    pub samples: usize,
    /// Whether `counters.npy` exists, with a row per query.
    pub counted: bool,
    /// The columns of `counters.npy`.
    #[serde(default = "warp_measures", deserialize_with = "current_names")]
    pub measures: Vec<String>,
    /// The column that counts the merges of the convergence history.
    #[serde(default = "warp_convergence")]
    pub convergence_counted_by: String,
    /// The columns of `profile_cycles.npy`.
    #[serde(default = "warp_phases")]
    pub profile_phases: Vec<String>,
    /// Entries of the convergence history of all queries; absent without a history.
    pub convergence: Option<usize>,
    /// Whether `profile_cycles.npy` and the warps' spans exist.
    pub profiled: bool,
    /// Whether the spans exist without cycles, as for a CPU.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spans: bool,
    /// Absent unless the run used several devices or streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamsEntry>,
    pub run: RunFile,
}

/// The lanes and phases that the numbers in `stream_lane_phase_tile.npy` index, and its length.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StreamsEntry {
    pub lanes: Vec<Lane>,
    pub phases: Vec<StreamPhase>,
    pub spans: usize,
}

/// The columns in files from versions that had no others.
fn warp_measures() -> Vec<String> {
    warp::MEASURES.iter().map(|measure| measure.name.to_owned()).collect()
}

fn current_names<'de, D: Deserializer<'de>>(names: D) -> Result<Vec<String>, D::Error> {
    Ok(Vec::deserialize(names)?.into_iter().map(current_name).collect())
}

fn warp_convergence() -> String {
    warp::CONVERGENCE.to_owned()
}

fn warp_phases() -> Vec<String> {
    warp::PHASES.iter().map(|phase| phase.name.to_owned()).collect()
}

/// The archive member of a cloud's array.
pub(super) fn of_cloud(at: usize, array: &str) -> String {
    format!("clouds/{at}/{array}.npy")
}

/// The archive member of a run's array.
pub(super) fn of_run(at: usize, array: &str) -> String {
    format!("runs/{at}/{array}.npy")
}

/// Checks a cloud's sizes and axes.
pub(super) fn cloud(entry: &CloudEntry) -> Result<(), String> {
    let CloudDescription { rows, axes, .. } = &entry.cloud;
    if *rows == 0
        || *rows > u64::from(MAX_ROWS)
        || entry.cloud.dropped > u64::from(u32::MAX)
        || axes.is_empty()
    {
        return Err(format!("invalid cloud: {rows} points of {} dimensions", axes.len()));
    }
    match axes.iter().all(|axis| axis.origin.is_finite() && axis.min <= axis.max) {
        true => Ok(()),
        false => Err("an axis has no extent".to_owned()),
    }
}

/// Checks a run's entry before its arrays are read.
pub(super) fn entry<'a>(
    entry: &RunEntry,
    clouds: &'a [CloudEntry],
) -> Result<(&'a CloudDescription, Option<&'a CloudDescription>), String> {
    let of =
        |at: usize| clouds.get(at).map(|entry| &entry.cloud).ok_or_else(|| format!("there is no cloud {at}"));
    let cloud = of(entry.cloud)?;
    let query_cloud = entry.query_cloud.map(of).transpose()?;
    let (spec, summary) = (&entry.run.spec, &entry.run.summary);
    ProblemParameters::from(spec).check().map_err(|why| why.to_string())?;
    if summary.n == 0 || summary.n > cloud.rows || summary.d != spec.metric.dims(cloud.axes.len()) as u64 {
        return Err(format!("n = {} and d = {} do not match its cloud", summary.n, summary.d));
    }
    if query_cloud.is_some_and(|queries| queries.axes.len() != cloud.axes.len()) {
        return Err("its queries and its cloud have different dimensions".to_owned());
    }
    if entry.run.fingerprint != cloud.fingerprint || entry.run.axes != cloud.axes {
        return Err("its fingerprint or axes do not match its cloud".to_owned());
    }
    if summary.q == 0 || summary.q > u64::from(u32::MAX) {
        return Err(format!("invalid number of queries: q = {}", summary.q));
    }
    let means: Vec<String> = entry.run.summary.measures.iter().map(|measure| measure.name.clone()).collect();
    check_names("means", &means, false)?;
    check_names("counters", &entry.measures, entry.counted)?;
    check_names("phases", &entry.profile_phases, entry.profiled)?;
    Ok((cloud, query_cloud))
}

/// Checks that names of columns are distinct, and present if there is an array.
fn check_names(what: &str, names: &[String], there: bool) -> Result<(), String> {
    let printable =
        |name: &String| (1..=MAX_MEASURES).contains(&name.len()) && !name.contains(char::is_control);
    let once = |(at, name): (usize, &String)| !names[..at].contains(name);
    let fine =
        names.len() <= MAX_MEASURES && names.iter().all(printable) && names.iter().enumerate().all(once);
    if fine && !(there && names.is_empty()) { Ok(()) } else { Err(format!("its {what} have invalid names")) }
}

/// Checks a run's arrays: rows are in range, distances are valid, and the convergence history is consistent.
pub(super) fn run(run: &Run<CloudDescription>) -> Result<(), String> {
    let rows = run.query_cloud.as_ref().unwrap_or(&run.cloud).rows;
    if let Some(row) = run.query_rows.iter().find(|&&row| u64::from(row) >= rows) {
        return Err(format!("query row {row} is out of range: the cloud has {rows} rows"));
    }
    let n = run.cloud.rows;
    if let Some(row) = run.neighbors.indices.iter().find(|&&row| row != NONE && u64::from(row) >= n) {
        return Err(format!("neighbour {row} is out of range: the cloud has {n} rows"));
    }
    let distances = run.neighbors.squared_distances.iter().chain(&run.convergence.max_squared_distance);
    if let Some(distance) = distances.clone().find(|distance| distance.is_nan() || **distance < 0.0) {
        return Err(format!("invalid squared distance {distance}"));
    }
    convergence(run)?;
    let samples = run.samples.iter().map(|sample| (sample.start_ms, sample.duration_ms));
    let spans = run.stream_spans.iter().map(|span| (span.start_ms, span.duration_ms));
    for (start, duration) in samples.chain(spans) {
        if !start.is_finite() || !duration.is_finite() || duration < 0.0 {
            return Err(format!("invalid sample: start {start} ms, duration {duration} ms"));
        }
    }
    for sample in &run.samples {
        // Every repeat has a sample; later lists are sized by the number of repeats.
        if sample.repeat as usize >= run.samples.len() {
            return Err(format!("repeat {} of {} samples", sample.repeat, run.samples.len()));
        }
    }
    Ok(())
}

fn convergence(run: &Run<CloudDescription>) -> Result<(), String> {
    let history = &run.convergence;
    if history.queries() == 0 {
        return Ok(());
    }
    let entries = history.points_seen.len() as u64;
    if history.starts.first() != Some(&0)
        || history.starts.last() != Some(&entries)
        || !history.starts.is_sorted()
    {
        return Err("the convergence history is not in order".to_owned());
    }
    let merges = run.measured.column(&history.counted_by).filter(|merges| merges.len() == history.queries());
    let Some(merges) = merges else { return Err("the convergence history has no counters".to_owned()) };
    for (&merges, bounds) in merges.iter().zip(history.starts.windows(2)) {
        if u64::from(merges) < bounds[1] - bounds[0] {
            return Err("a query has more history than merges".to_owned());
        }
    }
    Ok(())
}
