//! A sorting network over any number of registers per lane, not only powers of two (Johnson, Douze and Jégou
//! 2017, §4.2).
//!
//! Twin of `cuda/warp/network.cuh`. Element i of W·R keys is in register i / W of lane i % W; W is 32 except
//! in lessons. All runs ascend, so padding to a power of two would stay at the end, and comparators with it
//! are left out.

use crate::lockstep::{Key, Lanes};

/// Lanes of a warp.
pub const WARP: usize = 32;

/// A warp's registers, R keys per lane.
pub type Registers<const W: usize = WARP> = [Lanes<Key, W>];

/// A comparator. No CUDA counterpart: `exchange` of `cuda/lane.cuh`.
fn exchange<const W: usize>(keys: &mut Registers<W>, low: (usize, usize), high: (usize, usize)) {
    let (a, b) = (keys[low.0][low.1], keys[high.0][high.1]);
    keys[low.0][low.1] = a.min(b);
    keys[high.0][high.1] = a.max(b);
}

/// A layer between lanes: each lane's partner is the one whose number differs in the bits of `mask`.
fn exchange_lanes<const W: usize>(keys: &mut Registers<W>, mask: usize) {
    for r in 0..keys.len() {
        for lane in (0..W).filter(|lane| lane < &(lane ^ mask)) {
            exchange(keys, (r, lane), (r, lane ^ mask));
        }
    }
}

/// The strides `stride`, `stride` / 2, … 1, all below W.
fn halve_lanes<const W: usize>(keys: &mut Registers<W>, mut stride: usize) {
    while stride > 0 {
        exchange_lanes(keys, stride);
        stride /= 2;
    }
}

/// The strides W·`stride`, W·`stride` / 2, … W, between registers of a lane. No CUDA counterpart:
/// `bitonic_merge` of `cuda/lane.cuh`.
fn halve_registers<const W: usize>(keys: &mut Registers<W>, mut stride: usize) {
    let registers = keys.len();
    while stride > 0 {
        for low in (0..registers).filter(|low| low & stride == 0 && low + stride < registers) {
            for lane in 0..W {
                exchange(keys, (low, lane), (low + stride, lane));
            }
        }
        stride /= 2;
    }
}

/// The sizes from 2·W on, between registers.
fn sort_registers<const W: usize>(keys: &mut Registers<W>) {
    let (mut size, registers) = (2, keys.len());
    while size < 2 * registers {
        // The mirror image of register r is register r ^ (size − 1) of the mirrored lane.
        for low in (0..registers).filter(|low| low & (size / 2) == 0 && low ^ (size - 1) < registers) {
            for lane in 0..W {
                exchange(keys, (low, lane), (low ^ (size - 1), W - 1 - lane));
            }
        }
        halve_registers(keys, size / 4);
        halve_lanes(keys, W / 2);
        size *= 2;
    }
}

/// Sorts the warp's keys in ascending order.
pub fn sort_any<const W: usize>(keys: &mut Registers<W>) {
    let mut size = 2;
    while size <= W {
        exchange_lanes(keys, size - 1);
        halve_lanes(keys, size / 4);
        size *= 2;
    }
    sort_registers(keys);
}

/// Sorts a bitonic sequence; R is a power of two.
pub fn merge_any<const W: usize>(keys: &mut Registers<W>) {
    halve_registers(keys, keys.len() / 2);
    halve_lanes(keys, W / 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(registers: usize, seed: u64) -> Vec<Lanes<Key, WARP>> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Some are equal.
            state >> 56
        };
        (0..registers).map(|_| std::array::from_fn(|_| next())).collect()
    }

    #[test]
    fn any_number_of_registers_is_sorted() {
        for registers in 1..=12 {
            for seed in 0..50 {
                let mut keys = values(registers, seed);
                let mut expected: Vec<Key> = keys.concat();
                expected.sort_unstable();
                sort_any(&mut keys);
                assert_eq!(keys.concat(), expected, "{registers} registers");
            }
        }
    }

    #[test]
    fn bitonic_sequences_are_merged() {
        for registers in [1, 2, 4, 8, 32] {
            let mut keys: Vec<Lanes<Key, WARP>> = values(registers, 7);
            let mut flat = keys.concat();
            let middle = flat.len() / 3;
            flat[..middle].sort_unstable();
            flat[middle..].sort_unstable_by(|a, b| b.cmp(a));
            for (r, register) in keys.iter_mut().enumerate() {
                register.copy_from_slice(&flat[r * WARP..(r + 1) * WARP]);
            }
            flat.sort_unstable();
            merge_any(&mut keys);
            assert_eq!(keys.concat(), flat, "{registers} registers");
        }
    }
}
