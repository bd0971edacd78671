//! Answers of a job for any goal, in batches of queries: the nearest neighbours and those within a radius
//! need not all be in memory. The largest inner products are a single batch.

mod product;
mod within;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::engines::single_pass;
use super::problem::{LoadedSpec, build_resident_problem, query_cloud_of};
use super::tiles::TiledSearch;
use super::{EngineChoice, EnginePool, QuerySpec, RunError, RunRecord, RunSpec, planner};
use crate::cloud::{Order, PointCloud};
use crate::engines::cuda::open_exact;
use crate::engines::registry;
use crate::exact::{Margin, Refiner, refined_bytes, search_k};
use crate::knn::inner_product::{Product, ProductError};
use crate::knn::within::Opener;
use crate::knn::{
    Descriptor, DeviceId, DeviceKind, EngineError, EngineId, Goal, Metric, NONE, Neighbors, Problem,
    ProblemParameters, Radius, Shape, answer_bytes,
};
use crate::memory::{self, InsufficientMemory};
pub use product::LargestProducts;
pub use within::RadiusBatches;

/// Why a goal cannot be reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The engine does not support this goal.
    #[error("{engine} {}", unsupported(*.goal))]
    Engine { engine: EngineId, goal: Goal },
    #[error("unknown engine {0}")]
    NoEngine(EngineId),
    #[error("radius {0}: must be 0 or more")]
    Radius(f64),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Products(#[from] ProductError),
    #[error(transparent)]
    Failed(#[from] EngineError),
    /// The neighbours of the queries counted so far do not fit into memory.
    #[error(
        "{found} neighbours within {radius:?} for {counted} of {queries} queries need {needed} MiB, but \
         only {free} MiB is free; use a smaller --radius, use -k instead, or write .csv, .tsv, .parquet or \
         .arrow, which are streamed"
    )]
    WithinMemory { found: u64, counted: usize, queries: usize, radius: f64, needed: u64, free: u64 },
    #[error(
        "{q} queries × {k} neighbours need {needed} MiB of memory, but only {free} MiB is free; use fewer \
         queries or a smaller k"
    )]
    ProductMemory { q: usize, k: usize, needed: u64, free: u64 },
    #[error("cancelled")]
    Cancelled,
}

/// What the engine does instead, and which engines can.
fn unsupported(goal: Goal) -> String {
    let able =
        |and: &str| registry::supporting(goal).map(|engine| engine.id.as_str()).collect::<Vec<_>>().join(and);
    match goal {
        Goal::Nearest => "does not find nearest neighbours".to_owned(),
        Goal::Within(_) => format!("finds the k nearest only; use {} for all within a radius", able(" or ")),
        Goal::LargestProduct => {
            format!("computes distances only; use {} for inner products", able(" or "))
        }
    }
}

/// The search that answers a job.
pub enum BatchSearch {
    Nearest(QueryBatches),
    Within(RadiusBatches),
    LargestProduct(LargestProducts),
    /// The nearest among points that are larger than the memory.
    Tiled(Box<TiledSearch>),
}

impl BatchSearch {
    /// Builds the problem of a spec for a goal. A radius ignores its k and the engine's parameters; inner
    /// products ignore its metric.
    ///
    /// # Errors
    /// [`BatchError`].
    pub fn new(
        engines: &EnginePool,
        goal: Goal,
        loaded: LoadedSpec<'_>,
        arithmetic: Arithmetic,
    ) -> Result<Self, BatchError> {
        Ok(match goal {
            Goal::Nearest => Self::Nearest(QueryBatches::new(engines, loaded, arithmetic)?),
            Goal::Within(radius) => Self::Within(RadiusBatches::new(radius, loaded)?),
            Goal::LargestProduct => Self::LargestProduct(LargestProducts::new(loaded, arithmetic)?),
        })
    }

    /// The number of queries, q.
    pub fn queries(&self) -> usize {
        match self {
            Self::Nearest(batches) => batches.queries(),
            Self::Within(all) => all.queries(),
            Self::LargestProduct(largest) => largest.queries(),
            Self::Tiled(tiled) => tiled.queries(),
        }
    }

