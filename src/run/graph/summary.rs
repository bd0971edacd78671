//! Summaries of the analyses of a graph, in numbers and as a sentence each.

use serde::Serialize;

use super::groups::{DuplicateGroups, PointGroups};
use super::labels::Classification;
use super::other_cloud::LeakCounts;
use super::scores::Hubness;
use super::{KnnGraph, largest, scores};
use crate::cloud::PointCloud;
use crate::run::stats::SummaryStats;
use crate::text::{self, ExactFloat};

/// Number of rows with the largest values to list.
const LISTED_ROWS: usize = 10;

/// Number of these rows that a sentence names.
const NAMED_ROWS: usize = 5;

/// A point's record number.
fn record_of(graph: &KnnGraph<'_>, cloud: &PointCloud, point: usize) -> u64 {
    cloud.record(graph.row(point) as usize)
}

/// The mean, the extremes and some quantiles.
pub fn spread_text(spread: &SummaryStats) -> String {
    let number = text::significant;
    let SummaryStats { mean, min, p05, median, p95, max, .. } = *spread;
    let ends = format!(
        "min {}, 5 % {}, median {}, 95 % {}, max {}",
        number(min),
        number(p05),
        number(median),
        number(p95),
        number(max)
    );
    format!("mean {}, {ends}", number(mean))
}

/// A percentage that is rounded to 100 % only if exact.
pub fn percent(share: f64) -> String {
    format!("{} %", text::rounded_part(100.0 * share, 100.0, 2))
}

/// A score per row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreSummary {
    #[serde(flatten)]
    pub spread: Option<SummaryStats>,
    /// In descending order.
    pub largest: Vec<Score>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    pub row: u64,
    pub value: f64,
}

impl ScoreSummary {
    /// `values` are those of the graph's points.
    pub fn new(graph: &KnnGraph<'_>, cloud: &PointCloud, values: &[f64]) -> Self {
        let score = |point: usize| Score { row: record_of(graph, cloud, point), value: values[point] };
        Self {
            spread: SummaryStats::new(values.iter().copied()),
            largest: largest(values, LISTED_ROWS).into_iter().map(score).collect(),
        }
    }

    pub fn sentence(&self) -> String {
        let named: Vec<String> = self
            .largest
            .iter()
            .take(NAMED_ROWS)
            .map(|score| format!("row {} ({})", text::thousands(score.row), text::significant(score.value)))
            .collect();
        format!(
            "{}; largest: {}",
            self.spread.as_ref().map_or_else(String::new, spread_text),
            named.join(", ")
        )
    }
}

/// The overlap of neighbours with another cloud; `other` is its name.
pub fn overlap(other: &str, shares: &SummaryStats) -> String {
    format!("share of neighbours in common with {other}: {}", spread_text(shares))
}

