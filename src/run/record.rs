//! What is kept of a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{QuerySpec, RunSpec};
use crate::cloud::{Axis, Fingerprint, PointCloud};
use crate::knn::{Convergence, Counters, DeviceInfo, EngineKind, Neighbors, Profile};

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

/// One timed piece: a row of `timings.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// What was timed.
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
    /// Points searched.
    pub n: u64,
    /// Queries answered.
    pub q: u64,
    /// Dimensions.
    pub d: u64,
    /// Search time of a repeat, all chunks: median, least and most, in milliseconds.
    pub search_ms_median: f64,
    /// The fastest repeat.
    pub search_ms_min: f64,
    /// The slowest repeat.
    pub search_ms_max: f64,
    /// n·q over the median, distances a second; absent for engines that leave distances out (those without counters).
    pub distances_per_second: Option<f64>,
    /// Over all queries; absent for engines without counters.
    pub mean_merges: Option<f64>,
    /// Likewise.
    pub mean_candidates: Option<f64>,
    /// The theory's bound on the mean merges in random order.
    pub expected_merges: f64,
    /// The theory's bound on the mean candidates in random order.
    pub expected_candidates: f64,
}

/// A spec executed. Shared behind `Arc`, never changed.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// What was run.
    pub spec: RunSpec,
    /// Which engine answered.
    pub engine: EngineKind,
    /// Why `auto` did not take `cuda`.
    pub fallback: Option<String>,
    /// How the engine searched at last, where it has a choice.
    pub method: Option<String>,
    /// Whether the points were in the engine before the run: then `upload` is the queries', and nothing was indexed.
    pub resident: bool,
    /// On what.
    pub device: DeviceInfo,
    /// The program's version.
    pub version: String,
    /// When it began, seconds since 1970 UTC.
    pub started_unix: u64,
    /// The cloud's content, by name.
    pub fingerprint: Fingerprint,
    /// The cloud's axes.
    pub axes: Vec<Axis>,
    /// The cloud that was searched.
    pub cloud: Arc<PointCloud>,
    /// The queries' own cloud, when they are not rows of `cloud`.
    pub query_cloud: Option<Arc<PointCloud>>,
    /// The row of each query in `query_cloud` or, without one, in `cloud`.
    pub query_rows: Vec<u32>,
    /// The neighbours of each query, as rows of `cloud`.
    pub neighbors: Neighbors,
    /// Of each query; empty for engines without counters.
    pub counters: Vec<Counters>,
    /// Of each query; of none for engines without counters.
    pub convergence: Convergence,
    /// When it was asked for.
    pub profile: Option<Profile>,
    /// Raw timings.
    pub samples: Vec<Sample>,
    /// In a few numbers.
    pub summary: Summary,
}

impl RunRecord {
    /// Rows of the source that are not searched: with NaN or ±∞, or without a direction under the angular metric.
    pub fn dropped_rows(&self) -> u64 {
        (self.cloud.dropped() + self.cloud.len() as u64).saturating_sub(self.summary.n)
    }

    /// Queries that were asked for and left out, likewise.
    pub fn dropped_queries(&self) -> u64 {
        let (asked, dropped) = match (&self.query_cloud, &self.spec.queries) {
            (Some(queries), _) => (queries.len() as u64, queries.dropped()),
            (None, QuerySpec::Count(count)) => (*count, 0),
            (None, QuerySpec::At(_)) => (1, 0),
            (None, QuerySpec::Rows(records)) => (records.len() as u64, 0),
            (None, _) => (self.cloud.len() as u64, 0),
        };
        (asked + dropped).saturating_sub(self.summary.q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_saved_by_its_name() {
        for phase in Phase::ALL {
            let json = serde_json::to_string(&phase).unwrap();
            assert_eq!(json, format!("\"{}\"", phase.name()));
            assert_eq!(serde_json::from_str::<Phase>(&json).unwrap(), phase);
        }
    }
}