    /// What the order of neighbours follows.
    pub fn arithmetic(&self) -> Arithmetic {
        match self {
            Self::Nearest(batches) => batches.arithmetic,
            Self::Within(_) => Arithmetic::File,
            Self::LargestProduct(largest) => largest.arithmetic,
            Self::Tiled(tiled) => tiled.arithmetic,
        }
    }

    /// The most queries to answer without interruption, and the most that are passed on at a time: usually,
    /// and at most.
    pub fn limits(&self) -> (usize, [usize; 2]) {
        match self {
            Self::Nearest(batches) => (batches.max_long, [batches.max_queries, batches.max_long]),
            Self::Tiled(tiled) => tiled.limits(),
            Self::Within(_) | Self::LargestProduct(_) => (usize::MAX, [usize::MAX; 2]),
        }
    }

    /// Limits the k nearest to some of the queries: ascending ranges.
    pub fn answer_only(&mut self, queries: Vec<Range<usize>>) {
        match self {
            Self::Nearest(batches) => batches.answered = queries,
            Self::Tiled(tiled) => tiled.answered = Some(queries),
            Self::Within(_) | Self::LargestProduct(_) => {}
        }
    }

    /// Neighbours per query; 0 if the number varies.
    pub fn k(&self) -> usize {
        match self {
            Self::Nearest(batches) => batches.k(),
            Self::Within(_) => 0,
            Self::LargestProduct(largest) => largest.k(),
            Self::Tiled(tiled) => tiled.k(),
        }
    }
}

/// The queries as rows of a cloud.
struct QueryRows {
    cloud: Arc<PointCloud>,
    rows: Vec<u32>,
    is_place: bool,
}

impl QueryRows {
    fn new(loaded: LoadedSpec<'_>, rows: Vec<u32>) -> Result<Self, RunError> {
        let cloud = query_cloud_of(loaded)?.unwrap_or_else(|| Arc::clone(loaded.cloud));
        Ok(Self { cloud, rows, is_place: matches!(loaded.spec.queries, QuerySpec::At(_)) })
    }

    /// The rows of some queries, for a batch.
    fn range(&self, queries: Range<usize>) -> Option<(&PointCloud, &[u32])> {
        (!self.is_place).then(|| (&*self.cloud, &self.rows[queries]))
    }
}

/// The chosen engine if it supports the goal, or the default one for `auto`.
fn engine(
    goal: Goal,
    choice: &EngineChoice,
    default_engine: impl FnOnce() -> &'static Descriptor,
) -> Result<&'static Descriptor, BatchError> {
    let EngineChoice::Named(method) = choice else { return Ok(default_engine()) };
    let engine = registry::find(method.engine).ok_or(BatchError::NoEngine(method.engine))?;
    if engine.finds(goal) { Ok(engine) } else { Err(BatchError::Engine { engine: engine.id, goal }) }
}

/// The answers of consecutive queries.
#[derive(Clone, Copy)]
pub struct AnswerBatch<'a> {
    pub cloud: &'a PointCloud,
    /// The queries' cloud, and the row of each query; `None` for a point given by coordinates.
    pub queries: Option<(&'a PointCloud, &'a [u32])>,
    /// Number of the first query.
    pub first: usize,
    pub found: BatchAnswers<'a>,
}

/// Neighbours, query after query, as rows of the cloud.
#[derive(Clone, Copy)]
pub enum BatchAnswers<'a> {
    /// k per query, nearest first, padded with [`NONE`] at infinity.
    Nearest {
        k: usize,
        metric: Metric,
        rows: &'a [u32],
        squared: &'a [f32],
        /// Distances in the metric's unit, if they were computed from the file's values.
        distances: Option<&'a [f64]>,
    },
    /// Query i has `offsets[i]` to `offsets[i + 1]`, nearest first.
    Within {
        offsets: &'a [u64],
        metric: Metric,
        rows: &'a [u32],
        squared: &'a [f32],
        /// In the metric's unit, from the file's values.
        distances: &'a [f64],
    },
    /// k per query, largest first, padded with [`Product::NONE`].
    Products { k: usize, products: &'a [Product] },
}

