//! A run and its clouds without their arrays: what `run.json` holds, and `recording.json`.

use serde::{Deserialize, Serialize};

use super::{EngineChoice, Machine, RunSpec, SCHEMA_VERSION, Summary};
use crate::cloud::{Axis, Fingerprint, PointCloud, Source};
use crate::knn::{DeviceInfo, EngineId, Peaks};
use crate::{printable, text};

/// All that is needed to have a run again, on what it ran, and what came out in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// [`SCHEMA_VERSION`](super::SCHEMA_VERSION) when it was written.
    pub schema_version: u32,
    /// Version of the program that made the run, such as `0.1.0`.
    pub warpscope_version: String,
    /// From which commit that was built; `None` where the build was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When the run began, seconds since 1970 UTC.
    pub started_unix: u64,
    /// The spec as it was asked for: its engine may be `auto`.
    pub spec: RunSpec,
    /// The engine that answered, never `auto`.
    pub engine: EngineId,
    /// Why `auto` did not take the engine that it would have taken if everything could run here; `None` if it did, or if an
    /// engine was named.
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
    /// What that does at most, as it was measured there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peaks: Option<Peaks>,
    /// The machine, and how busy it was; `None` in records of earlier versions, and of single queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// The cloud's content, by name.
    pub fingerprint: Fingerprint,
    /// The content of the queries' own cloud.
    pub query_fingerprint: Option<Fingerprint>,
    /// Axes of the searched cloud, one per dimension.
    pub axes: Vec<Axis>,
    /// Rows of the source that are not searched: with NaN or ±∞, or without a direction under the angular metric.
    pub dropped_rows: u64,
    /// Queries that were asked for and left out, likewise.
    pub dropped_queries: u64,
    pub summary: Summary,
}

/// Why a `run.json` is not read.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunFileError {
    /// A later version of the program wrote it.
    #[error(
        "a newer run: its schema is version {version}, and {SCHEMA_VERSION} is the last that is read here; open it with Warpscope {written_by} or later"
    )]
    Newer {
        /// That of the file.
        version: u64,
        /// The version of the program that wrote it.
        written_by: String,
    },
    /// It is not what a run writes.
    #[error("not what a run writes: {0}")]
    Content(String),
}

impl RunFile {
    /// Parses a `run.json`. Keys that it does not know are ignored.
    ///
    /// # Errors
    /// [`RunFileError`].
    pub fn read(text: &[u8]) -> Result<Self, RunFileError> {
        #[derive(Deserialize)]
        struct Head {
            schema_version: u64,
            warpscope_version: String,
        }
        let content = |why: serde_json::Error| RunFileError::Content(why.to_string());
        let Head { schema_version: version, warpscope_version } = serde_json::from_slice(text).map_err(content)?;
        if version > u64::from(SCHEMA_VERSION) {
            return Err(RunFileError::Newer { version, written_by: printable::name(&warpscope_version) });
        }
        serde_json::from_slice(text).map_err(content)
    }

    /// What the run is called until somebody says otherwise: `us_zipcodes.csv, 1,000 × 33,144, k = 32, cuda`.
    pub fn title(&self) -> String {
        let cloud = match &self.spec.data {
            Source::File { path, .. } => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            Source::Generate { spec, .. } => spec.split(':').next().unwrap_or(spec).to_owned(),
            Source::Coordinates(_) => self.spec.data.to_string(),
        };
        let (q, n) = (text::thousands(self.summary.q), text::thousands(self.summary.n));
        let engine = match &self.spec.engine {
            EngineChoice::Named(method) => method.to_string(),
            EngineChoice::Auto => self.engine.to_string(),
        };
        format!("{cloud}, {q} × {n}, k = {}, {engine}", self.spec.k)
    }
}

/// A cloud without its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CloudFile {
    /// The number of points, without the dropped rows.
    pub rows: u64,
    /// How many rows of the source were left out.
    pub dropped: u64,
    pub source: Source,
    /// Its content, by name.
    pub fingerprint: Fingerprint,
    /// One axis per dimension.
    pub axes: Vec<Axis>,
}

impl From<&PointCloud> for CloudFile {
    fn from(cloud: &PointCloud) -> Self {
        Self {
            rows: cloud.len() as u64,
            dropped: cloud.dropped(),
            source: cloud.source().clone(),
            fingerprint: cloud.fingerprint().clone(),
            axes: cloud.axes().to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_json_stays_what_it_was_to_the_byte() {
        let written = concat!(
            r#"{"schema_version":1,"warpscope_version":"0.1.0","started_unix":1795336155,"spec":{"data":{"file":{"path":"a.csv","columns":"default"}},"#,
            r#""queries":{"file":{"path":"q.csv","columns":"default"}},"k":2,"metric":"l2","engine":"auto","order":"file","exclude_self":false,"#,
            r#""seed":0,"warmup":10,"repeats":2,"drop_nonfinite":true,"profile":true},"engine":"lockstep","#,
            r#""fallback":"the cuda engine cannot run here: no NVIDIA driver was found","method":null,"resident":false,"#,
            r#""device":{"name":"CPU","details":{"threads":"2","instructions":"AVX-512"}},"fingerprint":"11918598925d299f284977de1a724b12","#,
            r#""query_fingerprint":"dc01a467dbf49e0b41200d20fa1a97e8","axes":[{"name":"x","origin":0.0,"min":1.0,"max":9.0}],"#,
            r#""dropped_rows":1,"dropped_queries":1,"summary":{"n":5,"q":1,"d":1,"search_ms_median":0.014903,"search_ms_min":0.014569,"#,
            r#""search_ms_max":0.015237,"distances_per_second":335502.9188753942,"mean_merges":1.0,"mean_candidates":5.0,"#,
            r#""expected_merges":1.0,"expected_candidates":5.0}}"#,
        );
        let file: RunFile = serde_json::from_str(written).unwrap();
        assert_eq!(serde_json::to_string(&file).unwrap(), written);
        assert_eq!(file.title(), "a.csv, 1 × 5, k = 2, lockstep");

        let noted = written.replace(r#""method":null,"#, r#""method":"cuda:warps=8","note":"why","#);
        assert_eq!(serde_json::to_string(&serde_json::from_str::<RunFile>(&noted).unwrap()).unwrap(), noted);
    }
}
