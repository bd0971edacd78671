//! A packet: 32 neighbouring queries, one per lane. Data that one of them needs is loaded once for all, and
//! each keeps its own list.
//!
//! Twin of `cuda/index/packet.cuh`. This file exceeds 550 lines because one device file is one file here.
//!
//! 1. [`find_shortest`]: from the nearest leaf on, each lane keeps only the k smallest *distances*: a
//!    comparator is two instructions, while pairs take several.
//! 2. [`CandidateLists`]: searches the visited leaves again for the points that are not farther than the k-th
//!    distance, now with positions.
//! 3. The pairs are sorted, once; on the device a point's rank in a long list is found among the distances of
//!    step 1 instead. A lane that collects too many points, because many are at the k-th distance, is
//!    answered alone (`traverse.rs`), and so are the queries of a part that needs too many leaves.
//!
//! If the curve jumps between two queries of a packet, the packet is searched in parts, one after the other:
//! the box around both sides of the jump would overlap many leaves that neither side needs.

#![expect(
    clippy::needless_range_loop,
    reason = "iterators' closures are compiled for the oldest processor where they are not inlined"
)]

use multiversion::multiversion;

use super::boxes::WARP;
use super::lane::{bitonic_merge, sort};
use super::nearest::NearestWarp;
use super::observer::NoTrace;
use super::traverse::{descend, leaf_of};
use super::tree::{HEIGHTS, Tree};
use crate::lockstep::distance::{Coordinates, squared_distances};
use crate::lockstep::{Key, Lanes, PADDING, key_of};

/// Points between two checks for lanes that collected too many.
const STRIDE: usize = 8;

/// The most leaves with candidates per part. The queries of a part that needs more are not close together. No
/// CUDA counterpart: a constant.
#[inline(always)]
fn max_visited(length: usize) -> usize {
    if length < 128 { 256 } else { 512 }
}

/// Whether packets are searched in parts. No CUDA counterpart: a constant.
#[inline(always)]
fn in_parts(length: usize) -> bool {
    length != 64
}

/// Whether to collect only from leaves that had candidates. In the plane most have, and checking takes
/// longer. No CUDA counterpart: a constant.
#[inline(always)]
fn is_selective<const D: usize>() -> bool {
    D == 3
}

/// A gap between neighbouring queries is a jump if its square is this many powers of two above the mean. No
/// CUDA counterpart: a constant.
#[inline(always)]
fn jump<const D: usize>() -> u32 {
    if D == 2 { 11 } else { 8 }
}

/// The length of a lane's list, if packets support this k and number of dimensions. No CUDA counterpart: the
/// host compiles for it.
pub fn packet_length(k: usize, dims: usize) -> Option<usize> {
    ((dims == 2 || dims == 3) && k <= 128).then(|| k.next_power_of_two().max(8))
}

/// With fewer queries, a large GPU has too few packets.
pub const WORTH_PACKING: usize = 60_000;

/// Whether 32 consecutive queries on the curve are close together, given their number, in a tree over n
/// points. No CUDA counterpart: computed by the host.
pub fn are_neighbours(queries: usize, n: usize) -> bool {
    queries >= n.div_ceil(4)
}

/// Distances that are merged at once. No CUDA counterpart: a constant.
#[inline(always)]
fn batch(length: usize) -> usize {
    if length < 32 { 16 } else { 32 }
}

/// Distances that a lane collects before they must be merged. Fewer bound the search sooner, but take more
/// merges. No CUDA counterpart: a constant.
#[inline(always)]
fn eager(length: usize) -> usize {
    match length {
        ..32 => 8,
        32..128 => 24,
        _ => 32,
    }
}

/// If at most this many lanes need a leaf, it is searched for one query at a time. No CUDA counterpart: a
/// constant.
#[inline(always)]
fn few(length: usize) -> u32 {
    match length {
        ..32 => 12,
        32..128 => 8,
        _ => 5,
    }
}

/// Leaves before and after the packet's own that are visited first. They are usually needed, and bound the
/// rest of the search. No CUDA counterpart: a constant.
#[inline(always)]
fn around(length: usize) -> usize {
    match length {
        ..64 => 1,
        64 => 4,
        _ => 6,
    }
}

/// The queries, axis by axis, and their bounding box.
struct Packet<const D: usize> {
    query: [Coordinates<WARP>; D],
    low: [f32; D],
    high: [f32; D],
}

