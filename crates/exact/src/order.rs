//! Sorts points by their real distance to a query.

use std::cmp::Ordering;
use std::sync::OnceLock;

use num_bigint::{BigInt, Sign};
use rayon::prelude::*;

use crate::cloud::{Axis, FileValue, PointCloud};
use crate::knn::Metric;
use crate::knn::exact_distances::{LANES, StoredRows};
use crate::memory;
use crate::radius::RadiusTest;
use crate::scaled::Scale;
use crate::sphere;
use crate::vectors::{RowVectors, squared_distance, squared_distance_of_direction, squared_distance_of_f32};

/// Vectors are computed once for all rows if they use at most this share of the free memory.
const MEMORY_SHARE: u64 = 4;

/// A point with its distance to a query as f64 computes it, within the bounds of [`Ranking`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedPoint {
    pub row: u32,
    /// L2 distance, of unit vectors for metrics other than L2.
    pub distance: f64,
}

/// The order of a cloud's rows around rows of `queries`, by their real-number distances, ties by row.
pub struct Ranking<'a> {
    metric: Metric,
    cloud: &'a PointCloud,
    queries: &'a PointCloud,
    vectors: RowVectors,
    rows: VectorSource<'a>,
    /// Relative error bound of a distance in f64.
    relative: f64,
    /// Absolute error bound: of unit vectors, and of decimals that f64 rounds.
    absolute: f64,
}

/// Where the vectors of rows come from.
enum VectorSource<'a> {
    /// The file's values are these f32 values.
    Stored(&'a [f32]),
    /// Computed in advance, row-major.
    Computed(Vec<f64>),
    /// Computed when needed.
    Separate,
}

/// A query of a [`Ranking`].
pub struct Query<'a> {
    cloud: &'a PointCloud,
    row: usize,
    vector: Vec<f64>,
    values: OnceLock<Vec<FileValue>>,
}

impl Query<'_> {
    fn values(&self) -> &[FileValue] {
        self.values.get_or_init(|| values((self.cloud, self.row)))
    }
}

impl<'a> Ranking<'a> {
    /// `evaluations` is the expected number of distances.
    pub fn new(metric: Metric, cloud: &'a PointCloud, queries: &'a PointCloud, evaluations: usize) -> Self {
        let (unit, dims) = (f64::EPSILON / 2.0, metric.dims(cloud.dims()) as f64);
        // Each term of a sum passes through LANES + d/LANES additions.
        let relative = (LANES as f64 + dims / LANES as f64 + 8.0) * unit;
        let absolute = match metric {
            // Squares below f64's range vanish.
            Metric::L2 => dims.sqrt() * 2f64.powi(-537),
            // Half of the relative error of a squared length moves the vector along itself.
            Metric::Angular | Metric::Cosine => 2.0 * (relative + 4.0 * unit),
            // Sine and cosine of degrees are right to a few units in the last place.
            Metric::Haversine | Metric::Sky => 32.0 * unit,
        };
        let vectors = RowVectors::new(metric, cloud);
        let whole = vectors.with_whole_decimals(cloud, queries);
        let decimals = if whole.is_some() {
            0.0
        } else {
            [cloud, queries].map(|cloud| decimal_error(metric, cloud)).iter().sum()
        };
        let vectors = whole.unwrap_or(vectors);
        let rows = if !cloud.is_rounded() && vectors.globe().is_none() && vectors.decimal_scale() == 1.0 {
            VectorSource::Stored(cloud.points())
        } else if evaluations > cloud.len() / 2
            && let Some(computed) = all_vectors(&vectors, cloud, metric.dims(cloud.dims()))
        {
            VectorSource::Computed(computed)
        } else {
            VectorSource::Separate
        };
        Self { metric, cloud, queries, vectors, rows, relative, absolute: absolute + decimals }
    }

