//! Counts of work so far, beside the theoretical bounds.

use super::state::{Counts, Shape, State};
use crate::knn::network::Cost;
use crate::knn::theory;

/// Counters and their bounds at one position of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedCounts {
    /// Work done up to the position.
    pub counts: Counts,
    /// Bounds on the means if the points seen so far, in random order, were the whole cloud.
    pub expected: ExpectedCounts,
    /// The same bounds for all n points.
    pub expected_at_end: ExpectedCounts,
    /// Merges if every point were a candidate: ⌈n / K⌉.
    pub worst_merges: u64,
}

/// Bounds on means (see [`theory`]), and the resulting work of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExpectedCounts {
    /// Candidates appended to the buffer.
    pub candidates: f64,
    /// Merges, the final one included.
    pub merges: f64,
    /// Comparators in all layers of all merges.
    pub compare_exchanges: f64,
    /// Warp-wide shuffles of one key per lane.
    pub shuffles: f64,
}

/// Counts and bounds for a state.
pub fn account(state: &State) -> BoundedCounts {
    let shape = state.shape;
    BoundedCounts {
        counts: state.counts,
        expected: expected(shape, state.counts.points_seen),
        expected_at_end: expected(shape, shape.n),
        worst_merges: theory::worst_case_merges(shape.n as usize, shape.capacity() as usize),
    }
}

/// The bounds for a number of points in random order.
pub fn expected(shape: Shape, points: u32) -> ExpectedCounts {
    if points == 0 {
        return ExpectedCounts::default();
    }
    let (n, k, capacity) = (points as usize, shape.k as usize, shape.capacity() as usize);
    let merges = theory::expected_merges(n, k, capacity);
    let cost = Cost::for_merge(shape.width, shape.registers);
    ExpectedCounts {
        candidates: theory::expected_candidates(n, k, capacity),
        merges,
        compare_exchanges: merges * cost.compare_exchanges as f64,
        shuffles: merges * cost.shuffles as f64,
    }
}
