//! What a picture of all points needs of them: worked out once, as there may be very many.

use crate::knn::Problem;

/// The most points that are drawn.
const MOST: usize = 20_000;

/// Chooses the points that are drawn, where they are too many.
const SEED: u64 = 0x5eed;

/// Where points lie on the first two axes, and which of them stand for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// The smallest coordinates, the query's among them; 0 on an axis that is not there.
    pub low: [f32; 2],
    /// The largest.
    pub high: [f32; 2],
    /// All points, or 20,000 of them drawn at random, ascending.
    pub points: Vec<u32>,
}

impl Overview {
    /// Of a problem's points and one query.
    pub fn of(problem: &Problem, query: usize) -> Self {
        let (dims, query) = (problem.dims(), problem.query(query));
        let mut low = [query[0], query.get(1).copied().unwrap_or(0.0)];
        let mut high = low;
        for point in problem.points().chunks_exact(dims) {
            for axis in 0..dims.min(2) {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
        Self { low, high, points: part(problem.n()) }
    }
}

/// All points, or a part of them, chosen by the seed.
fn part(n: usize) -> Vec<u32> {
    if n <= MOST {
        return (0..n as u32).collect();
    }
    // Every point has a number of its own; those with the smallest ones are drawn.
    let mixed = |point: u32| {
        let mut bits = (u64::from(point) ^ SEED).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    // Twice: first nearly as many as are wanted, so that few have to be put in order.
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