impl<'a> AnswerBatch<'a> {
    /// The neighbours of some of a record's queries; `first` is the number of the first one.
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
        Self {
            cloud: &record.cloud,
            queries,
            first,
            found: BatchAnswers::Nearest { k, metric, rows, squared, distances: None },
        }
    }

    /// The same neighbours with distances from the file's values.
    #[must_use]
    pub fn with_distances(self, exact: Option<&'a [f64]>) -> Self {
        let found = match self.found {
            BatchAnswers::Nearest { k, metric, rows, squared, .. } => {
                BatchAnswers::Nearest { k, metric, rows, squared, distances: exact }
            }
            other => other,
        };
        Self { found, ..self }
    }

    /// The distance of a neighbour in the metric's unit, or its inner product; ∞ if it is missing.
    pub fn distance(self, at: usize) -> f64 {
        match self.found {
            BatchAnswers::Products { products, .. } => products[at].value,
            _ if self.row(at) == NONE => f64::INFINITY,
            BatchAnswers::Nearest { distances: Some(distances), .. } => distances[at],
            BatchAnswers::Nearest { metric, squared, .. } => metric.distance(squared[at]),
            BatchAnswers::Within { distances, .. } => distances[at],
        }
    }

    /// Number of queries.
    pub fn query_count(self) -> usize {
        match self.found {
            BatchAnswers::Nearest { k, .. } | BatchAnswers::Products { k, .. } => self.len() / k.max(1),
            BatchAnswers::Within { offsets, .. } => offsets.len() - 1,
        }
    }

    /// Number of neighbours of all queries, including missing ones.
    #[expect(clippy::len_without_is_empty, reason = "a count of slots, not of a collection")]
    pub fn len(self) -> usize {
        match self.found {
            BatchAnswers::Nearest { rows, .. } | BatchAnswers::Within { rows, .. } => rows.len(),
            BatchAnswers::Products { products, .. } => products.len(),
        }
    }

    /// The query of a neighbour, as its number in the batch.
    pub fn query_of(self, at: usize) -> usize {
        match self.found {
            BatchAnswers::Nearest { k, .. } | BatchAnswers::Products { k, .. } => at / k,
            BatchAnswers::Within { offsets, .. } => offsets.partition_point(|&start| start <= at as u64) - 1,
        }
    }

    /// The rank of a neighbour.
    pub fn rank_of(self, at: usize) -> usize {
        match self.found {
            BatchAnswers::Nearest { k, .. } | BatchAnswers::Products { k, .. } => at % k,
            BatchAnswers::Within { offsets, .. } => at - offsets[self.query_of(at)] as usize,
        }
    }

    /// The row of a neighbour, or [`NONE`].
    pub fn row(self, at: usize) -> u32 {
        match self.found {
            BatchAnswers::Nearest { rows, .. } | BatchAnswers::Within { rows, .. } => rows[at],
            BatchAnswers::Products { products, .. } => products[at].row,
        }
    }

    /// The record number of a neighbour; −1 if missing.
    pub fn record(self, at: usize) -> i64 {
        match self.row(at) {
            NONE => -1,
            row => self.cloud.record(row as usize) as i64,
        }
    }

    /// How many neighbours a query has, by its number in the batch.
    pub fn count_of(self, query: usize) -> u64 {
        match self.found {
            BatchAnswers::Nearest { k, rows, .. } => {
                rows[query * k..][..k].partition_point(|&row| row != NONE) as u64
            }
            BatchAnswers::Within { offsets, .. } => offsets[query + 1] - offsets[query],
            BatchAnswers::Products { k, products } => {
                products[query * k..][..k].iter().filter(|product| product.row != NONE).count() as u64
            }
        }
    }

    /// At most `most` neighbours of the first query, which must exist.
    #[must_use]
    pub fn head(self, most: usize) -> Self {
        let found = match self.found {
            BatchAnswers::Nearest { k, metric, rows, squared, distances } => {
                let k = k.min(most);
                let distances = distances.map(|distances| &distances[..k]);
                BatchAnswers::Nearest { k, metric, rows: &rows[..k], squared: &squared[..k], distances }
            }
            BatchAnswers::Within { offsets, metric, rows, squared, distances } => {
                let count = (offsets[1] as usize).min(most);
                // The remaining offset is the start; the end follows from the length.
                BatchAnswers::Within {
                    offsets: &offsets[..1],
                    metric,
                    rows: &rows[..count],
                    squared: &squared[..count],
                    distances: &distances[..count],
                }
            }
            BatchAnswers::Products { k, products } => {
                let k = k.min(most);
                BatchAnswers::Products { k, products: &products[..k] }
            }
        };
        Self { found, ..self }
    }
}

