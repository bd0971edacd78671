//! What a search gives: neighbours, and how they were found.

use serde::{Deserialize, Serialize};

use super::{Measured, ProfilePhase};

/// The index of a neighbour that is not there (k > n). Exported as −1.
pub const NONE: u32 = u32::MAX;

/// How many entries of a query's convergence history are kept: the first 63 and the latest.
pub const CONVERGENCE_ENTRIES: usize = 64;

/// q × k neighbours, each query's sorted by (squared distance, index).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbors {
    /// Neighbours per query.
    pub k: usize,
    /// q × k positions in processing order (from an engine) or rows of the cloud (in a record); [`NONE`] past the n-th.
    pub indices: Vec<u32>,
    /// q × k squared distances; ∞ past the n-th.
    pub squared_distances: Vec<f32>,
}

impl Neighbors {
    /// Room for q queries, all of them unanswered.
    pub fn unanswered(q: usize, k: usize) -> Self {
        Self { k, indices: vec![NONE; q * k], squared_distances: vec![f32::INFINITY; q * k] }
    }

    /// The number of queries.
    pub fn queries(&self) -> usize {
        self.indices.len() / self.k.max(1)
    }

    /// A query's neighbours, nearest first: indices and squared distances.
    pub fn of(&self, query: usize) -> (&[u32], &[f32]) {
        let range = query * self.k..(query + 1) * self.k;
        (&self.indices[range.clone()], &self.squared_distances[range])
    }
}

/// What one query's search by rules 6 and 7 did, in the layout of `cuda` and `lockstep`: equal, not similar, in both.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Counters {
    /// Merges of the candidate buffer into the intermediate result.
    pub merges: u32,
    /// Candidates appended to the buffer.
    pub candidates: u32,
    /// Groups with at least one candidate in their first ballot.
    pub groups_hit: u32,
}

/// `max_distance` after each merge, per query.
///
/// A query keeps its first 63 merges and its latest; a measure of the engine says how many there were
/// ([`Descriptor::convergence`](super::Descriptor::convergence)).
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// The measure that counts its merges, by its column's name; empty without queries.
    pub counted_by: String,
    /// Where each query's entries start; q + 1 long.
    pub starts: Vec<u64>,
    /// Points seen at the merge: the position of the last appended point + 1, and n at the final merge.
    pub points_seen: Vec<u32>,
    /// The squared distance of the k-th neighbour after the merge.
    pub max_squared_distance: Vec<f32>,
}

impl Default for Convergence {
    fn default() -> Self {
        Self { counted_by: String::new(), starts: vec![0], points_seen: Vec::new(), max_squared_distance: Vec::new() }
    }
}

impl Convergence {
    /// Appends the next query's entries.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (u32, f32)>) {
        for (points_seen, max_squared_distance) in entries {
            self.points_seen.push(points_seen);
            self.max_squared_distance.push(max_squared_distance);
        }
        self.starts.push(self.points_seen.len() as u64);
    }

    /// The number of queries.
    pub fn queries(&self) -> usize {
        self.starts.len() - 1
    }

    /// A query's entries: points seen and `max_squared_distance` after each kept merge.
    pub fn of(&self, query: usize) -> (&[u32], &[f32]) {
        let range = self.starts[query] as usize..self.starts[query + 1] as usize;
        (&self.points_seen[range.clone()], &self.max_squared_distance[range])
    }

    /// The 0-based merge that entry `entry` of `entries` is of, when the query merged `merges` times.
    pub fn merge_of_entry(entry: usize, entries: usize, merges: u32) -> u32 {
        if entry + 1 == entries { merges - 1 } else { entry as u32 }
    }
}

/// Where and when a query's warp ran.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, bytemuck::Pod, bytemuck::Zeroable)]
pub struct WarpSpan {
    /// Start, in nanoseconds of the device's `%globaltimer`.
    pub start_ns: u64,
    /// End, likewise.
    pub stop_ns: u64,
    /// The multiprocessor.
    pub sm: u32,
    /// The warp's slot on it.
    pub warp: u32,
}

/// What the profiled build adds, per query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The phases that were timed, by name ([`Descriptor::phases`](super::Descriptor::phases)).
    pub phases: Vec<String>,
    /// q × phases, row-major: clock cycles of each query in each phase: elapsed, waiting included, not additive across warps.
    pub cycles: Vec<u64>,
    /// Where and when each query's warp ran.
    pub spans: Vec<WarpSpan>,
}

impl Profile {
    /// Without a query yet.
    pub fn new(phases: &[ProfilePhase]) -> Self {
        Self { phases: phases.iter().map(|phase| phase.name.to_owned()).collect(), ..Self::default() }
    }

    /// A query's cycles in each phase; nothing where cycles were not timed.
    pub fn cycles_of(&self, query: usize) -> Option<&[u64]> {
        let width = self.phases.len();
        self.cycles.get(query * width..(query + 1) * width).filter(|cycles| !cycles.is_empty())
    }
}

/// Everything an engine gives for a problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The neighbours, by position in processing order.
    pub neighbors: Neighbors,
    /// From the counted build; empty for engines that count nothing.
    pub measured: Measured,
    /// From the counted build; of no query for engines without a history.
    pub convergence: Convergence,
    /// From the profiled build.
    pub profile: Option<Profile>,
}
