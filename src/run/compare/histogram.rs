//! Histograms of two runs with common bins.

use serde::{Deserialize, Serialize};

use crate::knn::{NONE, warp};
use crate::run::{LoadedRun, Phase, stats};

/// The quantity that a histogram counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "SavedQuantity")]
pub enum Quantity {
    /// Milliseconds per repeat of the search, all chunks together.
    #[default]
    Repeats,
    /// Milliseconds per chunk of queries.
    Chunks,
    /// A measure per query, by its column's name.
    Measure(String),
    /// The distance (or angle) of each query's last neighbour.
    LastDistance,
}

/// The serialised form; files of the first version have a separate name for merges.
#[derive(Deserialize)]
enum SavedQuantity {
    Repeats,
    Chunks,
    Merges,
    Measure(String),
    LastDistance,
}

impl From<SavedQuantity> for Quantity {
    fn from(saved: SavedQuantity) -> Self {
        match saved {
            SavedQuantity::Repeats => Self::Repeats,
            SavedQuantity::Chunks => Self::Chunks,
            SavedQuantity::Merges => Self::Measure(warp::MEASURES[0].name.to_owned()),
            SavedQuantity::Measure(name) => Self::Measure(name),
            SavedQuantity::LastDistance => Self::LastDistance,
        }
    }
}

impl Quantity {
    /// The quantities available for two runs, in display order.
    pub fn of_runs(runs: [&LoadedRun; 2]) -> Vec<Self> {
        let mut measures: Vec<Self> = Vec::new();
        for name in runs.iter().flat_map(|run| run.measured().columns()).map(|(name, _)| name) {
            let measure = Self::Measure(name.to_owned());
            if !measures.contains(&measure) {
                measures.push(measure);
            }
        }
        [Self::Repeats, Self::Chunks].into_iter().chain(measures).chain([Self::LastDistance]).collect()
    }

    /// The values of a run; empty if it has none.
    pub fn values(&self, run: &LoadedRun) -> Vec<f64> {
        match self {
            Self::Repeats => stats::search_ms(run.samples()),
            Self::Chunks => run
                .samples()
                .iter()
                .filter(|sample| sample.phase == Phase::Search)
                .map(|sample| sample.duration_ms)
                .collect(),
            Self::Measure(name) => run
                .measured()
                .column(name)
                .unwrap_or_default()
                .iter()
                .map(|&value| f64::from(value))
                .collect(),
            Self::LastDistance => {
                let (found, metric) = (run.neighbors(), run.head().spec.metric);
                let last = |query: usize| {
                    let (rows, distances) = found.for_query(query);
                    let at = rows.iter().rposition(|&row| row != NONE)?;
                    Some(metric.distance(distances[at]))
                };
                (0..found.queries()).filter_map(last).collect()
            }
        }
    }
}

/// Bins shared by two sets of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Bin edges, ascending; one more than there are bins.
    pub edges: Vec<f64>,
    /// Values of the first set in each bin.
    pub a: Vec<u64>,
    /// Values of the second set in each bin.
    pub b: Vec<u64>,
    /// Whether bins grow by a constant factor.
    pub log: bool,
}

/// The usual number of bins.
const BINS: usize = 40;

impl Histogram {
    /// Counts the values. `whole` values (merges) have bins around whole numbers. `None` if there are no
    /// values.
    pub fn new(a: &[f64], b: &[f64], whole: bool) -> Option<Self> {
        let all = || a.iter().chain(b).copied().filter(|value| value.is_finite());
        let (least, most) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
        // Distances span decades; times of one kernel do not.
        let log = !whole && least > 0.0 && most / least > 1000.0;
        let edges: Vec<f64> = if whole {
            let width = ((most - least + 1.0) / BINS as f64).ceil().max(1.0);
            let bins = ((most - least + 1.0) / width).ceil() as usize;
            (0..=bins).map(|bin| least - 0.5 + width * bin as f64).collect()
        } else if log {
            let ratio = most / least;
            (0..=BINS).map(|bin| least * ratio.powf(bin as f64 / BINS as f64)).collect()
        } else {
            // Fewer values need fewer bins.
            let bins = (2.0 * (a.len().max(b.len()) as f64).sqrt()).ceil().clamp(8.0, BINS as f64) as usize;
            let width =
                if most > least { (most - least) / bins as f64 } else { least.abs().max(1e-9) * 0.01 };
            let start = if most > least { least } else { least - width * bins as f64 / 2.0 };
            (0..=bins).map(|bin| start + width * bin as f64).collect()
        };
        let bins = edges.len() - 1;
        let count = |values: &[f64]| {
            let mut counts = vec![0; bins];
            for value in values.iter().filter(|value| value.is_finite()) {
                counts[edges.partition_point(|edge| edge <= value).saturating_sub(1).min(bins - 1)] += 1;
            }
            counts
        };
        Some(Self { a: count(a), b: count(b), edges, log })
    }

    /// The bins of both sets, each as percentages of its set.
    pub fn shares(&self) -> (Vec<f64>, Vec<f64>) {
        let shares = |counts: &[u64]| {
            let all = counts.iter().sum::<u64>().max(1) as f64;
            counts.iter().map(|&count| count as f64 / all * 100.0).collect()
        };
        (shares(&self.a), shares(&self.b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_exactly_one_bin() {
        for (a, b, whole) in [
            (vec![1.0, 2.0, 3.5], vec![9.0, 2.0], false),
            (vec![3.0; 7], vec![], false),
            (vec![0.0; 7], vec![0.0], false),
            (vec![1e-9, 1.0, 1e9], vec![1e-3], false),
            (vec![7.0, 7.0, 9.0], vec![300.0], true),
        ] {
            let histogram = Histogram::new(&a, &b, whole).expect("there are values");
            assert_eq!(
                (histogram.a.iter().sum::<u64>(), histogram.b.iter().sum::<u64>()),
                (a.len() as u64, b.len() as u64),
                "{histogram:?}"
            );
            assert!(
                histogram.edges.is_sorted_by(|a, b| a < b) && histogram.edges.len() <= BINS + 1,
                "{histogram:?}"
            );
            assert_eq!(histogram.edges.len(), histogram.a.len() + 1);
        }
        assert_eq!(Histogram::new(&[], &[], false), None);
    }

    #[test]
    fn integers_have_one_bin_each() {
        let histogram = Histogram::new(&[3.0, 3.0, 5.0], &[4.0], true).expect("there are values");
        assert_eq!((histogram.a, histogram.b), (vec![2, 0, 1], vec![0, 1, 0]));
        assert_eq!(histogram.edges, [2.5, 3.5, 4.5, 5.5]);
    }

    #[test]
    fn shares_are_percentages_of_each_set() {
        let (a, b) = Histogram::new(&[1.0, 1.0, 1.0, 2.0], &[2.0], true).expect("there are values").shares();
        assert_eq!((a, b), (vec![75.0, 25.0], vec![0.0, 100.0]));
    }
}
