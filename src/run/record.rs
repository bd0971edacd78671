//! What is kept of a run.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::RunFile;
use crate::cloud::PointCloud;
use crate::engines::registry;
use crate::knn::{Convergence, Descriptor, Measured, Neighbors, Profile, SetupPhase};

/// The version of `run.json`.
pub const SCHEMA_VERSION: u32 = 1;

/// A part of a run that the host can time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Points and queries to the device, or into the twin's layout.
    Upload,
    /// Points into an index, such as a tree.
    #[serde(rename = "build index")]
    BuildIndex,
    /// A chunk of queries in the timed build.
    Search,
    /// A chunk of queries in the counted build.
    Counted,
    /// A chunk of queries in the profiled build.
    Profiled,
    /// Neighbours back to the host.
    Download,
}

impl Phase {
    /// All, in the order of a run.
    pub const ALL: [Self; 6] = [Self::Upload, Self::BuildIndex, Self::Search, Self::Counted, Self::Profiled, Self::Download];

    /// Whether each repeat of the search times it again.
    pub fn is_repeated(self) -> bool {
        matches!(self, Self::Search | Self::Download)
    }

    /// As it is spelled in files and panes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::BuildIndex => "build index",
            Self::Search => "search",
            Self::Counted => "counted",
            Self::Profiled => "profiled",
            Self::Download => "download",
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

/// One timed piece: a row of `timings.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub phase: Phase,
    /// The repeat, from 0; 0 for what is done once.
    pub repeat: u32,
    /// The chunk of queries within the repeat, from 0.
    pub chunk: u32,
    /// Host milliseconds since the run began.
    pub start_ms: f64,
    /// How long, by the device's clock where it has one.
    pub duration_ms: f64,
}

/// The run in a few numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The number of points searched, without dropped rows.
    pub n: u64,
    /// The number of queries answered, without dropped ones.
    pub q: u64,
    /// The number of dimensions that were searched: 3 under haversine.
    pub d: u64,
    /// Median search time of a repeat, all chunks together, in milliseconds.
    pub search_ms_median: f64,
    /// Search time of the fastest repeat, in milliseconds.
    pub search_ms_min: f64,
    /// Search time of the slowest repeat, in milliseconds.
    pub search_ms_max: f64,
    /// n·q over the median, distances a second; absent for engines that leave distances out.
    pub distances_per_second: Option<f64>,
    /// The mean number of active threads of a warp, of 32: see [`Descriptor::active_threads`](crate::knn::Descriptor::active_threads).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_threads: Option<f64>,
    /// Of each measure that was counted. In files, `mean_NAME` and `expected_NAME`.
    #[serde(flatten, with = "means")]
    pub measures: Vec<MeasureMean>,
}

/// A measure's mean over all queries.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureMean {
    /// Column name of the measure, such as `merges`.
    pub name: String,
    pub mean: f64,
    /// The theory's bound on it, where there is theory.
    pub expected: Option<f64>,
}

/// [`Summary::measures`] as `mean_NAME` and `expected_NAME` beside the other numbers.
mod means {
    use std::collections::HashMap;
    use std::fmt;

    use serde::de::{MapAccess, Visitor};
    use serde::ser::SerializeMap;
    use serde::{Deserializer, Serializer};
    use serde_json::Value;

    use super::MeasureMean;

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

    /// A bound without a mean is of an engine that does not count: older files have those.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<MeasureMean>, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Vec<(String, Value)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                std::iter::from_fn(|| map.next_entry().transpose()).collect()
            }
        }
        // In the order of the file, which is that of the declaration.
        let entries = deserializer.deserialize_map(Entries)?;
        let numbers: HashMap<&str, f64> = entries.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_f64()?))).collect();
        let number = |key: &str| numbers.get(key).copied();
        let mean = |(key, value): &(String, Value)| {
            let (name, mean) = (key.strip_prefix(MEAN)?, value.as_f64()?);
            Some(MeasureMean { name: name.to_owned(), mean, expected: number(&format!("{EXPECTED}{name}")) })
        };
        Ok(entries.iter().filter_map(mean).collect())
    }
}

