//! The record of a run: complete, as a head without arrays (`run.json`, `recording.json`), or without its
//! clouds.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{EngineChoice, Machine, RunSpec, SchemaVersion, stats};
use crate::cloud::{Axis, Fingerprint, PointCloud, Source};
use crate::engines::registry;
use crate::knn::{
    Answer, Convergence, Descriptor, DeviceInfo, EngineId, Measurements, NONE, Neighbors, Peaks, Problem,
    Profile, SetupPhase, StreamSpan,
};
use crate::{printable, text};

/// The latest version of `run.json`, which is that of every record in memory.
pub const SCHEMA_VERSION: u32 = SchemaVersion::Second.number();

/// A phase of a run that the host can time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Transfer of points and queries to the device, or into the twin's layout.
    Upload,
    /// Building an index, such as a tree, over the points.
    #[serde(rename = "build index")]
    BuildIndex,
    /// A chunk of queries in the timed build.
    Search,
    /// A chunk of queries in the counted build.
    Counted,
    /// A chunk of queries in the profiled build.
    Profiled,
    /// Transfer of neighbours to the host.
    Download,
}

impl Phase {
    /// All phases, in the order of a run.
    pub const ALL: [Self; 6] =
        [Self::Upload, Self::BuildIndex, Self::Search, Self::Counted, Self::Profiled, Self::Download];

    /// Whether every repeat of the search times the phase again.
    pub fn is_repeated(self) -> bool {
        matches!(self, Self::Search | Self::Download)
    }

    /// The name in files and panes.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// What happens in the phase, in a sentence.
    pub fn about(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Upload => {
                ("upload", "Copies points and queries to the device, or into the CPU engine's layout.")
            }
            Self::BuildIndex => ("build index", "Builds an index, such as a tree, over the points."),
            Self::Search => ("search", "Searches the queries. This is the measured time."),
            Self::Counted => {
                ("counted", "Searches once more and counts the work. Not part of the measured time.")
            }
            Self::Profiled => {
                ("profiled", "Searches once more and records what ran when. Not part of the measured time.")
            }
            Self::Download => ("download", "Copies the neighbours from the device to the host."),
        }
    }
}

impl From<SetupPhase> for Phase {
    fn from(phase: SetupPhase) -> Self {
        match phase {
            SetupPhase::Upload => Self::Upload,
            SetupPhase::BuildIndex => Self::BuildIndex,
        }
    }
}

/// One timed interval: a row of `timings.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub phase: Phase,
    /// The repeat, from 0; 0 for phases that run once.
    pub repeat: u32,
    /// The chunk of queries within the repeat, from 0.
    pub chunk: u32,
    /// Host milliseconds since the run began.
    pub start_ms: f64,
    /// The duration, by the device's clock if it has one.
    pub duration_ms: f64,
}

/// The run in a few numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The number of points searched, without dropped rows.
    pub n: u64,
    /// The number of queries answered, without dropped ones.
    pub q: u64,
    /// The number of searched dimensions; 3 under haversine.
    pub d: u64,
    /// Median search time of a repeat, all chunks together, in milliseconds.
    pub search_ms_median: f64,
    /// Search time of the fastest repeat, in milliseconds.
    pub search_ms_min: f64,
    /// Search time of the slowest repeat, in milliseconds.
    pub search_ms_max: f64,
    /// n·q over the median, in distances per second; absent for engines that do not compute all distances.
    pub distances_per_second: Option<f64>,
    /// The mean number of active threads of a warp, of 32: see
    /// [`Descriptor::active_threads`](crate::knn::Descriptor::active_threads).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_threads: Option<f64>,
    /// The means of counted measures. In files, `mean_NAME` and `expected_NAME`.
    #[serde(flatten, with = "means")]
    pub measures: Vec<MeasureMean>,
}

/// A measure's mean over all queries.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureMean {
    /// Column name of the measure, such as `merges`.
    pub name: String,
    pub mean: f64,
    /// The theoretical bound, if there is one.
    pub expected: Option<f64>,
}