    /// Rows for a device to compare, bit-identically; `None` unless f32 holds every value.
    pub fn stored_rows(&self) -> Option<StoredRows<'a>> {
        let VectorSource::Stored(points) = self.rows else { return None };
        let stored = StoredRows {
            points,
            queries: (!std::ptr::eq(self.queries, self.cloud)).then_some(self.queries.points()),
            dims: self.cloud.dims(),
            normalise: self.vectors.are_normalised(),
        };
        (!self.queries.is_rounded()).then_some(stored)
    }

    pub fn query(&self, row: usize) -> Query<'a> {
        Query {
            cloud: self.queries,
            row,
            vector: self.vectors.vector(self.queries, row),
            values: OnceLock::new(),
        }
    }

    /// Reads from each of some rows before their distances are computed, so that the cache misses overlap.
    pub fn touch(&self, rows: &[u32]) {
        if let VectorSource::Stored(points) = self.rows {
            let dims = self.cloud.dims();
            let first: f32 = rows.iter().map(|&row| points[row as usize * dims]).sum();
            std::hint::black_box(first);
        }
    }

    /// Computes the distance of a row. `vector` may be overwritten.
    pub fn rank(&self, query: &Query, row: u32, vector: &mut Vec<f64>) -> RankedPoint {
        let (target, at) = (&query.vector, row as usize);
        let squared = match &self.rows {
            VectorSource::Stored(points) => {
                let point = &points[at * target.len()..][..target.len()];
                if self.vectors.are_normalised() {
                    squared_distance_of_direction(target, point)
                } else {
                    squared_distance_of_f32(target, point)
                }
            }
            VectorSource::Computed(all) => {
                squared_distance(target, &all[at * target.len()..][..target.len()])
            }
            VectorSource::Separate => {
                self.vectors.write(self.cloud, at, vector);
                squared_distance(target, vector)
            }
        };
        RankedPoint { row, distance: squared.sqrt() / self.vectors.decimal_scale() }
    }

    /// The distance of a ranked point in the metric's unit. `vector` may be overwritten.
    fn distance(&self, query: &Query, ranked: RankedPoint, vector: &mut Vec<f64>) -> f64 {
        if ranked.distance > 1.0 && self.metric != Metric::L2 {
            self.vectors.write(self.cloud, ranked.row as usize, vector);
        }
        self.vectors.distance(ranked.distance, &query.vector, vector)
    }

    /// An upper bound on the real distance of a ranked point.
    pub fn at_most(&self, ranked: RankedPoint) -> f64 {
        ranked.distance * (1.0 + self.relative) + self.absolute
    }

    /// A lower bound on the real distance of a ranked point.
    pub fn at_least(&self, ranked: RankedPoint) -> f64 {
        ranked.distance * (1.0 - self.relative) - self.absolute
    }

    /// Sorts points, nearest first. `tied` receives whether each is as far as the one before.
    pub fn sort(&self, query: &Query, ranked: &mut [RankedPoint], tied: &mut Vec<bool>) {
        tied.clear();
        tied.resize(ranked.len(), false);
        self.sort_runs(query, ranked, |start, ties| tied[start..][..ties.len()].copy_from_slice(ties));
    }

    /// Distances of sorted points in squared form and in the metric's unit: equal ones for ties, ascending.
    pub fn distances(
        &self,
        query: &Query,
        (ranked, tied): (&[RankedPoint], &[bool]),
        vector: &mut Vec<f64>,
        mut done: impl FnMut(usize, f32, f64),
    ) {
        let mut before = (0.0f32, 0.0f64);
        let mut start = 0;
        while start < ranked.len() {
            let ties = tied[start + 1..].iter().take_while(|&&is_tied| is_tied).count();
            let group = &ranked[start..=start + ties];
            let nearest = group.iter().copied().reduce(|a, b| if b.distance < a.distance { b } else { a });
            let nearest = self.with_exact_distance(query, nearest.unwrap_or(ranked[start]));
            // Roundings may differ in the other order than distances.
            before.0 = before.0.max(nearest.distance.powi(2) as f32);
            before.1 = before.1.max(self.distance(query, nearest, vector));
            (start..=start + ties).for_each(|at| done(at, before.0, before.1));
            start += ties + 1;
        }
    }

    /// A point with its distance from exact differences, if the file has integers that f64 rounds.
    fn with_exact_distance(&self, query: &Query, ranked: RankedPoint) -> RankedPoint {
        if self.metric != Metric::L2 || !(self.cloud.has_long_decimals() || self.queries.has_long_decimals())
        {
            return ranked;
        }
        let (query, point) = (query.values(), values((self.cloud, ranked.row as usize)));
        let exact = Scale::common(query.iter().chain(&point).copied()).distance(query, &point);
        RankedPoint { distance: exact.unwrap_or(ranked.distance), ..ranked }
    }

    /// Keeps the points that may be among the `k` nearest.
    pub fn keep_nearest(&self, ranked: &mut Vec<RankedPoint>, k: usize) {
        if k > 0 && k < ranked.len() {
            let (_, kth, _) = ranked.select_nth_unstable_by(k - 1, |a, b| a.distance.total_cmp(&b.distance));
            // The k-th by f64 is at least as far as the k-th by real distance, but for its error.
            let bound = self.at_most(*kth);
            ranked.retain(|&ranked| self.at_least(ranked) <= bound);
        }
    }

    /// Sorts points, nearest first, and numbers their distances: equal ones have the same number.
    pub fn number_distances(&self, query: &Query, ranked: &mut [RankedPoint]) -> Vec<u32> {
        let mut tied = Vec::new();
        self.sort(query, ranked, &mut tied);
        let mut number = 0;
        tied.into_iter()
            .map(|is_tied| {
                number += u32::from(!is_tied);
                number
            })
            .collect()
    }

    /// Sorts points. Passes to `done`, for points that f64 does not separate, the index of the first and
    /// whether each is as far as the one before.
    fn sort_runs(&self, query: &Query, ranked: &mut [RankedPoint], mut done: impl FnMut(usize, &[bool])) {
        ranked.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
        // Neighbouring points whose intervals overlap form a run; f64 separates points of different runs.
        let mut start = 0;
        for end in 1..=ranked.len() {
            if end == ranked.len() || self.at_most(ranked[end - 1]) < self.at_least(ranked[end]) {
                if end - start > 1 {
                    done(start, &self.sort_exactly(query, &mut ranked[start..end]));
                }
                start = end;
            }
        }
    }

    /// Whether a point is within a radius.
    pub fn is_within(&self, query: &Query, ranked: RankedPoint, radius: &RadiusTest) -> bool {
        if let Some(decided) = radius.decide(self.at_least(ranked), self.at_most(ranked)) {
            return decided;
        }
        let (query, point) = (query.values(), values((self.cloud, ranked.row as usize)));
        match self.vectors.globe() {
            Some(globe) => radius.contains_position(
                [query, &point].map(|place| globe.longitude_and_latitude([place[0], place[1]])),
            ),
            None => radius.contains(query, &point),
        }
    }

    /// Whether a row has the query's values.
    pub fn is_equal(&self, query: &Query, row: u32) -> bool {
        query.values() == values((self.cloud, row as usize))
    }

    /// Sorts points that f64 does not separate, and returns whether each is as far as the one before.
    fn sort_exactly(&self, query: &Query, run: &mut [RankedPoint]) -> Vec<bool> {
        let tied = |order: &mut [RankedPoint]| {
            order.sort_unstable_by_key(|ranked| ranked.row);
            (0..order.len()).map(|at| at > 0).collect()
        };
        let first = run[0].row as usize;
        if run[1..].iter().all(|ranked| self.cloud.rows_are_equal(first, ranked.row as usize)) {
            return tied(run);
        }
        let query = query.values();
        let points: Vec<Vec<FileValue>> =
            run.iter().map(|ranked| values((self.cloud, ranked.row as usize))).collect();
        if let Some(globe) = self.vectors.globe() {
            let place = |point: &[FileValue]| globe.longitude_and_latitude([point[0], point[1]]);
            let (query, places) = (place(query), points.iter().map(|point| place(point)).collect::<Vec<_>>());
            if places.windows(2).all(|pair| sphere::are_symmetric(query, pair[0], pair[1])) {
                return tied(run);
            }
            let keys = places.iter().map(|&place| sphere::cosine(query, place)).collect();
            return sort_by_keys(run, keys, |a, b| sphere::compare(b, a));
        }
        let scale = Scale::common(points.iter().flatten().chain(query).copied());
        if self.metric != Metric::L2 {
            let key = |point: &Vec<FileValue>| Cosine::new(query, point, scale);
            return sort_by_keys(run, points.iter().map(key).collect(), Cosine::compare);
        }
        let small = |point: &Vec<FileValue>| scale.small_squared_distance(query, point);
        if let Some(keys) = points.iter().map(small).collect::<Option<Vec<u128>>>() {
            sort_by_keys(run, keys, Ord::cmp)
        } else {
            let key = |point: &Vec<FileValue>| scale.squared_distance(query, point);
            sort_by_keys(run, points.iter().map(key).collect(), Ord::cmp)
        }
    }
}

