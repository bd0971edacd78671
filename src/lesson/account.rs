//! What was done so far, beside what the theory expects.

use super::state::{Counts, Shape, State};
use crate::knn::network::Cost;
use crate::knn::theory;

/// Counted and expected, at one place of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    /// What was done.
    pub counts: Counts,
    /// What the theory bounds on the mean, when as many randomly ordered points were all there are.
    pub expected: Expected,
    /// Likewise for all n points.
    pub expected_in_the_end: Expected,
    /// Merges if every point were a candidate: ⌈n / K⌉.
    pub worst_merges: u64,
}

/// Bounds on means (see [`theory`]), and what the network makes of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Candidates appended.
    pub candidates: f64,
    /// Merges.
    pub merges: f64,
    /// Comparators of all layers.
    pub compare_exchanges: f64,
    /// Shuffles of a key by the whole warp.
    pub shuffles: f64,
}

/// The account of a state.
pub fn account(state: &State) -> Account {
    let shape = state.shape;
    Account {
        counts: state.counts,
        expected: expected(shape, state.counts.points_seen),
        expected_in_the_end: expected(shape, shape.n),
        worst_merges: theory::worst_case_merges(shape.n as usize, shape.capacity() as usize),
    }
}

/// What the theory expects of so many points in random order.
pub fn expected(shape: Shape, points: u32) -> Expected {
    if points == 0 {
        return Expected::default();
    }
    let (n, k, capacity) = (points as usize, shape.k as usize, shape.capacity() as usize);
    let merges = theory::expected_merges(n, k, capacity);
    let cost = Cost::of_merge(shape.width, shape.registers);
    Expected {
        candidates: theory::expected_candidates(n, k, capacity),
        merges,
        compare_exchanges: merges * cost.compare_exchanges as f64,
        shuffles: merges * cost.shuffles as f64,
    }
}