/// [`Summary::measures`] as `mean_NAME` and `expected_NAME` among the other numbers.
mod means {
    use std::collections::HashMap;
    use std::fmt;

    use serde::de::{MapAccess, Visitor};
    use serde::ser::SerializeMap;
    use serde::{Deserializer, Serializer};
    use serde_json::Value;

    use super::MeasureMean;
    use crate::run::schema::current_name;

    const MEAN: &str = "mean_";
    const EXPECTED: &str = "expected_";

    pub fn serialize<S: Serializer>(measures: &[MeasureMean], serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for measure in measures {
            map.serialize_entry(&format!("{MEAN}{}", measure.name), &measure.mean)?;
        }
        for (measure, expected) in measures.iter().filter_map(|measure| Some((measure, measure.expected?))) {
            map.serialize_entry(&format!("{EXPECTED}{}", measure.name), &expected)?;
        }
        map.end()
    }

    /// Older files have bounds without means for engines without counters.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<MeasureMean>, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Vec<(String, Value)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                std::iter::from_fn(|| map.next_entry().transpose()).collect()
            }
        }
        // Entries are in file order, which is the order of declaration.
        let entries = deserializer.deserialize_map(EntriesVisitor)?;
        let numbers: HashMap<&str, f64> =
            entries.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_f64()?))).collect();
        let number = |key: &str| numbers.get(key).copied();
        let mean = |(key, value): &(String, Value)| {
            let (name, mean) = (key.strip_prefix(MEAN)?, value.as_f64()?);
            let expected = number(&format!("{EXPECTED}{name}"));
            Some(MeasureMean { name: current_name(name.to_owned()), mean, expected })
        };
        Ok(entries.iter().filter_map(mean).collect())
    }
}

impl Summary {
    /// The summary of a problem that an engine answered.
    pub(super) fn new(engine: &Descriptor, problem: &Problem, samples: &[Sample], answer: &Answer) -> Self {
        let shape = problem.shape();
        let mut repeats = stats::search_ms(samples);
        if repeats.is_empty() {
            // A live query runs the counted build only.
            repeats.push(
                samples
                    .iter()
                    .filter(|sample| sample.phase == Phase::Counted)
                    .map(|sample| sample.duration_ms)
                    .sum(),
            );
        }
        repeats.sort_by(f64::total_cmp);
        let search_ms_median = stats::median(&repeats);
        let measures = engine.measures.iter().filter_map(|measure| {
            let expected = measure.theory.map(|theory| (theory.mean)(&shape));
            Some(MeasureMean {
                name: measure.name.to_owned(),
                mean: answer.measured.mean(measure.name)?,
                expected,
            })
        });
        Self {
            n: shape.n as u64,
            q: shape.q as u64,
            d: shape.d as u64,
            search_ms_median,
            search_ms_min: repeats[0],
            search_ms_max: repeats[repeats.len() - 1],
            distances_per_second: (engine.is_exhaustive && search_ms_median > 0.0)
                .then(|| shape.n as f64 * shape.q as f64 / (search_ms_median / 1e3)),
            active_threads: engine.active_threads.and_then(|of| of(&answer.measured)),
            measures: measures.collect(),
        }
    }

    /// A measure by its column.
    pub fn measure(&self, name: &str) -> Option<&MeasureMean> {
        self.measures.iter().find(|measure| measure.name == name)
    }
}

/// An executed spec: the settings, the hardware and the results. Shared behind `Arc`, never changed. `C` is
/// the clouds' type: the points, or only their description ([`CloudDescription`](super::CloudDescription)).
#[derive(Clone, Debug, PartialEq)]
pub struct Run<C = Arc<PointCloud>> {
    /// The content of `run.json`.
    pub head: RunFile,
    pub cloud: C,
    /// The queries' own cloud, when they are not rows of `cloud`.
    pub query_cloud: Option<C>,
    /// The row of each query in `query_cloud` or, without one, in `cloud`.
    pub query_rows: Vec<u32>,
    /// The neighbours of each query, as rows of `cloud`.
    pub neighbors: Neighbors,
    /// Counters per query; empty for engines without counters.
    pub measured: Measurements,
    /// Convergence history per query; empty for engines without one.
    pub convergence: Convergence,
    /// The profile, if requested.
    pub profile: Option<Profile>,
    /// Every timed interval of the run, one per row of `timings.csv`.
    pub samples: Vec<Sample>,
    /// What each device and stream did, at most [`MAX_STREAM_SPANS`](crate::knn::MAX_STREAM_SPANS); empty
    /// for engines on one device.
    pub stream_spans: Vec<StreamSpan>,
}