impl Summary {
    /// A measure by its column.
    pub fn measure(&self, name: &str) -> Option<&MeasureMean> {
        self.measures.iter().find(|measure| measure.name == name)
    }
}

/// A spec executed: what was asked, where it ran and what came out. Shared behind `Arc`, never changed. `C` is what there is of
/// the clouds: the points, or only their description ([`CloudFile`](super::CloudFile)).
#[derive(Clone, Debug, PartialEq)]
pub struct Run<C = Arc<PointCloud>> {
    /// All that `run.json` says.
    pub head: RunFile,
    pub cloud: C,
    /// The queries' own cloud, when they are not rows of `cloud`.
    pub query_cloud: Option<C>,
    /// The row of each query in `query_cloud` or, without one, in `cloud`.
    pub query_rows: Vec<u32>,
    /// The neighbours of each query, as rows of `cloud`.
    pub neighbors: Neighbors,
    /// Of each query; empty for engines that count nothing.
    pub measured: Measured,
    /// Of each query; of none for engines without a history.
    pub convergence: Convergence,
    /// When it was asked for.
    pub profile: Option<Profile>,
    /// Every timed piece of the run, one per row of `timings.csv`.
    pub samples: Vec<Sample>,
}

/// A run whose points are there.
pub type RunRecord = Run;

/// The head's fields are read as the run's own, nearly everywhere: `run.spec.k`. They are changed through [`Run::head`] only.
impl<C> Deref for Run<C> {
    type Target = RunFile;

    fn deref(&self) -> &RunFile {
        &self.head
    }
}

impl<C> Run<C> {
    /// The same run with something else in place of its clouds.
    pub fn with_clouds<D>(self, cloud: D, query_cloud: Option<D>) -> Run<D> {
        let Self { head, cloud: _, query_cloud: _, query_rows, neighbors, measured, convergence, profile, samples } = self;
        Run { head, cloud, query_cloud, query_rows, neighbors, measured, convergence, profile, samples }
    }

    /// Bytes of its arrays, without the clouds.
    pub fn bytes(&self) -> usize {
        let profile = self.profile.as_ref().map_or(0, |profile| 8 * profile.cycles.len() + 24 * profile.spans.len());
        let convergence = 8 * (self.convergence.points_seen.len() + self.convergence.starts.len());
        8 * self.neighbors.indices.len()
            + 4 * self.query_rows.len()
            + 4 * self.measured.columns().len() * self.measured.queries()
            + convergence
            + 32 * self.samples.len()
            + profile
    }

    /// The engine, where this program has it.
    pub fn descriptor(&self) -> Option<&'static Descriptor> {
        registry::find(self.engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_numbers_beside_the_others() {
        let measure = |name: &str, mean, expected| MeasureMean { name: name.to_owned(), mean, expected };
        let summary = Summary { n: 7, measures: vec![measure("visited", 2.5, None), measure("accessed", 9.25, Some(11.5))], ..Summary::default() };
        let json = serde_json::to_string(&summary).unwrap();
        assert!(json.ends_with(r#""distances_per_second":null,"mean_visited":2.5,"mean_accessed":9.25,"expected_accessed":11.5}"#), "{json}");
        assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary);
        // Of an engine without counters, as the first version wrote it.
        let old =
            json.replace("\"mean_visited\":2.5,\"mean_accessed\":9.25,\"expected_accessed\":11.5", "\"mean_merges\":null,\"expected_merges\":12.5");
        assert_eq!(serde_json::from_str::<Summary>(&old).unwrap().measures, []);
    }

    #[test]
    fn a_phase_is_saved_by_its_name() {
        for phase in Phase::ALL {
            let json = serde_json::to_string(&phase).unwrap();
            assert_eq!(json, format!("\"{}\"", phase.name()));
            assert_eq!(serde_json::from_str::<Phase>(&json).unwrap(), phase);
        }
    }
}
