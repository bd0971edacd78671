//! The results of `analyse` in numbers.

use std::path::PathBuf;

use serde::Serialize;

use super::selection::AnalysisSelection;
use crate::cli::answer::AnswerStats;
use crate::cli::columns::SearchedColumns;
use crate::cloud::PointCloud;
use crate::export::text;
use crate::files::Stored;
use crate::knn::Metric;
use crate::run::TileStats;
use crate::run::graph::labels::Classification;
use crate::run::graph::other_cloud::{LeakCandidates, LeakCounts};
use crate::run::graph::summary::{self, Components, Duplicates, Hubs, LocalDimensions, ScoreSummary};
use crate::run::graph::{Analysis, KnnGraph};
use crate::run::stats::SummaryStats;

/// The version of the layout of `--json`.
const SCHEMA_VERSION: u32 = 1;

/// All results, before they are summarised.
pub struct AnalysisResults<'a> {
    pub cloud: &'a PointCloud,
    pub k: usize,
    pub metric: Metric,
    pub searched: SearchedColumns,
    pub graph: Option<(&'a KnnGraph<'a>, &'a Analysis)>,
    pub leaks: Option<&'a LeakCandidates>,
    /// How the last search was answered.
    pub answered: &'a AnswerStats,
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
    pub searched: SearchedColumns,
    pub k: usize,
    pub metric: Metric,
    pub engine: String,
    pub device: String,
    /// The tiles, if the points were searched in some.
    #[serde(skip_serializing_if = "Option::is_none")]
    tiles: Option<TileStats>,
    /// Rows dropped because they have non-finite values or no direction.
    pub dropped: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<ScoreSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lof: Option<ScoreSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hubness: Option<Hubs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lid: Option<LocalDimensions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<NamedResult<Classification>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<Duplicates>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<NamedResult<SummaryStats>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Components>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaks: Option<NamedResult<LeakCounts>>,
    /// Files that were written.
    pub wrote: Vec<String>,
}

/// A result with the file or column it belongs to.
#[derive(Serialize)]
pub struct NamedResult<T> {
    pub of: String,
    #[serde(flatten)]
    pub result: T,
}

