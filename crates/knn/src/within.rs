//! Radius search: all points within a distance.

use super::{EngineError, Metric, Problem};

/// An index over a problem's points that lists all points within a distance.
pub trait RadiusIndex: Send + Sync {
    /// Calls `found` with the position and squared distance of every point whose squared distance to `query`,
    /// by the rule of all engines, is at most `limit`. The order is unspecified.
    fn visit(&self, query: &[f32], limit: f32, found: &mut dyn FnMut(u32, f32));
}

/// Opens an index over the problem's points on the CPU, building it unless it is cached.
pub type Opener = for<'a> fn(&'a Problem) -> Result<Box<dyn RadiusIndex + 'a>, EngineError>;

/// The greatest squared distance whose distance is at most `radius`, in the metric's unit. A point is within
/// the radius if its squared distance does not exceed it. `None` if the radius is negative or NaN.
pub fn limit(metric: Metric, radius: f64) -> Option<f32> {
    if radius.is_nan() || radius < 0.0 {
        return None;
    }
    // Non-negative floats are ordered like their bits, and distances rise with their squares.
    let (mut within, mut beyond) = (0, f32::MAX.to_bits() + 1);
    while beyond - within > 1 {
        let middle = within + (beyond - within) / 2;
        if metric.distance(f32::from_bits(middle)) <= radius { within = middle } else { beyond = middle }
    }
    Some(f32::from_bits(within))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_squared_limit_is_the_largest_within_the_radius() {
        for metric in Metric::ALL {
            for radius in match metric {
                Metric::L2 => [0.0, 1e-30, 0.1, 1.0, 3.0, 1e18],
                Metric::Angular => [0.0, 1e-7, 0.1, 1.0, 3.0, 3.2],
                Metric::Cosine => [0.0, 1e-12, 0.1, 1.0, 1.9, 2.1],
                Metric::Sky => [0.0, 1e-6, 0.5, 5.0, 90.0, 181.0],
                Metric::Haversine => [0.0, 0.001, 0.5, 5.0, 10_000.0, 21_000.0],
            } {
                let limit = limit(metric, radius).unwrap();
                assert!(metric.distance(limit) <= radius, "{metric}, {radius}");
                assert!(limit == f32::MAX || metric.distance(limit.next_up()) > radius, "{metric}, {radius}");
            }
        }
        assert_eq!(
            (limit(Metric::L2, 3.0), limit(Metric::L2, -1.0), limit(Metric::L2, f64::NAN)),
            (Some(9.0), None, None)
        );
        assert_eq!(limit(Metric::L2, f64::INFINITY), Some(f32::MAX));
    }
}
