//! A warp on a CPU: what 32 threads hold is an array of 32, and what they exchange is a permutation of it.
//!
//! Twin of `cuda/warp.cuh`. W is 32 in a run; lessons use smaller warps.

/// One value per lane.
pub type Lanes<T, const W: usize> = [T; W];

/// `__shfl_xor_sync`: each lane reads the value of the lane whose number differs in the bits of `mask`.
#[inline(always)]
pub fn shuffle_xor<T: Copy, const W: usize>(values: &Lanes<T, W>, mask: usize) -> Lanes<T, W> {
    std::array::from_fn(|lane| values[lane ^ mask])
}

/// `__ballot_sync`: bit L is what lane L votes.
#[inline(always)]
pub fn ballot<const W: usize>(vote: impl Fn(usize) -> bool) -> u32 {
    (0..W).fold(0, |mask, lane| mask | (u32::from(vote(lane)) << lane))
}

/// The lanes below `lane`, as a mask.
#[inline(always)]
pub fn lanes_below(lane: u32) -> u32 {
    (1 << lane) - 1
}

/// A candidate as one number: the bits of its squared distance, then its index. Distances are not negative, so their
/// bits order as they do, and comparing keys compares the pair (distance, index): an equal, later point never pushes out
/// an earlier one.
pub type Key = u64;

/// What fills unused places: (+∞, `u32::MAX`), after every real key.
pub const PADDING: Key = key_of(f32::INFINITY, u32::MAX);

/// The key of a candidate.
#[inline(always)]
pub const fn key_of(squared_distance: f32, index: u32) -> Key {
    (squared_distance.to_bits() as u64) << 32 | index as u64
}

/// The squared distance in a key.
#[inline(always)]
pub const fn distance_of(key: Key) -> f32 {
    f32::from_bits((key >> 32) as u32)
}

/// The index in a key.
#[inline(always)]
pub const fn index_of(key: Key) -> u32 {
    key as u32
}
