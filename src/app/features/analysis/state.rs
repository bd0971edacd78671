//! Analyses of all rows' neighbours: their list, settings and results.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::cloud::PointCloud;
use crate::export::table::Table;
use crate::run::RunRecord;
use crate::run::graph::groups::PointGroups;
use crate::run::graph::labels::Classification;
use crate::run::graph::other_cloud::LeakCandidates;
use crate::run::graph::{Analysis, summary};
use crate::text;

/// An analysis, which gives every row a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, VariantArray)]
pub enum AnalysisKind {
    Density,
    Outliers,
    Hubness,
    Dimension,
    Labels,
    Duplicates,
    Components,
    /// For clouds of three dimensions.
    Relief,
    /// Compares this file with another.
    Overlap,
    /// Compares this file with another.
    Leaks,
}

impl AnalysisKind {
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The button that computes all of them.
    pub const START: &str = "Analyse every row's neighbours";

    /// Whether it involves another file, and is computed separately.
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::Overlap | Self::Leaks)
    }

    /// Title, name of the exported column, and description of the value.
    const fn words(self) -> [&'static str; 3] {
        match self {
            Self::Density => {
                ["density", "k_distance", "Distance to the k-th neighbour: small where points are dense."]
            }
            Self::Outliers => [
                "local outlier factor",
                "lof",
                "Density of the neighbours relative to the row: about 1 inside a cluster, well above 1 for \
                 outliers.",
            ],
            Self::Hubness => [
                "hubness",
                "k_occurrence",
                "Number of rows that have this row among their k nearest. Hubs have very many.",
            ],
            Self::Dimension => [
                "local dimension",
                "lid",
                "Intrinsic dimension around a row, estimated from the distances of its neighbours.",
            ],
            Self::Labels => [
                "label agreement",
                "same_label",
                "Share of a row's neighbours with the same label, and the label of their majority.",
            ],
            Self::Duplicates => [
                "duplicates",
                "duplicate_group_size",
                "Groups of rows within a distance of each other, by group size.",
            ],
            Self::Components => {
                ["components", "component", "Groups of mutual neighbours, numbered from the largest."]
            }
            Self::Relief => [
                "relief",
                "shade",
                "Light from the north-west on the surface through a row's neighbours: 1 faces it.",
            ],
            Self::Overlap => [
                "overlap with another file",
                "overlap",
                "Share of a row's k neighbours in common with another file of the same rows, such as a \
                 second embedding.",
            ],
            Self::Leaks => [
                "leaks",
                "leak_distance",
                "Distance to the nearest row of another file. Rows within the limit leak, like test data \
                 seen in training.",
            ],
        }
    }

    pub const fn title(self) -> &'static str {
        self.words()[0]
    }

    pub const fn column(self) -> &'static str {
        self.words()[1]
    }

    pub const fn about(self) -> &'static str {
        self.words()[2]
    }

    /// The words after the number of rows without a value.
    pub const fn without(self) -> &'static str {
        match self {
            Self::Labels => "have no label or no labelled neighbour",
            Self::Duplicates => "have no duplicates",
            Self::Dimension => "have too few distinct distances",
            _ => "were not searched",
        }
    }
}

/// Settings of analyses. They use k, metric and engine of the left panel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AnalysisView {
    /// The label column, by name or number. Empty means none; `None` uses the file's label.
    pub labels: Option<String>,
    /// Maximum distance of near-duplicates, as typed.
    pub eps: String,
    /// Maximum distance between a leaking row and a row of another file, as typed.
    pub leak_eps: String,
}

impl Default for AnalysisView {
    fn default() -> Self {
        Self { labels: None, eps: "0".to_owned(), leak_eps: "0".to_owned() }
    }
}

impl AnalysisView {
    /// Parses the distance of near-duplicates.
    ///
    /// # Errors
    /// A sentence, if it is not a distance.
    pub fn eps(&self) -> Result<f64, String> {
        distance(&self.eps)
    }

    /// Parses the distance of leaks.
    ///
    /// # Errors
    /// A sentence, if it is not a distance.
    pub fn leak_eps(&self) -> Result<f64, String> {
        distance(&self.leak_eps)
    }
}

