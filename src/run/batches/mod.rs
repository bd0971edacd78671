//! A job's answers, whatever its goal: its queries in batches, so that the answers of all never have to be in memory together.

mod nearest;
mod product;
mod within;

use std::ops::Range;
use std::sync::Arc;

pub use nearest::QueryBatches;
pub use product::Largest;
pub use within::AllWithin;

use super::{EngineChoice, Engines, QuerySpec, RunError, RunRecord, RunSpec, query_cloud_of};
use crate::cloud::PointCloud;
use crate::engines::registry;
use crate::knn::inner_product::{Product, ProductError};
use crate::knn::{Descriptor, EngineError, EngineId, Goal, Metric, NONE};

/// Why a goal is not reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The engine is for other goals.
    #[error("{engine} {}", not_able(*.goal))]
    Engine { engine: EngineId, goal: Goal },
    #[error("there is no engine {0}")]
    NoEngine(EngineId),
    #[error("radius {0}: a distance is 0 or more")]
    Radius(f64),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Products(#[from] ProductError),
    #[error(transparent)]
    Failed(#[from] EngineError),
    /// The neighbours of the queries counted so far do not fit into memory.
    #[error(
        "{found} neighbours within {radius:?} for {counted} of {queries} queries need {needed} MiB, but only {free} MiB is free; use a smaller \
         --radius, use -k instead, or write .csv, .tsv, .parquet or .arrow, which are streamed"
    )]
    WithinMemory { found: u64, counted: usize, queries: usize, radius: f64, needed: u64, free: u64 },
    #[error("{q} queries × {k} neighbours need {needed} MiB of memory, where {free} MiB are free: use fewer queries or a smaller k")]
    ProductMemory { q: usize, k: usize, needed: u64, free: u64 },
    #[error("cancelled")]
    Cancelled,
}

/// What an engine does instead, and which would do.
fn not_able(goal: Goal) -> String {
    let able = |and: &str| registry::able(goal).map(|engine| engine.id.as_str()).collect::<Vec<_>>().join(and);
    match goal {
        Goal::Nearest => "finds no nearest neighbours".to_owned(),
        Goal::Within(_) => format!("finds the k nearest only: {} list all within a radius", able(" and ")),
        Goal::LargestProduct => format!("measures distances only: {} finds the largest inner products", able(" or ")),
    }
}

/// What answers a job.
pub enum Batches {
    Nearest(QueryBatches),
    Within(AllWithin),
    LargestProduct(Largest),
}

impl Batches {
    /// Builds the problem of a spec for a goal. Neither its k nor its engine's parameters are looked at for a radius, nor its metric for products.
    ///
    /// # Errors
    /// [`BatchError`].
    pub fn new(
        engines: &Engines,
        goal: Goal,
        spec: &RunSpec,
        cloud: &Arc<PointCloud>,
        query_cloud: Option<&Arc<PointCloud>>,
    ) -> Result<Self, BatchError> {
        Ok(match goal {
            Goal::Nearest => Self::Nearest(QueryBatches::new(engines, spec, cloud, query_cloud)?),
            Goal::Within(radius) => Self::Within(AllWithin::new(radius, spec, cloud, query_cloud)?),
            Goal::LargestProduct => Self::LargestProduct(Largest::new(spec, cloud, query_cloud)?),
        })
    }

    /// The number of queries, q.
    pub fn queries(&self) -> usize {
        match self {
            Self::Nearest(parts) => parts.queries(),
            Self::Within(all) => all.queries(),
            Self::LargestProduct(largest) => largest.queries(),
        }
    }

    /// Neighbours of each query; 0 where each has its own number.
    pub fn k(&self) -> usize {
        match self {
            Self::Nearest(parts) => parts.k(),
            Self::Within(_) => 0,
            Self::LargestProduct(largest) => largest.k(),
        }
    }
}

/// What queries are rows of.
struct QueryRows {
    cloud: Arc<PointCloud>,
    rows: Vec<u32>,
    is_place: bool,
}

impl QueryRows {
    fn new(spec: &RunSpec, cloud: &Arc<PointCloud>, query_cloud: Option<&Arc<PointCloud>>, rows: Vec<u32>) -> Result<Self, RunError> {
        let cloud = query_cloud_of(spec, cloud, query_cloud)?.unwrap_or_else(|| Arc::clone(cloud));
        Ok(Self { cloud, rows, is_place: matches!(spec.queries, QuerySpec::At(_)) })
    }

    /// Those of some queries, as a batch has them.
    fn some(&self, queries: Range<usize>) -> Option<(&PointCloud, &[u32])> {
        (!self.is_place).then(|| (&*self.cloud, &self.rows[queries]))
    }
}

