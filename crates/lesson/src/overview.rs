//! The extent of all points and a sample for drawing, computed once because there may be very many.

use crate::knn::Problem;

/// Maximum number of points drawn.
const MOST: usize = 20_000;

/// Seed of the sample.
const SEED: u64 = 0x5eed;

/// The extent of the points on the first two axes, and the points that are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// The smallest coordinates, including the query's; 0 on a missing axis.
    pub low: [f32; 2],
    /// The largest coordinates, including the query's; 0 on a missing axis.
    pub high: [f32; 2],
    /// All points, or a random sample of 20,000, ascending.
    pub points: Vec<u32>,
}

impl Overview {
    /// Computes the extent and the sample for a problem and one query.
    pub fn of(problem: &Problem, query: usize) -> Self {
        let (dims, query) = (problem.dims(), problem.query(query));
        let low = [query[0], query.get(1).copied().unwrap_or(0.0)];
        let mut overview = Self { low, high: low, points: sample(problem.n()) };
        overview.widen(problem.points(), dims);
        overview
    }

    /// Extends it to further points, row-major.
    pub fn widen(&mut self, points: &[f32], dims: usize) {
        for point in points.chunks_exact(dims) {
            for ((low, high), &value) in self.low.iter_mut().zip(&mut self.high).zip(point) {
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
    }
}

/// All points, or a random sample of [`MOST`].
fn sample(n: usize) -> Vec<u32> {
    if n <= MOST {
        return (0..n as u32).collect();
    }
    // Each point gets a pseudo-random number; those with the smallest numbers are drawn.
    let mixed = |point: u32| {
        let mut bits = (u64::from(point) ^ SEED).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    // A threshold slightly above the expected one first, so that few numbers have to be sorted.
    let limit = (MOST as f64 * 1.1 / n as f64 * u64::MAX as f64) as u64;
    let mut chosen: Vec<(u64, u32)> = (0..n as u32).map(|point| (mixed(point), point)).filter(|(number, _)| *number < limit).collect();
    if chosen.len() > MOST {
        chosen.select_nth_unstable(MOST - 1);
        chosen.truncate(MOST);
    }
    let mut points: Vec<u32> = chosen.into_iter().map(|(_, point)| point).collect();
    points.sort_unstable();
    points
}
