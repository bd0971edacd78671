//! Analyses of the k-nearest-neighbour graph of a cloud.
//!
//! - `scores.rs`: a number per point: density, local outlier factor, hubness, local intrinsic dimension
//! - `labels.rs`: the labels of neighbours, and classification by them
//! - `groups.rs`: groups of points within a distance, components of the mutual graph, and disjoint sets
//! - `links.rs`: directed, symmetric and mutual edges
//! - `lists.rs`: the neighbours of all rows, collected from batches, also in a scratch file
//! - `other_cloud.rs`: the overlap of neighbours with another cloud, and its points near points of this one
//! - `surface.rs`: how light falls on the surface through a point's neighbours, in space
//! - `summary.rs`: a summary and a sentence for each of these
//!
//! All are functions of one or two [`KnnGraph`]s; nothing here searches. Points are numbered from 0 as in the
//! graph; [`KnnGraph::row`] gives the row of the cloud.

pub mod groups;
pub mod labels;
pub mod links;
mod lists;
pub mod other_cloud;
pub mod scores;
pub mod summary;
pub mod surface;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use bytemuck::Pod;
use rayon::prelude::*;

use super::RunRecord;
use crate::files::{ScratchError, StoreWriter, Stored};
use crate::knn::{Metric, NONE, Neighbors};
use crate::memory;
use crate::progress::Progress;
pub use lists::{ListWriter, StoredLists};

/// Points between two checks for cancellation.
const BLOCK: usize = 1 << 16;

/// Bytes per point that all results of an [`Analysis`] need together.
const RESULT_BYTES: u64 = 128;

/// The work was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Why an analysis whose results may be in a scratch file failed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error(transparent)]
    Scratch(#[from] ScratchError),
}

/// Why a run has no graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The run has other queries, or includes queries among their own neighbours.
    #[error(
        "a graph needs the neighbours of every row, excluding the row itself; pass --queries all \
         --exclude-self"
    )]
    OtherQueries,
    #[error("the cloud has only one point; a graph needs at least two")]
    OnePoint,
    #[error("the graph {0}")]
    Memory(#[from] memory::InsufficientMemory),
}

/// The k nearest other points of each point of a cloud.
#[derive(Clone, Debug)]
pub struct KnnGraph<'a> {
    k: usize,
    metric: Metric,
    /// n × k, as points of the graph, padded with [`NONE`].
    indices: Cow<'a, [u32]>,
    squared_distances: &'a [f32],
    /// The ascending rows of the points in their cloud, if they are not 0 to n − 1.
    rows: Option<&'a [u32]>,
    /// Where values of all points are stored; in memory without a folder.
    scratch: Option<&'a Path>,
}

impl<'a> KnnGraph<'a> {
    /// The graph of a run that queried every row and excluded the row itself.
    ///
    /// # Errors
    /// [`GraphError`].
    pub fn of_run(record: &'a RunRecord) -> Result<Self, GraphError> {
        let every_row = record.query_cloud.is_none()
            && record.query_rows.len() as u64 == record.summary.n
            && record.query_rows.is_sorted();
        if !record.spec.exclude_self || !every_row {
            return Err(GraphError::OtherQueries);
        }
        if record.query_rows.len() < 2 {
            return Err(GraphError::OnePoint);
        }
        // A graph without all rows has its own copy of the indices.
        let indices =
            if is_identity(&record.query_rows) { 0 } else { size_of_val(&record.neighbors.indices[..]) };
        memory::check(RESULT_BYTES * record.query_rows.len() as u64 + indices as u64)?;
        Ok(Self::new(&record.neighbors, record.spec.metric, &record.query_rows))
    }

    /// A graph of neighbours given as rows of a cloud; `rows` are the ascending rows of its points.
    fn new(neighbors: &'a Neighbors, metric: Metric, rows: &'a [u32]) -> Self {
        let rows = (!is_identity(rows)).then_some(rows);
        let indices = match rows {
            None => Cow::Borrowed(&neighbors.indices[..]),
            Some(rows) => Cow::Owned(points(rows, &neighbors.indices)),
        };
        let squared_distances = &neighbors.squared_distances[..];
        Self { k: neighbors.k, metric, indices, squared_distances, rows, scratch: None }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.squared_distances.len() / self.k
    }