impl<const D: usize> Packet<D> {
    /// Loads at least one row; unused lanes repeat the first query.
    #[inline(always)]
    fn load(queries: &[f32], rows: &[(u64, u32)]) -> Self {
        let mut packet = Self {
            query: [Coordinates([0.0; WARP]); D],
            low: [f32::INFINITY; D],
            high: [f32::NEG_INFINITY; D],
        };
        for lane in 0..WARP {
            let row = rows.get(lane).unwrap_or(&rows[0]).1 as usize;
            for axis in 0..D {
                let value = queries[row * D + axis];
                packet.query[axis].0[lane] = value;
                packet.low[axis] = packet.low[axis].min(value);
                packet.high[axis] = packet.high[axis].max(value);
            }
        }
        packet
    }

    /// The lanes after which a part ends: where the next query is much farther away than usual, and at the
    /// end.
    #[inline(always)]
    fn part_ends(&self, queries: usize) -> u32 {
        // Squares are not negative, so nothing is above the exponent: the bits rise with the logarithm, whose
        // mean is robust against a few large gaps.
        const SHIFT: u32 = 16;
        const OCTAVE: u32 = 1 << (23 - SHIFT);
        let mut bits = [0u32; WARP];
        let (mut apart, mut sum) = (0, 0);
        for lane in 0..queries - 1 {
            let mut gap = 0.0f32;
            for axis in 0..D {
                let t = self.query[axis].0[lane + 1] - self.query[axis].0[lane];
                gap = t.mul_add(t, gap);
            }
            bits[lane] = gap.to_bits() >> SHIFT;
            apart += u32::from(bits[lane] > 0);
            sum += bits[lane];
        }
        let mean = sum / apart.max(1);
        let mut ends = 1 << (queries - 1);
        for lane in 0..queries - 1 {
            ends |= u32::from(bits[lane] > mean + jump::<D>() * OCTAVE) << lane;
        }
        ends
    }
}

/// A lower bound on the distances from any of the queries to the points of each box of a group: as for one
/// query (`boxes.rs`), but from the nearest corner of the queries' bounding box.
#[inline(always)]
fn bounds<const D: usize>(tree: &Tree, height: usize, group: usize, packet: &Packet<D>) -> Lanes<f32, WARP> {
    let (low, high, _) = tree.boxes(height).group(group);
    let mut acc = [0.0f32; WARP];
    for axis in 0..D {
        let (low, high) = (&low[axis].0, &high[axis].0);
        for lane in 0..WARP {
            let (above, below) = (low[lane] - packet.high[axis], packet.low[axis] - high[lane]);
            let gap = if above > below { above } else { below };
            let gap = if gap > 0.0 { gap } else { 0.0 };
            acc[lane] = gap.mul_add(gap, acc[lane]);
        }
    }
    acc
}

/// A lower bound on the distances from each lane's query to the points of a box.
#[inline(always)]
fn bound<const D: usize>(tree: &Tree, height: usize, number: usize, packet: &Packet<D>) -> Lanes<f32, WARP> {
    let (low, high, _) = tree.boxes(height).group(number / WARP);
    let mut acc = [0.0f32; WARP];
    for axis in 0..D {
        let (low, high) = (low[axis].0[number % WARP], high[axis].0[number % WARP]);
        for lane in 0..WARP {
            let query = packet.query[axis].0[lane];
            let above = if query > low { query } else { low };
            let nearest = if above < high { above } else { high };
            let t = nearest - query;
            acc[lane] = t.mul_add(t, acc[lane]);
        }
    }
    acc
}

/// Squared distances from each lane's query to a point of a leaf.
#[inline(always)]
fn distances<const D: usize>(
    leaf: &[Coordinates<WARP>],
    point: usize,
    packet: &Packet<D>,
) -> Lanes<f32, WARP> {
    let mut acc = [0.0f32; WARP];
    for axis in 0..D {
        let value = leaf[axis].0[point];
        for lane in 0..WARP {
            let t = value - packet.query[axis].0[lane];
            acc[lane] = t.mul_add(t, acc[lane]);
        }
    }
    acc
}

