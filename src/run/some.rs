//! A run whose clouds may not be there.

use std::path::PathBuf;
use std::sync::Arc;

use super::{CloudFile, Run, RunFile, RunRecord, Sample};
use crate::knn::{Convergence, Measured, NONE, Neighbors, Profile};

/// A run, with the clouds that it searched or without.
#[derive(Clone, Debug)]
pub enum SomeRun {
    /// The run with its clouds.
    Whole(Arc<RunRecord>),
    /// Its clouds are not there.
    WithoutClouds {
        /// The run with a description of each cloud in place of its points.
        run: Arc<Run<CloudFile>>,
        /// Where the files of its cloud and of its queries' own lay, as the recording says that it was read from: nowhere,
        /// where it holds the points.
        places: [Vec<PathBuf>; 2],
        /// Why they are not there, as a sentence.
        why: String,
    },
}

/// Fields of [`Run`] by their names, whatever there is of its clouds.
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

impl SomeRun {
    fields!(head: RunFile, query_rows: [u32], neighbors: Neighbors, measured: Measured, convergence: Convergence, samples: [Sample]);
    fields!(profile: Option<Profile>);

    /// The record, where all of it is there.
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
            Self::WithoutClouds { run, .. } => (run.cloud.clone(), run.query_cloud.clone()),
        }
    }

    /// Where the files of clouds that are not there lay.
    pub fn places(&self) -> [&[PathBuf]; 2] {
        match self {
            Self::Whole(_) => [&[], &[]],
            Self::WithoutClouds { places: [cloud, query_cloud], .. } => [cloud, query_cloud],
        }
    }
}
