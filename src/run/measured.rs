//! A run without the clouds that it searched: what can be said of it where they are not there.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{RunFile, RunRecord, Sample};
use crate::cloud::{Axis, Fingerprint, PointCloud, Source};
use crate::knn::{self, Convergence, NONE, Neighbors, Profile};

/// A cloud without its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CloudFile {
    /// n.
    pub rows: u64,
    /// How many rows of the source were left out.
    pub dropped: u64,
    /// Where it came from.
    pub source: Source,
    /// Its content, by name.
    pub fingerprint: Fingerprint,
    /// Its dimensions.
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

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The run without its bulk.
    pub file: RunFile,
    /// The cloud that was searched.
    pub cloud: CloudFile,
    /// The queries' own cloud, when they are not rows of the other.
    pub query_cloud: Option<CloudFile>,
    /// Where their files lay, as the recording says that it was read from: nowhere, where it holds the points.
    pub places: [Vec<PathBuf>; 2],
    /// As in [`RunRecord::query_rows`].
    pub query_rows: Vec<u32>,
    /// The neighbours of each query, as rows of the cloud.
    pub neighbors: Neighbors,
    /// Of each query; empty for engines that count nothing.
    pub measured: knn::Measured,
    /// Of each query; of none for engines without a history.
    pub convergence: Convergence,
    /// When it was asked for.
    pub profile: Option<Profile>,
    /// Raw timings.
    pub samples: Vec<Sample>,
}

impl Measured {
    /// The record, with the clouds that it searched.
    pub fn on(self, cloud: Arc<PointCloud>, query_cloud: Option<Arc<PointCloud>>) -> RunRecord {
        let RunFile { spec, engine, fallback, predicted_ms, method, note, device, warpscope_version, started_unix, resident, summary, .. } =
            self.file;
        RunRecord {
            spec,
            engine,
            fallback,
            predicted_ms,
            method,
            note,
            device,
            version: warpscope_version,
            started_unix,
            fingerprint: cloud.fingerprint().clone(),
            axes: cloud.axes().to_vec(),
            cloud,
            query_cloud,
            query_rows: self.query_rows,
            neighbors: self.neighbors,
            measured: self.measured,
            convergence: self.convergence,
            profile: self.profile,
            samples: self.samples,
            resident,
            summary,
        }
    }
}

/// The bulk of a run, wherever it lies.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each is the field of Measured with that name")]
pub struct RunBulk<'a> {
    pub query_rows: &'a [u32],
    pub neighbors: &'a Neighbors,
    pub measured: &'a knn::Measured,
    pub convergence: &'a Convergence,
    pub profile: Option<&'a Profile>,
    pub samples: &'a [Sample],
}

impl<'a> From<&'a Measured> for RunBulk<'a> {
    fn from(run: &'a Measured) -> Self {
        Self {
            query_rows: &run.query_rows,
            neighbors: &run.neighbors,
            measured: &run.measured,
            convergence: &run.convergence,
            profile: run.profile.as_ref(),
            samples: &run.samples,
        }
    }
}

impl<'a> From<&'a RunRecord> for RunBulk<'a> {
    fn from(run: &'a RunRecord) -> Self {
        Self {
            query_rows: &run.query_rows,
            neighbors: &run.neighbors,
            measured: &run.measured,
            convergence: &run.convergence,
            profile: run.profile.as_ref(),
            samples: &run.samples,
        }
    }
}

/// A run, with the clouds that it searched or without.
#[derive(Clone, Debug)]
pub enum SomeRun {
    /// All of it.
    Whole(Arc<RunRecord>),
    /// Its clouds are not there.
    Part {
        /// The rest.
        run: Arc<Measured>,
        /// Why they are not, as a sentence.
        why: String,
    },
}

impl SomeRun {
    /// The run without its bulk.
    pub fn file(&self) -> RunFile {
        match self {
            Self::Whole(record) => RunFile::from(&**record),
            Self::Part { run, .. } => run.file.clone(),
        }
    }

    /// Its bulk.
    pub fn bulk(&self) -> RunBulk<'_> {
        match self {
            Self::Whole(record) => (&**record).into(),
            Self::Part { run, .. } => (&**run).into(),
        }
    }

    /// The record, where all of it is there.
    pub fn record(&self) -> Option<&Arc<RunRecord>> {
        match self {
            Self::Whole(record) => Some(record),
            Self::Part { .. } => None,
        }
    }

    /// Gives the record number of a row of the searched cloud, and −1 for [`NONE`]; nothing where rows were left out and the
    /// cloud, which knows which, is not there.
    pub fn records(&self) -> Option<impl Fn(u32) -> i64 + '_> {
        let cloud = self.record().map(|record| &record.cloud);
        let known = cloud.is_some() || self.clouds().0.dropped == 0;
        known.then_some(move |row| match cloud {
            _ if row == NONE => -1,
            Some(cloud) => cloud.record(row as usize) as i64,
            None => i64::from(row),
        })
    }

    /// The searched cloud without its points, and the queries' own.
    pub fn clouds(&self) -> (CloudFile, Option<CloudFile>) {
        match self {
            Self::Whole(record) => ((&*record.cloud).into(), record.query_cloud.as_deref().map(CloudFile::from)),
            Self::Part { run, .. } => (run.cloud.clone(), run.query_cloud.clone()),
        }
    }

    /// Where the files of clouds that are not there lay (see [`Measured::places`]).
    pub fn places(&self) -> [&[PathBuf]; 2] {
        match self {
            Self::Whole(_) => [&[], &[]],
            Self::Part { run, .. } => [&run.places[0], &run.places[1]],
        }
    }
}
