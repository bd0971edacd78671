//! A problem as engines see it: f32 points and queries, squared L2, k.
//!
//! The metric ends here. Angular search normalises the rows once, on the host and in f64, and squared L2 between unit
//! vectors (the squared chord) ranks them, so engines know one distance:
//!
//! ```text
//! acc = 0; for j in 0..d { t = p[j] - q[j]; acc = fma(t, t, acc) }
//! ```
//!
//! in f32, in dimension order, one rounding a step, on every device.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::points::Rows;
use super::{Arrangement, Cache, NONE, Neighbors, Points, Shape};
use crate::cloud::{Order, PointCloud, Source};

/// How far apart two rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Squared Euclidean distance.
    #[default]
    L2,
    /// By the angle between rows as vectors; reported as the squared chord between unit vectors.
    Angular,
}

impl Metric {
    /// As it is spelled on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::L2 => "l2",
            Self::Angular => "angular",
        }
    }

    /// The distance a person would name, for a squared distance: √D, or the angle in radians, 2·asin(min(1, √D/2)).
    pub fn distance(self, squared: f32) -> f64 {
        let root = f64::from(squared).sqrt();
        match self {
            Self::L2 => root,
            Self::Angular => 2.0 * (root / 2.0).min(1.0).asin(),
        }
    }
}

impl std::fmt::Display for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Whose neighbours are asked for.
#[derive(Clone, Debug)]
pub enum Queries {
    /// Rows of the cloud itself.
    Rows(Vec<u32>),
    /// A cloud of their own, in the data's frame (see [`crate::cloud::load_queries`]).
    Cloud(Arc<PointCloud>),
}

impl Queries {
    /// Refuses what a cloud cannot be asked for.
    fn check(&self, cloud: &PointCloud) -> Result<(), ProblemError> {
        match self {
            Self::Rows(rows) => match rows.iter().find(|&&row| row as usize >= cloud.len()) {
                Some(&row) => Err(ProblemError::Row { row, rows: cloud.len() }),
                None => Ok(()),
            },
            Self::Cloud(queries) if queries.dims() != cloud.dims() => Err(ProblemError::Dimensions { queries: queries.dims(), data: cloud.dims() }),
            Self::Cloud(_) => Ok(()),
        }
    }
}

/// How the problem is posed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Neighbours per query, from 1 to what the engine takes.
    pub k: usize,
    /// How distance is measured.
    pub metric: Metric,
    /// In what order points are met.
    pub order: Order,
    /// Seeds a shuffled order.
    pub seed: u64,
    /// Whether a query that is a row of the cloud leaves that row out of its neighbours.
    pub exclude_self: bool,
    /// Whether rows without a direction are left out under [`Metric::Angular`] instead of refused.
    pub drop_zero_rows: bool,
}

impl Setup {
    /// Refuses what no engine can be asked for. What an engine takes is checked where the problem meets it
    /// ([`super::Limits::check`]).
    ///
    /// # Errors
    /// [`ProblemError::NoNeighbours`].
    pub fn check(&self) -> Result<(), ProblemError> {
        if self.k > 0 { Ok(()) } else { Err(ProblemError::NoNeighbours) }
    }

    /// The same for engines that find `limit` neighbours at most, where that can be said before any cloud is read.
    ///
    /// # Errors
    /// [`ProblemError::K`].
    pub fn check_within(&self, limit: usize) -> Result<(), ProblemError> {
        let max = Self::reported_k(limit, self.exclude_self);
        if (1..=max).contains(&self.k) { Ok(()) } else { Err(ProblemError::K { k: self.k, max, exclude_self: self.exclude_self }) }
    }

    /// The neighbours that an engine has to find for k to be reported: one more where the query's own row, which is among
    /// them, is left out.
    pub fn found_k(&self) -> usize {
        self.k + usize::from(self.exclude_self)
    }

    /// The neighbours that are reported of `found` ones.
    pub fn reported_k(found: usize, exclude_self: bool) -> usize {
        found - usize::from(exclude_self)
    }

    /// What of it the points depend on.
    pub fn arrangement(&self) -> Arrangement {
        Arrangement::new(self.metric, self.order, self.seed, self.drop_zero_rows)
    }
}