/// Limit in bytes on the answers and queries of a batch: enough to keep a device busy. The allocator reuses
/// arrays of this size, whereas the first write to each page of a larger one is slow.
const MAX_BATCH_BYTES: u64 = 32 << 20;

/// The same where the points are copied for each batch: to a GPU that does not hold all, or that ranks the
/// neighbours, which it may if rows are longer than a cache line.
const MAX_LONG_BATCH_BYTES: u64 = 512 << 20;

const CACHE_LINE: usize = 64;

/// A batch may use 1/`MEMORY_SHARE` of the free memory, since its answers exist in the engine, in the
/// download and in the report at once, while those of the batch before it, with f64 distances, are written.
const MEMORY_SHARE: u64 = 16;

/// Copies of one query's answer that must fit in memory, the minimum for a batch.
const COPIES: u64 = 3;

/// A spec's problem and its batch size. All batches share the same points, so engines can reuse their
/// preparation.
pub struct QueryBatches {
    spec: RunSpec,
    cloud: Arc<PointCloud>,
    query_cloud: Option<Arc<PointCloud>>,
    problem: Problem,
    arithmetic: Arithmetic,
    /// Whether the problem asks for more neighbours than the spec, to be ranked by the file's values.
    is_refined: bool,
    /// Maximum queries per batch.
    max_queries: usize,
    /// The same for an engine that prepares or copies the points for each.
    max_long: usize,
    /// The queries to answer: ascending ranges, all by default.
    answered: Vec<Range<usize>>,
}

/// What the order of neighbours follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// The engines' rule: coordinates rounded to f32; distances summed in f32, inner products in f64.
    F32,
    /// The real-number distances of the file's values.
    #[default]
    File,
}

impl Arithmetic {
    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::File => "file",
        }
    }
}

/// The answers to a batch.
pub struct BatchResult {
    /// With the spec's k.
    pub record: RunRecord,
    /// Distances by the file's values, if these were used.
    pub distances: Option<Vec<f64>>,
    /// The device that computed these.
    pub distances_on: Option<String>,
}

impl QueryBatches {
    /// Builds the problem of a spec that these engines will answer. Most problems fit in one batch.
    ///
    /// # Errors
    /// As [`crate::run::build_problem`], and [`RunError::OneQuery`] if the answer to a single query does not
    /// fit in memory.
    pub fn new(
        engines: &EnginePool,
        loaded: LoadedSpec<'_>,
        arithmetic: Arithmetic,
    ) -> Result<Self, RunError> {
        let LoadedSpec { spec, cloud, .. } = loaded;
        let query_cloud = query_cloud_of(loaded)?;
        let build = |spec: &RunSpec| {
            build_resident_problem(engines.resident(), LoadedSpec::new(spec, cloud, query_cloud.as_ref()))
        };
        let mut problem = build(spec)?;
        // Where nothing rounds, and positions are rows, rule 1 has the order of the file's values.
        let is_refined = arithmetic == Arithmetic::File
            && !(Margin::new(spec.metric, cloud, query_cloud.as_deref().unwrap_or(cloud)).is_zero()
                && spec.order == Order::File);
        if is_refined {
            let (setup, n, problem_dims) = (ProblemParameters::from(spec), problem.n(), problem.dims());
            // Its queries are not needed twice.
            drop(problem);
            let own = setup.found_k() - spec.k;
            let k = (search_k(setup.found_k(), problem_dims, largest_k(spec)) - own).min(spec.k.max(n));
            problem = build(&RunSpec { k, ..spec.clone() })?;
        }
        let is_long = problem.dims() * size_of::<f32>() > CACHE_LINE;
        let most = if is_long { MAX_LONG_BATCH_BYTES } else { MAX_BATCH_BYTES };
        let [max_queries, max_long] =
            [most, MAX_LONG_BATCH_BYTES].map(|bytes| queries_per_batch(&problem, bytes, memory::available()));
        let (spec, cloud, answered) = (single_pass(spec), Arc::clone(cloud), vec![0..problem.q(); 1]);
        let (max_queries, max_long) = (max_queries?, max_long?);
        Ok(Self {
            spec,
            cloud,
            query_cloud,
            problem,
            arithmetic,
            is_refined,
            max_queries,
            max_long,
            answered,
        })
    }