/// The file's values of a row.
pub fn values((cloud, row): (&PointCloud, usize)) -> Vec<FileValue> {
    (0..cloud.dims()).map(|axis| cloud.value(row, axis)).collect()
}

/// How far the vector of a row may be from that of the file's values, if f64 rounds them.
pub fn decimal_error(metric: Metric, cloud: &PointCloud) -> f64 {
    if !cloud.exceeds_f64() {
        0.0
    } else if metric == Metric::L2 {
        longest(cloud) * f64::EPSILON
    } else {
        // A rounded degree moves a position by up to 2π·2⁻⁵³.
        16.0 * f64::EPSILON
    }
}

/// The length of the longest vector that the ranges of a cloud's axes allow.
fn longest(cloud: &PointCloud) -> f64 {
    let largest = |axis: &Axis| axis.min.abs().max(axis.max.abs());
    cloud.axes().iter().map(|axis| largest(axis).powi(2)).sum::<f64>().sqrt()
}

/// The vectors of all rows, if there is memory for them.
fn all_vectors(vectors: &RowVectors, cloud: &PointCloud, dims: usize) -> Option<Vec<f64>> {
    let count = cloud.len().checked_mul(dims)?;
    let bytes = (count as u64).saturating_mul(size_of::<f64>() as u64 * MEMORY_SHARE);
    if memory::available().is_some_and(|free| bytes > free) {
        return None;
    }
    let mut all = memory::room(count)?;
    all.resize(count, 0.0);
    all.par_chunks_mut(dims).enumerate().for_each_init(Vec::new, |vector, (row, to)| {
        vectors.write(cloud, row, vector);
        to.copy_from_slice(vector);
    });
    Some(all)
}

