//! The state of a query whose points arrive in any order.
//!
//! Twin of `cuda/index/nearest.cuh`.

use super::boxes::WARP;
use super::observer::{NoTrace, Observer};
use crate::lockstep::candidate_buffer::Warp;
use crate::lockstep::{Key, Lanes, PADDING, registers_for};

/// A warp that also stores the k-th element.
pub struct NearestWarp<O = NoTrace> {
    pub warp: Warp<WARP>,
    pub last: Key,
    /// Notified of each step.
    pub observer: O,
}

impl<O: Observer> NearestWarp<O> {
    pub fn new(k: usize, observer: O) -> Self {
        Self { warp: Warp::new(k, registers_for(k, WARP), ()), last: PADDING, observer }
    }

    /// Resets the warp for another query. No CUDA counterpart: a warp has one query.
    pub fn restart(&mut self) {
        self.warp.restart();
        self.last = PADDING;
    }

    /// Filters a leaf by the pair (distance, position): lane L has the key of a point, or [`PADDING`].
    /// Candidates are appended in lane order. When the buffer is full it is merged, and lanes not yet
    /// appended are filtered again. `points_seen` is recorded with the merge.
    #[inline(always)]
    pub fn filter_keys(&mut self, leaf: usize, keys: &Lanes<Key, WARP>, points_seen: u32) {
        let mut candidates = lanes_before(keys, self.last);
        self.observer.visited(leaf, keys, candidates);
        while candidates != 0 {
            let merges = self.warp.tally.counters.merges;
            let rest = self.warp.append_keys(keys, candidates, points_seen);
            self.observer.appended(candidates & !rest);
            if self.warp.tally.counters.merges != merges {
                self.last = self.warp.last();
                self.observer.merged(self.last);
            }
            candidates = if rest == 0 { 0 } else { rest & lanes_before(keys, self.last) };
            if rest != 0 {
                self.observer.filtered_again(rest, candidates);
            }
        }
    }

    /// Merges the rest of the buffer after `points_seen` points.
    pub fn finish(&mut self, points_seen: u32) {
        let merges = self.warp.tally.counters.merges;
        self.warp.finish(points_seen);
        if self.warp.tally.counters.merges != merges {
            self.last = self.warp.last();
            self.observer.merged(self.last);
        }
        self.observer.finished();
    }
}

/// The lanes whose keys are less than `last`. No CUDA counterpart: a ballot.
#[inline(always)]
pub fn lanes_before(keys: &Lanes<Key, WARP>, last: Key) -> u32 {
    // A loop, because closures that are not inlined are compiled for the oldest instruction set.
    let mut before = 0;
    for (lane, &key) in keys.iter().enumerate() {
        before |= u32::from(key < last) << lane;
    }
    before
}
