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

use super::{NONE, Neighbors};
use crate::cloud::{Order, PointCloud};

/// The largest k that engines take (with `exclude_self`, one less).
pub const MAX_K: usize = 1024;

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

/// How the problem is posed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Neighbours per query, 1 to [`MAX_K`].
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
    /// Refuses what no cloud can be asked for.
    ///
    /// # Errors
    /// [`ProblemError::K`].
    pub fn check(&self) -> Result<(), ProblemError> {
        let max = MAX_K - usize::from(self.exclude_self);
        if (1..=max).contains(&self.k) { Ok(()) } else { Err(ProblemError::K { k: self.k, max }) }
    }
}

/// Why a problem cannot be posed. Messages follow `what: why`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// k is out of range.
    #[error("k = {k}: neighbours per query go from 1 to {max}{note}", note = if *.max == MAX_K { "" } else { " when the query's own row is left out" })]
    K {
        /// As asked.
        k: usize,
        /// The largest.
        max: usize,
    },
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

/// The squared extent below which squared distances lose their digits to f32's smallest numbers.
const SMALLEST_SQUARED_EXTENT: f64 = f32::MIN_POSITIVE as f64 * (1u64 << 24) as f64;

/// Coordinates, shared with the cloud where they are the same.
#[derive(Clone, Debug)]
enum Rows {
    OfCloud(Arc<PointCloud>),
    Own(Vec<f32>),
}

impl Rows {
    fn as_slice(&self) -> &[f32] {
        match self {
            Self::OfCloud(cloud) => cloud.points(),
            Self::Own(values) => values,
        }
    }
}

/// n points in processing order, q queries, k. See the module's text for the distance.
#[derive(Clone, Debug)]
pub struct Problem {
    dims: usize,
    /// What is asked of an engine: one more than what is reported with `exclude_self`.
    k: usize,
    exclude_self: bool,
    points: Rows,
    queries: Rows,
    /// The cloud row at each position; `None` is the identity.
    rows: Option<Vec<u32>>,
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
        let dims = cloud.dims();
        setup.check()?;
        let queries_are_rows = matches!(queries, Queries::Rows(_));
        let (query_cloud, mut query_rows) = match queries {
            Queries::Rows(rows) => {
                if let Some(&row) = rows.iter().find(|&&row| row as usize >= cloud.len()) {
                    return Err(ProblemError::Row { row, rows: cloud.len() });
                }
                (cloud, Some(rows.clone()))
            }
            Queries::Cloud(queries) => (queries, None),
        };
        if query_cloud.dims() != dims {
            return Err(ProblemError::Dimensions { queries: query_cloud.dims(), data: dims });
        }
        let mut rows = setup.order.permutation(cloud.len(), setup.seed);
        let asked = query_rows.as_ref().map_or(query_cloud.len(), Vec::len);

