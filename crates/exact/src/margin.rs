//! Bounds between the real distance of two rows and the squared distance that engines compute.
//!
//! With u = 2⁻²⁴, stored coordinates differ from the file's by a vector of length at most u·‖p‖, and rule 1
//! rounds d + 2 times per term, so that a computed squared distance s and the real distance D' of the stored
//! coordinates satisfy D'²(1 − γ) − η ≤ s ≤ D'²(1 + γ) + η, with γ = (d + 2)u / (1 − (d + 2)u) and η =
//! d·2⁻¹⁴⁹ for underflow (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, §3.1).
//! Decimals of a text differ from their f64 values by at most 2⁻⁵³ of themselves.

use crate::cloud::{Axis, PointCloud};
use crate::knn::Metric;
use crate::order::decimal_error;

/// Covers the roundings of the bounds themselves, which are computed in f64.
const SLACK: f64 = 1.0 + 1e-12;

/// How far rounding can move the distances of two clouds' rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// γ: the largest relative change of a squared distance by the summation.
    summation: f64,
    /// η: the largest absolute change of a squared distance by underflow.
    underflow: f64,
    /// The largest change of a distance by rounding of coordinates, without the part below.
    coordinates: f64,
    /// The part of that change that grows with the distance, as a query may be far from the points.
    growth: f64,
}

impl Margin {
    /// The margin between rows of a cloud and of `queries`.
    pub fn new(metric: Metric, cloud: &PointCloud, queries: &PointCloud) -> Self {
        let dims = metric.dims(cloud.dims()) as f64;
        let summation = (dims + 2.0) * unit();
        let is_exact = sums_are_exact(metric, cloud, queries);
        let summation = if is_exact { 0.0 } else { summation / (1.0 - summation) };
        // Integers are decimals that f64 does not round.
        let decimals: f64 = if is_exact {
            0.0
        } else {
            [cloud, queries].into_iter().map(|cloud| decimal_error(metric, cloud)).sum()
        };
        let (coordinates, growth) = if metric != Metric::L2 {
            // Unit vectors: computed in f64, with an error below 2⁻⁴⁸ + d·2⁻⁵³, then rounded.
            (2.0 * (unit() + 2f64.powi(-48) + dims * 2f64.powi(-53)), 0.0)
        } else if cloud.is_rounded() || queries.is_rounded() {
            let length = |axis: &Axis| (axis.min - axis.origin).abs().max((axis.max - axis.origin).abs());
            let longest = cloud.axes().iter().map(|axis| length(axis).powi(2)).sum::<f64>().sqrt();
            // Coordinates below f32's normal range are rounded to multiples of 2⁻¹⁴⁹.
            let relative = unit() + 2f64.powi(-52);
            (2.0 * relative * longest + dims.sqrt() * 2f64.powi(-148), relative)
        } else {
            (0.0, 0.0)
        };
        let underflow = dims * 2f64.powi(-149);
        Self { summation, underflow, coordinates: coordinates + decimals, growth }
    }

    /// Whether computed squared distances are exact, so that their order is that of the file's values.
    pub fn is_zero(&self) -> bool {
        (self.summation, self.coordinates) == (0.0, 0.0)
    }

    /// A lower bound on the real distance of rows with this computed squared distance.
    pub fn at_least(&self, squared: f32) -> f64 {
        let squared = f64::from(squared.min(f32::MAX));
        let stored = ((squared - self.underflow).max(0.0) / (1.0 + self.summation)).sqrt();
        ((stored - self.coordinates) / (1.0 + self.growth)).max(0.0) / SLACK
    }

    /// An upper bound on the computed squared distance of rows within this real distance.
    pub fn squared_at_most(&self, distance: f64) -> f32 {
        let stored = distance * (1.0 + self.growth) + self.coordinates;
        let squared = (stored * stored * (1.0 + self.summation) + self.underflow) * SLACK * SLACK;
        // Conversion rounds to the nearest, which may be below.
        (squared as f32).next_up().min(f32::MAX)
    }

    /// Rows with at most this computed squared distance are within the real distance. Negative if no row is
    /// for certain.
    pub fn squared_surely_within(&self, distance: f64) -> f32 {
        let stored = distance * (1.0 - self.growth) / SLACK - self.coordinates;
        let squared = stored * stored * (1.0 - self.summation) - self.underflow;
        if stored > 0.0 && squared > 0.0 {
            ((squared / SLACK) as f32).next_down().min(f32::MAX)
        } else {
            -1.0
        }
    }

    /// A margin of a fraction of this one, which proves nothing.
    #[cfg(test)]
    pub fn scaled(self, by: f64) -> Self {
        Self {
            summation: self.summation * by,
            underflow: self.underflow * by,
            coordinates: self.coordinates * by,
            growth: self.growth * by,
        }
    }
}

/// u: half the distance from 1 to the next f32.
fn unit() -> f64 {
    2f64.powi(-24)
}

/// Whether no step of any sum rounds: all coordinates are integers, and squared distances are at most 2²⁴.
fn sums_are_exact(metric: Metric, cloud: &PointCloud, queries: &PointCloud) -> bool {
    let both = cloud.axes().iter().zip(queries.axes());
    let extent =
        |(points, queries): (&Axis, &Axis)| points.max.max(queries.max) - points.min.min(queries.min);
    metric == Metric::L2
        && !(cloud.is_rounded() || queries.is_rounded())
        && !(cloud.has_long_decimals() || queries.has_long_decimals())
        && both.map(|axes| extent(axes).powi(2)).sum::<f64>() <= f64::from(1 << 24)
        && cloud.is_whole()
        && queries.is_whole()
}