/// A run with its points.
pub type RunRecord = Run;

/// The head's fields can be read as the run's own, such as `run.spec.k`. They are changed through
/// [`Run::head`] only.
impl<C> Deref for Run<C> {
    type Target = RunFile;

    fn deref(&self) -> &RunFile {
        &self.head
    }
}

impl<C> Run<C> {
    /// The same run with its clouds replaced.
    pub fn with_clouds<D>(self, cloud: D, query_cloud: Option<D>) -> Run<D> {
        let Self {
            head, query_rows, neighbors, measured, convergence, profile, samples, stream_spans, ..
        } = self;
        Run {
            head,
            cloud,
            query_cloud,
            query_rows,
            neighbors,
            measured,
            convergence,
            profile,
            samples,
            stream_spans,
        }
    }

    /// Size of its arrays in bytes, without the clouds.
    pub fn bytes(&self) -> usize {
        let profile =
            self.profile.as_ref().map_or(0, |profile| 8 * profile.cycles.len() + 24 * profile.spans.len());
        let convergence = 8 * (self.convergence.points_seen.len() + self.convergence.starts.len());
        8 * self.neighbors.indices.len()
            + 4 * self.query_rows.len()
            + 4 * self.measured.columns().len() * self.measured.queries()
            + convergence
            + 32 * self.samples.len()
            + size_of_val(&self.stream_spans[..])
            + profile
    }

    /// The engine, if this program has it.
    pub fn descriptor(&self) -> Option<&'static Descriptor> {
        registry::find(self.engine)
    }
}

/// What is needed to repeat a run, its hardware, and its results in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// [`SCHEMA_VERSION`](super::SCHEMA_VERSION) when it was written.
    pub schema_version: u32,
    /// Version of the program that made the run, such as `0.1.0`.
    pub warpscope_version: String,
    /// Commit of that program; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When the run began, seconds since 1970 UTC.
    pub started_unix: u64,
    /// The spec as requested; its engine may be `auto`.
    pub spec: RunSpec,
    /// The engine that answered, never `auto`.
    pub engine: EngineId,
    /// Why `auto` did not use its preferred engine; `None` if it did, or if an engine was named.
    pub fallback: Option<String>,
    /// Predicted time of a repeat's search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_ms: Option<f64>,
    /// The method that the engine used in the end, if it has parameters; passing it again launches the same
    /// search. (In files of the first version, a sentence.)
    #[serde(default)]
    pub method: Option<String>,
    /// Why this is not the engine's preferred method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether the points were loaded before the run, so that they were not uploaded or indexed.
    #[serde(default)]
    pub resident: bool,
    /// The device, with its driver.
    pub device: DeviceInfo,
    /// The device's measured peaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peaks: Option<Peaks>,
    /// The machine and its load; `None` in records of earlier versions, and for live queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Fingerprint of the cloud's content.
    pub fingerprint: Fingerprint,
    /// Fingerprint of the queries' own cloud.
    pub query_fingerprint: Option<Fingerprint>,
    /// Axes of the searched cloud, one per dimension.
    pub axes: Vec<Axis>,
    /// Rows of the source that were not searched: with NaN or ±∞, or without a direction under the angular
    /// metric.
    pub dropped_rows: u64,
    /// Requested queries that were dropped for the same reasons.
    pub dropped_queries: u64,
    pub summary: Summary,
}

