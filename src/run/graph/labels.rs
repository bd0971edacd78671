//! Labels of neighbours: the purity of neighbourhoods, and leave-one-out classification by neighbours (Cover
//! and Hart 1967).
//!
//! The vote is that of scikit-learn's `KNeighborsClassifier`: the majority, with ties going to the smallest
//! label; numbers are ordered by value and texts by characters. A point without a label has no vote and is
//! not classified.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Cancelled, KnnGraph};
use crate::cloud::PointCloud;
use crate::cloud::formats::{ColumnData, MAX_CATEGORIES};
use crate::progress::Progress;

/// Why a column cannot label rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// It is shorter than the cloud.
    #[error("expected at least {} values, one per row, but found {labels}", .row + 1)]
    Short { labels: usize, row: u64 },
    #[error("it has more than {MAX_CATEGORIES} distinct values; choose a column of class labels")]
    TooMany,
    #[error("it has no values")]
    None,
}

/// The label of each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    /// Ascending, as ties are decided by order.
    names: Vec<String>,
    /// The index of each point's label in `names`; `None` for empty fields and NaN.
    indices: Vec<Option<u32>>,
}

impl Labels {
    /// The labels of a graph's points from a column of the cloud's file.
    ///
    /// # Errors
    /// [`LabelError`].
    pub fn of_column(
        column: &ColumnData,
        cloud: &PointCloud,
        graph: &KnnGraph<'_>,
    ) -> Result<Self, LabelError> {
        let count = match column {
            ColumnData::Numbers(numbers) => numbers.len(),
            ColumnData::Categories { codes, .. } => codes.len(),
        };
        let records: Vec<usize> =
            (0..graph.len()).map(|point| cloud.record(graph.row(point) as usize) as usize).collect();
        if let Some(&row) = records.last().filter(|&&row| row >= count) {
            return Err(LabelError::Short { labels: count, row: row as u64 });
        }
        match column {
            ColumnData::Numbers(numbers) => {
                let value = |&record: &usize| Some(numbers[record]).filter(|value| !value.is_nan());
                // Adding 0 turns −0 into 0.
                Self::ranked(
                    records.iter().map(|record| value(record).map(|value| NotNan(value + 0.0))),
                    |value| value.0.to_string(),
                )
            }
            ColumnData::Categories { names, codes } => {
                let text = |&record: &usize| {
                    Some(names[codes[record] as usize].as_str()).filter(|text| !text.is_empty())
                };
                Self::ranked(records.iter().map(text), |text| (*text).to_owned())
            }
        }
    }

    fn ranked<T: Ord + Clone>(
        values: impl Iterator<Item = Option<T>> + Clone,
        name: impl Fn(&T) -> String,
    ) -> Result<Self, LabelError> {
        let mut places: BTreeMap<T, u32> = BTreeMap::new();
        for value in values.clone().flatten() {
            places.entry(value).or_default();
            if places.len() > MAX_CATEGORIES {
                return Err(LabelError::TooMany);
            }
        }
        if places.is_empty() {
            return Err(LabelError::None);
        }
        places.values_mut().zip(0..).for_each(|(place, rank)| *place = rank);
        Ok(Self {
            names: places.keys().map(name).collect(),
            indices: values.map(|value| places.get(&value?).copied()).collect(),
        })
    }

    /// The distinct labels, ascending.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A point's label, as an index into [`Labels::names`].
    pub fn label(&self, point: usize) -> Option<u32> {
        self.indices[point]
    }
}

/// A number other than NaN.
#[derive(Clone, Copy, PartialEq)]
struct NotNan(f64);

impl Eq for NotNan {}

impl PartialOrd for NotNan {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NotNan {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The result of a point's neighbours' labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vote {
    /// Fraction of the labelled neighbours that share the point's label; `None` if the point or all its
    /// neighbours lack one.
    pub same: Option<f64>,
    /// The most frequent label among the neighbours; `None` if they have none.
    pub predicted: Option<u32>,
}

/// The vote of each point's neighbours.
///
/// # Errors
/// [`Cancelled`].
pub fn votes(graph: &KnnGraph<'_>, labels: &Labels, progress: &dyn Progress) -> Result<Vec<Vote>, Cancelled> {
    graph.map(progress, |point| {
        let mut found: Vec<u32> =
            graph.neighbors(point).0.iter().filter_map(|&other| labels.indices[other as usize]).collect();
        found.sort_unstable();
        let mut best: Option<&[u32]> = None;
        for same in found.chunk_by(|a, b| a == b) {
            if best.is_none_or(|best| same.len() > best.len()) {
                best = Some(same);
            }
        }
        let own = labels.indices[point].filter(|_| !found.is_empty());
        let same =
            own.map(|own| found.iter().filter(|&&label| label == own).count() as f64 / found.len() as f64);
        Vote { same, predicted: best.map(|same| same[0]) }
    })
}

/// Leave-one-out classification by neighbours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Classification {
    /// The distinct labels, ascending.
    pub labels: Vec<String>,
    /// Points with a label and labelled neighbours.
    pub points: u64,
    /// Points without a label.
    pub unlabelled: u64,
    /// Labelled points without labelled neighbours.
    pub undecided: u64,
    /// The mean fraction of neighbours with the same label.
    pub same_label: Option<f64>,
    /// Points whose label was predicted.
    pub correct: u64,
    /// `correct` over `points`.
    pub accuracy: Option<f64>,
    /// The confusion matrix, without empty cells.
    pub confusion: Vec<ConfusionCell>,
}

/// A cell of the confusion matrix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfusionCell {
    /// The index of the label in [`Classification::labels`].
    pub label: u32,
    /// The index of the predicted label.
    pub predicted: u32,
    pub points: u64,
}