    pub fn is_empty(&self) -> bool {
        self.squared_distances.is_empty()
    }

    /// Neighbours requested per point; a point has fewer if there are not enough others.
    pub fn k(&self) -> usize {
        self.k
    }

    /// A point's row in its cloud.
    pub fn row(&self, point: usize) -> u32 {
        self.rows.map_or(point as u32, |rows| rows[point])
    }

    /// A point's neighbours and their squared distances, nearest first.
    pub fn neighbors(&self, point: usize) -> (&[u32], &[f32]) {
        let range = point * self.k..(point + 1) * self.k;
        let indices = &self.indices[range.clone()];
        let found = indices.iter().position(|&index| index == NONE).unwrap_or(self.k);
        (&indices[..found], &self.squared_distances[range][..found])
    }

    /// A point's distances to its neighbours, not squared; angles under the angular metric.
    pub fn distances(&self, point: usize) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.neighbors(point).1.iter().map(|&squared| self.metric.distance(squared))
    }

    /// The distance to the neighbour at a rank; ∞ past the last.
    pub fn distance(&self, point: usize, rank: usize) -> f64 {
        let place = point * self.k + rank;
        if rank < self.k && self.indices[place] != NONE {
            self.metric.distance(self.squared_distances[place])
        } else {
            f64::INFINITY
        }
    }

    /// Applies a function to every point in parallel.
    fn map<T: Send>(
        &self,
        progress: &dyn Progress,
        value: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<T>, Cancelled> {
        let mut all = Vec::with_capacity(self.len());
        for block in self.blocks(progress) {
            all.par_extend(block?.into_par_iter().map(&value));
        }
        Ok(all)
    }

    /// As [`Self::map`], for values that are stored where the graph is.
    fn stored<T: Pod + Send>(
        &self,
        progress: &dyn Progress,
        value: impl Fn(usize) -> T + Sync,
    ) -> Result<Stored<T>, AnalysisError> {
        let mut all = StoreWriter::new(self.len(), self.scratch)?;
        for block in self.blocks(progress) {
            all.extend(&block?.into_par_iter().map(&value).collect::<Vec<T>>())?;
        }
        Ok(all.finish()?)
    }

    /// The points, block by block.
    fn blocks<'p>(
        &self,
        progress: &'p dyn Progress,
    ) -> impl Iterator<Item = Result<Range<usize>, Cancelled>> + use<'p> {
        let n = self.len();
        (0..n).step_by(BLOCK).map(move |start| {
            if progress.cancelled() {
                return Err(Cancelled);
            }
            progress.update(start as u64, n as u64);
            Ok(start..(start + BLOCK).min(n))
        })
    }
}

/// The points of some rows. If rows were dropped, such as zero rows under the angular metric, points and rows
/// have different numbers.
fn points(rows: &[u32], of: &[u32]) -> Vec<u32> {
    of.par_iter().map(|row| rows.binary_search(row).map_or(NONE, |point| point as u32)).collect()
}

/// Whether ascending rows are 0 to n − 1.
fn is_identity(rows: &[u32]) -> bool {
    rows.last().is_none_or(|&last| last as usize + 1 == rows.len())
}

/// The results of analyses of a graph, per point, as requested.
#[derive(Debug, Default)]
pub struct Analysis {
    /// [`scores::k_distances`].
    pub density: Option<Stored<f64>>,
    /// [`scores::outlier_factors`].
    pub lof: Option<Stored<f64>>,
    /// [`scores::occurrences`].
    pub occurrences: Option<Vec<u32>>,
    /// [`scores::dimensions`].
    pub lid: Option<Stored<f64>>,
    /// [`labels::votes`].
    pub labels: Option<(labels::Labels, Vec<labels::Vote>)>,
    /// [`groups::duplicates`].
    pub duplicates: Option<groups::DuplicateGroups>,
    /// [`other_cloud::overlap`].
    pub overlap: Option<Vec<f64>>,
    /// [`groups::components`].
    pub components: Option<groups::PointGroups>,
    /// [`surface::shades`].
    pub shades: Option<Vec<Option<f64>>>,
}

