//! A problem as engines see it: f32 points and queries, squared L2, k.
//!
//! Metrics are resolved here. For angular and cosine search, rows are normalised once, on the host and in
//! f64; the squared L2 between unit vectors (the squared chord) then ranks them. Longitude and latitude
//! become unit vectors too: their problem has three dimensions although the cloud has two columns. So engines
//! implement one distance, in f32 on every device, in dimension order and with one rounding per step:
//!
//! ```text
//! acc = 0; for j in 0..d { t = p[j] - q[j]; acc = fma(t, t, acc) }
//! ```

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::points::Rows;
use super::{Cache, Metric, NONE, Neighbors, PointSettings, Points, Shape};
use crate::cloud::{GlobeAxes, GlobeError, Order, PointCloud, Source};

/// Queries per parallel work item.
const QUERIES_PER_TASK: usize = 1 << 10;

/// Where the query points come from.
#[derive(Clone, Debug)]
pub enum Queries {
    /// Row indices of the data's cloud.
    Rows(Vec<u32>),
    /// A separate cloud, in the data's frame (see [`crate::cloud::load_queries`]).
    Cloud(Arc<PointCloud>),
}

impl Queries {
    /// Rejects rows out of range and clouds whose number of dimensions differs from the data's.
    fn check(&self, cloud: &PointCloud) -> Result<(), ProblemError> {
        match self {
            Self::Rows(rows) => match rows.iter().find(|&&row| row as usize >= cloud.len()) {
                Some(&row) => Err(ProblemError::Row { row, rows: cloud.len() }),
                None => Ok(()),
            },
            Self::Cloud(queries) if queries.dims() != cloud.dims() => {
                Err(ProblemError::Dimensions { queries: queries.dims(), data: cloud.dims() })
            }
            Self::Cloud(_) => Ok(()),
        }
    }
}

/// The parameters of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProblemParameters {
    /// Neighbours to report per query, from 1 to the engine's limit.
    pub k: usize,
    pub metric: Metric,
    /// The processing order of the points.
    pub order: Order,
    /// The seed of a shuffled order.
    pub seed: u64,
    /// Whether a query that is a row of the cloud is excluded from its own neighbours.
    pub exclude_self: bool,
    /// Whether zero rows are dropped rather than rejected, for metrics that compare directions
    /// ([`Metric::compares_directions`]).
    pub drop_zero_rows: bool,
}

impl ProblemParameters {
    /// Rejects what no engine can answer. [`super::Limits::check`] checks the limits of a particular engine.
    ///
    /// # Errors
    /// [`ProblemError::NoNeighbours`].
    pub fn check(&self) -> Result<(), ProblemError> {
        if self.k > 0 { Ok(()) } else { Err(ProblemError::NoNeighbours) }
    }

    /// Checks k against `limit`, the largest k of any engine, before a cloud is read.
    ///
    /// # Errors
    /// [`ProblemError::K`].
    pub fn check_within(&self, limit: usize) -> Result<(), ProblemError> {
        let max = Self::reported_k(limit, self.exclude_self);
        if (1..=max).contains(&self.k) {
            Ok(())
        } else {
            Err(ProblemError::K { k: self.k, max, exclude_self: self.exclude_self })
        }
    }

    /// Neighbours an engine must find: one more than are reported if the query's own row is excluded.
    pub fn found_k(&self) -> usize {
        self.k + usize::from(self.exclude_self)
    }

    /// The number of neighbours that can be reported out of `found`.
    pub fn reported_k(found: usize, exclude_self: bool) -> usize {
        found - usize::from(exclude_self)
    }

    /// The settings that determine the points.
    pub fn arrangement(&self) -> PointSettings {
        PointSettings::new(self.metric, self.order, self.seed, self.drop_zero_rows)
    }
}

