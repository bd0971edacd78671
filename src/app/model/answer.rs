//! One query and its answer.

use std::sync::Arc;

use crate::cloud::PointCloud;
use crate::knn::NONE;
use crate::run::RunRecord;
use crate::text;

/// Maximum number of neighbours whose other columns are read from the file: all columns of a million rows
/// would take gigabytes, and every frame compares the rows.
pub const MAX_LOOKED_UP: usize = 10_000;

/// One query of a record.
#[derive(Clone, Debug)]
pub struct QueryAnswer {
    pub record: Arc<RunRecord>,
    /// Index among the record's queries.
    pub query: usize,
}

/// Compares records by identity.
impl PartialEq for QueryAnswer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.record, &other.record) && self.query == other.query
    }
}

impl QueryAnswer {
    /// The query's row in [`Self::query_cloud`].
    pub fn row(&self) -> u32 {
        self.record.query_rows[self.query]
    }

    /// The cloud that contains the query.
    pub fn query_cloud(&self) -> &PointCloud {
        self.record.query_cloud.as_ref().unwrap_or(&self.record.cloud)
    }

    /// The rows of the neighbours found, nearest first.
    pub fn neighbor_rows(&self) -> &[u32] {
        let rows = self.record.neighbors.for_query(self.query).0;
        // Padding is at the end.
        &rows[..rows.partition_point(|&row| row != NONE)]
    }

    /// The neighbours found, as (data row, squared distance).
    pub fn neighbors(&self) -> impl ExactSizeIterator<Item = (u32, f32)> + Clone + '_ {
        let distances = self.record.neighbors.for_query(self.query).1;
        self.neighbor_rows().iter().copied().zip(distances.iter().copied())
    }

    /// The rows whose other columns are needed: the nearest [`MAX_LOOKED_UP`] neighbours by rank. If these are
    /// all, then the query's own row unless it is among them.
    pub fn rows_to_look_up(&self) -> Vec<u32> {
        let neighbors = self.neighbor_rows();
        let mut rows: Vec<u32> = neighbors.iter().copied().take(MAX_LOOKED_UP).collect();
        let is_own = self.record.query_cloud.is_none() && rows.len() == neighbors.len();
        if is_own && !rows.contains(&self.row()) {
            rows.push(self.row());
        }
        rows
    }

    /// Says that not all neighbours' other columns are looked up.
    pub fn lookup_note(&self) -> Option<String> {
        let most = text::thousands(MAX_LOOKED_UP as u64);
        let left_out = self.neighbor_rows().len() > MAX_LOOKED_UP;
        left_out.then(|| format!("other columns are read for the nearest {most} neighbours only"))
    }

    /// The squared distance of the k-th neighbour; infinite when there are fewer than k points.
    pub fn max_squared_distance(&self) -> f32 {
        self.record.neighbors.for_query(self.query).1.last().copied().unwrap_or(f32::INFINITY)
    }

    /// A counter of this query by the name of its measure; `None` if the engine does not count it.
    pub fn counted(&self, measure: &str) -> Option<u32> {
        self.record.measured.column(measure)?.get(self.query).copied()
    }
}

/// The point that the user picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickedPoint {
    /// A row of the cloud.
    Row(u32),
    /// A query of the record, if queries come from a separate file.
    Query(usize),
    /// The coordinates of `Session::live`, which belong to no row.
    Coordinates,
}