/// Squared distances from the points of a leaf to one lane's query.
#[inline(always)]
fn distance_to<const D: usize>(
    leaf: &[Coordinates<WARP>],
    packet: &Packet<D>,
    owner: usize,
) -> Lanes<f32, WARP> {
    let mut query = [0.0; D];
    for axis in 0..D {
        query[axis] = packet.query[axis].0[owner];
    }
    let [squared] = squared_distances(leaf, [&query]);
    squared
}

/// The lanes whose values are less than their limits, or also equal if EQUAL. No CUDA counterpart: a ballot.
#[inline(always)]
fn lanes_within<const EQUAL: bool>(values: &Lanes<f32, WARP>, limits: &Lanes<f32, WARP>) -> u32 {
    let mut lanes = 0;
    for lane in 0..WARP {
        let within = if EQUAL { values[lane] <= limits[lane] } else { values[lane] < limits[lane] };
        lanes |= u32::from(within) << lane;
    }
    lanes
}

#[inline(always)]
fn greatest(limits: &Lanes<f32, WARP>) -> f32 {
    let mut most = limits[0];
    for &limit in limits {
        most = if limit > most { limit } else { most };
    }
    most
}

/// The k smallest distances of each lane's query.
struct SmallestDistances {
    /// Rows of distances: room for a whole leaf after those that need not be merged yet.
    slots: Vec<Coordinates<WARP>>,
    /// The k smallest distances come last, ascending in each lane; earlier entries are below all distances.
    best: Vec<Coordinates<WARP>>,
    taken: Lanes<u32, WARP>,
    batch: Vec<Coordinates<WARP>>,
}

impl SmallestDistances {
    fn new(length: usize) -> Self {
        let rows = |rows| vec![Coordinates([f32::INFINITY; WARP]); rows];
        Self {
            slots: rows(eager(length) + WARP),
            best: rows(length),
            taken: [0; WARP],
            batch: rows(batch(length)),
        }
    }

    /// Resets the lists for other queries; unused lanes search nothing. No CUDA counterpart: a constructor.
    fn restart(&mut self, queries: usize, k: usize) {
        self.taken = [0; WARP];
        let length = self.best.len();
        for (i, row) in self.best.iter_mut().enumerate() {
            for (lane, best) in row.0.iter_mut().enumerate() {
                *best = if lane < queries && i + k >= length { f32::INFINITY } else { -1.0 };
            }
        }
    }

    /// Boxes beyond this are pruned, padding included.
    #[inline(always)]
    fn limit(&self) -> Lanes<f32, WARP> {
        let mut limits = self.best[self.best.len() - 1].0;
        for limit in &mut limits {
            *limit = if *limit < f32::MAX { *limit } else { f32::MAX };
        }
        limits
    }

    /// Filters a leaf for all lanes: each lane tests every point.
    #[inline(always)]
    fn filter_leaf<const D: usize>(&mut self, leaf: &[Coordinates<WARP>], packet: &Packet<D>) {
        let limits = self.best[self.best.len() - 1].0;
        for point in 0..WARP {
            let squared = distances(leaf, point, packet);
            // A point at the k-th distance may still win the tie by its position, so its leaf must be
            // recorded.
            let mut candidates = if is_selective::<D>() {
                lanes_within::<true>(&squared, &limits)
            } else {
                lanes_within::<false>(&squared, &limits)
            };
            while candidates != 0 {
                let lane = candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                self.slots[self.taken[lane] as usize].0[lane] = squared[lane];
                self.taken[lane] += 1;
            }
        }
    }

    /// Filters a leaf for a few lanes, one after the other.
    #[inline(always)]
    fn filter_leaf_for<const D: usize>(
        &mut self,
        leaf: &[Coordinates<WARP>],
        mut active_lanes: u32,
        packet: &Packet<D>,
    ) {
        while active_lanes != 0 {
            let owner = active_lanes.trailing_zeros() as usize;
            active_lanes &= active_lanes - 1;
            let squared = distance_to(leaf, packet, owner);
            let kth = [self.best[self.best.len() - 1].0[owner]; WARP];
            let mut candidates = if is_selective::<D>() {
                lanes_within::<true>(&squared, &kth)
            } else {
                lanes_within::<false>(&squared, &kth)
            };
            while candidates != 0 {
                let point = candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                self.slots[self.taken[owner] as usize].0[owner] = squared[point];
                self.taken[owner] += 1;
            }
        }
    }