/// Why a `run.json` cannot be read.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunFileError {
    /// A later version of the program wrote it.
    #[error(
        "a newer run: its schema is version {version}, but this program reads up to {SCHEMA_VERSION}; open \
         it with Warpscope {written_by} or later"
    )]
    Newer {
        /// Schema version of the file.
        version: u64,
        /// The version of the program that wrote it.
        written_by: String,
    },
    /// The content is not that of a run.json.
    #[error("not a run file: {0}")]
    Content(String),
}

impl RunFile {
    /// Parses a `run.json`. Unknown keys are ignored.
    ///
    /// # Errors
    /// [`RunFileError`].
    pub fn read(text: &[u8]) -> Result<Self, RunFileError> {
        #[derive(Deserialize)]
        struct Header {
            schema_version: u64,
            warpscope_version: String,
        }
        let content = |why: serde_json::Error| RunFileError::Content(why.to_string());
        let Header { schema_version: version, warpscope_version } =
            serde_json::from_slice(text).map_err(content)?;
        if version > u64::from(SCHEMA_VERSION) {
            return Err(RunFileError::Newer { version, written_by: printable::name(&warpscope_version) });
        }
        let read: Self = serde_json::from_slice(text).map_err(content)?;
        Ok(Self { schema_version: SCHEMA_VERSION, ..read })
    }

    /// The run's default name: `us_zipcodes.csv, 1,000 × 33,144, k = 32, cuda`.
    pub fn title(&self) -> String {
        let cloud = match &self.spec.data {
            Source::File { path, .. } => {
                path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
            }
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

/// A cloud's description, without its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CloudDescription {
    /// The number of points, without the dropped rows.
    pub rows: u64,
    /// Number of dropped rows of the source.
    pub dropped: u64,
    pub source: Source,
    /// Fingerprint of its content.
    pub fingerprint: Fingerprint,
    /// One axis per dimension.
    pub axes: Vec<Axis>,
}

impl From<&PointCloud> for CloudDescription {
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

/// A run, with or without its clouds.
#[derive(Clone, Debug)]
pub enum LoadedRun {
    /// The run with its clouds.
    Whole(Arc<RunRecord>),
    /// A run whose clouds are not available.
    WithoutClouds {
        /// The run with descriptions in place of its clouds.
        run: Arc<Run<CloudDescription>>,
        /// Paths of the files of its cloud and of its queries' cloud, as stored in the recording; empty if
        /// the recording has the points.
        source_paths: [Vec<PathBuf>; 2],
        /// Why the clouds are not available, as a sentence.
        why: String,
    },
}

/// Accessors for fields of [`Run`], with or without clouds.
macro_rules! fields {
    ($($field:ident: $type:ty),+) => {$(
        pub fn $field(&self) -> &$type {
            match self {
                Self::Whole(run) => &run.$field,
                Self::WithoutClouds { run, .. } => &run.$field,
            }
        }
    )+};
}

impl LoadedRun {
    fields!(
        head: RunFile,
        query_rows: [u32],
        neighbors: Neighbors,
        measured: Measurements,
        convergence: Convergence,
        samples: [Sample]
    );
    fields!(profile: Option<Profile>);

    /// The record, if it has its clouds.
    pub fn record(&self) -> Option<&Arc<RunRecord>> {
        match self {
            Self::Whole(record) => Some(record),
            Self::WithoutClouds { .. } => None,
        }
    }

    /// Size of the run's arrays in bytes, without the clouds.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Whole(run) => run.bytes(),
            Self::WithoutClouds { run, .. } => run.bytes(),
        }
    }

    /// Maps a row of the searched cloud to its record number, and [`NONE`] to −1. `None` if rows were dropped
    /// and the cloud, which tells which, is not available.
    pub fn records(&self) -> Option<impl Fn(u32) -> i64 + '_> {
        let cloud = self.record().map(|record| &record.cloud);
        let known = cloud.is_some() || self.clouds().0.dropped == 0;
        known.then_some(move |row| match cloud {
            _ if row == NONE => -1,
            Some(cloud) => cloud.record(row as usize) as i64,
            None => i64::from(row),
        })
    }

