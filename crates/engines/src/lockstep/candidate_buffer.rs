//! The state of a query's warp: the sorted intermediate result in registers, the candidate buffer, and their
//! merge.
//!
//! Twin of `cuda/warp/candidate_buffer.cuh`.

use multiversion::multiversion;

use super::bitonic::{self, Registers};
use super::counters::QueryStats;
use super::key::{Key, PADDING, distance_of, index_of, key_of};
use super::lanes::{Lanes, ballot, lanes_below};
use super::observer::{Fault, Observer, by_distance};

/// The warp that owns a query; K = W·R.
#[derive(Clone, Debug)]
pub struct Warp<const W: usize, O = ()> {
    /// The intermediate result: R registers of W lanes; lane L holds elements L·R … L·R+R−1, ascending.
    registers: Vec<Lanes<Key, W>>,
    /// K slots; the first `buffered` are occupied.
    buffer: Vec<Lanes<Key, W>>,
    buffered: u32,
    k: usize,
    /// Squared distance of the k-th element: only closer points are candidates.
    pub max_distance: f32,
    /// Counters and convergence history.
    pub tally: QueryStats,
    /// Notified of each step.
    pub observer: O,
}

impl<const W: usize, O: Observer<W>> Warp<W, O> {
    /// A warp before its first point, for `k` neighbours and a capacity of `W * registers`.
    pub fn new(k: usize, registers: usize, observer: O) -> Self {
        Self {
            registers: vec![[PADDING; W]; registers],
            buffer: vec![[PADDING; W]; registers],
            buffered: 0,
            k,
            max_distance: f32::INFINITY,
            tally: QueryStats::default(),
            observer,
        }
    }

    /// Resets the warp for another query. No CUDA counterpart: a warp has one query.
    pub fn restart(&mut self) {
        self.registers.fill([PADDING; W]);
        (self.buffered, self.max_distance) = (0, f32::INFINITY);
        self.tally.restart();
    }

    /// Appends the keys of `lanes` to the buffer until it is full, then merges it; returns the lanes that got
    /// no slot. `points_seen` is recorded with the merge. No CUDA counterpart: part of `filter_keys`.
    #[inline(always)]
    pub fn append_keys(&mut self, keys: &Lanes<Key, W>, lanes: u32, points_seen: u32) -> u32 {
        let (mut rest, mut appended) = (lanes, 0);
        while rest != 0 && self.buffered + appended < self.capacity() {
            let slot = (self.buffered + appended) as usize;
            self.buffer[slot / W][slot % W] = keys[rest.trailing_zeros() as usize];
            rest &= rest - 1;
            appended += 1;
        }
        self.tally.appended(appended);
        self.buffered += appended;
        if self.buffered == self.capacity() {
            self.merge_buffer(points_seen);
        }
        rest
    }

    /// The k-th element. No CUDA counterpart: `element`.
    pub fn last(&self) -> Key {
        self.element(self.k - 1)
    }

    /// The capacity K. No CUDA counterpart: a constant.
    fn capacity(&self) -> u32 {
        (W * self.registers.len()) as u32
    }

    /// Filters a group: lane L has the distance of point `base + L`. Candidates are appended in lane order.
    /// When the buffer is full it is merged, and lanes not yet appended are filtered again with the new
    /// `max_distance`.
    pub fn filter(&mut self, distances: &Lanes<f32, W>, base: u32) {
        let mut candidates = ballot::<W>(|lane| distances[lane] < self.max_distance);
        self.observer.group(base, distances, candidates);
        if candidates == 0 {
            return;
        }
        self.tally.groups_hit(1);
        let slots = self.observer.slots(self.capacity());
        while candidates != 0 {
            let (mut rest, mut last) = (0u32, 0);
            let fault = self.observer.fault();
            // If this append fills the buffer, it is read next: the fault applies to late writes.
            let late = fault.filter(|_| self.buffered + candidates.count_ones() >= slots);
            let mut unplaced = candidates;
            while unplaced != 0 {
                let lane = unplaced.trailing_zeros();
                unplaced &= unplaced - 1;
                let slot = self.buffered + (candidates & lanes_below(lane)).count_ones();
                if slot < slots && late.is_some_and(|fault| fault.is_late(lane, W)) {
                    self.observer.slot(lane, slot, None);
                    last = lane;
                } else if slot < slots {
                    let key = key_of(distances[lane as usize], base + lane);
                    self.buffer[slot as usize / W][slot as usize % W] = key;
                    self.observer.slot(lane, slot, Some(key));
                    last = lane;
                } else {
                    self.observer.slot(lane, slot, None);
                    rest |= 1 << lane;
                }
            }
            self.observer.appended();
            let appended = candidates.count_ones() - rest.count_ones();
            self.tally.appended(appended);
            self.buffered += appended;
            if self.buffered == slots {
                self.pad();
                self.observer.full();
                self.merge_buffer(base + last + 1);
            }
            candidates = match fault {
                Some(Fault::NoRevote) => rest,
                Some(Fault::Dropped) => 0,
                _ => rest & ballot::<W>(|lane| distances[lane] < self.max_distance),
            };
            if rest != 0 {
                self.observer.filtered_again(rest, candidates);
            }
        }
    }

