//! What was found, as `--json` prints it and people read it.

use std::path::PathBuf;

use serde::Serialize;

use super::{Classified, Wanted};
use crate::cloud::PointCloud;
use crate::knn::Metric;
use crate::run::RunRecord;
use crate::run::graph::hubness::Hubness;
use crate::run::graph::leaks::{Leaks, LeaksFound};
use crate::run::graph::{Analysis, KnnGraph, largest, lid};
use crate::run::stats::Spread;

/// The version of what `--json` prints.
const SCHEMA_VERSION: u32 = 1;

/// Rows that are named as having the largest values.
const MOST: usize = 10;

/// All that was worked out.
pub struct Found<'a> {
    pub cloud: &'a PointCloud,
    pub k: usize,
    pub metric: Metric,
    pub graph: Option<(&'a RunRecord, &'a KnnGraph<'a>, &'a Analysis)>,
    pub leaks: Option<(&'a Leaks, &'a RunRecord, &'a PointCloud)>,
    pub written: Vec<PathBuf>,
}

#[derive(Serialize)]
pub struct Report {
    schema_version: u32,
    pub cloud: String,
    /// Points that were searched.
    pub points: u64,
    pub dimensions: usize,
    pub k: usize,
    pub metric: Metric,
    pub engine: String,
    pub device: String,
    /// Rows that are no points, as they have no finite values or no direction.
    pub dropped: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<Scores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lof: Option<Scores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hubness: Option<Hubs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lid: Option<Lid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Named<Classified>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<Duplicates>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Named<Spread>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Components>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaks: Option<Named<LeaksFound>>,
    /// Files that were written.
    pub wrote: Vec<String>,
}

/// A result with the file or column that it is about.
#[derive(Serialize)]
pub struct Named<T> {
    pub of: String,
    #[serde(flatten)]
    pub result: T,
}

/// A number of each row.
#[derive(Serialize)]
pub struct Scores {
    #[serde(flatten)]
    pub spread: Option<Spread>,
    /// The largest first.
    pub largest: Vec<Score>,
}

#[derive(Serialize)]
pub struct Score {
    pub row: u64,
    pub value: f64,
}

#[derive(Serialize)]
pub struct Hubs {
    #[serde(flatten)]
    pub hubness: Hubness,
    /// The first row with the most.
    pub largest_row: u64,
}

#[derive(Serialize)]
pub struct Lid {
    #[serde(flatten)]
    pub spread: Option<Spread>,
    /// Of the whole cloud: one over the mean of inverse local ones.
    pub all: Option<f64>,
    /// Rows whose neighbours do not tell.
    pub undefined: u64,
}

#[derive(Serialize)]
pub struct Duplicates {
    pub eps: f64,
    pub groups: u64,
    /// Rows in groups.
    pub rows: u64,
    /// Rows of the largest group.
    pub largest: u32,
    /// Groups that may be larger: a row's k-th neighbour is still within eps.
    pub open: u64,
}

#[derive(Serialize)]
pub struct Components {
    pub count: u64,
    /// Rows of the largest component.
    pub largest: u32,
    /// Components of one row.
    pub single: u64,
}

impl Report {
    pub fn of(found: &Found<'_>, wanted: &Wanted) -> Self {
        let none = Analysis::default();
        let (graph, analysis) = found.graph.map_or((None, &none), |(_, graph, analysis)| (Some(graph), analysis));
        let record_of = |point: usize| graph.map_or(0, |graph| found.cloud.record(graph.row(point) as usize));
        let scores = |values: &Vec<f64>| Scores {
            spread: Spread::of(values.iter().copied()),
            largest: largest(values, MOST).into_iter().map(|point| Score { row: record_of(point), value: values[point] }).collect(),
        };
        let path = |path: &Option<PathBuf>| path.as_ref().map_or_else(String::new, |path| path.display().to_string());
        let run = found.graph.map(|(record, ..)| record).or(found.leaks.map(|(_, record, _)| record));
        Self {
            schema_version: SCHEMA_VERSION,
            cloud: found.cloud.source().to_string(),
            points: run.map_or(0, |record| record.summary.n),
            dimensions: found.cloud.dims(),
            k: found.k,
            metric: found.metric,
            engine: run.map_or_else(String::new, |record| record.engine.to_string()),
            device: run.map_or_else(String::new, |record| record.device.name.clone()),
            dropped: run.map_or(0, |record| record.dropped_rows),
            density: analysis.density.as_ref().map(scores),
            lof: analysis.lof.as_ref().map(scores),
            hubness: analysis.occurrences.as_ref().and_then(|occurrences| {
                let hubness = Hubness::of(occurrences)?;
                Some(Hubs { hubness, largest_row: record_of(hubness.largest) })
            }),
            lid: analysis.lid.as_ref().map(|dimensions| Lid {
                spread: Spread::of(dimensions.iter().flatten().copied()),
                all: lid::of_all(dimensions),
                undefined: dimensions.iter().filter(|dimension| dimension.is_none()).count() as u64,
            }),
            labels: analysis
                .labels
                .as_ref()
                .map(|(labels, votes)| Named { of: wanted.labels.clone().unwrap_or_default(), result: Classified::of(labels, votes) }),
            duplicates: analysis.duplicates.as_ref().zip(wanted.duplicates).map(|(groups, eps)| Duplicates {
                eps,
                groups: groups.sets.sizes.len() as u64,
                rows: groups.points(),
                largest: groups.sets.largest(),
                open: groups.open.iter().filter(|&&open| open).count() as u64,
            }),
            overlap: analysis
                .overlap
                .as_ref()
                .and_then(|shares| Some(Named { of: path(&wanted.overlap), result: Spread::of(shares.iter().copied())? })),
            components: analysis.components.as_ref().map(|sets| Components {
                count: sets.sizes.len() as u64,
                largest: sets.largest(),
                single: sets.sizes.iter().filter(|&&size| size == 1).count() as u64,
            }),
            leaks: found.leaks.map(|(leaks, ..)| Named { of: path(&wanted.leaks), result: leaks.found() }),
            wrote: found.written.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}