/// Why a problem cannot be posed. Messages follow `what: why`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// k is out of range.
    #[error("k = {k}: neighbours per query go from 1 to {max}{note}", note = if *.exclude_self { " when the query's own row is left out" } else { "" })]
    K {
        /// As asked.
        k: usize,
        /// The largest.
        max: usize,
        /// Whether the query's own row is left out, which takes one of them.
        exclude_self: bool,
    },
    /// No neighbours are asked for.
    #[error("k = 0: a query asks for one neighbour or more")]
    NoNeighbours,
    /// There is nobody to ask for.
    #[error("q = 0: there are no queries")]
    NoQueries,
    /// Every query was dropped.
    #[error("q = 0: {}; use the l2 metric", dropped(*.asked))]
    QueriesDropped {
        /// As many as were asked for.
        asked: usize,
    },
    /// Every point was dropped.
    #[error("n = 0: every row is zero and has no direction; use the l2 metric")]
    NoPoints,
    /// The queries are of another dimension.
    #[error("queries have {queries} dimensions and the data {data}")]
    Dimensions {
        /// d of the queries.
        queries: usize,
        /// d of the data.
        data: usize,
    },
    /// A query names a row that is not there.
    #[error("query row {row}: the cloud has {rows} rows, 0 to {last}", last = .rows - 1)]
    Row {
        /// As asked.
        row: u32,
        /// n.
        rows: usize,
    },
    /// A row has no direction.
    #[error("{whose} row {record} is zero and has no direction: use the l2 metric, or --drop-nonfinite to leave such rows out")]
    Zero {
        /// `data` or `query`.
        whose: &'static str,
        /// Its number in its file.
        record: u64,
    },
    /// A place has no direction.
    #[error("place {at}: it is the origin and has no direction; ask for another place, or use the l2 metric")]
    Origin {
        /// Its coordinates, as written.
        at: String,
    },
    /// Squared distances would be infinite.
    #[error("column {column}: its extent of {extent} makes squared distances overflow 32-bit floats; rescale it")]
    Overflow {
        /// The widest column.
        column: String,
        /// As printed.
        extent: String,
    },
    /// Squared distances would vanish.
    #[error("column {column}: the widest extent, {extent}, makes squared distances vanish in 32-bit floats; rescale it")]
    Underflow {
        /// The widest column.
        column: String,
        /// As printed.
        extent: String,
    },
}

fn dropped(asked: usize) -> String {
    match asked {
        1 => "the one query that was asked for is a zero row and has no direction".to_owned(),
        _ => format!("all {asked} queries that were asked for are zero rows and have no direction"),
    }
}

/// n points in processing order, q queries, k. See the module's text for the distance.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What is asked of an engine: one more than what is reported with `exclude_self`.
    k: usize,
    exclude_self: bool,
    points: Arc<Points>,
    queries: Rows,
    /// The row of each query in its cloud; `None` is the identity.
    query_rows: Option<Vec<u32>>,
    queries_are_rows: bool,
}

impl Problem {
    /// Poses a problem.
    ///
    /// # Errors
    /// See [`ProblemError`]; nothing is ever clamped.
    pub fn new(cloud: &Arc<PointCloud>, queries: &Queries, setup: Setup) -> Result<Self, ProblemError> {
        setup.check()?;
        queries.check(cloud)?;
        Self::over(&Arc::new(Points::new(cloud, setup.arrangement())?), queries, setup)
    }