    /// Merges the rest of the buffer after the last of `n` points.
    pub fn finish(&mut self, n: u32) {
        if self.buffered > 0 {
            self.pad();
            self.observer.padded(self.buffered);
            self.merge_buffer(n);
        }
        self.observer.finished();
    }

    /// Pads the empty slots. No CUDA counterpart: part of `finish`.
    fn pad(&mut self) {
        for slot in self.buffered as usize..self.capacity() as usize {
            self.buffer[slot / W][slot % W] = PADDING;
        }
    }

    /// Merges a full buffer into the intermediate result. The last appended point was the `points_seen`-th.
    fn merge_buffer(&mut self, points_seen: u32) {
        // 1. Swap: move the buffer into registers.
        std::mem::swap(&mut self.registers, &mut self.buffer);
        self.observer.swapped(&self.registers);
        // 2. to 4. Sort the registers, merge them with the intermediate result, re-sort.
        sort_and_merge(&mut self.registers, &self.buffer, &mut self.observer);
        self.buffered = 0;
        if self.observer.fault() != Some(Fault::Stale) {
            self.max_distance = distance_of(self.element(self.k - 1));
        }
        self.tally.merged(points_seen, self.max_distance);
        self.observer.merged(points_seen, self.max_distance);
    }

    /// Element i of the intermediate result, 0-based.
    fn element(&self, i: usize) -> Key {
        let per_lane = self.registers.len();
        self.registers[i % per_lane][i / per_lane]
    }

    /// The first k elements of the intermediate result: index and squared distance, nearest first. No
    /// CUDA counterpart: the kernel writes them to memory.
    pub fn neighbours(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        (0..self.k).map(|i| self.element(i)).map(|key| (index_of(key), distance_of(key)))
    }
}

/// Steps 2 to 4 of a merge, dispatched by instruction set. No CUDA counterpart: a kernel is compiled for one
/// architecture.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
fn sort_and_merge<const W: usize, O: Observer<W>>(
    registers: &mut [Lanes<Key, W>],
    intermediate: &[Lanes<Key, W>],
    observer: &mut O,
) {
    match registers.len() {
        1 => sort_and_merge_registers::<W, 1>(registers, intermediate, observer),
        2 => sort_and_merge_registers::<W, 2>(registers, intermediate, observer),
        4 => sort_and_merge_registers::<W, 4>(registers, intermediate, observer),
        8 => sort_and_merge_registers::<W, 8>(registers, intermediate, observer),
        16 => sort_and_merge_registers::<W, 16>(registers, intermediate, observer),
        32 => sort_and_merge_registers::<W, 32>(registers, intermediate, observer),
        other => unreachable!("a lane has 1, 2, 4, … 32 registers, not {other}"),
    }
}

/// The same with a constant number of registers. No CUDA counterpart: R is always a constant.
#[inline(always)]
fn sort_and_merge_registers<const W: usize, const R: usize>(
    registers: &mut [Lanes<Key, W>],
    intermediate: &[Lanes<Key, W>],
    observer: &mut impl Observer<W>,
) {
    let fault = observer.fault();
    let keys: &mut Registers<W, R> = registers.try_into().expect("R registers");
    // 2. Sort the buffer.
    bitonic::sort(keys, observer);
    // 3. min(i, K−1−i) with the intermediate result: element K−1−i is in the mirrored lane and register.
    for (register, own) in keys.iter_mut().enumerate() {
        for (lane, key) in own.iter_mut().enumerate() {
            *key = match fault {
                Some(Fault::NoMirror) => (*key).min(intermediate[register][lane]),
                Some(Fault::DistanceOnly) => {
                    by_distance(*key, intermediate[R - 1 - register][W - 1 - lane], true)
                }
                _ => (*key).min(intermediate[R - 1 - register][W - 1 - lane]),
            };
        }
    }
    observer.minimum(keys);
    // 4. The result is bitonic, so one merge sorts it.
    bitonic::merge(keys, W, observer);
}
