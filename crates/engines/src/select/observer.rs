//! What lessons record of a selector, at no cost where nothing is recorded. On a GPU recorders in `cuda/select/` write it down.

use crate::lockstep::{Key, Lanes};

/// Is told of a warp select's way through a row.
pub trait Observer<const W: usize> {
    /// A group was read: the distances of points `first` on, one a lane, and the lanes' queues after what was below their largest keys was taken.
    #[inline(always)]
    fn inserted(&mut self, _first: usize, _distances: &[f32], _lane_queue: &[Lanes<Key, W>]) {}

    /// After a group of which a lane took something, the lanes' largest keys were compared with the k-th.
    #[inline(always)]
    fn checked(&mut self, _largest: &Lanes<Key, W>, _limit: Key) {}

    /// No points are left: what follows is the last merge.
    #[inline(always)]
    fn drained(&mut self) {}

    /// A merge began: the lanes' queues are one ascending list.
    #[inline(always)]
    fn sorted(&mut self, _lane_queue: &[Lanes<Key, W>]) {}

    /// The smaller keys of the list and of the warp's queue, read backwards, are the warp's; the others are the lanes'.
    #[inline(always)]
    fn exchanged(&mut self, _warp_queue: &[Lanes<Key, W>], _lane_queue: &[Lanes<Key, W>]) {}

    /// The warp's queue ascends again.
    #[inline(always)]
    fn merged(&mut self, _warp_queue: &[Lanes<Key, W>]) {}

    /// Each lane's queue descends again.
    #[inline(always)]
    fn descended(&mut self, _lane_queue: &[Lanes<Key, W>]) {}

    /// The merge is done: the k-th key.
    #[inline(always)]
    fn limited(&mut self, _limit: Key) {}

    /// The warp's queue is the answer.
    #[inline(always)]
    fn finished(&mut self) {}
}

impl<const W: usize> Observer<W> for () {}

/// Is told of a selection in several passes.
pub trait PassObserver {
    /// A pass counted the distances that are left by buckets.
    #[inline(always)]
    fn counted(&mut self, _counters: &[usize]) {}

    /// The k-th distance is in a bucket, with so many that are left in those before it, and in it.
    #[inline(always)]
    fn found(&mut self, _bucket: usize, _below: usize, _size: usize) {}

    /// The distances in that bucket were written side by side, for the next pass.
    #[inline(always)]
    fn narrowed(&mut self) {}

    /// The k smallest keys were taken, by position.
    #[inline(always)]
    fn taken(&mut self, _found: &[Key]) {}
}

impl PassObserver for () {}

/// Is told of a warp whose threads have a query each, and a heap.
pub trait HeapObserver {
    /// Every lane has its distance to a point, the same for all.
    fn read(&mut self, point: u32, distances: &[f32]);

    /// The lanes whose distance is below their own root put it there, for what was the root; the others wait until these have inserted.
    fn branched(&mut self, lanes: u32);

    /// A round of sinking of the lanes that are still at it: where the keys went that sank, by lane. The others' found their place.
    fn sank(&mut self, lanes: u32, to: &[(u32, u32)]);

    /// All lanes go on together; these have inserted.
    fn rejoined(&mut self, lanes: u32);

    /// Heaps are sorted: each lane's root went to the last of its first `end` entries, whose key sinks from the root.
    fn extracted(&mut self, end: u32);
}