/// The engine of a choice for a goal, or else the usual one.
fn engine(goal: Goal, choice: &EngineChoice, usual: impl FnOnce() -> &'static Descriptor) -> Result<&'static Descriptor, BatchError> {
    let EngineChoice::Named(method) = choice else { return Ok(usual()) };
    let engine = registry::find(method.engine).ok_or(BatchError::NoEngine(method.engine))?;
    if engine.finds(goal) { Ok(engine) } else { Err(BatchError::Engine { engine: engine.id, goal }) }
}

/// What was found for consecutive queries.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    pub cloud: &'a PointCloud,
    /// The cloud that the queries are rows of, and the row of each; `None` for a place.
    pub queries: Option<(&'a PointCloud, &'a [u32])>,
    /// Number of the first query.
    pub first: usize,
    pub found: Found<'a>,
}

/// Neighbours, query after query; rows are those of the cloud.
#[derive(Clone, Copy)]
pub enum Found<'a> {
    /// k of each query, nearest first; past the last point [`NONE`], at infinity.
    Nearest { k: usize, metric: Metric, rows: &'a [u32], squared: &'a [f32] },
    /// Those of query i from `offsets[i]` to `offsets[i + 1]`, nearest first.
    Within { offsets: &'a [u64], metric: Metric, rows: &'a [u32], squared: &'a [f32] },
    /// k of each query, largest first; past the last row [`Product::NONE`].
    Products { k: usize, products: &'a [Product] },
}

impl<'a> Batch<'a> {
    /// The neighbours of some of a record's queries, the first of which has a number.
    ///
    /// # Panics
    /// If the range exceeds the record's queries.
    pub fn of_run(record: &'a RunRecord, queries: Range<usize>, first: usize) -> Self {
        let (neighbors, metric) = (&record.neighbors, record.spec.metric);
        let k = neighbors.k;
        let slots = queries.start * k..queries.end * k;
        let (rows, squared) = (&neighbors.indices[slots.clone()], &neighbors.squared_distances[slots]);
        let cloud = record.query_cloud.as_deref().unwrap_or(&record.cloud);
        let is_place = matches!(record.spec.queries, QuerySpec::At(_));
        let queries = (!is_place).then(|| (cloud, &record.query_rows[queries]));
        Self { cloud: &record.cloud, queries, first, found: Found::Nearest { k, metric, rows, squared } }
    }

    /// Number of queries.
    pub fn query_count(self) -> usize {
        match self.found {
            Found::Nearest { k, .. } | Found::Products { k, .. } => self.len() / k.max(1),
            Found::Within { offsets, .. } => offsets.len() - 1,
        }
    }

    /// Number of neighbours of all queries, missing ones included.
    #[expect(clippy::len_without_is_empty, reason = "a count of slots, not of a collection")]
    pub fn len(self) -> usize {
        match self.found {
            Found::Nearest { rows, .. } | Found::Within { rows, .. } => rows.len(),
            Found::Products { products, .. } => products.len(),
        }
    }

    /// Whose neighbour this is, by its number in the batch.
    pub fn query_of(self, at: usize) -> usize {
        match self.found {
            Found::Nearest { k, .. } | Found::Products { k, .. } => at / k,
            Found::Within { offsets, .. } => offsets.partition_point(|&start| start <= at as u64) - 1,
        }
    }

    /// How many neighbours of the query are before this one.
    pub fn rank_of(self, at: usize) -> usize {
        match self.found {
            Found::Nearest { k, .. } | Found::Products { k, .. } => at % k,
            Found::Within { offsets, .. } => at - offsets[self.query_of(at)] as usize,
        }
    }

    /// The row of a neighbour, or [`NONE`].
    pub fn row(self, at: usize) -> u32 {
        match self.found {
            Found::Nearest { rows, .. } | Found::Within { rows, .. } => rows[at],
            Found::Products { products, .. } => products[at].row,
        }
    }

    /// The record number of a neighbour; −1 for none.
    pub fn record(self, at: usize) -> i64 {
        match self.row(at) {
            NONE => -1,
            row => self.cloud.record(row as usize) as i64,
        }
    }

    /// How many neighbours a query has, by its number in the batch.
    pub fn count_of(self, query: usize) -> u64 {
        match self.found {
            Found::Nearest { k, rows, .. } => rows[query * k..][..k].iter().filter(|&&row| row != NONE).count() as u64,
            Found::Within { offsets, .. } => offsets[query + 1] - offsets[query],
            Found::Products { k, products } => products[query * k..][..k].iter().filter(|product| product.row != NONE).count() as u64,
        }
    }

    /// The first neighbours of the first query, at most so many. There must be a query.
    #[must_use]
    pub fn head(self, most: usize) -> Self {
        let found = match self.found {
            Found::Nearest { k, metric, rows, squared } => {
                let k = k.min(most);
                Found::Nearest { k, metric, rows: &rows[..k], squared: &squared[..k] }
            }
            Found::Within { offsets, metric, rows, squared } => {
                let count = (offsets[1] as usize).min(most);
                // The offsets end behind what is left.
                Found::Within { offsets: &offsets[..1], metric, rows: &rows[..count], squared: &squared[..count] }
            }
            Found::Products { k, products } => {
                let k = k.min(most);
                Found::Products { k, products: &products[..k] }
            }
        };
        Self { found, ..self }
    }
}
