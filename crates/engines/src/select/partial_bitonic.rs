//! Partial bitonic: one block per query sorts a row chunk by chunk and merges each chunk into the K smallest
//! (Hanák 2023, §3.5.1).
//!
//! Twin of `cuda/select/partial_bitonic.cuh`. There is no filter and no buffer: the network does the same
//! work for any distances. If a warp can hold a chunk, each warp of a block is a team that takes every fourth
//! chunk, and the teams merge at the end.

use super::bitonic::BitonicNetwork;
use super::shared_bitonic::SharedBitonicNetwork;
use super::{Counts, DISTANCES, Selector, TIMED};
use crate::knn::{AllowedValues, Measure, Parameter, Parameters, Shape};
use crate::lockstep::{Key, PADDING, key_of};

/// The largest k.
pub const MAX_K: usize = 2048;

/// The most keys per thread that sorts in registers, and the teams per block if a team is a warp.
pub const KEYS: usize = 16;
pub const TEAMS: usize = 4;

const WARP: usize = 32;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 4] = [
    Measure::new(
        "merges",
        ["merge", "merges"],
        "Merges of a sorted chunk, or of another warp's list, into the K smallest.",
    ),
    Measure::new("layers", ["layer", "layers"], "Layers of comparators that sorted and merged chunks."),
    Measure::new(
        "shuffled",
        ["shuffled layer", "shuffled layers"],
        "Layers that exchange between lanes of a warp, by shuffle.",
    ),
    Measure::new("shared", ["shared layer", "shared layers"], "Layers that exchange through shared memory."),
];

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 3] = [
    DISTANCES,
    TIMED,
    Parameter {
        name: "storage",
        help: "Where a chunk is sorted: in registers, in shared memory with shuffles for strides within a \
               warp, or in shared memory alone.",
        values: AllowedValues::Words(&["registers", "shuffles", "shared"]),
        default: "registers",
    },
];

/// Where a chunk is sorted, in the order of the device's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    Registers,
    Shuffles,
    Shared,
}

/// K: the smallest power of two, at least 128, that holds k. With fewer than four keys per lane, a warp would
/// be busy mainly with its loops. No CUDA counterpart: the host chooses the kernel.
pub fn capacity(k: usize) -> usize {
    k.next_power_of_two().max(128)
}

/// Keys per thread if K keys are sorted in registers. No CUDA counterpart: a constant.
fn keys_of_thread(capacity: usize) -> usize {
    (capacity / WARP).min(KEYS)
}

/// Teams per block. No CUDA counterpart: a constant.
fn teams(capacity: usize, storage: Storage) -> usize {
    if storage == Storage::Registers && capacity / keys_of_thread(capacity) == WARP { TEAMS } else { 1 }
}

/// Threads per block. No CUDA counterpart: a constant.
pub fn threads(capacity: usize, storage: Storage) -> usize {
    match storage {
        Storage::Registers => capacity / keys_of_thread(capacity) * teams(capacity, storage),
        _ if capacity <= 512 => 128,
        _ => 256,
    }
}

/// The resolved parameters. No CUDA counterpart: host only.
pub fn resolved(parameters: &Parameters) -> (Storage, Parameters) {
    let (storage, name) = match parameters.get("storage") {
        Some("shuffles") => (Storage::Shuffles, "shuffles"),
        Some("shared") => (Storage::Shared, "shared"),
        _ => (Storage::Registers, "registers"),
    };
    (storage, super::resolved(parameters, [("storage", name.to_owned())]))
}

/// Layers of a sort of `keys` keys whose stride is below a limit: each stride occurs once in every longer
/// run.
fn sort_layers(keys: usize, below: usize) -> u32 {
    (1..=keys.ilog2()).map(|size| merge_layers(1 << size, below)).sum()
}

/// The same for the merge of a bitonic sequence.
fn merge_layers(keys: usize, below: usize) -> u32 {
    keys.min(below).ilog2()
}

/// The selector. No CUDA counterpart: an entry point.
pub fn selector(shape: &Shape, parameters: &Parameters) -> Selector {
    let (k, (storage, parameters)) = (shape.k, resolved(parameters));
    Selector::new(parameters, move |row, found| {
        let capacity = capacity(k);
        let of_block = teams(capacity, storage);
        let mut teams: Vec<Team> = (0..of_block).map(|_| Team::new(capacity, storage)).collect();
        let mut tally = SortCounts::default();
        for (number, distances) in row.chunks(capacity).enumerate() {
            let team = &mut teams[number % of_block];
            team.load(distances, number * capacity);
            team.sort();
            tally.sorts += 1;
            team.merge();
            tally.merges += 1;
        }
        // The lower half of the remaining teams merges the lists of the upper half.
        while teams.len() > 1 {
            let upper = teams.split_off(teams.len() / 2);
            for (team, other) in teams.iter_mut().zip(&upper) {
                team.merge_team(other);
                tally.merges += 1;
            }
        }
        found.clear();
        found.extend(&teams[0].kept[..k]);
        let (in_thread_below, shuffled_below) = match storage {
            Storage::Registers => (keys_of_thread(capacity), keys_of_thread(capacity) * WARP),
            Storage::Shuffles => (1, WARP),
            Storage::Shared => (1, 1),
        };
        tally.write(capacity, in_thread_below, shuffled_below)
    })
}

