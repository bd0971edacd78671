//! The result of a search: the neighbours, and measurements of how they were found.

use rayon::iter::repeat_n;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Measurements, ProfilePhase, StreamSpan};

/// Marks a missing neighbour (k > n). Exported as −1.
pub const NONE: u32 = u32::MAX;

/// Entries stored of each query's convergence history: the first 63 merges and the latest.
pub const CONVERGENCE_ENTRIES: usize = 64;

/// `count` times a value. All threads write many of them, because the first write to a page of memory is slow.
fn filled<T: Copy + Send + Sync>(value: T, count: usize) -> Vec<T> {
    if count < 1 << 20 { vec![value; count] } else { repeat_n(value, count).collect() }
}

/// q × k neighbours, sorted within each query by (squared distance, index).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbors {
    /// Row width of the two arrays below.
    pub k: usize,
    /// q × k, row-major: positions in processing order (from an engine) or rows of the cloud (in a record);
    /// [`NONE`] past rank n.
    pub indices: Vec<u32>,
    /// q × k, row-major: squared distances; ∞ past rank n.
    pub squared_distances: Vec<f32>,
}

impl Neighbors {
    /// q × k missing neighbours, as placeholders.
    pub fn unanswered(q: usize, k: usize) -> Self {
        Self { k, indices: filled(NONE, q * k), squared_distances: filled(f32::INFINITY, q * k) }
    }

    pub fn queries(&self) -> usize {
        self.indices.len() / self.k.max(1)
    }

    /// One query's neighbours, nearest first: indices and squared distances.
    pub fn for_query(&self, query: usize) -> (&[u32], &[f32]) {
        let range = query * self.k..(query + 1) * self.k;
        (&self.indices[range.clone()], &self.squared_distances[range])
    }

    /// Moves each query's own row, numbered like its neighbours, to the front of those at distance 0. If the
    /// k neighbours are all at distance 0 and do not include it, it replaces the last.
    pub fn put_own_first(&mut self, own_rows: &[u32]) {
        let rows =
            self.indices.chunks_mut(self.k.max(1)).zip(self.squared_distances.chunks_mut(self.k.max(1)));
        for ((indices, squared_distances), &own) in rows.zip(own_rows) {
            put_own_first(indices, squared_distances, own);
        }
    }
}

/// [`Neighbors::put_own_first`] for one query. Its own row is at distance 0, so only rows at the same
/// position can precede it.
pub fn put_own_first(indices: &mut [u32], squared_distances: &mut [f32], own: u32) {
    let equal = squared_distances.iter().take_while(|&&squared| squared == 0.0).count();
    let equals = &mut indices[..equal];
    match equals.iter().position(|&row| row == own) {
        Some(rank) => equals[..=rank].rotate_right(1),
        None if equal > 0 && equal == squared_distances.len() => {
            equals.rotate_right(1);
            equals[0] = own;
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_querys_own_row_is_first_among_ties() {
        let ranked = |mut indices: Vec<u32>, squared: [f32; 3], own| {
            put_own_first(&mut indices, &mut squared.clone(), own);
            indices
        };
        assert_eq!(ranked(vec![3, 5, 8], [0.0, 0.0, 1.0], 5), [5, 3, 8]);
        assert_eq!(ranked(vec![3, 5, 8], [0.0, 0.0, 0.0], 8), [8, 3, 5], "other ties keep their order");
        assert_eq!(ranked(vec![3, 5, 8], [0.0, 0.0, 0.0], 9), [9, 3, 5], "the own row was not found");
        assert_eq!(ranked(vec![9, 5, NONE], [0.0, 2.0, f32::INFINITY], 9), [9, 5, NONE]);
    }
}

/// Counters of one query's search under rules 6 and 7, laid out as on the device. `cuda` and `lockstep` agree
/// exactly.
#[repr(C)]
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, bytemuck::Pod, bytemuck::Zeroable,
)]
pub struct Counters {
    /// Merges of the candidate buffer into the intermediate result.
    pub merges: u32,
    /// Points appended to the candidate buffer.
    pub candidates: u32,
    /// Groups with at least one candidate in their first ballot.
    pub groups_hit: u32,
}