/// Why a problem is invalid. Messages have the form `what: why`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// k is out of range.
    #[error(
        "k = {k}: must be between 1 and {max}{note}",
        note = if *.exclude_self { " when the query's own row is excluded" } else { "" }
    )]
    K {
        k: usize,
        /// The largest allowed k.
        max: usize,
        /// Whether the query's own row is excluded, which reduces the maximum by one.
        exclude_self: bool,
    },
    #[error("k = 0: must be at least 1")]
    NoNeighbours,
    /// There is not enough memory to arrange the points.
    #[error(
        "arranging the points needs {needed} MiB of memory, but only {free} MiB is free; use \
         fewer points"
    )]
    Memory {
        /// Needed memory in MiB, rounded up.
        needed: u64,
        /// Free memory in MiB, rounded down.
        free: u64,
    },
    /// The query set is empty.
    #[error("q = 0: there are no queries")]
    NoQueries,
    /// Every query was a zero row and was dropped.
    #[error("no queries left: {}; use the l2 metric", dropped(*.asked))]
    QueriesDropped {
        /// The number of queries before dropping.
        asked: usize,
    },
    /// Every point was a zero row and was dropped.
    #[error(
        "no points left: every row is a zero vector, which has no direction under this metric; use the l2 \
         metric"
    )]
    NoPoints,
    /// Queries and points differ in their number of dimensions.
    #[error("queries have {queries} dimensions, but the data has {data}")]
    Dimensions {
        /// d of the query cloud.
        queries: usize,
        data: usize,
    },
    /// A query row is out of range.
    #[error("invalid query row {row}: must be between 0 and {last}", last = .rows - 1)]
    Row {
        /// The requested row, 0-based.
        row: u32,
        /// Number of rows in the cloud.
        rows: usize,
    },
    /// A zero row has no direction.
    #[error(
        "{whose} row {record} is a zero vector, which has no direction under this metric; use the l2 metric, \
         or drop such rows with --drop-nonfinite"
    )]
    Zero {
        /// The cloud that contains the row: `data` or `query`.
        whose: &'static str,
        /// The row's record number in its file.
        record: u64,
    },
    /// A query at the origin has no direction.
    #[error(
        "query point {at} is the origin, which has no direction under this metric; choose another point, or \
         use the l2 metric"
    )]
    Origin {
        /// The coordinates as written by the user.
        at: String,
    },
    /// The cloud or the queries are not positions on the globe.
    #[error(transparent)]
    Globe(#[from] GlobeError),
    /// Squared distances would overflow to infinity.
    #[error(
        "column `{column}`: its extent of {extent} makes squared distances overflow 32-bit floats; rescale it"
    )]
    Overflow {
        column: String,
        /// The extent of that column, formatted.
        extent: String,
    },
    /// Squared distances would underflow.
    #[error(
        "column `{column}`: the widest extent, {extent}, makes squared distances underflow 32-bit floats; \
         rescale it"
    )]
    Underflow {
        column: String,
        /// The extent of that column, formatted.
        extent: String,
    },
}

fn dropped(asked: usize) -> String {
    match asked {
        1 => "the only query is a zero vector, which has no direction under this metric".to_owned(),
        _ => format!("all {asked} queries are zero vectors, which have no direction under this metric"),
    }
}

/// n points in processing order, q queries and k. The module documentation defines the distance.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The k given to engines: one more than is reported with `exclude_self`.
    k: usize,
    exclude_self: bool,
    points: Arc<Points>,
    queries: Rows,
    /// The row of each query in its cloud; `None` is the identity.
    query_rows: Option<Vec<u32>>,
    queries_are_rows: bool,
}

impl Problem {
    /// Builds a problem from a cloud.
    ///
    /// # Errors
    /// See [`ProblemError`]; values are never clamped.
    pub fn new(
        cloud: &Arc<PointCloud>,
        queries: &Queries,
        setup: ProblemParameters,
    ) -> Result<Self, ProblemError> {
        setup.check()?;
        queries.check(cloud)?;
        Self::with_points(&Arc::new(Points::new(cloud, setup.arrangement())?), queries, setup)
    }