    /// Merges as many of the slots as fit.
    #[inline(always)]
    fn merge(&mut self) {
        let (length, batch) = (self.best.len(), self.batch.len());
        let mut first = [0; WARP];
        for lane in 0..WARP {
            first[lane] = self.taken[lane].saturating_sub(batch as u32);
        }
        if first == [0; WARP] {
            for i in 0..batch {
                for lane in 0..WARP {
                    let slot = self.slots[i].0[lane];
                    self.batch[i].0[lane] = if (i as u32) < self.taken[lane] { slot } else { f32::INFINITY };
                }
            }
        } else {
            for i in 0..batch {
                for lane in 0..WARP {
                    let slot = first[lane] + i as u32;
                    self.batch[i].0[lane] = if slot < self.taken[lane] {
                        self.slots[slot as usize].0[lane]
                    } else {
                        f32::INFINITY
                    };
                }
            }
        }
        self.taken = first;
        sort(&mut self.batch);
        for i in 0..batch.min(length) {
            let best = &mut self.best[length - 1 - i].0;
            for lane in 0..WARP {
                let other = self.batch[i].0[lane];
                best[lane] = if other < best[lane] { other } else { best[lane] };
            }
        }
        bitonic_merge(&mut self.best);
    }
}

/// Finds the k smallest distances of each lane's query, and records the leaves that may contain them; false
/// if they are too many.
///
/// The packet's own leaf and its neighbours on the curve come first. They are usually needed, and they bound
/// the search if the own leaf is across a jump of the curve. Then the search is depth first, the child
/// nearest to the packet first. A box at the k-th distance is visited too, because one of its points may win
/// the tie by its position.
#[inline(always)]
fn find_shortest<const D: usize>(
    tree: &Tree,
    packet: &Packet<D>,
    own: usize,
    visited: &mut Vec<usize>,
    found: &mut SmallestDistances,
) -> bool {
    let length = found.best.len();
    let (eager, around) = (eager(length) as u32, around(length));
    let mut above = [[f32::INFINITY; WARP]; HEIGHTS];
    let (mut height, mut group, mut turn) = (tree.top(), 0, 0);
    let mut child = bounds(tree, height, group, packet);
    let mut limit = greatest(&found.limit());
    let mut done = false;
    visited.clear();
    loop {
        let most = if done { 0 } else { eager };
        if found.taken.iter().any(|&taken| taken > most) {
            found.merge();
            limit = greatest(&found.limit());
            continue;
        }
        if done {
            return true;
        }
        let (number, level);
        if turn <= 2 * around {
            // own, own - 1, own + 1, own - 2 ...
            let at = if turn % 2 == 0 { Some(own + turn / 2) } else { own.checked_sub(turn.div_ceil(2)) };
            turn += 1;
            let Some(leaf) = at.filter(|&leaf| leaf < tree.boxes(0).count()) else { continue };
            (number, level) = (leaf, 0);
        } else {
            let (mut chosen, mut nearest) = (0, child[0]);
            for (lane, &bound) in child.iter().enumerate() {
                if bound < nearest {
                    (chosen, nearest) = (lane, bound);
                }
            }
            if nearest > limit {
                done = height == tree.top();
                if !done {
                    height += 1;
                    group /= WARP;
                    child = above[height];
                }
                continue;
            }
            child[chosen] = f32::INFINITY;
            (number, level) = (group * WARP + chosen, height);
            if level == 0 && number.abs_diff(own) <= around {
                continue;
            }
        }
        // Test each query by itself: if the queries are across a jump, their bounding box may be much larger
        // than needed.
        let active_lanes = lanes_within::<true>(&bound(tree, level, number, packet), &found.limit());
        if active_lanes == 0 {
            continue;
        }
        if level > 0 {
            above[height] = child;
            height -= 1;
            group = number;
            child = bounds(tree, height, group, packet);
            continue;
        }
        let before = found.taken;
        let (points, _) = tree.leaf(number);
        if active_lanes.count_ones() > few(length) {
            found.filter_leaf(points, packet);
        } else {
            found.filter_leaf_for(points, active_lanes, packet);
        }
        if is_selective::<D>() && found.taken == before {
            continue;
        }
        if visited.len() == max_visited(length) {
            return false;
        }
        visited.push(number);
    }
}