fn distance(typed: &str) -> Result<f64, String> {
    let typed = typed.trim();
    let eps = typed.parse().ok().filter(|eps: &f64| eps.is_finite() && *eps >= 0.0);
    eps.ok_or_else(|| format!("“{typed}” is not a distance; type 0 for equal rows, or a larger number."))
}

/// The results of all analyses.
#[derive(Debug)]
pub struct AnalysisResults {
    /// The neighbours of every row, without the row itself.
    pub record: Arc<RunRecord>,
    pub all: Analysis,
    /// Display name of the label column.
    pub labels: Option<String>,
    /// How well neighbours predict a row's label.
    pub classified: Option<Classification>,
    /// A sentence for each analysis, or why it failed.
    pub sentences: Vec<(AnalysisKind, Result<String, String>)>,
}

impl AnalysisResults {
    /// The value of each row of the cloud, NaN if it has none; `None` if the analysis was not computed.
    pub fn values(&self, kind: AnalysisKind) -> Option<Vec<f64>> {
        let all = &self.all;
        let mut values = vec![f64::NAN; self.record.cloud.len()];
        let rows = &self.record.query_rows;
        let mut fill = |value: &dyn Fn(usize) -> Option<f64>| {
            for (point, &row) in rows.iter().enumerate() {
                values[row as usize] = value(point).unwrap_or(f64::NAN);
            }
        };
        match kind {
            AnalysisKind::Density => all
                .density
                .as_ref()
                .map(|of| fill(&|point| Some(of[point]).filter(|value| value.is_finite()))),
            AnalysisKind::Outliers => {
                all.lof.as_ref().map(|of| fill(&|point| Some(of[point]).filter(|value| value.is_finite())))
            }
            AnalysisKind::Hubness => {
                all.occurrences.as_ref().map(|of| fill(&|point| Some(f64::from(of[point]))))
            }
            AnalysisKind::Dimension => all.lid.as_ref().map(|of| fill(&|point| Some(of[point]))),
            AnalysisKind::Labels => all.labels.as_ref().map(|(_, votes)| fill(&|point| votes[point].same)),
            AnalysisKind::Duplicates => {
                let size = |sets: &PointGroups, point: usize| {
                    sets.group_of[point].map(|group| f64::from(sets.sizes[group as usize]))
                };
                all.duplicates.as_ref().map(|groups| fill(&|point| size(&groups.sets, point)))
            }
            AnalysisKind::Overlap | AnalysisKind::Leaks => None,
            AnalysisKind::Relief => all.shades.as_ref().map(|of| fill(&|point| of[point])),
            AnalysisKind::Components => all.components.as_ref().map(|sets| {
                let ranks = by_size(sets);
                fill(&|point| sets.group_of[point].map(|component| f64::from(ranks[component as usize])));
            }),
        }?;
        Some(values)
    }

    /// A row's label, and the most frequent one among its neighbours.
    pub fn label_and_vote(&self, row: u32) -> Option<[String; 2]> {
        let (labels, votes) = self.all.labels.as_ref()?;
        let point = self.record.query_rows.binary_search(&row).ok()?;
        let name = |label: u32| labels.names().get(label as usize).cloned();
        Some([name(labels.label(point)?)?, name(votes[point].predicted?)?])
    }

    /// Rows whose label differs from the majority of their neighbours, or all rows of one cell of the
    /// confusion matrix.
    pub fn disagreeing(&self, cell: Option<(u32, u32)>) -> Vec<u32> {
        let Some((labels, votes)) = &self.all.labels else { return Vec::new() };
        let told = |point: usize| Some((labels.label(point)?, votes[point].predicted?));
        let wanted = |(label, predicted): (u32, u32)| {
            cell.map_or(label != predicted, |cell| cell == (label, predicted))
        };
        self.record
            .query_rows
            .iter()
            .enumerate()
            .filter(|&(point, _)| told(point).is_some_and(wanted))
            .map(|(_, &row)| row)
            .collect()
    }
}

/// Rank of each group by size, from 1; ties by first point.
fn by_size(sets: &PointGroups) -> Vec<u32> {
    let mut order: Vec<usize> = (0..sets.sizes.len()).collect();
    order.sort_by_key(|&group| std::cmp::Reverse(sets.sizes[group]));
    let mut ranks = vec![0; order.len()];
    order.into_iter().zip(1..).for_each(|(group, rank)| ranks[group] = rank);
    ranks
}