    /// Limits the queries per batch.
    #[must_use]
    pub fn with_limit(self, queries: usize) -> Self {
        let [max_queries, max_long] =
            [self.max_queries, self.max_long].map(|limit| limit.min(queries.max(1)));
        Self { max_queries, max_long, ..self }
    }

    /// The number of queries, q.
    pub fn queries(&self) -> usize {
        self.problem.q()
    }

    /// Neighbours reported per query.
    pub fn k(&self) -> usize {
        self.spec.k
    }

    /// Whether batches are ranked by the file's values after the search.
    pub(in crate::run) fn is_refined(&self) -> bool {
        self.is_refined
    }

    /// Rejects a batch whose ranking by the file's values exceeds the free memory.
    pub(in crate::run) fn check_memory(&self, q: usize) -> Result<(), RunError> {
        let k = self.spec.k;
        let needed = if self.is_refined { refined_bytes(q, k) } else { 0 };
        let short = |InsufficientMemory { needed, free }| EngineError::Answers {
            q,
            k,
            needed: needed.div_ceil(1 << 20),
            free: free >> 20,
        };
        Ok(memory::check(needed).map_err(short)?)
    }

    /// Ranks the neighbours that an engine found for a batch by the file's values.
    pub(in crate::run) fn refine(
        &self,
        problem: &Problem,
        mut record: RunRecord,
        go_on: &mut dyn FnMut(f32) -> bool,
    ) -> Result<BatchResult, RunError> {
        if !self.is_refined {
            return Ok(BatchResult { record, distances: None, distances_on: None });
        }
        let queries = self.query_cloud.as_ref().unwrap_or(&self.cloud);
        let refiner = Refiner::new(problem, queries, index_opener(problem));
        let gpu = record.device.id.map(DeviceId::first).filter(|device| device.kind() == DeviceKind::Gpu);
        let device = gpu.and_then(|gpu| {
            let (rows, pairs) = refiner.rows_for_device()?;
            // On any error of the GPU, the CPU computes the same distances.
            open_exact(gpu, rows, pairs).ok()
        });
        let refined =
            refiner.refine(&record.neighbors, self.spec.k, device, go_on).ok_or(RunError::Cancelled)?;
        record.neighbors =
            Neighbors { k: self.spec.k, indices: refined.rows, squared_distances: refined.squared_distances };
        let distances_on = if refined.on_device { record.device.name.clone() } else { "CPU".to_owned() };
        Ok(BatchResult { record, distances: Some(refined.distances), distances_on: Some(distances_on) })
    }

    /// The spec, with a single pass.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// The batch that begins at the first query to answer from this one on. `is_long`: for an engine that
    /// prepares or copies the points for each.
    pub fn batch_from(&self, query: usize, is_long: bool) -> Option<Range<usize>> {
        let limit = if is_long { self.max_long } else { self.max_queries };
        let Range { start, end } = self.answered.iter().find(|queries| query < queries.end)?;
        let start = query.max(*start);
        Some(start..start.saturating_add(limit).min(*end))
    }

