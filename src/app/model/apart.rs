//! How far rows of a cloud are from a place.

use crate::cloud::{Globe, PointCloud};
use crate::knn::Metric;

/// Distances from one place to the rows of a cloud.
pub struct Apart<'a> {
    cloud: &'a PointCloud,
    metric: Metric,
    from: Place,
}

/// The place, as a metric takes it.
enum Place {
    /// Less the origins of the axes, as points are kept.
    Local(Vec<f32>),
    /// As a unit vector.
    Direction(Vec<f64>),
    OnGlobe(Globe, [f64; 3]),
    /// The metric tells no distance from it.
    Nowhere,
}

impl<'a> Apart<'a> {
    /// From a place given in the file's coordinates.
    pub fn new(cloud: &'a PointCloud, place: &[f64], metric: Metric) -> Self {
        let from = match metric {
            Metric::L2 => Place::Local(place.iter().zip(cloud.axes()).map(|(&value, axis)| (value - axis.origin) as f32).collect()),
            Metric::Angular | Metric::Cosine => {
                let norm = place.iter().map(|value| value * value).sum::<f64>().sqrt();
                if norm > 0.0 { Place::Direction(place.iter().map(|value| value / norm).collect()) } else { Place::Nowhere }
            }
            Metric::Haversine | Metric::Sky => match (Globe::of(cloud.axes()), place) {
                (Ok(globe), &[first, second]) => Place::OnGlobe(globe, globe.unit([first, second])),
                _ => Place::Nowhere,
            },
        };
        Self { cloud, metric, from }
    }

    /// √ of the squared distance, the angle in radians, 1 − cos of it, or km on the globe. NaN for a row or a place without a direction, and where the
    /// columns are no longitude and latitude.
    pub fn to(&self, row: usize) -> f64 {
        let dims = self.cloud.dims();
        match &self.from {
            Place::Local(local) => {
                let point = &self.cloud.points()[row * dims..][..dims];
                point.iter().zip(local).map(|(&p, &q)| (f64::from(p) - f64::from(q)).powi(2)).sum::<f64>().sqrt()
            }
            Place::Direction(direction) => {
                let point = || (0..dims).map(|axis| self.cloud.coordinate(row, axis));
                let norm = point().map(|p| p * p).sum::<f64>().sqrt();
                let chord: f64 = point().zip(direction).map(|(p, q)| (p / norm - q).powi(2)).sum();
                if norm > 0.0 { self.metric.distance(chord as f32) } else { f64::NAN }
            }
            Place::OnGlobe(globe, from) => {
                let point = globe.unit_of(self.cloud, row);
                let chord: f64 = point.iter().zip(from).map(|(p, q)| (p - q).powi(2)).sum();
                self.metric.distance(chord as f32)
            }
            Place::Nowhere => f64::NAN,
        }
    }
}