        let (points, queries) = match setup.metric {
            Metric::L2 => (gather(cloud, rows.as_deref()), gather(query_cloud, query_rows.as_deref())),
            Metric::Angular => {
                let drop = setup.drop_zero_rows;
                let points = normalised(cloud, &mut rows, drop).map_err(|record| ProblemError::Zero { whose: "data", record })?;
                let queries = normalised(query_cloud, &mut query_rows, drop).map_err(|record| ProblemError::Zero { whose: "query", record })?;
                (Rows::Own(points), Rows::Own(queries))
            }
        };
        let problem = Self {
            dims,
            k: setup.k + usize::from(setup.exclude_self),
            exclude_self: setup.exclude_self,
            points,
            queries,
            rows,
            query_rows,
            queries_are_rows,
        };
        match problem.q() {
            0 if asked > 0 => return Err(ProblemError::QueriesDropped { asked }),
            0 => return Err(ProblemError::NoQueries),
            _ => {}
        }
        if problem.n() == 0 {
            return Err(ProblemError::NoPoints);
        }
        problem.check_extents(cloud)?;
        Ok(problem)
    }

    /// The same problem with its points met in another order: `positions` names those of this problem's order, each once.
    ///
    /// # Panics
    /// If it does not name as many as there are.
    pub fn rearranged(&self, positions: &[u32]) -> Self {
        assert_eq!(positions.len(), self.n(), "every point is met once");
        let points = positions.iter().flat_map(|&position| &self.points()[position as usize * self.dims..][..self.dims]).copied().collect();
        let rows = positions.iter().map(|&position| self.row(position)).collect();
        Self { points: Rows::Own(points), rows: Some(rows), ..self.clone() }
    }

    /// Refuses extents whose squares f32 cannot hold, naming the widest column.
    fn check_extents(&self, cloud: &PointCloud) -> Result<(), ProblemError> {
        let (mut min, mut max) = (vec![f32::INFINITY; self.dims], vec![f32::NEG_INFINITY; self.dims]);
        for row in self.points().chunks_exact(self.dims).chain(self.queries().chunks_exact(self.dims)) {
            for (axis, &value) in row.iter().enumerate() {
                min[axis] = min[axis].min(value);
                max[axis] = max[axis].max(value);
            }
        }
        let extents: Vec<f64> = (0..self.dims).map(|axis| f64::from(max[axis]) - f64::from(min[axis])).collect();
        let widest = (0..self.dims).max_by(|&a, &b| extents[a].total_cmp(&extents[b])).unwrap_or(0);
        let (column, extent) = (cloud.axes()[widest].name.clone(), format!("{:e}", extents[widest]));
        let squared: f64 = extents.iter().map(|extent| extent * extent).sum();
        // With room for the roundings of a distance's d steps.
        if squared * (1.0 + (self.dims as f64 + 2.0) * 2f64.powi(-23)) >= f64::from(f32::MAX) {
            return Err(ProblemError::Overflow { column, extent });
        }
        if extents[widest] > 0.0 && extents[widest] * extents[widest] < SMALLEST_SQUARED_EXTENT {
            return Err(ProblemError::Underflow { column, extent });
        }
        Ok(())
    }

    /// Dimensions, d.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Neighbours per query that an engine finds: one more than is reported when the query's own row is left out.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Neighbours per query that are reported.
    pub fn reported_k(&self) -> usize {
        self.k - usize::from(self.exclude_self)
    }

    /// The number of points, n.
    pub fn n(&self) -> usize {
        self.points().len() / self.dims
    }

    /// The number of queries, q.
    pub fn q(&self) -> usize {
        self.queries().len() / self.dims
    }

    /// n × d coordinates in processing order, row-major.
    pub fn points(&self) -> &[f32] {
        self.points.as_slice()
    }

    /// q × d coordinates, row-major.
    pub fn queries(&self) -> &[f32] {
        self.queries.as_slice()
    }

    /// The d coordinates of a query.
    pub fn query(&self, query: usize) -> &[f32] {
        &self.queries()[query * self.dims..][..self.dims]
    }

    /// The row of the data's cloud at a position of the processing order.
    pub fn row(&self, position: u32) -> u32 {
        self.rows.as_ref().map_or(position, |rows| rows[position as usize])
    }

    /// The row of a query in its cloud: the data's when queries are its rows, else the query cloud's.
    pub fn query_row(&self, query: usize) -> u32 {
        self.query_rows.as_ref().map_or(query as u32, |rows| rows[query])
    }

    /// Whether queries are rows of the data's cloud.
    pub fn queries_are_rows(&self) -> bool {
        self.queries_are_rows
    }

    /// Turns an engine's neighbours, by position, into the reported ones, by row: leaves the query's own row out if that
    /// was asked, and the last of the k + 1 where it is not among them (an equal row was met before it).
    pub fn report(&self, found: &Neighbors) -> Neighbors {
        let k = self.reported_k();
        let mut reported = Neighbors { k, indices: Vec::with_capacity(self.q() * k), squared_distances: Vec::with_capacity(self.q() * k) };
        for query in 0..self.q() {
            let (positions, squared_distances) = found.of(query);
            let own = (self.exclude_self && self.queries_are_rows).then(|| self.query_row(query));
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

/// A cloud's rows in another order, or the cloud itself where nothing moves.
fn gather(cloud: &Arc<PointCloud>, rows: Option<&[u32]>) -> Rows {
    match rows {
        None => Rows::OfCloud(Arc::clone(cloud)),
        Some(rows) => Rows::Own(rows.iter().flat_map(|&row| cloud.point(row as usize)).copied().collect()),
    }
}

/// Unit vectors of the file's own coordinates, in the order of `rows`, normalised in f64 and rounded once.
///
/// Zero rows are left out of the result and of `rows` if `drop`; else the first one's record is the error.
fn normalised(cloud: &PointCloud, rows: &mut Option<Vec<u32>>, drop: bool) -> Result<Vec<f32>, u64> {
    let dims = cloud.dims();
    let order: Vec<u32> = rows.take().unwrap_or_else(|| (0..cloud.len() as u32).collect());
    let mut kept = Vec::with_capacity(order.len());
    let mut unit = Vec::with_capacity(order.len() * dims);
    for row in order {
        let values = (0..dims).map(|axis| cloud.coordinate(row as usize, axis));
        // The largest component first: its square may overflow, or vanish, even in f64.
        let largest = values.clone().map(f64::abs).fold(0.0, f64::max);
        if largest == 0.0 {
            if drop {
                continue;
            }
            return Err(cloud.record(row as usize));
        }
        let norm = values.clone().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt();
        unit.extend(values.map(|value| (value / largest / norm) as f32));
        kept.push(row);
    }
    *rows = Some(kept);
    Ok(unit)
}