/// The points with the largest values in descending order, ties by number.
pub fn largest(values: &[f64], most: usize) -> Vec<usize> {
    let mut points: Vec<usize> = Vec::new();
    let order = |&a: &usize, &b: &usize| values[b].total_cmp(&values[a]).then(a.cmp(&b));
    for start in (0..values.len()).step_by(BLOCK) {
        points.extend(start..(start + BLOCK).min(values.len()));
        if most < points.len() {
            points.select_nth_unstable_by(most, order);
            points.truncate(most);
        }
    }
    points.sort_unstable_by(order);
    points
}

/// Graphs for tests.
#[cfg(test)]
mod testing {
    use std::sync::Arc;

    use super::{KnnGraph, RunRecord};
    use crate::cloud::{PointCloud, Source, load};
    use crate::progress::NoProgress;
    use crate::run::testing::{self, spec};
    use crate::run::{EnginePool, LoadedSpec, RunSpec};

    /// Every row's k nearest others.
    pub fn neighbours_of(cloud: &Arc<PointCloud>, k: usize) -> RunRecord {
        let spec = RunSpec { k, exclude_self: true, ..spec() };
        EnginePool::default().answer(LoadedSpec::new(&spec, cloud, None), &mut |_, _| true).unwrap()
    }

    /// As [`neighbours_of`], for points on a line.
    pub fn line(values: &[f64], k: usize) -> RunRecord {
        neighbours_of(&testing::cloud(1, values.to_vec()), k)
    }

    /// As [`neighbours_of`], for a generated cloud.
    pub fn generated(spec: &str, k: usize) -> RunRecord {
        let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
        neighbours_of(&Arc::new(load(&source, false, &NoProgress).unwrap()), k)
    }

    pub fn graph(record: &RunRecord) -> KnnGraph<'_> {
        KnnGraph::of_run(record).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::testing::{cloud, spec, squares};
    use super::super::{EnginePool, LoadedSpec, RunSpec};
    use super::*;
    use crate::progress::NoProgress;

    #[test]
    fn graphs_require_all_rows_and_exclude_self() {
        let record = |spec: &RunSpec, n| {
            EnginePool::default().answer(LoadedSpec::new(spec, &squares(n), None), &mut |_, _| true).unwrap()
        };
        assert_eq!(KnnGraph::of_run(&record(&spec(), 4)).unwrap_err(), GraphError::OtherQueries);
        let own = RunSpec { exclude_self: true, ..spec() };
        assert_eq!(KnnGraph::of_run(&record(&own, 1)).unwrap_err(), GraphError::OnePoint);
        let (three, many) = (record(&own, 3), record(&own, 10));
        let graph = KnnGraph::of_run(&three).unwrap();
        assert_eq!((graph.len(), graph.k(), graph.neighbors(0)), (3, 3, (&[1, 2][..], &[1.0, 16.0][..])));
        assert_eq!(graph.distances(2).collect::<Vec<_>>(), [3.0, 4.0]);
        let graph = KnnGraph::of_run(&many).unwrap();
        assert_eq!(graph.map(&AtomicBool::new(true), |point| point), Err(Cancelled));
        assert_eq!(graph.map(&NoProgress, |point| point).unwrap(), (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn dropped_rows_are_not_graph_points() {
        let own =
            RunSpec { exclude_self: true, metric: Metric::Angular, drop_nonfinite: true, k: 2, ..spec() };
        let cloud = cloud(2, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.1, 0.0, 1.0]);
        let record =
            EnginePool::default().answer(LoadedSpec::new(&own, &cloud, None), &mut |_, _| true).unwrap();
        let graph = KnnGraph::of_run(&record).unwrap();
        assert_eq!(
            (graph.len(), graph.row(1), graph.neighbors(0).0, graph.neighbors(2).0),
            (3, 2, &[1, 2][..], &[1, 0][..])
        );
        let angle = graph.distances(0).next().unwrap();
        assert!((angle - 0.1f64.atan()).abs() < 1e-6, "{angle}");
    }

    #[test]
    fn largest_finite_values_come_first() {
        assert_eq!(largest(&[1.0, 3.0, f64::INFINITY, 3.0, 0.0], 3), [2, 1, 3]);
        assert_eq!(largest(&[1.0, 3.0], 9), [1, 0]);
    }
}
