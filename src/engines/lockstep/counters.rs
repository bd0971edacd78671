//! What a warp counts of its search.
//!
//! Twin of `cuda/counters.cuh`. On a CPU counting costs nothing that could be measured, so that the twin has one build.

use crate::knn::{CONVERGENCE_ENTRIES, Counters};

/// Counters and the convergence history of one query.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The totals.
    pub counters: Counters,
    /// (points seen, max_distance) after each kept merge.
    pub history: Vec<(u32, f32)>,
    /// Whether every merge is kept, not only the first 63 and the latest.
    pub whole: bool,
}

impl Tally {
    /// So many groups had a candidate in their first ballot.
    pub fn groups_hit(&mut self, count: u32) {
        self.counters.groups_hit += count;
    }

    /// Candidates went into the buffer.
    pub fn appended(&mut self, count: u32) {
        self.counters.candidates += count;
    }

    /// The buffer was merged.
    pub fn merged(&mut self, points_seen: u32, max_distance: f32) {
        self.counters.merges += 1;
        if self.history.len() == CONVERGENCE_ENTRIES && !self.whole {
            self.history.pop();
        }
        self.history.push((points_seen, max_distance));
    }
}
