//! Rows in f64, as a metric compares them.

use crate::cloud::globe::EARTH_RADIUS_KM;
use crate::cloud::{Globe, PointCloud};
use crate::knn::Metric;

/// The vectors of a cloud's rows whose L2 distance orders them under a metric: the file's values, or unit
/// vectors.
#[derive(Clone, Copy)]
pub struct RowVectors {
    metric: Metric,
    /// For metrics on the sphere.
    globe: Option<Globe>,
}

impl RowVectors {
    pub fn new(metric: Metric, cloud: &PointCloud) -> Self {
        Self { metric, globe: Globe::from_axes(cloud.axes()).ok() }
    }

    /// The distance of two vectors in the metric's unit. Angles follow Kahan, "How futile are mindless
    /// assessments of roundoff" (2006), §12: 2·atan2(|a − b|, |a + b|) of unit vectors.
    pub fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let sum = |of: fn(f64, f64) -> f64| a.iter().zip(b).map(|(&a, &b)| of(a, b) * of(a, b)).sum::<f64>();
        let squared = sum(|a, b| a - b);
        let angle = || 2.0 * squared.sqrt().atan2(sum(|a, b| a + b).sqrt());
        match self.metric {
            Metric::L2 => squared.sqrt(),
            Metric::Cosine => squared / 2.0,
            Metric::Angular => angle(),
            Metric::Sky => angle().to_degrees(),
            Metric::Haversine => EARTH_RADIUS_KM * angle(),
        }
    }

    /// Whether two rows are within a distance, in the metric's unit.
    pub fn are_within(&self, rows: [(&PointCloud, usize); 2], radius: f64) -> bool {
        let [a, b] = rows.map(|(cloud, row)| self.vector(cloud, row));
        match self.metric {
            Metric::L2 => a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() <= radius * radius,
            _ => self.distance(&a, &b) <= radius,
        }
    }

    pub fn vector(&self, cloud: &PointCloud, row: usize) -> Vec<f64> {
        let mut vector = Vec::with_capacity(cloud.dims());
        self.write(cloud, row, &mut vector);
        vector
    }

    /// Replaces the content of `vector`.
    pub fn write(&self, cloud: &PointCloud, row: usize, vector: &mut Vec<f64>) {
        vector.clear();
        if let (Metric::Haversine | Metric::Sky, Some(globe)) = (self.metric, self.globe) {
            vector.extend(globe.row_unit_vector(cloud, row));
            return;
        }
        vector.extend((0..cloud.dims()).map(|axis| cloud.coordinate(row, axis)));
        if self.metric.compares_directions() {
            // Scaled first, to avoid overflow and underflow of squares.
            let largest = vector.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
            let length = vector.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt();
            vector.iter_mut().for_each(|value| *value = *value / largest / length);
        }
    }
}
