//! A candidate packed into one number, and the padding value for unused slots.
//!
//! Twin of `cuda/key.cuh`.

/// A candidate packed into one number: the bits of its squared distance, then its index. Distances are not
/// negative, so their bits sort like the floats, and comparing keys compares (distance, index): a later point
/// at an equal distance never displaces an earlier one.
pub type Key = u64;

/// Fills unused slots: (+∞, `u32::MAX`), greater than every real key.
pub const PADDING: Key = key_of(f32::INFINITY, u32::MAX);

/// Packs a candidate.
#[inline(always)]
pub const fn key_of(squared_distance: f32, index: u32) -> Key {
    (squared_distance.to_bits() as u64) << 32 | index as u64
}

#[inline(always)]
pub const fn distance_of(key: Key) -> f32 {
    f32::from_bits((key >> 32) as u32)
}

#[inline(always)]
pub const fn index_of(key: Key) -> u32 {
    key as u32
}
