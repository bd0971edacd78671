//! A query's k nearest so far, and the queue of candidates that is merged into them (STEP §4.2).
//!
//! Twin of `cuda/step/queue.cuh`. Unlike the kernel's buffer, the queue has 64 slots for every k. A full
//! queue is sorted. The last 64 elements of the sorted result then become the minimum of themselves and the
//! reversed queue, and one bitonic merge sorts the result again.

use multiversion::multiversion;

use crate::index::lanes_before;
use crate::lockstep::bitonic::{self, Registers};
use crate::lockstep::{Key, Lanes, PADDING, distance_of, index_of, registers_for};

/// Lanes of a warp, and points of a group.
pub const WARP: usize = 32;

/// Slots of the queue: n_c of the paper.
pub const CANDIDATES: usize = 64;

/// Registers per lane that the queue needs.
const QUEUE: usize = CANDIDATES / WARP;

/// The state of a query. Points may come in any order.
#[derive(Clone, Debug)]
pub struct QueryState {
    /// The result: lane L holds elements L·R … L·R+R−1, ascending; K = 32·R ≥ 64.
    registers: Vec<Lanes<Key, WARP>>,
    /// The first `queued` slots are occupied.
    queue: Registers<WARP, QUEUE>,
    queued: usize,
    k: usize,
    /// The k-th element: only smaller keys are candidates.
    pub last: Key,
    /// Candidates that were queued.
    pub candidates: u32,
    /// Merges of the queue into the result.
    pub merges: u32,
}

impl QueryState {
    pub fn new(k: usize) -> Self {
        let registers = vec![[PADDING; WARP]; registers_for(k, WARP).max(QUEUE)];
        Self {
            registers,
            queue: [[PADDING; WARP]; QUEUE],
            queued: 0,
            k,
            last: PADDING,
            candidates: 0,
            merges: 0,
        }
    }

    /// Free slots of the queue. No CUDA counterpart: not needed.
    #[inline(always)]
    pub fn free(&self) -> usize {
        CANDIDATES - self.queued
    }

    /// Resets the queue for another query. No CUDA counterpart: a warp has one query.
    pub fn restart(&mut self) {
        self.registers.fill([PADDING; WARP]);
        (self.queued, self.last, self.candidates, self.merges) = (0, PADDING, 0, 0);
    }

    /// Starts with the first sorted keys that fit (§4.4).
    pub fn begin_with(&mut self, sorted: &[Key]) {
        let per_lane = self.registers.len();
        for (i, &key) in sorted.iter().enumerate().take(WARP * per_lane) {
            self.registers[i % per_lane][i / per_lane] = key;
        }
        self.last = self.element(self.k - 1);
    }

    /// Filters a group: lane L has the key of a point, or [`PADDING`]. Candidates are queued in lane order.
    /// When the queue is full it is merged, and lanes not yet queued are filtered again.
    #[inline(always)]
    pub fn filter_keys(&mut self, keys: &Lanes<Key, WARP>) {
        let mut candidates = lanes_before(keys, self.last);
        while candidates != 0 {
            let queued = self.queued;
            while candidates != 0 && self.queued < CANDIDATES {
                self.queue[self.queued / WARP][self.queued % WARP] =
                    keys[candidates.trailing_zeros() as usize];
                candidates &= candidates - 1;
                self.queued += 1;
            }
            self.candidates += (self.queued - queued) as u32;
            if self.queued == CANDIDATES {
                self.merge_queue();
                candidates &= lanes_before(keys, self.last);
            }
        }
    }

    /// Merges the rest of the queue after the last point.
    pub fn finish(&mut self) {
        if self.queued > 0 {
            for place in self.queued..CANDIDATES {
                self.queue[place / WARP][place % WARP] = PADDING;
            }
            self.merge_queue();
        }
    }

    /// Merges a full queue into the result.
    fn merge_queue(&mut self) {
        sort_and_merge(&mut self.registers, &mut self.queue);
        self.queued = 0;
        self.last = self.element(self.k - 1);
        self.merges += 1;
    }