/// The points that are not farther than the k-th distance.
struct CandidateLists {
    entries: Vec<Lanes<Key, WARP>>,
    kth: Lanes<f32, WARP>,
    taken: Lanes<u32, WARP>,
}

impl CandidateLists {
    fn new(length: usize) -> Self {
        Self { entries: vec![[PADDING; WARP]; length + STRIDE], kth: [-1.0; WARP], taken: [0; WARP] }
    }

    #[inline(always)]
    fn filter_leaf<const D: usize>(
        &mut self,
        points: &[Coordinates<WARP>],
        positions: &Lanes<u32, WARP>,
        packet: &Packet<D>,
    ) {
        for point in 0..WARP {
            let squared = distances(points, point, packet);
            let mut candidates = lanes_within::<true>(&squared, &self.kth);
            while candidates != 0 {
                let lane = candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                self.put(lane, key_of(squared[lane], positions[point]));
            }
            if point % STRIDE == STRIDE - 1 {
                self.cap();
            }
        }
    }

    #[inline(always)]
    fn filter_leaf_for<const D: usize>(
        &mut self,
        points: &[Coordinates<WARP>],
        positions: &Lanes<u32, WARP>,
        mut active_lanes: u32,
        packet: &Packet<D>,
    ) {
        while active_lanes != 0 {
            let owner = active_lanes.trailing_zeros() as usize;
            active_lanes &= active_lanes - 1;
            let squared = distance_to(points, packet, owner);
            let mut candidates = lanes_within::<true>(&squared, &[self.kth[owner]; WARP]);
            while candidates != 0 {
                let point = candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                self.put(owner, key_of(squared[point], positions[point]));
            }
        }
        self.cap();
    }

    /// Gives up lanes with more entries than the list holds, because their number is unbounded. The slots
    /// after the list have room for one stride.
    #[inline(always)]
    fn cap(&mut self) {
        let length = (self.entries.len() - STRIDE) as u32;
        for lane in 0..WARP {
            self.kth[lane] = if self.taken[lane] > length { -1.0 } else { self.kth[lane] };
        }
    }

    #[inline(always)]
    fn put(&mut self, lane: usize, key: Key) {
        if let Some(entries) = self.entries.get_mut(self.taken[lane] as usize) {
            entries[lane] = key;
        }
        self.taken[lane] += 1;
    }
}

/// Buffers of the search by packets, reused from packet to packet.
pub struct PacketBuffers {
    k: usize,
    shortest: SmallestDistances,
    collected: CandidateLists,
    visited: Vec<usize>,
    /// For queries that are answered alone.
    alone: NearestWarp,
}

impl PacketBuffers {
    /// For k neighbours, with lists of `length`.
    pub fn new(k: usize, length: usize) -> Self {
        Self {
            k,
            shortest: SmallestDistances::new(length),
            collected: CandidateLists::new(length),
            visited: Vec::with_capacity(max_visited(length)),
            alone: NearestWarp::new(k, NoTrace),
        }
    }
}

/// Searches the tree for queries in packets of 32, given by their codes and their rows in `queries`. Calls
/// `done` with each query's index in `rows` and at most k pairs in ascending order. No CUDA counterpart: a
/// warp has one packet.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
pub fn answer_packets(
    tree: &Tree,
    queries: &[f32],
    dims: usize,
    rows: &[(u64, u32)],
    packets: &mut PacketBuffers,
    done: &mut dyn FnMut(usize, &[Key]),
) {
    for (number, rows) in rows.chunks(WARP).enumerate() {
        let mut done = |lane: usize, keys: &[Key]| done(number * WARP + lane, keys);
        match dims {
            2 => answer_packet::<2>(tree, queries, rows, packets, &mut done),
            3 => answer_packet::<3>(tree, queries, rows, packets, &mut done),
            _ => unreachable!("packet_length takes two and three dimensions"),
        }
    }
}

#[inline(always)]
fn answer_packet<const D: usize>(
    tree: &Tree,
    queries: &[f32],
    rows: &[(u64, u32)],
    packets: &mut PacketBuffers,
    done: &mut dyn FnMut(usize, &[Key]),
) {
    let (mut ends, mut first) = (1 << (rows.len() - 1), 0);
    if in_parts(packets.shortest.best.len()) {
        ends = Packet::<D>::load(queries, rows).part_ends(rows.len());
    }
    while ends != 0 {
        let end = ends.trailing_zeros() as usize + 1;
        ends &= ends - 1;
        answer_part::<D>(tree, queries, &rows[first..end], packets, &mut |lane, keys: &[Key]| {
            done(first + lane, keys)
        });
        first = end;
    }
}