/// `max_distance` after each merge, per query.
///
/// Only a query's first 63 merges and its latest are stored; one of the engine's measures counts them all
/// ([`Descriptor::convergence`](super::Descriptor::convergence)).
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// Column name of the measure that counts the merges; empty if there are no queries.
    pub counted_by: String,
    /// Offset of each query's first entry; q + 1 long.
    pub starts: Vec<u64>,
    /// Points seen at the merge: the position of the last appended point + 1, and n at the final merge.
    pub points_seen: Vec<u32>,
    /// Squared distance of the k-th neighbour after the merge.
    pub max_squared_distance: Vec<f32>,
}

impl Default for Convergence {
    fn default() -> Self {
        Self {
            counted_by: String::new(),
            starts: vec![0],
            points_seen: Vec::new(),
            max_squared_distance: Vec::new(),
        }
    }
}

impl Convergence {
    /// Appends the entries of the next query.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (u32, f32)>) {
        for (points_seen, max_squared_distance) in entries {
            self.points_seen.push(points_seen);
            self.max_squared_distance.push(max_squared_distance);
        }
        self.starts.push(self.points_seen.len() as u64);
    }

    pub fn queries(&self) -> usize {
        self.starts.len() - 1
    }

    /// One query's entries: points seen and `max_squared_distance` after each stored merge.
    pub fn for_query(&self, query: usize) -> (&[u32], &[f32]) {
        let range = self.starts[query] as usize..self.starts[query + 1] as usize;
        (&self.points_seen[range.clone()], &self.max_squared_distance[range])
    }

    /// The 0-based merge number of entry `entry` of `entries`, for a query with `merges` merges.
    pub fn merge_number(entry: usize, entries: usize, merges: u32) -> u32 {
        if entry + 1 == entries { merges - 1 } else { entry as u32 }
    }
}

/// Where and when one query's warp ran; on a CPU, which thread answered it and when.
#[repr(C)]
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, bytemuck::Pod, bytemuck::Zeroable,
)]
pub struct WarpSpan {
    /// Start in nanoseconds, by the device's `%globaltimer` or any CPU clock.
    pub start_ns: u64,
    /// End, on the same clock.
    pub stop_ns: u64,
    /// Index of the multiprocessor (`%smid`), or of the CPU thread.
    pub sm: u32,
    /// Warp slot on that multiprocessor; 0 for a thread.
    pub warp: u32,
}

/// Per-query timings, from the profiled build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Names of the timed phases ([`Descriptor::phases`](super::Descriptor::phases)).
    pub phases: Vec<String>,
    /// q × phases, row-major: elapsed clock cycles, including stalls, hence not additive across warps.
    pub cycles: Vec<u64>,
    /// q entries: where and when each query's warp ran.
    pub spans: Vec<WarpSpan>,
}

impl Profile {
    /// Declares the phases; no queries yet.
    pub fn new(phases: &[ProfilePhase]) -> Self {
        Self { phases: phases.iter().map(|phase| phase.name.to_owned()).collect(), ..Self::default() }
    }

    /// One query's cycles in each phase; `None` if cycles were not timed.
    pub fn cycles_of(&self, query: usize) -> Option<&[u64]> {
        let width = self.phases.len();
        self.cycles.get(query * width..(query + 1) * width).filter(|cycles| !cycles.is_empty())
    }
}

/// Everything an engine returns for a problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Indices are positions in processing order.
    pub neighbors: Neighbors,
    /// From the counted build; empty for engines that count nothing.
    pub measured: Measurements,
    /// From the counted build; no queries for engines without a history.
    pub convergence: Convergence,
    /// `None` unless the profiled build ran.
    pub profile: Option<Profile>,
    /// Of engines that use several devices or streams; in milliseconds since the start of the run.
    pub stream_spans: Vec<StreamSpan>,
}
