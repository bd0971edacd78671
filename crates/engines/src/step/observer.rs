//! An observer of a query's way through the clusters, with which a walk records it.

use super::queue::{Queue, WARP};
use crate::lockstep::{Key, Lanes};

/// A group of points that was filtered.
#[derive(Clone, Copy, Debug)]
pub struct Filtered<'a> {
    /// The keys of its points, one a lane.
    pub keys: &'a Lanes<Key, WARP>,
    /// The k-th neighbour's key before.
    pub before: Key,
    /// Places that were free in the candidate queue before: those of the first candidates. If there were more, the queue was merged, and the
    /// others were held against the k-th neighbour of then.
    pub free: usize,
}

/// Notified of each step of a search, in order.
pub trait Observer {
    /// The clusters were sorted: a key of each bound and number.
    #[inline(always)]
    fn sorted(&mut self, _order: &[Key]) {}

    /// The cluster of the next entry is visited.
    #[inline(always)]
    fn cluster(&mut self) {}

    /// A group of its points was filtered.
    #[inline(always)]
    fn filtered(&mut self, _group: usize, _of: Filtered<'_>, _queue: &Queue) {}
}

/// The observer of runs: nothing of it remains after inlining.
impl Observer for () {}
