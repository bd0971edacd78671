//! Counters of a warp's search.
//!
//! Twin of `cuda/counters.cuh`. On a CPU the cost of counting is not measurable, so the twin has a single
//! build.

use crate::knn::{CONVERGENCE_ENTRIES, Counters};

/// Counters and convergence history of one query.
#[derive(Clone, Debug, Default)]
pub struct QueryStats {
    pub counters: Counters,
    /// (points seen, max_distance) after each recorded merge.
    pub history: Vec<(u32, f32)>,
    /// Whether to record every merge, rather than the first 63 and the latest.
    pub whole: bool,
}

impl QueryStats {
    /// Resets the counters for another query. No CUDA counterpart: a warp has one query.
    pub fn restart(&mut self) {
        self.counters = Counters::default();
        self.history.clear();
    }

    /// Adds `count` groups with a candidate in their first ballot.
    pub fn groups_hit(&mut self, count: u32) {
        self.counters.groups_hit += count;
    }

    /// Adds `count` candidates appended to the buffer.
    pub fn appended(&mut self, count: u32) {
        self.counters.candidates += count;
    }

    /// Counts a merge and records it in the history.
    pub fn merged(&mut self, points_seen: u32, max_distance: f32) {
        self.counters.merges += 1;
        if self.history.len() == CONVERGENCE_ENTRIES && !self.whole {
            self.history.pop();
        }
        self.history.push((points_seen, max_distance));
    }
}