    /// The batches, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        std::iter::successors(self.batch_from(0, false), |batch| self.batch_from(batch.end, false))
    }

    /// The problem of some queries.
    pub(in crate::run) fn problem(&self, queries: Range<usize>) -> Cow<'_, Problem> {
        if queries == (0..self.queries()) {
            Cow::Borrowed(&self.problem)
        } else {
            Cow::Owned(self.problem.query_range(queries))
        }
    }

    /// The spec with its data.
    pub(in crate::run) fn loaded(&self) -> LoadedSpec<'_> {
        LoadedSpec::new(&self.spec, &self.cloud, self.query_cloud.as_ref())
    }
}

/// The smallest limit of k among the engines that may answer: the largest list that any of them can return.
pub(in crate::run) fn largest_k(spec: &RunSpec) -> usize {
    let wanted = ProblemParameters::from(spec).found_k();
    let limits = planner::engines(spec).map(|engine| engine.limits.k);
    limits.filter(|&limit| limit >= wanted).min().unwrap_or(wanted)
}

/// Opens an index on the CPU that lists the points within a distance, if one supports the problem.
pub(in crate::run) fn index_opener(problem: &Problem) -> Option<Opener> {
    let fits = |engine: &&Descriptor| {
        engine.limits.check(engine.id, &Shape { k: 1, ..problem.shape() }, problem.metric()).is_ok()
    };
    registry::supporting(Goal::Within(Radius::new(Metric::L2, 0.0)))
        .find(fits)
        .and_then(|engine| engine.within)
}

