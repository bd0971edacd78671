//! The neighbours of all rows of a cloud, collected from batches, in memory or in a scratch file.

use std::path::PathBuf;

use super::{GraphError, KnnGraph, points};
use crate::files::{ScratchError, StoreWriter, Stored};
use crate::knn::Metric;
use crate::run::{AnswerBatch, BatchAnswers};

/// Neighbours per step when rows are replaced by points.
const STEP: usize = 1 << 20;

/// Collects the neighbours of all rows, which exclude the row itself.
#[derive(Debug)]
pub struct ListWriter {
    k: usize,
    metric: Metric,
    indices: StoreWriter<u32>,
    squared_distances: StoreWriter<f32>,
    count: u32,
    /// The rows so far, unless they are 0, 1, 2, ….
    rows: Option<Vec<u32>>,
    scratch: Option<PathBuf>,
}

/// The neighbours of all rows.
#[derive(Debug)]
pub struct StoredLists {
    k: usize,
    metric: Metric,
    indices: Stored<u32>,
    squared_distances: Stored<f32>,
    rows: Option<Vec<u32>>,
    scratch: Option<PathBuf>,
}

impl ListWriter {
    /// For `n` rows with k neighbours each; `scratch` is the folder of the scratch files, if they are not kept
    /// in memory.
    ///
    /// # Errors
    /// [`ScratchError`].
    pub fn new(n: usize, k: usize, metric: Metric, scratch: Option<PathBuf>) -> Result<Self, ScratchError> {
        let (len, folder) = (n.saturating_mul(k), scratch.as_deref());
        let (indices, squared_distances) = (StoreWriter::new(len, folder)?, StoreWriter::new(len, folder)?);
        Ok(Self { k, metric, indices, squared_distances, count: 0, rows: None, scratch })
    }

    /// Adds the neighbours of the next rows. Answers of other searches are not added.
    ///
    /// # Errors
    /// [`ScratchError`].
    pub fn append(&mut self, batch: AnswerBatch<'_>) -> Result<(), ScratchError> {
        let (Some((_, queries)), BatchAnswers::Nearest { rows, squared, .. }) = (batch.queries, batch.found)
        else {
            return Ok(());
        };
        self.indices.extend(rows)?;
        self.squared_distances.extend(squared)?;
        if self.rows.is_none() && !queries.iter().copied().eq(self.count..self.count + queries.len() as u32) {
            self.rows = Some((0..self.count).collect());
        }
        self.rows.iter_mut().for_each(|rows| rows.extend(queries));
        self.count += queries.len() as u32;
        Ok(())
    }

    /// # Errors
    /// [`ScratchError`].
    pub fn finish(self) -> Result<StoredLists, ScratchError> {
        let Self { k, metric, indices, squared_distances, rows, scratch, .. } = self;
        let mut indices = indices.finish()?;
        if let Some(rows) = &rows {
            let mut numbered = StoreWriter::new(indices.len(), scratch.as_deref())?;
            for step in indices.chunks(STEP) {
                numbered.extend(&points(rows, step))?;
            }
            indices = numbered.finish()?;
        }
        Ok(StoredLists { k, metric, indices, squared_distances: squared_distances.finish()?, rows, scratch })
    }
}

impl StoredLists {
    /// The graph of the neighbours. Values of its points are stored where the neighbours are.
    ///
    /// # Errors
    /// [`GraphError::OnePoint`].
    pub fn graph(&self) -> Result<KnnGraph<'_>, GraphError> {
        let &Self { k, metric, .. } = self;
        let (indices, scratch) = (self.indices[..].into(), self.scratch.as_deref());
        let (squared_distances, rows) = (&self.squared_distances[..], self.rows.as_deref());
        let graph = KnnGraph { k, metric, indices, squared_distances, rows, scratch };
        if graph.len() < 2 { Err(GraphError::OnePoint) } else { Ok(graph) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{groups, labels, scores};
    use super::*;
    use crate::cloud::formats::ColumnData;
    use crate::progress::NoProgress;
    use crate::run::graph::labels::Labels;
    use crate::run::testing::{cloud, spec};
    use crate::run::{EnginePool, LoadedSpec, RunSpec};

    #[test]
    fn analyses_of_a_scratch_file_equal_those_of_a_record() {
        // Zero rows are dropped.
        let values: Vec<f64> =
            (0..600).map(|at| if at % 28 < 2 { 0.0 } else { f64::from(at * 37 % 23) }).collect();
        let cloud = cloud(2, values);
        for metric in [Metric::L2, Metric::Angular] {
            let spec = RunSpec { metric, k: 6, exclude_self: true, drop_nonfinite: true, ..spec() };
            let record =
                EnginePool::default().answer(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let q = record.neighbors.queries();
            let stored = |scratch: Option<PathBuf>| {
                let mut writer = ListWriter::new(q, 6, metric, scratch).unwrap();
                for range in [0..1, 1..1, 1..q - 7, q - 7..q] {
                    writer.append(AnswerBatch::of_run(&record, range.clone(), range.start)).unwrap();
                }
                writer.finish().unwrap()
            };
            let (memory, scratch) = (stored(None), stored(Some(folder.path().to_owned())));
            let column = ColumnData::Numbers((0..300).map(|row| f64::from(row % 5)).collect());
            let analyses = |graph: &KnnGraph<'_>| {
                let values =
                    |values: Stored<f64>| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                let labels = Labels::of_column(&column, &cloud, graph).unwrap();
                (
                    (0..graph.len()).map(|point| graph.row(point)).collect::<Vec<_>>(),
                    values(scores::k_distances(graph, &NoProgress).unwrap()),
                    values(scores::outlier_factors(graph, &NoProgress).unwrap()),
                    values(scores::dimensions(graph, &NoProgress).unwrap()),
                    scores::occurrences(graph, &NoProgress).unwrap(),
                    groups::components(graph, &NoProgress).unwrap(),
                    groups::duplicates(graph, 0.0, &NoProgress).unwrap(),
                    labels::votes(graph, &labels, &NoProgress).unwrap(),
                )
            };
            let expected = analyses(&KnnGraph::of_run(&record).unwrap());
            assert_eq!(expected.0.len(), if metric == Metric::L2 { 300 } else { 278 });
            for lists in [&memory, &scratch] {
                assert!(analyses(&lists.graph().unwrap()) == expected, "{metric}");
            }
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
