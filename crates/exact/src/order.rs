//! Sorts points by their real distance to a query.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use crate::cloud::{Globe, PointCloud};
use crate::knn::Metric;
use crate::scaled;
use crate::sphere;
use crate::vectors::RowVectors;

/// Values that are summed one after another; the sums of blocks are added afterwards.
const BLOCK: usize = 16;

/// A point with its distance to a query as f64 computes it, within the bounds of [`Ranking`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    pub row: u32,
    /// L2 distance of [`RowVectors`].
    pub distance: f64,
}

/// The order of a cloud's rows around rows of `queries`, by their real-number distances, ties by row.
#[derive(Clone, Copy)]
pub struct Ranking<'a> {
    metric: Metric,
    cloud: &'a PointCloud,
    queries: &'a PointCloud,
    pub vectors: RowVectors,
    globe: Option<Globe>,
    /// Relative error bound of a distance in f64.
    relative: f64,
    /// Absolute error bound, of unit vectors.
    absolute: f64,
}

impl<'a> Ranking<'a> {
    pub fn new(metric: Metric, cloud: &'a PointCloud, queries: &'a PointCloud) -> Self {
        let (unit, dims) = (f64::EPSILON / 2.0, metric.dims(cloud.dims()) as f64);
        // Each term of a blocked sum passes through BLOCK + d/BLOCK additions.
        let relative = (BLOCK as f64 + dims / BLOCK as f64 + 8.0) * unit;
        let absolute = match metric {
            // Squares below f64's range vanish.
            Metric::L2 => dims.sqrt() * 2f64.powi(-537),
            // A norm is a plain sum of d squares; half of its relative error moves the vector along itself.
            Metric::Angular | Metric::Cosine => 2.0 * (dims / 2.0 + 8.0) * unit,
            // Sine and cosine of degrees are right to a few units in the last place.
            Metric::Haversine | Metric::Sky => 32.0 * unit,
        };
        let vectors = RowVectors::new(metric, cloud);
        let globe = Globe::from_axes(cloud.axes()).ok().filter(|_| metric.is_on_sphere());
        Self { metric, cloud, queries, vectors, globe, relative, absolute }
    }

    /// An upper bound on the real distance of a ranked point.
    pub fn at_most(&self, ranked: Ranked) -> f64 {
        ranked.distance * (1.0 + self.relative) + self.absolute
    }

    fn at_least(&self, ranked: Ranked) -> f64 {
        ranked.distance * (1.0 - self.relative) - self.absolute
    }

    /// The rows of the cloud, nearest first.
    pub fn sorted(&self, query_row: usize, rows: impl Iterator<Item = u32>) -> Vec<Ranked> {
        let query = self.vectors.vector(self.queries, query_row);
        let mut vector = Vec::with_capacity(query.len());
        let distance = |row| {
            self.vectors.write(self.cloud, row as usize, &mut vector);
            Ranked { row, distance: squared_distance(&query, &vector).sqrt() }
        };
        let mut ranked: Vec<Ranked> = rows.map(distance).collect();
        ranked.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
        // Neighbouring points whose intervals overlap form a run; f64 separates points of different runs.
        let mut start = 0;
        for end in 1..=ranked.len() {
            if end == ranked.len() || self.at_most(ranked[end - 1]) < self.at_least(ranked[end]) {
                if end - start > 1 {
                    self.sort_exactly(query_row, &mut ranked[start..end]);
                }
                start = end;
            }
        }
        ranked
    }

    /// Sorts points that f64 does not separate.
    fn sort_exactly(&self, query_row: usize, run: &mut [Ranked]) {
        let values = |cloud: &PointCloud, row: usize| -> Vec<f64> {
            (0..cloud.dims()).map(|axis| cloud.coordinate(row, axis)).collect()
        };
        let query = values(self.queries, query_row);
        let points: Vec<Vec<f64>> =
            run.iter().map(|ranked| values(self.cloud, ranked.row as usize)).collect();
        let tied = |order: &mut [Ranked]| order.sort_unstable_by_key(|ranked| ranked.row);
        if points.windows(2).all(|pair| pair[0] == pair[1]) {
            return tied(run);
        }
        match (self.metric, self.globe) {
            (Metric::L2, _) => {
                let exponent = scaled::common_exponent(points.iter().flatten().chain(&query));
                let small = |point| scaled::small_squared_distance(&query, point, exponent);
                if let Some(keys) = points.iter().map(|point| small(point)).collect::<Option<Vec<u128>>>() {
                    sort_by_keys(run, keys, Ord::cmp);
                } else {
                    let key = |point: &Vec<f64>| scaled::squared_distance(&query, point, exponent);
                    sort_by_keys(run, points.iter().map(key).collect(), Ord::cmp);
                }
            }
            (Metric::Haversine | Metric::Sky, Some(globe)) => {
                let place = |point: &Vec<f64>| globe.longitude_and_latitude([point[0], point[1]]);
                let (query, places) = (place(&query), points.iter().map(place).collect::<Vec<_>>());
                if places.windows(2).all(|pair| sphere::are_symmetric(query, pair[0], pair[1])) {
                    return tied(run);
                }
                let keys = places.iter().map(|&place| sphere::cosine(query, place)).collect();
                sort_by_keys(run, keys, sphere::compare);
            }
            _ => {
                let exponent = scaled::common_exponent(points.iter().flatten().chain(&query));
                let key = |point: &Vec<f64>| Cosine::new(&query, point, exponent);
                sort_by_keys(run, points.iter().map(key).collect(), Cosine::compare);
            }
        }
    }
}

/// Sorts by keys, ties by row.
fn sort_by_keys<K>(run: &mut [Ranked], keys: Vec<K>, compare: impl Fn(&K, &K) -> Ordering) {
    let mut pairs: Vec<(K, Ranked)> = keys.into_iter().zip(run.iter().copied()).collect();
    pairs.sort_by(|(a, one), (b, other)| compare(a, b).then(one.row.cmp(&other.row)));
    run.iter_mut().zip(pairs).for_each(|(ranked, (_, sorted))| *ranked = sorted);
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
    fn new(query: &[f64], point: &[f64], exponent: i32) -> Self {
        let product = scaled::inner_product(query, point, exponent);
        let square = &product * &product;
        let numerator = if product.sign() == Sign::Minus { -square } else { square };
        Self { numerator, denominator: scaled::inner_product(point, point, exponent) }
    }

    /// The larger cosine is nearer.
    fn compare(&self, other: &Self) -> Ordering {
        (&other.numerator * &self.denominator).cmp(&(&self.numerator * &other.denominator))
    }
}

/// The squared distance of two vectors, summed in blocks.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let block = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    a.chunks(BLOCK).zip(b.chunks(BLOCK)).map(block).sum()
}
