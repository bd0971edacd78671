//! Observers of a warp's search; a lesson records a search with one. Twin of `cuda/observer.cuh`.
//!
//! Every method does nothing by default. Runs use `()`, whose empty methods disappear by inlining.

use serde::{Deserialize, Serialize};

use super::key::{Key, distance_of};
use super::lanes::Lanes;

/// Notified of each step of a warp, in order.
///
/// Register keys are given as R registers of W lanes: element i = L·R + r of the warp is `keys[r][L]`.
pub trait Observer<const W: usize> {
    /// Whether the observer records anything. If not, the warp skips windows of groups without candidates.
    const OBSERVES: bool = true;

    /// The deliberate fault in the warp's algorithm. No CUDA counterpart: the kernel has none.
    #[inline(always)]
    fn fault(&self) -> Option<Fault> {
        None
    }

    /// Candidates that fill the buffer, at most its `capacity`. No CUDA counterpart: the kernel fills all
    /// slots.
    #[inline(always)]
    fn slots(&self, capacity: u32) -> u32 {
        capacity
    }

    /// The block staged points `first` to `end` − 1.
    #[inline(always)]
    fn batch(&mut self, _first: u32, _end: u32) {}

    /// A group was filtered: the distances of points `base` + lane, and the ballot of those below
    /// `max_distance`. A partial window is padded with groups past the end of the batch, all of whose
    /// distances are infinite.
    #[inline(always)]
    fn group(&mut self, _base: u32, _distances: &Lanes<f32, W>, _candidates: u32) {}

    /// A candidate lane was assigned a slot and wrote its key there; `None` if the slot is past the end of
    /// the buffer. No CUDA counterpart: `appended` handles all lanes at once.
    #[inline(always)]
    fn slot(&mut self, _lane: u32, _slot: u32, _key: Option<Key>) {}

    /// All lanes with a slot in the buffer have written their keys.
    #[inline(always)]
    fn appended(&mut self) {}

    /// The lanes of `rest` had no slot and voted again after the merge.
    #[inline(always)]
    fn filtered_again(&mut self, _rest: u32, _candidates: u32) {}

    /// The buffer holds K candidates.
    #[inline(always)]
    fn full(&mut self) {}

    /// After the last point, the slots from `first` on were padded.
    #[inline(always)]
    fn padded(&mut self, _first: u32) {}

    /// Registers and buffer were swapped; `registers` is the new content.
    #[inline(always)]
    fn swapped(&mut self, _registers: &[Lanes<Key, W>]) {}

    /// A layer of the network was applied: comparators between elements `stride` apart, ascending where `i &
    /// size == 0`.
    #[inline(always)]
    fn layer(&mut self, _size: usize, _stride: usize, _keys: &[Lanes<Key, W>]) {}

    /// Element i became the minimum of itself and element K−1−i of the intermediate result.
    #[inline(always)]
    fn minimum(&mut self, _keys: &[Lanes<Key, W>]) {}

    #[inline(always)]
    fn merged(&mut self, _points_seen: u32, _max_distance: f32) {}

    #[inline(always)]
    fn finished(&mut self) {}
}

/// The observer of production runs, which ignores everything.
impl<const W: usize> Observer<W> for () {
    const OBSERVES: bool = false;
}

/// A deliberate mistake in the kernel's algorithm, for a lesson to show what it breaks. In runs,
/// [`Observer::fault`] is a constant `None`, so these branches are compiled away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// No barrier between writing candidates and reading the buffer: if an append fills it, the upper half of
    /// the lanes writes too late.
    NoBarrier,
    /// The direction of a comparator comes from the bit above that of the size.
    Direction,
    /// The minimum compares element i with element i of the intermediate result instead of element K−1−i.
    NoMirror,
    /// Candidates without a slot are appended after the merge without another vote.
    NoRevote,
    /// Candidates without a slot are lost.
    Dropped,
    /// `max_distance` is not updated after a merge.
    Stale,
    /// Keys are compared by distance alone.
    DistanceOnly,
}

impl Fault {
    /// Whether a lane's writes come too late for the lanes that read the full buffer.
    #[inline(always)]
    pub(super) fn is_late(self, lane: u32, width: usize) -> bool {
        self == Self::NoBarrier && lane as usize >= width / 2
    }
}

/// The bit of an element's number that gives the direction in which runs of `size` are sorted.
#[inline(always)]
pub(super) fn direction_bit(size: usize, fault: Option<Fault>) -> usize {
    if fault == Some(Fault::Direction) { 2 * size } else { size }
}

#[inline(always)]
pub(super) fn is_farther(a: Key, b: Key) -> bool {
    distance_of(a) > distance_of(b)
}

/// The nearer or the farther of two keys by distance alone; the lane's own key if they are equal. Both
/// partners then keep their own. If they decided differently, one key would be duplicated and the other lost.
#[inline(always)]
pub(super) fn by_distance(own: Key, other: Key, nearer: bool) -> Key {
    if if nearer { is_farther(own, other) } else { is_farther(other, own) } { other } else { own }
}