    /// Descriptions of the searched cloud and of the queries' own.
    pub fn clouds(&self) -> (CloudDescription, Option<CloudDescription>) {
        match self {
            Self::Whole(record) => {
                ((&*record.cloud).into(), record.query_cloud.as_deref().map(CloudDescription::from))
            }
            Self::WithoutClouds { run, .. } => (run.cloud.clone(), run.query_cloud.clone()),
        }
    }

    /// Paths of the files of missing clouds.
    pub fn source_paths(&self) -> [&[PathBuf]; 2] {
        match self {
            Self::Whole(_) => [&[], &[]],
            Self::WithoutClouds { source_paths: [cloud, query_cloud], .. } => [cloud, query_cloud],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_json_round_trips_byte_for_byte() {
        let written = concat!(
            r#"{"schema_version":1,"warpscope_version":"0.1.0","started_unix":1795336155,"spec":"#,
            r#"{"data":{"file":{"path":"a.csv","columns":"default"}},"#,
            r#""queries":{"file":{"path":"q.csv","columns":"default"}},"k":2,"metric":"l2","engine":"auto","#,
            r#""order":"file","exclude_self":false,"seed":0,"warmup":10,"repeats":2,"drop_nonfinite":true,"#,
            r#""profile":true},"engine":"lockstep","#,
            r#""fallback":"the cuda engine cannot run here: no NVIDIA driver was found","#,
            r#""method":null,"resident":false,"#,
            r#""device":{"name":"CPU","details":{"threads":"2","instructions":"AVX-512"}},"#,
            r#""fingerprint":"11918598925d299f284977de1a724b12","#,
            r#""query_fingerprint":"dc01a467dbf49e0b41200d20fa1a97e8","#,
            r#""axes":[{"name":"x","origin":0.0,"min":1.0,"max":9.0}],"#,
            r#""dropped_rows":1,"dropped_queries":1,"summary":{"n":5,"q":1,"d":1,"#,
            r#""search_ms_median":0.014903,"search_ms_min":0.014569,"search_ms_max":0.015237,"#,
            r#""distances_per_second":335502.9188753942,"mean_merges":1.0,"mean_candidates":5.0,"#,
            r#""expected_merges":1.0,"expected_candidates":5.0}}"#,
        );
        let file: RunFile = serde_json::from_str(written).unwrap();
        assert_eq!(serde_json::to_string(&file).unwrap(), written);
        assert_eq!(file.title(), "a.csv, 1 × 5, k = 2, lockstep");

        let noted = written.replace(r#""method":null,"#, r#""method":"cuda:warps=8","note":"why","#);
        assert_eq!(serde_json::to_string(&serde_json::from_str::<RunFile>(&noted).unwrap()).unwrap(), noted);
    }

    #[test]
    fn measure_means_are_flattened_into_the_summary() {
        let measure = |name: &str, mean, expected| MeasureMean { name: name.to_owned(), mean, expected };
        let summary = Summary {
            n: 7,
            measures: vec![measure("visited", 2.5, None), measure("distance_evals", 9.25, Some(11.5))],
            ..Summary::default()
        };
        let json = serde_json::to_string(&summary).unwrap();
        assert!(
            json.ends_with(
                "\"distances_per_second\":null,\"mean_visited\":2.5,\"mean_distance_evals\":9.25,\
                 \"expected_distance_evals\":11.5}"
            ),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary);
        // The names of schema 1.
        let old = json.replace("distance_evals", "accessed");
        assert_eq!(serde_json::from_str::<Summary>(&old).unwrap(), summary);
        // From an engine without counters, as the first version wrote it.
        let old = json.replace(
            "\"mean_visited\":2.5,\"mean_distance_evals\":9.25,\"expected_distance_evals\":11.5",
            "\"mean_merges\":null,\"expected_merges\":12.5",
        );
        assert_eq!(serde_json::from_str::<Summary>(&old).unwrap().measures, []);
    }

    #[test]
    fn phases_are_serialized_by_name() {
        for phase in Phase::ALL {
            let json = serde_json::to_string(&phase).unwrap();
            assert_eq!(json, format!("\"{}\"", phase.name()));
            assert_eq!(serde_json::from_str::<Phase>(&json).unwrap(), phase);
        }
    }
}
