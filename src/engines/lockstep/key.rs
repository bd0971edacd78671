//! A candidate as one number, and what stands for "no point".
//!
//! Twin of `cuda/key.cuh`.

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