/// Maximum queries per batch for a limit in bytes and an amount of free memory.
fn queries_per_batch(problem: &Problem, most: u64, free: Option<u64>) -> Result<usize, RunError> {
    let (n, k) = (problem.n(), problem.k());
    let needed = COPIES.saturating_mul(answer_bytes(1, k));
    if let Some(free) = free.filter(|&free| needed > free) {
        return Err(RunError::OneQuery {
            k: problem.reported_k(),
            n,
            needed: needed.div_ceil(1 << 20),
            free: free >> 20,
        });
    }
    let bytes = free.map_or(most, |free| most.min(free / MEMORY_SHARE));
    let query_bytes = answer_bytes(1, k).saturating_add(4 * problem.dims() as u64);
    Ok(usize::try_from(bytes / query_bytes).unwrap_or(usize::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::{EngineId, Metric};
    use crate::run::testing::{cloud, spec, squares};
    use crate::run::{EngineChoice, QuerySpec, build_problem};

    #[test]
    fn batch_size_follows_free_memory() {
        let of = |k: usize, free| {
            let problem = build_problem(LoadedSpec::new(
                &RunSpec { k, queries: QuerySpec::All, ..spec() },
                &squares(100),
                None,
            ))
            .unwrap();
            queries_per_batch(&problem, MAX_BATCH_BYTES, free)
        };
        let row = |k: u64| 8 * k + 4 * squares(2).dims() as u64;
        assert_eq!(of(10, Some(1 << 40)).unwrap() as u64, MAX_BATCH_BYTES / row(10));
        assert_eq!(of(10, None).unwrap() as u64, MAX_BATCH_BYTES / row(10));
        assert_eq!(of(10, Some(1 << 20)).unwrap() as u64, (1 << 16) / row(10));
        assert_eq!(of(10, Some(240)).unwrap(), 1, "at least one query");
        let refused = of(4_000_000_000, Some(1 << 33)).unwrap_err().to_string();
        let why = "k = 4000000000: the neighbours of one query need 91553 MiB of memory, but only 8192 MiB \
                   is free; use a smaller k (there are 100 points)";
        assert_eq!(refused, why);
    }

    /// The neighbours of all queries, answered in batches of at most `most`, and the number of batches.
    fn answered(
        spec: &RunSpec,
        cloud: &Arc<PointCloud>,
        most: usize,
        arithmetic: Arithmetic,
    ) -> (Vec<u32>, Vec<u32>, Vec<u32>, usize) {
        let mut engines = EnginePool::default();
        let batches = QueryBatches::new(&engines, LoadedSpec::new(spec, cloud, None), arithmetic)
            .unwrap()
            .with_limit(most);
        let (mut rows, mut indices, mut distances, mut count) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let mut shares = Vec::new();
        for range in batches.ranges() {
            let mut stage = |_: &str, share| {
                shares.push(share);
                true
            };
            let record = engines.answer_batch(&batches, range.clone(), None, &mut stage).unwrap().record;
            assert_eq!((record.neighbors.queries(), record.neighbors.k), (range.len(), batches.k()));
            assert_eq!(record.dropped_queries, (cloud.len() - batches.queries()) as u64);
            rows.extend(record.query_rows);
            indices.extend(record.neighbors.indices);
            distances.extend(record.neighbors.squared_distances.iter().map(|distance| distance.to_bits()));
            count += 1;
        }
        assert!(shares.is_sorted() && shares.last() == Some(&1.0), "{shares:?}");
        (rows, indices, distances, count)
    }

    #[test]
    fn batched_and_unbatched_answers_are_equal() {
        // The angular metric drops zero rows, which changes the numbers of later queries.
        let cloud =
            cloud(2, (0..60).map(|at| if at % 14 < 2 { 0.0 } else { f64::from(at * 37 % 11) }).collect());
        for engine in ["lockstep", "kdtree", "bvh", "sort"] {
            for metric in [Metric::L2, Metric::Angular] {
                let engine = EngineChoice::named(EngineId::new(engine));
                let spec = RunSpec {
                    queries: QuerySpec::All,
                    k: 7,
                    metric,
                    exclude_self: true,
                    drop_nonfinite: true,
                    engine,
                    ..spec()
                };
                let whole = answered(&spec, &cloud, usize::MAX, Arithmetic::F32);
                assert_eq!(whole.3, 1);
                for most in [1, 4, 25] {
                    let parts = answered(&spec, &cloud, most, Arithmetic::F32);
                    assert_eq!(parts.3, whole.0.len().div_ceil(most));
                    assert_eq!((&parts.0, &parts.1, &parts.2), (&whole.0, &whole.1, &whole.2), "{spec:?}");
                }
            }
        }
    }

    #[test]
    fn refined_answers_do_not_depend_on_engine_or_batch() {
        // Millimetres over 200 km: f32 merges points that are 6 mm apart, so that many queries are widened.
        let value = |at: i32| 5e5 + f64::from(at * 7919 % 97) * 1e-3 + if at % 31 == 0 { 2e5 } else { 0.0 };
        let cloud = cloud(2, (0..3000).map(value).collect());
        let answered = |engine: &str, k, most| {
            let engine = EngineChoice::named(EngineId::new(engine));
            let exclude_self = k == 3;
            let spec = RunSpec { queries: QuerySpec::All, k, exclude_self, engine, ..spec() };
            answered(&spec, &cloud, most, Arithmetic::File)
        };
        for k in [1, 3, 40] {
            let expected = answered("kdtree", k, usize::MAX);
            for engine in ["lockstep", "bvh", "sort"] {
                let found = answered(engine, k, 400);
                assert_eq!(
                    (&found.0, &found.1, &found.2),
                    (&expected.0, &expected.1, &expected.2),
                    "{engine}"
                );
            }
        }
    }

    #[test]
    fn list_lengths_respect_engine_limits() {
        let cloud = squares(2000);
        for (engine, k) in [("lockstep", 1024), ("bits-fused", 100), ("bits-fused", 128), ("lockstep", 900)] {
            let engine = EngineChoice::named(EngineId::new(engine));
            for exclude_self in [false, true] {
                let k = k - usize::from(exclude_self);
                let spec = RunSpec { k, exclude_self, engine: engine.clone(), ..spec() };
                let (_, indices, ..) = answered(&spec, &cloud, 10, Arithmetic::File);
                assert_eq!(indices.len() % k, 0, "{spec:?}");
            }
        }
    }
}