impl Report {
    pub fn new(found: &AnalysisResults<'_>, wanted: &AnalysisSelection) -> Self {
        let none = Analysis::default();
        let (graph, analysis) =
            found.graph.map_or((None, &none), |(graph, analysis)| (Some(graph), analysis));
        let scores = |values: &Stored<f64>| graph.map(|graph| ScoreSummary::new(graph, found.cloud, values));
        let path = |path: &Option<PathBuf>| {
            path.as_ref().map_or_else(String::new, |path| path.display().to_string())
        };
        let AnswerStats { points, engine, device, tiles, .. } = found.answered.clone();
        Self {
            schema_version: SCHEMA_VERSION,
            cloud: found.cloud.source().to_string(),
            points,
            dimensions: found.cloud.dims(),
            searched: found.searched.clone(),
            k: found.k,
            metric: found.metric,
            engine,
            device,
            tiles,
            dropped: (found.cloud.dropped() + found.cloud.len() as u64).saturating_sub(points),
            density: analysis.density.as_ref().and_then(scores),
            lof: analysis.lof.as_ref().and_then(scores),
            hubness: analysis
                .occurrences
                .as_ref()
                .and_then(|occurrences| Hubs::new(graph?, found.cloud, occurrences)),
            lid: analysis.lid.as_ref().map(|dimensions| LocalDimensions::new(dimensions)),
            labels: analysis.labels.as_ref().map(|(labels, votes)| NamedResult {
                of: wanted.labels.clone().unwrap_or_default(),
                result: Classification::new(labels, votes),
            }),
            duplicates: analysis
                .duplicates
                .as_ref()
                .zip(wanted.duplicates)
                .map(|(groups, eps)| Duplicates::new(groups, eps)),
            overlap: analysis.overlap.as_ref().and_then(|shares| {
                Some(NamedResult {
                    of: path(&wanted.overlap),
                    result: SummaryStats::new(shares.iter().copied())?,
                })
            }),
            components: analysis.components.as_ref().map(Components::new),
            leaks: found.leaks.map(|leaks| NamedResult { of: path(&wanted.leaks), result: leaks.counts() }),
            wrote: found.written.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}

/// Up to this number of labels the confusion matrix is shown; beyond it, the most frequent confusions.
const MAX_LABELS: usize = 16;
/// Number of confusions to list.
const MAX_CONFUSIONS: usize = 10;

/// A report as a few aligned lines.
pub fn table(report: &Report, wanted: &AnalysisSelection) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |what: &str, value: String| rows.push(vec![what.to_owned(), value]);
    let points = text::count(report.points, "point", "points");
    row(
        "cloud",
        format!(
            "{}, {points} in {}",
            report.cloud,
            text::count(report.dimensions as u64, "dimension", "dimensions")
        ),
    );
    if report.dropped > 0 {
        row("dropped", text::count(report.dropped, "row", "rows"));
    }
    if wanted.needs_graph() {
        let k = text::thousands(report.k as u64);
        row(
            "neighbours",
            format!(
                "k = {k}, {}, excluding the row itself, by {} on {}",
                report.metric, report.engine, report.device
            ),
        );
        if report.k as u64 >= report.points {
            row(
                "note",
                format!("each row has only {}", text::count(report.points - 1, "neighbour", "neighbours")),
            );
        }
    }
    if let Some(tiles) = &report.tiles {
        row("tiles", tiles.to_string());
    }
    let heading = report.metric.heading();
    let unit = report.metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
    if let Some(scores) = &report.density {
        row(
            "density",
            format!("{heading} to the {} neighbour: {}", text::ordinal(report.k as u64), scores.sentence()),
        );
    }
    if let Some(scores) = &report.lof {
        row("lof", scores.sentence());
    }
    if let Some(hubs) = &report.hubness {
        row("hubness", hubs.sentence());
    }
    if let Some(found) = &report.lid {
        row("lid", found.sentence());
    }
    if let Some(NamedResult { of, result }) = &report.labels {
        row("labels", summary::labels(of, result));
    }
    if let Some(found) = &report.duplicates {
        row("duplicates", found.sentence(&unit));
    }
    if let Some(NamedResult { of, result }) = &report.overlap {
        row("overlap", summary::overlap(of, result));
    }
    if let Some(found) = &report.components {
        row("components", found.sentence());
    }
    if let Some(NamedResult { of, result }) = &report.leaks {
        row("leaks", summary::leaks(of, result, &unit));
    }
    for path in &report.wrote {
        row("wrote", path.clone());
    }
    let all = text::table(&rows, &[]);
    match &report.labels {
        Some(NamedResult { result, .. }) => format!("{all}{}", confusion(result)),
        None => all,
    }
}

/// The confusion matrix, labels down and predictions across, or the most frequent confusions.
fn confusion(result: &Classification) -> String {
    if result.labels.len() <= MAX_LABELS {
        let count = result.labels.len();
        let mut cells = vec![vec![0; count]; count];
        result
            .confusion
            .iter()
            .for_each(|cell| cells[cell.label as usize][cell.predicted as usize] = cell.points);
        let mut rows = vec![
            std::iter::once("label ↓ predicted →".to_owned())
                .chain(result.labels.iter().cloned())
                .collect::<Vec<String>>(),
        ];
        for (label, cells) in result.labels.iter().zip(cells) {
            rows.push(std::iter::once(label.clone()).chain(cells.into_iter().map(text::thousands)).collect());
        }
        let right: Vec<usize> = (1..=count).collect();
        return format!("\n{}", text::table(&rows, &right));
    }
    let mut wrong: Vec<_> = result.confusion.iter().filter(|cell| cell.label != cell.predicted).collect();
    if wrong.is_empty() {
        return String::new();
    }
    wrong.sort_by_key(|cell| std::cmp::Reverse(cell.points));
    let mut rows = vec![["most confused", "taken for", "rows"].map(str::to_owned).to_vec()];
    let name = |place: u32| result.labels[place as usize].clone();
    rows.extend(
        wrong
            .iter()
            .take(MAX_CONFUSIONS)
            .map(|cell| vec![name(cell.label), name(cell.predicted), text::thousands(cell.points)]),
    );
    format!("\n{}", text::table(&rows, &[2]))
}