    /// Poses a problem over points that were put in order before.
    ///
    /// # Errors
    /// See [`ProblemError`].
    ///
    /// # Panics
    /// If the points are in another order, or for another metric, than `setup` asks for.
    pub fn over(points: &Arc<Points>, queries: &Queries, setup: Setup) -> Result<Self, ProblemError> {
        assert_eq!(points.arrangement(), setup.arrangement(), "points are in the order that is asked for");
        setup.check()?;
        let cloud = points.cloud();
        queries.check(cloud)?;
        let (query_cloud, mut query_rows) = match queries {
            Queries::Rows(rows) => (cloud, Some(rows.clone())),
            Queries::Cloud(queries) => (queries, None),
        };
        let asked = query_rows.as_ref().map_or(query_cloud.len(), Vec::len);
        let coordinates = match setup.metric {
            Metric::L2 => Rows::gather(query_cloud, query_rows.as_deref()),
            Metric::Angular => {
                let normalised = Rows::normalised(query_cloud, &mut query_rows, setup.drop_zero_rows);
                match (normalised, query_cloud.source()) {
                    (Ok(rows), _) if !rows.as_slice().is_empty() => rows,
                    // It is no row, be it left out or refused.
                    (_, Source::Place(at)) => return Err(ProblemError::Origin { at: at.clone() }),
                    (normalised, _) => normalised.map_err(|record| ProblemError::Zero { whose: "query", record })?,
                }
            }
        };
        if coordinates.as_slice().is_empty() {
            return Err(if asked > 0 { ProblemError::QueriesDropped { asked } } else { ProblemError::NoQueries });
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

    /// The same problem with its points met in another order: `positions` names those of this problem's order, each once.
    ///
    /// # Panics
    /// If it does not name as many as there are.
    pub fn rearranged(&self, positions: &[u32]) -> Self {
        Self { points: Arc::new(self.points.rearranged(positions)), ..self.clone() }
    }

    /// Dimensions, d.
    pub fn dims(&self) -> usize {
        self.points.dims()
    }

    /// Neighbours per query that an engine finds: one more than is reported when the query's own row is left out.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Neighbours per query that are reported.
    pub fn reported_k(&self) -> usize {
        Setup::reported_k(self.k, self.exclude_self)
    }

    /// The number of points, n.
    pub fn n(&self) -> usize {
        self.points.len()
    }

    /// The number of queries, q.
    pub fn q(&self) -> usize {
        self.queries().len() / self.dims()
    }

    /// n × d coordinates in processing order, row-major.
    pub fn points(&self) -> &[f32] {
        self.points.coordinates()
    }

    /// Its sizes, as engines see them.
    pub fn shape(&self) -> Shape {
        Shape { n: self.n(), q: self.q(), d: self.dims(), k: self.k }
    }

    /// How the distance was measured that squared L2 stands for by now.
    pub fn metric(&self) -> Metric {
        self.points.arrangement().metric()
    }

    /// What engines made of the points, which they find again in the next problem over the same ones.
    pub fn cache(&self) -> &Cache {
        self.points.cache()
    }

    /// q × d coordinates, row-major.
    pub fn queries(&self) -> &[f32] {
        self.queries.as_slice()
    }

    /// The d coordinates of a query.
    pub fn query(&self, query: usize) -> &[f32] {
        &self.queries()[query * self.dims()..][..self.dims()]
    }

    /// The row of the data's cloud at a position of the processing order.
    pub fn row(&self, position: u32) -> u32 {
        self.points.row(position)
    }

    /// The row of a query in its cloud: the data's when queries are its rows, else the query cloud's.
    pub fn query_row(&self, query: usize) -> u32 {
        self.query_rows.as_ref().map_or(query as u32, |rows| rows[query])
    }

    /// Whether queries are rows of the data's cloud.
    pub fn queries_are_rows(&self) -> bool {
        self.queries_are_rows
    }

    /// The row that a query leaves out: its own, where that was asked and it has one.
    pub fn own_row(&self, query: usize) -> Option<u32> {
        (self.exclude_self && self.queries_are_rows).then(|| self.query_row(query))
    }

    /// Turns an engine's neighbours, by position, into the reported ones, by row: leaves the query's own row out if that
    /// was asked, and the last of the k + 1 where it is not among them (an equal row was met before it).
    pub fn report(&self, found: &Neighbors) -> Neighbors {
        let k = self.reported_k();
        let mut reported = Neighbors { k, indices: Vec::with_capacity(self.q() * k), squared_distances: Vec::with_capacity(self.q() * k) };
        for query in 0..self.q() {
            let (positions, squared_distances) = found.of(query);
            let own = self.own_row(query);
            let row_at = |rank: usize| if positions[rank] == NONE { NONE } else { self.row(positions[rank]) };
            let skipped = own.and_then(|own| (0..positions.len()).find(|&rank| row_at(rank) == own)).unwrap_or(k);
            for rank in (0..positions.len()).filter(|&rank| rank != skipped).take(k) {
                reported.indices.push(row_at(rank));
                reported.squared_distances.push(squared_distances[rank]);
            }
        }
        reported
    }
}