/// Sorts by keys, ties by row, and returns whether each key equals the one before.
fn sort_by_keys<K>(run: &mut [RankedPoint], keys: Vec<K>, compare: impl Fn(&K, &K) -> Ordering) -> Vec<bool> {
    let mut pairs: Vec<(K, RankedPoint)> = keys.into_iter().zip(run.iter().copied()).collect();
    pairs.sort_by(|(a, one), (b, other)| compare(a, b).then(one.row.cmp(&other.row)));
    run.iter_mut().zip(&pairs).for_each(|(ranked, (_, sorted))| *ranked = *sorted);
    let is_tied = |at: usize| at > 0 && compare(&pairs[at - 1].0, &pairs[at].0).is_eq();
    (0..pairs.len()).map(is_tied).collect()
}

/// The cosine of the angle to a query, without the query's length: sign and square of its numerator, and the
/// square of its denominator.
struct Cosine {
    /// (q·p)·|q·p|.
    numerator: BigInt,
    /// |p|².
    denominator: BigInt,
}

impl Cosine {
    fn new(query: &[FileValue], point: &[FileValue], scale: Scale) -> Self {
        Self {
            numerator: signed_square(&scale.inner_product(query, point)),
            denominator: scale.inner_product(point, point),
        }
    }

    /// The larger cosine is nearer.
    fn compare(&self, other: &Self) -> Ordering {
        (&other.numerator * &self.denominator).cmp(&(&self.numerator * &other.denominator))
    }
}

/// x·|x|, which is ordered like x.
pub fn signed_square(x: &BigInt) -> BigInt {
    let square = x * x;
    if x.sign() == Sign::Minus { -square } else { square }
}