/// Answers a few neighbouring queries, one per lane.
#[inline(always)]
fn answer_part<const D: usize>(
    tree: &Tree,
    queries: &[f32],
    rows: &[(u64, u32)],
    packets: &mut PacketBuffers,
    done: &mut dyn FnMut(usize, &[Key]),
) {
    let PacketBuffers { k, shortest, collected, visited, alone } = packets;
    let packet = Packet::<D>::load(queries, rows);
    // The leaf of the middle query; those of the other queries are nearby.
    let own = leaf_of(tree, rows[rows.len() / 2].0);
    shortest.restart(rows.len(), *k);
    let whole = find_shortest(tree, &packet, own, visited, shortest);
    collected.taken = [0; WARP];
    collected.kth = shortest.limit();
    let length = collected.entries.len() - STRIDE;
    for &leaf in visited.iter().filter(|_| whole) {
        let (points, positions) = tree.leaf(leaf);
        let active_lanes = lanes_within::<true>(&bound(tree, 0, leaf, &packet), &collected.kth);
        if active_lanes.count_ones() > few(length) {
            collected.filter_leaf(points, positions, &packet);
        } else {
            collected.filter_leaf_for(points, positions, active_lanes, &packet);
        }
    }
    let mut keys = [PADDING; 128];
    for (lane, &(code, row)) in rows.iter().enumerate() {
        let found = collected.taken[lane] as usize;
        if whole && found <= length {
            for i in 0..found {
                keys[i] = collected.entries[i][lane];
            }
            keys[..found].sort_unstable();
            done(lane, &keys[..found.min(*k)]);
        } else {
            answer_alone::<D>(tree, queries, code, row, alone, &mut keys);
            let found = keys[..*k].partition_point(|&key| key < PADDING);
            done(lane, &keys[..found]);
        }
    }
}

/// Answers one query of the packet with all lanes.
#[inline(always)]
fn answer_alone<const D: usize>(
    tree: &Tree,
    queries: &[f32],
    code: u64,
    row: u32,
    nearest: &mut NearestWarp,
    keys: &mut [Key; 128],
) {
    let mut query = [0.0; D];
    query.copy_from_slice(&queries[row as usize * D..][..D]);
    descend(tree, &query, code, nearest);
    for (key, (index, distance)) in keys.iter_mut().zip(nearest.warp.neighbours()) {
        *key = key_of(distance, index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_split_at_distant_queries() {
        // On a line, one step apart except for two jumps, and two equal queries.
        let mut queries = Vec::new();
        for lane in 0..20u32 {
            let jumps = f32::from(u8::from(lane >= 7)) * 1e3 + f32::from(u8::from(lane >= 12)) * 1e3;
            queries.extend([if lane == 4 { 3.0 } else { lane as f32 } + jumps, 0.0, 5.0]);
        }
        let rows: Vec<(u64, u32)> = (0..20).map(|row| (0, row)).collect();
        let ends = |rows: &[(u64, u32)]| Packet::<3>::load(&queries, rows).part_ends(rows.len());
        assert_eq!(ends(&rows), 1 << 6 | 1 << 11 | 1 << 19);
        assert_eq!(ends(&rows[..5]), 1 << 4);
        assert_eq!((ends(&rows[3..5]), ends(&rows[..1])), (1 << 1, 1));
        // Twenty steps are a jump in space but not in the plane, where the curve often makes them.
        let line = |dims: usize| -> Vec<f32> {
            (0..32)
                .flat_map(|lane| {
                    (0..dims).map(move |axis| if axis == 0 { (lane + 19 * (lane / 16)) as f32 } else { 0.0 })
                })
                .collect()
        };
        let rows: Vec<(u64, u32)> = (0..32).map(|row| (0, row)).collect();
        assert_eq!(Packet::<3>::load(&line(3), &rows).part_ends(32), 1 << 15 | 1 << 31);
        assert_eq!(Packet::<2>::load(&line(2), &rows).part_ends(32), 1 << 31);
    }
}