    /// Element i of the result, 0-based. No CUDA counterpart: a method of the sorted keys.
    fn element(&self, i: usize) -> Key {
        let per_lane = self.registers.len();
        self.registers[i % per_lane][i / per_lane]
    }

    /// The first k elements: position and squared distance, nearest first. No CUDA counterpart: `write`.
    pub fn neighbours(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        (0..self.k).map(|i| self.element(i)).map(|key| (index_of(key), distance_of(key)))
    }
}

/// A merge, dispatched by instruction set. No CUDA counterpart: a kernel is compiled for one architecture.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
fn sort_and_merge(registers: &mut [Lanes<Key, WARP>], queue: &mut Registers<WARP, QUEUE>) {
    match registers.len() {
        2 => sort_and_merge_registers::<2>(registers, queue),
        4 => sort_and_merge_registers::<4>(registers, queue),
        8 => sort_and_merge_registers::<8>(registers, queue),
        16 => sort_and_merge_registers::<16>(registers, queue),
        32 => sort_and_merge_registers::<32>(registers, queue),
        other => unreachable!("a lane has 2, 4, … 32 registers, not {other}"),
    }
}

/// The same with a constant number of registers. No CUDA counterpart: R is always a constant.
#[inline(always)]
fn sort_and_merge_registers<const R: usize>(
    registers: &mut [Lanes<Key, WARP>],
    queue: &mut Registers<WARP, QUEUE>,
) {
    let keys: &mut Registers<WARP, R> = registers.try_into().expect("R registers");
    // 1. Sort the queue.
    bitonic::sort(queue, &mut ());
    // 2. Compare element i of the result with element K−1−i of the queue, which only has the first 64.
    for (register, own) in keys.iter_mut().enumerate() {
        for (lane, key) in own.iter_mut().enumerate().skip(WARP - CANDIDATES / R) {
            let other = WARP * R - 1 - (lane * R + register);
            *key = (*key).min(queue[other % QUEUE][other / QUEUE]);
        }
    }
    // 3. The result ascends, then descends: one merge sorts it.
    bitonic::merge(keys, WARP, &mut ());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lockstep::key_of;

    proptest! {
        /// For any input in any order, the result is the k smallest keys.
        #[test]
        fn queue_keeps_the_k_smallest(
            distances in prop::collection::vec(0u32..300, 1..2000),
            k in 1usize..=1024,
            sorted in any::<bool>(),
        ) {
            let mut all: Vec<Key> = (0..)
                .zip(&distances)
                .map(|(position, &distance)| key_of(distance as f32, position))
                .collect();
            if sorted {
                all.sort_unstable_by(|a, b| b.cmp(a));
            }
            let mut queue = QueryState::new(k);
            for group in all.chunks(WARP) {
                let mut keys = [PADDING; WARP];
                keys[..group.len()].copy_from_slice(group);
                queue.filter_keys(&keys);
            }
            queue.finish();
            all.sort_unstable();
            all.resize(k.max(all.len()), PADDING);
            let expected: Vec<(u32, f32)> =
                all[..k].iter().map(|&key| (index_of(key), distance_of(key))).collect();
            prop_assert_eq!(queue.neighbours().collect::<Vec<_>>(), expected);
            prop_assert_eq!(queue.last, all[k - 1]);
            prop_assert!(
                queue.candidates as usize <= distances.len()
                    && queue.merges as usize == (queue.candidates as usize).div_ceil(CANDIDATES)
            );
        }
    }

    #[test]
    fn queue_accepts_sorted_initial_keys() {
        let sorted: Vec<Key> = (0..200).map(|position| key_of(position as f32, position)).collect();
        let mut queue = QueryState::new(100);
        queue.begin_with(&sorted);
        assert_eq!((queue.last, queue.merges), (sorted[99], 0));
        let mut keys = [PADDING; WARP];
        keys[5] = key_of(0.5, 1000);
        queue.filter_keys(&keys);
        queue.finish();
        assert_eq!(
            queue.neighbours().take(3).map(|(position, _)| position).collect::<Vec<_>>(),
            [0, 1000, 1]
        );
        assert_eq!((queue.last, queue.candidates), (sorted[98], 1));
    }
}