impl Classification {
    pub fn new(labels: &Labels, votes: &[Vote]) -> Self {
        let mut table: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let (mut unlabelled, mut undecided) = (0, 0);
        for (label, vote) in labels.indices.iter().zip(votes) {
            match (label, vote.predicted) {
                (Some(label), Some(predicted)) => *table.entry((*label, predicted)).or_default() += 1,
                (Some(_), None) => undecided += 1,
                (None, _) => unlabelled += 1,
            }
        }
        let points: u64 = table.values().sum();
        let correct =
            table.iter().filter(|((label, predicted), _)| label == predicted).map(|(_, points)| points).sum();
        let of_all = |sum: f64| (points > 0).then(|| sum / points as f64);
        Self {
            labels: labels.names.clone(),
            points,
            unlabelled,
            undecided,
            same_label: of_all(votes.iter().filter_map(|vote| vote.same).sum()),
            correct,
            accuracy: of_all(correct as f64),
            confusion: table
                .into_iter()
                .map(|((label, predicted), points)| ConfusionCell { label, predicted, points })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::RunRecord;
    use super::super::testing::{graph, line};
    use super::*;
    use crate::progress::NoProgress;

    fn texts(names: &[&str], codes: &[u32]) -> ColumnData {
        ColumnData::Categories {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            codes: codes.to_vec(),
        }
    }

    fn labels(record: &RunRecord, column: &ColumnData) -> Result<Labels, LabelError> {
        Labels::of_column(column, &record.cloud, &graph(record))
    }

    #[test]
    fn majority_votes_break_ties_by_smallest_label() {
        let record = line(&[0.0, 1.0, 2.0, 3.5, 10.0], 2);
        // Neighbours: {1, 2}, {0, 2}, {1, 0 or 3: 3}, {2, 1}, {3, 2}.
        let labels = labels(&record, &texts(&["b", "a", ""], &[0, 1, 0, 1, 2])).unwrap();
        assert_eq!(
            (labels.names(), labels.label(0), labels.label(4)),
            (&["a".to_owned(), "b".to_owned()][..], Some(1), None)
        );
        let votes = votes(&graph(&record), &labels, &NoProgress).unwrap();
        let vote = |same, predicted| Vote { same, predicted: Some(predicted) };
        assert_eq!(
            votes,
            [vote(Some(0.5), 0), vote(Some(0.0), 1), vote(Some(0.0), 0), vote(Some(0.5), 0), vote(None, 0)]
        );
        let all = Classification::new(&labels, &votes);
        assert_eq!(
            (all.points, all.unlabelled, all.correct, all.accuracy, all.same_label),
            (4, 1, 1, Some(0.25), Some(0.25))
        );
        let cell = |label, predicted, points| ConfusionCell { label, predicted, points };
        assert_eq!(all.confusion, [cell(0, 0, 1), cell(0, 1, 1), cell(1, 0, 2)]);
    }

    #[test]
    fn numeric_labels_sort_by_value() {
        let record = line(&[0.0, 1.0, 2.0, 3.0], 1);
        let labels = labels(&record, &ColumnData::Numbers(vec![10.0, 9.0, f64::NAN, -0.0])).unwrap();
        assert_eq!(
            (labels.names(), labels.label(0), labels.label(2)),
            (&["0", "9", "10"].map(str::to_owned)[..], Some(2), None)
        );
        let votes = votes(&graph(&record), &labels, &NoProgress).unwrap();
        assert_eq!(votes[3], Vote::default(), "its neighbour has none");
        assert_eq!(Classification::new(&labels, &votes).undecided, 1);
    }

    #[test]
    fn unusable_label_columns_are_rejected() {
        let record = line(&[0.0, 1.0, 2.0], 1);
        let why = |column: &ColumnData| labels(&record, column).unwrap_err().to_string();
        assert_eq!(
            why(&ColumnData::Numbers(vec![1.0, 2.0])),
            "expected at least 3 values, one per row, but found 2"
        );
        assert_eq!(why(&texts(&[""], &[0, 0, 0])), "it has no values");
        let values: Vec<f64> = (0..70_000).map(f64::from).collect();
        let many = line(&values, 1);
        assert_eq!(labels(&many, &ColumnData::Numbers(values)).unwrap_err(), LabelError::TooMany);
    }
}
