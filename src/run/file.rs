//! A record without its bulk: what `run.json` holds.

use serde::{Deserialize, Serialize};

use super::{RunRecord, RunSpec, SCHEMA_VERSION, Summary};
use crate::cloud::{Axis, Fingerprint, Source};
use crate::knn::{DeviceInfo, EngineId};
use crate::text;

/// All that is needed to have a run again, on what it ran, and what came out in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// [`SCHEMA_VERSION`] when it was written.
    pub schema_version: u32,
    /// The program's version.
    pub warpscope_version: String,
    /// When the run began, seconds since 1970 UTC.
    pub started_unix: u64,
    /// What was run.
    pub spec: RunSpec,
    /// Which engine answered.
    pub engine: EngineId,
    /// Why `auto` did not take the engine that it likes best.
    pub fallback: Option<String>,
    /// How long a repeat's search was predicted to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_ms: Option<f64>,
    /// How the engine searched at last, where it has a choice: a method that launches the same when it is given again. (In
    /// files of the first version, a sentence.)
    #[serde(default)]
    pub method: Option<String>,
    /// Why that is not what the engine would have liked best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether the points were in the engine before the run, which then did not upload or index them.
    #[serde(default)]
    pub resident: bool,
    /// On what, with its driver.
    pub device: DeviceInfo,
    /// The cloud's content, by name.
    pub fingerprint: Fingerprint,
    /// The content of the queries' own cloud.
    pub query_fingerprint: Option<Fingerprint>,
    /// The cloud's axes.
    pub axes: Vec<Axis>,
    /// Rows of the source that are not searched: with NaN or ±∞, or without a direction under the angular metric.
    pub dropped_rows: u64,
    /// Queries that were asked for and left out, likewise.
    pub dropped_queries: u64,
    /// In a few numbers.
    pub summary: Summary,
}

impl RunFile {
    /// What the run is called until somebody says otherwise: `us_zipcodes.csv, 1,000 × 33,144, k = 32, cuda`.
    pub fn title(&self) -> String {
        let cloud = match &self.spec.data {
            Source::File { path, .. } => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            Source::Generate { spec, .. } => spec.split(':').next().unwrap_or(spec).to_owned(),
            Source::Place(_) => self.spec.data.to_string(),
        };
        let (q, n) = (text::thousands(self.summary.q), text::thousands(self.summary.n));
        format!("{cloud}, {q} × {n}, k = {}, {}", self.spec.k, self.engine)
    }
}

impl From<&RunRecord> for RunFile {
    fn from(record: &RunRecord) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            warpscope_version: record.version.clone(),
            started_unix: record.started_unix,
            spec: record.spec.clone(),
            engine: record.engine,
            fallback: record.fallback.clone(),
            predicted_ms: record.predicted_ms,
            method: record.method.clone(),
            note: record.note.clone(),
            resident: record.resident,
            device: record.device.clone(),
            fingerprint: record.fingerprint.clone(),
            query_fingerprint: record.query_cloud.as_ref().map(|cloud| cloud.fingerprint().clone()),
            axes: record.axes.clone(),
            dropped_rows: record.dropped_rows(),
            dropped_queries: record.dropped_queries(),
            summary: record.summary.clone(),
        }
    }
}