    /// Builds a problem over points that are already arranged.
    ///
    /// # Errors
    /// See [`ProblemError`].
    ///
    /// # Panics
    /// If the points' arrangement differs from that of `setup`.
    pub fn with_points(
        points: &Arc<Points>,
        queries: &Queries,
        setup: ProblemParameters,
    ) -> Result<Self, ProblemError> {
        assert_eq!(points.arrangement(), setup.arrangement(), "the points must be arranged as in the setup");
        setup.check()?;
        let cloud = points.cloud();
        queries.check(cloud)?;
        let (query_cloud, mut query_rows) = match queries {
            // All rows in order need no copy of their coordinates.
            Queries::Rows(rows) if rows.iter().copied().eq(0..cloud.len() as u32) => (cloud, None),
            Queries::Rows(rows) => (cloud, Some(rows.clone())),
            Queries::Cloud(queries) => (queries, None),
        };
        let asked = query_rows.as_ref().map_or(query_cloud.len(), Vec::len);
        let coordinates = match setup.metric {
            Metric::L2 => Rows::gather(query_cloud, query_rows.as_deref()),
            Metric::Haversine | Metric::Sky => {
                let globe = GlobeAxes::from_axes(cloud.axes())?;
                if let Queries::Cloud(queries) = queries {
                    globe.check_queries(queries, cloud)?;
                }
                Rows::on_globe(query_cloud, globe, query_rows.as_deref())
            }
            Metric::Angular | Metric::Cosine => {
                let normalised = Rows::normalised(query_cloud, &mut query_rows, setup.drop_zero_rows);
                match (normalised, query_cloud.source()) {
                    (Ok(rows), _) if !rows.as_slice().is_empty() => rows,
                    // A typed query point has no row to drop, and its error gives the coordinates.
                    (_, Source::Coordinates(at)) => return Err(ProblemError::Origin { at: at.clone() }),
                    (normalised, _) => {
                        normalised.map_err(|record| ProblemError::Zero { whose: "query", record })?
                    }
                }
            }
        };
        if coordinates.as_slice().is_empty() {
            return Err(if asked > 0 {
                ProblemError::QueriesDropped { asked }
            } else {
                ProblemError::NoQueries
            });
        }
        if points.is_empty() {
            return Err(ProblemError::NoPoints);
        }
        points.check_extents(coordinates.as_slice())?;
        Ok(Self {
            k: setup.found_k(),
            exclude_self: setup.exclude_self,
            points: Arc::clone(points),
            queries: coordinates,
            query_rows,
            queries_are_rows: matches!(queries, Queries::Rows(_)),
        })
    }

    /// The same problem with its points, or a subset of them, reordered by current position.
    ///
    /// # Panics
    /// If `positions` is empty or longer than n.
    pub fn rearranged(&self, positions: &[u32]) -> Self {
        Self { points: Arc::new(self.points.rearranged(positions)), ..self.clone() }
    }

    /// Its points, which other problems may share.
    pub fn shared_points(&self) -> &Arc<Points> {
        &self.points
    }

    /// The same queries over other points of the same cloud.
    pub fn over(&self, points: Arc<Points>) -> Self {
        Self { points, ..self.clone() }
    }

    /// The problem restricted to a range of queries, over the same points.
    ///
    /// # Panics
    /// If the range exceeds the queries.
    pub fn query_range(&self, queries: Range<usize>) -> Self {
        let coordinates = self.queries()[queries.start * self.dims()..queries.end * self.dims()].to_vec();
        let rows = queries.map(|query| self.query_row(query)).collect();
        Self {
            queries: Rows::Own(coordinates),
            query_rows: Some(rows),
            points: Arc::clone(&self.points),
            ..*self
        }
    }

    /// The problem restricted to some queries, over other points in the same arrangement.
    ///
    /// # Panics
    /// If there is no such query.
    pub fn part(&self, points: &Arc<Points>, queries: &[u32]) -> Self {
        let coordinates = queries.iter().flat_map(|&query| self.query(query as usize));
        Self {
            queries: Rows::Own(coordinates.copied().collect()),
            query_rows: Some(queries.iter().map(|&query| self.query_row(query as usize)).collect()),
            points: Arc::clone(points),
            ..*self
        }
    }

