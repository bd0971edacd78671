//! What was found, as `--json` prints it and people read it.

use std::path::PathBuf;

use serde::Serialize;

use super::wanted::Wanted;
use crate::cli::columns::Searched;
use crate::cloud::PointCloud;
use crate::knn::Metric;
use crate::run::RunRecord;
use crate::run::graph::labels::Classified;
use crate::run::graph::leaks::{Leaks, LeaksFound};
use crate::run::graph::summary::{Components, Duplicates, Hubs, Lid, Scores};
use crate::run::graph::{Analysis, KnnGraph};
use crate::run::stats::Spread;

/// The version of what `--json` prints.
const SCHEMA_VERSION: u32 = 1;

/// All that was worked out.
pub struct Found<'a> {
    pub cloud: &'a PointCloud,
    pub k: usize,
    pub metric: Metric,
    pub searched: Searched,
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
    #[serde(flatten)]
    pub searched: Searched,
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

impl Report {
    pub fn of(found: &Found<'_>, wanted: &Wanted) -> Self {
        let none = Analysis::default();
        let (graph, analysis) = found.graph.map_or((None, &none), |(_, graph, analysis)| (Some(graph), analysis));
        let scores = |values: &Vec<f64>| graph.map(|graph| Scores::of(graph, found.cloud, values));
        let path = |path: &Option<PathBuf>| path.as_ref().map_or_else(String::new, |path| path.display().to_string());
        let run = found.graph.map(|(record, ..)| record).or(found.leaks.map(|(_, record, _)| record));
        Self {
            schema_version: SCHEMA_VERSION,
            cloud: found.cloud.source().to_string(),
            points: run.map_or(0, |record| record.summary.n),
            dimensions: found.cloud.dims(),
            searched: found.searched.clone(),
            k: found.k,
            metric: found.metric,
            engine: run.map_or_else(String::new, |record| record.engine.to_string()),
            device: run.map_or_else(String::new, |record| record.device.name.clone()),
            dropped: run.map_or(0, |record| record.dropped_rows),
            density: analysis.density.as_ref().and_then(scores),
            lof: analysis.lof.as_ref().and_then(scores),
            hubness: analysis.occurrences.as_ref().and_then(|occurrences| Hubs::of(graph?, found.cloud, occurrences)),
            lid: analysis.lid.as_ref().map(|dimensions| Lid::of(dimensions)),
            labels: analysis
                .labels
                .as_ref()
                .map(|(labels, votes)| Named { of: wanted.labels.clone().unwrap_or_default(), result: Classified::of(labels, votes) }),
            duplicates: analysis.duplicates.as_ref().zip(wanted.duplicates).map(|(groups, eps)| Duplicates::of(groups, eps)),
            overlap: analysis
                .overlap
                .as_ref()
                .and_then(|shares| Some(Named { of: path(&wanted.overlap), result: Spread::of(shares.iter().copied())? })),
            components: analysis.components.as_ref().map(Components::of),
            leaks: found.leaks.map(|(leaks, ..)| Named { of: path(&wanted.leaks), result: leaks.found() }),
            wrote: found.written.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}
