//! The bitonic network over a warp's registers.
//!
//! Twin of `cuda/warp/bitonic.cuh`. K = W·R keys; lane L holds elements L·R … L·R+R−1, one per register.
//! Strides below R exchange two registers of the same lane. Strides from R on exchange the same register of
//! two lanes, by shuffle. This is Batcher's network: for each size 2, 4, … K, it merges runs of that size,
//! ascending where `i & size == 0`.

use super::key::Key;
use super::lanes::{Lanes, shuffle_xor};
use super::observer::{Fault, Observer, by_distance, direction_bit, is_farther};

/// A warp's registers: R keys in each of W lanes.
pub type Registers<const W: usize, const R: usize> = [Lanes<Key, W>; R];

/// Sorts the warp's keys in ascending order.
#[inline(always)]
pub fn sort<const W: usize, const R: usize>(keys: &mut Registers<W, R>, observer: &mut impl Observer<W>) {
    sort_in_lane(keys, observer);
    let mut size = 2; // in lanes: the network's size / R
    while size <= W {
        merge(keys, size, observer);
        size *= 2;
    }
}

/// Sorts each bitonic run of `size` lanes, ascending where `lane & size == 0`. `size = W` sorts everything.
#[inline(always)]
pub fn merge<const W: usize, const R: usize>(
    keys: &mut Registers<W, R>,
    size: usize,
    observer: &mut impl Observer<W>,
) {
    let (direction, fault) = (direction_bit(size, observer.fault()), observer.fault());
    let mut stride = size / 2;
    while stride > 0 {
        exchange_between_lanes(keys, direction, stride, fault);
        observer.layer(size * R, stride * R, keys);
        stride /= 2;
    }
    let mut stride = R / 2;
    while stride > 0 {
        for low in (0..R).filter(|register| register & stride == 0) {
            exchange_in_lane(keys, low, low + stride, fault, |lane| lane & direction == 0);
        }
        observer.layer(size * R, stride, keys);
        stride /= 2;
    }
}

/// Sizes up to R: each lane sorts its own registers, even lanes ascending and odd lanes descending.
#[inline(always)]
fn sort_in_lane<const W: usize, const R: usize>(keys: &mut Registers<W, R>, observer: &mut impl Observer<W>) {
    let fault = observer.fault();
    let mut size = 2;
    while size <= R {
        let mut stride = size / 2;
        while stride > 0 {
            for low in (0..R).filter(|register| register & stride == 0) {
                // At size R the network's `i & size` is the lane's lowest bit.
                exchange_in_lane(keys, low, low + stride, fault, |lane| match fault {
                    Some(Fault::Direction) => (lane * R + low) & direction_bit(size, fault) == 0,
                    _ if size < R => low & size == 0,
                    _ => lane & 1 == 0,
                });
            }
            observer.layer(size, stride, keys);
            stride /= 2;
        }
        size *= 2;
    }
}

/// One comparator per lane, between two of its registers.
#[expect(clippy::needless_range_loop, reason = "the lane indexes two registers at once")]
#[inline(always)]
fn exchange_in_lane<const W: usize, const R: usize>(
    keys: &mut Registers<W, R>,
    low: usize,
    high: usize,
    fault: Option<Fault>,
    ascending: impl Fn(usize) -> bool,
) {
    for lane in 0..W {
        let (a, b) = (keys[low][lane], keys[high][lane]);
        let mut swap = (a > b) == ascending(lane);
        if fault == Some(Fault::DistanceOnly) {
            swap = is_farther(a, b) == ascending(lane);
        }
        keys[low][lane] = if swap { b } else { a };
        keys[high][lane] = if swap { a } else { b };
    }
}

/// A layer of comparators between lanes: each lane keeps the smaller or the larger of its own key and its
/// partner's. The `direction` bit of a lane's number tells whether its run ascends.
#[inline(always)]
fn exchange_between_lanes<const W: usize, const R: usize>(
    keys: &mut Registers<W, R>,
    direction: usize,
    stride: usize,
    fault: Option<Fault>,
) {
    match stride {
        1 => exchange_at_stride::<W, R, 1>(keys, direction, fault),
        2 => exchange_at_stride::<W, R, 2>(keys, direction, fault),
        4 => exchange_at_stride::<W, R, 4>(keys, direction, fault),
        8 => exchange_at_stride::<W, R, 8>(keys, direction, fault),
        _ => exchange_at_stride::<W, R, 16>(keys, direction, fault),
    }
}

/// The layer for a constant stride, whose shuffle compiles to a permutation of vector registers. No CUDA
/// counterpart: a shuffle instruction takes any stride in CUDA.
#[inline(always)]
fn exchange_at_stride<const W: usize, const R: usize, const STRIDE: usize>(
    keys: &mut Registers<W, R>,
    direction: usize,
    fault: Option<Fault>,
) {
    for register in keys.iter_mut() {
        let partner = shuffle_xor::<_, W, STRIDE>(register);
        for lane in 0..W {
            let keeps_smaller = (lane & STRIDE == 0) == (lane & direction == 0);
            let (own, other) = (register[lane], partner[lane]);
            register[lane] = if fault == Some(Fault::DistanceOnly) {
                by_distance(own, other, keeps_smaller)
            } else if (other < own) == keeps_smaller {
                other
            } else {
                own
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorts<const W: usize, const R: usize>() {
        let mut state = 1u64;
        for round in 0..50 {
            let mut keys: Registers<W, R> = [[0; W]; R];
            for register in &mut keys {
                for key in register {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    *key = if round % 2 == 0 { state >> 33 } else { (state >> 62) + 7 };
                }
            }
            let mut expected: Vec<Key> = keys.iter().flatten().copied().collect();
            expected.sort_unstable();
            sort(&mut keys, &mut ());
            let found: Vec<Key> = (0..W * R).map(|i| keys[i % R][i / R]).collect();
            assert_eq!(found, expected, "W = {W}, R = {R}");
        }
    }

    #[test]
    fn every_warp_shape_is_sorted() {
        sorts::<4, 1>();
        sorts::<4, 4>();
        sorts::<8, 2>();
        sorts::<16, 8>();
        sorts::<32, 1>();
        sorts::<32, 2>();
        sorts::<32, 4>();
        sorts::<32, 8>();
        sorts::<32, 16>();
        sorts::<32, 32>();
    }

    /// The 0-1 principle: a network that sorts every sequence of zeros and ones sorts everything.
    #[test]
    fn all_16_key_zero_one_sequences_are_sorted() {
        for bits in 0..1u32 << 16 {
            let mut keys: Registers<4, 4> = std::array::from_fn(|register| {
                std::array::from_fn(|lane| u64::from(bits >> (lane * 4 + register) & 1))
            });
            sort(&mut keys, &mut ());
            let zeros = 16 - bits.count_ones() as usize;
            assert!((0..16).all(|i| keys[i % 4][i / 4] == u64::from(i >= zeros)), "{bits:#b}");
        }
    }
}