#[derive(Default)]
struct SortCounts {
    sorts: u32,
    merges: u32,
}

impl SortCounts {
    /// The counts, given that strides below the limits are within a thread or a warp.
    fn write(&self, capacity: usize, in_thread_below: usize, shuffled_below: usize) -> Counts {
        let below =
            |limit| self.sorts * sort_layers(capacity, limit) + self.merges * merge_layers(capacity, limit);
        // The minimum of the kept and the new keys is a layer in shared memory.
        let all = below(capacity) + self.merges;
        let mut counts = Counts::default();
        counts[..4].copy_from_slice(&[
            self.merges,
            all,
            below(shuffled_below) - below(in_thread_below),
            all - below(shuffled_below),
        ]);
        counts
    }
}

/// A team's list and the chunk that it sorts.
struct Team {
    network: Network,
    kept: Vec<Key>,
    chunk: Vec<Key>,
}

enum Network {
    Registers(BitonicNetwork),
    Shared(SharedBitonicNetwork),
}

impl Team {
    fn new(capacity: usize, storage: Storage) -> Self {
        let network = match storage {
            Storage::Registers => {
                Network::Registers(BitonicNetwork::new(capacity, capacity / keys_of_thread(capacity)))
            }
            _ => Network::Shared(SharedBitonicNetwork { shuffles: storage == Storage::Shuffles }),
        };
        Self { network, kept: vec![PADDING; capacity], chunk: vec![PADDING; capacity] }
    }

    /// Past the row's end, padding.
    fn load(&mut self, distances: &[f32], first: usize) {
        self.chunk.fill(PADDING);
        for (i, (key, &distance)) in self.chunk.iter_mut().zip(distances).enumerate() {
            *key = key_of(distance, (first + i) as u32);
        }
    }

    fn sort(&mut self) {
        match self.network {
            Network::Registers(network) => {
                network.sort(&mut self.chunk, network.threads_for(self.kept.len()))
            }
            Network::Shared(network) => network.sort(&mut self.chunk),
        }
    }

    /// Merges the sorted chunk into the kept keys.
    fn merge(&mut self) {
        Self::take_smaller(&mut self.kept, &self.chunk);
        match self.network {
            Network::Registers(network) => network.merge(&mut self.kept),
            Network::Shared(network) => network.merge(&mut self.kept),
        }
    }

    /// Merges another team's kept keys into this team's.
    fn merge_team(&mut self, other: &Self) {
        self.chunk.copy_from_slice(&other.kept);
        self.merge();
    }

    /// Takes the smaller of element i and the other's element K − 1 − i; the result is bitonic.
    fn take_smaller(kept: &mut [Key], others: &[Key]) {
        kept.iter_mut().zip(others.iter().rev()).for_each(|(key, &other)| *key = (*key).min(other));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layer_counts_match_the_network() {
        assert_eq!((sort_layers(1024, 1024), merge_layers(1024, 1024)), (55, 10));
        // Sizes 2, 4 and 8 have strides below 4 in 1, 2 and 2 layers.
        assert_eq!(
            (sort_layers(8, 4), merge_layers(8, 4), sort_layers(8, 1), merge_layers(8, 1)),
            (5, 2, 0, 0)
        );
    }

    /// A row's counts depend only on its length: here two chunks, and three merges of teams if there are
    /// four.
    #[test]
    fn layer_counts_depend_on_storage() {
        let row: Vec<f32> = (0..200u16).map(|at| f32::from(at * 37 % 101)).collect();
        let shape = Shape { n: row.len(), q: 1, d: 1, k: 100 };
        let of = |storage: &str| {
            let mut found = Vec::new();
            let counts = selector(&shape, &Parameters::from_iter([("storage", storage.to_owned())]))
                .select(&row, &mut found);
            assert!(found.is_sorted() && found.len() == 100, "{storage}");
            [counts[0], counts[1], counts[2], counts[3]]
        };
        // A sort has 28 layers, a merge 7 and the minimum.
        assert_eq!(of("shared"), [2, 72, 0, 72]);
        // Strides 64 and 32 are in three layers of a sort and in two of a merge.
        assert_eq!(of("shuffles"), [2, 72, 60, 12]);
        // With four keys per lane, strides 1 and 2 are within a thread: 13 layers of a sort, 2 of a merge.
        assert_eq!(of("registers"), [5, 96, 55, 5]);
    }
}
