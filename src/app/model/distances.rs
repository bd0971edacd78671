//! Distances from a point to rows of a cloud, and between two rows.

use super::answer_summary::distance_text;
use crate::cloud::{GlobeAxes, PointCloud};
use crate::knn::Metric;
use crate::text;

/// Distances from one point to the rows of a cloud.
pub struct PointDistances<'a> {
    cloud: &'a PointCloud,
    metric: Metric,
    from: Origin,
}

/// The point, prepared for a metric.
enum Origin {
    /// Relative to the axes' origins, as the cloud's own points are.
    Local(Vec<f32>),
    /// A unit vector.
    Direction(Vec<f64>),
    OnGlobe(GlobeAxes, [f64; 3]),
    /// The metric is undefined at this point.
    Nowhere,
}

impl<'a> PointDistances<'a> {
    /// From a point in the file's coordinates.
    pub fn new(cloud: &'a PointCloud, place: &[f64], metric: Metric) -> Self {
        let from = match metric {
            Metric::L2 => Origin::Local(
                place.iter().zip(cloud.axes()).map(|(&value, axis)| (value - axis.origin) as f32).collect(),
            ),
            Metric::Angular | Metric::Cosine => {
                let norm = place.iter().map(|value| value * value).sum::<f64>().sqrt();
                if norm > 0.0 {
                    Origin::Direction(place.iter().map(|value| value / norm).collect())
                } else {
                    Origin::Nowhere
                }
            }
            Metric::Haversine | Metric::Sky => match (GlobeAxes::from_axes(cloud.axes()), place) {
                (Ok(globe), &[first, second]) => Origin::OnGlobe(globe, globe.unit_vector([first, second])),
                _ => Origin::Nowhere,
            },
        };
        Self { cloud, metric, from }
    }

    /// The true distance to a row: √ of the squared distance, angle in radians, 1 − cos of the angle, or km
    /// on the globe. NaN if row or point has no direction, or if the columns are not longitude and latitude.
    pub fn to(&self, row: usize) -> f64 {
        let dims = self.cloud.dims();
        match &self.from {
            Origin::Local(local) => {
                let point = &self.cloud.points()[row * dims..][..dims];
                point
                    .iter()
                    .zip(local)
                    .map(|(&p, &q)| (f64::from(p) - f64::from(q)).powi(2))
                    .sum::<f64>()
                    .sqrt()
            }
            Origin::Direction(direction) => {
                let point = || (0..dims).map(|axis| self.cloud.coordinate(row, axis));
                let norm = point().map(|p| p * p).sum::<f64>().sqrt();
                let chord: f64 = point().zip(direction).map(|(p, q)| (p / norm - q).powi(2)).sum();
                if norm > 0.0 { self.metric.distance(chord as f32) } else { f64::NAN }
            }
            Origin::OnGlobe(globe, from) => {
                let point = globe.row_unit_vector(self.cloud, row);
                let chord: f64 = point.iter().zip(from).map(|(p, q)| (p - q).powi(2)).sum();
                self.metric.distance(chord as f32)
            }
            Origin::Nowhere => f64::NAN,
        }
    }
}

// Distance between two rows, and each axis's share of it.

const AXES: usize = 4;

/// `Rows 3 and 8 are 1.414 apart: x 50 % (1.000), y 50 % (-1.000).` Under L2, shares are those of the squared
/// distance; parentheses hold the difference along the axis, second row minus first. `None` if the metric is
/// undefined for either row.
pub fn pair_sentence(cloud: &PointCloud, a: u32, b: u32, metric: Metric) -> Option<String> {
    let place =
        |row: u32| (0..cloud.dims()).map(|axis| cloud.coordinate(row as usize, axis)).collect::<Vec<f64>>();
    let ways: Vec<f64> = place(b).iter().zip(place(a)).map(|(to, from)| to - from).collect();
    let distance = PointDistances::new(cloud, &place(a), metric).to(b as usize);
    if distance.is_nan() {
        return None;
    }
    let [a, b] = [a, b].map(|row| text::thousands(cloud.record(row as usize)));
    let apart = format!("Rows {a} and {b} are {} apart", distance_text(metric, distance));
    if metric != Metric::L2 || distance == 0.0 || cloud.dims() < 2 {
        return Some(format!("{apart}."));
    }
    let mut axes: Vec<usize> = (0..cloud.dims()).collect();
    axes.sort_by(|&a, &b| ways[b].abs().total_cmp(&ways[a].abs()));
    let share = |&axis: &usize| {
        let part = 100.0 * ways[axis].powi(2) / distance.powi(2);
        format!("{} {} % ({})", cloud.axes()[axis].name, text::digits(part, 2), text::digits(ways[axis], 4))
    };
    let more = if axes.len() > AXES { ", …" } else { "" };
    Some(format!("{apart}: {}{more}.", axes.iter().take(AXES).map(share).collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud_of;

    #[test]
    fn distance_sentences_give_the_share_of_each_axis() {
        let plane = cloud_of(&["x", "y"], &[0.0, 0.0, 4.0, -3.0, 4.0, -3.0]);
        assert_eq!(
            pair_sentence(&plane, 0, 1, Metric::L2).as_deref(),
            Some("Rows 0 and 1 are 5.000 apart: x 64 % (4.000), y 36 % (-3.000).")
        );
        assert_eq!(pair_sentence(&plane, 1, 2, Metric::L2).as_deref(), Some("Rows 1 and 2 are 0 apart."));
        assert_eq!(pair_sentence(&plane, 0, 1, Metric::Angular), None, "the origin has no direction");
    }

    #[test]
    fn haversine_distances_are_in_km() {
        let globe = cloud_of(&["longitude", "latitude"], &[0.0, 0.0, 90.0, 0.0]);
        let said = pair_sentence(&globe, 0, 1, Metric::Haversine).expect("a distance");
        assert!(said.starts_with("Rows 0 and 1 are 10,0") && said.ends_with(" km apart."), "{said}");
    }
}