    pub fn dims(&self) -> usize {
        self.points.dims()
    }

    /// Neighbours per query that an engine must find: one more than are reported if the query's own row is
    /// excluded.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Neighbours per query in the report.
    pub fn reported_k(&self) -> usize {
        ProblemParameters::reported_k(self.k, self.exclude_self)
    }

    /// The number of points, n.
    pub fn n(&self) -> usize {
        self.points.len()
    }

    /// The number of queries, q.
    pub fn q(&self) -> usize {
        self.queries().len() / self.dims()
    }

    /// The cloud whose rows are the points.
    pub fn cloud(&self) -> &Arc<PointCloud> {
        self.points.cloud()
    }

    /// n × d, row-major, in processing order.
    pub fn points(&self) -> &[f32] {
        self.points.coordinates()
    }

    /// Minimum and maximum of each axis of the points.
    pub fn extents(&self) -> &[[f32; 2]] {
        self.points.extents()
    }

    /// The sizes n, q, d and k, as checked against an engine's limits.
    pub fn shape(&self) -> Shape {
        Shape { n: self.n(), q: self.q(), d: self.dims(), k: self.k }
    }

    /// The metric that the squared L2 distances were derived from.
    pub fn metric(&self) -> Metric {
        self.points.arrangement().metric()
    }

    /// Data derived from the points by engines, reused by later problems over the same points.
    pub fn cache(&self) -> &Cache {
        self.points.cache()
    }

    /// q × d, row-major.
    pub fn queries(&self) -> &[f32] {
        self.queries.as_slice()
    }

    /// The d coordinates of one query.
    pub fn query(&self, query: usize) -> &[f32] {
        &self.queries()[query * self.dims()..][..self.dims()]
    }

    /// The row of the data's cloud at a position in processing order.
    pub fn row(&self, position: u32) -> u32 {
        self.points.row(position)
    }

    /// The row of a query: in the data's cloud if queries are rows of it, otherwise in the query cloud.
    pub fn query_row(&self, query: usize) -> u32 {
        self.query_rows.as_ref().map_or(query as u32, |rows| rows[query])
    }

    /// Whether queries are rows of the data's cloud.
    pub fn queries_are_rows(&self) -> bool {
        self.queries_are_rows
    }

    /// The row to exclude from a query's neighbours, if any.
    pub fn own_row(&self, query: usize) -> Option<u32> {
        (self.exclude_self && self.queries_are_rows).then(|| self.query_row(query))
    }

    /// Converts an engine's result from positions to rows and, if required, excludes the query's own row. If
    /// ties pushed that row out of the k + 1, the last neighbour is excluded instead.
    pub fn report(&self, mut found: Neighbors) -> Neighbors {
        let row_of = |position: u32| if position == NONE { NONE } else { self.row(position) };
        if !self.exclude_self {
            found.indices.par_iter_mut().for_each(|index| *index = row_of(*index));
            return found;
        }
        let k = self.reported_k();
        let mut reported = Neighbors::unanswered(self.q(), k);
        let lists = reported.indices.par_chunks_mut(k).zip(reported.squared_distances.par_chunks_mut(k));
        lists.enumerate().with_min_len(QUERIES_PER_TASK).for_each(|(query, (rows, distances))| {
            let (positions, squared_distances) = found.for_query(query);
            let own = self.own_row(query);
            let row_at = |rank: usize| row_of(positions[rank]);
            let skipped =
                own.and_then(|own| (0..positions.len()).find(|&rank| row_at(rank) == own)).unwrap_or(k);
            let ranks = (0..positions.len()).filter(|&rank| rank != skipped);
            for (rank, (row, distance)) in ranks.zip(rows.iter_mut().zip(distances)) {
                (*row, *distance) = (row_at(rank), squared_distances[rank]);
            }
        });
        reported
    }
}
