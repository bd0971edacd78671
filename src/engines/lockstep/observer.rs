//! What watches a warp at work: a lesson records what it is told. Twin of `cuda/observer.cuh`.
//!
//! Every method is empty unless an observer says otherwise, and of `()`, which watches every run, all are: what remains
//! is the search itself.

use super::key::Key;
use super::lanes::Lanes;

/// Is told what a warp does, in order, as it does it.
///
/// Keys of registers come as R registers of W lanes: element i = L·R + r of the warp is `keys[r][L]`.
pub trait Observer<const W: usize> {
    /// Whether anything is heard. Where not, the warp passes over windows of groups that have no candidate.
    const WATCHES: bool = true;

    /// The block staged points `first` to `end` − 1.
    #[inline(always)]
    fn batch(&mut self, _first: u32, _end: u32) {}

    /// A group was filtered: the distances of points `base` + lane, and the ballot of those below `max_distance`.
    /// A window that its batch does not fill is filled up with groups past the batch's end, all of whose distances are
    /// infinite.
    #[inline(always)]
    fn group(&mut self, _base: u32, _distances: &Lanes<f32, W>, _candidates: u32) {}

    /// A lane that votes found its slot, and wrote its key there; without a key, the slot is past the buffer's end.
    /// No namesake: there all lanes have theirs at once, in `appended`.
    #[inline(always)]
    fn slot(&mut self, _lane: u32, _slot: u32, _key: Option<Key>) {}

    /// All lanes that had a slot in the buffer have written.
    #[inline(always)]
    fn appended(&mut self) {}

    /// The lanes of `rest` had no slot; after the merge they voted again.
    #[inline(always)]
    fn filtered_again(&mut self, _rest: u32, _candidates: u32) {}

    /// The buffer holds K candidates.
    #[inline(always)]
    fn full(&mut self) {}

    /// After the last point, the slots from `first` on were filled with padding.
    #[inline(always)]
    fn padded(&mut self, _first: u32) {}

    /// Registers and buffer changed places: these are the registers now.
    #[inline(always)]
    fn swapped(&mut self, _registers: &[Lanes<Key, W>]) {}

    /// A layer of the network ran, of comparators between elements `stride` apart, ascending where `i & size == 0`.
    #[inline(always)]
    fn layer(&mut self, _size: usize, _stride: usize, _keys: &[Lanes<Key, W>]) {}

    /// Element i became the smaller of itself and element K−1−i of the intermediate result.
    #[inline(always)]
    fn minimum(&mut self, _keys: &[Lanes<Key, W>]) {}

    /// The merge is done.
    #[inline(always)]
    fn merged(&mut self, _points_seen: u32, _max_distance: f32) {}

    /// The search is done.
    #[inline(always)]
    fn finished(&mut self) {}
}

/// Nobody watches.
impl<const W: usize> Observer<W> for () {
    const WATCHES: bool = false;
}
