//! Mistakes that a warp makes on purpose, for a lesson to show what each of them breaks. A run makes none.
//!
//! A warp asks its [`Observer`](super::Observer) which one it makes. Where the answer is a constant `None`, as in runs, nothing of
//! this file remains.

use serde::{Deserialize, Serialize};

use super::key::{Key, distance_of};

/// A mistake in the kernel's algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// No barrier between writing candidates and reading the buffer: where an append fills it, the upper half of the lanes writes too
    /// late.
    NoBarrier,
    /// The direction of a comparator is taken from the bit above that of the size.
    Direction,
    /// The minimum compares element i with element i of the intermediate result, not with element K−1−i.
    NoMirror,
    /// Candidates without a slot are appended after the merge without another vote.
    NoRevote,
    /// Candidates without a slot are forgotten.
    Dropped,
    /// `max_distance` is not updated after a merge.
    Stale,
    /// Keys are compared by distance alone.
    DistanceOnly,
}

impl Fault {
    /// Whether a lane's writes come too late for whoever reads the buffer once it is full.
    #[inline(always)]
    pub(super) fn is_late(self, lane: u32, width: usize) -> bool {
        self == Self::NoBarrier && lane as usize >= width / 2
    }
}

/// The bit of an element's number that decides the direction in which runs of `size` are sorted.
#[inline(always)]
pub(super) fn direction_bit(size: usize, fault: Option<Fault>) -> usize {
    if fault == Some(Fault::Direction) { 2 * size } else { size }
}

/// Whether the first key's point is farther away than the second's, whatever their indices.
#[inline(always)]
pub(super) fn is_farther(a: Key, b: Key) -> bool {
    distance_of(a) > distance_of(b)
}

/// The nearer or the farther of two keys by distance alone; a lane's own where they are equal. Both of two partners then keep their
/// own: if they did not decide alike, one key would be in both, and the other lost.
#[inline(always)]
pub(super) fn by_distance(own: Key, other: Key, nearer: bool) -> Key {
    if if nearer { is_farther(own, other) } else { is_farther(other, own) } { other } else { own }
}
