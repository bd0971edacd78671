//! Rows in f64, as a metric compares them.

use multiversion::multiversion;

use crate::cloud::globe::EARTH_RADIUS_KM;
use crate::cloud::{GlobeAxes, PointCloud};
use crate::knn::Metric;
use crate::knn::exact_distances::LANES;

/// The vectors of a cloud's rows whose L2 distance orders them under a metric: the file's values, these times
/// `decimal_scale`, or unit vectors.
#[derive(Clone, Copy)]
pub struct RowVectors {
    metric: Metric,
    /// For metrics on the sphere.
    globe: Option<GlobeAxes>,
    /// Power of ten that makes decimals integers, which f64 does not round; 1 otherwise.
    decimal_scale: f64,
}

impl RowVectors {
    pub fn new(metric: Metric, cloud: &PointCloud) -> Self {
        Self {
            metric,
            globe: GlobeAxes::from_axes(cloud.axes()).ok().filter(|_| metric.is_on_sphere()),
            decimal_scale: 1.0,
        }
    }

    /// Vectors of decimals as integers of a common unit. `None` if they are not decimals of few digits, or if
    /// only their directions or angles count.
    pub fn with_whole_decimals(self, cloud: &PointCloud, queries: &PointCloud) -> Option<Self> {
        let places = cloud.decimal_places()?.max(queries.decimal_places()?);
        let fit = [cloud, queries].iter().all(|cloud| cloud.fits_decimal_places(places));
        (self.metric == Metric::L2 && fit).then(|| Self { decimal_scale: 10f64.powi(places as i32), ..self })
    }

    /// The unit's reciprocal: 1 unless vectors are whole decimals.
    pub fn decimal_scale(&self) -> f64 {
        self.decimal_scale
    }

    /// The globe of metrics on the sphere.
    pub fn globe(&self) -> Option<GlobeAxes> {
        self.globe
    }

    /// Whether vectors are unit vectors of the file's values.
    pub fn are_normalised(&self) -> bool {
        self.globe.is_none() && self.metric.compares_directions()
    }

    /// The distance of two vectors in the metric's unit, given their L2 distance. Angles follow Kahan, "How
    /// futile are mindless assessments of roundoff" (2006), §12: 2·atan2(|a − b|, |a + b|) of unit vectors.
    pub fn distance(&self, chord: f64, a: &[f64], b: &[f64]) -> f64 {
        let angle = || {
            // |a + b|² = 4 − |a − b|², without cancellation while vectors are not nearly opposite.
            let squared = if chord <= 1.0 {
                4.0 - chord * chord
            } else {
                a.iter().zip(b).map(|(a, b)| (a + b) * (a + b)).sum()
            };
            2.0 * chord.atan2(squared.sqrt())
        };
        match self.metric {
            Metric::L2 => chord,
            Metric::Cosine => (chord * chord / 2.0).clamp(0.0, 2.0),
            Metric::Angular => angle(),
            Metric::Sky => angle().to_degrees(),
            Metric::Haversine => EARTH_RADIUS_KM * angle(),
        }
    }

    pub fn vector(&self, cloud: &PointCloud, row: usize) -> Vec<f64> {
        let mut vector = Vec::with_capacity(cloud.dims());
        self.write(cloud, row, &mut vector);
        vector
    }

    /// The distance of two rows' vectors in the metric's unit.
    pub fn between(&self, a: &[f64], b: &[f64]) -> f64 {
        let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        self.distance(squared.sqrt(), a, b)
    }

    /// Replaces the content of `vector`.
    pub fn write(&self, cloud: &PointCloud, row: usize, vector: &mut Vec<f64>) {
        vector.clear();
        if let Some(globe) = self.globe {
            vector.extend(globe.row_unit_vector(cloud, row));
            return;
        }
        vector.extend((0..cloud.dims()).map(|axis| cloud.coordinate(row, axis)));
        if self.decimal_scale > 1.0 {
            vector.iter_mut().for_each(|value| *value = (*value * self.decimal_scale).round());
        }
        if self.metric.compares_directions() {
            let largest = vector.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
            if !(1e-100..1e100).contains(&largest) {
                // By a power of two, so that squares neither overflow nor underflow.
                let scale = 2f64.powi(-(largest.log2() as i32 / 2));
                vector.iter_mut().for_each(|value| *value *= scale);
                vector.iter_mut().for_each(|value| *value *= scale);
            }
            let scale = 1.0 / squared_length(vector).sqrt();
            vector.iter_mut().for_each(|value| *value *= scale);
        }
    }
}

/// The sum of `term(0..count)`, in [`LANES`] sums.
#[inline(always)]
fn sum_in_lanes(count: usize, term: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let whole = count - count % LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += term(start + lane);
        }
    }
    let rest: f64 = (whole..count).map(term).sum();
    if whole == 0 { rest } else { sums.iter().sum::<f64>() + rest }
}

/// The squared L2 distance of f64 vectors. The bits are the same on every processor: nothing is fused.
#[multiversion(targets("x86_64+avx2", "aarch64+neon"))]
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    sum_in_lanes(a.len(), |at| (a[at] - b[at]) * (a[at] - b[at]))
}

/// Like [`squared_distance`] of the vector of f64 values, without converting them first.
#[multiversion(targets("x86_64+avx2", "aarch64+neon"))]
pub fn squared_distance_of_f32(a: &[f64], b: &[f32]) -> f64 {
    let b = &b[..a.len()];
    sum_in_lanes(a.len(), |at| {
        let difference = a[at] - f64::from(b[at]);
        difference * difference
    })
}

/// Like [`squared_distance`] of the unit vector of f64 values.
#[multiversion(targets("x86_64+avx2", "aarch64+neon"))]
pub fn squared_distance_of_direction(a: &[f64], b: &[f32]) -> f64 {
    let b = &b[..a.len()];
    let length = sum_in_lanes(a.len(), |at| f64::from(b[at]) * f64::from(b[at]));
    let scale = 1.0 / length.sqrt();
    sum_in_lanes(a.len(), |at| {
        let difference = a[at] - f64::from(b[at]) * scale;
        difference * difference
    })
}

#[multiversion(targets("x86_64+avx2", "aarch64+neon"))]
fn squared_length(values: &[f64]) -> f64 {
    sum_in_lanes(values.len(), |at| values[at] * values[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_distance_variants_are_bitwise_identical() {
        for dims in [1, 3, 15, 16, 17, 100, 768] {
            let value = |at: usize| ((at * 7919 % 977) as f32 - 400.0) * 0.37;
            let stored: Vec<f32> = (0..dims).map(value).collect();
            let query: Vec<f64> = (0..dims).map(|at| f64::from(value(at + 13))).collect();
            let wide: Vec<f64> = stored.iter().copied().map(f64::from).collect();
            assert_eq!(squared_distance(&query, &wide), squared_distance_of_f32(&query, &stored));
            let scale = 1.0 / squared_length(&wide).sqrt();
            let unit: Vec<f64> = wide.iter().map(|value| value * scale).collect();
            assert_eq!(squared_distance(&query, &unit), squared_distance_of_direction(&query, &stored));
        }
    }
}