/// How many rows of the other cloud are near a row of this one. `unit` starts with a space or is empty.
pub fn leaks(other: &str, found: &LeakCounts, unit: &str) -> String {
    let (leaks, rows) = (text::thousands(found.leaks), text::count(found.rows, "row", "rows"));
    let share = if found.rows > 0 { percent(found.leaks as f64 / found.rows as f64) } else { percent(0.0) };
    format!(
        "{leaks} of {rows} of {other} ({share}) within {}{unit} of a row here, {} at 0",
        ExactFloat(found.eps),
        text::thousands(found.equal)
    )
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hubs {
    #[serde(flatten)]
    pub hubness: Hubness,
    /// The first row with the maximum.
    pub largest_row: u64,
}

impl Hubs {
    /// `None` without points.
    pub fn new(graph: &KnnGraph<'_>, cloud: &PointCloud, occurrences: &[u32]) -> Option<Self> {
        let hubness = Hubness::new(occurrences)?;
        Some(Self { hubness, largest_row: record_of(graph, cloud, hubness.largest) })
    }

    pub fn sentence(&self) -> String {
        let of = &self.hubness;
        let skewness = of.skewness.map_or_else(
            || "undefined, as all rows are neighbours equally often".to_owned(),
            text::significant,
        );
        let most = format!(
            "row {} is a neighbour of {}",
            text::thousands(self.largest_row),
            text::thousands(of.max.into())
        );
        let (hubs, antihubs) =
            (text::count(of.hubs, "hub", "hubs"), text::count(of.antihubs, "row is", "rows are"));
        format!(
            "skewness {skewness}; {most}; {hubs} beyond mean + 2 standard deviations; {antihubs} not a \
             neighbour of any other"
        )
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LocalDimensions {
    #[serde(flatten)]
    pub spread: Option<SummaryStats>,
    /// The dimension of the whole cloud: the harmonic mean of local ones.
    pub all: Option<f64>,
    /// Rows with too few distinct distances.
    pub undefined: u64,
}

impl LocalDimensions {
    pub fn new(dimensions: &[f64]) -> Self {
        let is_undefined = |dimension: &&f64| dimension.is_nan();
        let defined = dimensions.iter().filter(|dimension| !is_undefined(dimension));
        Self {
            spread: SummaryStats::new(defined.copied()),
            all: scores::overall_dimension(dimensions),
            undefined: dimensions.iter().filter(is_undefined).count() as u64,
        }
    }

    pub fn sentence(&self) -> String {
        let all = self.all.map_or_else(
            || "undefined for all rows".to_owned(),
            |all| format!("intrinsic dimension {} overall", text::significant(all)),
        );
        let local =
            self.spread.as_ref().map_or_else(String::new, |of| format!("; local {}", spread_text(of)));
        let undefined = text::count(self.undefined, "row undefined", "rows undefined");
        if self.undefined > 0 && self.all.is_some() {
            format!("{all}{local}; {undefined}")
        } else {
            format!("{all}{local}")
        }
    }
}

/// How well neighbours predict a column of labels, in a sentence.
pub fn labels(column: &str, result: &Classification) -> String {
    let (Some(same), Some(accuracy)) = (result.same_label, result.accuracy) else {
        return format!("column {column}: no row has labelled neighbours");
    };
    let mut line = format!(
        "column {column}, {}: {} of neighbours have the row's label; leave-one-out accuracy {} ({} of {})",
        text::count(result.labels.len() as u64, "label", "labels"),
        percent(same),
        percent(accuracy),
        text::thousands(result.correct),
        text::thousands(result.points)
    );
    if result.unlabelled > 0 {
        line += &format!("; {} no label", text::count(result.unlabelled, "row has", "rows have"));
    }
    if result.undecided > 0 {
        line += &format!(
            "; {} no labelled neighbour",
            text::count(result.undecided, "labelled row has", "labelled rows have")
        );
    }
    line
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Duplicates {
    pub eps: f64,
    pub groups: u64,
    /// Rows in groups.
    pub rows: u64,
    /// Rows of the largest group.
    pub largest: u32,
    /// Groups that may be larger, as a row's k-th neighbour is within eps.
    pub open: u64,
}

impl Duplicates {
    pub fn new(groups: &DuplicateGroups, eps: f64) -> Self {
        Self {
            eps,
            groups: groups.sets.sizes.len() as u64,
            rows: groups.points(),
            largest: groups.sets.largest(),
            open: groups.open.iter().filter(|&&open| open).count() as u64,
        }
    }

    /// `unit` is the unit of the distance after a space, or empty.
    pub fn sentence(&self, unit: &str) -> String {
        let within = if self.eps == 0.0 {
            "rows at distance 0".to_owned()
        } else {
            format!("rows within {}{unit}", ExactFloat(self.eps))
        };
        if self.groups == 0 {
            return format!("no {within}");
        }
        let groups = text::count(self.groups, "group", "groups");
        let rows = text::count(self.rows, "row", "rows");
        let all = format!(
            "{groups} of {within}, {rows} in all, {} in the largest",
            text::thousands(self.largest.into())
        );
        match self.open {
            0 => all,
            open => format!(
                "{all}; {} larger, as the k-th neighbour is within the distance: raise k",
                text::count(open, "group may be", "groups may be")
            ),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Components {
    pub count: u64,
    /// Rows of the largest component.
    pub largest: u32,
    /// Components with one row.
    pub single: u64,
}

impl Components {
    pub fn new(sets: &PointGroups) -> Self {
        let single = sets.sizes.iter().filter(|&&size| size == 1).count() as u64;
        Self { count: sets.sizes.len() as u64, largest: sets.largest(), single }
    }

    pub fn sentence(&self) -> String {
        let groups = text::count(self.count - self.single, "group", "groups");
        let single = text::count(self.single, "isolated row", "isolated rows");
        let largest = text::count(self.largest.into(), "row", "rows");
        format!("{groups} of mutual neighbours, the largest with {largest}; {single}")
    }
}
