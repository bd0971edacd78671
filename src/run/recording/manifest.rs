//! `recording.json`: everything but the arrays, and which arrays there are.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::knn::warp;
use crate::run::{CloudFile, Phase, RunFile};

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