/// A comparison of the cloud with another file.
#[derive(Clone, Debug)]
pub struct FileComparison {
    pub cloud: Arc<PointCloud>,
    /// The other file's name.
    pub other: String,
    /// For each row of the cloud, the share of neighbours in common or the distance to the nearest row there;
    /// NaN if not searched.
    pub values: Arc<[f64]>,
    /// The result in one sentence.
    pub sentence: String,
    pub leaks: Option<LeakResult>,
}

/// Rows within a distance of rows of another file.
#[derive(Clone, Debug)]
pub struct LeakResult {
    /// The nearest row here, for each row of the other file.
    pub theirs: LeakCandidates,
    /// The search that found them.
    pub record: Arc<RunRecord>,
}

impl FileComparison {
    /// A leak comparison; `values` are distances of the rows here.
    pub fn leaking(cloud: &Arc<PointCloud>, other: String, values: Arc<[f64]>, leaking: LeakResult) -> Self {
        let eps = leaking.theirs.eps;
        let unit = leaking.record.spec.metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
        let here = values.iter().filter(|&&distance| distance <= eps).count() as u64;
        let sentence = format!(
            "{}; {} here {} within {}{unit} of its rows",
            summary::leaks(&other, &leaking.theirs.counts(), &unit),
            text::count(here, "row", "rows"),
            if here == 1 { "is" } else { "are" },
            text::ExactFloat(eps),
        );
        Self { cloud: Arc::clone(cloud), other, values, sentence, leaks: Some(leaking) }
    }

    /// The same leaks with another maximum distance; an overlap is unchanged.
    pub fn within(&self, eps: f64) -> Self {
        let Some(LeakResult { theirs, record }) = &self.leaks else { return self.clone() };
        let theirs = LeakCandidates { eps, nearest: theirs.nearest.clone() };
        Self::leaking(
            &self.cloud,
            self.other.clone(),
            Arc::clone(&self.values),
            LeakResult { theirs, record: Arc::clone(record) },
        )
    }

    pub fn kind(&self) -> AnalysisKind {
        if self.leaks.is_some() { AnalysisKind::Leaks } else { AnalysisKind::Overlap }
    }

    /// The distance at which rows leak; `None` for an overlap.
    pub fn eps(&self) -> Option<f64> {
        self.leaks.as_ref().map(|leaking| leaking.theirs.eps)
    }

    pub fn leaking_rows(&self) -> Vec<u32> {
        let Some(eps) = self.eps() else { return Vec::new() };
        (0..).zip(&*self.values).filter(|(_, distance)| **distance <= eps).map(|(row, _)| row).collect()
    }

    /// Adds its columns to a table of rows; `row` maps table rows to the cloud's.
    pub fn with<'a>(&'a self, table: Table<'a>, row: impl Fn(usize) -> u32 + Copy + 'a) -> Table<'a> {
        let value =
            move |at: usize| self.values.get(row(at) as usize).copied().filter(|value| !value.is_nan());
        let table = table.with(self.kind().column(), value);
        match self.eps() {
            Some(eps) => table.with("leak", move |at| value(at).map(|distance| u32::from(distance <= eps))),
            None => table,
        }
    }
}

#[derive(Clone, Debug)]
pub enum AnalysisAction {
    Set(AnalysisView),
    /// Computes all analyses.
    Start,
    /// Opens a dialog for the other file of a comparison.
    Browse(AnalysisKind),
    Compare(AnalysisKind, PathBuf),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_by_decreasing_size() {
        let sets = PointGroups { group_of: Vec::new(), sizes: vec![2, 5, 2, 9] };
        assert_eq!(by_size(&sets), [3, 2, 4, 1]);
    }

    #[test]
    fn invalid_distances_are_explained() {
        let view = |eps: &str| AnalysisView { eps: eps.to_owned(), ..AnalysisView::default() };
        assert_eq!((view(" 0.5 ").eps(), AnalysisView::default().eps()), (Ok(0.5), Ok(0.0)));
        for wrong in ["", "-1", "inf", "near"] {
            assert!(view(wrong).eps().is_err_and(|why| why.contains(wrong) && why.ends_with('.')), "{wrong}");
        }
    }
}
